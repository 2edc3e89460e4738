//! Frame loss rate (RFC 2544 section 26.3): the highest load first, then less and less in equal steps, until two loads
//! in a row lose nothing.

use super::sizes;
use super::throughput::{Overloaded, ThroughputPlan, after_overload};
use super::{JobError, Phase, ResultObserver, UnderTest};
use crate::doubt::{Series, series_doubts};
use crate::line::{self, whole_fps};
use crate::search::link;
use mpps_method::{Ceiling, LimitedBy, Offer, Rate, Trial, Verdict};
use mpps_record::known::SeriesEnd;
use mpps_record::{CurveLine, CurvePoint, Measured};

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
}

/// Measures one frame size after the other, and tells each curve; returns what ended the run, or a size.
pub fn measure(
    on: UnderTest<'_>,
    plan: &LossPlan,
    observer: &mut dyn ResultObserver<CurveLine>,
) -> Option<JobError> {
    sizes::fill_each(&plan.measurement, observer, |frames, curve, trials| {
        curve.step_share = plan.step;
        curve.trial_ns = plan.measurement.search.final_trial().as_nanos();
        curve.end = SeriesEnd::CutShort.into();
        curve.simulated = on.is_simulated();
        let series = |at: Overloaded<'_, '_>| descend(at, plan, curve);
        let ended = after_overload(on, &plan.measurement, frames, trials, series);
        (curve.overload_trials).clone_from(&trials.numbers_by_phase().overload_trials);
        ended
    })
}

/// The series of one frame size.
fn descend(at: Overloaded<'_, '_>, plan: &LossPlan, curve: &mut CurveLine) -> Result<(), JobError> {
    let (around, most) = (at.measurer.surroundings(), at.saturated.ceiling);
    let maximum = (plan.measurement.maximum).filter(|&maximum| maximum < most);
    let ceiling = link::highest(maximum.unwrap_or(most), around.line_rate);
    let limit = match ceiling {
        Ceiling::Link(_) => LimitedBy::Link,
        Ceiling::Tester(_) if maximum.is_some() => LimitedBy::MaxRate,
        Ceiling::Tester(_) => LimitedBy::Tester,
    };
    curve.highest_fps = Some(whole_fps(ceiling.rate()));
    curve.highest_limited_by = Some(limit.into());
    curve.receiver = around.receiver.map(Into::into);
    let (mut tried, time) = (Vec::new(), plan.measurement.search.final_trial());
    // Loss is no reason to repeat a load. One that was not measured is neither lossless nor lossy: what came before it is not in
    // a row with what comes after it. The first load is offered however little time there is.
    let mut offer_each = || {
        for share in plan.shares() {
            if !tried.is_empty() && !at.deadline.leaves(time) {
                return Ok(SeriesEnd::Budget);
            }
            let offer = Offer::new(Rate::from_fps(share * ceiling.rate().fps()), time);
            let (judged, void_trials) = sizes::repeat_void(|| {
                let trial = at.measurer.trial(&offer)?;
                at.measurer.judge(Phase::Loss, offer, trial, at.trials)
            })?;
            curve.loads.push(CurvePoint {
                // Steps of a tenth are no binary numbers.
                load_share: (share * 1e6).round() / 1e6,
                load_fps: whole_fps(offer.rate),
                measured: judged.verdict.counts().then(|| measured(&judged.trial)),
                verdict: line::verdict(&judged.verdict),
                verdict_text: judged.verdict.to_string(),
                trial: judged.number,
                void_trials,
            });
            tried.push((judged.trial, judged.verdict));
            if let [.., (_, Verdict::Lossless), (_, Verdict::Lossless)] = &tried[..] {
                return Ok(SeriesEnd::TwoLossless);
            }
        }
        Ok(SeriesEnd::LowestLoad)
    };
    let ended: Result<SeriesEnd, JobError> = offer_each();
    let series = Series {
        limit,
        ceiling: most,
        length: time,
        trials: &tried,
        void: curve.loads.iter().map(|load| load.void_trials).sum(),
        passed: plan.passed,
    };
    let doubts = series_doubts(&at.measurer.surroundings(), &series);
    curve.doubts = line::doubts(&doubts);
    curve.end = ended?.into();
    Ok(())
}

fn measured(trial: &Trial) -> Measured {
    let (counts, time) = (trial.undisturbed(), trial.undisturbed_time());
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

#[cfg(test)]
mod tests;
