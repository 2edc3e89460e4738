//! Doubts about the tester: whether it, and not the DUT, bounds the result.

use super::{Doubt, Weighed, Weight};
use mpps_method::mlr::NOT_OFFERED_AT_MOST;
use mpps_method::{LimitedBy, Outcome, Rate, Trial, Verdict};
use mpps_record::Pairs;
use mpps_record::doubts::TESTER_NEAR_CEILING;

/// Near its ceiling the tester itself may lose what the DUT did not.
const NEAR_CEILING: f64 = 0.95;

pub(super) fn doubts(weighed: &Weighed<'_>) -> Vec<Doubt> {
    let (searched, ceiling) = (weighed.searched, weighed.saturated.ceiling);
    let near = match searched.result.outcome {
        Outcome::Found {
            lossless,
            limited_by,
            ..
        } => near_ceiling(lossless, limited_by, ceiling),
        _ => None,
    };
    let doubts = [not_offered(&searched.trials), near];
    doubts.into_iter().flatten().collect()
}

pub(crate) fn not_offered(trials: &[(Trial, Verdict)]) -> Option<Doubt> {
    let is_short = |(_, verdict): &&(Trial, Verdict)| matches!(verdict, Verdict::NotOffered(_));
    let short = trials.iter().filter(is_short).count();
    // A search needs this number at one load to find the tester's limit; the last one confirms it.
    let usual = usize::try_from(NOT_OFFERED_AT_MOST + 1).unwrap_or(usize::MAX);
    (short > usual).then(|| Doubt {
        name: "not-offered",
        weight: Weight::Unsure(4),
        seen: format!(
            "the tester could not offer the load of {short} of {} trials",
            trials.len()
        ),
        why: "These trials say nothing about the DUT and do not count. The DUT's rate may be above the offered loads.",
        next: "Use a --max-rate below the tester's ceiling, --tester-cpus with more CPUs, or a quieter machine.",
    })
}

pub(super) fn near_ceiling(result: Rate, limited_by: LimitedBy, ceiling: Rate) -> Option<Doubt> {
    let is_near = result.fps() > NEAR_CEILING * ceiling.fps();
    (is_near && limited_by != LimitedBy::Link).then(|| Doubt {
        name: TESTER_NEAR_CEILING,
        weight: Weight::Unsure(6),
        seen: format!("{result} is at or near the tester's own ceiling of {ceiling}"),
        why: "The DUT may do more. The tester may have lost frames that the DUT did not lose.",
        next: "Compare DUT busy and ns per frame instead, or give the tester more CPUs.",
    })
}

/// Doubts effects if in most pairs of turns the router took all, so that they tell no rate.
pub(crate) fn not_overloaded(pairs: impl Iterator<Item = Pairs>) -> Option<Doubt> {
    let (idle, all) = pairs.fold((0, 0), |(idle, all), one| {
        (
            idle + one.not_overloaded,
            all + one.counted + one.left_out(),
        )
    });
    (2 * idle > all).then(|| Doubt {
        name: "router-not-overloaded",
        weight: Weight::Unsure(8),
        seen: format!("in {idle} of {all} pairs of turns the router took all that was sent"),
        why: "The router could do more than the tester sends. Such a pair tells no change of the rate, and does not count.",
        next: "Give the router more work, such as --filters 25.",
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_not_offered_than_a_limit_takes_is_doubted() {
        let verdict = Verdict::NotOffered(mpps_method::Shortfall::LostAtReceiver(1));
        let raised = |trials: usize| not_offered(&vec![(Trial::default(), verdict); trials]);
        assert_eq!(raised(4), None);
        assert_eq!(
            raised(5).expect("a doubt").seen,
            "the tester could not offer the load of 5 of 5 trials"
        );
    }

    #[test]
    fn most_pairs_that_are_not_overloaded_are_doubted() {
        let pairs = |counted, not_overloaded| Pairs {
            counted,
            not_overloaded,
            ..Pairs::default()
        };
        let all = [pairs(9, 45), pairs(54, 0)];
        assert_eq!(not_overloaded(all.into_iter()), None);
        let found = not_overloaded(all.into_iter().take(1)).expect("a doubt");
        let seen = "in 45 of 54 pairs of turns the router took all that was sent";
        assert_eq!(found.seen, seen);
        assert_eq!(not_overloaded(std::iter::empty()), None);
    }

    #[test]
    fn a_result_at_the_ceiling_is_doubted() {
        let fps = Rate::from_fps;
        let is_near = |rate, limited_by| near_ceiling(fps(rate), limited_by, fps(1e6)).is_some();
        assert!(is_near(0.96e6, LimitedBy::Tester));
        assert!(!is_near(0.95e6, LimitedBy::Tester));
        assert!(!is_near(0.96e6, LimitedBy::Link));
    }
}
