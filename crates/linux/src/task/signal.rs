//! Signals to tasks, and how we take them.

use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

use nix::sys::signal::{self, SaFlags, SigAction, SigHandler, SigSet, Signal};
use nix::unistd::Pid;

use crate::error::{Error, Result};

/// Sends a signal to a process; a negative id means the process group of that number (`kill(2)`).
///
/// # Errors
/// No such process (ESRCH), no right (EPERM). Ids 0, 1 and -1 are refused: they mean our own group,
/// the system's first process and everybody.
pub fn kill(pid: i32, with: Signal) -> Result<()> {
    let object = || format!("{with} to process {pid}");
    if (-1..=1).contains(&pid) {
        return Err(Error::from_text(
            "send",
            object(),
            "not a child process of mpps",
        ));
    }
    signal::kill(Pid::from_raw(pid), with)
        .map_err(|e| Error::from_errno("send", object(), e as i32))
}

/// Sends a signal to exactly the process that started at `started` ([`super::start_time`]): true if
/// it was there, false if it is gone (and its id perhaps another's).
///
/// # Errors
/// No right (EPERM).
pub fn kill_exact(pid: i32, started: u64, with: Signal) -> Result<bool> {
    let fail = |number| Error::from_errno("send", format!("{with} to process {pid}"), number);
    // From here on the descriptor means this process, whatever becomes of the number.
    let process = match pidfd_open(pid) {
        Ok(fd) => fd,
        Err(libc::ESRCH | libc::EINVAL) => return Ok(false),
        Err(number) => return Err(fail(number)),
    };
    if !super::lives(pid, started) {
        return Ok(false);
    }
    match pidfd_send_signal(&process, with) {
        Ok(()) => Ok(true),
        Err(libc::ESRCH) => Ok(false),
        Err(number) => Err(fail(number)),
    }
}

/// Sends a signal to one thread of this process.
///
/// # Errors
/// No such thread in this process (ESRCH).
pub fn tgkill(tid: i32, with: Signal) -> Result<()> {
    // SAFETY: plain integers; the worst case is a signal to a thread of our own process.
    let rc = unsafe {
        libc::syscall(
            libc::SYS_tgkill,
            super::current_pid(),
            tid,
            with as libc::c_int,
        )
    };
    if rc == 0 {
        return Ok(());
    }
    Err(Error::last("send", format!("{with} to thread {tid}")))
}

/// From now on this signal does nothing but end blocking system calls with EINTR (an empty handler
/// without SA_RESTART). For the whole process. A `BPF_PROG_TEST_RUN` in progress ends by it.
///
/// # Errors
/// A signal that cannot be handled: SIGKILL, SIGSTOP (EINVAL).
pub fn on_signal_do_nothing(which: Signal) -> Result<()> {
    extern "C" fn nothing(_: libc::c_int) {}
    let action = SigAction::new(
        SigHandler::Handler(nothing),
        SaFlags::empty(),
        SigSet::empty(),
    );
    // SAFETY: the handler does nothing, so it is async-signal-safe.
    unsafe { signal::sigaction(which, &action) }
        .map(drop)
        .map_err(|e| Error::from_errno("handle signal", which.to_string(), e as i32))
}

fn pidfd_open(pid: i32) -> std::result::Result<OwnedFd, i32> {
    // SAFETY: plain integers.
    let fd = unsafe { libc::syscall(libc::SYS_pidfd_open, pid, 0 as libc::c_uint) };
    match i32::try_from(fd) {
        // SAFETY: the kernel just returned this descriptor and nobody else knows it.
        Ok(fd) if fd >= 0 => Ok(unsafe { OwnedFd::from_raw_fd(fd) }),
        _ => Err(nix::errno::Errno::last_raw()),
    }
}

fn pidfd_send_signal(process: &OwnedFd, with: Signal) -> std::result::Result<(), i32> {
    // SAFETY: a null siginfo asks the kernel to fill it in as kill(2) does.
    let rc = unsafe {
        libc::syscall(
            libc::SYS_pidfd_send_signal,
            process.as_raw_fd(),
            with as libc::c_int,
            std::ptr::null::<libc::siginfo_t>(),
            0 as libc::c_uint,
        )
    };
    if rc == 0 {
        Ok(())
    } else {
        Err(nix::errno::Errno::last_raw())
    }
}
