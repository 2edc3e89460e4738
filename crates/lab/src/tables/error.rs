//! What can be wrong with a file of routes, and where.

use super::Source;
use std::fmt;
use std::io;

/// Where in a file. Octets count from 0 in what the file unpacks to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// What the file is made of: "record" or "line".
    pub unit: &'static str,
    /// Which one, from 1.
    pub number: u64,
    /// Where it begins.
    pub octet: u64,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} at octet {}", self.unit, self.number, self.octet)
    }
}

/// A table could not be read.
#[derive(Debug)]
pub enum ReadError {
    /// The file cannot be opened.
    Open(Source, io::Error),
    /// It cannot be read on, or does not unpack.
    Read(Source, Place, io::Error),
    /// A record or line is not what it should be.
    Damaged(Source, Place, String),
    /// Nothing that we know begins as this does.
    UnknownFormat(Source, String),
    /// It is whole, and holds no route.
    NoRoutes(Source, String),
    /// Damaged, and no route of it is whole: how many places, and what the first is.
    NothingWhole(Source, u64, String),
    /// More than any routing table has: not to be held in memory.
    TooMany(Source, Place, usize),
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Open(source, error) => write!(f, "open {source}: {error}"),
            Self::Read(source, place, error) => write!(
                f,
                "read {source}: {place}: {error} (--lenient keeps what stands before it)"
            ),
            Self::Damaged(source, place, what) => write!(
                f,
                "read {source}: {place}: {what} (--lenient keeps what is whole)"
            ),
            Self::UnknownFormat(source, seen) => write!(
                f,
                "read {source}: {seen}; give MRT (TABLE_DUMP, TABLE_DUMP_V2), the output of `bgpdump -m`, or one \
                 prefix a line, each plain or packed by gzip, bzip2, zstd or xz"
            ),
            Self::NoRoutes(source, seen) => write!(
                f,
                "read {source}: no unicast route in it ({seen}); give a RIB dump, not updates"
            ),
            Self::NothingWhole(source, damaged, first) => write!(
                f,
                "read {source}: no unicast route in it is whole ({damaged} damaged, the first: {first}); give another copy of the file"
            ),
            Self::TooMany(source, place, most) => write!(
                f,
                "read {source}: {place}: over {most} distinct prefixes of one family, more than any routing table has"
            ),
        }
    }
}

impl std::error::Error for ReadError {}
