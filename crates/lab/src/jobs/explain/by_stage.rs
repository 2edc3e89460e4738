//! What each stage takes more at one level of a switch than at the other, on one standing bed. Both levels take turns with
//! sampled trials at saturation, A B B A, as two set-ups of `--against` do.

use super::load::load_of;
use super::look::Look;
use super::paired::{Paired, change};
use crate::jobs::compare::ALIKE_ON_ONE_BED;
use crate::jobs::turns::{Forwards, share_loads};
use crate::jobs::{JobError, Trials};
use crate::tester::Tester;
use mpps_method::Span;
use mpps_method::compare::{Comparison, Rule, ToldBy};
use mpps_record::{Pairs, ProfileChange};

/// Two levels of a switch.
#[derive(Clone, Debug)]
pub struct Levels {
    /// What trials at each are called.
    pub names: [String; 2],
    /// What each was seen to forward.
    pub forwards: [Forwards; 2],
    /// Length of each trial.
    pub time: Span,
    /// Pairs of trials that count.
    pub pairs: u32,
}

/// Does something at each level in this order: sets the level, and calls what it is given with it. A level that is refused
/// is left out.
pub type AtLevels<'a> = dyn FnMut([usize; 2], &mut dyn FnMut(usize) -> Result<(), JobError>) -> Result<(), JobError>
    + 'a;

/// What a frame takes more at the second level than at the first, by stage and by cause, or why it cannot be told. It takes at
/// most twice the pairs that have to count. Each level has to have been set once before, so that functions of modules that it
/// loads have names.
///
/// # Errors
/// The router has no threads, a trial failed, or what `at_levels` returns.
pub fn measure(
    tester: &mut Tester<'_>,
    mut levels: Levels,
    at_levels: &mut AtLevels<'_>,
    trials: &mut Trials<'_>,
) -> Result<Result<ProfileChange, String>, JobError> {
    if tester.dut_threads().is_empty() {
        return Err(JobError::NoThreads);
    }
    let look = Look::new(&tester.bed.plan().cpus, None)?;
    let rule = Rule {
        measure: ToldBy::Rate,
        within: 0.0,
        alike: ALIKE_ON_ONE_BED,
    };
    let mut paired = Paired::new(look, Comparison::new(rule));
    let taken = paired.take(levels.pairs, |paired, order| {
        share_loads(&mut levels.forwards);
        let mut both = [None, None];
        at_levels(order.places(), &mut |at| {
            let turn = (&*levels.names[at], &mut levels.forwards[at]);
            both[at] = Some(paired.trial(tester, turn, levels.time, trials)?);
            Ok(())
        })?;
        let [base, own] = both;
        Ok(base.zip(own).map(|(base, own)| [base, own]))
    })?;
    let Some(taken) = taken else {
        return Ok(Err("a level was refused".to_owned()));
    };
    let before = load_of(&paired.kept[0]).unwrap_or_default();
    let (router_ns, frame_ns) = (before.router_ns, before.frame_ns.median);
    let found = change(&paired.kept, router_ns, frame_ns, ALIKE_ON_ONE_BED);
    Ok(found.ok_or_else(|| {
        let mut pairs = paired.comparison.end().pairs;
        pairs.disturbed += paired.void;
        too_few(paired.kept[0].len() as u32, taken, pairs)
    }))
}

/// Why so few of the pairs that were taken count.
fn too_few(counted: u32, taken: u32, pairs: Pairs) -> String {
    let Pairs {
        disturbed,
        not_overloaded,
        ..
    } = pairs;
    // A profile leaves out each pair without windows enough in one state; a comparison may count it.
    let changing = taken.saturating_sub(counted + disturbed + not_overloaded);
    format!(
        "{counted} of {taken} pairs of profiled trials count, too few (left out: {disturbed} disturbed, {changing} in changing states of the machine, {not_overloaded} not overloaded)"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A comparison counts pairs of changing states where most are such. A profile needs windows of one state.
    #[test]
    fn too_few_pairs_have_a_reason() {
        let pairs = Pairs {
            disturbed: 3,
            not_overloaded: 1,
            ..Pairs::default()
        };
        assert_eq!(
            too_few(2, 12, pairs),
            "2 of 12 pairs of profiled trials count, too few (left out: 3 disturbed, 6 in changing states of the machine, 1 not overloaded)"
        );
    }
}
