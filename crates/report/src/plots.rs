//! The plots of a run. Each is `None` where the record has nothing to draw.

mod bursts;
mod comparisons;
mod curves;
mod effects;
mod frames;
mod latency;
mod overloads;
mod points;
mod profiles;
mod sweeps;
mod trials;

pub use bursts::{bursts, recoveries, resets};
pub use comparisons::comparisons;
pub use curves::curves;
pub use effects::effects;
pub use frames::{cost, rate_axis, rates};
pub use latency::{latencies, latency, latency_histogram};
pub use overloads::overloads;
pub use points::{destinations, routes, scale_cost, scale_rate};
pub use profiles::{by_load, stages};
pub use sweeps::sweep;
pub use trials::{forwarding, loss, search};

use crate::chart::picture;
use mpps_record::{CurveLine, EffectsLine, OverloadLine, PointLine};

/// Curves of `mpps loss` as an SVG that needs nothing beside it. The first line of `heading` is its title.
#[must_use]
pub fn loss_picture(curves: &[CurveLine], heading: &[&str]) -> String {
    picture(heading, self::curves(curves))
}

/// Lasting overloads of `mpps loss --overload` as such an SVG.
#[must_use]
pub fn overload_picture(lines: &[OverloadLine], heading: &[&str]) -> String {
    picture(heading, overloads(lines))
}

/// Effects of `mpps tune measure` as such an SVG.
#[must_use]
pub fn effects_picture(lines: &[EffectsLine], heading: &[&str]) -> String {
    picture(heading, lines.iter().map(effects))
}

/// Points of `mpps fib-scale` as such an SVG.
#[must_use]
pub fn scale_picture(points: &[PointLine], heading: &[&str]) -> String {
    picture(heading, [scale_cost(points), scale_rate(points)])
}
