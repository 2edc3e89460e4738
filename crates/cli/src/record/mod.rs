//! The record: one JSON object a line, appended and synced as soon as it is known, so that neither a
//! crash nor a full disk takes a finished trial away.
//!
//! The lines are types of `mpps-record`. Jobs fill them in the lab; the files here fill what only this program knows.

mod bed;
mod clock;
mod comparability;
mod earlier;
mod job;
mod plan;
mod run;

pub use clock::Clock;
pub use comparability::repeated;
pub use earlier::{check_resumable, earlier_runs};
pub use job::{CHOSEN_ON_BED, Job};
pub use mpps_lab::hash::sha256;
pub use plan::sent;
pub use run::{host_run_line, run_line, run_line_by_others, simulated_run_line};

use crate::folder::Folder;
use anyhow::{Context, Result};
use mpps_record::Body;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, FileExt, FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// Mode of new records; a stricter umask takes away from it.
const MODE: u32 = 0o644;
/// Mode of new folders; a stricter umask takes away from it.
const FOLDER_MODE: u32 = 0o755;
/// Another run may remove the file before each line; it is made again this often at most.
const TRIES: u32 = 8;

/// A record being written. Other runs may write to the same file, so each line is appended under a lock. When this
/// is dropped, a file that this run made and that is still empty is removed.
pub struct Record {
    file: File,
    path: PathBuf,
    run: String,
    created: bool,
}

impl Record {
    /// Opens a record to append to; a new one is made where there is none.
    ///
    /// # Errors
    /// The file cannot be made, or what is there is no record.
    pub fn open(path: &Path, run: &str) -> io::Result<Self> {
        let (file, created) = open_file(path)?;
        Ok(Self::new(path, run, file, created))
    }

    fn new(path: &Path, run: &str, file: File, created: bool) -> Self {
        Self {
            file,
            path: path.to_owned(),
            run: run.to_owned(),
            created,
        }
    }

    /// Opens the record the user named, or the run's own in its usual place.
    pub fn open_for(run: &str, named: Option<&Path>) -> Result<Self> {
        let (path, opened) = match named {
            Some(path) => (path.to_owned(), Self::open(path, run)),
            None => {
                let path = usual_folder()?.join(format!("{run}.jsonl"));
                // No other run has this name. Something there would be a link that another user laid.
                let made = options().create_new(true).open(&path);
                let made = made.map(|file| Self::new(&path, run, file, true));
                (path, made)
            }
        };
        opened.with_context(|| {
            let path = path.display();
            format!("open record {path} (name another place with --record FILE)")
        })
    }

    /// What a line that could not be appended means to the user.
    pub fn not_written(&self) -> String {
        let path = self.path.display();
        format!(
            "write record {path} (free some space or name another place with --record; the trials before are kept)"
        )
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Name of this run: part of every line.
    pub fn run(&self) -> &str {
        &self.run
    }

    /// Appends one line and waits until the disk has it. What was half written is taken back, so that
    /// the file holds whole lines only.
    ///
    /// # Errors
    /// No space, or whatever the disk says. The lines before are kept.
    pub fn append<T: Body>(&mut self, body: &T) -> io::Result<()> {
        let line = mpps_record::to_line(&self.run, body)?;
        self.lock()?;
        let written = self.write_line(line);
        // The lock ends with the file at the latest.
        let _unlocked = self.file.unlock();
        written
    }

    /// Writes a line at the end of the file, whose lock we hold.
    fn write_line(&mut self, mut line: Vec<u8>) -> io::Result<()> {
        let length = self.file.metadata()?.len();
        let mut last = *b"\n";
        if length > 0 {
            self.file.read_exact_at(&mut last, length - 1)?;
        }
        // A run that was killed, or an editor, may have left a last line without its end.
        if last != *b"\n" {
            line.insert(0, b'\n');
        }
        let written = self.file.write_all(&line);
        let written = written.and_then(|()| self.file.sync_data());
        if written.is_err() {
            // Nothing more can be done where even this fails; the first error is the one to tell.
            let _cut = self.file.set_len(length);
        }
        written
    }

    /// Waits until no other run writes to the file.
    fn lock(&mut self) -> io::Result<()> {
        for _ in 0..TRIES {
            loop {
                match self.file.lock() {
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                    locked => break locked?,
                }
            }
            if self.file.metadata()?.nlink() > 0 {
                return Ok(());
            }
            // The run that had made the file removed it without a line in it.
            match open_file(&self.path) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                opened => (self.file, self.created) = opened?,
            }
        }
        Err(io::Error::other("other runs remove it again and again"))
    }

