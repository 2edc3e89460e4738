//! A file of route changes, in the order in which a router met them: which prefixes, announced or withdrawn, and when. It is
//! text, or MRT updates.

use super::error::InFile;
use super::read::{LINE_OCTETS_MAX, length_of_line, looks_like_mrt};
use super::stream::Stream;
use super::unpack::unpack;
use super::{ChooseOptions, Families, LeftOut, Source, Table, choose, text};
use ipnet::IpNet;
use mpps_wire::mrt::{HEADER_LEN, Header, Update};
use std::collections::HashSet;
use std::io::{self, Read};
use thiserror::Error;

/// Changes of a file at most: two months of a busy router, 2 GiB of memory while reading.
const CHANGES_MAX: usize = 64 << 20;
/// Longest record of an update that is believed: a message has 65 535 octets at most (RFC 8654).
const UPDATE_OCTETS_MAX: u32 = 1 << 20;
/// Octets that tell MRT from text.
const HEAD_OCTETS: usize = 512;

/// One change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Change {
    /// The prefix: its place in [`Changes::prefixes`], by [`Table::iter`].
    pub prefix: u32,
    /// Announced; else withdrawn.
    pub announced: bool,
    /// Time since the first change of the file, ns; 0 in a file without times.
    pub after_ns: u64,
}

/// The changes of a file that are to be used.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Changes {
    /// Different prefixes of them.
    pub prefixes: Table,
    /// In the order of the file.
    pub list: Vec<Change>,
    /// Whether the file has times.
    pub timed: bool,
    /// Prefixes left out.
    pub left_out: LeftOut,
    /// Changes of these prefixes.
    pub changes_left_out: u64,
}

/// A file of changes could not be read. The message holds the whole cause, so there is no `source()`.
#[derive(Debug, Error)]
pub enum ChangesError {
    /// The file cannot be opened.
    #[error("open {0}: {1}")]
    Open(Source, io::Error),
    /// It cannot be read on, does not unpack, or a line is not what it should be.
    #[error("read {0}: {1}: {2}")]
    Damaged(Source, InFile, String),
    /// It is whole, and no change of it can be used.
    #[error("read {0}: no route change in it can be used ({1})")]
    Nothing(Source, String),
}

/// Reads the changes of a file and chooses from their prefixes.
///
/// # Errors
/// Names file, line and octet. No change is left.
pub fn read_changes(source: Source, choosing: &ChooseOptions) -> Result<Changes, ChangesError> {
    let (file, _) = source
        .open()
        .map_err(|error| ChangesError::Open(source.clone(), error))?;
    read_changes_from(source, file, choosing)
}

/// The same from octets that are there already; `source` is what errors call them.
///
/// # Errors
/// As [`read_changes`].
pub fn read_changes_from<'a>(
    source: Source,
    octets: Box<dyn Read + Send + 'a>,
    choosing: &ChooseOptions,
) -> Result<Changes, ChangesError> {
    let (_, unpacked) = unpack(octets, Default::default())
        .map_err(|error| ChangesError::Open(source.clone(), error))?;
    let mut stream = Stream::new(unpacked);
    let is_mrt = stream.window(HEAD_OCTETS).is_ok_and(looks_like_mrt);
    let lines = match is_mrt {
        true => read_records(&source, &mut stream)?,
        false => read_lines(&source, &mut stream)?,
    };
    let all = Table::from_prefixes(lines.iter().map(|line| line.prefix));
    let chosen = choose(all, choosing);
    let place = |prefix: IpNet| match prefix {
        IpNet::V4(v4) => chosen.table.v4.binary_search(&v4),
        IpNet::V6(v6) => {
            let place = chosen.table.v6.binary_search(&v6);
            place.map(|place| chosen.table.v4.len() + place)
        }
    };
    let begun_ns = lines.first().and_then(|line| line.ns).unwrap_or(0);
    let change = |line: &Line| {
        Some(Change {
            prefix: u32::try_from(place(line.prefix).ok()?).ok()?,
            announced: line.announced,
            after_ns: line.ns.map_or(0, |ns| ns - begun_ns),
        })
    };
    let list: Vec<Change> = lines.iter().filter_map(change).collect();
    if list.is_empty() {
        return Err(ChangesError::Nothing(source, why_none(&chosen.left_out)));
    }
    Ok(Changes {
        changes_left_out: (lines.len() - list.len()) as u64,
        list,
        timed: lines.iter().any(|line| line.ns.is_some()),
        prefixes: chosen.table,
        left_out: chosen.left_out,
    })
}

