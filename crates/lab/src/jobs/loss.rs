//! Frame loss rate (RFC 2544 section 26.3): the highest load first, then less and less in equal steps, until two loads
//! in a row lose nothing.

use super::sizes;
use super::throughput::{ThroughputPlan, after_overload};
use super::{JobError, Judged, Phase, Place, ResultObserver, Trials};
use crate::clock::Deadline;
use crate::doubt::{self, Series};
use crate::line::{self, whole_fps};
use crate::search::link;
use crate::search::measurer::Measurer;
use crate::search::saturation::Saturated;
use mpps_method::{Ceiling, LimitedBy, Offer, Rate, Span, Trial, Verdict};
use mpps_record::known::SeriesEnd;
use mpps_record::{CurveLine, CurvePoint, Measured};

/// The series ends after so many lossless loads in a row.
const LOSSLESS_IN_A_ROW: u32 = 2;

/// What to measure; the bed is raised by then.
#[derive(Clone, Debug)]
pub struct LossPlan {
    /// Everything but the loads. Its search only says how long a trial is.
    pub measurement: ThroughputPlan,
    /// From one load to the next, as a share of the highest, 0 to 1.
    pub step: f64,
    /// What a search before it found without loss.
    pub passed: Option<Rate>,
}

impl LossPlan {
    /// The loads as shares of the highest, which comes first. The lowest is a step or a little more.
    pub fn shares(&self) -> impl Iterator<Item = f64> {
        let (step, loads) = (self.step, (1.0 / self.step + 1e-9).floor() as u32);
        (0..loads).map(move |load| 1.0 - f64::from(load) * step)
    }

    /// Length of a trial.
    #[must_use]
    pub fn time(&self) -> Span {
        self.measurement.search.final_trial()
    }
}

/// Measures one frame size after the other, and tells each curve; returns what ended the run, or a size.
pub fn measure(
    place: Place<'_>,
    plan: &LossPlan,
    observer: &mut dyn ResultObserver<CurveLine>,
) -> Option<JobError> {
    let measurement = &plan.measurement;
    sizes::fill_each(measurement, observer, |frames, curve, trials| {
        curve.step_share = plan.step;
        curve.trial_ns = plan.time().as_nanos();
        curve.end = SeriesEnd::CutShort.into();
        curve.simulated = place.is_simulated();
        let series = |measurer: &mut dyn Measurer, saturated, deadline, trials: &mut Trials<'_>| {
            descend(curve, measurer, plan, &saturated, deadline, trials)
        };
        let ended = after_overload(place, measurement, frames, trials, series);
        let numbers = trials.numbers_by_phase();
        curve.overload_trials.clone_from(&numbers.overload_trials);
        ended
    })
}

/// The series of one frame size.
fn descend(
    curve: &mut CurveLine,
    measurer: &mut dyn Measurer,
    plan: &LossPlan,
    saturated: &Saturated,
    deadline: Deadline,
    trials: &mut Trials<'_>,
) -> Result<(), JobError> {
    let around = measurer.surroundings();
    let most = (plan.measurement.maximum).filter(|&maximum| maximum < saturated.ceiling);
    let ceiling = link::highest(most.unwrap_or(saturated.ceiling), around.line_rate);
    let limit = match ceiling {
        Ceiling::Link(_) => LimitedBy::Link,
        Ceiling::Tester(_) if most.is_some() => LimitedBy::MaxRate,
        Ceiling::Tester(_) => LimitedBy::Tester,
    };
    curve.highest_fps = Some(whole_fps(ceiling.rate()));
    curve.highest_limited_by = Some(line::limited_by(limit));
    curve.receiver = around.receiver.map(Into::into);
    let mut tried = Vec::new();
    let highest = (ceiling.rate(), deadline);
    let ended = offer_each(curve, &mut tried, measurer, plan, highest, trials);
    // From the lowest load up: a higher one without loss above a lossy one is chance.
    let is_lossless = |(_, verdict): &&(Trial, Verdict)| *verdict == Verdict::Lossless;
    let passed = tried.iter().rev().take_while(is_lossless).last();
    let series = Series {
        length: plan.time(),
        trials: &tried,
        void: curve.loads.iter().map(|load| load.void_trials).sum(),
        found: passed.map(|(trial, _)| (trial.offered, limit)),
        passed: plan.passed,
    };
    let doubts = doubt::series_doubts(&measurer.surroundings(), saturated.ceiling, &series);
    curve.doubts = line::doubts(&doubts);
    curve.end = ended?.into();
    Ok(())
}

/// The loop. A load that was not measured is neither lossless nor lossy: what came before it is not in a row with what
/// comes after it. The first load is offered however little time there is.
fn offer_each(
    curve: &mut CurveLine,
    tried: &mut Vec<(Trial, Verdict)>,
    measurer: &mut dyn Measurer,
    plan: &LossPlan,
    (highest, deadline): (Rate, Deadline),
    trials: &mut Trials<'_>,
) -> Result<SeriesEnd, JobError> {
    let mut lossless = 0;
    for share in plan.shares() {
        if !curve.loads.is_empty() && !deadline.leaves(plan.time()) {
            return Ok(SeriesEnd::Budget);
        }
        let load = Rate::from_fps(share * highest.fps());
        let (judged, void) = offer(measurer, plan, load, trials)?;
        lossless = match judged.verdict {
            Verdict::Lossless => lossless + 1,
            _ => 0,
        };
        curve.loads.push(CurvePoint {
            // Steps of a tenth are no binary numbers.
            load_share: (share * 1e6).round() / 1e6,
            load_fps: whole_fps(load),
            measured: judged.verdict.counts().then(|| measured(&judged.trial)),
            verdict: line::verdict(&judged.verdict),
            verdict_text: judged.verdict.to_string(),
            trial: judged.number,
            void_trials: void,
        });
        tried.push((judged.trial, judged.verdict));
        if lossless == LOSSLESS_IN_A_ROW {
            return Ok(SeriesEnd::TwoLossless);
        }
    }
    Ok(SeriesEnd::LowestLoad)
}

fn measured(trial: &Trial) -> Measured {
    let (counts, length) = (trial.undisturbed(), trial.duration.as_nanos());
    let time = Span::from_nanos(length.saturating_sub(trial.disturbed.time.as_nanos()));
    let fps = |rate: Option<Rate>| whole_fps(rate.unwrap_or_default());
    Measured {
        offered_fps: fps(trial.undisturbed_rate()),
        forwarding_fps: fps(Rate::from_frames(counts.received, time)),
        undisturbed_ns: time.as_nanos(),
        sent_frames: counts.sent,
        disturbed_lost_frames: trial.lost_disturbed(),
        lost_frames: trial.lost_at_dut(),
        loss_ratio: trial.loss_ratio().unwrap_or_default(),
        dut_busiest_cpu_share: trial.busiest_share(),
    }
}

/// One load, again while the machine disturbs it. Loss is no reason to repeat.
fn offer(
    measurer: &mut dyn Measurer,
    plan: &LossPlan,
    rate: Rate,
    trials: &mut Trials<'_>,
) -> Result<(Judged, u32), JobError> {
    let offer = Offer::new(rate, plan.time());
    sizes::repeat_void(|| {
        let trial = measurer.trial(&offer)?;
        measurer.judge(Phase::Loss, offer, trial, trials)
    })
}

#[cfg(test)]
mod tests;
