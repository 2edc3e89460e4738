//! How every measurement begins: rights, record, bed.

use super::contract::Measure;
use crate::args::OutputArgs;
use crate::beside::Beside;
use crate::exit::Exit;
use crate::plan::{BedChoice, Planned};
use crate::record::{Clock, Job, Record};
use crate::recorder::Recorder;
use crate::terminal;
use crate::terminal::plan as words;
use crate::terminal::progress::Progress;
use anyhow::{Result, ensure};
use mpps_lab::bed::{self, BedError};
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

/// Prints the plan and ends, for `--dry-run`: the bed, then the job's words. With `--json` it is one object, with the
/// points of `fib-scale`.
///
/// # Errors
/// Whatever the run would refuse and that is known without rights and without a bed.
pub fn dry_run(output: &OutputArgs, plan: &Planned<impl Measure>) -> Result<Exit> {
    let measure = &plan.offer;
    check_folder("--record", output.record.as_deref())?;
    if let BedChoice::Kept(name) = &plan.bed {
        // Without rights nobody knows which beds there are.
        let beds = bed::list().unwrap_or_default();
        let found = beds.into_iter().find(|bed| bed.name == *name);
        if let Some(plan) = found.and_then(|bed| bed.plan) {
            measure.check_bed(name, &plan)?;
        }
    }
    let (text, bed) = planned(&plan.bed)?;
    if output.json {
        let points = measure.points().iter();
        let points = points
            .map(|point| json!({ "routes": point.routes, "destinations": point.destinations }));
        let job = planned_job(plan);
        terminal::out(&terminal::document(json!({
            "dry_run": true,
            "job": job.name,
            "bed": bed,
            "plan": serde_json::to_value(&job.plan)?,
            "points": points.collect::<Value>(),
        })));
    } else {
        let simulated = matches!(plan.bed, BedChoice::Simulated(_));
        let mut job = planned_job(plan);
        // Nothing limits the time of a simulation.
        job.budget = job.budget.filter(|_| !simulated);
        let words = words::job(&job, plan.destinations.as_ref(), simulated);
        let words = words + &measure.more();
        terminal::out(&terminal::fitted(&format!("{text}{words}")));
    }
    Ok(Exit::Measured)
}

fn planned_job<'a>(plan: &'a Planned<impl Measure>) -> Job<'a> {
    let job = plan.offer.job();
    match plan.bed.asks_ports() {
        true => job.before_ports(),
        false => job,
    }
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

/// The bed in words, and for programs.
fn planned(choice: &BedChoice) -> Result<(String, Value)> {
    Ok(match choice {
        BedChoice::Kept(name) => {
            // Without rights nobody knows which beds there are.
            if let Ok(beds) = bed::list() {
                let stands = beds.iter().any(|bed| bed.kept && bed.name == *name);
                ensure!(stands, BedError::NoSuchBed(name.clone()));
            }
            let entry = json!({ "kind": "kept", "name": name });
            (format!("bed          {name}, kept\n"), entry)
        }
        BedChoice::Own(wish) => {
            let plan = wish.on_this_machine()?;
            (words::bed(&plan), words::bed_json(&plan))
        }
        BedChoice::Simulated(pair) => {
            let entry = json!({ "kind": "simulated", "pair": pair.to_string() });
            (format!("bed          none: simulated {pair}\n"), entry)
        }
    })
}
