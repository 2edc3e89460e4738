//! Programs in namespaces: what they see, how they end, how they fail. Needs root.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::scratch::{Scratch, joined, privileged, wait_for};
use mpps_linux::netns::NetNs;
use mpps_linux::spawn::{self, Terms};
use mpps_linux::task::{self, Signal};
use nix::mount::{MsFlags, mount};
use nix::sched::{CloneFlags, unshare};

fn shell(script: &str) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", script]);
    command
}

fn text_of(script: &str, netns: &NetNs) -> String {
    let output = spawn::output(shell(script), netns, Terms::default()).unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn a_program_sees_its_namespaces_devices_in_sys() {
    if !privileged() {
        return;
    }
    let (_c, d) = joined(1);
    let seen = text_of("ls /sys/class/net; cat /sys/class/net/mD/address", &d.0);
    assert_eq!(seen, "lo\nmD\n02:6d:70:70:00:0d\n");
    let mounts = text_of("cat /proc/self/mountinfo", &d.0);
    for kept in mounts_below_sys(&fs::read_to_string("/proc/self/mountinfo").unwrap()) {
        assert!(
            mounts.contains(&format!(" {kept} ")),
            "{kept} is lost:\n{mounts}"
        );
    }
    // Nothing of this reached us.
    assert!(!Path::new("/sys/class/net/mD").exists());
}

fn mounts_below_sys(mountinfo: &str) -> Vec<String> {
    mountinfo
        .lines()
        .filter_map(|line| line.split(' ').nth(4))
        .filter(|point| point.starts_with("/sys/"))
        .map(str::to_owned)
        .collect()
}

#[test]
fn pinned_objects_below_sys_fs_bpf_stay_visible() {
    if !privileged() {
        return;
    }
    let (_c, d) = joined(1);
    // A BPF file system of this test alone: in a thread with mounts of its own.
    let seen = std::thread::scope(|scope| {
        let thread = scope.spawn(|| {
            unshare(CloneFlags::CLONE_NEWNS).unwrap();
            let private = MsFlags::MS_PRIVATE | MsFlags::MS_REC;
            mount(None::<&str>, "/", None::<&str>, private, None::<&str>).unwrap();
            let none = MsFlags::empty();
            mount(Some("bpf"), "/sys/fs/bpf", Some("bpf"), none, None::<&str>).unwrap();
            fs::create_dir("/sys/fs/bpf/pinned-here").unwrap();
            text_of("ls -d /sys/fs/bpf/pinned-*; ls /sys/class/net", &d.0)
        });
        thread.join().unwrap()
    });
    assert_eq!(seen, "/sys/fs/bpf/pinned-here\nlo\nmD\n");
    assert!(!Path::new("/sys/fs/bpf/pinned-here").exists());
}

#[test]
fn a_program_that_cannot_start_is_an_error() {
    if !privileged() {
        return;
    }
    let scratch = Scratch::new();
    let output = spawn::output(
        shell("echo out; echo wrong >&2; exit 3"),
        &scratch.0,
        Terms::default(),
    )
    .unwrap();
    assert_eq!(output.status.code(), Some(3));
    assert_eq!(
        (&*output.stdout, &*output.stderr),
        (&b"out\n"[..], &b"wrong\n"[..])
    );
    let missing = Command::new("/no/such/program");
    let error = spawn::start(missing, &scratch.0, Terms::default()).unwrap_err();
    assert_eq!(
        error.to_string(),
        format!(
            "start /no/such/program in netns {}: ENOENT (no such program, or its interpreter is missing)",
            scratch.0.name()
        )
    );
    let plain = Command::new("/proc/self/status");
    let error = spawn::start(plain, &scratch.0, Terms::default()).unwrap_err();
    assert!(
        error.to_string().contains("EACCES (is it executable?)"),
        "{error}"
    );
}

#[test]
fn a_failed_step_into_the_namespace_is_named() {
    if !privileged() {
        return;
    }
    let scratch = Scratch::new();
    let mut command = shell("exit 0");
    // An unprivileged user cannot enter: std changes the user before our step.
    std::os::unix::process::CommandExt::uid(&mut command, 65534);
    let error = spawn::start(command, &scratch.0, Terms::default()).unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with("enter the namespace for sh in netns mpps-linux-"),
        "{error}"
    );
    assert_eq!(error.errno(), Some(libc::EPERM));
}

#[test]
fn a_group_of_its_own_is_ended_with_its_children() {
    if !privileged() {
        return;
    }
    let scratch = Scratch::new();
    // The shell and the cat it starts, which reads for ever from a pipe that we hold open (a
    // background job reads /dev/null unless told otherwise).
    let mut command = shell("exec 3<&0; cat <&3 & wait");
    command.stdin(Stdio::piped()).stdout(Stdio::null());
    let terms = Terms {
        own_group: true,
        ..Terms::default()
    };
    let mut child = spawn::start(command, &scratch.0, terms).unwrap();
    let pid = i32::try_from(child.id()).unwrap();
    wait_for("shell and cat", || {
        (scratch.0.pids().unwrap().len() == 2).then_some(())
    });
    task::kill(-pid, Signal::SIGKILL).unwrap();
    child.wait().unwrap();
    wait_for("both to end", || {
        scratch.0.pids().unwrap().is_empty().then_some(())
    });
}

#[test]
fn a_program_may_die_with_the_thread_that_started_it() {
    if !privileged() {
        return;
    }
    let scratch = Scratch::new();
    let terms = Terms {
        die_with_parent: true,
        ..Terms::default()
    };
    let mut command = Command::new("cat");
    command.stdin(Stdio::piped()).stdout(Stdio::null());
    let mut child = std::thread::scope(|scope| {
        let starting = scope.spawn(|| {
            let child = spawn::start(command, &scratch.0, terms).unwrap();
            assert_eq!(scratch.0.pids().unwrap().len(), 1);
            child
        });
        starting.join().unwrap()
    });
    let status = child.wait().unwrap();
    assert_eq!(
        std::os::unix::process::ExitStatusExt::signal(&status),
        Some(libc::SIGKILL)
    );
}
