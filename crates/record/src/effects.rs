//! The effects of settings, each at two levels on one bed: one at a time, or many at once as a screen.

use crate::comparison::Difference;
use crate::other::Other;
use crate::profile::ProfileChange;
use crate::result::{Doubt, Interval};
use crate::words::{Finding, ReceiverPlace, ToldBy};
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
    /// Differences up to this share count as none; twice it for a setting whose levels are two beds.
    pub alike_share: f64,
    /// Time for all turns.
    pub budget_ns: u64,
    /// Settings that were compared, the placebo included; of a screen its columns and pairs of settings. All intervals
    /// together hold in 19 of 20 runs.
    pub tests: u32,
    /// Seed of the order in which settings take turns.
    pub seed: u64,
    /// Whether the user named the settings.
    pub named: bool,
    /// Differences by their size, then settings without one, undecided ones, and those that were not measured.
    pub effects: Vec<SettingEffect>,
    /// The screen, where many settings were switched at once; missing: they took turns one at a time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub screen: Option<Screen>,
    /// The better levels of all settings that were found to be worth something, against the others; missing: there are
    /// less than two, or no time was left.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub together: Option<Together>,
    /// Why the kernel refused these levels together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_together: Option<String>,
    /// Earlier runs of the same file whose trials count too; trials are numbered on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub resumed: Vec<String>,
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
    /// Whether its levels are two beds. Their placebo is two beds that are alike.
    #[serde(default)]
    pub two_beds: bool,
    /// Why it took turns alone beside a screen; missing where it did not, or where all did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alone: Option<String>,
    /// Whether it was in the screen: its difference comes from blocks, not from pairs.
    #[serde(default)]
    pub screened: bool,
    /// The difference in its own pairs of turns, after a screen. Missing if it took none: it is not among the largest effects,
    /// it has no rate, a placebo seemed to act, a level was refused, or too little time was left.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confirmed: Option<Difference>,
    /// What each stage takes more at `to`; null where it was not profiled.
    #[serde(default)]
    pub by_stage: Option<ProfileChange>,
    /// Why stages cannot be told, though it was profiled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_by_stage: Option<String>,
    /// Numbers of the trials at `from`.
    pub from_trials: Vec<u32>,
    /// Numbers of the trials at `to`.
    pub to_trials: Vec<u32>,
}

/// Many settings at once: each block has all runs of a design by Plackett and Burman, and all of them with exchanged
/// levels. A screen of c columns has c + 1 runs and as many exchanged ones. In run r, from 0, column k is at its second
/// level where r + k is a square modulo c; in the last run none is.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Screen {
    /// Its settings, by column from 0.
    pub settings: Vec<String>,
    /// All columns; those without a setting are placebos.
    pub columns: u32,
    /// Turns of a block, those of the bed as it stands aside.
    pub runs: u32,
    /// Blocks that count.
    pub blocks: u32,
    /// Blocks begun that lack a run that counts, even when it was taken again.
    pub incomplete_blocks: u32,
    /// Turns left out because too few windows were undisturbed.
    pub disturbed: u32,
    /// Turns left out because too few of their windows were in the state of the machine in which most turns had some.
    pub distance: u32,
    /// Turns left out because the DUT forwarded all that was sent.
    pub not_overloaded: u32,
    /// The state that counts: the median round trip of a cache line between the tester's CPU and the DUT's. Missing where
    /// nobody timed it, and in older records.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub round_trip_ns: Option<f64>,
    /// The same of a fixed piece of work on the DUT's CPU.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub work_ns: Option<f64>,
    /// CPU time of a frame with the bed as it stands, in turns between the others.
    pub stands_ns: Option<Interval<f64>>,
    /// How many of these turns count.
    pub stands_turns: u32,
    /// What the second half of them took more than the first, as a share.
    pub drift_share: Option<f64>,
    /// Whether there were blocks enough to find interactions.
    pub tells_interactions: bool,
    /// Pairs of settings that do not add, the largest first. One with a placebo says that nothing can be told.
    pub interactions: Vec<Interaction>,
}

