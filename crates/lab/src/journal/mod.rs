//! The journal: what is about to be changed on the host, on disk before it is changed.
//!
//! Each bed has a folder `/run/mpps/<bed>/` with a file `journal.jsonl`. An entry is a line. It is synced before the
//! change that it announces is made. The owner holds an exclusive lock on the file as long as it lives. The kernel
//! drops the lock when the process ends, in whatever way. So a file that can be locked has no living owner. A process
//! id would not show that, because another process may have it by now.
//!
//! Only what outlives our processes is journalled: namespaces, folders, ports of the host that we adopt, settings of
//! the host, and routes in namespaces that mpps did not make. Interfaces, routes, sysctls and attached programs of a
//! namespace of ours go with it. eBPF objects are held by file descriptors alone.
//!
//! A line is a mark of the run, or a change. The journal knows no kind of change: each is a [`Change`], implemented by
//! whoever makes it.

mod change;
mod entry;
mod error;
pub mod fault;
mod folder;
mod revert;
mod trust;

pub use change::{Change, Reverted};
pub use entry::{Entry, Mark, is_kept};
pub(crate) use entry::{is_of_this_boot, maker_lives};
pub use error::{JournalError, RevertError};
pub use folder::sweep;
pub use revert::revert;
pub use trust::check_root;

use serde::Serialize;
use serde::de::DeserializeOwned;
use std::ffi::OsStr;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{Read, Seek, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Where the journals lie. It goes with the last of them.
pub const ROOT: &str = "/run/mpps";
const FILE: &str = "journal.jsonl";

type Result<T> = std::result::Result<T, JournalError>;

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
    /// A living process owns it.
    InUse,
}

impl Journal {
    /// Begins a journal under this name; `None` when the name is taken.
    ///
    /// The folder is made under another name. It is renamed when the locked file and its first entry are in it. So no
    /// other process sees a folder whose owner seems dead or is not known.
    ///
    /// # Errors
    /// The folder could not be made or synced.
    pub fn begin(name: &str) -> Result<Option<Self>> {
        let unnamed = folder::unnamed()?;
        let begun = Self::in_folder(&unnamed).and_then(|mut journal| {
            journal.mark(&Mark::run())?;
            let folder = folder::give_name(&unnamed, name)?;
            Ok(folder.map(|folder| Self { folder, ..journal }))
        });
        if !matches!(begun, Ok(Some(_))) {
            // What cannot be removed now, the next recovery sweeps.
            let _swept = folder::remove(&unnamed);
        }
        begun
    }

    fn in_folder(folder: &Path) -> Result<Self> {
        let file = trust::make_file(&folder.join(FILE))?;
        file.lock().map_err(JournalError::io("lock", folder))?;
        Ok(Self {
            folder: folder.to_path_buf(),
            file,
            written: 0,
        })
    }

