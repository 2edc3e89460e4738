//! Programs run inside a network namespace: the user's set-up script, a routing daemon, a data
//! plane of our own.
//!
//! The program gets a private mount namespace. In it /sys shows the devices of its network namespace. Everything that
//! was mounted below /sys stays where it was: /sys/fs/bpf with its pinned objects, cgroups, tracing. `ip netns exec`
//! loses those.

use std::ffi::CString;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Output};

use nix::errno::Errno;
use nix::mount::{MsFlags, mount};
use nix::sched::{CloneFlags, setns, unshare};
use nix::sys::signal::Signal;

use crate::error::{Error, Result};
use crate::netns::NetNs;

/// On what terms a program runs.
#[derive(Debug, Clone, Copy, Default)]
pub struct Terms {
    /// A process group of its own (its id is the process id): Ctrl-C at the terminal does not reach
    /// it, and a signal to minus its id reaches all its children.
    pub own_group: bool,
    /// Kill it (SIGKILL) when the *thread* that started it ends (`PR_SET_PDEATHSIG`). Its own
    /// children are not killed by this.
    pub die_with_parent: bool,
}

/// Starts the command inside the namespace; streams, environment and directory as the command
/// says. CPU affinity is that of the calling thread.
///
/// # Errors
/// The program is not there or cannot be executed, or a step into the namespace failed (EPERM);
/// the error says which. Nothing runs then.
pub fn start(mut command: Command, netns: &NetNs, terms: Terms) -> Result<Child> {
    let program = command.get_program().to_string_lossy().into_owned();
    let object = || format!("{program} in netns {}", netns.name());
    if terms.own_group {
        command.process_group(0);
    }
    let (steps_in, step_out) = nix::unistd::pipe2(nix::fcntl::OFlag::O_CLOEXEC)
        .map_err(|e| Error::from_errno("start", object(), e as i32))?;
    let mut entry = Entry::prepare(netns, terms, step_out)?;
    // SAFETY: between fork and exec `enter` makes system calls on memory prepared here, and neither
    // allocates nor locks nor panics.
    unsafe {
        command.pre_exec(move || entry.enter());
    }
    let started = command.spawn();
    // The command owns the closure and with it our copy of the pipe's writing end.
    drop(command);
    started.map_err(|error| {
        let mut step = [0];
        // One octet if a step failed, end of file if exec itself did.
        match nix::unistd::read(&steps_in, &mut step) {
            Ok(1) => Error::from_io(Step::from_octet(step[0]).words(), object(), &error),
            _ => {
                let failed = Error::from_io("start", object(), &error);
                match error.kind() {
                    io::ErrorKind::NotFound => {
                        failed.with_remedy("no such program, or its interpreter is missing")
                    }
                    io::ErrorKind::PermissionDenied => failed.with_remedy("is it executable?"),
                    _ => failed,
                }
            }
        }
    })
}

/// Runs the command inside the namespace to its end and returns what it wrote. Its input is empty;
/// its output must fit into memory.
///
/// # Errors
/// As [`start`], or reading its output failed. A program that fails is not an error here: see the
/// status.
pub fn output(mut command: Command, netns: &NetNs, terms: Terms) -> Result<Output> {
    use std::process::Stdio;
    command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let program = command.get_program().to_string_lossy().into_owned();
    start(command, netns, terms)?
        .wait_with_output()
        .map_err(|e| Error::from_io("read output of", program, &e))
}

/// Everything the child needs between fork and exec, prepared before the fork.
struct Entry {
    netns: OwnedFd,
    die_with: Option<libc::pid_t>,
    /// Mount points below /sys whose mounts the child keeps.
    kept: Vec<CString>,
    /// Room for as many descriptors, so that the child need not allocate.
    carried: Vec<libc::c_int>,
    step_out: OwnedFd,
}

#[derive(Clone, Copy)]
enum Step {
    DieWithParent = 1,
    EnterNetNs,
    PrivateMounts,
    CarryMounts,
    MountSysfs,
    RestoreMounts,
}

impl Step {
    const ALL: [Self; 6] = [
        Self::DieWithParent,
        Self::EnterNetNs,
        Self::PrivateMounts,
        Self::CarryMounts,
        Self::MountSysfs,
        Self::RestoreMounts,
    ];

