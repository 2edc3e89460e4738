//! `mpps records`: the records of this user. It needs no root.

use super::record_file::folder;
use super::show;
use crate::args::{PruneArgs, RecordsArgs, RecordsVerb};
use crate::exit::Exit;
use crate::records::{Kept, Shelf};
use crate::terminal;
use anyhow::{Result, ensure};
use std::path::Path;

/// Runs the verb.
pub fn run(args: &RecordsArgs) -> Result<Exit> {
    match &args.verb {
        RecordsVerb::Show(args) => show::run(args),
        RecordsVerb::List(args) => {
            let folder = folder()?;
            let shelf = Shelf::read(&folder)?;
            terminal::out(&match args.json {
                true => terminal::records_json(&folder, &shelf),
                false => terminal::fitted(&terminal::records(&folder, &shelf)),
            });
            Ok(Exit::Measured)
        }
        RecordsVerb::Prune(args) => prune(&folder()?, args),
    }
}

/// Removes what is old, says it, and goes on where one cannot be removed.
fn prune(folder: &Path, args: &PruneArgs) -> Result<Exit> {
    let shelf = Shelf::read(folder)?;
    let newest = args
        .keep
        .map_or(0, |keep| usize::try_from(keep).unwrap_or(usize::MAX));
    let is_old = |kept: &&Kept| args.older_than.is_none_or(|age| kept.is_older_than(age));
    let (mut removed, mut octets, mut failed) = (0, 0, 0);
    let verb = if args.dry_run {
        "would remove"
    } else {
        "removed"
    };
    for kept in shelf.kept.iter().skip(newest).filter(is_old) {
        let name = terminal::file_name(&kept.path);
        let gone = match (kept.is_under_way(), args.dry_run) {
            (true, _) => Ok(false),
            (false, true) => Ok(true),
            (false, false) => kept.remove(),
        };
        match gone {
            Ok(true) => {
                removed += 1;
                octets += kept.octets;
                terminal::out(&format!("{verb} {name}\n"));
            }
            Ok(false) => terminal::note(&format!("kept {name}: a run may still write to it")),
            Err(error) => {
                failed += 1;
                terminal::error(&format!("{error:#}"));
            }
        }
    }
    let size = terminal::file_size(octets);
    terminal::out(&format!(
        "{verb} {removed} of {} records, {size}\n",
        shelf.kept.len()
    ));
    ensure!(
        failed == 0,
        "{failed} records could not be removed (see above)"
    );
    Ok(Exit::Measured)
}
