//! Frame loss rate (RFC 2544 section 26.3): the highest load first, then less and less in equal steps, until two loads
//! in a row lose nothing.

pub use mpps_record::known::SeriesEnd;

use super::sizes::{self, Size};
use super::throughput::{ThroughputPlan, saturate};
use super::{JobError, Judged, Phase, ResultObserver, Trials};
use crate::bed::Bed;
use crate::clock::Deadline;
use crate::doubt::{self, Series};
use crate::search::link;
use crate::search::measurer::Measurer;
use crate::search::saturation::{self, Saturated};
use crate::search::simulated::SimulatedPair;
use crate::tester::Tester;
use mpps_method::simulate::Properties;
use mpps_method::{Ceiling, LimitedBy, Offer, Rate, Span, Verdict};

/// The series ends after so many lossless loads in a row.
const LOSSLESS_IN_A_ROW: u32 = 2;

/// What to measure; the bed is raised by then.
#[derive(Clone, Debug)]
pub struct LossPlan {
    /// Everything but the loads. Its search only says how long a trial is.
    pub measurement: ThroughputPlan,
    /// From one load to the next, as a share of the highest, 0 to 1.
    pub step: f64,
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

/// What came of one load.
#[derive(Clone, Debug)]
pub struct LoadTried {
    /// Its share of the highest, 0 to 1.
    pub share: f64,
    /// The load.
    pub load: Rate,
    /// The last trial; void where the machine disturbed every one.
    pub judged: Judged,
    /// Void trials before it.
    pub void: u32,
}

/// What came of one frame size.
pub type Curve = Size<CurveFound>;

/// What a job of this kind finds for one frame size.
#[derive(Clone, Debug, Default)]
pub struct CurveFound {
    /// The highest load, and what keeps it from being higher; `None` where that was not measured.
    pub highest: Option<(Rate, LimitedBy)>,
    /// The highest first, as far as they were offered.
    pub loads: Vec<LoadTried>,
    /// How the series ended.
    pub end: SeriesEnd,
}

impl CurveFound {
    /// The highest load up to which nothing was lost.
    fn passed(&self) -> Option<&LoadTried> {
        // From the lowest load up: a higher one without loss above a lossy one is chance.
        let is_lossless = |tried: &&LoadTried| tried.judged.verdict == Verdict::Lossless;
        self.loads.iter().rev().take_while(is_lossless).last()
    }
}

/// Measures one frame size after the other on the bed, and tells each curve; returns what ended the run, or a size.
pub fn measure(
    bed: &Bed,
    plan: &LossPlan,
    observer: &mut dyn ResultObserver<Curve>,
) -> Option<JobError> {
    sizes::fill_each(&plan.measurement, observer, |curve, trials| {
        let deadline = Deadline::after(plan.measurement.budget);
        let nothing = |_: &mut Tester<'_>| Ok(());
        let (measurement, frames) = (&plan.measurement, curve.frames.clone());
        let (mut tester, saturated) = saturate(bed, measurement, &frames, nothing, trials)?;
        tester.warm_up = measurement.warm_up;
        descend(curve, &mut tester, plan, &saturated, deadline, trials)
    })
}

/// The same on a simulated pair, whose trials take no time.
pub fn simulate(
    router: Properties,
    plan: &LossPlan,
    observer: &mut dyn ResultObserver<Curve>,
) -> Option<JobError> {
    sizes::fill_each(&plan.measurement, observer, |curve, trials| {
        let mut pair = SimulatedPair::new(curve.frames.clone(), router);
        let saturated = saturation::simulate(&router);
        descend(curve, &mut pair, plan, &saturated, Deadline::NEVER, trials)
    })
}

/// The series of one frame size.
fn descend(
    curve: &mut Curve,
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
    curve.highest = Some((ceiling.rate(), limit));
    curve.receiver = around.receiver;
    let ended = offer_each(curve, measurer, plan, deadline, trials);
    let tried = curve.loads.iter().map(|tried| &tried.judged);
    let tried = tried.map(|judged| (judged.trial.clone(), judged.verdict));
    let series = Series {
        length: plan.time(),
        trials: &tried.collect::<Vec<_>>(),
        void: curve.loads.iter().map(|tried| tried.void).sum(),
        found: curve.passed().map(|tried| (tried.load, limit)),
    };
    curve.doubts = doubt::series_doubts(&measurer.surroundings(), saturated.ceiling, &series);
    curve.end = ended?;
    Ok(())
}

/// The loop. A load that was not measured is neither lossless nor lossy: what came before it is not in a row with what
/// comes after it. The first load is offered however little time there is.
fn offer_each(
    curve: &mut Curve,
    measurer: &mut dyn Measurer,
    plan: &LossPlan,
    deadline: Deadline,
    trials: &mut Trials<'_>,
) -> Result<SeriesEnd, JobError> {
    let highest = curve.highest.map_or(0.0, |(highest, _)| highest.fps());
    let mut lossless = 0;
    for share in plan.shares() {
        if !curve.loads.is_empty() && !deadline.leaves(plan.time()) {
            return Ok(SeriesEnd::Budget);
        }
        let tried = offer(measurer, plan, (share, highest), trials)?;
        lossless = match tried.judged.verdict {
            Verdict::Lossless => lossless + 1,
            _ => 0,
        };
        curve.loads.push(tried);
        if lossless == LOSSLESS_IN_A_ROW {
            return Ok(SeriesEnd::TwoLossless);
        }
    }
    Ok(SeriesEnd::LowestLoad)
}

/// One load, again while the machine disturbs it. Loss is no reason to repeat.
fn offer(
    measurer: &mut dyn Measurer,
    plan: &LossPlan,
    (share, highest): (f64, f64),
    trials: &mut Trials<'_>,
) -> Result<LoadTried, JobError> {
    let load = Rate::from_fps(share * highest);
    let offer = Offer {
        rate: load,
        duration: plan.time(),
    };
    let (judged, void) = sizes::repeat_void(|| {
        let trial = measurer.trial(&offer)?;
        let rules = measurer.rules(&offer);
        trials.judged(Phase::Loss, measurer.frames(), offer, &rules, trial)
    })?;
    Ok(LoadTried {
        share,
        load,
        judged,
        void,
    })
}

#[cfg(test)]
mod tests;
