//! Effects of `mpps tune measure`.

use super::described::{About, Answered, Described};
use crate::chart::Chart;
use crate::column::{On, TableRow, columns};
use crate::gauges::{Gauges, Labels, NS, with};
use crate::number::{self, percent_given as percent};
use crate::plots;
use crate::profile_change::of_setting;
use crate::told::Told;
use mpps_record::{EffectsLine, Finding, Interaction, Run, Screen, SettingEffect, Together};

impl Described for EffectsLine {
    const PURPOSE: &'static str = "By how much each setting changes what a frame costs.";
    const NOUN: &'static str = "runs";
    const IS_DRAWN: bool = true;
    const IS_PROSE: bool = true;

    fn title(&self) -> String {
        let how = match self.screen {
            Some(_) => "many at once",
            None => "one at a time",
        };
        format!("Effects of settings, {how}: {}", number::frame(&self.frame))
    }

    fn about(&self) -> About<'_> {
        (vec![("frame", &self.frame)], self.why.as_deref())
    }

    /// What was found.
    fn sentences(lines: &[Self]) -> Vec<String> {
        let each = lines.iter().flat_map(|line| {
            let found = line.effects.iter().filter(|effect| line.is_found(effect));
            let found = found.map(|effect| format!("{}: {}", effect.title(), line.finding(effect)));
            let pairs = line.interactions().map(Interaction::sentence);
            let together = line.together.as_ref().map(Together::sentence);
            let found: Vec<String> = found.chain(together).chain(pairs).collect();
            match found.is_empty() {
                true => vec![none_found(line)],
                false => found,
            }
        });
        each.collect()
    }

    /// A terminal has sentences in their place.
    fn rows(&self, on: On) -> Vec<TableRow> {
        let shown = self.effects.iter().filter(|_| on == On::Page);
        shown.map(|effect| row(self, effect)).collect()
    }

    /// A sentence for each setting, the largest effect first.
    fn told(lines: &[Self], _: &Run, verbose: bool) -> Vec<Told> {
        let each = lines.iter().map(|line| {
            let measured = line.effects.iter();
            let measured = measured.filter(|one| one.difference.is_some() && !is_column(one));
            Told {
                sentences: measured.map(|effect| sentence(line, effect)).collect(),
                remarks: remarks(line, verbose),
                ..Told::default()
            }
        });
        each.collect()
    }

    fn charts(lines: &[Self], _: &Run) -> Vec<Option<Chart>> {
        lines.iter().map(plots::effects).collect()
    }

    fn gauges(&self, gauges: &mut Gauges, labels: &Labels<'_>, _: &Run) {
        let change = (
            "mpps_setting_cost_change_seconds",
            "CPU time that a frame takes more at the second level of a setting than at the first.",
        );
        for effect in &self.effects {
            let more: Labels<'_> = vec![
                ("setting", &effect.setting),
                ("from", &effect.from),
                ("to", &effect.to),
            ];
            let difference = effect.difference.as_ref();
            let cost = difference.and_then(|difference| difference.cost_ns);
            gauges.add_interval(change, &with(labels, &more), cost, NS);
        }
    }

    /// Where nothing can be told the machine was restless.
    fn answered(&self) -> Answered {
        Answered::if_measured(self.effects.iter().any(|one| self.can_tell(one)))
    }
}

/// `no setting was found to act: 1 without a difference, 2 that nobody can tell`.
fn none_found(line: &EffectsLine) -> String {
    let measured = || (line.effects.iter()).filter(|one| !one.placebo && one.difference.is_some());
    let is_alike = |one: &&SettingEffect| {
        let finding = one.difference.as_ref().map(|found| &found.finding);
        finding == Some(&Finding::NoDifference) && line.can_tell(one)
    };
    let (all, alike) = (measured().count(), measured().filter(is_alike).count());
    let unknown = all - alike;
    format!(
        "no setting was found to act: {alike} without a difference, {unknown} that nobody can tell"
    )
}

