//! Results of kinds whose description in `mpps_report` says all of their text.

use super::columns::shown;
use super::doubts::Doubted;
use super::error;
use super::wrap::prose;
use crate::exit::Exit;
use crate::outcome::{Outcome, View, machine};
use anyhow::Result;
use mpps_record::doubts::SIMULATED;
use mpps_record::{
    BurstLine, CalibrationLine, ComparisonLine, CurveLine, EffectsLine, LatencyLine, LoadLine,
    OverloadLine, ProfileLine, RecoveryLine, ResetLine, Run, SweepLine,
};
use mpps_report::column::On;
use mpps_report::{Answered, Described, Told};
use serde_json::{Value, json};

/// Makes a result of lines of each of these kinds.
macro_rules! described {
    ($($line:ident)*) => {$(
        impl Outcome for Vec<$line> {
            fn document(&self, run: &Run, view: &View<'_>) -> Result<Value> {
                let mut own = $line::document(self, run);
                if $line::IS_DRAWN {
                    own["plot"] = json!(view.plot);
                }
                Ok(own)
            }

            fn text(&self, run: &Run, machine: &str, verbose: bool) -> String {
                text(self, run, machine, verbose)
            }

            fn tell(&self, _: &Run, view: &View<'_>) {
                let complaint = $line::complaint(self).filter(|_| view.head.error.is_none());
                complaint.iter().for_each(|complaint| error(complaint));
            }

            fn plot(&self, run: &Run) -> Option<String> {
                let first = self.first().filter(|_| $line::IS_DRAWN)?;
                let heading = [first.title(), machine(run.begin.as_ref()?)];
                let heading = heading.each_ref().map(String::as_str);
                Some(mpps_report::picture(self, run, &heading))
            }

            fn exit(&self, run: &Run) -> Exit {
                $line::all_answered(self, run).into()
            }
        }
    )*};
}
described! {
    BurstLine CalibrationLine ComparisonLine CurveLine EffectsLine LatencyLine LoadLine
    OverloadLine ProfileLine RecoveryLine ResetLine SweepLine
}

impl From<Answered> for Exit {
    fn from(answered: Answered) -> Self {
        match answered {
            Answered::Measured => Self::Measured,
            Answered::Undecided => Self::Undecided,
            Answered::NotMet => Self::NotMet,
            Answered::Failed => Self::Failed,
        }
    }
}

/// All lines, under the machine they were measured on, then the doubts.
fn text<L: Described>(lines: &[L], run: &Run, machine: &str, verbose: bool) -> String {
    let title = lines.first().map_or(String::new(), L::title);
    let mut text = format!("{title}\n\n{machine}\n");
    let parts = L::told(lines, run, verbose);
    text.extend(parts.iter().map(|part| told(part, L::IS_PROSE)));
    let is_known = |line: &&L| {
        let on = On::terminal(verbose);
        !line.rows(on).is_empty() || !line.doubted().1.is_empty()
    };
    let doubted = Doubted {
        // By the line of the machine.
        said: vec![SIMULATED],
        ..Doubted::new(L::NOUN, lines.iter().filter(is_known))
    };
    text + &doubted.lines(verbose)
}

/// A part of a text, behind an empty line.
pub fn told(part: &Told, is_prose: bool) -> String {
    let line = |told: String| match is_prose {
        true => prose(&(told + "\n")),
        false => told + "\n",
    };
    let gap = if is_prose { "\n" } else { "" };
    let sentences = part.sentences.iter();
    let sentences = sentences.map(|told| line(format!("{told}.")));
    let tables = part.tables.iter().map(|(above, table)| {
        let above = if is_prose { &prose(above) } else { above };
        format!("\n{above}{}", shown(table))
    });
    let remarks = part.remarks.iter();
    let remarks = remarks.map(|told| line(format!("{gap}{told}")));
    let all = sentences.chain(tables).chain(remarks);
    std::iter::once("\n".to_owned()).chain(all).collect()
}

#[cfg(test)]
mod tests;
