//! Reset (RFC 2544 section 26.6, updated by RFC 6201): for how long the DUT forwards nothing after a part of it was reset.
//!
//! In each trial at a constant load the part is reset once. The time is told twice: by the frames lost at that load, and by
//! the longest time around the reset in which the receiver got no frame.

mod part;

pub use part::{Away, Part, Process};

use super::recovery::{END, Recovery, RecoveryTrial, can_step};
use super::sizes::{self, counts};
use super::throughput::{self, ThroughputPlan};
use super::{JobError, Phase, ResultObserver, Trials, keep};
use crate::bed::{Bed, on_dut_cpus};
use crate::clock::wait_until;
use crate::doubt::{self, Doubt, Weight};
use crate::search::measurer::Measurer;
use crate::tester::{ReceiverPlace, Tester};
use crate::traffic::Traffic;
use crate::trial::{self, Beside};
use mpps_ebpf::instruments::receiver::{Gap, Looked};
use mpps_linux::clock::monotonic_ns;
use mpps_method::disturbed::{Guard, excluded, in_all};
use mpps_method::{Disturbance, FrameSpec, Offer, Rate, Span, Trial, statistics};

/// The load, as a share of the maximum forwarding rate. The DUT has time left to work off what it held back.
pub const SHARE: f64 = 0.5;
/// The reset begins after this part of the trial.
const BEFORE: u64 = 4;
/// The methods differ by no less than this share of the longer time before it is told. In a reset that takes long, a few
/// frames that wait for the DUT's CPU at its end are no doubt.
const APART_MIN: f64 = 0.05;
/// Frames that waited in the DUT when the reset ended arrive for so long, ns. An outage may begin behind them.
const WAITED_NS: u64 = 2_000_000;
/// A DUT of whose frames less than this share of that before arrive is not as it was.
const AS_BEFORE: f64 = 0.99;
/// A time without a received frame of which disturbances of the machine fill so much is a pause of the machine.
const PAUSED: f64 = 0.8;

/// What to measure; the bed is raised by then.
#[derive(Clone, Debug)]
pub struct ResetPlan {
    /// Everything but the trials.
    pub measurement: ThroughputPlan,
    /// Reset one after the other, for each size.
    pub parts: Vec<Part>,
    /// The load. `None`: [`SHARE`] of the maximum forwarding rate in undisturbed windows.
    pub rate: Option<Rate>,
    /// Length of each trial.
    pub time: Span,
    /// How they are reset.
    pub away: Away,
    /// Trials for each part.
    pub trials: u32,
}

/// What came of one frame size.
#[derive(Clone, Debug)]
pub struct SizeResets {
    /// Frame sizes sent.
    pub frames: FrameSpec,
    /// Where the tester received; `None` where that is unknown.
    pub receiver: Option<ReceiverPlace>,
    /// The load; `None` where it was not found.
    pub rate: Option<Rate>,
    /// As many as the plan has.
    pub parts: Vec<PartResets>,
}

/// What came of one part.
#[derive(Clone, Debug)]
pub struct PartResets {
    /// What was reset.
    pub part: Part,
    /// In their order.
    pub trials: Vec<ResetTrial>,
    /// What cut it short.
    pub why: Option<String>,
    /// What to doubt.
    pub doubts: Vec<Doubt>,
}

/// One trial with a reset.
#[derive(Clone, Debug)]
pub struct ResetTrial {
    /// The trial, with the time by the frame-loss method.
    pub tried: RecoveryTrial,
    /// Both methods, and what belongs to them.
    pub told: Told,
}

/// What a trial tells of a reset.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Told {
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

impl Told {
    /// From the trial, and from when the reset began and ended, monotonic ns.
    fn new<T>(beside: &Beside<T>, reset_ns: [u64; 2]) -> Self {
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
        let gap = received.gap.filter(|gap| !is_pause(gap, trial));
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
    const fn recovery(&self, counts: bool) -> Recovery {
        let was_loaded = self.rest.as_nanos() > 0;
        match (self.is_back, counts && was_loaded && !self.is_hidden()) {
            (false, _) if was_loaded => Recovery::NotRecovered,
            (true, true) => Recovery::After(self.frame_loss),
            _ => Recovery::NotMeasured,
        }
    }

    /// Whether no outage was seen while the machine's disturbances lost frames: then nobody knows which frames the reset
    /// lost.
    const fn is_hidden(&self) -> bool {
        self.elsewhere > 0 && self.time_stamp.is_none()
    }

    /// By how much the two methods differ, where that is more than they can, and no small part of the time.
    fn disagreement(&self) -> Option<Span> {
        let (stamp, loss) = (self.time_stamp?, self.frame_loss);
        let apart = Span::from_nanos(stamp.as_nanos().abs_diff(loss.as_nanos()));
        let least = stamp.max(loss).as_nanos() as f64 * APART_MIN;
        (apart > self.resolution && apart.as_nanos() as f64 > least).then_some(apart)
    }
}

/// Whether the machine's disturbances fill a time without a received frame.
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

impl PartResets {
    /// Those that tell a time.
    fn recovered(&self) -> impl Iterator<Item = &ResetTrial> {
        let trials = self.trials.iter();
        trials.filter(|trial| matches!(trial.tried.recovery, Recovery::After(_)))
    }

