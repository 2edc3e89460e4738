//! Waiting by the monotonic clock.

use mpps_linux::clock::monotonic_ns;
use std::time::Duration;

/// Blocks until the monotonic clock reads `ns`, or a signal has come.
pub fn wait_until(ns: u64) {
    let now = monotonic_ns();
    if ns > now {
        std::thread::sleep(Duration::from_nanos(ns - now));
    }
}

/// Asks again every `step_ns` until the answer is yes; `false` when `limit_ns` have passed before.
///
/// # Errors
/// What the question said.
pub fn wait_for<E>(
    limit_ns: u64,
    step_ns: u64,
    mut ask: impl FnMut() -> Result<bool, E>,
) -> Result<bool, E> {
    let end = monotonic_ns() + limit_ns;
    loop {
        if ask()? {
            return Ok(true);
        }
        let now = monotonic_ns();
        if now >= end {
            return Ok(false);
        }
        wait_until((now + step_ns).min(end));
    }
}
