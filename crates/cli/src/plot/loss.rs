//! A plot of `mpps loss`: above what the router forwards, below what it loses, both against the load really offered;
//! each frame size a line.

use super::panel::{Counts, HEIGHT, Kind, Line, Mark, Panel, Shape};
use super::{TOP, page, small, symbols};
use crate::terminal::{grouped, loss_title};
use mpps_record::{CurveLine, CurvePoint, Measured};
use mpps_report::number::percent_or_under as percent;

/// Okabe and Ito's palette; shapes begin anew with each.
const COLOURS: [&str; 5] = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#000000"];
const SHAPES: [Shape; 3] = [Shape::Circle, Shape::Square, Shape::Diamond];

/// The plot; `machine` says where and when.
#[must_use]
pub fn loss_svg(curves: &[CurveLine], machine: &str) -> String {
    let loads = || curves.iter().flat_map(|curve| &curve.loads);
    let counts = Counts {
        most: loads().map(load).max().unwrap_or(1).max(1),
        name: "offered, frames/s",
        decades: false,
    };
    let panel = |top: f64, unit, of: fn(&Measured) -> f64| Panel {
        top,
        unit,
        lines: curves
            .iter()
            .enumerate()
            .map(|(at, curve)| line(at, curve, of))
            .collect(),
        counts,
    };
    let rates = panel(TOP, "forwarded, frames/s", |at| at.forwarding_fps as f64);
    let losses = panel(TOP + HEIGHT, "lost, %", |at| 100.0 * at.loss_ratio);
    let title = curves.first().map_or(String::new(), loss_title);
    let unknown = loads().any(|load| load.measured.is_none());
    let note = if unknown { "cross: not measured" } else { "" };
    let head = small(38.0, machine) + &symbols(&rates.lines, 95.0) + &small(98.0, note);
    page(&title, &head, &[rates, losses])
}

/// The load really offered; where nothing was measured, the one to be offered.
fn load(point: &CurvePoint) -> u64 {
    point
        .measured
        .as_ref()
        .map_or(point.load_fps, |at| at.offered_fps)
}

fn line(at: usize, curve: &CurveLine, of: fn(&Measured) -> f64) -> Line {
    let mark = |point: &CurvePoint| Mark {
        count: load(point),
        value: point.measured.as_ref().map_or(0.0, of),
        ends: None,
        kind: point.measured.as_ref().map_or(Kind::Nothing, |_| Kind::Is),
        words: format!(
            "{}, {}: {} frames/s offered, {}",
            curve.frame,
            percent(point.load_share),
            grouped(load(point)),
            point
                .measured
                .as_ref()
                .map_or(point.verdict_text.clone(), |at| {
                    let (forwarded, loss) = (grouped(at.forwarding_fps), percent(at.loss_ratio));
                    format!("{forwarded} forwarded, {loss} lost")
                })
        ),
    };
    Line {
        name: curve.frame.clone(),
        colour: COLOURS[at % COLOURS.len()],
        shape: SHAPES[at % SHAPES.len()],
        marks: curve.loads.iter().rev().map(mark).collect(),
    }
}
