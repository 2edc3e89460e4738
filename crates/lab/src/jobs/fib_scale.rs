//! What routes and destinations cost: one point after the other, each with so many routes in the DUT and so many
//! destinations drawn from them; where asked for, the throughput job too.
//!
//! The figures of a point are what a frame costs the router, without the bed's part: at overload, and at one load for all
//! points of a frame size (`at_load.rs`). At overload the router's CPU is full, and the load is each point's own. Before a
//! point is measured, every destination has had its frame. Points are measured from the most routes and destinations down,
//! because the slowest one sets a load that the others carry.
//!
//! Route changes, where asked for, are at each point those of its own routes: a change of another prefix would add a
//! route. After the point its routes are counted back and cleared.
//!
//! Routes are samples of one table with one seed, so a smaller one is part of a larger. A rate with a table
//! and few destinations is no measurement of the table: every point says both, as counted and as drawn.

mod at_load;
mod distances;

pub use at_load::AT_LOAD_TIME;

use super::sizes::each_size;
use super::throughput::{self, ThroughputPlan};
use super::{JobError, ResultObserver, Trials, keep};
use crate::bed::Bed;
use crate::clock::{Deadline, monotonic_ns};
use crate::destinations::{Destinations, DrawPlan};
use crate::doubt::machine::exit_untimed;
use crate::doubt::{overload_doubts, overload_limit};
use crate::fib::{CountedBack, Loaded};
use crate::line;
use crate::routes;
use crate::search::measurer::Measurer;
use crate::search::saturation::{self, Saturated};
use crate::tester::Tester;
use crate::trial;
use at_load::Loads;
use distances::Distances;
use mpps_method::destinations::Draw;
use mpps_method::{FrameSpec, Rate, Span};
use mpps_record::PointLine;
use mpps_tables::{ChooseOptions, Sample, Table, choose};
use std::cell::Cell;
use std::sync::Arc;

/// Frames of the burst that tells what the DUT forwards.
const BURST: u64 = 100_000;
/// Load at which every destination has its first frame, as a share of that.
const FIRST_FRAMES: f64 = 0.7;
/// Time for these frames, about, at most.
const FIRST_FRAMES_TIME: Span = Span::from_millis(20_000);
/// Of these frames, as many as go at once.
const PIECE: u64 = 250_000;

mpps_method::named! {
    /// What changes from point to point.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Series {
        /// Routes; destinations as many as asked for at most.
        Routes = "routes",
        /// Destinations; routes stay.
        Destinations = "destinations",
        /// Both: as many destinations as routes (the TUM paper's tables IV and V).
        Coupled = "coupled",
    }
}

/// One point, as asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Point {
    /// Which series it belongs to.
    pub series: Series,
    /// Routes to load; 0: none, and frames go to the tester's own address.
    pub routes: usize,
    /// Destinations to draw; of a table that has fewer, all.
    pub destinations: u64,
}

/// The points to measure, from the most down: each count of destinations with the most routes, then each count of routes
/// with the most destinations; coupled, as many destinations as routes. `table` prefixes are all there are. The point
/// with the most of both stands in both series: how far apart its two results are is how far the machine drifted.
#[must_use]
pub fn points(routes: &[usize], destinations: &[u64], coupled: bool, table: usize) -> Vec<Point> {
    let (mut routes, mut destinations) = (routes.to_vec(), destinations.to_vec());
    routes.sort_unstable_by(|one, other| other.cmp(one));
    destinations.sort_unstable_by(|one, other| other.cmp(one));
    let mut points: Vec<Point> = Vec::new();
    let mut add = |series, routes: usize, destinations: u64| {
        let point = Point {
            series,
            routes: routes.min(table),
            destinations: destinations.max(1),
        };
        if !points.contains(&point) {
            points.push(point);
        }
    };
    if coupled {
        for routes in routes {
            let routes = routes.min(table);
            add(Series::Coupled, routes, routes as u64);
        }
        return points;
    }
    let most_routes = routes.first().copied().unwrap_or(table);
    let most_destinations = destinations.first().copied().unwrap_or(1);
    // The most routes stay from one series to the other.
    for destinations in destinations {
        add(Series::Destinations, most_routes, destinations);
    }
    for routes in routes {
        add(Series::Routes, routes, most_destinations);
    }
    points
}

