//! Errors in a file of routes, with their place.

use super::Source;
use std::fmt;
use std::io;
use thiserror::Error;

/// Where in a file. Octets count from 0 in what the file unpacks to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InFile {
    /// What the file is made of: "record" or "line".
    pub unit: &'static str,
    /// Which one, from 1.
    pub number: u64,
    /// Where it begins.
    pub octet: u64,
}

impl fmt::Display for InFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} at octet {}", self.unit, self.number, self.octet)
    }
}

/// A table could not be read. The message holds the whole cause, so there is no `source()`.
#[derive(Debug, Error)]
pub enum ReadError {
    /// The file cannot be opened.
    #[error("open {0}: {1}")]
    Open(Source, io::Error),
    /// It cannot be read on, or does not unpack.
    #[error("read {0}: {1}: {2} (`mpps table read --lenient` keeps the routes before it)")]
    Read(Source, InFile, io::Error),
    /// A record or line is not what it should be.
    #[error("read {0}: {1}: {2} (`mpps table read --lenient` keeps the undamaged routes)")]
    Damaged(Source, InFile, String),
    /// No known format begins as this file does.
    #[error(
        "read {0}: {1}. Give MRT (TABLE_DUMP, TABLE_DUMP_V2), the output of `bgpdump -m`, or one prefix a line, plain \
         or packed by gzip, bzip2, zstd or xz"
    )]
    UnknownFormat(Source, String),
    /// It is whole, and holds no route.
    #[error("read {0}: no unicast route in it ({1}); give a RIB dump, not updates")]
    NoRoutes(Source, String),
    /// Damaged, and no route of it is whole: how many places, and what the first is.
    #[error(
        "read {0}: no unicast route in it is whole ({1} damaged, the first: {2}); give another copy of the file"
    )]
    NothingWhole(Source, u64, String),
    /// More than any routing table has: not to be held in memory.
    #[error(
        "read {0}: {1}: over {2} distinct prefixes of one family, more than any routing table has"
    )]
    TooMany(Source, InFile, usize),
}