    /// Whether this run made the file, it is empty, and its name still leads to it.
    fn is_to_go(&self) -> bool {
        let (Ok(ours), Ok(named)) = (self.file.metadata(), fs::symlink_metadata(&self.path)) else {
            return false;
        };
        let same = (ours.dev(), ours.ino()) == (named.dev(), named.ino());
        self.created && ours.len() == 0 && same
    }
}

/// The folder of this user's records, made where it is missing. A line says so where it is not the one asked for.
fn usual_folder() -> Result<PathBuf> {
    let Folder { path, avoided } = Folder::find()?;
    let shown = path.display();
    if let Some(foreign) = avoided {
        let foreign = foreign.display();
        crate::print::note(&format!(
            "mpps: {foreign} belongs to another user: the record goes to {shown}"
        ));
    }
    let made = DirBuilder::new()
        .recursive(true)
        .mode(FOLDER_MODE)
        .create(&path);
    made.with_context(|| {
        format!("make folder {shown} for the record (name another place with --record FILE)")
    })?;
    Ok(path)
}

fn options() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.read(true).append(true).mode(MODE);
    options
}

/// Opens a record, or makes it. Returns whether it was made.
fn open_file(path: &Path) -> io::Result<(File, bool)> {
    match options().create_new(true).open(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            open_existing(path).map(|file| (file, false))
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            Err(io::Error::other("its folder does not exist: make it first"))
        }
        made => Ok((made?, true)),
    }
}

/// Opens a file that exists, if it can be a record.
fn open_existing(path: &Path) -> io::Result<File> {
    // Opening a FIFO would wait for its reader.
    if fs::metadata(path).is_ok_and(|about| about.file_type().is_fifo()) {
        return Err(io::Error::other("it is a FIFO: a record has to be a file"));
    }
    let file = options().open(path)?;
    let about = file.metadata()?;
    let mut first = *b"{";
    if about.is_file() && about.len() > 0 {
        file.read_exact_at(&mut first, 0)?;
    }
    if first != *b"{" {
        return Err(io::Error::other(
            "it is another kind of file: a record begins with `{`",
        ));
    }
    Ok(file)
}

