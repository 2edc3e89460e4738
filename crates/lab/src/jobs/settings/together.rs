//! The settings that were found to be worth something, all at their better level, in turns with all at the other: what
//! they forward at most, and whether their effects add up.

use super::tried::{Tried, apart_from, in_turns};
use super::{Found, Job};
use crate::jobs::JobError;
use crate::line::{difference, rates};
use crate::tune::toggle::PLACEBO;
use mpps_method::compare::{Compared, Finding, ToldBy, is_overloaded, rate};
use mpps_method::interval::Interval;
use mpps_method::statistics::median;
use mpps_record::{Difference, SettingEffect, Together};

/// What their turns are called.
const NAMES: [&str; 2] = ["together, the other levels", "together, the better levels"];

/// Whether a setting was found to be worth something, and can stand with others.
pub(super) fn is_worth(one: &Tried<'_>) -> bool {
    let different = |compared: Compared| compared.finding == Finding::Different;
    let is_alone = |id: &str, with: Option<&str>| id != PLACEBO && with.is_none();
    one.refused.is_none()
        && one.confirmed_or_compared().is_some_and(different)
        && one
            .toggles
            .iter()
            .all(|toggle| is_alone(toggle.id, toggle.with))
}

/// CPU time of a frame that the second level takes more, ns.
pub(super) fn effect_ns(one: &Tried<'_>) -> f64 {
    let ns = one
        .confirmed_or_compared()
        .and_then(|compared| compared.cost_ns);
    ns.map_or(0.0, |ns| ns.middle)
}

/// Whether the router forwards more at the second level; where the tester ended first, whether a frame costs less. `None`:
/// a screen told a cost alone, and that tells no rate.
fn is_better(one: &Tried<'_>) -> Option<bool> {
    let found = one.confirmed_or_compared()?;
    match one.measure {
        ToldBy::Rate => Some(found.rate?.middle > 0.0),
        ToldBy::Cost => Some(found.cost?.middle < 0.0),
    }
}

/// What effects of settings come to together, ns. NAT tracks connections itself, so `conntrack` costs nothing beside it.
fn sum_ns(effects: &[(Option<&str>, f64)]) -> f64 {
    let has_nat = effects.iter().any(|(id, _)| *id == Some("nat"));
    let counts = |id: &Option<&str>| !(has_nat && *id == Some("conntrack"));
    effects
        .iter()
        .filter(|(id, _)| counts(id))
        .map(|(_, ns)| ns)
        .sum()
}

