//! A setting whose two levels are two beds, or two kinds of traffic. Both beds stand at once and take turns, as the levels
//! of one bed do. The memory of two beds lies in different places, and that is a part of the difference.

use super::tried::{Tried, in_turns};
use super::{EACH, Earlier, FIRST_TRIALS, Job, Outcome, RAISED, SettingsPlan};
use crate::clock::{Deadline, monotonic_ns};
use crate::jobs::compare::{self, Variant};
use crate::jobs::{JobError, Observer};
use crate::line::difference;
use crate::tune::toggle::PLACEBO;
use mpps_method::Span;
use mpps_method::tune::Row;
use mpps_record::SettingEffect;

/// What is compared on two beds that are alike.
const PLACEBO_NAME: &str = "another bed of the same kind";

/// A setting on two beds, or their placebo, before anything was measured.
fn named(row: Option<&Row>) -> SettingEffect {
    let (setting, name) = row.map_or((PLACEBO, PLACEBO_NAME), |row| (row.id, row.name));
    SettingEffect {
        setting: setting.to_owned(),
        name: name.to_owned(),
        placebo: row.is_none(),
        two_beds: true,
        ..SettingEffect::default()
    }
}

/// What so many of them take with so many pairs each.
pub(super) const fn time(settings: usize, pairs: u64) -> Span {
    let turns = 2 * (FIRST_TRIALS + pairs) * EACH.as_nanos();
    Span::from_nanos(settings as u64 * (RAISED.as_nanos() + turns))
}

/// What is left for each of them.
fn time_for_each(plan: &SettingsPlan, spent: Span, settings: usize) -> Span {
    let left = plan.how.budget.as_nanos().saturating_sub(spent.as_nanos());
    Span::from_nanos(left / settings.max(1) as u64)
}

/// What is measured on two beds that stand.
pub type Work<'a> = dyn FnMut(&[Variant<'_>], &mut dyn Observer) -> Result<(), JobError> + 'a;

/// Measures settings on two beds each, one after the other, in what the others' turns left of the time; no row: their
/// placebo. `on_two_beds` has the beds of a setting raised, measured and lowered again. It tells why one was not measured.
///
/// # Errors
/// What `on_two_beds` returns: the settings after that one are not told.
pub fn measure_each<E>(
    rows: &[Option<&'static Row>],
    plan: &SettingsPlan,
    earlier: &Earlier,
    outcome: &mut Outcome,
    mut on_two_beds: impl FnMut(usize, &mut Work<'_>) -> Result<Option<String>, E>,
) -> Result<(), E> {
    let (begun_ns, before) = (monotonic_ns(), outcome.turns.plus(earlier.spent));
    for (place, &row) in rows.iter().enumerate() {
        let not_measured = match outcome.error {
            Some(_) => Some("the run ended before".to_owned()),
            None => on_two_beds(place, &mut |beds, observer| {
                let spent = Span::from_nanos(monotonic_ns() - begun_ns).plus(before);
                let time = time_for_each(plan, spent, rows.len() - place);
                let end = Deadline::after(Some(time));
                measure(row, beds, plan, end, earlier.clone(), outcome, observer)
            })?,
        };
        if not_measured.is_some() {
            outcome.add(SettingEffect {
                not_measured,
                ..named(row)
            });
        }
    }
    Ok(())
}

/// Measures a setting on two beds, which are named by its levels, and adds it to the others; no row: their placebo. Turns
/// that earlier runs had are not measured again.
///
/// # Errors
/// No tester could be raised.
pub fn measure(
    row: Option<&'static Row>,
    beds: &[Variant<'_>],
    plan: &SettingsPlan,
    end: Deadline,
    earlier: Earlier,
    outcome: &mut Outcome,
    observer: &mut dyn Observer,
) -> Result<(), JobError> {
    let level = |at: usize| beds.get(at).map(|bed| bed.name.clone());
    let levels = [0, 1].map(|at| level(at).unwrap_or_default());
    let effect = named(row);
    let turns = levels
        .each_ref()
        .map(|level| format!("{} {level}", effect.setting));
    let mut one = Tried::together(Vec::new(), turns);
    let standing = compare::raise(beds, plan.how.receiver)?;
    let mut job = Job::new(standing, plan, earlier, observer);
    let rates = one.find_rates(&mut job);
    let tests = outcome.line.tests as usize;
    let ended = rates.and_then(|()| in_turns(vec![&mut one], tests, end, &mut job));
    let [from_trials, to_trials] = one.numbers();
    let [from, to] = levels;
    outcome.add(SettingEffect {
        from,
        to,
        difference: one.compared().map(|found| difference(&found, one.measure)),
        from_trials,
        to_trials,
        ..effect
    });
    outcome.add_windows(job.windows);
    outcome.error = ended.err();
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::traffic::Traffic;
    use mpps_method::tune::CATALOGUE;

    /// A placebo and two settings, of which each ends so. Returns what ended all.
    fn told(outcome: &mut Outcome, ends: &[Result<Option<&str>, u32>]) -> Result<(), u32> {
        let plan = SettingsPlan {
            rows: Vec::new(),
            beds: 3,
            is_named: false,
            allows_machine: false,
            is_screen: false,
            by_stage: false,
            traffic: Traffic::default(),
            how: compare::ComparePlan {
                within: 0.02,
                budget: Span::from_millis(1),
                receiver: None,
                whole_rounds: false,
            },
        };
        let rows = CATALOGUE.iter().filter(|row| row.beds().is_some()).take(2);
        let rows: Vec<_> = std::iter::once(None).chain(rows.map(Some)).collect();
        let earlier = Earlier::default();
        measure_each(&rows, &plan, &earlier, outcome, |place, _| {
            ends[place].map(|why| why.map(str::to_owned))
        })
    }

    fn reasons(outcome: &Outcome) -> Vec<Option<&str>> {
        let effects = outcome.line.effects.iter();
        effects.map(|one| one.not_measured.as_deref()).collect()
    }

    #[test]
    fn a_setting_that_fails_takes_no_other_away() {
        let mut outcome = Outcome::default();
        let ended = told(
            &mut outcome,
            &[Ok(Some("busy")), Ok(None), Ok(Some("full"))],
        );
        assert_eq!(
            (ended, reasons(&outcome)),
            (Ok(()), vec![Some("busy"), Some("full")])
        );
        assert!(outcome.line.effects[0].placebo && outcome.line.effects[0].two_beds);
        let mut outcome = Outcome::default();
        let ended = told(&mut outcome, &[Ok(Some("busy")), Err(130), Ok(None)]);
        assert_eq!((ended, reasons(&outcome)), (Err(130), vec![Some("busy")]));
    }

    #[test]
    fn none_is_measured_after_the_end_of_the_run() {
        let mut outcome = Outcome {
            error: Some(JobError::NoThroughput),
            ..Outcome::default()
        };
        assert_eq!(told(&mut outcome, &[Err(1); 3]), Ok(()));
        assert_eq!(reasons(&outcome), [Some("the run ended before"); 3]);
    }
}