fn row(line: &EffectsLine, effect: &SettingEffect) -> TableRow {
    let difference = effect.difference.as_ref();
    let cost = difference.and_then(|difference| difference.cost_ns);
    let pairs = difference.and_then(|difference| difference.pairs);
    let columns = columns! {
        words "setting" effect.setting.clone();
        words "from" effect.from.clone();
        words "to" effect.to.clone();
        words "with" effect.with.clone();
        whole "ns more a frame" cost.map(|cost| cost.median);
        whole "low" cost.map(|cost| cost.low);
        whole "high" cost.map(|cost| cost.high);
        count "pairs" pairs.map(|pairs| u64::from(pairs.counted));
        words "finding" line.finding(effect);
        words "by stage" of_setting(effect);
    };
    TableRow::new(0.0, columns)
}

/// Whether it is a column of a screen without a setting.
fn is_column(effect: &SettingEffect) -> bool {
    effect.placebo && effect.from.is_empty()
}

/// What the sentences of a terminal have to be read with.
fn remarks(line: &EffectsLine, verbose: bool) -> Vec<String> {
    let mut told = Vec::new();
    if let Some(screen) = &line.screen {
        let columns = line.effects.iter().filter(|effect| is_column(effect));
        let columns: Vec<_> = columns.filter(|one| one.difference.is_some()).collect();
        let pairs: Vec<_> = line.interactions().collect();
        let pair = |one: &Interaction| {
            let aliases = one.aliases.iter().filter(|_| verbose).map(|alias| {
                let (names, share) = (alias.settings.join(" x "), alias.share);
                format!("\n  alias {names}: {share:+.2} of it")
            });
            format!("\n{}{}", one.sentence(), aliases.collect::<String>())
        };
        let screened = screened(screen, &columns, pairs.len());
        told.push(screened + &pairs.into_iter().map(pair).collect::<String>());
    }
    told.extend(line.together.as_ref().map(Together::sentence));
    let refused = line.not_together.iter();
    told.extend(refused.map(|why| format!("not measured together: {why}")));
    let others = || line.effects.iter().filter(|one| one.difference.is_none());
    if verbose || line.named {
        let each: Vec<String> = others().map(|effect| sentence(line, effect)).collect();
        told.extend((!each.is_empty()).then(|| each.join("\n")));
    } else if others().next().is_some() {
        let inert = others().filter(|effect| effect.inert.is_some()).count();
        let other = others().count() - inert;
        told.push(format!(
            "{inert} settings are inert here, and {other} were not measured: --verbose says why"
        ));
    }
    let (tests, within) = (line.tests, percent(line.within_share));
    told.push(format!(
        "The intervals of all {tests} comparisons together hold in 19 of 20 runs. Differences below {within} need not be \
         found. A placebo cannot act: what it shows is the machine."
    ));
    told.extend(line.why.as_ref().map(|why| format!("cut short: {why}")));
    told
}

/// What the screen stands on, what its placebo columns and the bed as it stands showed, and whether so many pairs do not add.
fn screened(screen: &Screen, columns: &[&SettingEffect], pairs: usize) -> String {
    let Screen {
        blocks,
        runs,
        incomplete_blocks,
        ..
    } = screen;
    let mut text = format!(
        "Screen of {} settings: {blocks} blocks of {runs} turns, each setting at each level in half of them.",
        screen.settings.len()
    );
    let left_out = screen.disturbed + screen.distance + screen.not_overloaded;
    if left_out > 0 {
        text += &format!(
            " {left_out} turns were left out and taken again ({} disturbed, {} in changing states of the machine, {} not overloaded); incomplete blocks: {incomplete_blocks}.",
            screen.disturbed, screen.distance, screen.not_overloaded
        );
    }
    if let (Some(round_trip), Some(work)) = (screen.round_trip_ns, screen.work_ns) {
        text += &format!(
            " All costs are of one state of the machine: round trip {round_trip:.0} ns, work {work:.0} ns."
        );
    }
    let acting = columns.iter().filter(|column| column.is_different());
    let acting = match acting.count() {
        0 => "none".to_owned(),
        some => some.to_string(),
    };
    text += &format!(
        " Of {} columns without a setting {acting} seemed to act.",
        columns.len()
    );
    if let Some(ns) = screen.stands_ns {
        let drift = screen.drift_share.map(|share| share * 100.0);
        let drift = drift.map_or_else(String::new, |percent| {
            format!(", {percent:+.1} % from the first half to the second")
        });
        text += &format!(
            " The bed as it stands, {} turns between: {:.0} ns a frame ({:.0} to {:.0}){drift}.",
            screen.stands_turns, ns.median, ns.low, ns.high
        );
    }
    let found = match pairs {
        1 => "One was found, and it may be".to_owned(),
        some => format!("{some} were found, and each may be"),
    };
    text += &match (pairs, screen.tells_interactions) {
        (0, _) if !screen.interactions.is_empty() => {
            " Whether two settings do not add nobody can tell: a placebo seemed to act.".to_owned()
        }
        (0, true) => " No two settings were seen that do not add.".to_owned(),
        (0, false) => " Whether two settings do not add needs more blocks.".to_owned(),
        _ => format!(
            " The effects above contain no interaction of two settings. {found} of any of these pairs:"
        ),
    };
    text
}

