//! `mpps fib-scale`: what routes and destinations cost, point by point.

use super::contract::{CellPlan, Measure, UnderTest, cell_of, ended};
use super::destinations::{read_changes, read_table};
use super::measure::{first_of, measure};
use crate::args::FibScaleArgs;
use crate::args::quantity::FULL;
use crate::campaign::OVERLOAD;
use crate::exit::Exit;
use crate::plan::{BedChoice, DestinationPlan, INTERNET, Planned, frames, made_up, measurement};
use crate::record::Job;
use crate::recorder::Recorder;
use crate::terminal::plan as words;
use crate::words::rule;
use anyhow::{Result, ensure};
use mpps_lab::jobs::fib_scale::{self, AT_LOAD_TIME, Point, ScalePlan, points};
use mpps_lab::routes::Origin;
use mpps_lab::traffic::Traffic;
use mpps_method::destinations::{DESTINATIONS_MAX, Draw};
use mpps_tables::Table;
use std::ffi::OsString;
use std::sync::Arc;

/// Runs the verb.
pub fn run(args: &FibScaleArgs) -> Result<Exit> {
    let mut plan = FibScalePlan::new(args)?;
    let offer = &mut plan.offer;
    let ipv6 = offer.traffic().ipv6;
    if let Some(table) = read_table(&offer.largest, ipv6, &args.output)? {
        offer.add(table);
    }
    let changes = offer.largest.route_changes.as_ref();
    let changes = changes.map(|asked| read_changes(asked, ipv6, offer.largest.keep_martians));
    offer.traffic().route_changes = changes.transpose()?.map(Arc::new);
    measure(&args.output, args.plot.as_deref(), plan)
}

/// What a cell of a campaign does with these flags.
pub fn cell(args: &FibScaleArgs, _typed: &[OsString]) -> Result<CellPlan> {
    let mut plan = FibScalePlan::new(args)?;
    plan.destinations = Some(plan.offer.largest.clone());
    let scale = &plan.offer.scale;
    let search = scale.throughput.budget.filter(|_| scale.search);
    let each = search.unwrap_or(OVERLOAD);
    let each = each.plus(AT_LOAD_TIME);
    Ok(cell_of(&plan, each.times(plan.offer.points.len() as u64)))
}

/// What to measure.
#[derive(Debug)]
pub struct FibScalePlan {
    /// How, at each point. It has no table before one was read.
    pub scale: ScalePlan,
    /// The largest table.
    pub largest: DestinationPlan,
    /// Counts of routes, [`FULL`] among them.
    pub routes: Vec<u64>,
    /// Counts of destinations.
    pub destinations: Vec<u64>,
    /// Whether there are as many destinations as routes.
    pub coupled: bool,
    /// The points of a table that is made up, until another one was read.
    pub points: Vec<Point>,
}

impl FibScalePlan {
    /// What the arguments mean.
    pub fn new(args: &FibScaleArgs) -> Result<Planned<Self>> {
        let scale = &args.scale;
        // RFC 2544 section 12 asks for a uniform distribution.
        let evenly = scale.networks.map(|_| Draw::PerAddress);
        let draw = scale.draw.or(evenly).unwrap_or_default();
        let changes = scale.route_changes.clone();
        ensure!(
            draw != Draw::Missing,
            "--draw missing measures frames without a route: use mpps throughput instead"
        );
        ensure!(
            args.search.expect_min.is_none(),
            "--expect-min: fib-scale compares points and expects no rate of them: use mpps throughput --table instead"
        );
        for &count in &scale.destinations {
            ensure!(
                (1..=DESTINATIONS_MAX).contains(&count),
                "--destinations {count}: give 1 to {DESTINATIONS_MAX}"
            );
        }
        let bed = BedChoice::new(&args.bed, None)?;
        let (sizes, traffic) = frames(&args.traffic, args.port.unwrap_or_default())?;
        let mut throughput = measurement(sizes, traffic, &args.search)?;
        if args.traffic.frame.is_none() {
            // The smallest alone: many points, and what a look-up costs does not depend on the size.
            throughput.sizes.truncate(1);
        }
        let prefixes = prefixes(&scale.routes, throughput.traffic.ipv6);
        let made_up = made_up(prefixes, &throughput.traffic);
        let usual = scale.networks.map_or(made_up, Origin::Networks);
        let origin = scale.table.clone().map_or(usual, Origin::File);
        let mut plan = Self {
            scale: ScalePlan {
                throughput,
                table: Table::default(),
                from: origin.to_string(),
                draw,
                // The changes move a route to a second one.
                next_hops: changes.as_ref().map_or(scale.next_hops, |_| 1),
                search: args.search.any(),
            },
            largest: DestinationPlan {
                origin,
                count: None,
                draw,
                keep_martians: scale.keep_martians,
                route_changes: changes,
            },
            routes: scale.routes.clone(),
            destinations: scale.destinations.clone(),
            coupled: scale.coupled,
            points: Vec::new(),
        };
        plan.points = plan.points_of(usize::try_from(prefixes)?);
        Ok(Planned {
            bed,
            offer: plan,
            destinations: None,
        })
    }

    /// Adds the table that was read.
    pub fn add(&mut self, table: Table) {
        self.points = self.points_of(table.len());
        self.scale.table = table;
    }

    /// The points, for a table of so many prefixes.
    fn points_of(&self, prefixes: usize) -> Vec<Point> {
        let routes: Vec<usize> = self
            .routes
            .iter()
            .map(|&routes| usize::try_from(routes).unwrap_or(usize::MAX))
            .collect();
        points(&routes, &self.destinations, self.coupled, prefixes)
    }
}

