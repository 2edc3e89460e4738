//! The user's wish to stop (Ctrl-C, SIGTERM, a closed terminal), as a flag to look at.

use std::sync::atomic::{AtomicI32, Ordering};

use nix::sys::signal::{self, SaFlags, SigAction, SigHandler, SigSet, Signal};

use crate::error::{Error, Result};

/// Number of the last such signal; 0 while none came.
static CAUGHT: AtomicI32 = AtomicI32::new(0);

extern "C" fn remember(number: libc::c_int) {
    CAUGHT.store(number, Ordering::Relaxed);
}

/// From now on SIGINT, SIGTERM and SIGHUP no longer end this process but are remembered, and end
/// blocking system calls with EINTR. For the whole process; calling it again changes nothing.
///
/// A signal that was ignored from the start stays ignored (`nohup`, a background job's SIGINT).
///
/// # Errors
/// None in practice: all three signals can be handled.
pub fn install() -> Result<()> {
    for which in [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP] {
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
