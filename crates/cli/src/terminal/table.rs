//! The table of results: one row a frame size and goal, at most 80 columns wide.

use super::columns::names;
use super::{Row, columns};
use mpps_record::Interval;
use mpps_report::headline::{
    at_least_forwarded, forwarding_range, median, short_router_part, short_without_loss,
};
use mpps_report::number;

const COLUMNS: usize = 8;
/// Two lines of head; a column without a number in any row is left out.
const HEAD: [&str; 2] = [
    "frame;max forwarding;without;lossless;router;bed;;limited",
    "size;rate, frames/s;loss;trials;ns;ns;busy;by",
];
/// Columns that begin at the left.
const LEFT: [usize; 3] = [0, 1, COLUMNS - 1];

/// The table alone; nothing where nothing is known of any row.
pub fn table(rows: &[Row<'_>]) -> String {
    let mut lines = HEAD.map(names).to_vec();
    lines.extend(rows.iter().map(|row| cells(row).to_vec()));
    let known = |column: usize| lines[HEAD.len()..].iter().any(|row| row[column] != "-");
    let shown: Vec<usize> = (0..COLUMNS).filter(|&column| known(column)).collect();
    if shown.len() < 2 {
        return String::new();
    }
    let left: Vec<usize> = (0..shown.len())
        .filter(|&place| LEFT.contains(&shown[place]))
        .collect();
    let line = |line: &Vec<String>| -> Vec<String> {
        shown.iter().map(|&column| line[column].clone()).collect()
    };
    columns(lines.iter().map(line), &left)
}

fn cells(row: &Row<'_>) -> [String; COLUMNS] {
    let dash = || "-".to_owned();
    let maximum = row.overload.max_forwarding_fps;
    let cost = row.overload.cost.as_ref();
    let judged = row.judged_trials.filter(|&judged| judged > 0);
    [
        row.subject.clone(),
        maximum.map_or_else(dash, |rates| forwarded(row, rates)),
        short_without_loss(row),
        (row.lossless_trials.zip(judged))
            .map_or_else(dash, |(lossless, judged)| format!("{lossless} of {judged}")),
        cost.map_or_else(dash, |cost| short_router_part(row, cost)),
        cost.map_or_else(dash, |cost| median(&cost.bed_ns).plain()),
        row.busy_share().map_or_else(dash, number::busy),
        limited_by(row),
    ]
}

/// `1.52M (1.46-1.57)`; where the router was not seen to be the limit, a bound.
fn forwarded(row: &Row<'_>, rates: Interval<u64>) -> String {
    let (known, low, high) = forwarding_range(rates);
    if let Some(least) = at_least_forwarded(row) {
        return format!(">= {}", known.with(least as f64).floor().short());
    }
    if low == high {
        known.short()
    } else {
        format!("{} ({low}-{high})", known.short())
    }
}

/// What limits the forwarding rate; where that was not measured, what ended the search. And that it may be chance.
fn limited_by(row: &Row<'_>) -> String {
    let unstable = row.unstable.as_ref().map_or("", |_| ", unstable");
    format!("{}{unstable}", row.limit())
}

#[cfg(all(test, feature = "measure"))]
mod tests;
