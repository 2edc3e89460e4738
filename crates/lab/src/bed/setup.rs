//! The user's own configuration of the DUT, and a shell to look at it.

use super::{Bed, BedError, Side, names};
use crate::clock::wait_until;
use crate::hash::sha256;
use crate::journal::Journal;
use mpps_linux::clock::monotonic_ns;
use mpps_linux::netns::NetNs;
use mpps_linux::spawn::{self, Terms};
use mpps_linux::task::{self, Signal};
use mpps_linux::{cpu, file, interrupt};
use mpps_record::SetUpScript;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};

/// Lines of the script's stderr that an error repeats.
const LINES: usize = 3;
/// A kind of script: its name, and where its output goes in the bed's folder.
type Kind = (&'static str, [&'static str; 2]);
const SET_UP: Kind = ("set-up script", ["dut-setup.out", "dut-setup.err"]);
const START: Kind = ("start script", ["start.out", "start.err"]);
/// How much of its output is kept, octets from the end of each stream.
const KEPT: u64 = 64 << 10;
/// How often to look whether it has ended, or the user wishes to stop, ns.
const LOOK_NS: u64 = 5_000_000;

/// Octets of a set-up script that a record repeats.
const TEXT: usize = 64 << 10;
/// What is known of it, in the bed's folder.
const SCRIPT_FILE: &str = "dut-setup.json";

/// What was noted of the script that ran on this bed. `None`: the bed has none.
pub(super) fn noted(bed: &Bed) -> Result<Option<SetUpScript>, BedError> {
    let script = bed.plan.dut_setup.as_ref();
    let Some((_, journal)) = script.zip(bed.journal.as_ref()) else {
        return Ok(None);
    };
    let older = || {
        BedError::BadPlan(format!(
            "bed {} was raised by an earlier mpps, which kept no set-up script: lower it and raise it anew",
            bed.name
        ))
    };
    read_note(journal)?.ok_or_else(older).map(Some)
}

/// The end of what its set-up script wrote, errors last. Programs that it left running may still write. `None`: it cannot be
/// read.
pub(super) fn output(bed: &Bed) -> Option<String> {
    output_of(bed, SET_UP).ok().map(|streams| streams.concat())
}

/// Keeps the script's text beside the journal before it runs: the file may have another later.
fn note(script: &Path, journal: &Journal) -> Result<(), BedError> {
    let failed = |tried: &str| BedError::io(format!("{tried} set-up script {}", script.display()));
    let octets = std::fs::read(script).map_err(failed("read"))?;
    let noted = SetUpScript {
        sha256: sha256(&octets),
        text: Some(String::from_utf8_lossy(&octets[..octets.len().min(TEXT)]).into_owned()),
        output: None,
    };
    match read_note(journal)? {
        None => {
            let noted = serde_json::to_string(&noted).map_err(io::Error::from);
            Ok(journal.put(SCRIPT_FILE, &noted.map_err(failed("describe"))?)?)
        }
        // It runs again, as part of a reset.
        Some(ran) if ran.sha256 == noted.sha256 => Ok(()),
        Some(_) => Err(BedError::BadPlan(format!(
            "set-up script {} was changed after the bed was raised: lower the bed and raise it anew",
            script.display()
        ))),
    }
}

/// What is known of the script that ran. `None`: none ran.
fn read_note(journal: &Journal) -> Result<Option<SetUpScript>, BedError> {
    let path = journal.folder().join(SCRIPT_FILE);
    match std::fs::read(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        read => read
            .and_then(|text| Ok(Some(serde_json::from_slice(&text)?)))
            .map_err(BedError::io(format!("read {}", path.display()))),
    }
}

/// The last [`KEPT`] octets of both streams. Octets that are not UTF-8 are replaced.
fn output_of(bed: &Bed, (_, [stdout, stderr]): Kind) -> Result<[String; 2], BedError> {
    let Some(journal) = &bed.journal else {
        return Ok(Default::default());
    };
    let tail = |name: &str| {
        let path = journal.folder().join(name);
        let read = File::open(&path).and_then(|file| tail(&file));
        read.map_err(BedError::io(format!("read {}", path.display())))
    };
    Ok([tail(stdout)?, tail(stderr)?])
}

