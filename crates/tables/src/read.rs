//! Reads a table as a stream from a file or from standard input, packed or not.

mod lines;
mod records;

pub(crate) use lines::{LINE_OCTETS_MAX, length_of_line};
pub(crate) use records::looks_like_mrt;

use super::collect::Collector;
use super::error::{InFile, ReadError};
use super::stream::Stream;
use super::unpack::{Position, unpack};
use super::{Source, Table, text};
use ipnet::IpNet;
use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// How to read.
#[derive(Clone, Copy, Debug)]
pub struct ReadOptions {
    /// Keep whole records and count damaged ones, instead of ending at the first damage.
    pub lenient: bool,
    /// Refuse more distinct prefixes of a family than this: bounds the memory a hostile file can claim.
    pub most_prefixes: usize,
}

impl ReadOptions {
    /// Ten times the Internet of 2026: 160 MB of IPv4, or 550 MB of IPv6, while folding.
    pub const MOST_PREFIXES: usize = 16 << 20;
}

impl Default for ReadOptions {
    fn default() -> Self {
        Self {
            lenient: false,
            most_prefixes: Self::MOST_PREFIXES,
        }
    }
}

/// How far reading has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Octets of the file, as it lies there, read so far.
    pub octets_read: u64,
    /// Octets it has; `None` for a pipe.
    pub octets_total: Option<u64>,
    /// Prefixes found, repeated ones as often as they came.
    pub prefixes: u64,
}

/// A table and the counts of its reading.
#[derive(Clone, Debug)]
pub struct ReadTable {
    /// The distinct prefixes.
    pub table: Table,
    /// What was counted.
    pub counts: Counts,
}

/// What reading counted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// What the file is written in: "MRT", "bgpdump -m", "list of prefixes".
    pub format: &'static str,
    /// What it is packed with, if anything: "gzip", "bzip2", "zstd", "xz".
    pub packed: Option<&'static str>,
    /// Octets of the file as it lies there.
    pub octets: u64,
    /// Octets it unpacks to.
    pub octets_unpacked: u64,
    /// Records (of MRT) or lines.
    pub records: u64,
    /// Prefixes found, repeated ones as often as they came.
    pub prefixes: u64,
    /// Paths to them: what the collector's peers told, or lines.
    pub paths: u64,
    /// Of the prefixes: repeated.
    pub duplicates: u64,
    /// Of the prefixes: with host bits, which were cut.
    pub host_bits: u64,
    /// Well-formed records or lines that hold no unicast route, by what they are. Only those there were.
    pub skipped: Vec<(&'static str, u64)>,
    /// Damaged records, lines or places; 0 unless lenient.
    pub damaged: u64,
    /// The first of them: where, and what is wrong.
    pub first_damage: Option<String>,
}

/// Reads a table. `progress` hears often how far it has come.
///
/// # Errors
/// Names file, record (or line) and octet. A lenient reading still fails where nothing can be read at all.
pub fn read(
    source: Source,
    options: &ReadOptions,
    progress: &mut dyn FnMut(Progress),
) -> Result<ReadTable, ReadError> {
    let (file, octets_total) = source
        .open()
        .map_err(|error| ReadError::Open(source.clone(), error))?;
    read_from(source, file, octets_total, options, progress)
}

/// The same from octets that are there already; `source` is what errors call them.
///
/// # Errors
/// As [`read`].
pub fn read_from<'a>(
    source: Source,
    octets: Box<dyn Read + Send + 'a>,
    octets_total: Option<u64>,
    options: &ReadOptions,
    progress: &mut dyn FnMut(Progress),
) -> Result<ReadTable, ReadError> {
    let octets_read = Position::default();
    let counted = Counted {
        inner: octets,
        octets: Arc::clone(&octets_read),
    };
    let mut reading = Reading {
        source,
        options,
        collector: Collector::bounded(options.most_prefixes),
        counts: Counts::default(),
        octets_read,
        octets_total,
        progress,
    };
    let position = Arc::clone(&reading.octets_read);
    let unpacked = unpack(counted, position)
        .map_err(|error| ReadError::Open(reading.source.clone(), error))?;
    reading.counts.packed = unpacked.0;
    let mut stream = Stream::new(unpacked.1);
    match stream.window(FORMAT_OCTETS) {
        Ok(head) if looks_like_mrt(head) => records::read(&mut stream, &mut reading)?,
        Ok(head) if !looks_like_text(head) => {
            let head = text::excerpt(head);
            let seen = format!("it begins with `{head}`, which is neither MRT nor text");
            return Err(ReadError::UnknownFormat(reading.source, seen));
        }
        _ => lines::read(&mut stream, &mut reading)?,
    }
    reading.finish(&stream)
}

