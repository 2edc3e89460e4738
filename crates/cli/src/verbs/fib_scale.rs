//! `mpps fib-scale`: what routes and destinations cost, point by point.

use super::contract::{Measure, Place, ended};
use super::destinations::{read_changes, read_table};
use super::measure::{first_of, measure};
use crate::args::FibScaleArgs;
use crate::exit::Exit;
use crate::plan::FibScalePlan;
use crate::record::Job;
use crate::recorder::Recorder;
use crate::terminal::plan as words;
use anyhow::Result;
use mpps_lab::jobs::fib_scale::{self, Point};
use mpps_lab::traffic::Traffic;
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

impl Measure for FibScalePlan {
    fn job(&self) -> Job<'_> {
        Job::fib_scale(&self.scale)
    }

    fn more(&self) -> String {
        words::counts(self)
    }

    fn traffic(&mut self) -> &mut Traffic {
        &mut self.scale.throughput.traffic
    }

    fn run(&self, place: Place<'_>, recorder: &mut Recorder) -> Result<()> {
        let bed = place.bed()?;
        let measured = fib_scale::measure(bed, &self.scale, &self.points, recorder);
        // A bed of its own goes with all that is in it.
        let not_cleared = measured.not_cleared.filter(|_| bed.is_kept());
        first_of(ended(measured.error), ended(not_cleared))
    }

    fn points(&self) -> &[Point] {
        &self.points
    }
}
