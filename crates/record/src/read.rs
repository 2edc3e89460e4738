//! Reads files of records: torn, old, new and mixed ones. One problem never hides what can be read.

use crate::clean::{clean, is_suspect};
use crate::kind::{Line, Run};
use crate::problem::{Lines, Problem, ReadError, What};
use crate::{SCHEMA, TrialLine};
use serde::Deserializer;
use serde::de::{DeserializeSeed, IgnoredAny, MapAccess, Visitor};
use serde_json::{Map, Value};
use std::fmt;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

/// No line of a record is as long as this, octets.
const LINE_MAX: u64 = 16 << 20;
/// Trials of a file that is read to be shown which keep all that they have.
const WHOLE_TRIALS: usize = 500;
/// Trials of a run without results whose latencies a report may show: its last ones.
const LAST_TRIALS: usize = 100;
/// Members of a trial that nobody needs who needs no details.
const DETAILS: [&str; 2] = ["losses", "windows"];
/// A file that is no text shows it in these first octets.
const HEAD: usize = 8 << 10;
/// How packed files begin.
const PACKED: [(&[u8], &str); 4] = [
    (b"\xfd7zXZ\0", "xz"),
    (b"\x1f\x8b", "gzip"),
    (b"\x28\xb5\x2f\xfd", "zstd"),
    (b"BZh", "bzip2"),
];

/// What is kept of trials.
#[derive(Clone, Copy, PartialEq)]
enum Kept {
    /// All.
    Whole,
    /// All of the first 500, the numbers of the others.
    FewWhole,
    /// The numbers, and the latencies that a report shows.
    Numbers,
}

impl Kept {
    /// Whether the trial at this place of the file keeps all that it has.
    fn keeps_details(self, place: usize) -> bool {
        self == Self::Whole || self == Self::FewWhole && place <= WHOLE_TRIALS
    }
}

/// A file of records.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Records {
    /// Its runs, in the order they begin.
    pub runs: Vec<Run>,
    /// What could not be read, in the order it was met.
    pub problems: Vec<Problem>,
}

/// Reads the file at `path`.
///
/// # Errors
/// Nothing of it can be read. Whatever else is wrong is among the problems.
pub fn read_file(path: &Path) -> Result<Records, ReadError> {
    read_path(path, Kept::Whole)
}

/// The same for a reader who needs the details of few trials: those after the first 500 keep their counts,
/// their quantiles and what a page shows of them, and nothing else.
///
/// # Errors
/// As [`read_file`].
pub fn read_to_show(path: &Path) -> Result<Records, ReadError> {
    read_path(path, Kept::FewWhole)
}

/// The same for a reader of many or long files: no trial keeps its details. Of trials that results stand on, or of the
/// last ones where there are no results, the latencies stay.
///
/// # Errors
/// As [`read_file`].
pub fn read_to_report(path: &Path) -> Result<Records, ReadError> {
    read_path(path, Kept::Numbers)
}

fn read_path(path: &Path, kept: Kept) -> Result<Records, ReadError> {
    let failed = |error| ReadError::Io {
        path: path.to_owned(),
        error,
    };
    let file = File::open(path).map_err(failed)?;
    if file.metadata().map_err(failed)?.is_dir() {
        return Err(ReadError::Directory(path.to_owned()));
    }
    let mut reader = BufReader::with_capacity(HEAD, file);
    let head = reader.fill_buf().map_err(failed)?.to_vec();
    if head.is_empty() {
        return Err(ReadError::Empty(path.to_owned()));
    }
    if let Some((_, how)) = PACKED.iter().find(|(magic, _)| head.starts_with(magic)) {
        let path = path.to_owned();
        return Err(ReadError::Packed { path, how });
    }
    let records = read_lines(reader, kept).map_err(failed)?;
    if !records.runs.is_empty() {
        return Ok(records);
    }
    if head.contains(&0) {
        return Err(ReadError::Binary(path.to_owned()));
    }
    let first = records.problems.first();
    if first.is_some_and(|problem| problem.what == What::Torn) {
        return Err(ReadError::Torn(path.to_owned()));
    }
    let first = first.map_or("blank lines".to_owned(), Problem::to_string);
    // There are no other lines that are read.
    let first = first.split(": left out").next().unwrap_or_default();
    Err(ReadError::NoLine {
        path: path.to_owned(),
        first: first.to_owned(),
    })
}

/// Reads all runs of a file. Where no line is one of a record, there are no runs.
///
/// # Errors
/// The reader's own.
pub fn read(reader: impl BufRead) -> io::Result<Records> {
    read_lines(reader, Kept::Whole)
}

fn read_lines(mut reader: impl BufRead, kept: Kept) -> io::Result<Records> {
    let mut trials = 0;
    let mut records = Records::default();
    let mut line = Vec::new();
    for number in 1.. {
        line.clear();
        let length = (&mut reader).take(LINE_MAX).read_until(b'\n', &mut line)?;
        if length == 0 {
            break;
        }
        let whole = line.last() == Some(&b'\n');
        if !whole && length as u64 == LINE_MAX {
            reader.skip_until(b'\n')?;
            records.note(What::TooLong, number);
        } else if !text(&line, number).trim_ascii().is_empty() {
            let keeps_details = kept.keeps_details(trials + 1);
            match parse(text(&line, number), whole, keeps_details) {
                Ok(mut entry) => {
                    if let Line::Trial(trial) = &mut entry.line {
                        trials += 1;
                        if !keeps_details {
                            trial.leave_out(trials);
                        }
                    }
                    records.add(entry, number);
                }
                Err(what) => records.note(what, number),
            }
        }
    }
    for run in &mut records.runs {
        if kept == Kept::Numbers {
            run.leave_out_latencies();
        }
        if run.begin.is_none() && run.campaign.is_none() {
            records.problems.push(Problem {
                what: What::NoFirst(run.name.clone()),
                lines: None,
            });
        }
    }
    Ok(records)
}

