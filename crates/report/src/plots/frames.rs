//! By frame size: rates beside line rate and the tester's ceiling, and the cost of a frame.

use crate::chart::{Axis, Chart, Kind, Point, Series};
use crate::number;
use crate::scale::Scale;
use crate::sentence::{is_bound, subject};
use mpps_record::{FrameCost, Interval, RateIs, ResultLine, Run};

/// Preamble, start and gap of a frame on Ethernet, octets (IEEE 802.3).
const AROUND: f64 = 20.0;

fn names(run: &Run) -> Axis {
    let goals = run
        .begin
        .as_ref()
        .and_then(|begin| begin.plan.search.as_ref());
    let goals = goals.map_or(0, |search| search.goals.len());
    let names = run.results.iter().map(|result| subject(result, goals));
    Axis {
        label: "frame size, FCS included",
        scale: Scale::Names(names.collect()),
        words: number::short,
    }
}

/// Rates by frame size.
#[must_use]
pub fn rates(run: &Run) -> Option<Chart> {
    let points = |value: &dyn Fn(&ResultLine) -> Option<Point>| -> Vec<Point> {
        let found = run.results.iter().enumerate();
        let found = found.filter_map(|(at, result)| {
            Some(Point {
                x: at as f64,
                ..value(result)?
            })
        });
        found.collect()
    };
    let maximum = points(&|result| {
        let found = result.overload.max_forwarding_fps?;
        let bound = is_bound(result);
        Some(Point {
            y: if bound { found.low } else { found.median } as f64,
            ends: (!bound).then_some((found.low as f64, found.high as f64)),
            bound,
            ..Point::default()
        })
    });
    let without_loss = points(&|result| {
        let bound = result.rate_is == Some(RateIs::AtLeast);
        let shown = result.rate_is != Some(RateIs::Below);
        let y = result.rate_fps.filter(|_| shown)? as f64;
        Some(Point {
            y,
            bound,
            ..Point::default()
        })
    });
    let ceiling = points(&|result| {
        let y = result.tester_ceiling_fps as f64;
        (y > 0.0).then(|| Point {
            y,
            ..Point::default()
        })
    });
    let (line_rate, name) = line_rate(run);
    let series = [
        ("the tester's ceiling", 3, Kind::Joined, ceiling),
        (name, 4, Kind::Joined, line_rate),
        ("maximum forwarding rate", 1, Kind::Joined, maximum),
        ("highest load without loss", 0, Kind::Joined, without_loss),
    ];
    let series: Vec<Series> = series
        .into_iter()
        .filter(|(.., points)| !points.is_empty())
        .map(|(name, style, kind, points)| Series {
            name: name.to_owned(),
            style,
            kind,
            points,
        })
        .collect();
    let values = series.iter().flat_map(|series| series.points.iter());
    let scale = Scale::fitting(values.map(|point| point.y));
    Chart {
        title: "Rate by frame size".to_owned(),
        note: "Bars are 95 % intervals. A hollow mark is a bound from below.".to_owned(),
        x: names(run),
        y: rate_axis("frames/s", scale),
        series,
    }
    .drawable()
}

/// An axis of rates.
pub const fn rate_axis(label: &'static str, scale: Scale) -> Axis {
    Axis {
        label,
        scale,
        words: number::short,
    }
}

/// Line rate by frame size, and its name: nobody may have said how fast the link is.
fn line_rate(run: &Run) -> (Vec<Point>, &'static str) {
    let search = run.begin.as_ref().and_then(|begin| {
        let ways = if begin.plan.traffic.bidirectional {
            2.0
        } else {
            1.0
        };
        Some((ways, begin.plan.search.as_ref()?))
    });
    let Some((ways, search)) = search else {
        return (Vec::new(), "");
    };
    let name = if search.link_source == "notional" {
        "line rate of a notional link"
    } else {
        "line rate"
    };
    let bits = search.link_bits_per_s as f64 * ways;
    let points = run.results.iter().enumerate().map(|(at, result)| Point {
        x: at as f64,
        y: bits / ((result.frame_mean_octets + AROUND) * 8.0),
        ..Point::default()
    });
    (points.collect(), name)
}

/// The cost of a frame: the bed's part below, the router's above.
#[must_use]
pub fn cost(run: &Run) -> Option<Chart> {
    // A single bar is not to fill the field.
    let half = (0.08 * run.results.len() as f64).min(0.3);
    let parts = |name: &str, style, part: fn(&FrameCost) -> (&Interval<f64>, f64)| {
        let found = run.results.iter().enumerate().filter_map(|(at, result)| {
            let (interval, base) = part(result.overload.cost.as_ref()?);
            let at = at as f64;
            Some(Point {
                x: at,
                y: base + interval.median.max(0.0),
                ends: Some((base + interval.low, base + interval.high)),
                bar: Some((at - half, at + half, base)),
                ..Point::default()
            })
        });
        Series {
            name: name.to_owned(),
            style,
            kind: Kind::Bars,
            points: found.collect(),
        }
    };
    Chart {
        title: "Cost of a frame at overload".to_owned(),
        note: "The bed is the virtual NIC and the receiver. Lines are 95 % intervals.".to_owned(),
        x: names(run),
        y: Axis {
            label: "CPU time for a frame",
            scale: Scale::Linear { from_zero: true },
            words: number::cost,
        },
        series: vec![
            parts("bed", 4, |cost| (&cost.bed_ns, 0.0)),
            parts("router", 1, |cost| (&cost.router_ns, cost.bed_ns.median)),
        ],
    }
    .drawable()
}