    /// Takes over the journal of this name.
    ///
    /// # Errors
    /// No such journal (`NotFound`), another user may write to it, or it could not be opened.
    pub fn claim(name: &str) -> Result<Claim> {
        let folder = Path::new(ROOT).join(name);
        loop {
            let path = trust::path(name, FILE)?;
            let open = OpenOptions::new().read(true).append(true).open(&path);
            let file = open.map_err(JournalError::io("open", &path))?;
            match file.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => return Ok(Claim::InUse),
                Err(TryLockError::Error(error)) => {
                    return Err(JournalError::io("lock", &path)(error));
                }
            }
            // Between opening and locking the bed may have ended, and another of its name begun. Then
            // this is the lock of a removed file, and the path has to be opened again.
            let named = fs::metadata(&path).map_err(JournalError::io("examine", &path))?;
            let locked = file
                .metadata()
                .map_err(JournalError::io("examine", &path))?;
            if named.ino() == locked.ino() {
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

    /// The open file, for a child's standard input: the child then owns the journal too ([`Journal::inherit`]).
    ///
    /// # Errors
    /// No more files can be opened.
    pub fn lend(&self) -> Result<File> {
        self.file.try_clone().map_err(self.failed("share"))
    }

    /// The same journal, for an entry more.
    ///
    /// # Errors
    /// No more files can be opened.
    pub fn shared(&self) -> Result<Self> {
        Ok(Self {
            folder: self.folder.clone(),
            file: self.lend()?,
            written: self.written,
        })
    }

    /// Owns the journal of this name by the file that is this process's standard input.
    ///
    /// # Errors
    /// No such journal, or the standard input is another file.
    pub fn inherit(name: &str) -> Result<Self> {
        let path = trust::path(name, FILE)?;
        let failed = || JournalError::io("inherit", &path);
        let file = std::io::stdin().as_fd().try_clone_to_owned();
        let file = File::from(file.map_err(failed())?);
        let named = fs::metadata(&path).map_err(failed())?;
        if file.metadata().map_err(failed())?.ino() != named.ino() {
            return Err(failed()(std::io::ErrorKind::InvalidInput.into()));
        }
        Ok(Self {
            folder: Path::new(ROOT).join(name),
            file,
            written: 0,
        })
    }

    /// Announces a change, then makes it. Returns what the change returned.
    ///
    /// # Errors
    /// The entry could not be synced: the change was not made then.
    pub fn change<T, E>(
        &mut self,
        change: &impl Change,
        make: impl FnOnce() -> std::result::Result<T, E>,
    ) -> Result<std::result::Result<T, E>> {
        self.announce(change)?;
        let made = make();
        if made.is_ok() {
            fault::kill_if(fault::KILL_AFTER_CHANGE, self.written);
        }
        Ok(made)
    }

    /// Announces a change that others make.
    ///
    /// # Errors
    /// The entry could not be synced.
    pub fn announce(&mut self, change: &impl Change) -> Result<()> {
        self.record(change)
    }

    /// Writes down that this state is reached.
    ///
    /// # Errors
    /// The entry could not be synced.
    pub fn mark(&mut self, mark: &Mark) -> Result<()> {
        self.record(mark)
    }

    fn record(&mut self, entry: &impl Serialize) -> Result<()> {
        let line = serde_json::to_string(entry);
        let mut line = line.map_err(|error| self.failed("write")(error.into()))?;
        line.push('\n');
        if let Err(error) = self.file.write_all(line.as_bytes()) {
            // A full disk may have taken half of it. The first error is the one to tell.
            let _half = self.cut_torn_line();
            return Err(self.failed("write")(error));
        }
        self.file.sync_all().map_err(self.failed("sync"))?;
        self.written += 1;
        fault::kill_if(fault::KILL_AT_JOURNAL, self.written);
        Ok(())
    }

    /// A last line without its end was never synced, so its change was not made; the next entry shall
    /// not be glued to it.
    fn cut_torn_line(&mut self) -> Result<()> {
        let text = self.text()?;
        let whole = whole(&text).len();
        if whole < text.len() {
            let length = u64::try_from(whole).unwrap_or(0);
            self.file.set_len(length).map_err(self.failed("cut"))?;
            self.file.sync_all().map_err(self.failed("sync"))?;
        }
        Ok(())
    }

    fn text(&mut self) -> Result<Vec<u8>> {
        let mut text = Vec::new();
        let read = self
            .file
            .rewind()
            .and_then(|()| self.file.read_to_end(&mut text));
        read.map_err(self.failed("read"))?;
        Ok(text)
    }

    fn failed(&self, tried: &'static str) -> impl FnOnce(std::io::Error) -> JournalError + use<> {
        let path = self.folder.join(FILE);
        move |error| JournalError::io(tried, &path)(error)
    }

    /// All entries.
    ///
    /// # Errors
    /// The file could not be read, or a line is none of ours (`InvalidData`).
    pub fn entries<C: Change>(&mut self) -> Result<Vec<Entry<C>>> {
        let text = self.text()?;
        parse(&text).map_err(|why| not_ours(self.name(), why))
    }

    /// Its name: the bed's.
    #[must_use]
    pub fn name(&self) -> &str {
        let name = self.folder.file_name().and_then(OsStr::to_str);
        name.unwrap_or_default()
    }

    /// The folder, for what else belongs to the bed.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Makes a file beside the journal that only root may read, to read and to append to.
    ///
    /// # Errors
    /// It is there already, or the kernel refused it.
    pub fn create(&self, name: &str) -> Result<File> {
        trust::make_file(&self.folder.join(name))
    }

    /// Writes a file beside the journal; it is on disk when this returns.
    ///
    /// # Errors
    /// It is there already, or could not be written or synced.
    pub fn put(&self, name: &str, text: &str) -> Result<()> {
        let mut file = self.create(name)?;
        let path = self.folder.join(name);
        let written = file.write_all(text.as_bytes());
        written.map_err(JournalError::io("write", &path))?;
        file.sync_all().map_err(JournalError::io("sync", &path))?;
        folder::sync(&self.folder)
    }

    /// Ends the journal: everything in it has been put back.
    ///
    /// # Errors
    /// The folder could not be removed.
    pub fn end(self) -> Result<()> {
        folder::remove(&self.folder)
    }
}

/// Reads a journal without owning it.
///
/// # Errors
/// No such journal (`NotFound`), another user may write to it, or as [`Journal::entries`].
pub fn peek<C: Change>(name: &str) -> Result<Vec<Entry<C>>> {
    parse(&read(name, FILE)?).map_err(|why| not_ours(name, why))
}

/// Text of a file beside the journal of this name.
///
/// # Errors
/// No such file (`NotFound`), or another user may write to it.
pub fn read(name: &str, file: &str) -> Result<Vec<u8>> {
    let path = trust::path(name, file)?;
    fs::read(&path).map_err(JournalError::io("read", &path))
}

/// Whether a living process owns the journal of this name.
///
/// # Errors
/// No such journal (`NotFound`), or it could not be opened.
pub fn is_in_use(name: &str) -> Result<bool> {
    let path = trust::path(name, FILE)?;
    let file = File::open(&path).map_err(JournalError::io("open", &path))?;
    // Shared: many may look at once.
    match file.try_lock_shared() {
        Ok(()) => Ok(false),
        Err(TryLockError::WouldBlock) => Ok(true),
        Err(TryLockError::Error(error)) => Err(JournalError::io("lock", &path)(error)),
    }
}

fn not_ours(name: &str, why: String) -> JournalError {
    JournalError::NotOurs {
        name: name.to_owned(),
        why,
    }
}

/// All whole lines. A line that is not understood is an error, because it may announce a change.
fn parse<C: DeserializeOwned>(text: &[u8]) -> std::result::Result<Vec<Entry<C>>, String> {
    let entry = |(number, line): (usize, &[u8])| {
        serde_json::from_slice(line)
            .map_err(|_| format!("line {} of {FILE} is not understood", number + 1))
    };
    let lines = whole(text).split_inclusive(|&octet| octet == b'\n');
    lines.enumerate().map(entry).collect()
}

/// The text up to the end of its last whole line.
fn whole(text: &[u8]) -> &[u8] {
    let end = text.iter().rposition(|&octet| octet == b'\n');
    &text[..end.map_or(0, |end| end + 1)]
}

/// Names of all journals, alive or not. Each has a folder; anything else in the root announces nothing.
///
/// # Errors
/// The folder could not be read; that it is not there is an empty list.
pub fn names() -> Result<Vec<String>> {
    let failed = || JournalError::io("list", Path::new(ROOT));
    let entries = match fs::read_dir(ROOT).map_err(failed()) {
        Err(error) if error.is_missing() => return Ok(Vec::new()),
        entries => entries?,
    };
    let mut names = Vec::new();
    for entry in entries {
        let entry = entry.map_err(failed())?;
        let name = entry.file_name().into_string().ok();
        // An entry that went meanwhile has no type any more.
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            names.extend(name.filter(|name| !name.starts_with('.')));
        }
    }
    names.sort();
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    #[test]
    fn a_torn_last_line_does_not_count() {
        let parse = |text: &str| parse::<()>(text.as_bytes()).unwrap();
        let kept = "{\"entry\":\"kept\"}\n";
        assert_eq!(parse(""), []);
        assert_eq!(parse("{\"entry\":\"ke"), []);
        assert_eq!(
            parse(&format!("{kept}{{\"entry\":\"low")),
            [Entry::Mark(Mark::Kept)]
        );
    }

    #[test]
    fn a_journal_cut_anywhere_has_its_whole_lines() {
        let run = serde_json::to_string(&Mark::run()).unwrap();
        let setting = r#"{"entry":"setting","change":{"setting":{"kind":"sysctl","name":"net/ipv4/ip_forward"},"netns":4026531840,"before":"0","value":"1\n"}}"#;
        let text = format!("{run}\n{setting}\n{{\"entry\":\"kept\"}}\n");
        let whole_lines = parse::<Value>(text.as_bytes()).unwrap();
        assert_eq!(whole_lines.len(), 3);
        for (at, lines) in (0..=text.len()).map(|at| (at, text[..at].matches('\n').count())) {
            let cut = parse::<Value>(&text.as_bytes()[..at]);
            assert_eq!(cut.unwrap(), whole_lines[..lines], "cut at {at}");
        }
    }

    #[test]
    fn a_line_of_another_version_is_named() {
        let error = parse::<()>(b"{\"entry\":\"kept\"}\n{\"entry\":\"moon_moved\"}\n").unwrap_err();
        assert!(error.starts_with("line 2 of journal.jsonl"), "{error}");
    }
}
