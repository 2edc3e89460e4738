//! The points of `mpps fib-scale`: a row each, and under them what nobody should overlook.

use super::{closeness, fib::columns, grouped, rule};
use crate::figures::{Figures, Limit, Reading};
use mpps_lab::doubt::{Doubt, Finding};
use mpps_lab::jobs::fib_scale::{Point, Prepared};
use mpps_lab::jobs::throughput::ThroughputPlan;
use mpps_method::Outcome;
use mpps_method::claim::FINAL_TRIAL;
use std::fmt::Write;

/// One row: a point and a frame size.
#[derive(Clone, Debug)]
pub struct ScaleRow {
    /// As asked for.
    pub point: Point,
    /// Routes counted in the DUT's FIB.
    pub routes: u64,
    /// Different destinations, as drawn.
    pub destinations: u64,
    /// How they were drawn; `None`: there is one, the tester's own address.
    pub draw: Option<String>,
    /// What was measured; `None` where nothing could be.
    pub figures: Option<Figures>,
    /// Why nothing could be.
    pub why: Option<String>,
    /// What to doubt.
    pub doubts: Vec<Doubt>,
}

impl ScaleRow {
    /// What was measured at a point, or why nothing could be.
    #[must_use]
    pub fn of(prepared: &Prepared, measured: Result<(Figures, &Finding), &str>) -> Self {
        let drawn = prepared.plan.traffic.destinations.as_ref();
        let row = Self {
            point: prepared.point,
            routes: prepared.routes(),
            destinations: prepared.destinations(),
            draw: drawn.map(|destinations| destinations.draw.to_string()),
            figures: None,
            why: None,
            doubts: Vec::new(),
        };
        match measured {
            Ok((figures, finding)) => Self {
                why: match &finding.outcome {
                    Outcome::CouldNotMeasure { why, .. } => Some(why.to_string()),
                    _ => None,
                },
                doubts: finding.doubts.clone(),
                figures: Some(figures),
                ..row
            },
            Err(why) => Self {
                why: Some(why.to_owned()),
                ..row
            },
        }
    }

    /// What the rate says of the DUT.
    #[must_use]
    pub fn reading(&self) -> Reading {
        let figures = self.figures.as_ref();
        figures.map_or(Reading::Nothing, |figures| figures.reading)
    }

    /// The rate in words: `1 250 000`, `>= 443 116`.
    #[must_use]
    pub fn rate(&self) -> String {
        let fps = |fps: f64| grouped(fps.round() as u64);
        match self.reading() {
            Reading::Is(rate) => fps(rate.fps()),
            Reading::AtLeast(rate) => format!(">= {}", fps(rate.fps())),
            Reading::Below(rate) => format!("< {}", fps(rate.fps())),
            Reading::Nothing => "could not measure".to_owned(),
        }
    }

    /// What limits the rate.
    #[must_use]
    pub fn limited_by(&self) -> &'static str {
        let limit = self.figures.as_ref().and_then(|figures| figures.limited_by);
        limit.map_or("-", Limit::name)
    }

    /// The point, where a line is about it: `1 000 routes, 256 destinations`.
    #[must_use]
    pub fn place(&self) -> String {
        let many = |count| if count == 1 { "" } else { "s" };
        format!(
            "{} route{}, {} destination{}",
            grouped(self.routes),
            many(self.routes),
            grouped(self.destinations),
            many(self.destinations)
        )
    }
}

/// What all points have in common, in one line.
#[must_use]
pub fn scale_title(from: &str, draw: &str, plan: &ThroughputPlan) -> String {
    let family = if plan.traffic.ipv6 { "IPv6" } else { "IPv4" };
    let seed = plan.traffic.seed;
    format!("{family} routes of {from}, destinations drawn {draw}, seed {seed}")
}

/// All rows, under a title that says what they were measured with.
#[must_use]
pub fn fib_scale(rows: &[ScaleRow], from: &str, draw: &str, plan: &ThroughputPlan) -> String {
    let mut text = format!(
        "{}\n{} ({}, found to {})\n\n",
        scale_title(from, draw, plan),
        label(rows),
        rule(&plan.search),
        closeness(&plan.search)
    );
    let head = [
        "series",
        "frame size",
        "draw",
        "routes",
        "destinations",
        "frames/s",
        "DUT busy %",
        "ns per frame",
        "limited by",
    ];
    let mut cells = vec![head.map(str::to_owned).to_vec()];
    cells.extend(rows.iter().map(row));
    text += &columns(&cells, 3);
    text.push('\n');
    text += &remarks(rows);
    text
}

/// `Throughput` only where every row may be called that.
fn label(rows: &[ScaleRow]) -> String {
    let labels = || {
        rows.iter()
            .filter_map(|row| row.figures.as_ref())
            .filter_map(|figures| figures.label)
    };
    match labels().next() {
        Some(first) if labels().all(|label| label == first) => match first {
            "Estimate" => format!("Estimates; a Throughput needs {FINAL_TRIAL}"),
            first => first.to_owned(),
        },
        _ => "Rates".to_owned(),
    }
}

/// What a reader of the rows must not overlook.
fn remarks(rows: &[ScaleRow]) -> String {
    let mut text = String::new();
    if rows.iter().any(|row| row.point.routes == 0) {
        text.push_str("0 routes: one destination, the tester's own address\n");
    }
    let fewer = |row: &ScaleRow| row.routes > 0 && row.destinations < row.point.destinations;
    if rows.iter().any(fewer) {
        text.push_str("fewer destinations than asked for: those routes have no more addresses\n");
    }
    let bounds = rows
        .iter()
        .filter(|row| matches!(row.reading(), Reading::AtLeast(_)))
        .count();
    if bounds > 0 {
        let _ = writeln!(
            text,
            ">=: at {bounds} of {} points something else ended before the DUT (limited by): such rates do not rank, \
             ns per frame does",
            rows.len()
        );
    }
    for row in rows {
        if let Some(why) = &row.why {
            let _ = writeln!(text, "{}: could not measure: {why}", row.place());
        }
    }
    text
}

