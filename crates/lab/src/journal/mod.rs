//! The journal: what is about to be changed on the host, on disk before it is changed.
//!
//! One folder a bed, `/run/mpps/<bed>/`, with `journal.jsonl` in it: one entry a line, synced before
//! the change it announces is made. The owner holds an exclusive lock on the file for as long as it
//! lives; the kernel drops the lock with the process, however that ends. So "is the owner alive?" is
//! "can the file be locked?", with no process id that could be another's by now.
//!
//! Only what outlives our processes is journalled: namespaces (their interfaces, routes, sysctls and
//! attached programs go with them) and folders. eBPF objects are held by file descriptors alone.

mod entry;
pub mod fault;
mod revert;

pub use entry::Entry;
pub use revert::{Reverted, revert};

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Where the journals lie. A tmpfs on every distribution: what it describes does not survive a reboot either.
pub const ROOT: &str = "/run/mpps";
const FILE: &str = "journal.jsonl";

/// An open journal whose owner we are.
#[derive(Debug)]
pub struct Journal {
    folder: PathBuf,
    file: File,
    written: u64,
}

/// What became of the attempt to own a journal.
#[derive(Debug)]
pub enum Claim {
    /// It is ours now.
    Ours(Journal),
    /// Somebody alive owns it.
    InUse,
}

impl Journal {
    /// Begins a journal under this name; `None` when the name is taken.
    ///
    /// The folder is made under another name, with the locked file in it, and then renamed: nobody
    /// ever sees a folder whose owner seems dead.
    ///
    /// # Errors
    /// The folder could not be made or synced.
    pub fn begin(name: &str) -> io::Result<Option<Self>> {
        fs::create_dir_all(ROOT)?;
        let making = Path::new(ROOT).join(format!(".new-{}", fault::unique()));
        fs::create_dir(&making)?;
        let file = OpenOptions::new()
            .create_new(true)
            .append(true)
            .open(making.join(FILE))?;
        file.lock()?;
        let folder = Path::new(ROOT).join(name);
        // An empty folder of that name would be replaced; one with a journal in it is not.
        if let Err(error) = fs::rename(&making, &folder) {
            fs::remove_dir_all(&making)?;
            return match error.kind() {
                io::ErrorKind::DirectoryNotEmpty | io::ErrorKind::AlreadyExists => Ok(None),
                _ => Err(error),
            };
        }
        File::open(ROOT)?.sync_all()?;
        Ok(Some(Self {
            folder,
            file,
            written: 0,
        }))
    }

    /// Takes over the journal of this name.
    ///
    /// # Errors
    /// No such journal (`NotFound`), or it could not be opened.
    pub fn claim(name: &str) -> io::Result<Claim> {
        let folder = Path::new(ROOT).join(name);
        let file = OpenOptions::new()
            .read(true)
            .append(true)
            .open(folder.join(FILE))?;
        match file.try_lock() {
            Ok(()) => Ok(Claim::Ours(Self {
                folder,
                file,
                written: 0,
            })),
            Err(TryLockError::WouldBlock) => Ok(Claim::InUse),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }

    /// Announces a change, then makes it.
    ///
    /// # Errors
    /// The entry could not be synced (the change was not made then), or the change's own error.
    pub fn change<T, E: From<io::Error>>(
        &mut self,
        entry: &Entry,
        make: impl FnOnce() -> Result<T, E>,
    ) -> Result<T, E> {
        self.record(entry)?;
        fault::after_entry(self.written);
        let made = make()?;
        fault::after_change(self.written);
        Ok(made)
    }

    /// Writes an entry to disk.
    ///
    /// # Errors
    /// It could not be written or synced.
    pub fn record(&mut self, entry: &Entry) -> io::Result<()> {
        let mut line = serde_json::to_string(entry)?;
        line.push('\n');
        self.file.write_all(line.as_bytes())?;
        self.file.sync_all()?;
        self.written += 1;
        Ok(())
    }

    /// All whole entries. A last line without its end was never synced: its change was not made.
    ///
    /// # Errors
    /// The file could not be read.
    pub fn entries(&self) -> io::Result<Vec<Entry>> {
        let text = fs::read_to_string(self.folder.join(FILE))?;
        let whole = text.rfind('\n').map_or("", |end| &text[..end]);
        Ok(whole
            .lines()
            .filter_map(|line| serde_json::from_str(line).ok())
            .collect())
    }

    /// The folder, for what else belongs to the bed.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Ends the journal: everything in it has been put back.
    ///
    /// # Errors
    /// The folder could not be removed.
    pub fn end(self) -> io::Result<()> {
        fs::remove_dir_all(&self.folder)
    }
}

/// Names of all journals, alive or not.
///
/// # Errors
/// The folder could not be read; that it is not there is an empty list.
pub fn names() -> io::Result<Vec<String>> {
    let entries = match fs::read_dir(ROOT) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let mut names = Vec::new();
    for entry in entries {
        names.extend(
            entry?
                .file_name()
                .into_string()
                .ok()
                .filter(|name| !name.starts_with('.')),
        );
    }
    names.sort();
    Ok(names)
}

/// Removes folders whose maker died before giving them their name; nothing else was done by then.
///
/// # Errors
/// The folder could not be read.
pub fn remove_unborn() -> io::Result<()> {
    let Ok(entries) = fs::read_dir(ROOT) else {
        return Ok(());
    };
    for entry in entries {
        let entry = entry?;
        let name = entry.file_name();
        let Some(maker) = name.to_str().and_then(|name| name.strip_prefix(".new-")) else {
            continue;
        };
        if !fault::maker_lives(maker) {
            fs::remove_dir_all(entry.path())?;
        }
    }
    Ok(())
}
