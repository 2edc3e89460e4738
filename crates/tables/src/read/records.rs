//! MRT, record by record.

use super::{ReadError, Reading};
use crate::error::InFile;
use crate::stream::Stream;
use mpps_wire::mrt::{Content, HEADER_LEN, Header, TABLE_DUMP, TABLE_DUMP_V2};
use std::io;

/// Longest record that is believed. The largest there can be in practice, a prefix with 65 535 paths of 200 octets
/// each, has 13 MB.
const RECORD_OCTETS_MAX: u32 = 32 << 20;

/// Longest record that is looked for behind damage: all of it has to be held in memory.
const FOUND_OCTETS_MAX: u32 = 1 << 20;

/// Records of one dump are written within this many seconds of each other.
const DUMP_SECONDS_MAX: u32 = 86_400;

/// Records between two reports.
const REPORT_EVERY: u64 = 1 << 13;

/// Whether this may be the beginning of an MRT file.
pub(crate) fn looks_like_mrt(octets: &[u8]) -> bool {
    Header::parse(octets).is_ok_and(|(header, _)| is_plausible(&header))
}

fn is_plausible(header: &Header) -> bool {
    header.is_known() && header.length <= RECORD_OCTETS_MAX
}

/// How a record came out.
enum Outcome {
    /// Of this many octets, header included.
    Whole(usize, Content),
    /// How many octets to leave behind, where it is known that another record follows, and what is wrong.
    Damaged(Option<usize>, String),
}

/// Reads to the end.
pub(super) fn read(stream: &mut Stream<'_>, reading: &mut Reading<'_>) -> Result<(), ReadError> {
    reading.counts.format = "MRT";
    // Of the last whole record.
    let mut timestamp = None;
    loop {
        let place = InFile {
            unit: "record",
            number: reading.counts.records + 1,
            octet: stream.offset(),
        };
        let outcome = match next(stream, &mut timestamp) {
            Ok(Some(outcome)) => outcome,
            Ok(None) => return Ok(()),
            Err(error) => return reading.failed(place, &error),
        };
        reading.counts.records += 1;
        if reading.counts.records.is_multiple_of(REPORT_EVERY) {
            reading.report();
        }
        match outcome {
            Outcome::Whole(octets, content) => {
                stream.consume(octets);
                match content {
                    Content::Route(_, 0) => reading.skip("prefixes without a path"),
                    Content::Route(prefix, paths) => reading.take(prefix, paths.into(), place)?,
                    Content::Other(name) => reading.skip(name),
                }
            }
            Outcome::Damaged(octets, what) => {
                reading.damage(place, what)?;
                stream.consume(octets.unwrap_or(1));
                if octets.is_none()
                    && let Err(error) = find(stream, timestamp)
                {
                    return reading.failed(place, &error);
                }
            }
        }
    }
}

/// Looks at the next record without leaving it behind. `None` at the end.
fn next(stream: &mut Stream<'_>, timestamp: &mut Option<u32>) -> io::Result<Option<Outcome>> {
    let lost = |what| Ok(Some(Outcome::Damaged(None, what)));
    let window = stream.window(HEADER_LEN)?;
    if window.is_empty() {
        return Ok(None);
    }
    let Ok((header, _)) = Header::parse(window) else {
        let octets = window.len();
        return lost(format!(
            "cut off: {octets} octets of a header of {HEADER_LEN}"
        ));
    };
    let Header {
        kind,
        subtype,
        length,
        ..
    } = header;
    if !header.is_known() {
        return lost(format!("no MRT record has type {kind}, subtype {subtype}"));
    }
    if length > RECORD_OCTETS_MAX {
        return lost(format!(
            "a record of {length} octets, over {RECORD_OCTETS_MAX}"
        ));
    }
    let octets = HEADER_LEN + length as usize;
    let window = stream.window(octets)?;
    let Some(body) = window.get(HEADER_LEN..octets) else {
        return lost(format!("cut off: {} octets of {octets}", window.len()));
    };
    Ok(Some(match header.content(body) {
        Ok(content) => {
            *timestamp = Some(header.timestamp);
            Outcome::Whole(octets, content)
        }
        Err(error) => {
            let octets = is_followed(stream, octets)?.then_some(octets);
            Outcome::Damaged(octets, error.to_string())
        }
    }))
}

/// Whether behind so many octets another record begins, or the file ends.
fn is_followed(stream: &mut Stream<'_>, octets: usize) -> io::Result<bool> {
    let window = stream.window(octets + HEADER_LEN)?;
    let rest = window.get(octets..);
    Ok(rest.is_some_and(|rest| rest.is_empty() || looks_like_mrt(rest)))
}

/// Goes to where the next record of a table may begin; to the end if there is none. A place is looked at in
/// constant time, whatever stands there, so that no file can make this slow.
fn find(stream: &mut Stream<'_>, timestamp: Option<u32>) -> io::Result<()> {
    loop {
        let window = stream.window(HEADER_LEN)?;
        let places = window.windows(HEADER_LEN);
        let Some((at, octets)) = places.enumerate().find_map(|(at, place)| {
            let (header, _) = Header::parse(place).ok()?;
            may_be_next(&header, timestamp).then_some((at, HEADER_LEN + header.length as usize))
        }) else {
            let (held, last) = (window.len(), window.len() < HEADER_LEN);
            stream.consume(if last { held } else { held + 1 - HEADER_LEN });
            if last {
                return Ok(());
            }
            continue;
        };
        stream.consume(at);
        if is_followed(stream, octets)? {
            return Ok(());
        }
        stream.consume(1);
    }
}

fn may_be_next(header: &Header, timestamp: Option<u32>) -> bool {
    matches!(header.kind, TABLE_DUMP | TABLE_DUMP_V2)
        && header.is_known()
        && header.length <= FOUND_OCTETS_MAX
        && timestamp.is_none_or(|last| header.timestamp.abs_diff(last) <= DUMP_SECONDS_MAX)
}

#[cfg(test)]
mod tests;