    /// The median of the trials' times by one method; `None` where the DUT did not recover each time.
    #[must_use]
    pub fn median(&self, method: impl Fn(&Told) -> Option<Span>) -> Option<Span> {
        let lasting = |trial: &ResetTrial| trial.tried.recovery == Recovery::NotRecovered;
        if self.trials.iter().any(lasting) {
            return None;
        }
        let times = self.recovered().filter_map(|trial| method(&trial.told));
        let times: Vec<f64> = times.map(|time| time.as_nanos() as f64).collect();
        let median = statistics::median(&times)?;
        Some(Span::from_nanos(median.round() as u64))
    }

    fn doubts(&self, tester: &Tester<'_>) -> Vec<Doubt> {
        let told = || self.recovered().map(|trial| &trial.told);
        let apart = told().filter_map(|told| Some((told.disagreement()?, told.resolution)));
        let apart = apart.max().map(|(apart, resolution)| Doubt {
            name: "methods-disagree",
            weight: Weight::Unsure(1),
            seen: format!("frame loss and time stamps differ by {apart}, and by {resolution} they may"),
            why: "Frames were lost outside the longest outage, or were held back and not lost.",
            next: "Look at the losses of its trials in the record; run again with a higher --repeat when the machine is quieter.",
        });
        let unseen = told().filter(|told| told.time_stamp.is_none()).count();
        let unseen = (unseen > 0).then(|| Doubt {
            name: "no-gap",
            weight: Weight::Unsure(1),
            seen: format!("trials without a time in which no receiving CPU got a frame around the reset, pauses of the machine aside: {unseen}"),
            why: "The outage was shorter than the frames' distance on each CPU, or the CPUs had it at different times.",
            next: "Run again with --hold, or with a higher --rate.",
        });
        let slower = told().filter(|told| !told.is_as_before).count();
        let slower = (slower > 0).then(|| Doubt {
            name: "not-as-before",
            weight: Weight::Another(2),
            seen: format!("trials in which fewer frames arrived after the reset than before: {slower}"),
            why: "The router forwards again, but not all frames. The reset time does not count those.",
            next: "Compare the trials' rates before and after in the record, with a longer --time.",
        });
        let hidden = self.trials.iter().filter(|trial| trial.told.is_hidden());
        let hidden = hidden.count();
        let hidden = (hidden > 0).then(|| Doubt {
            name: "reset-hidden",
            weight: Weight::Unsure(1),
            seen: format!("reset {}: in {hidden} trials the machine's disturbances lost frames, and no outage was seen", self.part.name()),
            why: "Which frames the reset lost is not known, so these trials have no time.",
            next: "Run again when the machine is quieter, or with a longer --hold.",
        });
        let tried = self.trials.iter().map(|trial| &trial.tried.judged);
        let tried: Vec<_> = tried
            .map(|judged| (judged.trial.clone(), judged.verdict))
            .collect();
        let around = tester.surroundings();
        let all = apart.into_iter().chain(unseen).chain(slower);
        let mut doubts: Vec<Doubt> = all.chain(hidden).collect();
        doubts.extend(doubt::of_overload(&around));
        doubts.extend(doubt::frame_doubts(&tried));
        doubts
    }
}

/// Measures one frame size after the other on the bed, and tells each; returns what ended the run, or a size.
pub fn measure(
    bed: &Bed,
    plan: &ResetPlan,
    observer: &mut dyn ResultObserver<SizeResets>,
) -> Option<JobError> {
    let (sizes, budget) = (&plan.measurement.sizes, plan.measurement.budget);
    sizes::each_size(sizes, budget, observer, |frames, trials| {
        let part = |&part: &Part| PartResets {
            part,
            trials: Vec::new(),
            why: None,
            doubts: Vec::new(),
        };
        let mut size = SizeResets {
            frames: frames.clone(),
            receiver: None,
            rate: plan.rate,
            parts: plan.parts.iter().map(part).collect(),
        };
        let error = measure_size(bed, plan, &mut size, trials).err();
        if let Some(error) = &error {
            let begun = |part: &&mut PartResets| part.why.is_some() || !part.trials.is_empty();
            let unknown = size.parts.iter_mut().filter(|part| !begun(part));
            unknown.for_each(|part| part.why = Some(error.to_string()));
        }
        (size, error)
    })
}

fn measure_size(
    bed: &Bed,
    plan: &ResetPlan,
    size: &mut SizeResets,
    trials: &mut Trials<'_>,
) -> Result<(), JobError> {
    if !can_step(&plan.measurement.traffic) {
        return Err(JobError::NoGap);
    }
    let (measurement, mut place) = (&plan.measurement, plan.measurement.receiver);
    let mut forwards_at_most = None;
    let rate = match plan.rate {
        Some(rate) => rate,
        None => {
            let search = || sizes::search_maximum(bed, measurement, &size.frames, trials);
            let found = sizes::undisturbed_maximum(search)?;
            (place, forwards_at_most) = (found.receiver, found.forwards_at_most);
            Rate::from_fps(found.rate.fps() * SHARE).min(found.ceiling)
        }
    };
    size.rate = Some(rate);
    let traffic = Traffic {
        frames: size.frames.clone(),
        all_timed: true,
        ..measurement.traffic.clone()
    };
    let offer = Offer {
        rate,
        duration: plan.time,
    };
    let frames_max = rate.frames_in(plan.time).max(1);
    let (mut tester, ()) = throughput::raise(bed, &traffic, frames_max, place, |_| Ok(()))?;
    tester.forwards_at_most = forwards_at_most;
    size.receiver = Some(tester.traffic.receiver);
    let mut kept = None;
    for part in &mut size.parts {
        let ended = measure_part(&mut tester, plan, &offer, part, trials).err();
        part.why = ended.as_ref().map(ToString::to_string).or(part.why.take());
        part.doubts = part.doubts(&tester);
        if ended.is_some_and(|error| keep(&mut kept, error).is_break()) {
            break;
        }
    }
    kept.map_or(Ok(()), Err)
}

fn measure_part(
    tester: &mut Tester<'_>,
    plan: &ResetPlan,
    offer: &Offer,
    part: &mut PartResets,
    trials: &mut Trials<'_>,
) -> Result<(), JobError> {
    for _ in 0..plan.trials {
        let trial = one_trial(tester, part.part, offer, &plan.away, trials)?;
        let lasting = trial.tried.recovery == Recovery::NotRecovered;
        part.trials.push(trial);
        if lasting {
            part.why = Some("the router was not back, so it was not reset again".to_owned());
            break;
        }
    }
    Ok(())
}

/// One trial with one reset, again while the machine disturbs it.
///
/// # Errors
/// The tester or the record failed; the part could not be reset or not be put back.
pub fn one_trial(
    tester: &mut Tester<'_>,
    part: Part,
    offer: &Offer,
    away: &Away,
    trials: &mut Trials<'_>,
) -> Result<ResetTrial, JobError> {
    let bed = tester.bed;
    let before_ns = offer.duration.as_nanos() / BEFORE;
    let mut told = Told::default();
    let (judged, void) = sizes::repeat_void(|| {
        let ready = part.prepare(bed, tester.traffic.ipv6, away)?;
        let finder = tester.receivers.first();
        let finder = finder.map_or(Ok(None), |receiver| receiver.gap_finder())?;
        let look = |looked: &Looked| finder.as_ref().map_or(Ok(()), |finder| finder.look(looked));
        let beside = trial::run_beside(tester, offer, || {
            on_dut_cpus(bed, || {
                wait_until(monotonic_ns() + before_ns);
                let began_ns = monotonic_ns();
                let looked = Looked::from(began_ns);
                look(&looked)?;
                ready.reset(bed)?;
                let ended_ns = monotonic_ns();
                look(&looked.until(ended_ns + WAITED_NS))?;
                Ok::<_, JobError>([began_ns, ended_ns])
            })
        })?;
        let reset_ns = match &beside.did {
            Ok(reset_ns) => *reset_ns,
            Err(error) => return Err(part.failed(error)),
        };
        told = Told::new(&beside, reset_ns);
        let (frames, rules) = (&tester.traffic.frames, trial::rules::choose(tester, offer));
        trials.judged(Phase::Reset, frames, *offer, &rules, beside.trial)
    })?;
    let recovery = told.recovery(counts(&judged));
    Ok(ResetTrial {
        tried: RecoveryTrial {
            judged,
            void,
            recovery,
            lost_later: 0,
        },
        told,
    })
}

#[cfg(test)]
mod tests;
