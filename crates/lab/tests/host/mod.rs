//! The host as a run must leave it, and a /run of one's own to look at it undisturbed.

use mpps_lab::journal;
use mpps_linux::netns::NetNs;
use mpps_linux::{links, setting::Setting};
use std::collections::BTreeSet;
use std::os::unix::process::ExitStatusExt;
use std::panic::Location;
use std::path::Path;
use std::process::{Command, Output, Stdio};

const ALONE: &str = "MPPS_TEST_ALONE";

/// Whether this test has a /run of its own. If not, it is run again by a process that has, and the
/// answer is no: `if !alone("name") { return; }`.
///
/// So journals and names of namespaces are this test's alone, whatever else runs on the machine, and
/// what is left of them can be told to the file.
#[track_caller]
pub fn alone(test: &str) -> bool {
    if std::env::var_os(ALONE).is_some() {
        return true;
    }
    let own = again(test);
    let again = Command::new("unshare")
        .args(["--mount", "--propagation", "private", "sh", "-c"])
        .arg("mount -t tmpfs tmpfs /run && exec \"$0\" \"$@\"")
        .arg(own.get_program())
        .args(own.get_args())
        .arg("--nocapture")
        .env(ALONE, format!("{test}-{}", std::process::id()))
        .output()
        .expect("unshare (util-linux)");
    succeeded(test, &again);
    false
}

/// This program again, for one test of the file that asks.
#[track_caller]
pub fn again(test: &str) -> Command {
    let file = Path::new(Location::caller().file()).file_stem();
    let module = file
        .and_then(|file| file.to_str())
        .expect("a file of tests");
    let mut command = Command::new(std::env::current_exe().expect("own path"));
    command.args(["--exact", &format!("{module}::{test}")]);
    command
}

/// Runs it without a word. Whether it was killed on its way; else it succeeded.
pub fn is_killed(command: &mut Command) -> bool {
    let quiet = command.stdout(Stdio::null()).stderr(Stdio::null());
    let status = quiet.status().expect("this program again");
    let is_killed = status.signal() == Some(9);
    assert!(status.success() || is_killed, "{status}");
    is_killed
}

/// What a test that ran in a process of its own printed is shown when it failed, and marked as that process's:
/// its "test result" is no second test.
pub fn succeeded(test: &str, again: &Output) {
    let said = [&again.stdout, &again.stderr].map(|bytes| String::from_utf8_lossy(bytes));
    let said = said.iter().flat_map(|text| text.lines());
    let said: String = said.map(|line| format!("| {line}\n")).collect();
    assert!(
        again.status.success(),
        "{test} in a process of its own: {}\n{said}",
        again.status
    );
}

/// What a run may not leave changed.
#[derive(Debug, PartialEq, Eq)]
pub struct Host {
    /// Everything below /run: journals, names of namespaces, folders.
    run: BTreeSet<String>,
    /// Mount points in this test's own /run; what it covers is the host's and may change.
    mounts: Vec<String>,
    /// Interfaces of the host itself, with their indexes.
    links: Vec<(u32, String)>,
    /// The settings that the bed has in its own namespaces, as the host has them.
    sysctls: Vec<(String, String)>,
    /// Processes that were started in a bed of this test.
    processes: Vec<i32>,
}

impl Host {
    /// The host now.
    pub fn now() -> Self {
        let mut run = BTreeSet::new();
        walk(Path::new("/run"), &mut run);
        Self {
            run,
            mounts: mounts_on_run(),
            links: links::list()
                .expect("links")
                .into_iter()
                .map(|link| (link.index, link.name))
                .collect(),
            sysctls: sysctls(),
            processes: started_in(None),
        }
    }
}

fn mounts_on_run() -> Vec<String> {
    let mountinfo = std::fs::read_to_string("/proc/self/mountinfo").expect("mounts");
    // Number, number of the mount it is on, device, root, point (proc_pid_mountinfo(5)).
    let mounts: Vec<Vec<&str>> = mountinfo
        .lines()
        .map(|line| line.split(' ').take(5).collect())
        .collect();
    let run = mounts.iter().rev().find(|mount| mount[4] == "/run");
    let run = run.expect("a /run of one's own")[0];
    mounts
        .iter()
        .filter(|mount| mount[1] == run)
        .map(|mount| mount[4].to_owned())
        .collect()
}

fn walk(folder: &Path, found: &mut BTreeSet<String>) {
    for entry in std::fs::read_dir(folder).expect("folder").flatten() {
        found.insert(entry.path().display().to_string());
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            walk(&entry.path(), found);
        }
    }
}

fn sysctls() -> Vec<(String, String)> {
    let mut names = vec!["net.ipv4.ip_forward".to_owned()];
    for scope in ["all", "default", "lo"] {
        for name in [
            "forwarding",
            "disable_ipv6",
            "accept_ra",
            "autoconf",
            "dad_transmits",
            "router_solicitations",
            "mldv1_unsolicited_report_interval",
            "mldv2_unsolicited_report_interval",
        ] {
            names.push(format!("net.ipv6.conf.{scope}.{name}"));
        }
    }
    names
        .into_iter()
        .map(|name| {
            let value = Setting::sysctl(&name).read().unwrap_or_default();
            (name, value)
        })
        .collect()
}

/// Processes that beds of this test started (all, or one bed's): their environment names bed and test.
pub fn started_in(bed: Option<&str>) -> Vec<i32> {
    let test = format!("{ALONE}={}", std::env::var(ALONE).unwrap_or_default());
    let is_ours = |pid: &i32| {
        let Ok(environment) = std::fs::read(format!("/proc/{pid}/environ")) else {
            return false;
        };
        let has = |wanted: &dyn Fn(&[u8]) -> bool| environment.split(|&b| b == 0).any(wanted);
        has(&|one| one == test.as_bytes())
            && has(&|one| match (one.strip_prefix(b"MPPS_BED="), bed) {
                (Some(name), Some(bed)) => name == bed.as_bytes(),
                (started_in, _) => started_in.is_some(),
            })
    };
    pids().into_iter().filter(is_ours).collect()
}

fn pids() -> Vec<i32> {
    std::fs::read_dir("/proc")
        .expect("/proc")
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .collect()
}

/// Namespaces, journals and processes of a bed that are there now, in words.
pub fn left_of(bed: &str) -> Vec<String> {
    let mut left: Vec<String> = NetNs::list()
        .expect("namespaces")
        .into_iter()
        .filter(|name| name.starts_with(&format!("mpps-{bed}-")))
        .collect();
    left.extend(
        journal::names()
            .expect("journals")
            .into_iter()
            .filter(|name| name == bed),
    );
    left.extend(started_in(Some(bed)).iter().map(i32::to_string));
    left
}
