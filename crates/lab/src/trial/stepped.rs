//! A trial whose load drops to a lower one (RFC 2544 26.5).

use super::{Begun, gap_fp, marks, send_load, windows};
use crate::tester::{GoOn, Tester, TesterError, WhileSending};
use mpps_ebpf::instruments::sender::Slow;
use mpps_method::{Losses, Offer, Span, Trial};

/// A trial whose load drops to a lower one without a break (RFC 2544 26.5).
#[derive(Clone, Debug)]
pub struct Stepped {
    /// The whole trial. Its load is the first one.
    pub trial: Trial,
    /// Time from the first slot to the drop of the load. `None`: it did not drop.
    pub dropped: Option<Span>,
    /// When the last frame was sent that was lost outside disturbances.
    pub last_lost: Option<Span>,
}

/// How far a sender is.
#[derive(Clone, Copy, Debug)]
pub struct Passed {
    /// When its first slot was due, monotonic ns; 0: not yet.
    pub started_ns: u64,
    /// Slots that passed without a frame.
    pub unsent: u64,
}

/// Runs one trial at a load and then at a lower one, in one direction.
///
/// # Errors
/// As [`super::run`].
pub fn run_stepped(
    tester: &mut Tester<'_>,
    high: &Offer,
    low: &Offer,
) -> Result<Stepped, TesterError> {
    run_stepped_watched(tester, high, low, &|_, _| Ok(Span::from_millis(1_000)))
}

/// The same, with looks at the tester while it sends. `look` tells when it wants to look again at the latest.
pub fn run_stepped_watched(
    tester: &mut Tester<'_>,
    high: &Offer,
    low: &Offer,
    look: &dyn Fn(&Tester<'_>, &Passed) -> Result<Span, TesterError>,
) -> Result<Stepped, TesterError> {
    let (first, then) = (high.duration, low.duration);
    let mut begun = Begun::paced(
        tester,
        high,
        Span::from_nanos(first.as_nanos() + then.as_nanos()),
    )?;
    begun.order.slots = high.rate.frames_in(first) + low.rate.frames_in(then);
    begun.order.slow = Some(Slow {
        after_ns: first.as_nanos(),
        gap_fp: gap_fp(low.rate.fps()),
    });
    let minding = WhileSending {
        go_on: &|started_ns, [unsent, _]| {
            let passed = Passed { started_ns, unsent };
            Ok(GoOn::For(look(tester, &passed)?.as_nanos()))
        },
    };
    let sent = send_load(tester, begun.order, &minding)?;
    let (started_ns, slowed_ns) = (sent.started_ns, sent.slowed_ns);
    let marks = marks(tester, &sent)?;
    let trial = begun.end(tester, sent)?;
    let left = |losses: &Losses| {
        let sequence = losses.last.first + losses.last.frames - 1;
        let ns = windows::count_at(&marks, sequence, |mark| (mark.sequence[0], mark.ns));
        Span::from_nanos((ns as u64).saturating_sub(started_ns))
    };
    Ok(Stepped {
        dropped: (slowed_ns > 0).then(|| Span::from_nanos(slowed_ns - started_ns)),
        last_lost: trial.losses.first().map(left),
        trial,
    })
}
