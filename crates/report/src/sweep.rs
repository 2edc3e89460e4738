//! Sweeps of `mpps explain --sweep`: in a sentence, as a table, and as a part of a page.

use crate::number;
use crate::published;
use maud::{Markup, html};
use mpps_record::{SweepLine, SweepPoint};

/// A table of the points.
pub const COLUMNS: &[&str] = &[
    "axis",
    "place",
    "frame",
    "ns a frame",
    "95 % interval",
    "predicted",
    "its interval",
    "off",
    "role",
    "forwarded /s",
];

/// The points along the axis; the first one's repetition is left aside.
#[must_use]
pub fn along(line: &SweepLine) -> Vec<&SweepPoint> {
    let mut points: Vec<&SweepPoint> = Vec::new();
    for point in &line.points {
        let is_there =
            |known: &&SweepPoint| (known.value, &known.frame) == (point.value, &point.frame);
        if line.is_paper() || !points.iter().any(is_there) {
            points.push(point);
        }
    }
    if !line.is_paper() {
        points.sort_by(|one, other| one.value.total_cmp(&other.value));
    }
    points
}

/// The axis as a noun: `frame sizes`.
#[must_use]
pub fn noun(line: &SweepLine) -> &str {
    match line.axis.as_str() {
        "frame" => "frame sizes",
        axis => axis,
    }
}

/// What a point is to the fit.
#[must_use]
pub const fn role(point: &SweepPoint) -> &'static str {
    match (point.held_out, point.predicted_ns) {
        (true, _) => "held out",
        (false, Some(_)) => "fitted",
        (false, None) => "measured",
    }
}

/// `destinations 1 to 1 000 000: a frame costs 602 to 811 ns; points that were held out are predicted within 4.1 %`.
#[must_use]
pub fn sentence(line: &SweepLine) -> String {
    let points = along(line);
    let costs = || points.iter().map(|point| point.load.frame_ns.median);
    let (low, high) = (
        costs().fold(f64::MAX, f64::min),
        costs().fold(0.0, f64::max),
    );
    let (Some(first), Some(last)) = (points.first(), points.last()) else {
        let why = line.why.as_deref().unwrap_or("nothing was measured");
        return format!("{}: no point: {why}", line.axis);
    };
    if line.is_paper() {
        let scenarios = number::plural(points.len(), "published scenario");
        return format!("{scenarios}: a frame costs {low:.0} to {high:.0} ns");
    }
    let ends = [first, last].map(|point| number::spaced(point.value as u64));
    let held = points.iter().filter(|point| point.held_out).count();
    let fit = line.fit.as_ref().and_then(|fit| fit.held_out_error_ratio);
    let told = match (fit, &line.no_fit) {
        (Some(off), _) => format!(
            "; the fit predicts {} that it had not seen within {} in the median",
            number::plural(held, "point"),
            number::percent(off)
        ),
        (None, Some(why)) => format!("; no fit: {why}"),
        (None, None) => String::new(),
    };
    let doubted = if line.distrust.is_empty() {
        ""
    } else {
        " (do not trust it)"
    };
    format!(
        "{}, {} to {}: a frame costs {low:.0} to {high:.0} ns{told}{doubted}",
        noun(line),
        ends[0],
        ends[1]
    )
}

/// A row for each point, in the order in which they were measured.
pub fn rows(line: &SweepLine) -> Vec<Vec<String>> {
    let dash = || "-".to_owned();
    let row = |point: &SweepPoint| {
        let (load, predicted) = (&point.load, point.predicted_ns);
        vec![
            line.axis.clone(),
            number::spaced(point.value as u64),
            number::frame(&point.frame),
            format!("{:.0}", load.frame_ns.median),
            format!("{:.0} to {:.0}", load.frame_ns.low, load.frame_ns.high),
            predicted.map_or_else(dash, |ns| format!("{:.0}", ns.median)),
            predicted.map_or_else(dash, |ns| format!("{:.0} to {:.0}", ns.low, ns.high)),
            point
                .error_ratio
                .map_or_else(dash, |off| format!("{:+.1} %", off * 100.0)),
            role(point).to_owned(),
            number::rate(load.forwarding_fps.median),
        ]
    };
    line.points.iter().map(row).collect()
}

/// What speaks against the fit, and of the published scenarios the tables.
#[must_use]
pub fn section(line: &SweepLine) -> Markup {
    html! {
        @for told in &line.distrust { p.note { "Do not trust this fit: " (told) "." } }
        @for table in published::paper_tables(line) {
            h4 { (table.title) }
            div.wide { table {
                thead { tr { @for cell in &table.head { th { (cell) } } } }
                tbody { @for row in &table.rows { tr { @for cell in row { td { (cell) } } } } }
            } }
            p.note { (table.note) }
        }
    }
}
