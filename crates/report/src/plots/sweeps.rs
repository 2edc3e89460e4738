//! `mpps explain --sweep`: the cost at each point, the fit, and the points that it was checked by.

use crate::chart::{Axis, Chart, Kind, Point, STYLES, Series};
use crate::number;
use crate::scale::Scale;
use crate::sweep::{noun, role};
use mpps_record::{SweepLine, SweepPoint};

/// `None` where there is nothing to draw, or nothing along an axis.
#[must_use]
pub fn sweep(line: &SweepLine) -> Option<Chart> {
    let points = line.along();
    if line.is_paper() {
        return None;
    }
    let marked = |wanted: &str, name: &str, style| {
        let found = points.iter().filter(|point| role(point) == wanted);
        let found = found.map(|point| {
            let ns = point.load.frame_ns;
            Point::new(point.value, ns.median).between(ns.low, ns.high)
        });
        Series::new(name, style, Kind::Marks, found.collect())
    };
    let fit = points.iter().filter_map(|point: &&SweepPoint| {
        let ns = point.prediction()?;
        Some(Point::new(point.value, ns.median).between(ns.low, ns.high))
    });
    let x = Scale::fitting(points.iter().map(|point| point.value));
    Chart::new(
        format!("Cost of a frame over {}", noun(line)),
        "All costs are at the highest load. Lines are 95 % intervals. Points that were held out were not fitted.",
        Axis::new("place on the axis", x, number::short),
        Axis::new(
            "CPU time of a frame",
            Scale::Linear { from_zero: true },
            number::cost,
        ),
        vec![
            Series::new("the fit", STYLES - 1, Kind::Rule, fit.collect()),
            marked("fitted", "fitted", 1),
            marked("held out", "held out", 0),
            marked("measured", "measured", 2),
        ],
    )
}
