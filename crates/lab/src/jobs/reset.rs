//! Reset (RFC 2544 section 26.6, updated by RFC 6201): for how long the DUT forwards nothing after a part of it was reset.
//!
//! In each trial at a constant load the part is reset once. The time is told twice: by the frames lost at that load, and by
//! the longest time around the reset in which the receiver got no frame.

mod part;
mod seen;

pub use part::{Away, Part, Process};
pub use seen::Seen;

use super::recovery::{Recovery, RecoveryTrial, can_step};
use super::sizes;
use super::throughput::{self, ThroughputPlan};
use super::{JobError, Phase, ResultObserver, Trials, keep};
use crate::bed::{Bed, on_dut_cpus};
use crate::clock::wait_until;
use crate::doubt::{self, Doubt, Weight};
use crate::line::{self, whole_fps};
use crate::search::measurer::Measurer;
use crate::tester::Tester;
use crate::traffic::Traffic;
use crate::trial;
use mpps_ebpf::instruments::receiver::Looked;
use mpps_linux::clock::monotonic_ns;
use mpps_method::{FrameSpec, Offer, Rate, Span, statistics};
use mpps_record::{self as record, ResetLine};

/// The load, as a share of the maximum forwarding rate. The DUT has time left to work off what it held back.
pub const SHARE: f64 = 0.5;
/// The reset begins after this part of the trial.
const BEFORE: u64 = 4;
/// Frames that waited in the DUT when the reset ended arrive for so long, ns. An outage may begin behind them.
const WAITED_NS: u64 = 2_000_000;

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

/// What came of one part.
struct PartResets {
    part: Part,
    /// In their order.
    trials: Vec<ResetTrial>,
    /// What cut it short.
    why: Option<String>,
    doubts: Vec<Doubt>,
}

/// One trial with a reset.
#[derive(Clone, Debug)]
pub struct ResetTrial {
    /// The trial, with the time by the frame-loss method.
    pub tried: RecoveryTrial,
    /// Both methods, and what belongs to them.
    pub seen: Seen,
}

impl ResetTrial {
    fn line(&self) -> record::ResetTrial {
        let seen = &self.seen;
        record::ResetTrial {
            tried: record::RecoveryTrial {
                lost_frames: seen.lost,
                ..self.tried.line()
            },
            time_stamp_ns: seen.time_stamp.map(Span::as_nanos),
            disturbed_lost_frames: Some(seen.elsewhere),
            unsent_frames: Some(seen.unsent),
            resolution_ns: seen.resolution.as_nanos(),
            took_ns: seen.took.as_nanos(),
            rest_ns: seen.rest.as_nanos(),
            before_fps: seen.rates.map(|[before, _]| whole_fps(before)),
            after_fps: seen.rates.map(|[_, after]| whole_fps(after)),
        }
    }
}

impl PartResets {
    /// With what all parts have.
    fn line(self, size: &ResetLine) -> ResetLine {
        let loss = self.median(|seen| Some(seen.frame_loss));
        ResetLine {
            reset: self.part.name().to_owned(),
            trials: self.trials.iter().map(ResetTrial::line).collect(),
            frame_loss_ns: loss.map(Span::as_nanos),
            time_stamp_ns: self.median(|seen| seen.time_stamp).map(Span::as_nanos),
            why: self.why,
            doubts: line::doubts(&self.doubts),
            ..size.clone()
        }
    }

    /// Those that tell a time.
    fn recovered(&self) -> impl Iterator<Item = &ResetTrial> {
        let trials = self.trials.iter();
        trials.filter(|trial| matches!(trial.tried.recovery, Recovery::After(_)))
    }

    /// The median of the trials' times by one method; `None` where the DUT did not recover each time.
    fn median(&self, method: impl Fn(&Seen) -> Option<Span>) -> Option<Span> {
        let lasting = |trial: &ResetTrial| trial.tried.recovery == Recovery::NotRecovered;
        if self.trials.iter().any(lasting) {
            return None;
        }
        let times = self.recovered().filter_map(|trial| method(&trial.seen));
        let times: Vec<f64> = times.map(|time| time.as_nanos() as f64).collect();
        let median = statistics::median(&times)?;
        Some(Span::from_nanos(median.round() as u64))
    }

