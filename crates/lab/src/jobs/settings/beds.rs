//! A setting whose two levels are two beds, or two kinds of traffic. Both beds stand at once and take turns, as the levels
//! of one bed do. The memory of two beds lies in different places, and that is a part of the difference.

use super::tried::{Tried, in_turns};
use super::{EACH, Earlier, FIRST_TRIALS, Job, Outcome, RAISED, SettingsPlan};
use crate::clock::Deadline;
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
#[must_use]
pub fn named(row: Option<&Row>) -> SettingEffect {
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
#[must_use]
pub fn time_for_each(plan: &SettingsPlan, spent: Span, settings: usize) -> Span {
    let left = plan.how.budget.as_nanos().saturating_sub(spent.as_nanos());
    Span::from_nanos(left / settings.max(1) as u64)
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
