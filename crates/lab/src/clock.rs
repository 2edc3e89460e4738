//! Waiting by the monotonic clock.

pub use mpps_linux::clock::monotonic_ns;

use mpps_method::Span;
use std::time::Duration;

/// When the time for a job is spent; never, where nobody bounds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Deadline(Option<u64>);

impl Deadline {
    /// No end.
    pub const NEVER: Self = Self(None);

    /// From now on.
    #[must_use]
    pub fn after(time: Option<Span>) -> Self {
        Self(time.map(|time| monotonic_ns().saturating_add(time.as_nanos())))
    }

    /// So much earlier.
    #[must_use]
    pub fn earlier(self, by: Span) -> Self {
        Self(self.0.map(|end| end.saturating_sub(by.as_nanos())))
    }

    /// So much later.
    #[must_use]
    pub fn later(self, by: Span) -> Self {
        Self(self.0.map(|end| end.saturating_add(by.as_nanos())))
    }

    /// Whether at least half of something so long fits in before it.
    #[must_use]
    pub fn leaves(self, time: Span) -> bool {
        self.0
            .is_none_or(|end| monotonic_ns().saturating_add(time.as_nanos() / 2) <= end)
    }
}

/// Blocks until the monotonic clock reads `ns`, or a signal has come.
#[expect(
    clippy::disallowed_methods,
    reason = "the one place that waits for a time"
)]
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