impl Changes {
    /// The prefixes of a table that no change withdraws: the router has a route to them all the time.
    #[must_use]
    pub fn lasting(&self, table: &Table) -> Table {
        let all: Vec<IpNet> = self.prefixes.iter().collect();
        let withdrawn = self.list.iter().filter(|change| !change.announced);
        let withdrawn: HashSet<IpNet> = withdrawn
            .filter_map(|change| all.get(change.prefix as usize).copied())
            .collect();
        Table::from_prefixes(table.iter().filter(|prefix| !withdrawn.contains(prefix)))
    }

    /// The changes of a table's own prefixes: they add no other route.
    #[must_use]
    pub fn within(&self, table: &Table) -> Self {
        let own: HashSet<IpNet> = table.iter().collect();
        let mut places = 0_u32..;
        let place = |prefix| own.contains(&prefix).then(|| places.next()).flatten();
        let places: Vec<Option<u32>> = self.prefixes.iter().map(place).collect();
        let moved = |change: &Change| {
            let prefix = places.get(change.prefix as usize).copied().flatten()?;
            Some(Change { prefix, ..*change })
        };
        let list: Vec<Change> = self.list.iter().filter_map(moved).collect();
        Self {
            prefixes: Table::from_prefixes(self.prefixes.iter().filter(|p| own.contains(p))),
            changes_left_out: self.changes_left_out + (self.list.len() - list.len()) as u64,
            list,
            ..self.clone()
        }
    }
}

fn why_none(left_out: &LeftOut) -> String {
    let classes = left_out.iter();
    let classes = classes.map(|(class, count): (_, Families)| {
        format!("prefixes left out: {} {}", count.total(), class.name())
    });
    let said: Vec<String> = classes.collect();
    match said.is_empty() {
        true => "it is empty, or holds comments alone".to_owned(),
        false => said.join(", "),
    }
}

/// A line that holds a change.
struct Line {
    prefix: IpNet,
    announced: bool,
    /// Unix time, ns.
    ns: Option<u64>,
}

fn read_lines(source: &Source, stream: &mut Stream<'_>) -> Result<Vec<Line>, ChangesError> {
    let mut lines: Vec<Line> = Vec::new();
    let mut number = 0;
    loop {
        number += 1;
        let place = InFile {
            unit: "line",
            number,
            octet: stream.offset(),
        };
        let damaged = |what: String| ChangesError::Damaged(source.clone(), place, what);
        let failed = |error: io::Error| damaged(error.to_string());
        let Some(length) = length_of_line(stream).map_err(failed)? else {
            return Ok(lines);
        };
        if length > LINE_OCTETS_MAX || lines.len() == CHANGES_MAX {
            return Err(damaged("more than a file of route changes has".to_owned()));
        }
        let window = stream.window(length + 1).map_err(failed)?;
        if window.len() == length {
            let what = "the last line has no end: the file was cut off, or end it with a newline";
            return Err(damaged(what.to_owned()));
        }
        let octets = window.get(..length).unwrap_or(window);
        if let Some(line) = line(octets).map_err(damaged)? {
            in_order(lines.last(), &line).map_err(damaged)?;
            lines.push(line);
        }
        stream.consume(length + 1);
    }
}

/// Reads the updates of an MRT file. Records of type BGP4MP that are none, such as state changes, are passed over.
fn read_records(source: &Source, stream: &mut Stream<'_>) -> Result<Vec<Line>, ChangesError> {
    let mut lines: Vec<Line> = Vec::new();
    let mut number = 0;
    loop {
        number += 1;
        let place = InFile {
            unit: "record",
            number,
            octet: stream.offset(),
        };
        let damaged = |what: String| ChangesError::Damaged(source.clone(), place, what);
        let Some((octets, header, update)) = next_update(stream).map_err(damaged)? else {
            return Ok(lines);
        };
        if lines.len() + update.withdrawn.len() + update.announced.len() > CHANGES_MAX {
            return Err(damaged("more than a file of route changes has".to_owned()));
        }
        let micros = u64::from(header.timestamp) * 1_000_000 + u64::from(update.micros);
        let line = |announced| {
            move |&prefix: &IpNet| Line {
                prefix,
                announced,
                ns: Some(micros * 1_000),
            }
        };
        let withdrawn = update.withdrawn.iter().map(line(false));
        for line in withdrawn.chain(update.announced.iter().map(line(true))) {
            in_order(lines.last(), &line).map_err(damaged)?;
            lines.push(line);
        }
        stream.consume(octets);
    }
}

