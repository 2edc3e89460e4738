//! A trial whose load drops to a lower one (RFC 2544 26.5).

use super::disturbed::Disturbances;
use super::{Begun, gap_fp, marks, rules, windows};
use crate::tester::{GoOn, Tester, TesterError};
use mpps_ebpf::instruments::sender::{DIRECTIONS, Slow};
use mpps_method::pattern::Ending;
use mpps_method::{Offer, Span, Trial, disturbed};

/// The DUT has recovered when it loses no frame for this part of the time after the drop.
const CLEAN: f64 = 0.1;

/// A trial whose load drops to a lower one without a break (RFC 2544 26.5).
#[derive(Clone, Debug)]
pub struct Stepped {
    /// The whole trial. Its load is the first one.
    pub trial: Trial,
    /// Time from the first slot to the drop of the load. `None`: it did not drop.
    pub dropped: Option<Span>,
    /// How its loss ended, and when the last frame was sent that was lost before that.
    pub loss: Ending<Span>,
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
    let ask = |started_ns, [unsent, _]: [u64; DIRECTIONS]| {
        let passed = Passed { started_ns, unsent };
        Ok(GoOn::For(look(tester, &passed)?.as_nanos()))
    };
    let sent = tester.sender.send(begun.order, &ask)?;
    let (started_ns, slowed_ns) = (sent.started_ns, sent.slowed_ns);
    let marks = marks(tester, &sent)?;
    let (order, outcome) = (begun.order, sent.clone());
    let trial = begun.end(tester, sent)?;
    let times = trial.disturbances();
    let guard = rules::choose(tester, high).guard;
    let times = disturbed::excluded(times, &guard, trial.duration);
    let without = Disturbances::new(times, &order, &outcome, &marks).sequences(0);
    let frames = outcome.sent[0];
    let seen = tester.receivers.first();
    let seen = seen.map_or(Ok(Vec::new()), |receiver| receiver.seen(frames))?;
    let dropped = windows::count_at(&marks, slowed_ns, |mark| (mark.ns, mark.sequence[0])) as u64;
    let stretch = (frames.saturating_sub(dropped) as f64 * CLEAN).ceil() as u64;
    let ending = Ending::from_bitmap(&seen, frames, &without, (dropped, stretch.max(1)));
    let left = |sequence: u64| {
        let ns = windows::count_at(&marks, sequence, |mark| (mark.sequence[0], mark.ns));
        Span::from_nanos((ns as u64).saturating_sub(started_ns))
    };
    Ok(Stepped {
        dropped: (slowed_ns > 0).then(|| Span::from_nanos(slowed_ns - started_ns)),
        loss: Ending {
            last: ending.last.map(left),
            is_over: ending.is_over,
            later: ending.later,
        },
        trial,
    })
}
