//! The user's wish to stop (Ctrl-C, SIGTERM, a closed terminal, a used-up limit), as a flag to look at.

use std::sync::atomic::{AtomicI32, Ordering};

use nix::sys::signal::{self, SaFlags, SigAction, SigHandler, SigSet, Signal};

use crate::error::{Error, Result};

/// Number of the last such signal; 0 while none came.
static CAUGHT: AtomicI32 = AtomicI32::new(0);

extern "C" fn remember(number: libc::c_int) {
    CAUGHT.store(number, Ordering::Relaxed);
}

/// Signals that end a process by default, and leave it time to put the host back if it handles them.
const STOPPING: [Signal; 6] = [
    Signal::SIGINT,
    Signal::SIGTERM,
    Signal::SIGHUP,
    Signal::SIGQUIT,
    Signal::SIGALRM,
    Signal::SIGXCPU,
];

/// From now on SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGALRM and SIGXCPU no longer end this process but are
/// remembered, and end blocking system calls with EINTR. For the whole process; calling it again changes nothing.
///
/// A signal that was ignored from the start stays ignored (`nohup`, a background job's SIGINT).
///
/// # Errors
/// None in practice: all of these signals can be handled.
pub fn install() -> Result<()> {
    for which in STOPPING {
        let fail = |e| Error::from_errno("handle signal", which.to_string(), e as i32);
        // No SA_RESTART: whoever blocks must come up to look at the flag.
        let action = SigAction::new(
            SigHandler::Handler(remember),
            SaFlags::empty(),
            SigSet::empty(),
        );
        // SAFETY: the handler only stores to an atomic, which is async-signal-safe.
        let before = unsafe { signal::sigaction(which, &action) }.map_err(fail)?;
        if matches!(before.handler(), SigHandler::SigIgn) {
            // SAFETY: puts back the disposition that was there a moment ago.
            unsafe { signal::sigaction(which, &before) }.map_err(fail)?;
        }
    }
    Ok(())
}

/// From now on a write beyond the limit for files (`ulimit -f`) fails with EFBIG and does not end this process.
/// Programs started later have SIGXFSZ as usual. For the whole process.
///
/// # Errors
/// None in practice: SIGXFSZ can be handled.
pub fn survive_file_limit() -> Result<()> {
    crate::task::on_signal_do_nothing(Signal::SIGXFSZ)
}

/// Whether the user wishes to stop.
#[must_use]
pub fn requested() -> bool {
    CAUGHT.load(Ordering::Relaxed) != 0
}

/// The signal that said so, if any: an exit status is by custom 128 + its number.
#[must_use]
pub fn signal() -> Option<Signal> {
    Signal::try_from(CAUGHT.load(Ordering::Relaxed)).ok()
}