    fn doubts(&self, tester: &Tester<'_>) -> Vec<Doubt> {
        let seen = || self.recovered().map(|trial| &trial.seen);
        let apart = seen().filter_map(|seen| Some((seen.disagreement()?, seen.resolution)));
        let apart = apart.max().map(|(apart, resolution)| Doubt {
            name: "methods-disagree",
            weight: Weight::Unsure(1),
            seen: format!("frame loss and time stamps differ by {apart}; up to {resolution} is expected"),
            why: "Frames were lost outside the longest outage, or were held back and not lost.",
            next: "Look at the losses of its trials in the record; run again with a higher --repeat when the machine is quieter.",
        });
        let unseen = seen().filter(|seen| seen.time_stamp.is_none()).count();
        let unseen = (unseen > 0).then(|| Doubt {
            name: "no-gap",
            weight: Weight::Unsure(1),
            seen: format!("trials in which no gap in reception was seen around the reset (pauses of the machine left out): {unseen}"),
            why: "The outage was shorter than the frames' distance on each CPU, or the CPUs had it at different times.",
            next: "Run again with --hold, or with a higher --rate.",
        });
        let slower = seen().filter(|seen| !seen.is_as_before).count();
        let slower = (slower > 0).then(|| Doubt {
            name: "not-as-before",
            weight: Weight::Another(2),
            seen: format!("trials in which fewer frames arrived after the reset than before: {slower}"),
            why: "The router forwards again, but not all frames. The reset time does not count those.",
            next: "Compare the trials' rates before and after in the record, with a longer --time.",
        });
        let hidden = self.trials.iter().filter(|trial| trial.seen.is_hidden());
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
        doubts.extend(doubt::overload_doubts(&around));
        doubts.extend(doubt::frame_doubts(&tried, around.ring_frames));
        doubts
    }
}

/// Measures one frame size after the other on the bed, and tells each; returns what ended the run, or a size.
pub fn measure(
    bed: &Bed,
    plan: &ResetPlan,
    observer: &mut dyn ResultObserver<ResetLine>,
) -> Option<JobError> {
    let (sizes, budget) = (&plan.measurement.sizes, plan.measurement.budget);
    sizes::each_size(sizes, budget, observer, |frames, trials| {
        let part = |&part: &Part| PartResets {
            part,
            trials: Vec::new(),
            why: None,
            doubts: Vec::new(),
        };
        let mut parts: Vec<PartResets> = plan.parts.iter().map(part).collect();
        let mut size = ResetLine {
            frame: frames.to_string(),
            hold_ns: plan.away.hold.as_nanos(),
            load_fps: plan.rate.map(whole_fps),
            ..ResetLine::default()
        };
        let error = measure_size(bed, plan, frames, (&mut size, &mut parts), trials).err();
        if let Some(error) = &error {
            let begun = |part: &&mut PartResets| part.why.is_some() || !part.trials.is_empty();
            let unknown = parts.iter_mut().filter(|part| !begun(part));
            unknown.for_each(|part| part.why = Some(error.to_string()));
        }
        let lines: Vec<ResetLine> = parts.into_iter().map(|part| part.line(&size)).collect();
        (lines, error)
    })
}

fn measure_size(
    bed: &Bed,
    plan: &ResetPlan,
    frames: &FrameSpec,
    (size, parts): (&mut ResetLine, &mut [PartResets]),
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
            let search = || sizes::search_maximum(bed, measurement, frames, trials);
            let found = sizes::undisturbed_maximum(search)?;
            (place, forwards_at_most) = (found.receiver, found.forwards_at_most);
            Rate::from_fps(found.rate.fps() * SHARE).min(found.ceiling)
        }
    };
    size.load_fps = Some(whole_fps(rate));
    let traffic = Traffic {
        frames: frames.clone(),
        all_timed: true,
        ..measurement.traffic.clone()
    };
    let offer = Offer::new(rate, plan.time);
    let frames_max = rate.frames_in(plan.time).max(1);
    let (mut tester, ()) = throughput::raise(bed, &traffic, frames_max, place, |_| Ok(()))?;
    tester.forwards_at_most = forwards_at_most;
    size.receiver = Some(tester.traffic.receiver.into());
    let mut kept = None;
    for part in parts {
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
    let mut seen = Seen::default();
    let (judged, void) = sizes::repeat_void(|| {
        let ready = part.prepare(tester, away)?;
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
        seen = Seen::new(&beside, reset_ns);
        tester.judge(Phase::Reset, *offer, beside.trial, trials)
    })?;
    let recovery = seen.recovery(judged.verdict.counts());
    Ok(ResetTrial {
        tried: RecoveryTrial {
            judged,
            void,
            recovery,
            lost_later: 0,
        },
        seen,
    })
}

#[cfg(test)]
mod tests;
