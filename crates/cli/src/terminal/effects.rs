//! What `mpps tune measure` found: a sentence for each setting, the largest effect first.

use super::doubts::Doubted;
use super::wrap::prose;
use crate::exit::Exit;
use crate::outcome::{Outcome, worst};
use mpps_record::{EffectsLine, Run, SettingEffect};
use mpps_report::number;
use mpps_report::number::percent_given as percent;
use std::fmt::Write;

impl Outcome for Vec<EffectsLine> {
    fn text(&self, machine: &str, verbose: bool) -> String {
        let mut text = String::new();
        for line in self {
            let frame = number::frame(&line.frame);
            text += &format!("Effects of settings, one at a time: {frame}\n\n{machine}\n\n");
            text += &effects(line, verbose);
        }
        let doubted = Doubted {
            noun: "runs",
            ..Doubted::new(self)
        };
        text + &doubted.lines(verbose)
    }

    /// Where nothing can be told the machine was restless.
    fn exit(&self, _: &Run) -> Exit {
        let exit = |line: &EffectsLine| {
            let mut compared = (line.effects.iter()).filter_map(|one| one.difference.as_ref());
            let told = line.distrust().is_none() && compared.any(|found| found.has_interval());
            if told {
                Exit::Measured
            } else {
                Exit::Disturbed
            }
        };
        worst(self.iter().map(exit))
    }
}

fn effects(line: &EffectsLine, verbose: bool) -> String {
    let (measured, others): (Vec<_>, Vec<_>) =
        (line.effects.iter()).partition(|effect| effect.difference.is_some());
    let mut text = String::new();
    for effect in &measured {
        text += &prose(&format!("{}\n", sentence(line, effect)));
    }
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
    let note = format!(
        "\nThe intervals of all {} comparisons together hold in 19 of 20 runs. Differences below {within} need not be found. The placebo cannot act: what it shows is the machine.\n",
        line.tests
    );
    text += &prose(&note);
    text.extend(line.why.as_ref().map(|why| format!("cut short: {why}\n")));
    text
}

fn sentence(line: &EffectsLine, effect: &SettingEffect) -> String {
    let needs = effect.needs.as_ref();
    let needs = needs.map_or_else(String::new, |needs| format!(" (acts only with {needs})"));
    format!("{}: {}{needs}", effect.title(), line.finding(effect))
}
