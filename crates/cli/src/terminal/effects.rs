//! What `mpps tune measure` found: a sentence for each setting, the largest effect first.

use super::doubts::Doubted;
use super::wrap::{paragraph, prose};
use crate::exit::Exit;
use crate::outcome::{Outcome, View, machine};
use anyhow::Result;
use mpps_method::tune::is_set_by_bed;
use mpps_record::{EffectsLine, Interaction, Run, Screen, SettingEffect, Together};
use mpps_report::number;
use mpps_report::number::percent_given as percent;
use mpps_report::profile_change::of_setting;
use serde_json::{Value, json};
use std::fmt::Write;

impl Outcome for Vec<EffectsLine> {
    fn document(&self, _: &Run, view: &View<'_>) -> Result<Value> {
        Ok(json!({ "simulated": false, "plot": view.plot, "results": self }))
    }

    fn text(&self, machine: &str, verbose: bool) -> String {
        let mut text = String::new();
        for line in self {
            text += &format!("{}\n\n{machine}\n\n", title(line));
            text += &effects(line, verbose);
        }
        text + &Doubted::new("runs", self).lines(verbose)
    }

    /// Effects with their intervals, the largest first.
    fn plot(&self, run: &Run) -> Option<String> {
        let (title, machine) = (title(self.first()?), machine(run.begin.as_ref()?));
        Some(mpps_report::picture(self, run, &[&title, &machine]))
    }

    /// Where nothing can be told the machine was restless.
    fn exit(&self, _: &Run) -> Exit {
        let says = |line: &EffectsLine| line.effects.iter().any(|one| line.can_tell(one));
        Exit::from_each(self.iter().map(says))
    }
}

fn title(line: &EffectsLine) -> String {
    let how = match line.screen {
        Some(_) => "many at once",
        None => "one at a time",
    };
    format!("Effects of settings, {how}: {}", number::frame(&line.frame))
}

fn effects(line: &EffectsLine, verbose: bool) -> String {
    let (measured, others): (Vec<_>, Vec<_>) =
        (line.effects.iter()).partition(|effect| effect.difference.is_some());
    let is_column = |effect: &&&SettingEffect| effect.placebo && effect.from.is_empty();
    let mut text = String::new();
    for effect in measured.iter().filter(|effect| !is_column(effect)) {
        text += &prose(&format!("{}\n", sentence(line, effect)));
    }
    if let Some(screen) = &line.screen {
        let columns: Vec<_> = measured.iter().filter(is_column).copied().collect();
        let pairs: Vec<_> = line.interactions().collect();
        let told = screened(screen, &columns, pairs.len());
        text += &paragraph(told);
        for one in pairs {
            text += &prose(&format!("{}\n", interaction(one, verbose)));
        }
    }
    let refused = (line.not_together.iter()).map(|why| format!("not measured together: {why}"));
    let together = line.together.iter().map(Together::sentence);
    text.extend(together.chain(refused).map(paragraph));
    let is_shown = verbose || line.named;
    if is_shown && !others.is_empty() {
        text.push('\n');
        for effect in &others {
            text += &prose(&format!("{}\n", sentence(line, effect)));
        }
    }
    let inert = others
        .iter()
        .filter(|effect| effect.inert.is_some())
        .count();
    if !is_shown && !others.is_empty() {
        let other = others.len() - inert;
        let _ = writeln!(
            text,
            "\n{inert} settings are inert here, and {other} were not measured: --verbose says why"
        );
    }
    let within = percent(line.within_share);
    text += &paragraph(format!(
        "The intervals of all {} comparisons together hold in 19 of 20 runs. Differences below {within} need not be found. A placebo cannot act: what it shows is the machine.",
        line.tests
    ));
    text.extend(line.why.as_ref().map(|why| format!("cut short: {why}\n")));
    text
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

fn interaction(one: &Interaction, verbose: bool) -> String {
    let mut text = one.sentence();
    if verbose {
        for alias in &one.aliases {
            let _ = write!(
                text,
                "\n  alias {}: {:+.2} of it",
                alias.settings.join(" x "),
                alias.share
            );
        }
    }
    text
}

fn sentence(line: &EffectsLine, effect: &SettingEffect) -> String {
    let needs = effect.needs.as_ref();
    let needs = needs.map_or_else(String::new, |needs| match is_set_by_bed(needs) {
        true => format!(" ({needs})"),
        false => format!(" (acts only with {needs})"),
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
