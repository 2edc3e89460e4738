//! `mpps throughput`: plan, bed, record, measure, show, lower. With `--simulate` the bed is left out.

mod measured;

use super::{begin, destinations, measure};
use crate::args::ThroughputArgs;
use crate::exit::Exit;
use crate::plan::{BedChoice, Plan};
use crate::record::{Job, run_line, simulated_run_line};
use crate::terminal::plan as words;
use anyhow::Result;
use measured::Measured;
pub use measured::show;
use mpps_lab::facts::Facts;
use mpps_lab::jobs::throughput;
use mpps_method::simulate::Properties;

/// Runs the verb.
///
/// # Errors
/// One line that names the remedy; the bed is lowered by then.
pub fn run(args: &ThroughputArgs) -> Result<Exit> {
    let mut plan = Plan::new(args)?;
    let quiet = args.output.quiet;
    let prepared = destinations::prepare(
        plan.destinations.as_ref(),
        &mut plan.measurement.traffic,
        quiet,
    )?;
    if args.output.dry_run {
        let routes = words::destinations(plan.destinations.as_ref());
        let measurement = match plan.bed {
            BedChoice::Simulated(_) => words::simulation(&plan.measurement),
            BedChoice::Kept(_) | BedChoice::Own(_) => words::measurement(&plan.measurement),
        };
        let words = measurement + &routes;
        let job = Job::Throughput(&plan.measurement);
        return begin::dry_run(&args.output, &plan.bed, job, &[], &words);
    }
    if let BedChoice::Simulated(pair) = plan.bed {
        return simulate(args, plan, pair);
    }
    let choice = plan.bed.clone();
    measure::on_bed(&args.output, &choice, |stage| {
        let (bed, recorder) = (&stage.bed, &mut stage.recorder);
        plan.measurement = plan.measurement.on_bed(bed)?;
        if plan.measurement.port.is_none() && bed.plan().dut.planned().host_ports().is_some() {
            let port = plan.measurement.traffic.port.name();
            recorder.step(&format!("ports: {port}, which both ports support"));
        }
        let load = |prepared| destinations::load(prepared, bed, recorder, quiet);
        let routes = prepared.as_ref().map(load).transpose()?;
        let job = Job::Throughput(&plan.measurement);
        let line = run_line(stage.begun, job, bed, &Facts::gather(), routes)?;
        let beside = Some(&stage.beside);
        let measured = Measured::new(args, recorder, &plan, beside, line, |observer| {
            throughput::measure(bed, &plan.measurement, observer)
        });
        stage.not_cleared = destinations::clear(prepared.as_ref(), bed, &plan.bed).err();
        Ok(measured)
    })
}

/// The same without a bed: needs no rights, touches nothing.
fn simulate(args: &ThroughputArgs, plan: Plan, pair: Properties) -> Result<Exit> {
    let (begun, mut recorder) = begin::open_record(&args.output)?;
    recorder.step(&format!("record: {}", recorder.record.path().display()));
    recorder.step(&format!("simulated: {pair}"));
    let job = Job::Throughput(&plan.measurement);
    let line = simulated_run_line(begun, job, &pair, &Facts::gather())?;
    let measured = Measured::new(args, &mut recorder, &plan, None, line, |observer| {
        throughput::simulate(pair, &plan.measurement, observer)
    });
    measure::finish(recorder, &measured)
}
