//! `mpps explain --sweep` and `--paper-tables`: what a frame costs along an axis, and in the published scenarios.

use super::contract::{Measure, Place, ended};
use super::destinations::read_table;
use super::measure::measure;
use crate::args::ExplainArgs;
use crate::exit::Exit;
use crate::plan::{BedChoice, SweepPlan, sweep_steps};
use crate::record::Job;
use crate::recorder::Recorder;
use anyhow::{Result, ensure};
use mpps_lab::bed::Bed;
use mpps_lab::jobs::explain::sweep::{self, SweepPlan as Swept};
use mpps_lab::traffic::Traffic;
use mpps_method::sweep::{Axis, POINTS_MIN};
use mpps_report::number;

/// Runs the verb.
pub fn run(args: &ExplainArgs) -> Result<Exit> {
    let mut plan = SweepPlan::new(args)?;
    if let BedChoice::Own(wish) = &plan.bed {
        check_cpus(&plan.offer.swept, wish.on_this_machine()?.cpus.dut.len())?;
    }
    let ipv6 = plan.offer.traffic().ipv6;
    let wanted = plan.offer.table.as_ref();
    let table = wanted.map(|wanted| read_table(wanted, ipv6, &args.run.output));
    plan.offer
        .add(table.transpose()?.flatten().unwrap_or_default())?;
    measure(&args.run.output, None, plan)
}

/// Whether so many CPUs of the router are enough: without places each count of them is a point.
fn check_cpus(swept: &Swept, cpus: usize) -> Result<()> {
    let most = swept.steps.iter().filter_map(|step| step.cores).max();
    let needed = most.unwrap_or(POINTS_MIN);
    ensure!(
        swept.axis != Some(Axis::Cores) || cpus >= needed,
        "--sweep cores: the router has {}, and needs {needed} beside the tester's: give it more with --dut-cpus",
        number::plural(cpus, "CPU")
    );
    Ok(())
}

impl Measure for SweepPlan {
    fn job(&self) -> Job<'_> {
        Job::sweep(&self.swept)
    }

    fn traffic(&mut self) -> &mut Traffic {
        &mut self.swept.explain.offer.traffic
    }

    fn resolve(&mut self, bed: &Bed) -> Result<()> {
        let swept = &mut self.swept;
        swept.explain.offer = swept.explain.offer.on_bed(bed)?;
        if swept.axis != Some(Axis::Cores) {
            return Ok(());
        }
        let cpus = bed.plan().cpus.dut.len();
        check_cpus(swept, cpus)?;
        let places = swept.steps.iter().any(|step| step.cores.is_some());
        if let (false, [frames, ..]) = (places, &swept.explain.offer.sizes[..]) {
            let places: Vec<u64> = (1..=cpus as u64).collect();
            swept.steps = sweep_steps(Axis::Cores, &places, frames)?;
        }
        Ok(())
    }

    fn run(&self, place: Place<'_>, recorder: &mut Recorder) -> Result<()> {
        ended(sweep::measure(place.bed()?, &self.swept, recorder))
    }
}
