//! How a sender's thread is waited for: until it has ended, its time is over, or no more is wanted.

use super::{Asked, GoOn, LOOK_NS_MAX};
use crate::clock::wait_until;
use crate::tester::error::TesterError;
use mpps_ebpf::instruments::sender::{DIRECTIONS, Stopped};
use mpps_linux::{clock, interrupt};

/// A sender that has not passed all its slots this long after the last was due is given up, ns.
const GRACE_NS: u64 = 500_000_000;
/// Between two looks at a sender that should have ended, ns.
const LOOK_NS: u64 = 1_000_000;

/// How far a sender is.
pub(super) struct Progress {
    /// When the first slot was due, monotonic ns; 0: not yet.
    pub started_ns: u64,
    /// Slots that passed unsent, by direction.
    pub unsent: [u64; DIRECTIONS],
    /// Slots that passed; 0 from a sender that does not tell.
    pub slots: u64,
    /// All slots have passed.
    pub ended: bool,
}

/// When a sender has to end.
pub(super) struct Due {
    /// When its last slot is due, monotonic ns; its first one, without a pace.
    pub ns: u64,
    /// The time it takes to begin, ns. It is added to the grace.
    pub set_up_ns: u64,
    /// Whether its slots have a pace. Without one nobody knows when the last is due, and the grace begins anew with
    /// every slot that passes.
    pub paced: bool,
}

/// Waits until all slots have passed, no more are wanted, the grace is over, the thread `finished`, or Ctrl-C came.
/// Returns why no more were wanted.
pub(super) fn wait_for_end(
    due: &Due,
    go_on: &Asked<'_>,
    progress: impl Fn() -> Result<Progress, TesterError>,
    finished: impl Fn() -> bool,
) -> Result<Option<Stopped>, TesterError> {
    let grace_ns = GRACE_NS + due.set_up_ns;
    let mut last = due.ns.saturating_add(grace_ns);
    let (mut next, mut passed, mut pause_ns) = (due.ns, 0, LOOK_NS_MAX);
    loop {
        while clock::monotonic_ns() < next && !finished() {
            wait_until(next.min(clock::monotonic_ns() + pause_ns));
            if interrupt::requested() {
                return Err(TesterError::Interrupted);
            }
            if clock::monotonic_ns() < next {
                let progress = progress()?;
                match go_on(progress.started_ns, progress.unsent)? {
                    GoOn::For(ns) => pause_ns = ns.min(LOOK_NS_MAX),
                    GoOn::Stop(why) => return Ok(Some(why)),
                }
            }
        }
        let progress = progress()?;
        let now_ns = clock::monotonic_ns().max(next);
        // What kept this thread waiting may keep the sender waiting too. That time is no part of the grace.
        last = last.saturating_add(now_ns - next);
        if !due.paced && progress.slots > passed {
            passed = progress.slots;
            last = now_ns + grace_ns;
        }
        if finished() || progress.ended || now_ns > last {
            return Ok(None);
        }
        // A long burst is not looked at more often than its length is worth.
        next = now_ns + LOOK_NS.max((next - due.ns) / 64);
    }
}

#[cfg(test)]
mod tests {
    use super::super::until_ended;
    use super::*;

    fn wait(finished: impl Fn() -> bool) -> Option<Stopped> {
        let due = Due {
            ns: clock::monotonic_ns().saturating_sub(10 * GRACE_NS),
            set_up_ns: 0,
            paced: true,
        };
        let progress = || {
            Ok(Progress {
                started_ns: due.ns,
                unsent: [0; DIRECTIONS],
                slots: 0,
                ended: false,
            })
        };
        wait_for_end(&due, &until_ended, progress, finished).expect("no Ctrl-C")
    }

    #[test]
    fn waiting_late_still_gives_the_sender_its_grace() {
        let ends_ns = clock::monotonic_ns() + GRACE_NS / 10;
        assert_eq!(wait(|| clock::monotonic_ns() > ends_ns), None);
        assert!(clock::monotonic_ns() > ends_ns);
    }

    #[test]
    fn a_sender_that_never_ends_is_given_up() {
        let began_ns = clock::monotonic_ns();
        assert_eq!(wait(|| false), None);
        assert!(clock::monotonic_ns() > began_ns + GRACE_NS);
    }
}
