//! A comparison as its line has it.

use crate::plan::{ComparePlan, VariantPlan};
use mpps_lab::bed::Bed;
use mpps_lab::doubt::{Doubt, few_route_changes, fixed_overloaded};
use mpps_lab::jobs::compare::{Measured, Outcome};
use mpps_lab::line::{cost, difference, doubt, rates, replayed_file, route_changes, whole_fps};
use mpps_method::compare::{Turn, rate};
use mpps_method::interval::Interval;
use mpps_record::{self as record, ComparisonLine, Other, Variant};

/// The line of what came of all variants, each on its bed; no beds where other builds raised them.
pub fn comparison_line(outcome: &Outcome, plan: &ComparePlan, beds: &[Bed]) -> ComparisonLine {
    // A build of its own raises beds of its own.
    let beds = beds.iter().map(Some).chain(std::iter::repeat(None));
    let planned = plan.variants.iter().zip(beds);
    let entry = |(found, (variant, bed)): (&Measured, (&VariantPlan, Option<&Bed>))| {
        entry(found, variant, bed, outcome)
    };
    let frames = plan.variants.first().map(|first| &first.traffic.frames);
    ComparisonLine {
        frame: frames.map(ToString::to_string).unwrap_or_default(),
        receiver: outcome.receiver.map(Into::into),
        within_share: plan.how.within,
        alike_share: outcome.alike,
        budget_ns: plan.how.budget.as_nanos(),
        fail_if_slower_share: plan.fail_if_slower,
        fixed_fps: whole_fps(outcome.fixed),
        variants: outcome.variants.iter().zip(planned).map(entry).collect(),
        why: outcome.error.as_ref().map(ToString::to_string),
        doubts: outcome.variants.iter().flat_map(doubts).collect(),
        other: Other::new(),
    }
}

/// The doubts about a variant's trials, whether it had fewer route changes than were asked for, and whether the fixed
/// load was too much for it.
fn doubts(found: &Measured) -> impl Iterator<Item = record::Doubt> {
    let few = few_route_changes(found.route_changes);
    let more = few.into_iter().chain(fixed_overloaded(&found.turns));
    more.chain(found.doubts.clone()).map(|one| {
        let seen = format!("{}: {}", found.name, one.seen);
        doubt(&Doubt { seen, ..one })
    })
}

/// At the fixed load, over the turns in which no variant's CPU was full: so all variants have those of the same times. `None`
/// of less than half of the turns.
fn fixed_cost(turns: &[Turn], all: &[&[Turn]]) -> Option<Interval> {
    let is_carried = |place: usize| {
        let mut each = all.iter().filter_map(|turns| turns.get(place));
        each.all(|turn| !turn.fixed.is_saturated())
    };
    let carried = turns.iter().enumerate();
    let carried = carried.filter(|(place, _)| is_carried(*place));
    let costs: Vec<f64> = carried
        .filter_map(|(_, turn)| turn.fixed.ns_per_frame)
        .collect();
    Interval::from_samples(&costs).filter(|_| 2 * costs.len() >= turns.len())
}

fn entry(found: &Measured, plan: &VariantPlan, bed: Option<&Bed>, outcome: &Outcome) -> Variant {
    let interval = |of: &dyn Fn(&Turn) -> Option<f64>| {
        let samples: Vec<f64> = found.turns.iter().filter_map(of).collect();
        Interval::from_samples(&samples)
    };
    let all: Vec<&[Turn]> = (outcome.variants.iter())
        .map(|variant| variant.turns.as_slice())
        .collect();
    let trials = |place: usize| found.trials.iter().map(|pair| pair[place]).collect();
    let replayed = plan.traffic.route_changes.as_deref();
    Variant {
        name: found.name.clone(),
        flags: plan.flags.clone(),
        set_up: bed.and_then(Bed::set_up_script),
        binary: None,
        overload_fps: whole_fps(found.overload),
        forwarding_fps: interval(&|turn| rate(&turn.overload)).map(rates),
        ns_per_frame: interval(&|turn| turn.overload.ns_per_frame).map(cost),
        fixed_ns_per_frame: fixed_cost(&found.turns, &all).map(cost),
        overload_trials: trials(0),
        fixed_trials: trials(1),
        replayed: replayed.map(replayed_file),
        route_changes: found.route_changes.map(route_changes),
        difference: found
            .compared
            .as_ref()
            .map(|compared| difference(compared, outcome.measure)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mpps_method::saturation::Block;

    /// Only the quick turns of one variant would be cheaper than all turns of the other.
    #[test]
    fn a_full_cpu_leaves_out_the_turn_of_all() {
        let turn = |&(ns, busy): &(f64, f64)| Turn {
            fixed: Block {
                ns_per_frame: Some(ns),
                busiest: Some(busy),
                ..Block::default()
            },
            ..Turn::default()
        };
        let costs = |all: [&[(f64, f64)]; 2]| {
            let all = all.map(|turns| turns.iter().map(turn).collect::<Vec<_>>());
            let all = [all[0].as_slice(), all[1].as_slice()];
            all.map(|turns| fixed_cost(turns, &all).map(|cost| cost.middle))
        };
        let first = [(600.0, 0.6), (610.0, 0.6), (900.0, 0.9), (900.0, 0.9)];
        let other = [(800.0, 0.8), (810.0, 0.8), (950.0, 1.0), (950.0, 1.0)];
        assert_eq!(costs([&first, &other]), [Some(605.0), Some(805.0)]);
        // Less than half of the turns.
        assert_eq!(costs([&first[1..], &other[1..]]), [None, None]);
    }
}
