//! The result lines of a frame size, and of those that a run did not begin.

use mpps_lab::jobs::throughput::{SizeResult, ThroughputPlan};
use mpps_lab::line;
use mpps_method::SearchPlan;
use mpps_record::{Place, ResultLine, Run, StandsOn};

/// The lines of a frame size, one a goal. All of them stand on the same trials.
pub fn result_lines(
    size: &SizeResult,
    plan: &ThroughputPlan,
    stands: &StandsOn,
    simulated: bool,
) -> Vec<ResultLine> {
    let mut lines: Vec<ResultLine> = match &size.findings {
        Ok(findings) => {
            let line = |finding| line::result(finding, &plan.traffic, &plan.link, stands);
            findings.iter().map(line).collect()
        }
        Err(why) => line::not_measured(&size.frames, &plan.search, why),
    };
    lines.iter_mut().for_each(|line| line.simulated = simulated);
    lines
}

/// The lines of the plan's sizes that a run did not begin, and why.
pub fn results_not_begun(plan: &ThroughputPlan, run: &Run, why: &str) -> Vec<ResultLine> {
    let begin = run.begin.as_ref().map(|begin| &begin.bed);
    let simulated = matches!(begin, Some(Place::Simulated { .. }));
    let goals = match &plan.search {
        SearchPlan::Mlr { goals, .. } => goals.len().max(1),
        SearchPlan::Bisection { .. } => 1,
    };
    let sizes = plan.sizes.iter().skip(run.results.len() / goals);
    let lines = sizes.flat_map(|frames| line::not_measured(frames, &plan.search, why));
    lines.map(|line| ResultLine { simulated, ..line }).collect()
}