/// What a terminal says of one.
fn sentence(line: &EffectsLine, effect: &SettingEffect) -> String {
    let needs = effect.needs.as_ref();
    let needs = needs.map_or_else(String::new, |needs| {
        match needs.starts_with("the bed sets") {
            true => format!(" ({needs})"),
            false => format!(" (acts only with {needs})"),
        }
    });
    // Without a finding, stages would still suggest one.
    let is_told = effect.by_stage.is_none() || line.is_found(effect);
    let parts = of_setting(effect).filter(|_| is_told);
    let parts = parts.map_or_else(String::new, |parts| format!(". {parts}"));
    let title = effect.title();
    format!("{title}: {}{needs}{parts}", line.finding(effect))
}

#[cfg(test)]
mod tests {
    use super::*;
    use mpps_record::{Difference, Interval};

    #[test]
    fn a_run_that_finds_no_effect_has_an_answer() {
        let interval = Interval {
            low: -0.01,
            median: 0.0,
            high: 0.01,
        };
        let effect = |setting: &str, finding| SettingEffect {
            setting: setting.to_owned(),
            placebo: setting == "placebo",
            difference: Some(Difference {
                finding,
                rate_change: Some(interval),
                ..Difference::default()
            }),
            ..SettingEffect::default()
        };
        let line = EffectsLine {
            effects: vec![
                effect("gro", Finding::NoDifference),
                effect("netdev_budget", Finding::NotDecided),
                effect("placebo", Finding::NoDifference),
            ],
            ..EffectsLine::default()
        };
        let told = "no setting was found to act: 1 without a difference, 1 that nobody can tell";
        assert_eq!(EffectsLine::sentences(&[line]), [told]);
    }

    #[test]
    fn needs_stages_and_pairs_are_sentences() {
        let needs = |needs: &str| {
            let effect = SettingEffect {
                setting: "threaded".to_owned(),
                needs: Some(needs.to_owned()),
                ..SettingEffect::default()
            };
            sentence(&EffectsLine::default(), &effect)
        };
        let by_bed = needs("the bed sets it by its front");
        assert!(
            by_bed.ends_with(" (the bed sets it by its front)"),
            "{by_bed}"
        );
        let traffic = needs("frames of TCP");
        assert!(
            traffic.ends_with(" (acts only with frames of TCP)"),
            "{traffic}"
        );

        let untold = SettingEffect {
            not_by_stage: Some("2 of 12 pairs count".to_owned()),
            ..SettingEffect::default()
        };
        let said = sentence(&EffectsLine::default(), &untold);
        assert!(
            said.ends_with(". By stage: cannot tell: 2 of 12 pairs count"),
            "{said}"
        );

        let of = |pairs| screened(&Screen::default(), &[], pairs);
        assert!(of(1).ends_with(" One was found, and it may be of any of these pairs:"));
        assert!(of(2).ends_with(" 2 were found, and each may be of any of these pairs:"));
    }
}
