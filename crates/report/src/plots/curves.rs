//! `mpps loss`: what the router forwards and loses at each load, and how busy it is.

use super::frames::rate_axis;
use crate::chart::{Axis, Chart, Kind, Point, STYLES, Series};
use crate::number;
use crate::scale::Scale;
use mpps_record::{CurveLine, CurvePoint, Measured};

const ZERO: Scale = Scale::Linear { from_zero: true };
const NOTE: &str = "Rates and losses are of the time outside disturbances. At a cross on the axis nothing could be \
    measured.";

/// Forwarding rate, loss and the router's busy share against the load really offered, a line each frame size.
#[must_use]
pub fn curves(curves: &[CurveLine]) -> [Option<Chart>; 3] {
    let busy = |at: &Measured| at.dut_busiest_cpu_share.map(|busy| busy.min(1.0));
    let forwarded = |at: &Measured| Some(at.forwarding_fps as f64);
    let loads = || curves.iter().flat_map(|curve| &curve.loads);
    let most = loads().map(offered).fold(0.0, f64::max);
    let all = [0.0, most].map(|fps| Point::new(fps, fps)).into();
    let mut rates = vec![Series::new("all offered", STYLES - 1, Kind::Rule, all)];
    rates.extend(series(curves, forwarded));
    let is_known = loads().any(|load| load.measured.as_ref().and_then(busy).is_some());
    let busy = if is_known {
        series(curves, busy)
    } else {
        Vec::new()
    };
    let share = |label| Axis::new(label, ZERO, number::percent);
    let losses = series(curves, |at| Some(at.loss_ratio));
    let rate = rate_axis("forwarded, frames/s", ZERO);
    [
        drawn("Forwarding rate by offered load", rate, rates),
        drawn("Loss by offered load", share("frames lost"), losses),
        drawn("Router busy by offered load", share("busiest CPU"), busy),
    ]
}

fn drawn(title: &str, y: Axis, series: Vec<Series>) -> Option<Chart> {
    let x = rate_axis("offered, frames/s", ZERO);
    Chart::new(title.to_owned(), NOTE, x, y, series)
}

/// A line each frame size.
fn series(curves: &[CurveLine], value: impl Fn(&Measured) -> Option<f64>) -> Vec<Series> {
    let points = |curve: &CurveLine| {
        let point = |load: &CurvePoint| {
            let point = match &load.measured {
                Some(at) => Point::new(offered(load), value(at)?),
                None => Point::unknown(offered(load)),
            };
            Some(point.told(words(curve, load)))
        };
        curve.loads.iter().rev().filter_map(point).collect()
    };
    let line = |(style, curve): (usize, &CurveLine)| {
        let name = number::frame(&curve.frame);
        Series::new(name, style, Kind::Joined, points(curve))
    };
    curves.iter().enumerate().map(line).collect()
}

/// The load really offered; where nothing was measured, the one to be offered.
fn offered(load: &CurvePoint) -> f64 {
    let measured = load.measured.as_ref();
    measured.map_or(load.load_fps, |at| at.offered_fps) as f64
}

fn words(curve: &CurveLine, load: &CurvePoint) -> String {
    let found = load.measured.as_ref().map(|at| {
        let busy = at.dut_busiest_cpu_share.map_or(String::new(), |busy| {
            format!(", DUT {} busy", number::percent(busy.min(1.0)))
        });
        format!(
            "{} frames/s forwarded, {} lost{busy}",
            number::grouped(at.forwarding_fps),
            number::percent(at.loss_ratio)
        )
    });
    format!(
        "{}, {}: {} frames/s offered, {}",
        number::frame(&curve.frame),
        number::percent(load.load_share),
        number::grouped(offered(load) as u64),
        found.unwrap_or_else(|| load.verdict_text.clone())
    )
}
