//! `mpps fib-scale`: what routes and destinations cost, point by point.

use super::contract::{Measure, Place, ended};
use super::destinations::{read_changes, read_routes};
use super::measure::{first_of, measure};
use crate::args::FibScaleArgs;
use crate::exit::Exit;
use crate::plan::{BedChoice, FibScalePlan, Planned};
use crate::record::{Job, point_line};
use crate::recorder::Recorder;
use crate::terminal::plan as words;
use anyhow::Result;
use mpps_lab::jobs::fib_scale::{self, Point, PointResult, ScalePlan};
use mpps_lab::routes::Origin;
use mpps_lab::traffic::Traffic;
use mpps_tables::Table;
use std::sync::Arc;

/// Runs the verb.
pub fn run(args: &FibScaleArgs) -> Result<Exit> {
    let plan = FibScalePlan::new(args)?;
    // A dry run makes up no table.
    let mut table = Table::default();
    let mut prefixes = usize::try_from(plan.made_up())?;
    let (origin, ipv6) = (plan.origin(), plan.measurement.traffic.ipv6);
    if !(args.output.dry_run && matches!(origin, Origin::Synthetic { .. })) {
        let quiet = args.output.quiet;
        table = read_routes(&origin, ipv6, plan.keep_martians, quiet)?.table;
        prefixes = table.len();
    }
    let points = plan.points(prefixes);
    let mut scale = plan.scale(table);
    let changes = plan.route_changes.as_ref();
    let changes = changes.map(|asked| read_changes(asked, ipv6, plan.keep_martians));
    scale.throughput.traffic.route_changes = changes.transpose()?.map(Arc::new);
    let plan = Planned {
        bed: plan.bed.clone(),
        offer: FibScale(plan, scale, points),
        destinations: None,
    };
    measure(&args.output, args.plot.as_deref(), plan)
}

/// What is asked for, with the largest table, at these points.
struct FibScale(FibScalePlan, ScalePlan, Vec<Point>);

impl Measure for FibScale {
    fn job(&self) -> Job<'_> {
        Job::fib_scale(&self.1)
    }

    fn more(&self) -> String {
        words::counts(&self.0)
    }

    fn traffic(&mut self) -> &mut Traffic {
        &mut self.1.throughput.traffic
    }

    fn run(&self, place: Place<'_>, recorder: &mut Recorder) -> Result<()> {
        let line = |point: &PointResult, stands| vec![point_line(point, stands)];
        let mut results = recorder.with(line);
        let measured = fib_scale::measure(place.bed()?, &self.1, &self.2, &mut results);
        // A bed of its own goes with all that is in it.
        let is_kept = matches!(self.0.bed, BedChoice::Kept(_));
        let not_cleared = measured.not_cleared.filter(|_| is_kept);
        first_of(ended(measured.error), ended(not_cleared))
    }

    fn points(&self) -> &[Point] {
        &self.2
    }
}
