//! The points of `mpps fib-scale`: a row each, and under them what nobody should overlook.

use super::{closeness, fib::columns, grouped, rule};
use crate::figures::{Figures, Reading};
use crate::record::Clock;
use mpps_lab::doubt::{Doubt, overload_limit};
use mpps_lab::facts::Facts;
use mpps_lab::jobs::fib_scale::{Measured, Point, Prepared, ScalePlan};
use mpps_lab::search::saturation::Saturated;
use mpps_method::LimitedBy;
use mpps_method::saturation::{Interval, Saturation};
use mpps_method::statistics::{median, quantile};
use std::fmt::Write;

/// One row: a point and a frame size; where several goals were searched for, one a goal.
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
    /// The frame sizes, and the goal where there are several.
    pub subject: String,
    /// What overload told.
    pub saturated: Saturated,
    /// What the search found; `None` without a search.
    pub figures: Option<Figures>,
    /// What to doubt.
    pub doubts: Vec<Doubt>,
}

impl ScaleRow {
    /// The rows of what was measured at a point, with the figures of each search.
    #[must_use]
    pub fn each(prepared: &Prepared, measured: &Measured, searched: &[Figures]) -> Vec<Self> {
        let drawn = prepared.plan.traffic.destinations.as_ref();
        let row = Self {
            point: prepared.point,
            routes: prepared.routes(),
            destinations: prepared.destinations(),
            draw: drawn.map(|destinations| destinations.draw.to_string()),
            subject: measured.frames.to_string(),
            saturated: measured.saturated.clone(),
            figures: None,
            doubts: measured.doubts.clone(),
        };
        if searched.is_empty() {
            return vec![row];
        }
        let with = |(figures, finding): (&Figures, &mpps_lab::doubt::Finding)| Self {
            subject: figures.subject.clone(),
            figures: Some(figures.clone()),
            doubts: finding.doubts.clone(),
            ..row.clone()
        };
        searched.iter().zip(&measured.findings).map(with).collect()
    }

    /// What a frame costs the router, ns.
    #[must_use]
    pub fn router_ns(&self) -> Option<Interval> {
        self.saturated.cost.map(|cost| cost.router_ns)
    }

    /// The maximum forwarding rate (RFC 2285 3.6.3).
    #[must_use]
    pub fn maximum(&self) -> Option<&Saturation> {
        self.saturated.maximum()
    }

    /// Whether nothing is known of the point.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.saturated.cost.is_none() && self.maximum().is_none()
    }

    /// Whether the router was at its limit.
    #[must_use]
    pub fn is_the_duts(&self) -> bool {
        overload_limit(&self.saturated) == Some(LimitedBy::Dut)
    }

    /// What limits the maximum forwarding rate.
    #[must_use]
    pub fn limited_by(&self) -> &'static str {
        overload_limit(&self.saturated).map_or("-", LimitedBy::name)
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

/// What all points have in common, in one line; `from` is the table's name.
#[must_use]
pub fn scale_title(from: &str, plan: &ScalePlan) -> String {
    let traffic = &plan.throughput.traffic;
    let family = if traffic.ipv6 { "IPv6" } else { "IPv4" };
    let hops = match plan.next_hops {
        1 => "one next hop".to_owned(),
        hops => format!("{} next hops", grouped(hops.into())),
    };
    format!(
        "{family} routes of {from} by {hops}, destinations drawn {}, seed {}",
        plan.draw, traffic.seed
    )
}

/// On which machine and kernel, when, and with which version of this program: what a plot must not be without.
#[must_use]
pub fn machine_line(facts: &Facts, begun: Clock) -> String {
    let named = |text: &str, otherwise: &str| match text {
        "" => otherwise.to_owned(),
        text => text.to_owned(),
    };
    let below = match (facts.platform.hypervisor.known(), facts.hypervisor.known()) {
        (Some(name), _) => format!("hypervisor {name}"),
        (None, Some(true)) => "a hypervisor".to_owned(),
        (None, Some(false)) => "no hypervisor".to_owned(),
        (None, None) => "hypervisor unknown".to_owned(),
    };
    format!(
        "{}, {below}, Linux {}, {}, mpps {}",
        named(facts.cpu_model.text(), "CPU unknown"),
        named(facts.kernel_release.text(), "unknown"),
        begun.utc(),
        env!("CARGO_PKG_VERSION")
    )
}

