//! A comparison as its line has it.

use super::{ComparePlan, Measured, Outcome};
use crate::doubt::{Doubt, few_route_changes, fixed_overloaded};
use crate::line::{cost, difference, doubt, rates, whole_fps};
use mpps_method::FrameSpec;
use mpps_method::compare::{Turn, rate};
use mpps_method::interval::Interval;
use mpps_record::{self as record, ComparisonLine, Variant};

impl Outcome {
    /// The line of what came of all variants. Which flags each one was given, and which difference fails, is not known here.
    #[must_use]
    pub fn line(&self, frames: &FrameSpec, plan: &ComparePlan) -> ComparisonLine {
        let all: Vec<&[Turn]> = (self.variants.iter())
            .map(|variant| variant.turns.as_slice())
            .collect();
        let variant = |found: &Measured| Variant {
            fixed_ns_per_frame: fixed_cost(&found.turns, &all).map(cost),
            difference: (found.compared.as_ref())
                .map(|compared| difference(compared, self.rule.measure)),
            ..entry(found)
        };
        ComparisonLine {
            frame: frames.to_string(),
            receiver: self.receiver.map(Into::into),
            within_share: plan.within,
            alike_share: self.rule.alike,
            budget_ns: plan.budget.as_nanos(),
            fixed_fps: whole_fps(self.fixed),
            variants: self.variants.iter().map(variant).collect(),
            why: self.error.as_ref().map(ToString::to_string),
            doubts: self.variants.iter().flat_map(doubts).collect(),
            ..ComparisonLine::default()
        }
    }
}

/// The doubts about a variant's trials, whether it had fewer route changes than were asked for, and whether the fixed
/// load was too much for it.
fn doubts(found: &Measured) -> impl Iterator<Item = record::Doubt> {
    let few = few_route_changes(found.route_changes);
    let more = few
        .into_iter()
        .chain(fixed_overloaded(found.turns.iter().map(|turn| &turn.fixed)));
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

/// What its own turns tell of a variant.
fn entry(found: &Measured) -> Variant {
    let interval = |of: &dyn Fn(&Turn) -> Option<f64>| {
        let samples: Vec<f64> = found.turns.iter().filter_map(of).collect();
        Interval::from_samples(&samples)
    };
    let trials = |place: usize| found.trials.iter().map(|pair| pair[place]).collect();
    Variant {
        name: found.name.clone(),
        set_up: found.set_up.clone(),
        overload_fps: whole_fps(found.overload),
        forwarding_fps: interval(&|turn| rate(&turn.overload)).map(rates),
        ns_per_frame: interval(&|turn| turn.overload.ns_per_frame).map(cost),
        overload_trials: trials(0),
        fixed_trials: trials(1),
        replayed: found.replayed.clone(),
        route_changes: found.route_changes,
        ..Variant::default()
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
