//! Text, line by line: a list of prefixes, or what `bgpdump -m` prints.

use super::{ReadError, Reading};
use crate::error::InFile;
use crate::stream::Stream;
use crate::text::{self, Line};

/// Longest line that is read. One of `bgpdump -m` with a long path and many communities has 10 000 octets.
pub(crate) const LINE_OCTETS_MAX: usize = 1 << 20;

/// Lines between two reports.
const REPORT_EVERY: u64 = 1 << 16;

/// How the lines of a file are read.
type Read = fn(&[u8]) -> Line;

/// Reads to the end. The first line that says something decides which format it is.
pub(super) fn read(stream: &mut Stream<'_>, reading: &mut Reading<'_>) -> Result<(), ReadError> {
    let mut format: Option<Read> = None;
    loop {
        let place = InFile {
            unit: "line",
            number: reading.counts.records + 1,
            octet: stream.offset(),
        };
        let length = match length_of_line(stream) {
            Ok(Some(length)) => length,
            Ok(None) => return Ok(()),
            Err(error) => return reading.failed(place, &error),
        };
        reading.counts.records += 1;
        if reading.counts.records.is_multiple_of(REPORT_EVERY) {
            reading.report();
        }
        if length > LINE_OCTETS_MAX {
            skip_line(stream);
            reading.damage(
                place,
                format!("over {LINE_OCTETS_MAX} octets without an end of line"),
            )?;
            continue;
        }
        let line = match stream.window(length) {
            Ok(window) => window.get(..length).unwrap_or(window),
            Err(error) => return reading.failed(place, &error),
        };
        let read = format.unwrap_or_else(|| format_of(line));
        let found = read(line);
        if found != Line::Nothing && format.is_none() {
            format = Some(read);
            reading.counts.format = name_of(text::looks_like_bgpdump(line));
        }
        stream.consume(length + 1);
        match found {
            Line::Route(prefix) => reading.take(prefix, 1, place)?,
            Line::Nothing => {}
            Line::Other => reading.skip("updates"),
            Line::Damaged(what) => reading.damage(place, what)?,
        }
    }
}

fn format_of(line: &[u8]) -> Read {
    if text::looks_like_bgpdump(line) {
        text::bgpdump_line
    } else {
        text::list_line
    }
}

fn name_of(bgpdump: bool) -> &'static str {
    if bgpdump {
        "bgpdump -m"
    } else {
        "list of prefixes"
    }
}

/// Octets before the next end of line, or before the end of the stream; more than the maximum where
/// there is none for so long. `None` at the end.
pub(crate) fn length_of_line(stream: &mut Stream<'_>) -> std::io::Result<Option<usize>> {
    let mut searched = 0;
    loop {
        let window = stream.window(searched + 1)?;
        let rest = window.get(searched..).unwrap_or_default();
        if rest.is_empty() {
            return Ok((searched > 0).then_some(searched));
        }
        if let Some(at) = rest.iter().position(|&octet| octet == b'\n') {
            return Ok(Some(searched + at));
        }
        searched = window.len();
        if searched > LINE_OCTETS_MAX {
            return Ok(Some(searched));
        }
    }
}

/// Leaves a line behind that is too long to be held.
fn skip_line(stream: &mut Stream<'_>) {
    while let Ok(window) = stream.window(1) {
        let found = window.iter().position(|&octet| octet == b'\n');
        let octets = found.map_or(window.len(), |at| at + 1);
        if octets == 0 {
            return;
        }
        stream.consume(octets);
        if found.is_some() {
            return;
        }
    }
}
