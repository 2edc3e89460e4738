//! A finding: a result of one frame size and goal, with what may be claimed, what limits it and what to doubt.

use super::claim;
use super::limit::{self, ForwardingLimit, Reading};
use super::{Doubt, Gated, Measurer, Saturated, Searched, Weighed, WhyLost, doubts};
use crate::tester::ReceiverPlace;
use mpps_method::headroom::headroom;
use mpps_method::{
    Claim, FrameSpec, Irregular, LimitedBy, LossRate, Outcome, Passes, Rate, SearchGoal, Stability,
    Trial,
};
use mpps_record::{Evenness, Headroom};

/// A result of one frame size with all that is to be said of it.
#[derive(Clone, Debug)]
pub struct Finding {
    /// Frame sizes sent.
    pub frames: FrameSpec,
    /// The goal of MLRsearch; `None` for a bisection.
    pub goal: Option<SearchGoal>,
    /// How the search ended, and what it saw to limit it.
    pub outcome: Outcome,
    /// How the rate is to be read.
    pub rate: Reading,
    /// What limits the result; `None` of a result that was not measured.
    pub limited_by: Option<LimitedBy>,
    /// What limits the maximum forwarding rate; `None` where that was not measured.
    pub forwarding_limit: Option<ForwardingLimit>,
    /// A load above the rate that the goal's rule failed, where the search ended before it confirmed the rate.
    pub fails: Option<Rate>,
    /// The load of the gate's trials, if they lost nothing and no load of the search passed.
    pub gate_passed: Option<Rate>,
    /// RFC 9971's Conditional Throughput: the load found, less what is lost there.
    pub conditional_throughput: Option<Rate>,
    /// What a regular result (RFC 9971) would have and this one has not.
    pub irregular: Option<Irregular>,
    /// What may be claimed; `None` when nothing can.
    pub claim: Option<Claim>,
    /// What the trials said at the load found, or at the lowest that failed.
    pub passes: Passes,
    /// The trial the result stands on.
    pub trial: Option<Trial>,
    /// The number of that trial among those of the job.
    pub stands_on: Option<u32>,
    /// Numbers of the trials of the search that do not count, because the machine was in another state.
    pub left_out: Vec<u32>,
    /// Loss at the lowest load that failed.
    pub loss_above: Option<LossRate>,
    /// Why frames were lost at the load that failed, or at the lowest that lost any.
    pub why_lost: Option<WhyLost>,
    /// The forwarding rate at 80 % of the DUT's CPU.
    pub headroom: Option<Headroom>,
    /// How evenly the frames left in the trial the result stands on.
    pub evenness: Option<Evenness>,
    /// Whether the DUT loses frames for no load.
    pub stability: Stability,
    /// The tester's own ceiling for this traffic.
    pub ceiling: Rate,
    /// What the DUT forwarded at overload, and what a frame costs it there.
    pub saturated: Saturated,
    /// Where the tester received; `None` of a simulated pair.
    pub receiver: Option<ReceiverPlace>,
    /// Whether tester and router were simulated: nothing was measured.
    pub simulated: bool,
    /// What to doubt.
    pub doubts: Vec<Doubt>,
}

/// Weighs what a finished search found for one goal, with its [`limit::highest_allowed`] load.
#[must_use]
pub fn weigh(
    measurer: &dyn Measurer,
    saturated: &Saturated,
    gated: &Gated,
    searched: Searched,
    highest_allowed: Option<Rate>,
) -> Finding {
    let around = measurer.surroundings();
    let failed = claim::failed(&searched.result.outcome);
    let why_lost = WhyLost::from_trials(&searched.trials, failed, around.ring_frames);
    let limited_by = limit::limited_by(
        &around,
        saturated,
        &searched,
        why_lost.as_ref(),
        highest_allowed,
    );
    let doubts = doubts(&Weighed {
        around: &around,
        saturated,
        gated,
        searched: &searched,
        why_lost: why_lost.as_ref(),
        limited_by,
    });
    let fails = limit::fails(saturated, &searched, limited_by);
    let trials = gated.trials.iter().chain(searched.trials.iter());
    let result = searched.result;
    let evidence = searched.evidence.as_ref();
    let claim = claim::claim(measurer, &searched);
    let is_lower = |passed: &Rate| match result.outcome {
        Outcome::NoneLossless { lowest, .. } => *passed < lowest,
        _ => false,
    };
    Finding {
        gate_passed: gated.passed().filter(is_lower),
        frames: measurer.frames().clone(),
        goal: result.goal,
        rate: Reading::new(&result, limited_by, claim.as_ref()),
        limited_by,
        fails,
        forwarding_limit: limit::forwarding_limit(around.cpus_shared, saturated, limited_by),
        claim,
        passes: result.passes,
        loss_above: claim::loss_above(measurer, &searched),
        why_lost,
        headroom: headroom(trials),
        evenness: evidence.and_then(|trial| trial.evenness(around.ring_frames)),
        stability: gated.stability,
        outcome: result.outcome,
        conditional_throughput: result.conditional_throughput(),
        irregular: result.irregular,
        trial: searched.evidence,
        stands_on: searched.stands_on,
        left_out: searched.left_out.iter().map(|one| one.number).collect(),
        ceiling: saturated.ceiling,
        saturated: saturated.clone(),
        receiver: around.receiver,
        simulated: around.simulated.is_some(),
        doubts,
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::bound_by_loss;
    use super::*;
    use crate::search::Judged;
    use crate::search::simulated::SimulatedPair;
    use mpps_method::simulate::{Properties, Simulated};
    use mpps_method::{Offer, Span, Verdict};

    #[test]
    fn a_finding_names_the_trials_left_out() {
        let frames = FrameSpec::parse_list("64").expect("a size").remove(0);
        let pair = SimulatedPair::new(frames, Properties::ideal(Rate::from_fps(1e6)));
        let gated = Gated {
            stability: Stability::Stable,
            trials: Vec::new(),
        };
        let mut searched = bound_by_loss(1.0);
        let (trial, verdict) = searched.trials[0].clone();
        let judged = |number| Judged {
            number,
            trial: trial.clone(),
            verdict,
        };
        searched.left_out = [judged(7), judged(9)].into();
        let found = weigh(&pair, &Saturated::default(), &gated, searched, None);
        assert_eq!(found.left_out, [7, 9]);
    }

    #[test]
    fn the_gate_tells_a_load_only_below_all_others() {
        let frames = FrameSpec::parse_list("64").expect("a size").remove(0);
        let properties = Properties::ideal(Rate::from_fps(1e6));
        let offer = Offer::new(Rate::from_fps(100_000.0), Span::from_millis(200));
        let trial = Simulated::new(properties).trial(&offer);
        let pair = SimulatedPair::new(frames, properties);
        let gate_passed = |lowest: f64, verdict| {
            let gated = Gated {
                stability: Stability::Stable,
                trials: vec![(trial.clone(), Verdict::Lossless), (trial.clone(), verdict)],
            };
            let mut searched = bound_by_loss(1.0);
            searched.result.outcome = Outcome::NoneLossless {
                lowest: Rate::from_fps(lowest),
                trials: 1,
                voided: 0,
            };
            let found = weigh(&pair, &Saturated::default(), &gated, searched, None);
            found.gate_passed.map(|rate| rate.fps().round())
        };
        assert_eq!(gate_passed(500_000.0, Verdict::Lossless), Some(100_000.0));
        assert_eq!(gate_passed(10_000.0, Verdict::Lossless), None);
        assert_eq!(gate_passed(500_000.0, Verdict::Lossy { lost: 1 }), None);
    }
}
