//! The table of results: one row a frame size and goal, at most 80 columns wide.

use super::headline::{middle, passed};
use crate::figures::{Figures, ForwardingLimit, Reading};
use mpps_method::LimitedBy;
use mpps_method::saturation::{FrameCost, Interval};
use std::fmt::Write;

const COLUMNS: usize = 8;
/// Two lines of head; a column without a number in any row is left out.
const HEAD: [[&str; COLUMNS]; 2] = [
    [
        "frame",
        "max forwarding",
        "without",
        "lossless",
        "router",
        "bed",
        "",
        "limited",
    ],
    [
        "size",
        "rate, frames/s",
        "loss",
        "trials",
        "ns",
        "ns",
        "busy",
        "by",
    ],
];
/// Columns that begin at the left.
const LEFT: [usize; 3] = [0, 1, COLUMNS - 1];

/// The table alone.
#[must_use]
pub fn table(rows: &[Figures]) -> String {
    let mut lines: Vec<[String; COLUMNS]> = HEAD.map(|line| line.map(str::to_owned)).to_vec();
    lines.extend(rows.iter().map(cells));
    let known = |column: usize| lines[HEAD.len()..].iter().any(|row| row[column] != "-");
    let shown: Vec<usize> = (0..COLUMNS).filter(|&column| known(column)).collect();
    let width = |column: usize| {
        let widths = lines.iter().map(|row| row[column].chars().count());
        widths.max().unwrap_or(0)
    };
    let mut text = String::new();
    for row in &lines {
        let mut line = String::new();
        for &column in &shown {
            let (cell, width) = (&row[column], width(column));
            let gap = if line.is_empty() { "" } else { "  " };
            let _ = if LEFT.contains(&column) {
                write!(line, "{gap}{cell:<width$}")
            } else {
                write!(line, "{gap}{cell:>width$}")
            };
        }
        let _ = writeln!(text, "{}", line.trim_end());
    }
    text
}

fn cells(row: &Figures) -> [String; COLUMNS] {
    let dash = || "-".to_owned();
    let maximum = row.saturated.maximum();
    let cost = |part: fn(&FrameCost) -> &Interval| {
        let cost = row.saturated.cost.as_ref();
        cost.map_or_else(dash, |cost| middle(part(cost)).plain())
    };
    let busy = match maximum {
        Some(found) => found.busy,
        None => row.busy_share,
    };
    let passes = row.passes;
    [
        row.subject.clone(),
        maximum.map_or_else(dash, |found| forwarded(row, &found.forwarding)),
        without_loss(row),
        if passes.judged > 0 {
            format!("{} of {}", passes.lossless, passes.judged)
        } else {
            dash()
        },
        cost(|cost| &cost.router_ns),
        cost(|cost| &cost.bed_ns),
        busy.map_or_else(dash, |busy| format!("{:.0} %", busy.min(1.0) * 100.0)),
        limited_by(row),
    ]
}

/// `1.52M (1.46-1.57)`; where the router was not seen to be the limit, a bound.
fn forwarded(row: &Figures, interval: &Interval) -> String {
    let known = middle(interval);
    let other = [ForwardingLimit::Tester, ForwardingLimit::Unknown].map(Some);
    if other.contains(&row.forwarding_limit) {
        return format!(">= {}", known.with(interval.low).floor().short());
    }
    let (low, high) = (known.with(interval.low), known.with(interval.high));
    let (low, high) = (low.beside(known), high.beside(known));
    if low == high {
        known.short()
    } else {
        format!("{} ({low}-{high})", known.short())
    }
}

fn without_loss(row: &Figures) -> String {
    match row.reading {
        Reading::Is(rate) => passed(row, rate).short(),
        Reading::AtLeast(rate) => format!(">= {}", passed(row, rate).short()),
        Reading::Below(rate) => format!("< {}", passed(row, rate).short()),
        Reading::Nothing => "-".to_owned(),
    }
}

/// What limits the forwarding rate; where that was not measured, what ended the search. And that it may be chance.
fn limited_by(row: &Figures) -> String {
    let search = row.limited_by.map(LimitedBy::name);
    let limit = row.forwarding_limit.map(ForwardingLimit::name).or(search);
    let unstable = row.unstable.map_or("", |_| ", unstable");
    format!("{}{unstable}", limit.unwrap_or("-"))
}

#[cfg(test)]
mod tests;