/// What to measure at each point.
#[derive(Clone, Debug)]
pub struct ScalePlan {
    /// How; its destinations are replaced.
    pub throughput: ThroughputPlan,
    /// The largest table; of the traffic's family.
    pub table: Table,
    /// Where it came from, for people.
    pub from: String,
    /// How destinations are drawn.
    pub draw: Draw,
    /// Next hops of the routes, all of them the tester's receiving port.
    pub next_hops: u16,
    /// Whether to search for the rate without loss too.
    pub search: bool,
}

/// A point whose routes are in the DUT and whose destinations are drawn.
#[derive(Clone, Debug)]
pub struct Prepared {
    /// As asked for.
    pub point: Point,
    /// Routes as loaded and counted back; `None`: none were asked for.
    pub loaded: Option<Loaded>,
    /// What is measured, with its destinations.
    pub plan: ThroughputPlan,
}

impl Prepared {
    /// Routes counted in the DUT's FIB.
    #[must_use]
    pub fn routes(&self) -> u64 {
        self.loaded.as_ref().map_or(0, Loaded::counted)
    }

    /// Different destinations, as drawn; without routes there is one, the tester's own address.
    #[must_use]
    pub fn destinations(&self) -> u64 {
        let drawn = self.plan.traffic.destinations.as_ref();
        drawn.map_or(1, |destinations| destinations.distinct)
    }
}

/// Gets each point with each frame size.
pub trait ScaleObserver: ResultObserver<PointLine> {
    /// A point begins: its routes are loaded next.
    fn point_begins(&mut self, point: Point);

    /// Its routes were changed, and are as the changes left them.
    fn counted_back(&mut self, counted: CountedBack);
}

/// Measures one point after the other on the bed, and takes the routes out of it in the end. A size that fails takes no
/// other's result away. Returns what ended the run, or else a point with one frame size; and why the last routes are still
/// in the DUT.
pub fn measure(
    bed: &Bed,
    plan: &ScalePlan,
    points: &[Point],
    observer: &mut dyn ScaleObserver,
) -> (Option<JobError>, Option<JobError>) {
    let mut scale = Scale::new(bed, plan);
    let mut error = None;
    for &point in points {
        observer.point_begins(point);
        let mut at_point = || {
            let prepared = scale.prepare(point)?;
            let measured = scale.measure_sizes(&prepared, observer);
            let counted = scale.count_back(&prepared)?;
            counted
                .into_iter()
                .for_each(|counted| observer.counted_back(counted));
            measured
        };
        let ended = at_point().err();
        if ended.is_some_and(|ended| keep(&mut error, ended).is_break()) {
            break;
        }
    }
    (error, scale.clear().err())
}

/// A bed on which points are measured, with the routes there and the table they are of.
pub(super) struct Scale<'a> {
    bed: &'a Bed,
    plan: &'a ScalePlan,
    there: Option<(usize, Loaded, Table)>,
    loads: Loads,
    distances: Distances,
}

impl<'a> Scale<'a> {
    /// On this bed, without a route yet.
    pub(super) fn new(bed: &'a Bed, plan: &'a ScalePlan) -> Self {
        Self {
            bed,
            plan,
            there: None,
            loads: Loads::default(),
            distances: Distances::default(),
        }
    }

    /// Each frame size at the point prepared last; the error that the last of them ended with.
    fn measure_sizes(
        &mut self,
        prepared: &Prepared,
        observer: &mut dyn ScaleObserver,
    ) -> Result<(), JobError> {
        let sizes = &prepared.plan.sizes;
        let kept = each_size(sizes, None, observer, |frames, trials| {
            let mut line = None;
            let error = self.measure(prepared, frames, &mut line, trials).err();
            (line, error)
        });
        kept.map_or(Ok(()), Err)
    }

    /// Loads routes, and draws destinations from them.
    pub(super) fn prepare(&mut self, point: Point) -> Result<Prepared, JobError> {
        self.load(point.routes)?;
        let mut plan = self.plan.throughput.clone();
        let there = self.there.as_ref();
        let changes = plan.traffic.route_changes.take().zip(there);
        let changes = changes.and_then(|(all, (_, _, table))| all.within(table).map(Arc::new));
        let drawn = there.map(|(_, _, table)| {
            let lasting = routes::lasting(table, changes.as_slice());
            self.draw(&lasting, point.destinations)
        });
        plan.traffic.destinations = drawn.transpose()?;
        if let Some((own, (_, _, table))) = changes.as_ref().zip(there) {
            own.begin(self.bed, table)?;
        }
        plan.traffic.route_changes = changes;
        let loaded = there.map(|(_, loaded, _)| loaded.clone());
        Ok(Prepared {
            point,
            loaded,
            plan,
        })
    }

