//! Which journals are believed. Recovery does as root what a journal says, so only root may have written it.

use super::{JournalError, ROOT};
use std::fs::{self, DirBuilder, File, OpenOptions, Permissions};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// Mode of our folders, whatever the umask.
const FOLDER_MODE: u32 = 0o755;
/// Mode of the files in them, whatever the umask.
const FILE_MODE: u32 = 0o600;
/// Write permission for the group and for others.
const WRITABLE: u32 = 0o022;

/// Makes the root of all journals if it is missing.
///
/// # Errors
/// It cannot be made, or [`check_root`] refuses the one that is there.
pub(super) fn make_root() -> Result<(), JournalError> {
    let root = Path::new(ROOT);
    if !root.exists() {
        let mut make = DirBuilder::new();
        let made = make.recursive(true).mode(FOLDER_MODE).create(root);
        made.map_err(JournalError::io("make folder", root))?;
        set_mode(root, FOLDER_MODE)?;
    }
    check_root()
}

/// Makes a folder for a journal.
pub(super) fn make_folder(path: &Path) -> Result<(), JournalError> {
    let made = DirBuilder::new().mode(FOLDER_MODE).create(path);
    made.map_err(JournalError::io("make folder", path))?;
    set_mode(path, FOLDER_MODE)
}

fn set_mode(path: &Path, mode: u32) -> Result<(), JournalError> {
    let set = fs::set_permissions(path, Permissions::from_mode(mode));
    set.map_err(JournalError::io("set the mode of", path))
}

/// Makes a file of ours, to read and to append to.
pub(super) fn make_file(path: &Path) -> Result<File, JournalError> {
    let mut open = OpenOptions::new();
    let open = open.create_new(true).read(true).append(true);
    let file = open.mode(FILE_MODE).open(path);
    let file = file.map_err(JournalError::io("make", path))?;
    set_mode(path, FILE_MODE)?;
    Ok(file)
}

/// Refuses a root folder that another user owns or may write to.
///
/// # Errors
/// One line that names the remedy; `NotFound` where there is no root folder.
pub fn check_root() -> Result<(), JournalError> {
    check_owner(Path::new(ROOT))
}

/// Path of a file of ours in the folder of this journal.
///
/// # Errors
/// Root folder, folder or file belongs to another user, or another user may write to it; `NotFound` where one
/// of them is missing.
pub(super) fn path(name: &str, file: &str) -> Result<PathBuf, JournalError> {
    check_root()?;
    let folder = Path::new(ROOT).join(name);
    check_owner(&folder)?;
    let path = folder.join(file);
    check_owner(&path)?;
    Ok(path)
}

fn check_owner(path: &Path) -> Result<(), JournalError> {
    let data = fs::symlink_metadata(path).map_err(JournalError::io("examine", path))?;
    let (owner, mode) = (data.uid(), data.mode() & 0o7777);
    let why = if data.is_symlink() {
        "is a symbolic link".to_owned()
    } else if owner != 0 {
        format!("belongs to user {owner}")
    } else if mode & WRITABLE != 0 {
        format!("may be written to by other users (mode {mode:04o})")
    } else {
        return Ok(());
    };
    Err(JournalError::NotBelieved {
        path: path.to_path_buf(),
        why,
    })
}