/// The last [`KEPT`] octets of a file.
fn tail(mut file: &File) -> io::Result<String> {
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(KEPT)))?;
    let mut octets = Vec::new();
    // Programs of the script may write faster than this reads.
    file.take(KEPT).read_to_end(&mut octets)?;
    Ok(String::from_utf8_lossy(&octets).into_owned())
}

/// Bounds what programs that the scripts left running have written since.
pub(crate) fn bound_outputs(bed: &Bed) {
    let Some(journal) = bed
        .journal
        .as_ref()
        .filter(|_| bed.plan.dut_setup.is_some())
    else {
        return;
    };
    for name in [SET_UP, START].iter().flat_map(|(_, names)| names) {
        let open = File::options()
            .write(true)
            .open(journal.folder().join(name));
        open.iter().for_each(bound);
    }
}

/// Frees all but the end of a file that a script writes to, so that endless output does not fill /run.
fn bound(output: &File) {
    let about = output.metadata();
    let (length, occupied) = about.map_or((0, 0), |about| (about.len(), 512 * about.blocks()));
    if occupied >= 2 * KEPT && file::free_head(output, length.saturating_sub(KEPT)).is_err() {
        // A file system without holes: the script appends, so it goes on at the beginning.
        let _all_kept = output.set_len(0);
    }
}

/// Runs `--dut-setup` in the DUT's namespace, on the DUT's CPUs. What it leaves running lives until the
/// bed is lowered. Also once more, while it is measured what that does.
///
/// # Errors
/// The script failed, or could not be run.
pub fn run(bed: &Bed) -> Result<(), BedError> {
    let script = bed.plan.dut_setup.as_ref();
    let Some((script, journal)) = script.zip(bed.journal.as_ref()) else {
        return Ok(());
    };
    if script.is_file() {
        note(script, journal)?;
    }
    run_script(bed, script, SET_UP)
}

/// Runs a script that starts a process of the router's again, as [`run`] runs the set-up script.
///
/// # Errors
/// The script failed, or could not be run.
pub fn run_start(bed: &Bed, script: &Path) -> Result<(), BedError> {
    run_script(bed, script, START)
}

fn run_script(bed: &Bed, script: &Path, kind: Kind) -> Result<(), BedError> {
    let Some(journal) = &bed.journal else {
        return Ok(());
    };
    let fail = |ended: String, said: String| BedError::Setup {
        script: format!("{} {}", kind.0, script.display()),
        ended,
        said,
    };
    if !script.is_file() {
        return Err(fail("is not a file".to_owned(), String::new()));
    }
    let status = on_dut_cpus(bed, || to_its_end(bed, script, kind, journal))?;
    if status.success() {
        return Ok(());
    }
    let ended = match status.code() {
        Some(code) => format!("ended with exit code {code}"),
        None => "was killed by a signal".to_owned(),
    };
    Err(fail(ended, last_lines(&output_of(bed, kind)?[1])))
}

/// Whether a file can be a set-up script.
///
/// # Errors
/// It is not there, no file, or not executable.
pub fn check(script: &Path) -> Result<(), BedError> {
    can_run(script, SET_UP)
}

/// The same for [`run_start`].
///
/// # Errors
/// As [`check`].
pub fn check_start(script: &Path) -> Result<(), BedError> {
    can_run(script, START)
}

fn can_run(script: &Path, (kind, _): Kind) -> Result<(), BedError> {
    let fail = |ended: &str| BedError::Setup {
        script: format!("{kind} {}", script.display()),
        ended: ended.to_owned(),
        said: String::new(),
    };
    if !script.is_file() {
        return Err(fail("is not a file"));
    }
    if !is_executable(script) {
        return Err(fail("is not executable: chmod +x makes it so"));
    }
    Ok(())
}

fn last_lines(text: &str) -> String {
    let full: Vec<&str> = text
        .lines()
        .filter(|line| !line.trim().is_empty())
        .collect();
    full[full.len().saturating_sub(LINES)..].join("; ")
}

