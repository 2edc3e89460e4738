//! The points of `mpps fib-scale`: a row each, and under them what nobody should overlook.

use super::row::Row;
use super::{closeness, columns, grouped};
use mpps_lab::doubt::Reading;
use mpps_method::statistics::{median, quantile};
use mpps_record::{self as record, Doubt, Interval, LoadAboveRate, PointLine, RunLine, Scale};
use std::fmt::Write;

/// One row: a point and a frame size; where several goals were searched for, one a goal.
#[derive(Clone, Debug)]
pub struct ScaleRow<'a> {
    /// What was measured.
    pub point: &'a PointLine,
    /// What the search found; `None` without a search.
    pub result: Option<Row<'a>>,
}

impl<'a> ScaleRow<'a> {
    /// The rows of what was measured.
    #[must_use]
    pub fn each(points: &'a [PointLine]) -> Vec<Self> {
        let rows = |point: &'a PointLine| {
            let results: Vec<_> = Row::each(&point.results).into_iter().map(Some).collect();
            let results = if results.is_empty() {
                vec![None]
            } else {
                results
            };
            let row = move |result| Self { point, result };
            results.into_iter().map(row)
        };
        points.iter().flat_map(rows).collect()
    }

    /// The frame sizes, and the goal where there are several.
    fn subject(&self) -> &str {
        let searched = self.result.as_ref().map(|row| row.subject.as_str());
        searched.or(self.point.frame.as_deref()).unwrap_or("-")
    }

    /// Routes counted in the DUT's FIB.
    #[must_use]
    pub fn routes(&self) -> u64 {
        self.point.routes.as_ref().map_or(0, |all| all.routes)
    }

    /// Different destinations, as drawn; without any there is one, the tester's own address.
    #[must_use]
    pub fn destinations(&self) -> u64 {
        let drawn = self.point.traffic.destinations.as_ref();
        drawn.map_or(1, |destinations| destinations.distinct)
    }

    /// What to doubt.
    fn doubts(&self) -> &[Doubt] {
        let searched = self.result.as_ref();
        searched.map_or(&self.point.doubts, |row| &row.doubts)
    }

    /// What a frame costs the router, ns.
    #[must_use]
    pub fn router_ns(&self) -> Option<Interval<f64>> {
        self.point.cost.map(|cost| cost.router_ns)
    }

    /// The maximum forwarding rate (RFC 2285 3.6.3).
    #[must_use]
    pub fn maximum(&self) -> Option<Interval<f64>> {
        self.point.max_forwarding_fps.map(Interval::from)
    }

    /// Busy share of the DUT's busiest CPU there.
    fn busy(&self) -> Option<f64> {
        let maximum = self.point.max_forwarding_fps?;
        let mut loads = self.point.at_most.iter().chain(&self.point.at_little_more);
        let there = |load: &&LoadAboveRate| load.forwarding_fps == maximum;
        loads.find(there)?.dut_busiest_cpu_share
    }

    /// Whether nothing is known of the point.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.point.cost.is_none() && self.point.max_forwarding_fps.is_none()
    }

    /// Whether the router was at its limit.
    #[must_use]
    pub fn is_the_duts(&self) -> bool {
        self.limited_by() == record::LimitedBy::Dut.as_str()
    }

    /// What limits the maximum forwarding rate.
    #[must_use]
    pub fn limited_by(&self) -> &str {
        self.point.limited_by.as_deref().unwrap_or("-")
    }

    /// The point, where a line is about it: `1 000 routes, 256 destinations`.
    #[must_use]
    pub fn place(&self) -> String {
        let many = |count| if count == 1 { "" } else { "s" };
        format!(
            "{} route{}, {} destination{}",
            grouped(self.routes()),
            many(self.routes()),
            grouped(self.destinations()),
            many(self.destinations())
        )
    }
}

/// What all points have in common, in one line; `from` is the table's name.
#[must_use]
pub fn scale_title(from: &str, scale: &Scale, run: &RunLine) -> String {
    let traffic = &run.plan.traffic;
    let family = if traffic.family == "ipv6" {
        "IPv6"
    } else {
        "IPv4"
    };
    let hops = match scale.next_hops {
        1 => "one next hop".to_owned(),
        hops => format!("{} next hops", grouped(hops.into())),
    };
    format!(
        "{family} routes of {from} by {hops}, destinations drawn {}, seed {}",
        scale.draw, traffic.seed
    )
}