/// The next record, and how many octets it has. `None` at the end.
fn next_update(stream: &mut Stream<'_>) -> Result<Option<(usize, Header, Update)>, String> {
    let failed = |error: io::Error| error.to_string();
    let window = stream.window(HEADER_LEN).map_err(failed)?;
    if window.is_empty() {
        return Ok(None);
    }
    let (header, _) = Header::parse(window).map_err(|error| error.to_string())?;
    if header.length > UPDATE_OCTETS_MAX {
        return Err(format!(
            "a record of {} octets, over {UPDATE_OCTETS_MAX}",
            header.length
        ));
    }
    let octets = HEADER_LEN + header.length as usize;
    let window = stream.window(octets).map_err(failed)?;
    let Some(body) = window.get(HEADER_LEN..octets) else {
        return Err(format!("cut off: {} of {octets} octets", window.len()));
    };
    match header.update(body).map_err(|error| error.to_string())? {
        Some(update) => Ok(Some((octets, header, update))),
        None => Err(format!(
            "MRT of type {}, which is no route change: --table reads tables",
            header.kind
        )),
    }
}

/// Whether a line may follow the one before it.
fn in_order(before: Option<&Line>, line: &Line) -> Result<(), String> {
    match before.map(|before| (before.ns, line.ns)) {
        Some((Some(before), Some(ns))) if ns < before => Err(format!(
            "it is {:.3} s before the one above: sort the file by time",
            (before - ns) as f64 / 1e9
        )),
        Some((Some(_), None) | (None, Some(_))) => {
            Err("some lines have a time and some have none: give all of them one".to_owned())
        }
        _ => Ok(()),
    }
}

/// Reads `[TIME] A|W PREFIX`, or a line of `bgpdump -m` of updates. `None`: blank, a comment, or no change of a route.
fn line(octets: &[u8]) -> Result<Option<Line>, String> {
    let unknown = || {
        format!(
            "not a route change: `{}` (give `A PREFIX` or `W PREFIX`, with a Unix time before it or none, or the output of \
             `bgpdump -m`)",
            text::excerpt(octets)
        )
    };
    let words = std::str::from_utf8(octets).map_err(|_| unknown())?.trim();
    if words.is_empty() || words.starts_with('#') {
        return Ok(None);
    }
    let (time, kind, prefix) = if text::looks_like_bgpdump(octets) {
        let fields: Vec<&str> = words.split('|').collect();
        match fields[..] {
            [dump, _, "STATE", ..] if dump.starts_with("BGP4MP") => return Ok(None),
            [dump, time, kind, _, _, prefix, ..] if dump.starts_with("BGP4MP") => {
                (Some(time), kind, prefix)
            }
            _ => return Err(unknown()),
        }
    } else {
        let fields: Vec<&str> = words.split_ascii_whitespace().take(3).collect();
        match fields[..] {
            [kind @ ("A" | "W"), prefix, ..] => (None, kind, prefix),
            [time, kind, prefix] => (Some(time), kind, prefix),
            _ => return Err(unknown()),
        }
    };
    let seconds = time.map(str::parse::<f64>).transpose();
    let seconds = seconds.ok().filter(|time| {
        // Until the year 2554; as ns it fits 64 bits.
        time.is_none_or(|seconds| (0.0..1.8e10).contains(&seconds))
    });
    let (Some(seconds), Some(prefix), "A" | "W") = (seconds, text::prefix(prefix), kind) else {
        return Err(unknown());
    };
    Ok(Some(Line {
        prefix: prefix.trunc(),
        announced: kind == "A",
        ns: seconds.map(|seconds| (seconds * 1e6).round() as u64 * 1_000),
    }))
}

#[cfg(test)]
mod tests;
