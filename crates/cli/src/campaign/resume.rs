//! What a record has of a campaign that is to go on.

use super::{Campaign, Cell};
use crate::exit::Exit;
use crate::record::repeated;
use anyhow::{Error, Result, anyhow, bail};
use mpps_lab::facts;
use mpps_record::{CampaignLine, CellLine, ReadError, read_file};
use std::collections::BTreeMap;
use std::path::Path;

/// A campaign that was begun.
#[derive(Debug)]
pub struct Begun {
    /// Name of its run.
    pub run: String,
    /// The last line of each cell, by its id.
    pub cells: BTreeMap<String, CellLine>,
}

impl Begun {
    /// Whether a cell need not run again: it measured, whether or not an expectation was met, or it cannot run here.
    pub fn is_done(&self, cell: &Cell, can_run: bool) -> bool {
        self.cells
            .get(cell.id.get_ref())
            .is_some_and(|line| has_measured(line) || (line.not_run.is_some() && !can_run))
    }
}

fn has_measured(line: &CellLine) -> bool {
    [Exit::Measured, Exit::NotMet]
        .map(|exit| Some(exit.code()))
        .contains(&line.exit_code)
}

/// The campaign in this record; `None` where there is none yet.
///
/// # Errors
/// It is another one, or the plan, the machine or this program is another one now.
pub fn begun(path: &Path, plan: &Campaign, quick: bool) -> Result<Option<Begun>> {
    if std::fs::metadata(path).map_or(0, |about| about.len()) == 0 {
        return Ok(None);
    }
    let records = read_file(path).map_err(|error| match error {
        ReadError::Io { .. } => Error::new(error),
        _ => anyhow!(
            "{} is no record of mpps: name a file written with --record",
            path.display()
        ),
    })?;
    let mut runs = records.runs.iter().rev();
    let Some((run, line)) = runs.find_map(|run| Some((run, run.campaign.as_ref()?))) else {
        return Ok(None);
    };
    let path = path.display();
    if line.name != plan.name {
        bail!(
            "{path} is of the campaign {}: name another file with --record",
            line.name
        );
    }
    if line.quick != quick {
        let (was, do_what) = match line.quick {
            true => ("with", "give it"),
            false => ("without", "leave it out"),
        };
        bail!("{path} was begun {was} --quick: {do_what}, or name another file with --record");
    }
    if line.plan != plan.text {
        bail!(
            "{}: the plan has changed since {path} was begun ({}): put it back, or give another --record",
            plan.from,
            differences(line, plan)
        );
    }
    let mut measured = run.cells.iter().filter(|line| has_measured(line));
    let measured = measured.find_map(|line| {
        let mut runs = records.runs.iter();
        let run = runs.find(|run| Some(&run.name) == line.measured_run.as_ref());
        run?.begin.as_ref()
    });
    let differ = measured.map(|begin| {
        let before = &begin.comparability;
        repeated(before, &facts::gather()).differences(before)
    });
    if let Some(differ) = differ.filter(|differ| !differ.is_empty()) {
        bail!(
            "{path} was begun on another machine, kernel or mpps ({}): go on there, or name another file with --record",
            differ.join(", ")
        );
    }
    let cells = run
        .cells
        .iter()
        .map(|line| (line.cell.clone(), line.clone()));
    Ok(Some(Begun {
        run: run.name.clone(),
        cells: cells.collect(),
    }))
}

/// Cells that are other ones now, by their ids.
fn differences(line: &CampaignLine, plan: &Campaign) -> String {
    let Ok(old) = Campaign::read(&plan.from, &line.plan, line.quick) else {
        return "this mpps cannot read the recorded one".to_owned();
    };
    let by_id = |cells: &[Cell]| -> BTreeMap<String, Cell> {
        let cells = cells
            .iter()
            .map(|cell| (cell.id.get_ref().clone(), cell.clone()));
        cells.collect()
    };
    let (old, new) = (by_id(&old.cells), by_id(&plan.cells));
    let is_changed = |id: &&String| old.get(*id).is_some_and(|was| *was != new[*id]);
    let all = [
        ("changed", new.keys().filter(is_changed).collect()),
        (
            "added",
            new.keys().filter(|id| !old.contains_key(*id)).collect(),
        ),
        (
            "removed",
            old.keys().filter(|id| !new.contains_key(*id)).collect(),
        ),
    ];
    let all = all
        .into_iter()
        .filter(|(_, ids): &(_, Vec<&String>)| !ids.is_empty());
    let all = all.map(|(what, ids)| {
        let ids: Vec<&str> = ids.into_iter().map(String::as_str).collect();
        format!("{what}: {}", ids.join(", "))
    });
    match all.collect::<Vec<String>>() {
        all if all.is_empty() => "no cell, but its title, source, order or comments".to_owned(),
        all => all.join("; "),
    }
}
