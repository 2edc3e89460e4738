//! The file of a record that a user named.

use crate::folder::Folder;
use crate::records::find;
use crate::terminal;
use anyhow::Result;
use std::path::{Path, PathBuf};

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
