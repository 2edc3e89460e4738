//! Which journals are believed. Recovery does as root what a journal says, so nobody else may have written it.

use super::{FILE, ROOT};
use std::fs::{self, DirBuilder, File, OpenOptions, Permissions};
use std::io;
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
pub(super) fn make_root() -> io::Result<()> {
    let root = Path::new(ROOT);
    if !root.exists() {
        let mut make = DirBuilder::new();
        make.recursive(true).mode(FOLDER_MODE).create(root)?;
        fs::set_permissions(root, Permissions::from_mode(FOLDER_MODE))?;
    }
    check_root()
}

/// Makes a folder for a journal.
pub(super) fn make_folder(path: &Path) -> io::Result<()> {
    DirBuilder::new().mode(FOLDER_MODE).create(path)?;
    fs::set_permissions(path, Permissions::from_mode(FOLDER_MODE))
}

/// Makes a file of ours, to read and to append to.
pub(super) fn make_file(path: &Path) -> io::Result<File> {
    let mut open = OpenOptions::new();
    let open = open.create_new(true).read(true).append(true);
    let file = open.mode(FILE_MODE).open(path)?;
    file.set_permissions(Permissions::from_mode(FILE_MODE))?;
    Ok(file)
}

/// Refuses a root folder that another user owns or may write to.
///
/// # Errors
/// One line that names the remedy; `NotFound` where there is no root folder.
pub fn check_root() -> io::Result<()> {
    check_owner(Path::new(ROOT))
}

/// Path of a file of ours in the folder of this journal.
///
/// # Errors
/// Root folder, folder or file belongs to another user, or another user may write to it; `NotFound` where one
/// of them is missing.
pub(super) fn path(name: &str, file: &str) -> io::Result<PathBuf> {
    check_root()?;
    let folder = Path::new(ROOT).join(name);
    check_owner(&folder)?;
    let path = folder.join(file);
    check_owner(&path)?;
    Ok(path)
}

fn check_owner(path: &Path) -> io::Result<()> {
    let data = fs::symlink_metadata(path)?;
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
    let path = path.display();
    Err(io::Error::other(format!(
        "{path} {why}, so it is not believed (look at it, then remove it, or: chown root {path}; chmod go-w {path})"
    )))
}

/// A journal that mpps does not act on.
pub(super) fn not_ours(name: &str, why: &str) -> io::Error {
    io::Error::new(
        io::ErrorKind::InvalidData,
        format!(
            "{why} (see {ROOT}/{name}/{FILE}: use the mpps that wrote it, or remove {ROOT}/{name} if nothing of it is left)"
        ),
    )
}