/// Whether a placebo seemed to act, by itself or with a setting, or nothing was found of it.
pub(super) fn is_distrusted(tried: &[Tried<'_>], found: &Found) -> bool {
    let shows_nothing = |compared: Option<Compared>| {
        let known = compared.filter(|compared| compared.rate.or(compared.cost).is_some());
        known.is_some_and(|compared| compared.finding != Finding::Different)
    };
    let both = |one: &Tried<'_>| [one.compared(), one.confirmed_or_compared()];
    let mut placebos = tried.iter().filter(|one| one.is_placebo()).flat_map(both);
    let mut others = found.placebos.iter();
    let pairs = found.screen.iter().flat_map(|screen| &screen.interactions);
    let mut paired = pairs.flat_map(|pair| &pair.settings);
    !placebos.all(shows_nothing)
        || others.any(SettingEffect::is_different)
        || paired.any(|setting| setting == PLACEBO)
}

/// Confirms by turns of their own what was found, where there is time.
pub(super) fn confirm(
    tried: &mut [Tried<'_>],
    job: &mut Job<'_, '_>,
    found: &mut Found,
) -> Result<(), JobError> {
    let distrusted = is_distrusted(tried, found);
    // Turns beside a screen say nothing where those of their placebo say nothing.
    let is_blind = |one: &SettingEffect| {
        let found = one.difference.as_ref();
        !one.screened && !found.is_some_and(Difference::has_interval)
    };
    let has_blind_turns = found.placebos.iter().any(is_blind);
    let is_told = |one: &Tried<'_>| one.screened.is_some() || !has_blind_turns;
    let worth = tried
        .iter_mut()
        .filter(|one| !distrusted && is_told(one) && is_worth(one));
    let mut worth: Vec<&mut Tried<'_>> = worth.collect();
    let count = worth.len();
    worth.retain(|one| is_better(one).is_some());
    if worth.len() < count {
        let why = "no rate is known of some of its settings: the router has several CPUs";
        found.not_together = Some(why.to_owned());
        return Ok(());
    }
    let (end, names) = (job.deadline(job.budget), NAMES.map(str::to_owned));
    let ids: Vec<&str> = worth.iter().filter_map(|one| one.id()).collect();
    worth.retain(|one| apart_from(one.id(), &ids).is_none());
    // One that had pairs of its own is confirmed already.
    let is_new = worth.len() > 1 || worth.iter().any(|one| one.comparison.is_none());
    let has_time = end.leaves(super::together_time()) || job.earlier.has(&names[1]);
    if is_new && !has_time {
        found.not_together = Some("too little time was left".to_owned());
    }
    if !is_new || !has_time {
        return Ok(());
    }
    let is_saved = |one: &&mut Tried<'_>| is_better(one) == Some(effect_ns(one) < 0.0);
    let adds_up = job.tells_rate_by_cost() && worth.iter().all(is_saved);
    let effects = worth.iter().map(|one| (one.id(), effect_ns(one).abs()));
    let saved = adds_up.then(|| sum_ns(&effects.collect::<Vec<_>>()));
    let mut toggles = Vec::new();
    let is_worse: Vec<bool> = worth
        .iter()
        .map(|one| is_better(one) == Some(false))
        .collect();
    for (one, &is_worse) in worth.iter_mut().zip(&is_worse) {
        for mut toggle in std::mem::take(&mut one.toggles) {
            if is_worse {
                toggle.exchange();
            }
            toggles.push(toggle);
        }
    }
    let better = toggles
        .iter()
        .map(|toggle| format!("{} {}", toggle.id, toggle.to))
        .collect();
    let mut group = Tried::together(toggles, names);
    let ended = group
        .find_rates(job)
        .and_then(|()| in_turns(vec![&mut group], 1, end, job));
    match told(&mut group, saved, better) {
        Ok(together) => found.together = Some(together),
        Err(why) => found.not_together = Some(why),
    }
    for ((one, is_worse), mut toggle) in worth.into_iter().zip(is_worse).zip(group.toggles) {
        if is_worse {
            toggle.exchange();
        }
        one.toggles.push(toggle);
    }
    ended
}

/// What came of the turns, or why nothing can be told.
fn told(
    group: &mut Tried<'_>,
    saved_ns: Option<f64>,
    better: Vec<String>,
) -> Result<Together, String> {
    if let Some(why) = group.refused.take() {
        return Err(why);
    }
    if group.measure == ToldBy::Cost {
        return Err("the tester reached its limit before the router".to_owned());
    }
    let mut forwarded = Vec::new();
    for (turns, name) in group.turns.iter().zip(NAMES) {
        let rates = turns.iter().filter_map(|turn| {
            let rate = rate(&turn.overload)?;
            is_overloaded(&turn.overload, rate).then_some(rate)
        });
        let interval = Interval::from_samples(&rates.collect::<Vec<f64>>());
        let none = || {
            format!(
                "no trial of `{name}` counts ({} taken): disturbed, or not overloaded",
                turns.len()
            )
        };
        forwarded.push(interval.ok_or_else(none)?);
    }
    let compared = group.compared().ok_or("no pair of trials counts")?;
    let [others, best] = [forwarded[0], forwarded[1]];
    let ns = group.turns[0]
        .iter()
        .filter_map(|turn| turn.overload.ns_per_frame);
    let ns = median(&ns.collect::<Vec<f64>>());
    let predicted = ns.zip(saved_ns).filter(|(ns, saved)| ns > saved);
    let [others_trials, better_trials] = group.numbers();
    Ok(Together {
        better,
        others_fps: rates(others),
        better_fps: rates(best),
        difference: difference(&compared, ToldBy::Rate),
        predicted_fps: predicted
            .map(|(ns, saved)| (others.middle * ns / (ns - saved)).round() as u64),
        others_trials,
        better_trials,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jobs::settings::Recorded;

    /// The turns of `bench/runs/2026-11-24-epyc-vm-2cpu/tune-all`: at the other levels nothing came through.
    #[test]
    fn a_level_without_a_trial_that_counts_is_told() {
        let mut group = Tried::together(Vec::new(), NAMES.map(str::to_owned));
        for turns in &mut group.turns {
            turns.extend([Recorded::default(), Recorded::default()]);
        }
        let why = told(&mut group, None, Vec::new()).expect_err("no trial counts");
        assert_eq!(
            why,
            "no trial of `together, the other levels` counts (2 taken): disturbed, or not overloaded"
        );
        group.refused = Some("nft: busy".to_owned());
        let why = told(&mut group, None, Vec::new()).expect_err("refused");
        assert_eq!(why, "nft: busy");
    }

    /// Effects of `bench/runs/2026-11-26-xeon-vm-2cpu/tune-screen-table`.
    #[test]
    fn nat_contains_the_tracking_of_connections() {
        let [nat, conntrack, rules] = [("nat", 3327.0), ("conntrack", 1779.0), ("rules", 1346.0)]
            .map(|(id, ns)| (Some(id), ns));
        assert_eq!(sum_ns(&[nat, conntrack, rules]), 3327.0 + 1346.0);
        assert_eq!(sum_ns(&[conntrack, rules]), 1779.0 + 1346.0);
    }

    /// Settings that acted in that run. A bridged port forwards nothing beside the rule.
    #[test]
    fn settings_that_forward_nothing_together_are_apart() {
        let acted = ["forward_rules", "bridged_port", "nat", "rule_reverse"];
        let apart = acted.map(|id| apart_from(Some(id), &acted));
        assert_eq!(apart, [None, Some("rule_reverse"), None, None]);
        assert_eq!(apart_from(Some("bridged_port"), &acted[..3]), None);
    }
}