    fn from_octet(octet: u8) -> Self {
        let known = Self::ALL.into_iter().find(|step| *step as u8 == octet);
        known.unwrap_or(Self::DieWithParent)
    }

    fn words(self) -> &'static str {
        match self {
            Self::DieWithParent => "set the parent-death signal",
            Self::EnterNetNs => "enter the namespace for",
            Self::PrivateMounts => "make private mounts for",
            Self::CarryMounts => "keep the mounts below /sys for",
            Self::MountSysfs => "mount /sys for",
            Self::RestoreMounts => "restore the mounts below /sys for",
        }
    }
}

impl Entry {
    fn prepare(netns: &NetNs, terms: Terms, step_out: OwnedFd) -> Result<Self> {
        let path = "/proc/thread-self/mountinfo";
        let mountinfo = std::fs::read(path).map_err(|e| Error::from_io("read mounts", path, &e))?;
        let kept = mounts_directly_below(b"/sys", &mountinfo);
        Ok(Self {
            netns: netns
                .as_fd()
                .try_clone_to_owned()
                .map_err(|e| Error::from_io("open", format!("netns {}", netns.name()), &e))?,
            die_with: terms.die_with_parent.then(crate::task::current_pid),
            carried: Vec::with_capacity(kept.len()),
            kept,
            step_out,
        })
    }

    /// Runs in the child. Async-signal-safe only.
    fn enter(&mut self) -> io::Result<()> {
        self.steps().map_err(|(step, errno)| {
            // If the pipe is broken the parent is gone and nobody wants to know.
            let _ = nix::unistd::write(&self.step_out, &[step as u8]);
            io::Error::from_raw_os_error(errno as i32)
        })
    }

    fn steps(&mut self) -> std::result::Result<(), (Step, Errno)> {
        let at = |step: Step| move |errno: Errno| (step, errno);
        if let Some(parent) = self.die_with {
            die_with(parent, Signal::SIGKILL).map_err(at(Step::DieWithParent))?;
        }
        setns(&self.netns, CloneFlags::CLONE_NEWNET).map_err(at(Step::EnterNetNs))?;
        let nothing = None::<&std::ffi::CStr>;
        unshare(CloneFlags::CLONE_NEWNS).map_err(at(Step::PrivateMounts))?;
        // Slave: what the host mounts later may arrive here, what we mount never leaves.
        let slave = MsFlags::MS_SLAVE | MsFlags::MS_REC;
        mount(nothing, c"/", nothing, slave, nothing).map_err(at(Step::PrivateMounts))?;
        for point in &self.kept {
            self.carried
                .push(clone_mount(point).map_err(at(Step::CarryMounts))?);
        }
        mount(
            Some(c"sysfs"),
            c"/sys",
            Some(c"sysfs"),
            MsFlags::MS_NOSUID | MsFlags::MS_NODEV | MsFlags::MS_NOEXEC,
            nothing,
        )
        .map_err(at(Step::MountSysfs))?;
        for (point, &mounted) in self.kept.iter().zip(&self.carried) {
            match attach_mount(mounted, point) {
                // The new sysfs has no such directory: nobody in there can expect the mount.
                Ok(()) | Err(Errno::ENOENT) => {}
                Err(errno) => return Err((Step::RestoreMounts, errno)),
            }
        }
        Ok(())
    }
}

/// Has the kernel ask the program to stop (SIGTERM) when the thread that starts it ends, whatever ends it.
pub fn stop_with_parent(command: &mut Command) {
    let parent = crate::task::current_pid();
    // SAFETY: between fork and exec there are two system calls, which neither allocate nor lock nor panic.
    unsafe {
        command.pre_exec(move || Ok(die_with(parent, Signal::SIGTERM)?));
    }
}

fn die_with(parent: libc::pid_t, signal: Signal) -> nix::Result<()> {
    nix::sys::prctl::set_pdeathsig(signal)?;
    // The parent may have ended before the call above: then no signal will ever come.
    if nix::unistd::getppid().as_raw() == parent {
        Ok(())
    } else {
        Err(Errno::ESRCH)
    }
}