    /// Measures the point prepared last with one frame size of its plan. The line has what was measured before an error.
    fn measure(
        &mut self,
        prepared: &Prepared,
        frames: &FrameSpec,
        line: &mut Option<PointLine>,
        trials: &mut Trials<'_>,
    ) -> Result<(), JobError> {
        let plan = &prepared.plan;
        // The first frames take as long as there are destinations: they are no part of the budget.
        let deadline = Cell::new(Deadline::NEVER);
        let first_frames = |tester: &mut Tester<'_>| {
            pass_all(tester)?;
            deadline.set(Deadline::after(plan.budget));
            Ok(())
        };
        let (mut tester, saturated) =
            throughput::saturate(self.bed, plan, frames, first_frames, trials)?;
        let saturated = saturation::time_exit(&mut tester, saturated)?;
        let cpus_shared = self.bed.plan().cpus.shared();
        let limit = |searched| {
            let limit = overload_limit(cpus_shared, &saturated, searched).map(line::limited_by);
            Some(limit.map_or("-".to_owned(), String::from))
        };
        let mut doubts = overload_doubts(&tester.surroundings());
        doubts.extend(exit_untimed(&saturated, Some(tester.traffic.receiver)));
        let line = line.insert(PointLine {
            limited_by: limit(None),
            overload_trials: trials.numbers_by_phase().overload_trials.clone(),
            doubts: line::doubts(&doubts),
            ..point_line(prepared, frames, &saturated)
        });
        let begun_ns = monotonic_ns();
        if let Some(load) = self.loads.of(frames, &saturated) {
            at_load::measure(&mut tester, load, line, trials)?;
        }
        let overload_ns = saturated.at_overload().and_then(|found| found.distance_ns);
        let apart = self.distances.doubt(line, overload_ns);
        line.doubts.extend(line::doubts(apart.as_slice()));
        if self.plan.search {
            tester.warm_up = plan.warm_up;
            // A search's budget is for overload and search.
            let at_load = Span::from_nanos(monotonic_ns() - begun_ns);
            let (deadline, told) = (deadline.get().later(at_load), saturated.clone());
            let findings = throughput::find(&mut tester, plan, told, deadline, trials)?;
            line.limited_by = limit(findings.first().and_then(|finding| finding.limited_by));
            line.results = throughput::result_lines(&findings, plan, trials);
        }
        Ok(())
    }

    /// Compares the routes of a point with its changes, where there were any, and takes them out of the DUT.
    fn count_back(&mut self, prepared: &Prepared) -> Result<Option<CountedBack>, JobError> {
        let changes = prepared.plan.traffic.route_changes.as_ref();
        let Some((changes, (_, _, table))) = changes.zip(self.there.as_ref()) else {
            return Ok(None);
        };
        let counted = changes.count_back(self.bed, table);
        self.clear()?;
        Ok(counted?)
    }

    /// Takes the routes out of the DUT.
    pub(super) fn clear(&mut self) -> Result<(), JobError> {
        if self.there.take().is_some() {
            routes::clear(self.bed)?;
        }
        Ok(())
    }

    fn load(&mut self, count: usize) -> Result<(), JobError> {
        if self.there.as_ref().map_or(0, |(there, ..)| *there) == count {
            return Ok(());
        }
        self.clear()?;
        if count == 0 {
            return Ok(());
        }
        let table = sample(&self.plan.table, count, self.plan.throughput.traffic.seed);
        let loaded = routes::load(self.bed, &table, self.plan.next_hops, &|_| {})?;
        self.there = Some((count, loaded, table));
        Ok(())
    }

    fn draw(&self, table: &Table, count: u64) -> Result<Destinations, JobError> {
        let traffic = &self.plan.throughput.traffic;
        let wish = DrawPlan {
            draw: self.plan.draw,
            count,
            ipv6: traffic.ipv6,
            flows: traffic.flows,
            seed: traffic.seed,
        };
        Ok(routes::draw_up_to(table, &self.plan.from, &wish)?)
    }
}

