//! The record: one JSON object a line, appended and synced as soon as it is known, so that neither a
//! crash nor a full disk takes a finished trial away.
//!
//! A line has `schema`, `kind` (run, trial, result, calibration, end) and `run`, which tells the runs in one file
//! apart. Names of counts and rates end with their unit. `docs/records.md` lists the members.

mod calibration;
mod cause;
mod comparability;
mod losses;
mod path;
mod point;
mod result;
mod run;
mod traffic;
mod trial;

pub use calibration::CalibrationLine;
pub use comparability::Comparability;
pub use path::Clock;
use path::default_path;
pub use point::PointLine;
pub use result::{ResultLine, Stands, whole_fps};
pub use run::{EndLine, Job, RunLine};
pub use traffic::{RoutesEntry, TrafficEntry};
pub use trial::{TrialLine, verdict_name};

use anyhow::{Context, Result};
use serde::Serialize;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Version of the lines' shape; it rises when a member changes its meaning or goes.
pub const SCHEMA: u32 = 2;

/// A record being written. One that got no line is removed again when it goes.
pub struct Record {
    file: File,
    path: PathBuf,
    run: String,
    /// Octets up to the end of the last whole line.
    whole: u64,
    created: bool,
}

/// A line with what every line has.
#[derive(Serialize)]
struct Line<'a, T> {
    schema: u32,
    kind: &'static str,
    run: &'a str,
    #[serde(flatten)]
    body: &'a T,
}

impl Record {
    /// Opens the file to append to, with the folders above it.
    ///
    /// # Errors
    /// The file or a folder cannot be made.
    pub fn open(path: &Path, run: &str) -> io::Result<Self> {
        if let Some(folder) = path
            .parent()
            .filter(|folder| !folder.as_os_str().is_empty())
        {
            std::fs::create_dir_all(folder)?;
        }
        let created = !path.exists();
        let file = OpenOptions::new().create(true).append(true).open(path)?;
        let whole = file.metadata()?.len();
        Ok(Self {
            file,
            path: path.to_owned(),
            run: run.to_owned(),
            whole,
            created,
        })
    }

    /// Opens the record the user named, or the run's own in its usual place.
    ///
    /// # Errors
    /// One line that names the remedy.
    pub fn open_for(run: &str, named: Option<&Path>) -> Result<Self> {
        let path = match named {
            Some(path) => path.to_owned(),
            None => default_path(run)?,
        };
        Self::open(&path, run).with_context(|| {
            let path = path.display();
            format!("open record {path} (name another place with --record FILE)")
        })
    }

    /// As `append`, for whoever ends when it fails.
    ///
    /// # Errors
    /// One line that names the remedy.
    pub fn write<T: Serialize>(&mut self, kind: &'static str, body: &T) -> Result<()> {
        self.append(kind, body).with_context(|| {
            let path = self.path.display();
            format!(
                "write record {path} (free some space or name another place with --record; the trials before are kept)"
            )
        })
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Name of this run: part of every line.
    #[must_use]
    pub fn run(&self) -> &str {
        &self.run
    }

    /// Appends one line and waits until the disk has it. What was half written is taken back, so that
    /// the file holds whole lines only.
    ///
    /// # Errors
    /// No space, or whatever the disk says. The lines before are kept.
    pub fn append<T: Serialize>(&mut self, kind: &'static str, body: &T) -> io::Result<()> {
        let mut line = serde_json::to_vec(&Line {
            schema: SCHEMA,
            kind,
            run: &self.run,
            body,
        })?;
        line.push(b'\n');
        let written = self
            .file
            .write_all(&line)
            .and_then(|()| self.file.sync_data());
        match written {
            Ok(()) => self.whole += line.len() as u64,
            // Nothing more can be done where even this fails; the first error is the one to tell.
            Err(_) => drop(self.file.set_len(self.whole)),
        }
        written
    }
}

impl Drop for Record {
    fn drop(&mut self) {
        if self.created && self.whole == 0 {
            // An empty file tells nobody anything; leaving it is no harm either.
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Serialize)]
    struct Body {
        lost_frames: u64,
    }

    fn scratch(name: &str) -> PathBuf {
        std::env::temp_dir().join(format!("mpps-record-{}-{name}", std::process::id()))
    }

    #[test]
    fn lines_are_whole_objects_that_say_what_they_are() {
        let path = scratch("lines").join("deep/record.jsonl");
        for run in ["one", "two"] {
            let mut record = Record::open(&path, run).expect("open");
            record
                .append("trial", &Body { lost_frames: 3 })
                .expect("append");
        }
        let text = std::fs::read_to_string(&path).expect("read back");
        let expected = |run: &str| {
            format!(
                "{{\"schema\":{SCHEMA},\"kind\":\"trial\",\"run\":\"{run}\",\"lost_frames\":3}}\n"
            )
        };
        assert_eq!(
            text,
            expected("one") + &expected("two"),
            "a second run is appended"
        );
        std::fs::remove_dir_all(scratch("lines")).expect("tidy up");
    }

    #[test]
    fn a_record_without_a_line_leaves_no_file() {
        let path = scratch("empty.jsonl");
        drop(Record::open(&path, "run").expect("open"));
        assert!(!path.exists());
    }

    #[test]
    fn a_disk_that_is_full_is_said() {
        // Every write to it fails with ENOSPC.
        let mut record = Record::open(Path::new("/dev/full"), "run").expect("open");
        let error = record
            .append("trial", &Body { lost_frames: 0 })
            .expect_err("full");
        assert_eq!(error.kind(), io::ErrorKind::StorageFull);
    }
}
