//! The records in a folder. Whatever else lies there is counted and left alone.

use anyhow::{Context, Result, bail};
use mpps_record::{Records, read_to_report};
use std::fs::{self, DirEntry, File, TryLockError};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// A run without a last line may still write one for so long after its latest: no run has a longer budget.
const UNDER_WAY: Duration = Duration::from_secs(24 * 60 * 60);

/// A record that lies in the folder.
pub struct Kept {
    /// Where.
    pub path: PathBuf,
    /// Its size, octets.
    pub octets: u64,
    /// When its latest line was written.
    pub written: SystemTime,
    /// Its runs.
    pub records: Records,
}

/// What lies in a folder.
#[derive(Default)]
pub struct Shelf {
    /// Its records, newest first.
    pub kept: Vec<Kept>,
    /// Files that are no records: empty, foreign, links, or not to be read.
    pub others: usize,
}

impl Shelf {
    /// Reads every record of the folder; where there is no folder there are none.
    ///
    /// # Errors
    /// The folder cannot be read.
    pub fn read(folder: &Path) -> Result<Self> {
        let mut shelf = Self::default();
        for entry in entries(folder)? {
            match Kept::read(&entry) {
                Some(kept) => shelf.kept.push(kept),
                None => shelf.others += 1,
            }
        }
        let newest_first =
            |one: &Kept, other: &Kept| (other.written, &other.path).cmp(&(one.written, &one.path));
        shelf.kept.sort_by(newest_first);
        Ok(shelf)
    }
}

fn entries(folder: &Path) -> Result<Vec<DirEntry>> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.and_then(Iterator::collect),
    };
    entries.with_context(|| format!("read the folder of records {}", folder.display()))
}

impl Kept {
    /// `None` where it is no record, or cannot be read. No link is followed.
    fn read(entry: &DirEntry) -> Option<Self> {
        let about = entry.metadata().ok()?;
        let path = entry.path();
        let is_record = about.is_file() && path.extension().is_some_and(|end| end == "jsonl");
        let records = is_record.then(|| read_to_report(&path))?.ok()?;
        Some(Self {
            octets: about.len(),
            written: about.modified().ok()?,
            records,
            path,
        })
    }

    /// How long ago its latest line was written; nothing where the clock says in the future.
    fn age(&self) -> Duration {
        self.written.elapsed().unwrap_or_default()
    }

    /// Whether one of its runs may still write to it.
    pub fn is_under_way(&self) -> bool {
        let runs = &self.records.runs;
        runs.iter().any(|run| run.end.is_none()) && self.age() < UNDER_WAY
    }

    /// Whether it was last written to so long ago.
    pub fn is_older_than(&self, age: Duration) -> bool {
        self.age() > age
    }

    /// Removes it. `false`: a run is writing to it at this moment, so it stays.
    ///
    /// # Errors
    /// The system refused.
    pub fn remove(&self) -> Result<bool> {
        let removed = File::open(&self.path).and_then(|file| match file.try_lock() {
            Err(TryLockError::WouldBlock) => Ok(false),
            Err(TryLockError::Error(error)) => Err(error),
            Ok(()) => fs::remove_file(&self.path).map(|()| true),
        });
        removed.with_context(|| format!("remove record {}", self.path.display()))
    }
}

/// The record in the folder whose name is this, or alone begins with it.
///
/// # Errors
/// There is none, or there are several.
pub fn find(folder: &Path, name: &str) -> Result<PathBuf> {
    let names = |entry: &DirEntry| entry.file_name().to_string_lossy().into_owned();
    let mut found = entries(folder)?;
    found.retain(|entry| names(entry).starts_with(name) && names(entry).ends_with(".jsonl"));
    let whole = format!("{name}.jsonl");
    if let Some(whole) = found.iter().find(|entry| names(entry) == whole) {
        return Ok(whole.path());
    }
    match &found[..] {
        [one] => Ok(one.path()),
        [] => bail!(
            "there is no file {name}, and no record of this name in {}: `mpps records list` shows all",
            folder.display()
        ),
        several => bail!(
            "{} records begin with {name}: type more of the name (`mpps records list` shows all)",
            several.len()
        ),
    }
}