/// The line of a point and frame size, as far as overload tells it.
fn point_line(prepared: &Prepared, frames: &FrameSpec, saturated: &Saturated) -> PointLine {
    let sent = &prepared.plan.traffic;
    let loaded = sent.destinations.as_ref().zip(prepared.loaded.as_ref());
    PointLine {
        series: prepared.point.series.name().to_owned(),
        asked_routes: prepared.point.routes as u64,
        asked_destinations: prepared.point.destinations,
        routes: loaded.map(|(destinations, loaded)| line::routes(destinations, None, loaded)),
        traffic: line::traffic(sent),
        frame: Some(frames.to_string()),
        cost: saturated.cost.as_ref().map(line::frame_cost),
        max_forwarding_fps: (saturated.maximum()).map(|found| line::rates(found.forwarding)),
        at_most: saturated.at_most.as_ref().map(line::load_above),
        at_little_more: saturated.at_little_more.as_ref().map(line::load_above),
        ..PointLine::default()
    }
}

/// Sends a frame to every destination, uncounted, at a load that the DUT forwards: what it keeps of a destination it
/// has by then. (At overload the frames that its ring refuses meet no route.)
pub(super) fn pass_all(tester: &mut Tester<'_>) -> Result<(), JobError> {
    if !tester.traffic.destinations_continue() {
        return Ok(());
    }
    let places = tester.traffic.flow_order().destinations;
    let burst = trial::run_burst(tester, BURST)?;
    let forwarded = Rate::from_frames(burst.counts().received, burst.duration).unwrap_or_default();
    let slowest = places as f64 / FIRST_FRAMES_TIME.as_secs_f64();
    let rate = Rate::from_fps((FIRST_FRAMES * forwarded.fps()).max(slowest));
    let end = tester.places_passed + places;
    while tester.places_passed < end {
        let before = tester.places_passed;
        trial::send_uncounted(tester, rate, PIECE.min(end - before))?;
        if tester.places_passed == before {
            // Nothing is sent any more: the trials will say why.
            break;
        }
    }
    Ok(())
}

/// So many prefixes of the table, the same ones for the same seed.
fn sample(table: &Table, prefixes: usize, seed: u64) -> Table {
    let options = ChooseOptions {
        keep_default_route: true,
        keep_martians: true,
        sample: Some(Sample { prefixes, seed }),
        ..ChooseOptions::default()
    };
    choose(table.clone(), &options).table
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(points: &[Point]) -> Vec<(&'static str, usize, u64)> {
        let words = |point: &Point| (point.series.name(), point.routes, point.destinations);
        points.iter().map(words).collect()
    }

    #[test]
    fn one_count_changes_while_the_other_is_at_its_most() {
        assert_eq!(
            of(&points(&[0, 10, usize::MAX], &[1, 100], false, 50)),
            [
                ("destinations", 50, 100),
                ("destinations", 50, 1),
                ("routes", 50, 100),
                ("routes", 10, 100),
                ("routes", 0, 100),
            ]
        );
    }

    #[test]
    fn coupled_both_change() {
        assert_eq!(
            of(&points(&[0, 10, usize::MAX], &[], true, 50)),
            [("coupled", 50, 50), ("coupled", 10, 10), ("coupled", 0, 1)]
        );
        // Beyond the table there is one point.
        assert_eq!(points(&[50, 60, 70], &[], true, 50).len(), 1);
    }

    #[test]
    fn a_smaller_sample_is_part_of_a_larger() {
        let all = (0..1000_u32).map(|n| {
            let address = std::net::Ipv4Addr::from(20 << 24 | n << 8);
            ipnet::IpNet::new(address.into(), 24).expect("a length")
        });
        let table = Table::from_prefixes(all);
        let (some, more) = (sample(&table, 10, 1), sample(&table, 100, 1));
        assert_eq!((some.len(), more.len()), (10, 100));
        assert!(some.v4.iter().all(|prefix| more.v4.contains(prefix)));
        assert_ne!(sample(&table, 10, 2), some);
        assert_eq!(sample(&table, 5000, 1), table);
    }
}