impl Drop for Record {
    fn drop(&mut self) {
        // A run that holds the lock is about to write a line.
        if self.file.try_lock().is_ok() && self.is_to_go() {
            // An empty file tells nobody anything; leaving it is no harm either.
            let _ = fs::remove_file(&self.path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mpps_record::{EndLine, Other, SCHEMA};

    fn end(trials: u32) -> EndLine {
        EndLine {
            ended_utc: "then".to_owned(),
            exit_code: 0,
            error: None,
            trials,
            queries: None,
            route_changes: None,
            other: Other::new(),
        }
    }

    fn scratch(name: &str) -> PathBuf {
        std::env::temp_dir().join(format!("mpps-record-{}-{name}", std::process::id()))
    }

    #[test]
    fn lines_are_whole_objects_that_say_what_they_are() {
        let path = scratch("lines");
        for run in ["one", "two"] {
            let mut record = Record::open(&path, run).expect("open");
            record.append(&end(3)).expect("append");
        }
        let text = std::fs::read_to_string(&path).expect("read back");
        let expected = |run: &str| {
            format!(
                "{{\"schema\":{SCHEMA},\"kind\":\"end\",\"run\":\"{run}\",\"ended_utc\":\"then\",\"exit_code\":0,\
                 \"error\":null,\"trials\":3}}\n"
            )
        };
        assert_eq!(
            text,
            expected("one") + &expected("two"),
            "a second run is appended"
        );
        fs::remove_file(path).expect("tidy up");
    }

    #[test]
    fn a_record_without_a_line_leaves_no_file() {
        let path = scratch("empty.jsonl");
        drop(Record::open(&path, "run").expect("open"));
        assert!(!path.exists());
    }

    #[test]
    fn only_an_empty_record_of_its_own_is_removed() {
        let path = scratch("two.jsonl");
        let failing = Record::open(&path, "failing").expect("open");
        let mut other = Record::open(&path, "other").expect("open");
        other.append(&end(1)).expect("append");
        drop(other);
        drop(failing);
        assert_eq!(fs::read_to_string(&path).expect("there").lines().count(), 1);
        fs::remove_file(&path).expect("tidy up");
    }

    #[test]
    fn a_record_that_another_run_removed_is_made_anew() {
        let path = scratch("anew.jsonl");
        let failing = Record::open(&path, "failing").expect("open");
        let mut other = Record::open(&path, "other").expect("open");
        drop(failing);
        assert!(!path.exists());
        other.append(&end(1)).expect("append");
        other.append(&end(2)).expect("append");
        drop(other);
        assert_eq!(fs::read_to_string(&path).expect("there").lines().count(), 2);
        fs::remove_file(&path).expect("tidy up");
    }

    /// In a process of its own, whose files may be 512 octets long.
    #[test]
    fn a_failed_line_takes_no_line_of_another_run() {
        const FILE: &str = "MPPS_TEST_RECORD";
        if let Some(path) = std::env::var_os(FILE) {
            mpps_lab::interrupt::survive_file_limit().expect("handler");
            let path = Path::new(&path);
            let mut long = Record::open(path, "long").expect("open");
            let mut other = Record::open(path, "other").expect("open");
            let body = end(1);
            other.append(&body).expect("append");
            long.run = "x".repeat(600);
            let error = long.append(&body).expect_err("too long");
            assert_eq!(error.kind(), io::ErrorKind::FileTooLarge);
            return;
        }
        let path = scratch("failed.jsonl");
        let test = "record::tests::a_failed_line_takes_no_line_of_another_run";
        let child = std::process::Command::new("sh")
            .args(["-c", "ulimit -f 1; exec \"$0\" --exact \"$1\""])
            .arg(std::env::current_exe().expect("own path"))
            .arg(test)
            .env(FILE, &path)
            .output();
        let child = child.expect("this program again");
        assert!(child.status.success(), "{child:?}");
        let text = fs::read_to_string(&path).expect("there");
        assert!(
            text.contains("\"other\"") && text.lines().count() == 1,
            "{text}"
        );
        fs::remove_file(&path).expect("tidy up");
    }

    #[test]
    fn a_line_without_its_end_spoils_no_other() {
        let path = scratch("torn.jsonl");
        fs::write(&path, "{\"schema\":1").expect("a torn line");
        let mut record = Record::open(&path, "run").expect("open");
        record.append(&end(3)).expect("append");
        let text = fs::read_to_string(&path).expect("read back");
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 2, "{text}");
        assert!(lines[1].ends_with("\"trials\":3}"), "{text}");
        fs::remove_file(&path).expect("tidy up");
    }

    #[test]
    fn what_is_no_record_is_not_written_to() {
        let path = scratch("notes.txt");
        fs::write(&path, "important\n").expect("a file");
        let error = Record::open(&path, "run").err().expect("refused");
        assert!(error.to_string().contains("begins with `{`"), "{error}");
        assert_eq!(fs::read_to_string(&path).expect("there"), "important\n");
        fs::remove_file(&path).expect("tidy up");
        let error = Record::open(&path.join("x.jsonl"), "run").err();
        let error = error.expect("no such folder");
        assert!(error.to_string().contains("make it first"), "{error}");
        assert!(!path.exists());
    }

    #[test]
    fn a_disk_that_is_full_is_said() {
        // Every write to it fails with ENOSPC.
        let mut record = Record::open(Path::new("/dev/full"), "run").expect("open");
        let error = record.append(&end(0)).expect_err("full");
        assert_eq!(error.kind(), io::ErrorKind::StorageFull);
    }
}
