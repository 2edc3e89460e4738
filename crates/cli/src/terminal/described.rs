//! Results of kinds whose description in `mpps_report` says all of their text.

use super::columns;
use super::doubts::Doubted;
use crate::exit::Exit;
use crate::outcome::{Outcome, View, is_simulated, machine, worst};
use anyhow::Result;
use mpps_record::doubts::SIMULATED;
use mpps_record::{BurstLine, CurveLine, LatencyLine, OverloadLine, RecoveryLine, ResetLine, Run};
use mpps_report::column::{On, table};
use mpps_report::{Answered, Described};
use serde_json::{Value, json};

/// Makes a result of lines of each of these kinds.
macro_rules! described {
    ($($line:ident)*) => {$(
        impl Outcome for Vec<$line> {
            fn document(&self, run: &Run, view: &View<'_>) -> Result<Value> {
                Ok(json(self, run, view))
            }

            fn text(&self, machine: &str, verbose: bool) -> String {
                text(self, machine, verbose)
            }

            fn plot(&self, run: &Run) -> Option<String> {
                let first = self.first().filter(|_| $line::IS_DRAWN)?;
                let heading = [first.title(), machine(run.begin.as_ref()?)];
                let heading = heading.each_ref().map(String::as_str);
                Some(mpps_report::picture(self, run, &heading))
            }

            fn exit(&self, _: &Run) -> Exit {
                worst(self.iter().map(|line| line.answered().into()))
            }
        }
    )*};
}
described! { BurstLine CurveLine LatencyLine OverloadLine RecoveryLine ResetLine }

impl From<Answered> for Exit {
    fn from(answered: Answered) -> Self {
        match answered {
            Answered::Measured => Self::Measured,
            Answered::Undecided => Self::Undecided,
            Answered::Failed => Self::Failed,
        }
    }
}

fn json<L: Described>(lines: &[L], run: &Run, view: &View<'_>) -> Value {
    let mut own = json!({ "simulated": run.begin.as_ref().is_some_and(is_simulated) });
    if L::IS_DRAWN {
        own["plot"] = json!(view.plot);
    }
    own[L::MEMBER] = json!(lines);
    own
}

/// All lines, under the machine they were measured on, then the doubts.
fn text<L: Described>(lines: &[L], machine: &str, verbose: bool) -> String {
    let on = if verbose { On::Details } else { On::Screen };
    let title = lines.first().map_or(String::new(), L::title);
    let mut text = format!("{title}\n\n{machine}\n");
    let mut doubted = Vec::new();
    for line in lines {
        let rows = line.rows(on);
        let table = table(&rows, on);
        text += &format!("\n{}.\n", line.sentence());
        if !rows.is_empty() {
            let shown = columns(std::iter::once(&table.head).chain(&table.rows), &table.left);
            text += &format!("\n{}{shown}", L::ABOVE);
        }
        let remarks = line.all_remarks(&rows, verbose);
        text.extend(remarks.iter().map(|remark| format!("{remark}\n")));
        if !rows.is_empty() || !line.doubted().1.is_empty() {
            doubted.push(line);
        }
    }
    let doubted = Doubted {
        // By the line of the machine.
        said: vec![SIMULATED],
        ..Doubted::new(L::NOUN, doubted)
    };
    text + &doubted.lines(verbose)
}

#[cfg(test)]
mod tests;