/// On which machine and kernel, when, and with which version of this program: what a plot must not be without.
#[must_use]
pub fn machine_line(run: &RunLine) -> String {
    let facts = &run.facts;
    let named = |fact: &record::facts::Reading<String>, otherwise: &str| {
        let known = fact.known().filter(|text| !text.is_empty());
        known.map_or(otherwise, String::as_str).to_owned()
    };
    let below = match (facts.platform.hypervisor.known(), facts.hypervisor.known()) {
        (Some(name), _) => format!("hypervisor {name}"),
        (None, Some(true)) => "a hypervisor".to_owned(),
        (None, Some(false)) => "no hypervisor".to_owned(),
        (None, None) => "hypervisor unknown".to_owned(),
    };
    format!(
        "{}, {below}, Linux {}, {}, mpps {}",
        named(&facts.cpu_model, "CPU unknown"),
        named(&facts.kernel_release, "unknown"),
        run.begun_utc,
        run.tool_version
    )
}

/// The bed's part of a frame's cost, once for all points; empty where it is not known of any.
#[must_use]
pub fn bed_line(rows: &[ScaleRow<'_>]) -> String {
    let costs = rows.iter().filter_map(|row| row.point.cost);
    let bed: Vec<f64> = costs.map(|cost| cost.bed_ns.median).collect();
    match (median(&bed), quantile(&bed, 0.0), quantile(&bed, 1.0)) {
        (Some(middle), Some(low), Some(high)) => format!(
            "The bed's part, {middle:.0} ns a frame ({low:.0} to {high:.0} over the points), is taken off."
        ),
        _ => String::new(),
    }
}

/// All rows, under a title that says what they were measured with.
#[must_use]
pub fn fib_scale(rows: &[ScaleRow<'_>], run: Option<&RunLine>) -> String {
    let mut text = run.map_or(String::new(), |run| format!("{}\n", machine_line(run)));
    if let Some((scale, run)) = run.and_then(|run| Some((run.plan.scale.as_ref()?, run))) {
        text.insert_str(0, &format!("{}\n", scale_title(&scale.table, scale, run)));
    }
    text.push_str(
        "Router ns: the cost of a frame for the router at overload, with its 95 % interval.\n",
    );
    let bed = bed_line(rows);
    if !bed.is_empty() {
        let _ = writeln!(text, "{bed}");
    }
    let search = run.and_then(|run| run.plan.search.as_ref());
    if let Some(search) = search {
        let _ = writeln!(
            text,
            "Without loss: {}, found to {}",
            search.pass_rule.as_deref().unwrap_or("unknown"),
            closeness(search)
        );
    }
    let mut head = vec![
        "series",
        "frame",
        "routes",
        "destinations",
        "router ns",
        "95 %",
        "maximum frames/s",
        "busy %",
        "limited by",
    ];
    if search.is_some() || rows.iter().any(|row| row.result.is_some()) {
        head.extend(["without loss", "limited by"]);
    }
    let mut cells: Vec<Vec<String>> = vec![head.into_iter().map(str::to_owned).collect()];
    cells.extend(rows.iter().map(row));
    text.push('\n');
    text += &columns(&cells, &[0, 1]);
    text.push('\n');
    text += &remarks(rows);
    text
}

/// What a reader of the rows must not overlook.
fn remarks(rows: &[ScaleRow<'_>]) -> String {
    let mut text = String::new();
    if rows.iter().any(|row| row.point.asked_routes == 0) {
        text.push_str(
            "0 routes: the one destination is the tester's own address, on a network of the router. All other points use next hops.\n",
        );
    }
    let fewer =
        |row: &ScaleRow<'_>| row.routes() > 0 && row.destinations() < row.point.asked_destinations;
    if rows.iter().any(fewer) {
        text.push_str("fewer destinations than asked for: those routes have no more addresses\n");
    }
    let known = || rows.iter().filter(|row| !row.is_empty());
    let others = known().filter(|row| !row.is_the_duts()).count();
    if others > 0 {
        let _ = writeln!(
            text,
            ">=: at {others} of {} points the router was not at its limit (limited by), and may forward more",
            rows.len()
        );
    }
    for row in rows.iter().filter(|row| row.is_empty()) {
        // Records of the first schema have nothing of overload.
        let why = if row.point.limited_by.is_some() {
            "not measured: too few undisturbed windows; run again when the machine is quieter"
        } else {
            "this record has no rate at overload"
        };
        let _ = writeln!(text, "{}: {why}", row.place());
    }
    text
}

/// Each doubt once: at how many points, and what was seen at the first of them.
#[must_use]
pub fn scale_doubts(rows: &[ScaleRow<'_>]) -> String {
    let mut told: Vec<&str> = Vec::new();
    let mut text = String::new();
    for (row, doubt) in rows
        .iter()
        .flat_map(|row| row.doubts().iter().map(move |doubt| (row, doubt)))
    {
        if told.contains(&doubt.name.as_str()) {
            continue;
        }
        told.push(&doubt.name);
        let same = |row: &&ScaleRow<'_>| row.doubts().iter().any(|one| one.name == doubt.name);
        let of = match rows.iter().filter(same).count() {
            1 => format!("at {}", row.place()),
            all if all == rows.len() => "at every point".to_owned(),
            some => format!("and more, at {some} of {} points", rows.len()),
        };
        let _ = writeln!(
            text,
            "- {}, {of}\n    why:  {}\n    next: {}",
            doubt.seen, doubt.why, doubt.next
        );
    }
    if text.is_empty() {
        return text;
    }
    format!("\nDoubts\n{text}")
}

fn row(row: &ScaleRow<'_>) -> Vec<String> {
    let dash = || "-".to_owned();
    let ns = row.router_ns();
    let maximum = row.maximum();
    let bound = if row.is_the_duts() { "" } else { ">= " };
    let mut cells = vec![
        row.point.series.clone(),
        row.subject().to_owned(),
        grouped(row.routes()),
        grouped(row.destinations()),
        ns.map_or_else(dash, |ns| format!("{:.0}", ns.median)),
        ns.map_or_else(dash, |ns| format!("{:.0} to {:.0}", ns.low, ns.high)),
        maximum.map_or_else(dash, |found| {
            format!("{bound}{}", three_digits(found.median))
        }),
        row.busy()
            .map_or_else(dash, |busy| format!("{:.0}", busy * 100.0)),
        row.limited_by().to_owned(),
    ];
    if let Some(result) = &row.result {
        cells.push(without_loss(result.reading()));
        let limit = result.limited_by.as_ref();
        cells.push(limit.map_or("-", record::LimitedBy::as_str).to_owned());
    }
    cells
}

/// The rate without loss in words: `1 250 000`, `>= 443 116`.
fn without_loss(reading: Reading) -> String {
    let fps = |fps: f64| grouped(fps.round() as u64);
    match reading {
        Reading::Is(rate) => fps(rate.fps()),
        Reading::AtLeast(rate) => format!(">= {}", fps(rate.fps())),
        Reading::Below(rate) => format!("< {}", fps(rate.fps())),
        Reading::Nothing => "not measured".to_owned(),
    }
}

/// A rate with as many digits as are known: `1 520 000`.
pub fn three_digits(fps: f64) -> String {
    let step = 10_f64.powf((fps.max(1.0).log10().floor() - 2.0).max(0.0));
    grouped(((fps / step).round() * step).round() as u64)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::terminal::doubts::tests::doubt;
    use crate::terminal::report::tests::run;
    use mpps_lab::doubt::Weight;
    use mpps_record::{Destinations, FrameCost, Other, Routes, Traffic};

    fn scale(next_hops: u32, search: bool) -> RunLine {
        let mut run = run("");
        run.plan.scale = Some(Scale {
            table: "rib.bz2".to_owned(),
            draw: "per-prefix".to_owned(),
            next_hops,
        });
        run.plan.search = run.plan.search.filter(|_| search);
        run
    }

    fn around(median: f64) -> Interval<f64> {
        Interval {
            low: median - 10.0,
            median,
            high: median + 20.0,
        }
    }

    fn point(series: &str, asked_routes: u64, asked_destinations: u64) -> PointLine {
        let drawn = (asked_routes > 0).then(|| Destinations {
            draw: "per-prefix".to_owned(),
            distinct: asked_destinations.min(256),
            ..Destinations::default()
        });
        PointLine {
            series: series.to_owned(),
            asked_routes,
            asked_destinations,
            routes: drawn.as_ref().map(|_| Routes {
                routes: asked_routes,
                ..Routes::default()
            }),
            traffic: Traffic {
                destinations: drawn,
                ..Traffic::default()
            },
            frame: Some("64".to_owned()),
            cost: None,
            max_forwarding_fps: None,
            at_most: None,
            at_little_more: None,
            limited_by: Some("-".to_owned()),
            overload_trials: Vec::new(),
            doubts: Vec::new(),
            results: Vec::new(),
            other: Other::new(),
        }
    }

    /// A frame costs the router so much, and the bed 400 ns.
    fn measured(point: PointLine, router_ns: f64, busy: f64, limited_by: &str) -> PointLine {
        let shared = "tester and DUT share a CPU";
        let fps = (1e9 / (router_ns + 400.0)) as u64;
        let forwarding_fps = Interval {
            low: fps - 10,
            median: fps,
            high: fps + 20,
        };
        PointLine {
            cost: Some(FrameCost {
                bed_ns: around(400.0),
                router_ns: around(router_ns),
                total_ns: around(router_ns + 400.0),
            }),
            max_forwarding_fps: Some(forwarding_fps),
            at_most: Some(LoadAboveRate {
                offered_fps: forwarding_fps,
                forwarding_fps,
                dut_busiest_cpu_share: Some(busy),
                windows: 100,
                disturbed_windows: 3,
                only_disturbed: Some(false),
            }),
            limited_by: Some(limited_by.to_owned()),
            doubts: vec![doubt("cpu-shared", Weight::Shifted(0), shared)],
            ..point
        }
    }

    /// Two points of one series, and one of another that could not be measured.
    pub(crate) fn points() -> [PointLine; 3] {
        [
            measured(point("routes", 0, 1), 200.0, 0.8, "tester"),
            measured(point("routes", 1_000, 1_000_000), 600.0, 1.0, "DUT"),
            point("destinations", 1_000, 1),
        ]
    }

    #[test]
    fn each_point_states_cost_routes_and_destinations() {
        let text = fib_scale(&ScaleRow::each(&points()), Some(&scale(64, false)));
        for wanted in [
            "IPv4 routes of rib.bz2 by 64 next hops, destinations drawn per-prefix, seed 1\n",
            "The bed's part, 400 ns a frame (400 to 400 over the points), is taken off.\n",
            ">=: at 1 of 3 points the router was not at its limit",
            "1 000 routes, 1 destination: not measured: too few undisturbed windows",
            "fewer destinations than asked for",
            "0 routes: the one destination",
        ] {
            assert!(text.contains(wanted), "{wanted}: {text}");
        }
        let row = |part: &str| {
            let line = text.lines().find(|line| line.contains(part));
            let words: Vec<&str> = line.expect("a row").split_whitespace().collect();
            words.join(" ")
        };
        assert_eq!(
            row(" 256 "),
            "routes 64 1 000 256 600 590 to 620 1 000 000 100 DUT"
        );
        assert_eq!(
            row(">= 1"),
            "routes 64 0 1 200 190 to 220 >= 1 670 000 80 tester"
        );
        assert_eq!(row("destinations  64"), "destinations 64 1 000 1 - - - - -");
    }

    #[test]
    fn a_search_adds_the_rate_without_loss() {
        let text = fib_scale(&ScaleRow::each(&points()), Some(&scale(1, true)));
        assert!(text.contains("by one next hop,"), "{text}");
        assert!(text.contains("Without loss: ndr: up to"), "{text}");
        assert_eq!(text.matches("limited by  ").count(), 1, "{text}");
    }

    #[test]
    fn rates_have_the_digits_that_are_known() {
        let texts = [1_523_456.0, 999_600.0, 12.3].map(three_digits);
        assert_eq!(texts, ["1 520 000", "1 000 000", "12"]);
    }

    #[test]
    fn one_route_is_no_routes() {
        let point = [point("routes", 1, 256)];
        let row = &ScaleRow::each(&point)[0];
        assert_eq!(row.place(), "1 route, 256 destinations");
    }

    #[test]
    fn a_doubt_stands_once_with_at_how_many_points() {
        let text = scale_doubts(&ScaleRow::each(&points()));
        assert_eq!(text.matches("why:").count(), 1, "{text}");
        assert!(
            text.contains("- tester and DUT share a CPU, and more, at 2 of 3 points\n"),
            "{text}"
        );
        assert!(scale_doubts(&ScaleRow::each(&points()[2..])).is_empty());
    }

    #[test]
    fn machine_kernel_date_and_version_are_told() {
        let line = machine_line(&run(""));
        let parts: Vec<&str> = line.split(", ").collect();
        assert!(
            line.contains("ypervisor") && line.contains("Linux "),
            "{line}"
        );
        assert!(parts[parts.len() - 2].ends_with('Z'), "{line}");
        assert!(parts[parts.len() - 1].starts_with("mpps "), "{line}");
    }
}
