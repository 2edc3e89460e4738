//! The effects of settings, one at a time: each at two levels that took turns on one bed.

use crate::comparison::Difference;
use crate::kind::Other;
use crate::result::Doubt;
use crate::words::{Finding, ReceiverPlace};
use serde::{Deserialize, Serialize};

/// All settings of a run (`mpps tune measure`).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EffectsLine {
    /// Frame size in octets, FCS included, or the name of a mix.
    pub frame: String,
    /// Where the tester received.
    pub receiver: Option<ReceiverPlace>,
    /// A difference smaller than this share needs not be found.
    pub within_share: f64,
    /// Differences up to this share count as none.
    pub alike_share: f64,
    /// Time for all turns.
    pub budget_ns: u64,
    /// Settings that were compared, the placebo included: all intervals together hold in 19 of 20 runs.
    pub tests: u32,
    /// Seed of the order in which settings take turns.
    pub seed: u64,
    /// Whether the user named the settings.
    pub named: bool,
    /// Differences by their size, then settings without one, undecided ones, and those that were not measured.
    pub effects: Vec<SettingEffect>,
    /// What ended it early.
    pub why: Option<String>,
    /// What to doubt.
    pub doubts: Vec<Doubt>,
    /// Members that this version does not know.
    #[serde(flatten)]
    pub other: Other,
}

/// One setting.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SettingEffect {
    /// Its id in the catalogue, or `placebo`.
    pub setting: String,
    /// What it is.
    pub name: String,
    /// The level to go away from; empty where it was not measured.
    pub from: String,
    /// The other one: the advised level, where one is advised.
    pub to: String,
    /// The setting that was on at both levels.
    pub with: Option<String>,
    /// What else it needs to act; nobody checked that the bed has it.
    pub needs: Option<String>,
    /// Whether it cannot act: it tells what the machine does.
    pub placebo: bool,
    /// `to` against `from`; null where it was not measured.
    pub difference: Option<Difference>,
    /// Why it cannot act on this bed.
    pub inert: Option<String>,
    /// Why it was not measured although it may act.
    pub not_measured: Option<String>,
    /// Numbers of the trials at `from`.
    pub from_trials: Vec<u32>,
    /// Numbers of the trials at `to`.
    pub to_trials: Vec<u32>,
}

impl EffectsLine {
    /// Why nothing can be told: the placebo seemed to act.
    #[must_use]
    pub fn distrust(&self) -> Option<String> {
        let placebo = self.effects.iter().find(|effect| effect.placebo)?;
        let seen = placebo.difference.as_ref()?;
        let acts = seen.finding == Finding::Different;
        acts.then(|| format!("the placebo, which cannot act, showed {seen}"))
    }

    /// What is said of one: an effect, no difference, that nobody can tell, or why it was not measured.
    #[must_use]
    pub fn finding(&self, effect: &SettingEffect) -> String {
        if let Some(why) = &effect.inert {
            return format!("inert here: {why}");
        }
        let Some(difference) = &effect.difference else {
            let why = effect.not_measured.as_deref();
            return format!("not measured: {}", why.unwrap_or("the run ended before"));
        };
        let said = difference.to_string();
        let is_effect = difference.finding == Finding::Different && !effect.placebo;
        match (&difference.finding, self.distrust()) {
            (Finding::NoDifference, _) => said,
            (Finding::Different, None) => said,
            (Finding::Different, Some(why)) if is_effect => format!("cannot tell: {why}"),
            (Finding::Different, Some(_)) => said,
            _ => format!("cannot tell: {}", said.trim_start_matches("not decided: ")),
        }
    }

    /// Whether an effect of this setting was found, and can be trusted.
    #[must_use]
    pub fn is_found(&self, effect: &SettingEffect) -> bool {
        let found = effect.difference.as_ref().map(|found| &found.finding);
        found == Some(&Finding::Different) && self.distrust().is_none()
    }
}

impl SettingEffect {
    /// Its name with its levels: `rp_filter 0, not 1`.
    #[must_use]
    pub fn title(&self) -> String {
        let Self {
            setting, from, to, ..
        } = self;
        let levels = match from.is_empty() && to.is_empty() {
            true => setting.clone(),
            false => format!("{setting} {to}, not {from}"),
        };
        match &self.with {
            Some(with) => format!("{levels} (with {with})"),
            None => levels,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Interval, Pairs, ToldBy};

    fn effect(setting: &str, finding: Finding, ns: f64) -> SettingEffect {
        let around = |middle: f64, half: f64| Interval {
            low: middle - half,
            median: middle,
            high: middle + half,
        };
        SettingEffect {
            setting: setting.to_owned(),
            from: "1".to_owned(),
            to: "0".to_owned(),
            placebo: setting == "placebo",
            difference: Some(Difference {
                finding,
                told_by: ToldBy::Rate,
                rate_change: Some(around(-ns / 1_000.0, 0.004)),
                cost_ns: Some(around(ns, 9.0)),
                pairs: Some(Pairs {
                    counted: 12,
                    ..Pairs::default()
                }),
                ..Difference::default()
            }),
            ..SettingEffect::default()
        }
    }

    #[test]
    fn a_placebo_that_acts_leaves_nothing_told() {
        let slow = effect("conntrack", Finding::Different, -211.0);
        let line = |placebo: SettingEffect| EffectsLine {
            effects: vec![slow.clone(), placebo],
            ..EffectsLine::default()
        };
        let calm = line(effect("placebo", Finding::NoDifference, 0.0));
        assert_eq!(slow.title(), "conntrack 0, not 1");
        assert_eq!(
            calm.finding(&slow),
            "211 ns less a frame for the router (202 to 220, 12 pairs): 21 % more frames/s"
        );
        assert!(calm.is_found(&slow));
        let restless = line(effect("placebo", Finding::Different, 40.0));
        let said = restless.finding(&slow);
        assert!(
            said.starts_with("cannot tell: the placebo, which cannot act, showed 40 ns more"),
            "{said}"
        );
        assert!(!restless.is_found(&slow));
    }

    #[test]
    fn what_was_not_measured_is_no_effect() {
        let line = EffectsLine::default();
        let inert = SettingEffect {
            setting: "lro".to_owned(),
            inert: Some("needs hardware".to_owned()),
            ..SettingEffect::default()
        };
        assert_eq!(line.finding(&inert), "inert here: needs hardware");
        assert_eq!(inert.title(), "lro");
        let undecided = effect("gro", Finding::NotDecided, 1.0);
        let said = line.finding(&undecided);
        assert!(
            said.starts_with("cannot tell: -0.5 to +0.3 % frames/s"),
            "{said}"
        );
        let none = effect("rp_filter", Finding::NoDifference, 0.0);
        assert!(
            line.finding(&none)
                .starts_with("no difference seen (within")
        );
    }
}
