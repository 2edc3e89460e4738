//! What a trial shows of its reset, by both methods.

use crate::jobs::recovery::{END, Recovery};
use crate::trial::{self, Beside};
use mpps_ebpf::instruments::receiver::Gap;
use mpps_method::disturbed::{Guard, excluded, in_all};
use mpps_method::{Disturbance, Rate, Span, Trial};

/// The methods differ by no less than this share of the longer time before it is told. In a reset that takes long, a few
/// frames that wait for the DUT's CPU at its end are no doubt.
const APART_MIN: f64 = 0.05;
/// A DUT of whose frames less than this share of that before arrive is not as it was.
const AS_BEFORE: f64 = 0.99;
/// A time without a received frame of which disturbances of the machine fill so much is a pause of the machine.
const PAUSED: f64 = 0.8;

/// What a trial shows of a reset.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Seen {
    /// Frames that the DUT lost.
    pub lost: u64,
    /// Of these, frames lost in disturbances of the machine and not in the longest time without a received frame.
    pub elsewhere: u64,
    /// Slots in the longest time without a received frame that the sender left out.
    pub unsent: u64,
    /// Frames that the reset lost, by the offered rate. Those slots count as lost, because nothing passed then.
    pub frame_loss: Span,
    /// The longest time without a received frame, of those around the reset; `None` where the receiver notes none, or a
    /// pause of the machine.
    pub time_stamp: Option<Span>,
    /// Two exact methods may differ by so much.
    pub resolution: Span,
    /// A pause of the machine hides whether there was an outage.
    pub paused: bool,
    /// How long the reset itself took.
    pub took: Span,
    /// From the reset to the end of the trial.
    pub rest: Span,
    /// Whether frames arrived at the end of the trial.
    pub is_back: bool,
    /// The forwarding rate before the outage, and after it.
    pub rates: Option<[Rate; 2]>,
    /// Whether as many of the frames sent after it arrived as of those before.
    pub is_as_before: bool,
}

impl Seen {
    /// From the trial, and from when the reset began and ended, monotonic ns.
    pub(super) fn new<T>(beside: &Beside<T>, reset_ns: [u64; 2]) -> Self {
        let Beside {
            trial, received, ..
        } = beside;
        let ([first_ns, last_ns], [began_ns, ended_ns]) = (beside.sent_ns, reset_ns);
        let between = |from: u64, to: u64| Span::from_nanos(to.saturating_sub(from));
        let counts = trial.counts();
        let lost = counts.lost.saturating_sub(trial.lost_by_tester());
        let slot_ns = 1e9 / trial.offered.fps();
        let slots = |slots: u64| Span::from_nanos((slots as f64 * slot_ns).round() as u64);
        let late = trial.lateness.max_bucket().map(|(_, most)| most);
        let (gap, pause) = match received.gap {
            Some(gap) if is_pause(&gap, trial) => (None, Some(gap)),
            gap => (gap, None),
        };
        let rest = between(began_ns, last_ns);
        let silent = between(received.last_ns, last_ns);
        let sent = |from, to| trial::sent_between(&beside.marks, from, to).max(1.0);
        let after = |gap: &Gap| received.tagged.saturating_sub(gap.before);
        // No more than were left out at all: a frame that is only late was sent.
        let left_out = gap.map(|gap| {
            let due = between(gap.from_ns, gap.to_ns).as_nanos() as f64 / slot_ns;
            ((due - sent(gap.from_ns, gap.to_ns)).max(0.0).round() as u64).min(counts.unsent)
        });
        let unsent = left_out.unwrap_or(0);
        // A pause of the machine loses frames too. The reset lost no more of them than were sent while nothing arrived.
        let disturbed = trial.lost_disturbed().min(lost);
        let meanwhile = gap.map_or(0, |gap| sent(gap.from_ns, gap.to_ns).round() as u64);
        let elsewhere = disturbed.min(lost.saturating_sub(meanwhile));
        let unknown = gap.map_or(counts.unsent + disturbed, |_| unsent);
        Self {
            lost,
            elsewhere,
            unsent,
            frame_loss: slots(lost - elsewhere + unsent),
            time_stamp: gap.map(|gap| between(gap.from_ns, gap.to_ns)),
            resolution: slots(2 + unknown).plus(late.unwrap_or_default()),
            // It began before the reset was over, or the sender paused too: then no frame tells.
            paused: pause.is_some_and(|gap| gap.from_ns < ended_ns || counts.unsent > 0),
            took: between(began_ns, ended_ns),
            rest,
            is_back: (silent.as_nanos() as f64) < rest.as_nanos() as f64 * END,
            rates: gap.and_then(|gap| {
                let before = between(received.first_ns, gap.from_ns);
                Some([
                    Rate::from_frames(gap.before, before)?,
                    Rate::from_frames(after(&gap), between(gap.to_ns, received.last_ns))?,
                ])
            }),
            is_as_before: gap.is_none_or(|gap| {
                let before = gap.before as f64 / sent(first_ns, gap.from_ns);
                after(&gap) as f64 >= before * AS_BEFORE * sent(gap.to_ns, last_ns)
            }),
        }
    }

    /// What it says by the frame-loss method.
    pub(super) const fn recovery(&self, counts: bool) -> Recovery {
        let was_loaded = self.rest.as_nanos() > 0;
        match (self.is_back, counts && was_loaded && !self.is_hidden()) {
            (false, _) if was_loaded => Recovery::NotRecovered,
            (true, true) => Recovery::After(self.frame_loss),
            _ => Recovery::NotMeasured,
        }
    }

    /// Whether no outage was seen while the machine's disturbances lost frames or kept them from being sent: then nobody
    /// knows which frames the reset lost.
    pub(super) const fn is_hidden(&self) -> bool {
        self.paused || self.elsewhere > 0 && self.time_stamp.is_none()
    }

    /// By how much the two methods differ, where that is more than they can, and no small part of the time.
    pub(super) fn disagreement(&self) -> Option<Span> {
        let (stamp, loss) = (self.time_stamp?, self.frame_loss);
        let apart = Span::from_nanos(stamp.as_nanos().abs_diff(loss.as_nanos()));
        let least = stamp.max(loss).as_nanos() as f64 * APART_MIN;
        (apart > self.resolution && apart.as_nanos() as f64 > least).then_some(apart)
    }
}

/// Whether stalls and other programs fill a time without a received frame. A slow CPU forwards on.
fn is_pause(gap: &Gap, trial: &Trial) -> bool {
    let Some(begun) = trial.begun else {
        return false;
    };
    let since = |ns: u64| Span::from_nanos(ns.saturating_sub(begun.as_nanos()));
    let (from, to) = (since(gap.from_ns), since(gap.to_ns));
    let within = |time: &Disturbance| Disturbance {
        from: time.from.max(from),
        to: time.to.min(to),
        ..*time
    };
    let times = trial.stalls.iter().chain(&trial.others).map(within);
    let times: Vec<_> = times.filter(|time| time.from < time.to).collect();
    let unguarded = Guard {
        factor: 0.0,
        least: Span::ZERO,
        most: Span::ZERO,
    };
    let paused = in_all(&excluded(&times, &unguarded, to));
    paused.as_nanos() as f64 >= (gap.to_ns - gap.from_ns) as f64 * PAUSED
}