/// Prefixes of a table that has to be made up for these counts of routes.
fn prefixes(routes: &[u64], ipv6: bool) -> u64 {
    let usual = INTERNET[usize::from(ipv6)];
    let given = routes.iter().copied().filter(|&routes| routes != FULL);
    match (given.max(), routes.contains(&FULL)) {
        (Some(most), false) => most,
        // The largest count given stands beside "full".
        (most, _) => usual.max(most.unwrap_or(0)),
    }
}

impl Measure for FibScalePlan {
    fn job(&self) -> Job<'_> {
        let plan = &self.scale.throughput;
        let search = self.scale.search;
        let mut job = Job::new("fib-scale", plan, "overload".to_owned());
        if search {
            job = Job::new("fib-scale", plan, rule(&plan.search)).searching(plan);
        }
        (job.receiver, job.budget) = (None, plan.budget.filter(|_| search));
        job.with_table(&self.scale)
    }

    fn more(&self) -> String {
        let destinations = Some(&*self.destinations).filter(|_| !self.coupled);
        words::counts(&self.routes, destinations, &self.largest)
    }

    fn traffic(&mut self) -> &mut Traffic {
        &mut self.scale.throughput.traffic
    }

    fn run(&self, on: UnderTest<'_>, recorder: &mut Recorder) -> Result<()> {
        let bed = on.bed()?;
        let (error, left) = fib_scale::measure(bed, &self.scale, &self.points, recorder);
        // A bed of its own goes with all that is in it.
        let left = left.filter(|_| bed.is_kept());
        first_of(ended(error), ended(left))
    }

    fn points(&self) -> &[Point] {
        &self.points
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::{Cli, Verb};
    use clap::Parser;

    /// What `mpps fib-scale` with these words typed is to do.
    fn plan(words: &str) -> Result<FibScalePlan> {
        let words = ["mpps", "fib-scale"]
            .into_iter()
            .chain(words.split_whitespace());
        match Cli::try_parse_from(words).expect("words").verb {
            Verb::FibScale(args) => Ok(FibScalePlan::new(&args)?.offer),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn the_usual_points_are_decades_up_to_the_full_table() {
        let usual = plan("").expect("a plan");
        assert_eq!(usual.points.len(), 8 + 8);
        assert_eq!(usual.scale.throughput.sizes.len(), 1);
        for (words, v4, v6) in [
            ("", 1_000_000, 0),
            ("-6", 0, 250_000),
            ("--routes 1,4M,full --destinations 1", 4_000_000, 0),
            ("--routes 1,10", 10, 0),
        ] {
            let made_up = Origin::Synthetic { v4, v6, seed: 1 };
            let origin = plan(words).expect("a plan").largest.origin;
            assert_eq!(origin, made_up, "{words}");
        }
    }

    #[test]
    fn networks_are_a_table_drawn_from_evenly() {
        let networks = plan("--networks 256").expect("a plan");
        assert_eq!(networks.largest.origin, Origin::Networks(256));
        assert_eq!(networks.scale.draw, Draw::PerAddress);
        let points = networks.points_of(256);
        let routes: Vec<usize> = points.iter().map(|point| point.routes).collect();
        assert_eq!(routes[..8], [256; 8]);
        assert_eq!(routes[8..], [256, 100, 10, 1, 0]);
        let named = plan("--networks 256 --draw sequential").expect("a plan");
        assert_eq!(named.scale.draw, Draw::Sequential);
    }

    #[test]
    fn changes_move_routes_from_the_only_next_hop() {
        let with = plan("--table rib --route-changes updates").expect("a plan");
        assert_eq!(
            (with.scale.next_hops, with.largest.route_changes.is_some()),
            (1, true)
        );
        assert_eq!(plan("--table rib").expect("a plan").scale.next_hops, 64);
    }

    #[test]
    fn coupled_there_are_as_many_destinations_as_routes() {
        let coupled = plan("--coupled --routes 10,1k")
            .expect("a plan")
            .points_of(500);
        let counts: Vec<_> = coupled
            .iter()
            .map(|point| (point.routes, point.destinations))
            .collect();
        assert_eq!(counts, [(500, 500), (10, 10)]);
    }

    #[test]
    fn any_flag_of_a_search_adds_the_search() {
        for (words, wanted) in [
            ("", false),
            ("--frame 64,1518 --next-hops 1 --link-speed 10G", false),
            ("--search mlr", true),
            ("--time 60", true),
            ("--max-rate 1M", true),
            ("--goal pdr:1%", true),
            ("--budget 30s", true),
        ] {
            assert_eq!(plan(words).expect("a plan").scale.search, wanted, "{words}");
        }
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        for (words, wanted) in [
            ("--expect-min 1M", "mpps throughput"),
            ("--draw missing", "mpps throughput"),
            ("--destinations 0", "give 1 to"),
            ("--bed Lab/1", "lower-case"),
        ] {
            let error = plan(words).expect_err(words).to_string();
            assert!(error.contains(wanted), "{error}");
        }
    }

    #[test]
    fn a_dry_run_says_which_counts_change() {
        let counts = plan("--routes 0,1k,full --destinations 1,1M").expect("a plan");
        assert_eq!(
            counts.more(),
            "routes       0, 1 000, full\ndestinations 1, 1 000 000\n\
             one load     40 % of what the first point forwards, for the cost of a frame at all points\n"
        );
        let coupled = plan("--coupled --table rib --draw zipf:1").expect("a plan");
        assert!(coupled.more().contains("destinations as many as routes\n"));
        let words = words::job(&coupled.job(), None, false);
        assert!(
            words.contains("\ntable        rib\nnext hops    64\ndraw         zipf:1\n"),
            "{words}"
        );
    }
}
