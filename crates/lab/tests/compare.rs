//! Set-ups compared on beds that stand at once.

use crate::support;
use mpps_lab::jobs::compare::{self, ComparePlan, Outcome, Variant};
use mpps_lab::jobs::{Observer, Phase, Report};
use mpps_method::Span;
use mpps_method::compare::{Finding, Measure};
use mpps_method::statistics::median;

/// The number, the phase and the variant of each trial.
#[derive(Default)]
struct Seen {
    turn: String,
    trials: Vec<(u32, Phase, String)>,
}

impl Observer for Seen {
    fn trial(&mut self, report: &Report<'_>) -> std::io::Result<()> {
        let trial = (report.number, report.phase, self.turn.clone());
        self.trials.push(trial);
        Ok(())
    }

    fn turn_begins(&mut self, variant: &str) {
        variant.clone_into(&mut self.turn);
    }
}

/// Short budgets, s: what takes more pairs is cli's own test of the document's workflow. A restless machine may need all of
/// the first one to begin.
const BUDGETS: [u64; 2] = [5, 15];

/// Compares a bed with the set-up of `script` with one without.
fn compared(script: &str) -> (Outcome, Seen) {
    let bare = support::bed();
    let set_up = support::bed_set_up(&support::plan(), script);
    let variant = |name: &str, bed| Variant {
        name: name.to_owned(),
        bed,
        traffic: support::traffic(),
    };
    let variants = [variant("a", &bare), variant("b", &set_up)];
    let mut measured = BUDGETS.into_iter().map(|seconds| {
        let plan = ComparePlan {
            within: 0.02,
            budget: Span::from_millis(seconds * 1_000),
            receiver: None,
        };
        let mut seen = Seen::default();
        let outcome = compare::measure(&variants, &plan, &mut seen);
        let outcome = outcome.unwrap_or_else(|error| panic!("compare: {error}"));
        assert!(outcome.error.is_none(), "{:?}", outcome.error);
        (outcome, seen)
    });
    let is_told = |(outcome, _): &(Outcome, Seen)| {
        let mut variants = outcome.variants.iter();
        variants.all(|one| {
            one.turns
                .iter()
                .any(|turn| turn.overload.ns_per_frame.is_some())
        })
    };
    let measured = measured.find(is_told);
    measured.expect("a turn of each with a cost")
}

/// 100 firewall rules none of which matches.
fn rules() -> String {
    let rules: String = (60_001..60_101)
        .map(|port| format!("udp dport {port} drop\n"))
        .collect();
    support::forward_rule(&rules)
}

#[test]
fn a_hundred_rules_are_told_from_none() {
    if !support::can_run() {
        return;
    }
    if !support::has("nft") {
        return;
    }
    let (outcome, seen) = compared(&rules());
    let [base, rules] = &outcome.variants[..] else {
        panic!("two variants");
    };
    let found = rules.compared.expect("a comparison");
    println!("{found:?} {}", outcome.fixed);
    assert_eq!(outcome.measure, Measure::Rate, "both are overloaded");
    assert!(base.compared.is_none());
    // CPU time of the router's own threads shows it, however little of the CPU others leave.
    let costs = [base, rules].map(|variant| {
        let costs = variant
            .turns
            .iter()
            .filter_map(|turn| turn.overload.ns_per_frame);
        median(&costs.collect::<Vec<f64>>()).expect("a turn")
    });
    assert!(costs[1] > costs[0] + 200.0, "{costs:?}");
    if found.pairs < 8 {
        assert_eq!((found.finding, found.rate), (Finding::NotDecided, None));
    }
    let numbers: Vec<u32> = seen.trials.iter().map(|(number, ..)| *number).collect();
    assert_eq!(numbers, (1..).take(numbers.len()).collect::<Vec<u32>>());
    let pairs = (found.pairs + found.left_out.all()) as usize;
    assert!(pairs >= 1, "one round at least");
    for variant in &outcome.variants {
        assert_eq!(variant.turns.len(), pairs, "{found:?}");
        assert_eq!(variant.turns.len(), variant.trials.len());
        for [overload, fixed] in &variant.trials {
            for (number, phase) in [(overload, Phase::Overload), (fixed, Phase::Fixed)] {
                let trial = (*number, phase, variant.name.clone());
                assert_eq!(seen.trials[*number as usize - 1], trial);
            }
        }
    } // A B, B A, B A, A B.
    let order: Vec<&str> = (seen.trials.iter())
        .filter(|(_, phase, _)| *phase == Phase::Fixed)
        .map(|(_, _, variant)| variant.as_str())
        .collect();
    let expected = ["a", "b", "b", "a", "b", "a", "a", "b"].iter().cycle();
    let expected: Vec<&str> = expected.take(order.len()).copied().collect();
    assert_eq!(order, expected);
}
