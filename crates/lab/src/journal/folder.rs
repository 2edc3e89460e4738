//! The folders of journals. Each gets and loses its name in one step, so no other process sees an incomplete one.

use super::{JournalError, ROOT, trust};
use mpps_linux::task;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// Begin of a folder's name before it has its own, and after it lost that.
const PASSING: [&str; 2] = [".new-", ".old-"];
/// Most attempts: the root may vanish between two calls, with the last bed of another process.
const TRIES: u32 = 100;

/// A new folder under a passing name.
pub(super) fn unnamed() -> Result<PathBuf, JournalError> {
    let path = passing(PASSING[0]);
    let make = || trust::make_root().and_then(|()| trust::make_folder(&path));
    let mut made = make();
    for _ in 1..TRIES {
        match &made {
            Err(error) if is_race(error) => made = make(),
            _ => break,
        }
    }
    made.map(|()| path)
}

fn is_race(error: &JournalError) -> bool {
    matches!(
        error.kind(),
        Some(io::ErrorKind::NotFound | io::ErrorKind::AlreadyExists)
    )
}

/// Gives a folder its name; `None` when the name is taken.
pub(super) fn give_name(unnamed: &Path, name: &str) -> Result<Option<PathBuf>, JournalError> {
    let folder = Path::new(ROOT).join(name);
    sync(unnamed)?;
    // An empty folder of that name would be replaced; one with a journal in it is not.
    match fs::rename(unnamed, &folder) {
        Ok(()) => {
            sync(Path::new(ROOT))?;
            Ok(Some(folder))
        }
        Err(error) => match error.kind() {
            io::ErrorKind::DirectoryNotEmpty | io::ErrorKind::AlreadyExists => Ok(None),
            _ => Err(JournalError::io("rename to", &folder)(error)),
        },
    }
}

/// Has the kernel write the names in a folder to disk.
pub(super) fn sync(folder: &Path) -> Result<(), JournalError> {
    let synced = File::open(folder).and_then(|folder| folder.sync_all());
    synced.map_err(JournalError::io("sync", folder))
}

/// Removes a folder: first its name, so that a bed of this name may begin at once. The last one takes
/// the root with it.
pub(super) fn remove(folder: &Path) -> Result<(), JournalError> {
    let passing = passing(PASSING[1]);
    fs::rename(folder, &passing).map_err(JournalError::io("rename", folder))?;
    sync(Path::new(ROOT))?;
    remove_all(&passing)?;
    // It fails where other beds are there, or another process removed it first.
    let _others = fs::remove_dir(ROOT);
    Ok(())
}

/// Removes folders under passing names whose owner is dead: nothing was changed yet, or nothing is
/// left changed.
///
/// # Errors
/// One could not be removed.
pub fn sweep() -> Result<(), JournalError> {
    let Ok(entries) = fs::read_dir(ROOT) else {
        return Ok(());
    };
    for entry in entries {
        let entry = entry.map_err(JournalError::io("list", Path::new(ROOT)))?;
        let name = entry.file_name();
        let Some(owner) = name
            .to_str()
            .and_then(|name| PASSING.iter().find_map(|start| name.strip_prefix(start)))
        else {
            continue;
        };
        if !owner_lives(owner) {
            remove_all(&entry.path())?;
        }
    }
    let _others = fs::remove_dir(ROOT);
    Ok(())
}

/// Removes a folder. Another recovery may remove the same one.
fn remove_all(path: &Path) -> Result<(), JournalError> {
    match fs::remove_dir_all(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(JournalError::io("remove", path)(error))
        }
        _ => Ok(()),
    }
}

/// A name no other process and no other call of this one has: pid, its start, a count.
fn passing(start: &str) -> PathBuf {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let pid = task::current_pid();
    let started = task::start_time(pid).unwrap_or(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    Path::new(ROOT).join(format!("{start}{pid}-{started}-{count}"))
}

/// Whether the process that a passing name names still lives.
fn owner_lives(owner: &str) -> bool {
    let mut parts = owner.split('-').map(str::parse::<u64>);
    match (parts.next(), parts.next()) {
        (Some(Ok(pid)), Some(Ok(started))) => {
            i32::try_from(pid).is_ok_and(|pid| task::lives(pid, started))
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_passing_name_tells_whether_its_owner_lives() {
        let mine = passing(PASSING[0]);
        let owner = mine
            .file_name()
            .and_then(|name| name.to_str())
            .and_then(|name| name.strip_prefix(".new-"))
            .expect("a passing name");
        assert!(owner_lives(owner));
        let (pid, rest) = owner.split_once('-').expect("pid and start");
        // The same number, another start: another process.
        assert!(!owner_lives(&format!("{pid}-1{rest}")));
        assert!(!owner_lives("garbage"));
        assert_ne!(mine, passing(PASSING[0]));
    }
}
