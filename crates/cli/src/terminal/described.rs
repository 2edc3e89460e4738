//! The text of each kind of line, as its description in `mpps_report` says it.

use super::columns::shown;
use super::doubts::Doubted;
use super::error;
use super::wrap::prose;
use crate::exit::Exit;
use crate::outcome::{Outcome, View, machine};
use mpps_record::Run;
use mpps_report::{Answered, Described, Told};
use serde_json::{Value, json};

impl<L: Described> Outcome for Vec<L> {
    fn document(&self, run: &Run, view: &View<'_>) -> Value {
        let mut own = L::document(self, run);
        if L::IS_DRAWN {
            own["plot"] = json!(view.plot);
        }
        own
    }

    /// All lines, under the machine they were measured on, then the doubts.
    fn text(&self, run: &Run, verbose: bool) -> String {
        let mut text = L::heading(self, run);
        if !text.is_empty() {
            let machine = run
                .begin
                .as_ref()
                .map(|begin| format!("\n{}\n", machine(begin)));
            text += &format!("\n{}", machine.unwrap_or_default());
        }
        let parts = L::told(self, run, verbose);
        text.extend(parts.iter().map(|part| told(part, L::IS_PROSE)));
        text.trim_start().to_owned() + &Doubted::new(self).lines(verbose)
    }

    fn tell(&self, run: &Run) {
        let complaints = L::complaints(self, run);
        complaints.iter().for_each(|complaint| error(complaint));
    }

    fn plot(&self, run: &Run) -> Option<String> {
        let begin = run
            .begin
            .as_ref()
            .filter(|_| L::IS_DRAWN && !self.is_empty())?;
        let heading = [L::heading(self, run), machine(begin)];
        let heading = heading.each_ref().map(String::as_str);
        Some(mpps_report::picture(self, run, &heading))
    }

    fn exit(&self, run: &Run) -> Exit {
        L::all_answered(self, run).into()
    }
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