/// Two settings that do not add.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Interaction {
    /// The two.
    pub settings: [String; 2],
    /// The effect of one with the other at its second level, less that at its first, halved.
    pub cost_ns: Interval<f64>,
    /// Other pairs of settings that show the same, and to what share: it may be one of these.
    pub aliases: Vec<Alias>,
}

/// A pair of settings that the same turns would show.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Alias {
    /// The two.
    pub settings: [String; 2],
    /// How much of an interaction of theirs is seen, -1 to 1.
    pub share: f64,
}

/// The better levels of several settings at once, in turns with all at the other level.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Together {
    /// Each with its better level.
    pub better: Vec<String>,
    /// Forwarded at overload with the other levels.
    pub others_fps: Interval<u64>,
    /// Forwarded at overload with the better ones.
    pub better_fps: Interval<u64>,
    /// The better levels against the others.
    pub difference: Difference,
    /// What the sum of the effects predicts of the better levels; null where it is more than a frame costs.
    pub predicted_fps: Option<u64>,
    /// Numbers of the trials with the other levels.
    pub others_trials: Vec<u32>,
    /// Numbers of the trials with the better levels.
    pub better_trials: Vec<u32>,
}

impl Together {
    /// `all 3 together (...): 1.21 to 1.74 million frames/s, 44 % more (40 to 47)`, and what was predicted.
    #[must_use]
    pub fn sentence(&self) -> String {
        let million = |fps: u64| format!("{:.2}", fps as f64 / 1e6);
        let (others, better) = (self.others_fps.median, self.better_fps.median);
        let mut told = format!(
            "all {} together ({}): {} to {} million frames/s",
            self.better.len(),
            self.better.join(", "),
            million(others),
            million(better)
        );
        if let Some(change) = self.difference.told_rate_change() {
            let [low, median, high] =
                [change.low, change.median, change.high].map(|share| share * 100.0);
            told += &format!(", {median:+.0} % ({low:+.0} to {high:+.0})");
        }
        match self.predicted_fps {
            Some(predicted) => {
                let error = (predicted as f64 / better as f64 - 1.0) * 100.0;
                told += &format!(
                    "; the sum of their effects predicts {} million, {error:+.0} %",
                    million(predicted)
                );
            }
            None => {
                told += "; the sum of their effects predicts no rate: it is more than a frame costs, or there are several CPUs"
            }
        }
        told
    }
}

impl Interaction {
    /// `gro x forward_rules do not add: 60 ns (52 to 70), or an alias of it: ...`.
    #[must_use]
    pub fn sentence(&self) -> String {
        let pair = |settings: &[String; 2]| settings.join(" x ");
        let Interval { low, median, high } = self.cost_ns;
        let told = format!(
            "two settings do not add: {}, {median:+.0} ns a frame ({low:+.0} to {high:+.0})",
            pair(&self.settings)
        );
        let most = self
            .aliases
            .iter()
            .map(|alias| alias.share.abs())
            .fold(0.0, f64::max);
        let strong = self
            .aliases
            .iter()
            .filter(|alias| alias.share.abs() > most - 1e-9);
        let strong: Vec<String> = strong.map(|alias| pair(&alias.settings)).collect();
        match strong.len() {
            0 => told,
            1..=3 => format!("{told}, or an alias: {}", strong.join(", ")),
            many => format!("{told}, or one of {many} aliases"),
        }
    }
}

impl EffectsLine {
    /// Interactions of a screen; none where a placebo seemed to act, by itself or with a setting.
    pub fn interactions(&self) -> impl Iterator<Item = &Interaction> {
        let is_trusted = !self
            .effects
            .iter()
            .any(|one| one.placebo && !one.two_beds && one.acted().is_some());
        let all = self.screen.iter().flat_map(|screen| &screen.interactions);
        let is_told = is_trusted && !all.clone().any(|pair| self.has_placebo(pair));
        all.filter(move |_| is_told)
    }

