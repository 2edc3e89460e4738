//! By frame size: rates beside line rate and the tester's ceiling, and the cost of a frame.

use crate::chart::{Axis, Chart, Kind, Point, Series};
use crate::interval::{interval_name, rounds_of};
use crate::number::{self, Known};
use crate::row::{Reading, Row};
use crate::scale::Scale;
use crate::sentence::is_bound;
use mpps_record::{FrameCost, Interval, LimitedBy, ResultLine, Run};

/// Preamble, start and gap of a frame on Ethernet, octets (IEEE 802.3).
const AROUND: f64 = 20.0;

fn names(run: &Run) -> Axis {
    let names = Row::each(&run.results).into_iter().map(|row| row.name);
    Axis::new(
        "frame size, FCS included",
        Scale::Names(names.collect()),
        number::short,
    )
}

/// An axis of rates.
pub fn rate_axis(label: &str, scale: Scale) -> Axis {
    Axis::new(label, scale, number::short)
}

/// Rates by frame size.
#[must_use]
pub fn rates(run: &Run) -> Option<Chart> {
    let line = line_rate(run);
    let (drawn, told) = match line.is_drawn {
        true => (line.points, String::new()),
        false => (Vec::new(), line.told()),
    };
    let series = vec![
        joined("the tester's ceiling", 3, run, |at, result| {
            let ceiling = result.tester_ceiling_fps as f64;
            (ceiling > 0.0).then(|| Point::new(at, ceiling))
        }),
        Series::new(line.name, 4, Kind::Joined, drawn),
        joined("maximum forwarding rate", 1, run, |at, result| {
            let found = result.overload.max_forwarding_fps?;
            let (low, high) = (found.low as f64, found.high as f64);
            Some(if is_bound(result) {
                Point::new(at, low).bounding(true)
            } else {
                Point::new(at, found.median as f64).between(low, high)
            })
        }),
        joined("highest load without loss", 0, run, |at, result| {
            let (rate, is_open) = match Reading::from_line(result) {
                Reading::Is(rate) => (rate, false),
                Reading::AtLeast(rate) | Reading::Unconfirmed(rate) => (rate, true),
                Reading::Below(_) | Reading::Nothing => return None,
            };
            Some(Point::new(at, rate as f64).bounding(is_open))
        }),
    ];
    let scale = Scale::fitting(series.iter().flat_map(Series::points).map(Point::y));
    Chart::new(
        "Rate by frame size".to_owned(),
        format!(
            "Bars: {}. A hollow mark is a bound from below, or a rate that is not confirmed.{told}",
            interval_name(rounds_of(run))
        ),
        names(run),
        rate_axis("frames/s", scale),
        series,
    )
}

fn joined(
    name: &str,
    style: usize,
    run: &Run,
    point: fn(f64, &ResultLine) -> Option<Point>,
) -> Series {
    let points = run.results.iter().enumerate();
    let points = points.filter_map(|(at, result)| point(at as f64, result));
    Series::new(name, style, Kind::Joined, points.collect())
}

/// Line rate by frame size.
#[derive(Default)]
struct LineRate {
    name: String,
    points: Vec<Point>,
    /// That of a notional link would stretch the axis, so it is drawn only if it was a limit.
    is_drawn: bool,
}

impl LineRate {
    /// A sentence in place of its line.
    fn told(&self) -> String {
        let fps = self.points.iter().map(Point::y);
        let [low, high] = [
            fps.clone().fold(f64::MAX, f64::min),
            fps.fold(0.0, f64::max),
        ];
        let [low, high] = [low, high].map(|fps| Known::three(fps).short());
        let ends = match low == high {
            true => low,
            false => format!("{low} to {high}"),
        };
        match self.points.is_empty() {
            true => String::new(),
            false => format!(" Not drawn: {}, {ends} frames/s.", self.name),
        }
    }
}

fn line_rate(run: &Run) -> LineRate {
    let plan = run.begin.as_ref().map(|begin| &begin.plan);
    let Some((plan, search)) = plan.and_then(|plan| Some((plan, plan.search.as_ref()?))) else {
        return LineRate::default();
    };
    let is_limit = |result: &ResultLine| result.limited_by == Some(LimitedBy::Link);
    let is_notional = search.link_source == "notional";
    let ways = if plan.traffic.bidirectional { 2.0 } else { 1.0 };
    let bits = search.link_bits_per_s as f64;
    let points = run.results.iter().enumerate().map(|(at, result)| {
        let on_wire = (result.frame_mean_octets + AROUND) * 8.0;
        Point::new(at as f64, bits * ways / on_wire)
    });
    let of = if is_notional { " (notional)" } else { "" };
    LineRate {
        name: format!("line rate of {} Gbit/s{of}", bits / 1e9),
        points: points.collect(),
        is_drawn: !is_notional || run.results.iter().any(is_limit),
    }
}

/// The cost of a frame: the bed's part below, the router's above.
#[must_use]
pub fn cost(run: &Run) -> Option<Chart> {
    // A single bar is not to fill the field.
    let half = (0.08 * run.results.len() as f64).min(0.3);
    let part = |name: &str, style, part: fn(&FrameCost) -> (&Interval<f64>, f64)| {
        let found = run.results.iter().enumerate().filter_map(|(at, result)| {
            let (interval, base) = part(result.overload.cost.as_ref()?);
            let at = at as f64;
            let point = Point::new(at, base + interval.median.max(0.0));
            let point = point.between(base + interval.low, base + interval.high);
            Some(point.barred(at - half, at + half, base))
        });
        Series::new(name, style, Kind::Bars, found.collect())
    };
    let zero = Scale::Linear { from_zero: true };
    Chart::new(
        "Cost of a frame at overload".to_owned(),
        format!(
            "The bed is the virtual NIC and the receiver. Lines: {}.",
            interval_name(rounds_of(run))
        ),
        names(run),
        Axis::new("CPU time for a frame", zero, number::cost),
        vec![
            part("bed", 4, |cost| (&cost.bed_ns, 0.0)),
            part("router", 1, |cost| (&cost.router_ns, cost.bed_ns.median)),
        ],
    )
}
