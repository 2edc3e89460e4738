//! The points of `mpps fib-scale`: a row each, and under them what nobody should overlook.

mod row;
mod title;

pub use row::ScaleRow;
pub use title::{bed_line, scale_title};

use super::columns::names;
use super::doubts::Doubted;
use super::{Reading, Row, columns, grouped, machine_line};
use crate::exit::Exit;
use crate::expectation;
use crate::outcome::{Outcome, View, worst};
use crate::words::closeness;
use anyhow::Result;
use mpps_record::{LimitedBy, PointLine, Run, RunLine};
use mpps_report::headline::forwarding_range;
use mpps_report::headline::short_without_loss;
use mpps_report::interval::{interval_name, rounds_of_points};
use mpps_report::number;
use serde_json::{Value, json};
use std::fmt::Write;
use std::path::Path;

/// All rows, under a title that says what they were measured with.
pub fn fib_scale(rows: &[ScaleRow<'_>], run: Option<&RunLine>) -> String {
    let mut text = run.map_or(String::new(), |run| format!("{}\n", machine_line(run)));
    if let Some((scale, run)) = run.and_then(|run| Some((run.plan.scale.as_ref()?, run))) {
        text.insert_str(0, &format!("{}\n", scale_title(&scale.table, scale, run)));
    }
    let interval = interval_name(rounds_of_points(rows.iter().map(|row| row.point)));
    text.push_str(
        "Router ns: the cost of a frame for the router at overload, with its interval.\n",
    );
    let bed = bed_line(rows);
    if !bed.is_empty() {
        let _ = writeln!(text, "{bed}");
    }
    let search = run.and_then(|run| run.plan.search.as_ref());
    if let Some(search) = search {
        let _ = writeln!(
            text,
            "Without loss: {}, found to {}",
            search.pass_rule.as_deref().unwrap_or("unknown"),
            closeness(search)
        );
    }
    let mut head = format!(
        "series;frame;routes;destinations;router ns;{interval};max frames/s;busy;limited by"
    );
    if search.is_some() || rows.iter().any(|row| row.result.is_some()) {
        head += ";without loss;limited by";
    }
    let cells = std::iter::once(names(&head)).chain(rows.iter().map(row));
    text + &format!("\n{}\n{}", columns(cells, &[0, 1]), remarks(rows))
}

/// What a reader of the rows must not overlook.
fn remarks(rows: &[ScaleRow<'_>]) -> String {
    let mut text = String::new();
    if rows.iter().any(|row| row.point.asked_routes == 0) {
        text.push_str(
            "0 routes: the one destination is the tester's own address, on a network of the router. All other points use next hops.\n",
        );
    }
    let fewer =
        |row: &ScaleRow<'_>| row.routes() > 0 && row.destinations() < row.point.asked_destinations;
    if rows.iter().any(fewer) {
        text.push_str("fewer destinations than asked for: those routes have no more addresses\n");
    }
    let known = || rows.iter().filter(|row| !row.is_empty());
    let others = known().filter(|row| row.point.is_bound()).count();
    if others > 0 {
        let _ = writeln!(
            text,
            ">=: at {others} of {} points the router was not at its limit (limited by), and may forward more",
            rows.len()
        );
    }
    for row in rows.iter().filter(|row| row.is_empty()) {
        // Records of the first schema have nothing of overload.
        let why = if row.point.limited_by.is_some() {
            "not measured: too few undisturbed windows; run again when the machine is quieter"
        } else {
            "this record has no rate at overload"
        };
        let _ = writeln!(text, "{}: {why}", row.place());
    }
    text
}

/// The doubts: at how many points, and what was seen at the first of them.
pub fn scale_doubts(rows: &[ScaleRow<'_>], verbose: bool) -> String {
    let doubted = Doubted {
        subjects: (rows.iter())
            .map(|row| (row.place().into(), row.doubts()))
            .collect(),
        noun: "points",
        named_max: 1,
        said: Vec::new(),
    };
    doubted.lines(verbose)
}

fn row(row: &ScaleRow<'_>) -> Vec<String> {
    let dash = || "-".to_owned();
    let ns = row.router_ns();
    let mut cells = vec![
        row.point.series.clone(),
        row.subject().to_owned(),
        grouped(row.routes()),
        grouped(row.destinations()),
        ns.map_or_else(dash, |ns| format!("{:.0}", ns.median)),
        ns.map_or_else(dash, |ns| format!("{:.0} to {:.0}", ns.low, ns.high)),
        maximum(row).unwrap_or_else(dash),
        row.busy().map_or_else(dash, number::busy),
        row.limited_by().to_owned(),
    ];
    if let Some(result) = &row.result {
        cells.push(short_without_loss(result));
        let limit = result.limited_by.as_ref();
        cells.push(limit.map_or("-", LimitedBy::as_str).to_owned());
    }
    cells
}

/// `1.52M`; where the router was not at its limit, a bound.
fn maximum(row: &ScaleRow<'_>) -> Option<String> {
    let rates = row.point.max_forwarding_fps?;
    let (known, ..) = forwarding_range(rates);
    Some(if row.point.is_bound() {
        format!(">= {}", known.with(rates.low as f64).floor().short())
    } else {
        known.short()
    })
}

impl Outcome for Vec<PointLine> {
    fn document(&self, run: &Run, view: &View<'_>) -> Result<Value> {
        let scale = run.begin.as_ref().and_then(|run| run.plan.scale.as_ref());
        Ok(json!({
            "table": scale.map(|scale| &scale.table),
            "draw": scale.map(|scale| &scale.draw),
            "plot": view.plot,
            "points": self,
        }))
    }

    fn shown(&self, run: &Run, view: &View<'_>) -> String {
        let (begin, rows) = (run.begin.as_ref(), ScaleRow::each(self));
        let told = mpps_report::scale_sentence(self);
        let text = fib_scale(&rows, begin) + &scale_doubts(&rows, view.verbose);
        format!("{told}\n\n{text}{}", view.foot(begin))
    }

    /// A point that has nothing was disturbed.
    fn exit(&self, _: &Run) -> Exit {
        let exit = |row: &ScaleRow<'_>| {
            let reading = row.result.as_ref().map(Row::reading);
            match reading {
                _ if row.is_empty() => Exit::Undecided,
                None | Some(Reading::Is(_) | Reading::AtLeast(_) | Reading::Unconfirmed(_)) => {
                    Exit::Measured
                }
                Some(Reading::Below(_))
                    if row.result.as_ref().is_some_and(expectation::is_open) =>
                {
                    Exit::Undecided
                }
                Some(Reading::Below(_)) => Exit::NotMet,
                Some(Reading::Nothing) => Exit::Undecided,
            }
        };
        worst(ScaleRow::each(self).iter().map(exit))
    }

    /// Cost and rate against routes or destinations.
    fn plot(&self, run: &Run) -> Option<String> {
        let begin = run.begin.as_ref()?;
        let scale = begin.plan.scale.as_ref()?;
        let title = scale_title(file_name(&scale.table), scale, begin);
        let (rows, machine) = (ScaleRow::each(self), machine_line(begin));
        let bed = bed_line(&rows);
        let heading = [&title, &machine, &bed].map(String::as_str);
        (!rows.is_empty()).then(|| mpps_report::picture(self, run, &heading))
    }
}

/// A plot has no room for folders.
fn file_name(from: &str) -> &str {
    let name = Path::new(from).file_name();
    name.and_then(|name| name.to_str()).unwrap_or(from)
}

#[cfg(all(test, feature = "measure"))]
pub(crate) mod tests;