    fn has_placebo(&self, pair: &Interaction) -> bool {
        let is_of = |one: &SettingEffect| one.placebo && pair.settings.contains(&one.setting);
        self.effects.iter().any(is_of)
    }

    /// Why nothing can be told of this effect: a placebo on as many beds seemed to act, by itself, in turns of its own or with
    /// another setting, or none has an interval.
    #[must_use]
    pub fn distrust(&self, effect: &SettingEffect) -> Option<String> {
        let is_its = |one: &&SettingEffect| one.placebo && one.two_beds == effect.two_beds;
        let mut placebos = self.effects.iter().filter(is_its);
        // Beside a screen, settings that take turns alone have turns of the placebo's. (Records of method versions 24 and
        // older have none.)
        let is_turned = |one: &SettingEffect| self.screen.is_some() && !one.screened;
        let is_of_turns = is_turned(effect) && placebos.clone().any(is_turned);
        let is_known = |one: &SettingEffect| {
            one.difference
                .as_ref()
                .is_some_and(Difference::has_interval)
        };
        let is_told = |one: &SettingEffect| is_known(one) && (!is_of_turns || is_turned(one));
        if !placebos.clone().any(is_told) {
            let what = if effect.two_beds {
                "two beds that are alike"
            } else {
                "the placebo"
            };
            return Some(format!("nothing was found of {what}"));
        }
        let acted = placebos.find_map(|placebo| {
            let seen = placebo.acted()?;
            Some(format!("a placebo, which cannot act, showed {seen}"))
        });
        let screen = self.screen.iter().filter(|_| !effect.two_beds);
        let mut pairs = screen.flat_map(|screen| &screen.interactions);
        acted.or_else(|| {
            let paired = pairs.find(|pair| self.has_placebo(pair))?;
            Some(format!("a placebo cannot act, but {}", paired.sentence()))
        })
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
        if effect.screened && !difference.has_interval() {
            return "cannot tell: too few whole blocks".to_owned();
        }
        let alone = effect.alone.as_ref();
        let alone = alone.map_or_else(String::new, |why| format!(" [alone: {why}]"));
        let said = match &effect.confirmed {
            Some(own) if own.has_interval() && effect.is_different() => {
                format!("{own}{alone}; in the screen: {difference}")
            }
            Some(own) => format!("{difference}{alone}; in turns of its own: {own}"),
            None => difference.to_string() + &alone,
        };
        if effect.is_denied() {
            return format!("cannot tell: its own turns do not confirm the screen: {said}");
        }
        let is_effect = difference.finding == Finding::Different && !effect.placebo;
        match (&difference.finding, self.distrust(effect)) {
            (Finding::NoDifference, _) => said,
            (Finding::Different, None) => said,
            (Finding::Different, Some(why)) if is_effect => format!("cannot tell: {why}"),
            (Finding::Different, Some(_)) => said,
            _ => format!("cannot tell: {}", said.trim_start_matches("not decided: ")),
        }
    }

    /// Whether something can be told of this setting: it has an interval that can be trusted.
    #[must_use]
    pub fn can_tell(&self, effect: &SettingEffect) -> bool {
        let difference = effect.difference.as_ref().filter(|_| !effect.placebo);
        difference.is_some_and(Difference::has_interval)
            && self.distrust(effect).is_none()
            && !effect.is_denied()
    }

    /// Whether an effect of this setting was found, and can be trusted.
    #[must_use]
    pub fn is_found(&self, effect: &SettingEffect) -> bool {
        effect.is_different() && self.distrust(effect).is_none() && !effect.is_denied()
    }
}

impl SettingEffect {
    /// What it seemed to do, by itself or in turns of its own beside a screen.
    fn acted(&self) -> Option<&Difference> {
        let mut all = self.difference.iter().chain(&self.confirmed);
        all.find(|one| one.finding == Finding::Different)
    }

