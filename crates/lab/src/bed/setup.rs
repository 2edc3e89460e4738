//! The user's own configuration of the DUT, and a shell to look at it.

use super::{Bed, BedError, Side, names};
use mpps_linux::cpu;
use mpps_linux::spawn::{self, Terms};
use std::path::Path;
use std::process::{Child, Command, Output};

/// Lines of the script's stderr that an error repeats.
const LINES: usize = 3;

/// Runs `--dut-setup` in the DUT's namespace, on the DUT's CPUs. What it leaves running lives until the
/// bed is lowered.
pub(super) fn run(bed: &Bed) -> Result<(), BedError> {
    let Some(script) = &bed.plan.dut_setup else {
        return Ok(());
    };
    let name = script.display().to_string();
    let fail = |ended: String, said: String| BedError::Setup {
        script: name.clone(),
        ended,
        said,
    };
    if !script.is_file() {
        return Err(fail("is not a file".to_owned(), String::new()));
    }
    // Output to files would be lost with the bed; pipes would wait for daemons that keep them open.
    let log = bed
        .journal
        .as_ref()
        .map(|journal| journal.folder().join("dut-setup.log"));
    let output = on_dut_cpus(bed, || output(bed, script, log.as_deref()))?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let lines: Vec<&str> = said
        .lines()
        .rev()
        .filter(|line| !line.trim().is_empty())
        .take(LINES)
        .collect();
    let said: Vec<&str> = lines.into_iter().rev().collect();
    let ended = match output.status.code() {
        Some(code) => format!("ended with exit code {code}"),
        None => "was killed by a signal".to_owned(),
    };
    Err(fail(ended, said.join("; ")))
}

/// Runs the script with its output in a file: a daemon it starts may keep that open for as long as it likes.
fn output(bed: &Bed, script: &Path, log: Option<&Path>) -> Result<Output, BedError> {
    let mut command = Command::new("/bin/sh");
    if is_executable(script) {
        let absolute = std::path::absolute(script).unwrap_or_else(|_| script.to_path_buf());
        command = Command::new(absolute);
    } else {
        command.arg("-e").arg(script);
    }
    command
        .envs(environment(bed))
        .stdin(std::process::Stdio::null());
    let Some(log) = log else {
        return Ok(spawn::output(
            command,
            bed.netns(Side::B),
            Terms::default(),
        )?);
    };
    let file = std::fs::File::create(log)?;
    command.stdout(file.try_clone()?).stderr(file);
    let mut child = spawn::start(
        command,
        bed.netns(Side::B),
        Terms {
            own_group: true,
            die_with_parent: false,
        },
    )?;
    let status = child.wait()?;
    let stderr = std::fs::read(log).unwrap_or_default();
    Ok(Output {
        status,
        stdout: Vec::new(),
        stderr,
    })
}

fn is_executable(script: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    script
        .metadata()
        .is_ok_and(|data| data.permissions().mode() & 0o111 != 0)
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
fn on_dut_cpus<T: Send>(
    bed: &Bed,
    start: impl FnOnce() -> Result<T, BedError> + Send,
) -> Result<T, BedError> {
    let cpus = bed.plan.cpus.dut_set();
    std::thread::scope(|scope| {
        let thread = scope.spawn(|| {
            cpu::pin_current_thread(&cpus)?;
            start()
        });
        thread
            .join()
            .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
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
    Ok(spawn::start(start, bed.netns(side), Terms::default())?)
}
