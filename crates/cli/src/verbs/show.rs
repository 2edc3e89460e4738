//! `mpps show`: the result of a record again, from the file alone.

use super::what_if;
use crate::args::ShowRecordArgs;
use crate::exit::Exit;
use crate::outcome::{self, View};
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
    if let Some(asked) = &args.what_if {
        what_if::show(&wanted, asked, args.json)?;
        return Ok(Exit::Measured);
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
    let name = &run.name;
    if outcome::is_in(run) {
        let view = View::new(run, &args.record, args.json, args.verbose);
        outcome::show(run, &view)?;
    } else {
        let trials = run.trials.len();
        terminal::error(&format!("run {name}: no result, {trials} trials"));
    }
    match run.end.as_ref().map(|end| &end.error) {
        None => terminal::error(&format!(
            "run {name} has no last line: it was killed, or it is still running"
        )),
        Some(Some(error)) => terminal::error(error),
        Some(None) => {}
    }
    Ok(())
}
