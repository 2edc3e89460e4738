//! `mpps records`: the records of this user. It needs no root.

use super::show;
use crate::args::{PruneArgs, RecordsArgs, RecordsVerb};
use crate::exit::Exit;
use crate::folder::Folder;
use crate::records::{Kept, Shelf, find};
use crate::terminal;
use anyhow::{Result, ensure};
use std::path::{Path, PathBuf};

/// Runs the verb.
pub fn run(args: &RecordsArgs) -> Result<Exit> {
    match &args.verb {
        RecordsVerb::Show(args) => show::run(args),
        RecordsVerb::List(args) => {
            let folder = folder()?;
            let shelf = Shelf::read(&folder)?;
            terminal::out(&match args.json {
                true => terminal::records_json(&folder, &shelf),
                false => terminal::records(&folder, &shelf),
            });
            Ok(Exit::Measured)
        }
        RecordsVerb::Prune(args) => prune(&folder()?, args),
    }
}

/// The folder of records; says where it is not the one that a user expects.
///
/// # Errors
/// There is no home.
pub fn folder() -> Result<PathBuf> {
    let Folder { path, avoided } = Folder::find()?;
    if let Some(foreign) = avoided {
        let (foreign, folder) = (foreign.display(), path.display());
        terminal::note(&format!(
            "mpps: {foreign} belongs to another user: these records are in {folder}"
        ));
    }
    Ok(path)
}

/// The file of a record: that at this path, or else that of the run of this name.
///
/// # Errors
/// There is neither, or several runs have names that begin so.
pub fn path(record: &Path) -> Result<PathBuf> {
    match record.exists() {
        true => Ok(record.to_owned()),
        false => find(&folder()?, &record.to_string_lossy()),
    }
}

/// Whether both paths lead to one file, by whatever name.
pub fn same_file(one: &Path, other: &Path) -> bool {
    let file = |path: &Path| {
        #[cfg(unix)]
        let id = std::fs::metadata(path).ok().map(|file| {
            use std::os::unix::fs::MetadataExt;
            (file.dev(), file.ino())
        });
        #[cfg(not(unix))]
        let id = path.canonicalize().ok();
        id
    };
    file(one).is_some_and(|one| file(other) == Some(one))
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
