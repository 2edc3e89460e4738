//! The journal: what is about to be changed on the host, on disk before it is changed.
//!
//! One folder a bed, `/run/mpps/<bed>/`, with `journal.jsonl` in it: one entry a line, synced before
//! the change it announces is made. The owner holds an exclusive lock on the file for as long as it
//! lives; the kernel drops the lock with the process, however that ends. So "is the owner alive?" is
//! "can the file be locked?", with no process id that could be another's by now.
//!
//! Only what outlives our processes is journalled: namespaces (their interfaces, routes, sysctls and
//! attached programs go with them), folders, ports of the host that we adopt, and routes in namespaces that are none of ours.
//! eBPF objects are held by file descriptors alone.

mod entry;
pub mod fault;
mod folder;
mod port;
mod revert;

pub(crate) use entry::maker_lives;
pub use entry::{Entry, is_kept};
pub use folder::sweep;
pub use port::AdoptedPort;
pub use revert::{Reverted, revert};

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Where the journals lie. It goes with the last of them.
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
    /// The folder is made under another name, with the locked file and its first entry in it, and then
    /// renamed: nobody ever sees a folder whose owner seems dead or is not known.
    ///
    /// # Errors
    /// The folder could not be made or synced.
    pub fn begin(name: &str) -> io::Result<Option<Self>> {
        let unnamed = folder::unnamed()?;
        let begun = Self::in_folder(&unnamed).and_then(|mut journal| {
            journal.record(&Entry::run())?;
            let folder = folder::give_name(&unnamed, name)?;
            Ok(folder.map(|folder| Self { folder, ..journal }))
        });
        if !matches!(begun, Ok(Some(_))) {
            // What cannot be removed now, the next recovery sweeps.
            let _swept = folder::remove(&unnamed);
        }
        begun
    }

    fn in_folder(folder: &Path) -> io::Result<Self> {
        let file = OpenOptions::new()
            .create_new(true)
            .read(true)
            .append(true)
            .open(folder.join(FILE))?;
        file.lock()?;
        Ok(Self {
            folder: folder.to_path_buf(),
            file,
            written: 0,
        })
    }

    /// Takes over the journal of this name.
    ///
    /// # Errors
    /// No such journal (`NotFound`), or it could not be opened.
    pub fn claim(name: &str) -> io::Result<Claim> {
        let folder = Path::new(ROOT).join(name);
        let path = folder.join(FILE);
        loop {
            let file = OpenOptions::new().read(true).append(true).open(&path)?;
            match file.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => return Ok(Claim::InUse),
                Err(TryLockError::Error(error)) => return Err(error),
            }
            // Between opening and locking the bed may have ended, and another of its name begun: then
            // we hold the lock of a file that is nobody's, and must look again.
            if fs::metadata(&path)?.ino() == file.metadata()?.ino() {
                let mut journal = Self {
                    folder,
                    file,
                    written: 0,
                };
                journal.cut_torn_line()?;
                return Ok(Claim::Ours(journal));
            }
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
        let made = make()?;
        fault::kill_if(fault::KILL_AFTER_CHANGE, self.written);
        Ok(made)
    }

    /// Writes an entry to disk.
    ///
    /// # Errors
    /// It could not be written or synced.
    pub fn record(&mut self, entry: &Entry) -> io::Result<()> {
        let mut line = serde_json::to_string(entry)?;
        line.push('\n');
        if let Err(error) = self.file.write_all(line.as_bytes()) {
            // A full disk may have taken half of it. The first error is the one to tell.
            let _half = self.cut_torn_line();
            return Err(error);
        }
        self.file.sync_all()?;
        self.written += 1;
        fault::kill_if(fault::KILL_AT_JOURNAL, self.written);
        Ok(())
    }

    /// A last line without its end was never synced, so its change was not made; the next entry shall
    /// not be glued to it.
    fn cut_torn_line(&mut self) -> io::Result<()> {
        let text = self.text()?;
        let whole = text.rfind('\n').map_or(0, |end| end + 1);
        if whole < text.len() {
            self.file.set_len(u64::try_from(whole).unwrap_or(0))?;
            self.file.sync_all()?;
        }
        Ok(())
    }

    fn text(&mut self) -> io::Result<String> {
        let mut text = String::new();
        self.file.rewind()?;
        self.file.read_to_string(&mut text)?;
        Ok(text)
    }

    /// All entries.
    ///
    /// # Errors
    /// The file could not be read, or a line is none of ours (`InvalidData`).
    pub fn entries(&mut self) -> io::Result<Vec<Entry>> {
        let text = self.text()?;
        parse(&text)
    }

    /// The folder, for what else belongs to the bed.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Writes a file beside the journal; it is on disk when this returns.
    ///
    /// # Errors
    /// It could not be written or synced.
    pub fn put(&self, name: &str, text: &str) -> io::Result<()> {
        let mut file = File::create(self.folder.join(name))?;
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        File::open(&self.folder)?.sync_all()
    }

    /// Ends the journal: everything in it has been put back.
    ///
    /// # Errors
    /// The folder could not be removed.
    pub fn end(self) -> io::Result<()> {
        folder::remove(&self.folder)
    }
}

/// Reads a journal without owning it.
///
/// # Errors
/// No such journal (`NotFound`), or as [`Journal::entries`].
pub fn peek(name: &str) -> io::Result<Vec<Entry>> {
    let text = fs::read_to_string(Path::new(ROOT).join(name).join(FILE))?;
    parse(&text)
}

/// Whether somebody alive owns the journal of this name.
///
/// # Errors
/// No such journal (`NotFound`), or it could not be opened.
pub fn is_in_use(name: &str) -> io::Result<bool> {
    let file = File::open(Path::new(ROOT).join(name).join(FILE))?;
    // Shared: many may look at once.
    match file.try_lock_shared() {
        Ok(()) => Ok(false),
        Err(TryLockError::WouldBlock) => Ok(true),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

/// All whole lines. What is not understood is not skipped: it may announce a change.
fn parse(text: &str) -> io::Result<Vec<Entry>> {
    let whole = text.rfind('\n').map_or("", |end| &text[..end]);
    let entry = |(number, line): (usize, &str)| {
        serde_json::from_str(line).map_err(|_| {
            let why = format!(
                "line {} of {FILE} is not understood (use the mpps that wrote it)",
                number + 1
            );
            io::Error::new(io::ErrorKind::InvalidData, why)
        })
    };
    whole.lines().enumerate().map(entry).collect()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_torn_last_line_was_never_synced_and_does_not_count() {
        let kept = "{\"entry\":\"kept\"}\n";
        assert_eq!(parse("").unwrap(), []);
        assert_eq!(parse("{\"entry\":\"ke").unwrap(), []);
        assert_eq!(
            parse(&format!("{kept}{{\"entry\":\"low")).unwrap(),
            [Entry::Kept]
        );
    }

    #[test]
    fn a_line_of_another_version_is_an_error_that_names_it() {
        let error = parse("{\"entry\":\"kept\"}\n{\"entry\":\"moon_moved\"}\n").unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::InvalidData);
        assert!(
            error.to_string().starts_with("line 2 of journal.jsonl"),
            "{error}"
        );
    }
}
