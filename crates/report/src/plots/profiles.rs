//! `mpps explain`: a frame's cost by stage, and its cost at each load beside the model's.

use crate::chart::{Axis, Chart, Kind, Point, STYLES, Series};
use crate::flame;
use crate::number;
use crate::profile::saturated;
use crate::scale::Scale;
use crate::stage::is_beds;
use mpps_record::{CostModel, PartCost, ProfileLine, ProfiledLoad};

const ZERO: Scale = Scale::Linear { from_zero: true };
/// Half of a bar's width.
const HALF: f64 = 0.3;

/// The cost at saturation: the router's stages on each other, and those of the bed.
#[must_use]
pub fn stages(line: &ProfileLine) -> Option<Chart> {
    let load = saturated(line)?;
    let (beds, own): (Vec<&PartCost>, Vec<_>) =
        load.stages.iter().partition(|at| is_beds(&at.part));
    let pile = |at: f64, parts: Vec<&PartCost>| {
        let mut base = 0.0;
        let mut bars: Vec<Series> = Vec::new();
        for PartCost { part, ns, .. } in parts {
            let top = base + ns.median.max(0.0);
            let point = Point::new(at, top).between(base + ns.low, base + ns.high);
            let bed = if is_beds(part) { " (bed)" } else { "" };
            let name = format!("{part}{bed}");
            let points = vec![point.barred(at - HALF, at + HALF, base)];
            let stage = load.stages.iter().position(|stage| stage.part == *part);
            // The flame graph's, so that a stage has one colour.
            let colour = flame::colour(stage.unwrap_or_default());
            bars.push(Series::new(name, 0, Kind::Bars, points).coloured(colour));
            base = top;
        }
        bars
    };
    let bars = pile(0.0, own).into_iter().chain(pile(1.0, beds));
    Chart::new(
        format!("{}: cost of a frame by stage", number::frame(&line.frame)),
        "All costs are at the highest load. Lines are 95 % intervals.",
        Axis::new(
            "whose stages",
            Scale::Names(vec!["the router's".to_owned(), "the bed's".to_owned()]),
            number::short,
        ),
        Axis::new("CPU time of a frame", ZERO, number::cost),
        bars.collect(),
    )
}

/// The cost at each load, and the one that the model fits.
#[must_use]
pub fn by_load(line: &ProfileLine) -> Option<Chart> {
    let mut loads: Vec<&ProfiledLoad> = line.loads.iter().collect();
    loads.sort_by(|one, other| {
        one.forwarding_fps
            .median
            .total_cmp(&other.forwarding_fps.median)
    });
    let measured = loads.iter().map(|load| {
        let ns = load.frame_ns;
        Point::new(load.forwarding_fps.median, ns.median).between(ns.low, ns.high)
    });
    let fitted = line.model.iter().flat_map(|model| {
        let point = |load: &&ProfiledLoad| {
            Some(Point::new(
                load.forwarding_fps.median,
                modelled(model, load)?,
            ))
        };
        loads.iter().filter_map(point)
    });
    Chart::new(
        format!("{}: cost of a frame by load", number::frame(&line.frame)),
        "The cost is busy time of the router's CPUs. Lines are 95 % intervals.",
        Axis::new("forwarded, frames/s", ZERO, number::short),
        Axis::new("CPU time of a frame", ZERO, number::cost),
        vec![
            Series::new("the model", STYLES - 1, Kind::Rule, fitted.collect()),
            Series::new("measured", 1, Kind::Marks, measured.collect()),
        ],
    )
}

/// The model's cost where wake-ups, and polls if it counts them, are known.
fn modelled(model: &CostModel, load: &ProfiledLoad) -> Option<f64> {
    let polls = match model.poll_ns {
        0.0 => 0.0,
        _ => load.polls_per_frame?,
    };
    Some(model.frame_ns + model.wake_up_ns * load.wake_ups_per_frame? + model.poll_ns * polls)
}