/// A detached copy of the mount at this point with all mounts below it (`open_tree(2)`), closed by
/// exec.
fn clone_mount(point: &CString) -> nix::Result<libc::c_int> {
    let flags =
        libc::OPEN_TREE_CLONE | libc::OPEN_TREE_CLOEXEC | libc::AT_RECURSIVE as libc::c_uint;
    // SAFETY: `point` is NUL-terminated and only read.
    let fd = unsafe { libc::syscall(libc::SYS_open_tree, libc::AT_FDCWD, point.as_ptr(), flags) };
    Errno::result(fd).map(|fd| fd as libc::c_int)
}

/// Attaches a detached mount at this point (`move_mount(2)`).
fn attach_mount(mounted: libc::c_int, point: &CString) -> nix::Result<()> {
    const MOVE_MOUNT_F_EMPTY_PATH: libc::c_uint = 4;
    // SAFETY: both paths are NUL-terminated and only read.
    let rc = unsafe {
        libc::syscall(
            libc::SYS_move_mount,
            mounted,
            c"".as_ptr(),
            libc::AT_FDCWD,
            point.as_ptr(),
            MOVE_MOUNT_F_EMPTY_PATH,
        )
    };
    Errno::result(rc).map(drop)
}

/// Mount points of the mounts that sit directly on the topmost mount at `root`, from the text of
/// /proc/PID/mountinfo (`proc_pid_mountinfo(5)`).
fn mounts_directly_below(root: &[u8], mountinfo: &[u8]) -> Vec<CString> {
    let mounts: Vec<(&[u8], &[u8], Vec<u8>)> = mountinfo
        .split(|&b| b == b'\n')
        .filter_map(|line| {
            let mut fields = line.split(|&b| b == b' ');
            let (id, parent) = (fields.next()?, fields.next()?);
            Some((id, parent, unescape(fields.nth(2)?)))
        })
        .collect();
    // The last one listed at a point covers those before it.
    let Some((top, ..)) = mounts.iter().rev().find(|(.., point)| point == root) else {
        return Vec::new();
    };
    mounts
        .iter()
        .filter(|(_, parent, _)| parent == top)
        .filter_map(|(.., point)| CString::new(point.clone()).ok())
        .collect()
}

/// mountinfo writes blank, tab, newline and backslash as `\` and three octal digits.
fn unescape(field: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(field.len());
    let mut rest = field;
    while let [first, tail @ ..] = rest {
        let octal = tail
            .get(..3)
            .filter(|_| *first == b'\\')
            .and_then(|digits| std::str::from_utf8(digits).ok())
            .and_then(|digits| u8::from_str_radix(digits, 8).ok());
        match octal {
            Some(octet) => {
                out.push(octet);
                rest = &tail[3..];
            }
            None => {
                out.push(*first);
                rest = tail;
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mounts_below_sys_are_those_on_its_topmost_mount() {
        let text = b"20 1 0:18 / / rw - ext4 /dev/vda rw\n\
            21 20 0:19 / /sys rw shared:2 - sysfs sysfs rw\n\
            22 21 0:20 / /sys/fs/bpf rw - bpf bpf rw\n\
            30 21 0:21 / /sys rw - sysfs sysfs rw\n\
            31 30 0:22 / /sys/fs/cgroup rw - tmpfs tmpfs rw\n\
            32 31 0:23 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw\n\
            33 30 0:24 / /sys/a\\040b rw - tmpfs tmpfs rw\n";
        let below = mounts_directly_below(b"/sys", text);
        assert_eq!(
            below,
            [c"/sys/fs/cgroup".into(), CString::from(c"/sys/a b")]
        );
        assert!(mounts_directly_below(b"/nowhere", text).is_empty());
        assert!(mounts_directly_below(b"/sys", b"garbage\n").is_empty());
    }

    #[test]
    fn escapes_are_three_octal_digits() {
        assert_eq!(unescape(b"a\\134b\\040c"), b"a\\b c");
        assert_eq!(unescape(b"end\\04"), b"end\\04");
        assert_eq!(unescape(b"\\xyz"), b"\\xyz");
    }

    #[test]
    fn every_step_has_its_octet() {
        for step in Step::ALL {
            assert_eq!(Step::from_octet(step as u8).words(), step.words());
        }
    }
}