    /// Whether its levels seemed to differ.
    #[must_use]
    pub fn is_different(&self) -> bool {
        let found = self.difference.as_ref().map(|found| &found.finding);
        found == Some(&Finding::Different)
    }

    /// Whether its own pairs do not confirm the effect that a screen found: no effect in them, or the other sign.
    #[must_use]
    pub fn is_denied(&self) -> bool {
        let own = self.confirmed.as_ref().filter(|own| own.has_interval());
        let Some((screened, own)) = self.difference.as_ref().zip(own) else {
            return false;
        };
        let is_more = |one: &Difference| one.cost_ns.map(|ns| ns.median > 0.0);
        // A screen that tells a cost alone is confirmed by a cost: the rate may be the same.
        let is_seen = |cost: &Interval<f64>| cost.low * cost.high > 0.0;
        let finds = match screened.told_by {
            ToldBy::Cost => own.cost_ns.as_ref().is_some_and(is_seen),
            ToldBy::Rate | ToldBy::Other(_) => own.finding == screened.finding,
        };
        let is_alike = finds && is_more(own) == is_more(screened);
        screened.finding == Finding::Different && !is_alike
    }

    /// What is told of it: the difference of its own turns, where they confirmed that of a screen.
    #[must_use]
    pub fn told_difference(&self) -> Option<&Difference> {
        let own = self.confirmed.as_ref().filter(|own| own.has_interval());
        own.or(self.difference.as_ref())
    }