/// Each doubt once: at how many points, and what was seen at the first of them.
#[must_use]
pub fn scale_doubts(rows: &[ScaleRow]) -> String {
    let mut told: Vec<&str> = Vec::new();
    let mut text = String::new();
    for (row, doubt) in rows
        .iter()
        .flat_map(|row| row.doubts.iter().map(move |doubt| (row, doubt)))
    {
        if told.contains(&doubt.name()) {
            continue;
        }
        told.push(doubt.name());
        let same = |row: &&ScaleRow| row.doubts.iter().any(|one| one.name() == doubt.name());
        let of = match rows.iter().filter(same).count() {
            1 => format!("at {}", row.place()),
            all if all == rows.len() => "at every point".to_owned(),
            some => format!("and more, at {some} of {} points", rows.len()),
        };
        let _ = writeln!(
            text,
            "- {}, {of}\n    why:  {}\n    next: {}",
            doubt.seen(),
            doubt.why(),
            doubt.next()
        );
    }
    if text.is_empty() {
        return text;
    }
    format!("\nDoubts\n{text}")
}

fn row(row: &ScaleRow) -> Vec<String> {
    let figures = row.figures.as_ref();
    let number = |value: Option<f64>| value.map_or("-".to_owned(), |value| format!("{value:.0}"));
    let share = figures.and_then(|figures| figures.busy_share);
    vec![
        row.point.series.name().to_owned(),
        figures.map_or("-".to_owned(), |figures| figures.subject.clone()),
        row.draw.clone().unwrap_or_else(|| "-".to_owned()),
        grouped(row.routes),
        grouped(row.destinations),
        row.rate(),
        number(share.map(|share| share * 100.0)),
        number(figures.and_then(|figures| figures.busy_ns_per_frame)),
        row.limited_by().to_owned(),
    ]
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::args::{Cli, Verb};
    use clap::Parser;
    use mpps_lab::jobs::fib_scale::Series;
    use mpps_method::Rate;

    fn plan() -> ThroughputPlan {
        let typed = ["mpps", "throughput", "--frame", "64"];
        let Verb::Throughput(args) = Cli::try_parse_from(typed).expect("words").verb else {
            panic!("throughput")
        };
        crate::plan::Plan::of(&args).expect("a plan").measurement
    }

    fn figures(ns_per_frame: f64) -> Figures {
        Figures {
            frames: "64".to_owned(),
            subject: "64".to_owned(),
            trials: 9,
            reading: Reading::Is(Rate::from_fps(1_250_000.0)),
            label: Some("Estimate"),
            loss_ratio: Some(0.0),
            busy_share: Some(0.98),
            busy_ns_per_frame: Some(ns_per_frame),
            limited_by: Some(Limit::Dut),
            ceiling: Rate::from_fps(2e6),
            ..Figures::default()
        }
    }

    /// Two points of one series, and one of another that could not be measured.
    pub(crate) fn rows() -> Vec<ScaleRow> {
        let row = |series, routes, destinations: u64, figures: Option<Figures>| ScaleRow {
            point: Point {
                series,
                routes,
                destinations,
            },
            routes: routes as u64,
            destinations: destinations.min(256),
            draw: (routes > 0).then(|| "per-prefix".to_owned()),
            why: figures.is_none().then(|| "a restless machine".to_owned()),
            doubts: figures.iter().map(|_| Doubt::CpuShared).collect(),
            figures,
        };
        let at_least = Figures {
            reading: Reading::AtLeast(Rate::from_fps(1_500_000.0)),
            limited_by: Some(Limit::Tester),
            ..figures(500.0)
        };
        vec![
            row(Series::Routes, 0, 1, Some(at_least)),
            row(Series::Routes, 1_000, 1_000_000, Some(figures(900.0))),
            row(Series::Destinations, 1_000, 1, None),
        ]
    }

    #[test]
    fn each_point_states_routes_destinations_and_draw() {
        let text = fib_scale(&rows(), "rib.bz2", "per-prefix", &plan());
        for wanted in [
            "IPv4 routes of rib.bz2, destinations drawn per-prefix, seed 1\nEstimates; a Throughput needs 60 s (",
            ">=: at 1 of 3 points something else ended before the DUT",
            "1 000 routes, 1 destination: could not measure: a restless machine\n",
            "fewer destinations than asked for",
            "0 routes: one destination",
        ] {
            assert!(text.contains(wanted), "{wanted}: {text}");
        }
        let line = text.lines().find(|line| line.contains(" 256 "));
        let words: Vec<&str> = line.expect("a row").split_whitespace().collect();
        assert_eq!(
            words.join(" "),
            "routes 64 per-prefix 1 000 256 1 250 000 98 900 DUT"
        );
    }

    #[test]
    fn one_route_is_no_routes() {
        let row = ScaleRow {
            routes: 1,
            ..rows().remove(1)
        };
        assert_eq!(row.place(), "1 route, 256 destinations");
    }

    #[test]
    fn a_doubt_stands_once_with_at_how_many_points() {
        let text = scale_doubts(&rows());
        assert_eq!(text.matches("why:").count(), 1, "{text}");
        assert!(
            text.contains("- tester and DUT share a CPU, and more, at 2 of 3 points\n"),
            "{text}"
        );
        assert!(scale_doubts(&rows()[2..]).is_empty());
    }
}
