//! `mpps show`: the result of a record again, from the file alone.

use super::measure::{Head, View};
use super::{calibrate, fib_scale, loss, throughput, trial};
use crate::args::ShowRecordArgs;
use crate::exit::Exit;
use crate::terminal;
use anyhow::{Result, bail};
use mpps_record::{Run, read_file};

/// Runs the verb.
///
/// # Errors
/// Nothing of the record can be read, or it has no such run.
pub fn run(args: &ShowRecordArgs) -> Result<Exit> {
    let records = read_file(&args.record)?;
    for problem in &records.problems {
        terminal::error(&problem.to_string());
    }
    let is_wanted = |run: &&Run| args.run.as_ref().is_none_or(|name| *name == run.name);
    let wanted: Vec<&Run> = records.runs.iter().filter(is_wanted).collect();
    if let (Some(name), true) = (&args.run, wanted.is_empty()) {
        let names: Vec<&str> = records.runs.iter().map(|run| run.name.as_str()).collect();
        let (path, names) = (args.record.display(), names.join(", "));
        bail!("--run: there is no run {name} in {path} (it has {names})");
    }
    for (place, run) in wanted.into_iter().enumerate() {
        if place > 0 && !args.json {
            terminal::out("\n");
        }
        show(run, args)?;
    }
    Ok(Exit::Measured)
}

fn show(run: &Run, args: &ShowRecordArgs) -> Result<()> {
    let (begin, name) = (run.begin.as_ref(), &run.name);
    let view = View {
        head: Head::from_record(run, &args.record),
        json: args.json,
        verbose: args.verbose,
    };
    let error = view.head.error.clone();
    if !run.results.is_empty() {
        throughput::show(view, begin, &run.results)?;
    } else if !run.points.is_empty() {
        fib_scale::show(view, begin, &run.points, None)?;
    } else if !run.calibrations.is_empty() {
        calibrate::show(view, &run.calibrations)?;
    } else if !run.loads.is_empty() {
        trial::show(view, begin, &run.loads, &run.trials)?;
    } else if !run.curves.is_empty() {
        loss::show(view, begin, &run.curves, None)?;
    } else {
        let trials = run.trials.len();
        terminal::error(&format!("run {name}: no result, {trials} trials"));
    }
    match (&run.end, error) {
        (None, _) => terminal::error(&format!(
            "run {name} has no last line: it was killed, or it is still running"
        )),
        (Some(_), Some(error)) => terminal::error(&error),
        (Some(_), None) => {}
    }
    Ok(())
}