impl TrialLine {
    /// Leaves out the details of the trial at this place of the file.
    fn leave_out(&mut self, place: usize) {
        let times = self.latency.histogram_ns.take();
        self.leave_out_details();
        self.latency.histogram_ns = times.filter(|_| place <= WHOLE_TRIALS);
    }
}

impl Run {
    /// Leaves out the latencies that no report shows.
    fn leave_out_latencies(&mut self) {
        let stands = self
            .results
            .iter()
            .filter_map(|result| result.stands_on.stands_on_trial);
        let stands: Vec<u32> = stands.collect();
        let older = self.trials.len().saturating_sub(LAST_TRIALS);
        for (at, trial) in self.trials.iter_mut().enumerate() {
            let is_shown = match stands.is_empty() {
                true => at >= older,
                false => stands.contains(&trial.trial),
            };
            if !is_shown {
                trial.latency.histogram_ns = None;
            }
        }
        self.trials.shrink_to_fit();
    }
}

/// A line with what every line has.
struct Entry {
    schema: u32,
    run: String,
    line: Line,
}

/// The members of a line, or of a trial's lateness. The largest details of a trial are passed over: they are two thirds of
/// its octets.
#[derive(Clone, Copy, PartialEq)]
enum Members {
    Line,
    Lateness,
}

impl Members {
    fn leave_out(self, name: &str, is_trial: bool) -> bool {
        match self {
            Self::Line => is_trial && DETAILS.contains(&name),
            Self::Lateness => name == "histogram_ns",
        }
    }
}

impl<'de> DeserializeSeed<'de> for Members {
    type Value = Map<String, Value>;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Self::Value, D::Error> {
        from.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Members {
    type Value = Map<String, Value>;

    fn expecting(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut members = Map::new();
        while let Some(name) = map.next_key::<String>()? {
            let is_trial = members.get("kind").is_some_and(|kind| kind == "trial");
            if self.leave_out(&name, is_trial) {
                map.next_value::<IgnoredAny>()?;
                continue;
            }
            let value = match is_trial && name == "lateness" {
                true => map.next_value_seed(Self::Lateness)?.into(),
                false => map.next_value()?,
            };
            members.insert(name, value);
        }
        Ok(members)
    }
}

fn without_details(line: &[u8]) -> serde_json::Result<Value> {
    let mut line = serde_json::Deserializer::from_slice(line);
    let members = Members::Line.deserialize(&mut line)?;
    line.end()?;
    Ok(members.into())
}

/// A line without the mark that some editors put before a file's first.
fn text(line: &[u8], number: u64) -> &[u8] {
    const MARK: &[u8] = b"\xef\xbb\xbf";
    let first = (number == 1).then(|| line.strip_prefix(MARK)).flatten();
    first.unwrap_or(line)
}

/// Reads one line; `whole` says whether it has its end.
fn parse(line: &[u8], whole: bool, keeps_details: bool) -> Result<Entry, What> {
    let value = if keeps_details {
        serde_json::from_slice(line)
    } else {
        // What is no object is said of the whole line.
        without_details(line).or_else(|_| serde_json::from_slice(line))
    };
    let mut value: Value = value.map_err(|error| {
        if whole {
            What::NoJson(error.to_string())
        } else {
            What::Torn
        }
    })?;
    if is_suspect(line) {
        clean(&mut value);
    }
    let Value::Object(mut members) = value else {
        return Err(What::NoLine);
    };
    let schema = members.remove("schema");
    let schema = schema.as_ref().and_then(Value::as_u64);
    let schema = schema.and_then(|schema| u32::try_from(schema).ok());
    let (Some(schema), Some(Value::String(run))) = (schema, members.remove("run")) else {
        return Err(What::NoLine);
    };
    let kind = members.get("kind").and_then(Value::as_str);
    let kind = kind.ok_or(What::NoLine)?.to_owned();
    if !Line::KINDS.contains(&kind.as_str()) {
        return Err(What::Kind(kind));
    }
    match serde_json::from_value(members.into()) {
        Ok(line) => Ok(Entry { schema, run, line }),
        Err(error) => Err(What::Member {
            kind,
            schema,
            why: error.to_string(),
        }),
    }
}

impl Records {
    fn add(&mut self, entry: Entry, number: u64) {
        let Entry { schema, run, line } = entry;
        if schema > SCHEMA {
            let run = run.clone();
            self.note(What::Newer { run, schema }, number);
        }
        // Lines of one run follow each other, as a rule.
        let place = self.runs.iter().rposition(|known| known.name == run);
        let place = place.unwrap_or_else(|| {
            self.runs.push(Run {
                name: run,
                ..Run::default()
            });
            self.runs.len() - 1
        });
        let run = &mut self.runs[place];
        run.schema = run.schema.max(schema);
        run.add(line);
    }

    /// The same problem of several lines is one.
    fn note(&mut self, what: What, line: u64) {
        match self.problems.iter_mut().find(|known| known.what == what) {
            Some(Problem {
                lines: Some(lines), ..
            }) => lines.add(line),
            Some(_) => {}
            None => self.problems.push(Problem {
                what,
                lines: Some(Lines::new(line)),
            }),
        }
    }
}
