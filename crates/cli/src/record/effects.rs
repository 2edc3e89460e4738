//! The effects of settings as their line has them.

use super::comparison::difference;
use mpps_lab::jobs::compare::ALIKE;
use mpps_lab::jobs::settings::{Effect, Outcome, SettingsPlan};
use mpps_lab::tune::toggle::Unmeasured;
use mpps_record::{EffectsLine, Other, SettingEffect};

/// The line of all settings.
#[must_use]
pub fn effects_line(outcome: &Outcome, plan: &SettingsPlan) -> EffectsLine {
    EffectsLine {
        frame: plan.traffic.frames.to_string(),
        receiver: outcome.receiver.map(Into::into),
        within_share: plan.how.within,
        alike_share: ALIKE,
        budget_ns: plan.how.budget.as_nanos(),
        tests: u32::try_from(outcome.tests).unwrap_or(u32::MAX),
        seed: plan.traffic.seed,
        named: plan.is_named,
        effects: outcome.effects.iter().map(effect).collect(),
        why: outcome.error.as_ref().map(ToString::to_string),
        doubts: Vec::new(),
        other: Other::new(),
    }
}

fn effect(found: &Effect) -> SettingEffect {
    let [from, to] = found.levels.clone();
    let [from_trials, to_trials] = found.trials.clone();
    let (inert, not_measured) = match &found.unmeasured {
        Some(Unmeasured::Inert(why)) => (Some(why.clone()), None),
        Some(Unmeasured::NotSwitched(why)) => (None, Some(why.clone())),
        None => (None, None),
    };
    SettingEffect {
        setting: found.id.to_owned(),
        name: found.name.to_owned(),
        from,
        to,
        with: found.with.map(str::to_owned),
        needs: Some(found.needs.to_owned()).filter(|needs| !needs.is_empty()),
        placebo: found.is_placebo,
        difference: (found.compared.as_ref()).map(|compared| difference(compared, found.measure)),
        inert,
        not_measured,
        from_trials,
        to_trials,
    }
}
