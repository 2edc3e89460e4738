//! How every measurement begins: rights, record, bed.

use super::contract::Measure;
use crate::args::OutputArgs;
use crate::beside::Beside;
use crate::exit::Exit;
use crate::plan::{BedChoice, Planned};
use crate::record::{Clock, Record};
use crate::recorder::Recorder;
use crate::terminal;
use crate::terminal::plan as words;
use crate::terminal::progress::Progress;
use anyhow::{Result, ensure};
use mpps_lab::bed::{self, BedError, BedPlan};
use mpps_lab::tester::{ReceiverPlace, planned_place};
use mpps_lab::{facts, interrupt};
use serde_json::{Value, json};
use std::path::Path;

/// Checks what the machine allows, opens the record, waits for the machine, in this order.
pub fn begin(output: &OutputArgs) -> Result<(Clock, Recorder)> {
    facts::check()?;
    interrupt::install()?;
    let (begun, mut recorder) = open_record(output)?;
    let beside = Beside::wait(output.share, begun, |step| recorder.step(step))?;
    recorder.doubt_beside(beside);
    Ok((begun, recorder))
}

/// Opens the record of a run that begins now.
pub fn open_record(output: &OutputArgs) -> Result<(Clock, Recorder)> {
    let begun = Clock::now();
    let record = Record::open_for(&begun.run_name(), output.record.as_deref())?;
    Ok((
        begun,
        Recorder::new(record, Progress::new(output.quiet, output.verbose)),
    ))
}

/// A bed before it is raised or opened: in words, for programs, and its plan where that is known.
pub type PlannedBed = (String, Value, Option<BedPlan>);

/// What is known of the bed without rights and without waiting for another run.
///
/// # Errors
/// Whatever can be refused by then.
pub fn check(output: &OutputArgs, plan: &Planned<impl Measure>) -> Result<PlannedBed> {
    check_folder("--record", output.record.as_deref())?;
    let bed = planned(&plan.bed)?;
    if let Some(bed) = &bed.2 {
        plan.offer.check_bed(bed)?;
    }
    Ok(bed)
}

/// Prints the plan and ends, for `--dry-run`: the bed, then the job's words. With `--json` it is one object, with the
/// points of `fib-scale`.
///
/// # Errors
/// Ports of a device that are not there or not free.
pub fn dry_run(
    output: &OutputArgs,
    plan: &Planned<impl Measure>,
    (text, bed, bed_plan): PlannedBed,
) -> Result<Exit> {
    let measure = &plan.offer;
    plan.bed.dut().planned().check_machine()?;
    let mut job = measure.job();
    if plan.bed.asks_ports() {
        job = job.before_ports();
    }
    job.receiver = job.receiver.or_else(|| {
        let place = planned_place(bed_plan.as_ref()?, job.traffic)?;
        // Somebody may have put something before the exit of a bed that stands.
        let is_kept = matches!(plan.bed, BedChoice::Kept(_));
        Some(place).filter(|place| !is_kept || *place == ReceiverPlace::Port)
    });
    if output.json {
        let points = measure.points().iter();
        let points = points
            .map(|point| json!({ "routes": point.routes, "destinations": point.destinations }));
        terminal::out(&terminal::document(json!({
            "dry_run": true,
            "job": job.name,
            "bed": bed,
            "receiver": job.receiver.map(ReceiverPlace::name),
            "plan": serde_json::to_value(&job.plan)?,
            "points": points.collect::<Value>(),
        })));
    } else {
        let simulated = matches!(plan.bed, BedChoice::Simulated(_));
        // Nothing limits the time of a simulation.
        job.budget = job.budget.filter(|_| !simulated);
        let words = words::job(&job, plan.destinations.as_ref(), simulated);
        let words = words + &measure.more();
        terminal::out(&terminal::fitted(&format!("{text}{words}")));
    }
    Ok(Exit::Measured)
}

/// Whether the folder of a file to be written is there.
///
/// # Errors
/// It is not.
pub fn check_folder(flag: &str, file: Option<&Path>) -> Result<()> {
    let folder = file.and_then(Path::parent);
    let folder = folder.filter(|folder| !folder.as_os_str().is_empty());
    ensure!(
        folder.is_none_or(Path::is_dir),
        "{flag}: there is no folder {}: make it, or name another place",
        folder.unwrap_or(Path::new("")).display()
    );
    Ok(())
}

fn planned(choice: &BedChoice) -> Result<PlannedBed> {
    Ok(match choice {
        BedChoice::Kept(name) => {
            // Without rights nobody knows which beds there are.
            let found = bed::list().map_or(Ok(None), |beds| {
                let mut beds = beds.into_iter();
                let found = beds.find(|bed| bed.kept && bed.name == *name);
                found.map(Some).ok_or(BedError::NoSuchBed(name.clone()))
            });
            let entry = json!({ "kind": "kept", "name": name });
            let plan = found?.and_then(|bed| bed.plan);
            (format!("bed          {name}, kept\n"), entry, plan)
        }
        BedChoice::Own(wish) => {
            let plan = wish.on_this_machine()?;
            (words::bed(&plan), words::bed_json(&plan), Some(plan))
        }
        BedChoice::Simulated(pair) => {
            let entry = json!({ "kind": "simulated", "pair": pair.to_string() });
            let text = format!("bed          none: simulated {pair}\n");
            (text, entry, None)
        }
    })
}
