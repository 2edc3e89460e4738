//! The points of `mpps fib-scale`: a row each for the cost and for the rate, and under them what nobody should overlook.

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
use mpps_record::{Interval, LimitedBy, PointLine, Run, RunLine};
use mpps_report::headline::forwarding_range;
use mpps_report::headline::short_without_loss;
use mpps_report::interval::{interval_name, rounds_of_points};
use mpps_report::number;
use mpps_report::sentence::at_loads;
use serde_json::{Value, json};
use std::fmt::Write;
use std::path::Path;

/// All rows, under a title that says what they were measured with.
pub fn fib_scale(rows: &[ScaleRow<'_>], run: Option<&RunLine>) -> String {
    let mut text = run.map_or(String::new(), |run| format!("{}\n", machine_line(run)));
    if let Some((scale, run)) = run.and_then(|run| Some((run.plan.scale.as_ref()?, run))) {
        text.insert_str(0, &format!("{}\n", scale_title(&scale.table, scale, run)));
    }
    text += &costs(rows);
    text.push_str("\nThe maximum forwarding rate\n");
    let search = run.and_then(|run| run.plan.search.as_ref());
    if let Some(search) = search {
        let _ = writeln!(
            text,
            "Without loss: {}, found to {}",
            search.pass_rule.as_deref().unwrap_or("unknown"),
            closeness(search)
        );
    }
    let mut head = "series;frame;routes;destinations;max frames/s;busy;limited by".to_owned();
    if search.is_some() || rows.iter().any(|row| row.result.is_some()) {
        head += ";without loss;limited by";
    }
    let cells = std::iter::once(names(&head)).chain(rows.iter().map(row));
    let remarks = remarks(rows);
    let gap = if remarks.is_empty() { "" } else { "\n" };
    text + &format!("{}{gap}{remarks}", columns(cells, &[0, 1]))
}

/// What a frame costs at each point, in 80 columns where all points have one frame size.
fn costs(rows: &[ScaleRow<'_>]) -> String {
    let points = rows.chunk_by(|one, other| std::ptr::eq(one.point, other.point));
    let points: Vec<&ScaleRow<'_>> = points.filter_map(<[_]>::first).collect();
    let all = || points.iter().map(|row| row.point);
    let pairs = all().filter_map(|point| Some(point.at_load.as_ref()?.pairs as usize));
    let interval = interval_name(rounds_of_points(all()).chain(pairs));
    let mut text = format!("The cost of a frame for the router, ns ({interval})\n");
    let loads = at_loads(all());
    if !loads.is_empty() {
        let _ = writeln!(text, "At one load: {loads}, the same for all points.");
    }
    let bed = bed_line(rows);
    if !bed.is_empty() {
        let _ = writeln!(text, "{bed}");
    }
    let first = all().next().map(|point| &point.frame);
    let is_one = all().all(|point| Some(&point.frame) == first);
    let shown = |mut cells: Vec<String>| {
        cells.truncate(if loads.is_empty() { 5 } else { 6 });
        if is_one {
            cells.remove(1);
        }
        cells
    };
    let cells = points.iter().map(|row| {
        let mut cells = place(row, row.point.frame.as_deref().unwrap_or("-"));
        cells.push(between(row.router_ns()));
        cells.push(between(row.point.cost_at_load().map(|cost| cost.router_ns)));
        cells
    });
    let head = names("series;frame;routes;destinations;at overload;at one load");
    let cells = std::iter::once(head).chain(cells).map(shown);
    text + &columns(cells, if is_one { &[0] } else { &[0, 1] })
}

/// `972 (938 to 1008)`.
fn between(ns: Option<Interval<f64>>) -> String {
    let words = |ns: Interval<f64>| format!("{:.0} ({:.0} to {:.0})", ns.median, ns.low, ns.high);
    ns.map_or_else(|| "-".to_owned(), words)
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
    for row in rows {
        let at_load = row.point.at_load.as_ref();
        if let Some(why) = at_load.and_then(|at| at.why.as_ref()) {
            let _ = writeln!(text, "{}: no cost at one load: {why}", row.place());
        }
    }
    text
}

/// The doubts: at how many points, and what was seen at the first of them.
pub fn scale_doubts(rows: &[ScaleRow<'_>], verbose: bool) -> String {
    let doubts: Vec<_> = rows.iter().map(ScaleRow::doubts).collect();
    let doubted = Doubted {
        subjects: (rows.iter().zip(&doubts))
            .map(|(row, doubts)| (row.place().into(), &doubts[..]))
            .collect(),
        noun: "points",
        named_max: 1,
        said: Vec::new(),
    };
    doubted.lines(verbose)
}

/// Where a row is: its first four cells.
fn place(row: &ScaleRow<'_>, subject: &str) -> Vec<String> {
    vec![
        row.point.series.clone(),
        subject.to_owned(),
        grouped(row.routes()),
        grouped(row.destinations()),
    ]
}

fn row(row: &ScaleRow<'_>) -> Vec<String> {
    let dash = || "-".to_owned();
    let mut cells = place(row, row.subject());
    cells.extend([
        maximum(row).unwrap_or_else(dash),
        row.busy().map_or_else(dash, number::busy),
        row.limited_by().to_owned(),
    ]);
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
        let told = mpps_report::scale_sentences(self).join("\n");
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