/// Runs the script with its output in files: a daemon it starts may keep those open for as long as it
/// likes, where a pipe would have us wait for it.
fn to_its_end(
    bed: &Bed,
    script: &Path,
    (kind, [stdout, stderr]): Kind,
    journal: &Journal,
) -> Result<ExitStatus, BedError> {
    let failed = |tried: &str| BedError::io(format!("{tried} {kind} {}", script.display()));
    let create = |name: &str| {
        // There is one where the script ran before.
        let _removed = std::fs::remove_file(journal.folder().join(name));
        journal.create(name)
    };
    let outputs = [create(stdout)?, create(stderr)?];
    let for_child = |output: &File| {
        let copy = output.try_clone();
        copy.map(Stdio::from)
            .map_err(BedError::io("open the script's output"))
    };
    let mut command = Command::new("/bin/sh");
    if is_executable(script) {
        let path = std::path::absolute(script);
        command = Command::new(path.map_err(failed("find"))?);
    } else {
        command.arg("-e").arg(script);
    }
    command
        .envs(environment(bed))
        .stdin(Stdio::null())
        .stdout(for_child(&outputs[0])?)
        .stderr(for_child(&outputs[1])?);
    // Ctrl-C is for us to take: we end the script and put everything back.
    let terms = Terms {
        own_group: true,
        die_with_parent: false,
    };
    let mut child = spawn::start(command, netns_of(bed, Side::B)?, terms)?;
    loop {
        let ended = child.try_wait().map_err(failed("wait for"))?;
        outputs.iter().for_each(bound);
        if let Some(status) = ended {
            return Ok(status);
        }
        if interrupt::requested() {
            let group = i32::try_from(child.id()).map_or(0, |pid| -pid);
            // What left the group goes with the bed.
            let _gone = task::kill(group, Signal::SIGKILL);
            child.wait().map_err(failed("wait for"))?;
            return Err(BedError::Interrupted);
        }
        wait_until(monotonic_ns() + LOOK_NS);
    }
}

fn is_executable(script: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    script
        .metadata()
        .is_ok_and(|data| data.permissions().mode() & 0o111 != 0)
}

fn netns_of(bed: &Bed, side: Side) -> Result<&NetNs, BedError> {
    let refuse = || {
        BedError::BadPlan(
            "mpps can run no program on an external device: set it up yourself".to_owned(),
        )
    };
    let port = bed.port_at(side).ok_or_else(refuse)?;
    Ok(&port.netns)
}

/// What a script or a shell in the bed may want to know.
fn environment(bed: &Bed) -> Vec<(String, String)> {
    let [out, dut, tester_in] = names::netns(&bed.name);
    [
        ("MPPS_BED", bed.name.clone()),
        ("MPPS_DUT_IN", names::interface(Side::B).to_owned()),
        ("MPPS_DUT_OUT", names::interface(Side::C).to_owned()),
        ("MPPS_NETNS_OUT", out),
        ("MPPS_NETNS_DUT", dut),
        ("MPPS_NETNS_IN", tester_in),
    ]
    .map(|(key, value)| (key.to_owned(), value))
    .to_vec()
}

/// A child inherits the CPUs of the thread that starts it: what belongs to the DUT runs on its CPUs.
pub(crate) fn on_dut_cpus<T: Send, E: From<mpps_linux::Error> + Send>(
    bed: &Bed,
    start: impl FnOnce() -> Result<T, E> + Send,
) -> Result<T, E> {
    let cpus = bed.plan.cpus.dut_set();
    let work = || {
        cpu::pin_current_thread(&cpus)?;
        start()
    };
    let ended = std::thread::scope(|scope| scope.spawn(work).join());
    task::joined(ended, "a thread on the DUT's CPUs")?
}

/// Starts the user's shell (or a command of hers) in the namespace of a port.
///
/// # Errors
/// It could not be started.
pub fn shell(bed: &Bed, side: Side, command: &[String]) -> Result<Child, BedError> {
    let shell = std::env::var("SHELL").unwrap_or_else(|_| "/bin/sh".to_owned());
    let mut start = match command {
        [] => Command::new(shell),
        [program, arguments @ ..] => {
            let mut start = Command::new(program);
            start.args(arguments);
            start
        }
    };
    start.envs(environment(bed));
    Ok(spawn::start(start, netns_of(bed, side)?, Terms::default())?)
}

#[cfg(test)]
mod tests {
    use super::last_lines;

    #[test]
    fn an_error_repeats_the_last_lines_that_say_something() {
        assert_eq!(last_lines(""), "");
        assert_eq!(last_lines("one\n\n"), "one");
        assert_eq!(last_lines("a\nb\n \nc\nd\n"), "b; c; d");
    }
}