/// Octets that tell the format.
const FORMAT_OCTETS: usize = 512;

fn looks_like_text(head: &[u8]) -> bool {
    !head
        .iter()
        .take(FORMAT_OCTETS)
        .any(|&octet| octet < b' ' && !octet.is_ascii_whitespace())
}

/// Counts what is read of the file itself.
struct Counted<R> {
    inner: R,
    octets: Position,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        self.octets.fetch_add(read as u64, Ordering::Relaxed);
        Ok(read)
    }
}

/// A reading under way.
struct Reading<'a> {
    source: Source,
    options: &'a ReadOptions,
    collector: Collector,
    counts: Counts,
    octets_read: Position,
    octets_total: Option<u64>,
    progress: &'a mut dyn FnMut(Progress),
}

impl Reading<'_> {
    /// A prefix, and how many paths there are to it.
    fn take(&mut self, prefix: IpNet, paths: u64, place: InFile) -> Result<(), ReadError> {
        self.counts.paths += paths;
        self.collector
            .add(prefix)
            .map_err(|_| ReadError::TooMany(self.source.clone(), place, self.options.most_prefixes))
    }

    /// A well-formed record without a unicast route.
    fn skip(&mut self, what: &'static str) {
        match self
            .counts
            .skipped
            .iter_mut()
            .find(|(name, _)| *name == what)
        {
            Some((_, count)) => *count += 1,
            None => self.counts.skipped.push((what, 1)),
        }
    }

    /// Something is damaged: an error, or with `lenient` one more that is counted.
    fn damage(&mut self, place: InFile, what: String) -> Result<(), ReadError> {
        if !self.options.lenient {
            return Err(ReadError::Damaged(self.source.clone(), place, what));
        }
        self.note_damage(place, &what);
        Ok(())
    }

    /// The source failed: an error, or with `lenient` the end.
    fn failed(&mut self, place: InFile, error: &io::Error) -> Result<(), ReadError> {
        if !self.options.lenient {
            return Err(ReadError::Read(
                self.source.clone(),
                place,
                io::Error::new(error.kind(), error.to_string()),
            ));
        }
        self.note_damage(place, &error.to_string());
        Ok(())
    }

    fn note_damage(&mut self, place: InFile, what: &str) {
        self.counts.damaged += 1;
        self.counts
            .first_damage
            .get_or_insert_with(|| format!("{place}: {what}"));
    }

    fn report(&mut self) {
        (self.progress)(Progress {
            octets_read: self.octets_read.load(Ordering::Relaxed),
            octets_total: self.octets_total,
            prefixes: self.collector.taken(),
        });
    }

    fn finish(mut self, stream: &Stream<'_>) -> Result<ReadTable, ReadError> {
        self.report();
        let mut counts = self.counts;
        counts.octets = self.octets_read.load(Ordering::Relaxed);
        counts.octets_unpacked = stream.offset();
        counts.prefixes = self.collector.taken();
        let (table, host_bits) = self.collector.finish();
        counts.duplicates = counts.prefixes - table.len() as u64;
        counts.host_bits = host_bits;
        if table.is_empty() {
            let nothing_else = counts.skipped.is_empty();
            if let Some(first) = counts.first_damage.take_if(|_| nothing_else) {
                return Err(ReadError::NothingWhole(self.source, counts.damaged, first));
            }
            return Err(ReadError::NoRoutes(self.source, seen(&counts)));
        }
        Ok(ReadTable { table, counts })
    }
}

/// Contents of a file without a route.
fn seen(counts: &Counts) -> String {
    let mut parts: Vec<String> = counts
        .skipped
        .iter()
        .map(|(what, count)| format!("{count} {what}"))
        .collect();
    if counts.damaged > 0 {
        parts.push(format!("{} damaged", counts.damaged));
    }
    if parts.is_empty() {
        parts.push(
            if counts.octets == 0 {
                "it is empty"
            } else {
                "nothing but blanks"
            }
            .to_owned(),
        );
    }
    parts.join(", ")
}

#[cfg(test)]
mod tests;
