//! `mpps explain`: where the time of a frame goes.

use super::contract::{Measure, Place, ended};
use super::destinations;
use super::in_turns::{SetUp, in_turns};
use super::measure::measure;
use super::watch;
use crate::args::{ExplainArgs, OutputArgs};
use crate::exit::Exit;
use crate::plan::{self, Baseline};
use crate::record::Job;
use crate::recorder::Recorder;
use anyhow::{Context, Result};
use mpps_lab::bed::Bed;
use mpps_lab::jobs::explain::against::Side;
use mpps_lab::jobs::explain::{self, ExplainPlan};
use mpps_lab::traffic::Traffic;
use std::ffi::OsString;

/// Runs the verb.
pub fn run(args: &ExplainArgs) -> Result<Exit> {
    if let Some(cpus) = &args.cpus {
        return watch::run(cpus, args.look, &args.run.output);
    }
    if args.sweep.is_some() || args.paper_tables {
        return super::sweep::run(args);
    }
    let typed: Vec<OsString> = std::env::args_os().skip(1).collect();
    let (plan, against) = plan::ExplainPlan::new(args, &typed)?;
    if let Some(against) = against {
        return explain_against(plan, against, &args.run.output);
    }
    measure(&args.run.output, None, plan)
}

/// Both set-ups take turns. The record's first line is of the explained one.
fn explain_against(
    mut plan: plan::ExplainPlan,
    mut against: Baseline,
    output: &OutputArgs,
) -> Result<Exit> {
    for plan in [&mut plan, &mut against.plan] {
        let offer = &mut plan.offer.offer;
        offer.traffic.frames.clone_from(&offer.sizes[0]);
    }
    let both = [&mut plan, &mut against.plan];
    let both = both.map(|plan| (plan.destinations.as_ref(), &mut plan.offer.offer.traffic));
    let prepared = destinations::prepare_alike(both, output.quiet)?;
    let set_ups = [
        set_up(&against.explained, &[], &plan)?,
        set_up(&against.name, &against.flags, &against.plan)?,
    ];
    let offer = &plan.offer.offer;
    let job = Job::explain_against(&plan.offer, against.plan.offer.burn_ns);
    let burns = [plan.offer.burn_ns, against.plan.offer.burn_ns];
    in_turns(&set_ups, &prepared, &job, output, |variants, recorder| {
        let side = |at: usize| Side {
            flags: set_ups[at].flags.to_vec(),
            variant: variants[at].clone(),
            burn_ns: burns[at],
        };
        let sides = [side(1), side(0)];
        let how = explain::against::AgainstPlan {
            time: offer.time,
            pairs: offer.trials,
            receiver: offer.receiver,
        };
        ended(explain::against::measure(&sides, how, recorder))
    })
}

fn set_up<'a>(
    name: &'a str,
    flags: &'a [String],
    plan: &'a plan::ExplainPlan,
) -> Result<SetUp<'a>> {
    let bed = plan.own_bed()?.on_this_machine();
    Ok(SetUp {
        name,
        flags,
        bed: bed.with_context(|| name.to_owned())?,
        traffic: &plan.offer.offer.traffic,
        destinations: plan.destinations.as_ref(),
    })
}

impl Measure for ExplainPlan {
    fn job(&self) -> Job<'_> {
        Job::explain(self)
    }

    fn traffic(&mut self) -> &mut Traffic {
        &mut self.offer.traffic
    }

    fn resolve(&mut self, bed: &Bed) -> Result<()> {
        self.offer = self.offer.on_bed(bed)?;
        Ok(())
    }

    fn run(&self, place: Place<'_>, recorder: &mut Recorder) -> Result<()> {
        ended(explain::measure(place.bed()?, self, recorder))
    }
}
