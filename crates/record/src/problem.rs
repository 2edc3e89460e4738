//! What a reader could not read, and why.

use crate::SCHEMA;
use std::fmt;
use std::io;
use std::path::PathBuf;

/// Why nothing of a file could be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// It is a directory.
    #[error("read record {0}: it is a directory: name one of the files in it (RUN.jsonl)")]
    Directory(PathBuf),
    /// It has no octet.
    #[error("read record {0}: it is empty: no run has written to it")]
    Empty(PathBuf),
    /// It is packed.
    #[error("read record {path}: it is packed ({how}): unpack it first")]
    Packed {
        /// The file.
        path: PathBuf,
        /// The format's name.
        how: &'static str,
    },
    /// It is no text.
    #[error("{0} is no record: it is a binary file, and a record is text, one JSON object a line")]
    Binary(PathBuf),
    /// It is text, but no line is one of a record.
    #[error("{path} is no record ({first}): name a file that `mpps` wrote with --record")]
    NoLine {
        /// The file.
        path: PathBuf,
        /// The first problem.
        first: String,
    },
    /// It was cut in its first line.
    #[error(
        "{0} is no record yet: it has no whole line (its run was killed or is still writing it, or another program wrote it)"
    )]
    Torn(PathBuf),
    /// The system refused.
    #[error("read record {path}: {error}{}", next(.error))]
    Io {
        /// The file.
        path: PathBuf,
        /// Its reason, which the message tells.
        error: io::Error,
    },
}

fn next(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::NotFound => "",
        _ => " (name a file that this user may read)",
    }
}

/// Lines, or a whole run, of which something could not be read. All else is there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// What it is.
    pub what: What,
    /// The lines it was seen at; `None` where it is of a whole run.
    pub lines: Option<Lines>,
}

/// Some lines, which need not follow each other. Their numbers begin at 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lines {
    /// The first.
    pub first: u64,
    /// The last.
    pub last: u64,
    /// How many.
    pub count: u64,
}

impl Lines {
    pub(crate) const fn new(line: u64) -> Self {
        Self {
            first: line,
            last: line,
            count: 1,
        }
    }

    /// One that follows all others.
    pub(crate) const fn add(&mut self, line: u64) {
        self.last = line;
        self.count += 1;
    }
}

/// What could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum What {
    /// The last line has no end.
    Torn,
    /// A line is no JSON.
    NoJson(String),
    /// A line is longer than any of a record.
    TooLong,
    /// A line is JSON, but lacks what every line of a record has.
    NoLine,
    /// A line is of a kind that is none of a record's.
    Kind(String),
    /// A line lacks a member, or has one of another type.
    Member {
        /// Kind of the line.
        kind: String,
        /// Its schema.
        schema: u32,
        /// What about it.
        why: String,
    },
    /// A run was written by a newer version.
    Newer {
        /// The run's name.
        run: String,
        /// Its schema.
        schema: u32,
    },
    /// The first line of a run is missing.
    NoFirst(String),
}

/// One clear line: the place, what it is, what to do.
impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.lines {
            None => {}
            Some(Lines {
                first, count: 1, ..
            }) => write!(f, "line {first}: ")?,
            Some(Lines { first, last, count }) => write!(f, "{count} lines, {first} to {last}: ")?,
        }
        match &self.what {
            What::Torn => f.write_str(
                "torn: its run was killed or is still writing it; all whole lines are read",
            ),
            What::NoJson(why) => write!(f, "no JSON ({why}): left out; all other lines are read"),
            What::TooLong => f.write_str("longer than any line of a record: left out"),
            What::NoLine => f.write_str(
                "no line of a record (without schema, kind and run): left out; another program wrote it",
            ),
            What::Kind(kind) => write!(
                f,
                "of kind \"{kind}\", which is none of schema {SCHEMA}: left out; a bench or a newer mpps wrote it"
            ),
            What::Member { kind, schema, why } => write!(
                f,
                "kind \"{kind}\" of schema {schema} cannot be read ({why}): left out; {}",
                if *schema > SCHEMA {
                    "a newer mpps reads it"
                } else {
                    "the line was changed or damaged"
                }
            ),
            What::Newer { run, schema } => write!(
                f,
                "run {run} has schema {schema}, newer than {SCHEMA}: members that are new are not shown; a newer mpps \
                 shows them"
            ),
            What::NoFirst(run) => write!(
                f,
                "run {run} has no first line (kind \"run\"): its plan, bed and facts are unknown"
            ),
        }
    }
}
