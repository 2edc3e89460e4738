//! `mpps show`: the result of a record again, from the file alone.

use super::{record_file, what_if};
use crate::args::ShowRecordArgs;
use crate::exit::Exit;
use crate::outcome::{self, View};
use crate::terminal;
use anyhow::{Result, bail};
use mpps_record::{Run, read_to_show};
use mpps_report::campaign::CampaignRun;
use std::path::Path;

/// Runs the verb.
///
/// # Errors
/// Nothing of the record can be read, or it has no such run.
pub fn run(args: &ShowRecordArgs) -> Result<Exit> {
    let path = record_file::path(&args.record)?;
    let records = read_to_show(&path)?;
    for problem in &records.problems {
        terminal::error(&format!("{}: {problem}", path.display()));
    }
    let all: Vec<&Run> = records.runs.iter().collect();
    for run in &all {
        if let Some(what) = mpps_report::missing_trials(run, &all) {
            terminal::error(&format!("run {} {what}", run.name));
        }
    }
    let campaigns = CampaignRun::each(&all);
    let mut wanted = all.clone();
    match &args.run {
        Some(name) => wanted = named(name, &all, &path)?,
        // Runs of cells are rows of their campaign.
        None => {
            wanted.retain(|run| args.verbose || campaigns.iter().all(|campaign| !campaign.has(run)))
        }
    }
    if let Some(asked) = &args.what_if {
        what_if::show(&wanted, asked, args.json)?;
        return Ok(Exit::Measured);
    }
    for (place, run) in wanted.into_iter().enumerate() {
        if place > 0 && !args.json {
            terminal::out("\n");
        }
        match campaigns.iter().find(|own| own.run.name == run.name) {
            Some(campaign) => {
                let view = View::new(run, &path, args.json, args.verbose);
                terminal::show_campaign(campaign, &view)?;
                tell_end(run);
            }
            None => show(run, &path, args)?,
        }
    }
    Ok(Exit::Measured)
}

/// The runs of this name, or those of a campaign's cell of this id.
///
/// # Errors
/// There is none.
pub(super) fn named<'a>(name: &str, all: &[&'a Run], path: &Path) -> Result<Vec<&'a Run>> {
    let campaigns = CampaignRun::each(all);
    let is_named = |run: &&Run| name == run.name || is_cell(name, run, &campaigns);
    let wanted: Vec<&Run> = all.iter().copied().filter(is_named).collect();
    if wanted.is_empty() {
        let names: Vec<&str> = all.iter().map(|run| run.name.as_str()).collect();
        let (path, names) = (path.display(), names.join(", "));
        bail!("--run: there is no run {name} in {path} (it has {names})");
    }
    Ok(wanted)
}

/// Whether it is the run of a cell of this id.
fn is_cell(id: &str, run: &Run, campaigns: &[CampaignRun<'_>]) -> bool {
    let mut cells = campaigns.iter().flat_map(|campaign| &campaign.cells);
    cells.any(|cell| cell.line.cell == id && cell.line.measured_run.as_ref() == Some(&run.name))
}

fn show(run: &Run, path: &Path, args: &ShowRecordArgs) -> Result<()> {
    let name = &run.name;
    if outcome::is_in(run) {
        let view = View::new(run, path, args.json, args.verbose);
        terminal::show(run, &view)?;
    } else if args.json {
        terminal::error(&format!("run {name}: {}", no_result(run)));
    } else {
        terminal::out(&terminal::fitted(&format!("{name}: {}\n", no_result(run))));
    }
    tell_end(run);
    Ok(())
}

/// What there is of a run without a result.
fn no_result(run: &Run) -> String {
    let trials = match run.trials.len() {
        1 => "1 trial is".to_owned(),
        trials => format!("{trials} trials are"),
    };
    format!("no result; {trials} in the record (mpps report shows all of it)")
}

/// Says how a run ended that did not end as it should.
fn tell_end(run: &Run) {
    let name = &run.name;
    match run.end.as_ref().map(|end| &end.error) {
        None => terminal::error(&format!(
            "run {name} has no last line: it was killed, or it is still running"
        )),
        Some(Some(error)) => terminal::error(error),
        Some(None) => {}
    }
}