/// The bed's part of a frame's cost, once for all points; empty where it is not known of any.
#[must_use]
pub fn bed_line(rows: &[ScaleRow]) -> String {
    let costs = rows.iter().filter_map(|row| row.saturated.cost);
    let bed: Vec<f64> = costs.map(|cost| cost.bed_ns.middle).collect();
    match (median(&bed), quantile(&bed, 0.0), quantile(&bed, 1.0)) {
        (Some(middle), Some(low), Some(high)) => format!(
            "The bed's part, {middle:.0} ns a frame ({low:.0} to {high:.0} over the points), is taken off."
        ),
        _ => String::new(),
    }
}

/// All rows, under a title that says what they were measured with.
#[must_use]
pub fn fib_scale(rows: &[ScaleRow], plan: &ScalePlan, machine: &str) -> String {
    let mut text = format!("{}\n{machine}\n", scale_title(&plan.from, plan));
    text.push_str(
        "Router ns: the cost of a frame for the router at overload, with its 95 % interval.\n",
    );
    let bed = bed_line(rows);
    if !bed.is_empty() {
        let _ = writeln!(text, "{bed}");
    }
    if plan.search {
        let search = &plan.throughput.search;
        let _ = writeln!(
            text,
            "Without loss: {}, found to {}",
            rule(search),
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
    if plan.search {
        head.extend(["without loss", "limited by"]);
    }
    let mut cells = vec![head.into_iter().map(str::to_owned).collect()];
    cells.extend(rows.iter().map(row));
    text.push('\n');
    text += &columns(&cells, 2);
    text.push('\n');
    text += &remarks(rows);
    text
}

/// What a reader of the rows must not overlook.
fn remarks(rows: &[ScaleRow]) -> String {
    let mut text = String::new();
    if rows.iter().any(|row| row.point.routes == 0) {
        text.push_str(
            "0 routes: the one destination is the tester's own address, on a network of the router. All other points use next hops.\n",
        );
    }
    let fewer = |row: &ScaleRow| row.routes > 0 && row.destinations < row.point.destinations;
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
        let _ = writeln!(
            text,
            "{}: not measured: too few undisturbed windows; run again when the machine is quieter",
            row.place()
        );
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
        if told.contains(&doubt.name) {
            continue;
        }
        told.push(doubt.name);
        let same = |row: &&ScaleRow| row.doubts.iter().any(|one| one.name == doubt.name);
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

fn row(row: &ScaleRow) -> Vec<String> {
    let dash = || "-".to_owned();
    let ns = row.router_ns();
    let maximum = row.maximum();
    let bound = if row.is_the_duts() { "" } else { ">= " };
    let mut cells = vec![
        row.point.series.name().to_owned(),
        row.subject.clone(),
        grouped(row.routes),
        grouped(row.destinations),
        ns.map_or_else(dash, |ns| format!("{:.0}", ns.middle)),
        ns.map_or_else(dash, |ns| format!("{:.0} to {:.0}", ns.low, ns.high)),
        maximum.map_or_else(dash, |found| {
            format!("{bound}{}", three_digits(found.forwarding.middle))
        }),
        (maximum.and_then(|found| found.busy))
            .map_or_else(dash, |busy| format!("{:.0}", busy * 100.0)),
        row.limited_by().to_owned(),
    ];
    if let Some(figures) = &row.figures {
        cells.push(without_loss(figures.reading));
        cells.push(figures.limited_by.map_or("-", LimitedBy::name).to_owned());
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
    use crate::args::{Cli, Verb};
    use crate::plan::FibScalePlan;
    use crate::terminal::doubts::tests::doubt;
    use clap::Parser;
    use mpps_lab::doubt::Weight;
    use mpps_lab::jobs::fib_scale::Series;
    use mpps_method::Rate;
    use mpps_method::saturation::FrameCost;
    use mpps_tables::Table;

    fn plan(words: &[&str]) -> ScalePlan {
        let typed = ["mpps", "fib-scale"].iter().chain(words);
        let Verb::FibScale(args) = Cli::try_parse_from(typed).expect("words").verb else {
            panic!("fib-scale")
        };
        let plan = FibScalePlan::new(&args).expect("a plan");
        ScalePlan {
            throughput: plan.measurement,
            table: Table::default(),
            from: "rib.bz2".to_owned(),
            draw: plan.draw,
            next_hops: plan.next_hops,
            search: plan.search,
        }
    }

    fn around(middle: f64) -> Interval {
        Interval {
            low: middle - 10.0,
            middle,
            high: middle + 20.0,
        }
    }

    /// A frame costs the router so much, and the bed 400 ns.
    fn saturated(router_ns: f64, busy: f64, overloaded: bool) -> Saturated {
        let forwarding = around(1e9 / (router_ns + 400.0));
        Saturated {
            at_most: Some(Saturation {
                offered: around(3e6),
                forwarding,
                busy: Some(busy),
                windows: 100,
                disturbed: 3,
                distance_ns: None,
                elsewhere: 0,
                only_disturbed: false,
            }),
            at_little_more: None,
            cost: Some(FrameCost {
                bed_ns: around(400.0),
                router_ns: around(router_ns),
                total_ns: around(router_ns + 400.0),
            }),
            exit_program_ns: None,
            ceiling: Rate::from_fps(3e6),
            overloaded,
        }
    }

    /// Two points of one series, and one of another that could not be measured.
    pub(crate) fn rows() -> Vec<ScaleRow> {
        let shared = "tester and DUT share a CPU";
        let shared = doubt("cpu-shared", Weight::Shifted(0), shared);
        let row = |series, routes, destinations: u64, saturated: Saturated| ScaleRow {
            point: Point {
                series,
                routes,
                destinations,
            },
            routes: routes as u64,
            destinations: destinations.min(256),
            draw: (routes > 0).then(|| "per-prefix".to_owned()),
            subject: "64".to_owned(),
            figures: None,
            doubts: (saturated.cost.iter()).map(|_| shared.clone()).collect(),
            saturated,
        };
        vec![
            row(Series::Routes, 0, 1, saturated(200.0, 0.8, false)),
            row(
                Series::Routes,
                1_000,
                1_000_000,
                saturated(600.0, 1.0, true),
            ),
            row(Series::Destinations, 1_000, 1, Saturated::default()),
        ]
    }

    #[test]
    fn each_point_states_cost_routes_and_destinations() {
        let text = fib_scale(&rows(), &plan(&[]), "a CPU, Linux 6.18");
        for wanted in [
            "IPv4 routes of rib.bz2 by 64 next hops, destinations drawn per-prefix, seed 1\na CPU, Linux 6.18\n",
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
        let plan = plan(&["--search", "mlr", "--next-hops", "1"]);
        let text = fib_scale(&rows(), &plan, "");
        assert!(text.contains("by one next hop,"), "{text}");
        assert!(text.contains("Without loss: ndr: up to"), "{text}");
        assert_eq!(text.matches("limited by  ").count(), 1, "{text}");
    }

    #[test]
    fn a_router_with_time_left_was_not_at_its_limit() {
        let limited = |busy, overloaded| {
            let mut row = rows().remove(1);
            row.saturated = saturated(600.0, busy, overloaded);
            row.limited_by()
        };
        assert_eq!(limited(0.97, true), "DUT");
        assert_eq!(limited(0.97, false), "tester");
        assert_eq!(limited(0.8, true), "disturbed");
    }

    #[test]
    fn rates_have_the_digits_that_are_known() {
        let texts = [1_523_456.0, 999_600.0, 12.3].map(three_digits);
        assert_eq!(texts, ["1 520 000", "1 000 000", "12"]);
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

    #[test]
    fn machine_kernel_date_and_version_are_told() {
        let line = machine_line(&Facts::gather(), Clock::now());
        let parts: Vec<&str> = line.split(", ").collect();
        assert!(
            line.contains("ypervisor") && line.contains("Linux "),
            "{line}"
        );
        assert!(parts[parts.len() - 2].ends_with('Z'), "{line}");
        assert!(parts[parts.len() - 1].starts_with("mpps "), "{line}");
    }
}
