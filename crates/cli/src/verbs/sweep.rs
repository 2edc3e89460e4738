//! `mpps explain --sweep` and `--paper-tables`: what a frame costs along an axis, and in the published scenarios.

use super::contract::{CellPlan, Measure, UnderTest, ended};
use super::destinations::read_table;
use super::explain::{PAIR, lasts};
use super::measure::measure;
use crate::args::ExplainArgs;
use crate::campaign::{CellBed, OVERLOAD};
use crate::exit::Exit;
use crate::plan::{SweepPlan, sweep_steps};
use crate::record::Job;
use crate::recorder::Recorder;
use anyhow::{Result, ensure};
use mpps_lab::bed::{Bed, BedPlan};
use mpps_lab::jobs::explain::IN_TURNS;
use mpps_lab::jobs::explain::sweep::{self, SweepPlan as Swept};
use mpps_lab::traffic::Traffic;
use mpps_method::Span;
use mpps_method::sweep::{Axis, POINTS_MIN};
use mpps_report::number;

/// The same of a scenario of the paper: no wire, and one trial at all that the tester can offer.
const SCENARIO: u64 = 5;
/// Points of a sweep, divided by its places: those that met another state of the machine are measured again. From committed
/// runs on shared machines.
const POINTS: f64 = 1.6;

/// Runs the verb.
pub fn run(args: &ExplainArgs) -> Result<Exit> {
    let mut plan = SweepPlan::new(args)?;
    let ipv6 = plan.offer.traffic().ipv6;
    let wanted = plan.offer.table.as_ref();
    let table = wanted.map(|wanted| read_table(wanted, ipv6, &args.run.output));
    plan.offer
        .add(table.transpose()?.flatten().unwrap_or_default())?;
    measure(&args.run.output, None, plan)
}

/// What a cell of a campaign does with these flags.
pub fn cell(args: &ExplainArgs) -> Result<CellPlan> {
    let mut plan = SweepPlan::new(args)?;
    plan.destinations = plan.offer.table.clone();
    let job = plan.offer.job();
    let on = CellBed::new(&plan, &job);
    Ok((vec![on], job.lasts.unwrap_or(OVERLOAD)))
}

/// Whether the router's CPUs are enough: without places each count of them is a point. Each has as many queues.
fn check_cpus(swept: &Swept, bed: &BedPlan) -> Result<()> {
    if swept.axis != Some(Axis::Cores) {
        return Ok(());
    }
    let (cpus, queues) = (bed.cpus.dut.len(), bed.queues);
    let most = swept.steps.iter().filter_map(|step| step.cores).max();
    let needed = most.unwrap_or(POINTS_MIN);
    ensure!(
        cpus >= needed,
        "--sweep cores: the router has {}, and needs {needed} beside the tester's: give it more with --dut-cpus",
        number::plural(cpus, "CPU")
    );
    ensure!(
        usize::from(queues) % cpus == 0,
        "--sweep cores needs the same number of queues on each CPU: {queues} do not spread evenly over {cpus}; leave out \
         --queues, or give a multiple of {cpus}"
    );
    Ok(())
}

impl Measure for SweepPlan {
    fn job(&self) -> Job<'_> {
        let plan = &self.swept;
        let offer = &plan.explain.offer;
        let places = plan.steps.iter().map(|step| step.value.to_string());
        let places: Vec<String> = places.collect();
        let over = match plan.axis.map(Axis::name) {
            None => "in the scenarios of tables I to V of Raumer et al. (2015)".to_owned(),
            Some(axis) if places.is_empty() => format!("over {axis}: each count there is"),
            Some(axis) => format!("over {axis}: {}", places.join(", ")),
        };
        let mut job = plan.explain.job();
        job.rule = format!(
            "{} trials of {} at saturation with the sampler and without it in turns, {over}; in a shuffled order, the first again at the end",
            offer.trials, offer.time
        );
        // The first point is measured again at the end. How many cores there are only the bed can tell.
        let (each, in_turns) = match plan.axis {
            Some(_) => (PAIR, Span::ZERO),
            None => (SCENARIO, IN_TURNS),
        };
        let places = Some(places.len()).filter(|places| *places > 0);
        job.lasts = places.map(|places| lasts(offer, (places + 1) as f64 * POINTS, each, in_turns));
        match &plan.scale {
            Some(scale) => job.with_table(scale),
            None => job,
        }
    }

    fn traffic(&mut self) -> &mut Traffic {
        &mut self.swept.explain.offer.traffic
    }

    fn check_bed(&self, bed: &BedPlan) -> Result<()> {
        check_cpus(&self.swept, bed)
    }

    fn resolve(&mut self, bed: &Bed) -> Result<()> {
        let swept = &mut self.swept;
        swept.explain.offer = swept.explain.offer.on_bed(bed)?;
        if swept.axis != Some(Axis::Cores) {
            return Ok(());
        }
        let places = swept.steps.iter().any(|step| step.cores.is_some());
        if let (false, [frames, ..]) = (places, &swept.explain.offer.sizes[..]) {
            let places: Vec<u64> = (1..=bed.plan().cpus.dut.len() as u64).collect();
            swept.steps = sweep_steps(Axis::Cores, &places, frames)?;
        }
        Ok(())
    }

    fn run(&self, on: UnderTest<'_>, recorder: &mut Recorder) -> Result<()> {
        ended(sweep::measure(on.bed()?, &self.swept, recorder))
    }
}
