//! The sweeps of `mpps explain --sweep`: points beside their predictions; and tables I to V of Raumer et al. (2015).

use super::columns;
use super::columns::names;
use super::doubts::Doubted;
use super::wrap::{paragraph, prose};
use crate::exit::Exit;
use crate::outcome::Outcome;
use mpps_record::{Run, SweepLine};
use mpps_report::published::{PaperTable, paper_tables};
use mpps_report::{number, sweep};

impl Outcome for Vec<SweepLine> {
    fn text(&self, machine: &str, verbose: bool) -> String {
        let mut text = String::new();
        for line in self {
            let title = match line.is_paper() {
                true => {
                    "Tables I to V of Raumer, Emmerich and others (2015) on this machine".to_owned()
                }
                false => format!("The cost of a frame over {}", sweep::noun(line)),
            };
            text += &format!("{title}\n\n{machine}\n\n");
            text += &prose(&format!("{}.\n", sweep::sentence(line)));
            text += &match line.is_paper() {
                true => tables(line),
                false => points(line),
            };
            text.extend(sweep::remarks(line).into_iter().map(paragraph));
        }
        text + &Doubted::new("sweeps", self).lines(verbose)
    }

    /// A sweep that was cut short, or has no point, may do better another time.
    fn exit(&self, _: &Run) -> Exit {
        let is_whole = |line: &SweepLine| !line.points.is_empty() && line.why.is_none();
        Exit::from_each(self.iter().map(is_whole))
    }
}

/// A row for each point along the axis, within 80 columns.
fn points(line: &SweepLine) -> String {
    let head = "place;ns;95 % interval;predicted;interval;off;;Mpps";
    let mut rows = vec![names(head)];
    for point in line.along() {
        let mut cells = sweep::row(line, point);
        cells.pop();
        cells.push(format!("{:.3}", point.load.forwarding_fps.median / 1e6));
        cells.drain(..3);
        cells.insert(0, number::spaced(point.value as u64));
        rows.push(cells);
    }
    format!("\n{}", columns(&rows, &[6]))
}

fn tables(line: &SweepLine) -> String {
    let mut text = String::new();
    for PaperTable { title, table, note } in paper_tables(line) {
        let rows = std::iter::once(table.head).chain(table.rows);
        text += &format!("\n{title}\n\n{}", columns(rows, &[0]));
        if !note.is_empty() {
            text += &paragraph(note);
        }
    }
    text
}