    /// Its name with its levels: ``rp_filter `0` against `1` ``.
    #[must_use]
    pub fn title(&self) -> String {
        let Self {
            setting, from, to, ..
        } = self;
        let levels = match from.is_empty() && to.is_empty() {
            true => setting.clone(),
            false => format!("{setting} `{to}` against `{from}`"),
        };
        // A screen has two placebos of one name.
        let beside = self.name.split_once(", ").filter(|_| self.placebo);
        match (&self.with, beside) {
            (Some(with), _) => format!("{levels} (with {with})"),
            (None, Some((_, beside))) => format!("{levels}, {beside}"),
            (None, None) => levels,
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
        assert_eq!(slow.title(), "conntrack `0` against `1`");
        assert_eq!(
            calm.finding(&slow),
            "211 ns less a frame for the router (202 to 220, 12 pairs): 21 % more frames/s"
        );
        assert!(calm.is_found(&slow));
        let alone = SettingEffect {
            alone: Some("it has 3 levels".to_owned()),
            ..slow.clone()
        };
        let said = calm.finding(&alone);
        assert!(
            said.ends_with("frames/s [alone: it has 3 levels]"),
            "{said}"
        );
        let confirmed = SettingEffect {
            confirmed: effect("conntrack", Finding::Different, -190.0).difference,
            ..slow.clone()
        };
        let said = calm.finding(&confirmed);
        assert!(said.starts_with("190 ns less a frame"), "{said}");
        assert!(said.contains("; in the screen: "), "{said}");
        assert!(calm.is_found(&confirmed));
        for (finding, ns) in [(Finding::NoDifference, -190.0), (Finding::Different, 190.0)] {
            let denied = SettingEffect {
                confirmed: effect("conntrack", finding, ns).difference,
                ..slow.clone()
            };
            let said = calm.finding(&denied);
            let wanted = "cannot tell: its own turns do not confirm the screen: ";
            assert!(said.starts_with(wanted), "{said}");
            assert!(!calm.is_found(&denied) && !calm.can_tell(&denied));
        }
        let restless = line(effect("placebo", Finding::Different, 40.0));
        let said = restless.finding(&slow);
        assert!(
            said.starts_with("cannot tell: a placebo, which cannot act, showed 40 ns more"),
            "{said}"
        );
        assert!(!restless.is_found(&slow));
        let in_turns = |finding| {
            line(SettingEffect {
                confirmed: effect("placebo", finding, 40.0).difference,
                ..calm.effects[1].clone()
            })
        };
        let (acted, undecided) = (in_turns(Finding::Different), in_turns(Finding::NotDecided));
        assert!(!acted.is_found(&slow) && undecided.is_found(&slow));
        assert!(acted.finding(&slow).contains("showed 40 ns more"));
        let said = undecided.finding(&undecided.effects[1]);
        assert!(said.starts_with("no difference seen"), "{said}");
        let beside = SettingEffect {
            name: "A time-out, beside settings alone".to_owned(),
            difference: Some(Difference::default()),
            ..calm.effects[1].clone()
        };
        assert_eq!(
            beside.title(),
            "placebo `0` against `1`, beside settings alone"
        );
        let screened = SettingEffect {
            screened: true,
            ..slow.clone()
        };
        let mut blind = line(beside);
        blind.screen = Some(Screen::default());
        blind.effects.push(SettingEffect {
            screened: true,
            ..calm.effects[1].clone()
        });
        assert!(
            blind.is_found(&screened) && !blind.is_found(&slow),
            "turns have their own placebo"
        );
        let mut by_cost = screened;
        by_cost.difference.as_mut().expect("one").told_by = ToldBy::Cost;
        by_cost.confirmed = effect("conntrack", Finding::NoDifference, -205.0).difference;
        assert!(
            !by_cost.is_denied(),
            "the rate does not move, and the cost does"
        );
        let untold = line(SettingEffect {
            difference: None,
            ..restless.effects[1].clone()
        });
        let said = untold.finding(&slow);
        assert_eq!(said, "cannot tell: nothing was found of the placebo");
        // What two beds that are alike show says nothing of one bed.
        let on_two = |effect: &SettingEffect| SettingEffect {
            two_beds: true,
            ..effect.clone()
        };
        let mut beds = line(on_two(&restless.effects[1]));
        beds.effects.push(calm.effects[1].clone());
        assert!(beds.is_found(&slow) && !beds.is_found(&on_two(&slow)));
        assert!(beds.can_tell(&slow) && !beds.can_tell(&on_two(&slow)));
        assert!(
            !beds.can_tell(&calm.effects[1]),
            "a placebo alone tells nothing"
        );
        assert!(!restless.is_found(&on_two(&slow)), "no placebo on two beds");
        let calm = line(on_two(&calm.effects[1]));
        assert!(calm.is_found(&on_two(&slow)));
    }

    #[test]
    fn a_placebo_in_a_pair_leaves_nothing_told() {
        let slow = effect("conntrack", Finding::Different, -211.0);
        let pair = |settings: [&str; 2]| Interaction {
            settings: settings.map(str::to_owned),
            ..Interaction::default()
        };
        let line = |pairs: &[Interaction]| EffectsLine {
            effects: vec![slow.clone(), effect("placebo", Finding::NoDifference, 0.0)],
            screen: Some(Screen {
                interactions: pairs.to_vec(),
                ..Screen::default()
            }),
            ..EffectsLine::default()
        };
        let (real, failed) = (pair(["conntrack", "gro"]), pair(["gro", "placebo"]));
        let alone = line(std::slice::from_ref(&real));
        assert!(alone.is_found(&slow));
        assert!(alone.interactions().eq([&real]));
        let both = line(&[failed, real]);
        assert_eq!(both.interactions().count(), 0, "nothing of one bed is told");
        let said = both.finding(&slow);
        let wanted =
            "cannot tell: a placebo cannot act, but two settings do not add: gro x placebo, +0 ns";
        assert!(said.starts_with(wanted), "{said}");
        let beds = SettingEffect {
            two_beds: true,
            ..effect("placebo", Finding::NoDifference, 0.0)
        };
        let on_two = EffectsLine {
            effects: [&both.effects[..], std::slice::from_ref(&beds)].concat(),
            ..both
        };
        assert!(
            on_two.distrust(&beds).is_none(),
            "a screen stands on one bed"
        );
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
