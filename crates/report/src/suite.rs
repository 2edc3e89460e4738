//! The results of `mpps rfc2544`: what was done, a row for each frame size, what is not as planned.

use crate::headline::short_without_loss;
use crate::kind::{PartLine, Shown, Subjects, kinds};
use crate::row::Row;
use crate::table::Table;
use crate::{number, sentence};
use mpps_record::{
    BurstLine, Claim, CurveLine, Plan, Recovered, RecoveryLine, ResetLine, ResetTrial, Run,
};

/// What no part measured.
const NONE: &str = "-";
/// What a recovery says whose overload lost no frame.
const NO_OVERLOAD: &str = "no overload";

/// A column: its part, its head, what is said of it below the table, its cell for a frame size.
type Column = (&'static str, &'static str, &'static str, Cell);
type Cell = fn(&Run, &str) -> Option<String>;
/// What is said of both percentiles.
const PERCENTILES: &str = "p50, p99: one-way latency at that rate, unless noted below (*: at a lower rate; ?: too few frames took longer)";

const COLUMNS: [Column; 7] = [
    ("throughput", "without loss", "frames/s", |run, frame| {
        let rows = Row::each(&run.results);
        let row = rows.iter().find(|row| row.frame == frame)?;
        Some(short_without_loss(row))
    }),
    ("latency", "p50", PERCENTILES, |run, frame| {
        time_of(run, frame, 50.0)
    }),
    ("latency", "p99", "", |run, frame| time_of(run, frame, 99.0)),
    (
        "loss",
        "loss at max",
        "loss at the highest load",
        |run, frame| loss_of(run.curves.iter().find(|line| line.frame == frame)?),
    ),
    ("back-to-back", "max burst", "", |run, frame| {
        burst_of(run.bursts.iter().find(|line| line.frame == frame)?)
    }),
    ("recovery", "recovery", "", |run, frame| {
        recovery_of(run.recoveries.iter().find(|line| line.frame == frame)?)
    }),
    (
        "reset",
        "reset",
        "reset: time without forwarding, by frame loss (median; the longest of all that was reset)",
        |run, frame| reset_of(run.resets.iter().filter(|line| line.frame == frame)),
    ),
];

/// A run of all parts, in words.
pub struct Suite<'a> {
    /// How many parts have ended well, and what a run that ended early lacks. A size of a part is a part here.
    pub measured: String,
    /// A row a frame size, with the columns of the parts that were asked for.
    pub table: Table,
    /// How to read it, a line each.
    pub notes: Vec<String>,
    /// The parts that do less than the RFC asks for.
    pub shortened: Vec<String>,
    /// Why a part has no result, or not all of it.
    pub not_as_planned: Vec<String>,
    /// The doubts of each part.
    pub subjects: Subjects<'a>,
}

impl<'a> Suite<'a> {
    /// Of a run; nothing of a run that has no parts.
    #[must_use]
    pub fn new(run: &'a Run) -> Self {
        let plan = run.begin.as_ref().map(|begin| &begin.plan);
        let kinds = kinds(run);
        let lines: Vec<PartLine<'a>> = kinds.into_iter().flat_map(Shown::parts).collect();
        let short = plan.into_iter().flat_map(|plan| &plan.parts);
        let short = short.filter(|part| part.shortened_from.is_some());
        let (table, notes) = table(run);
        Self {
            measured: plan.map_or(String::new(), |plan| measured(plan, &lines)),
            table,
            notes,
            shortened: short.map(sentence::part).collect(),
            not_as_planned: not_as_planned(run, &lines),
            subjects: (lines.into_iter())
                .map(|line| (line.name.into(), line.doubts.iter().collect()))
                .collect(),
        }
    }
}

fn measured(plan: &Plan, lines: &[PartLine<'_>]) -> String {
    let all = plan.frames.len() * plan.parts.len();
    // A part of a size has several lines where more than one thing was reset.
    let begun = lines.chunk_by(|one, next| one.part == next.part);
    let is_whole = |lines: &&[PartLine<'_>]| lines.iter().all(|line| line.why.is_none());
    let whole = begun.clone().filter(is_whole).count();
    let missing = all.saturating_sub(begun.count());
    let partial = match missing {
        0 => String::new(),
        _ => format!("\nPARTIAL: the run ended before {missing} of {all} parts had a result"),
    };
    format!("{whole} of {all} parts measured as planned{partial}")
}

fn not_as_planned(run: &Run, lines: &[PartLine<'_>]) -> Vec<String> {
    let known = |frame: &str| {
        let mut results = run.results.iter();
        results.any(|line| line.frame == frame && line.rate_fps.is_some())
    };
    let own = run.latencies.iter().filter(|line| !known(&line.frame));
    let own = own.filter_map(|line| {
        let (frame, rate) = (
            number::frame(&line.frame),
            number::short_count(line.throughput_fps?),
        );
        Some(format!(
            "{frame} latency: at {rate} frames/s, as a search of its own found it"
        ))
    });
    let cut = |line: &PartLine<'_>| Some(format!("{}: {}", line.name, line.why.as_ref()?));
    lines.iter().filter_map(cut).chain(own).collect()
}

fn table(run: &Run) -> (Table, Vec<String>) {
    let rows = Row::each(&run.results);
    let plan = run.begin.as_ref().map(|begin| &begin.plan);
    let planned = |(verb, ..): &&Column| {
        plan.is_some_and(|plan| plan.parts.iter().any(|part| part.verb == *verb))
    };
    let shown: Vec<&Column> = COLUMNS.iter().filter(planned).collect();
    let is_throughput = |row: &Row<'_>| row.claim == Some(Claim::Throughput);
    let is_claimed = !rows.is_empty() && rows.iter().all(is_throughput);
    let head = |(verb, head, ..): &&Column| match *verb {
        "throughput" if is_claimed => verb.to_string(),
        _ => head.to_string(),
    };
    let first = |cell: &str| std::iter::once(cell.to_owned());
    let row = |frame: &String| {
        let cell = |(.., cell): &&Column| cell(run, frame).unwrap_or_else(|| NONE.to_owned());
        first(frame).chain(shown.iter().map(cell)).collect()
    };
    let notes = shown.iter().map(|(_, _, note, _)| *note);
    let notes: Vec<&str> = notes.filter(|note| !note.is_empty()).collect();
    let notes = (!notes.is_empty()).then(|| notes.join("; "));
    let table = Table {
        left: vec![0],
        head: first("frame").chain(shown.iter().map(head)).collect(),
        rows: plan.iter().flat_map(|plan| &plan.frames).map(row).collect(),
    };
    (table, notes.into_iter().chain(meanings(run)).collect())
}

/// What a cell means that may be misread.
fn meanings(run: &Run) -> Vec<String> {
    let ring = run.bursts.iter().find_map(|line| line.own_ring_frames);
    let ring = ring.map(|frames| {
        let frames = number::spaced(frames.into());
        format!("max burst: the bed's own ring of {frames} frames took it, not the router's")
    });
    let is_idle = |line: &RecoveryLine| recovery_of(line).as_deref() == Some(NO_OVERLOAD);
    let idle = run.recoveries.iter().any(is_idle).then(|| {
        format!("{NO_OVERLOAD}: at 110 % of that rate no frame was lost, so there was nothing to recover from")
    });
    ring.into_iter().chain(idle).collect()
}

fn time_of(run: &Run, frame: &str, percent: f64) -> Option<String> {
    let line = run.latencies.iter().find(|line| line.frame == frame)?;
    let load = line.loads.last()?;
    let times = &load.router.times;
    let at = times.percentiles.iter().find(|at| at.percent == percent)?;
    let few = if at.supported { "" } else { "?" };
    let below = if load.instead_of_fps.is_some() {
        "*"
    } else {
        ""
    };
    Some(number::time(at.ns as f64) + few + below)
}

fn loss_of(line: &CurveLine) -> Option<String> {
    let highest = line.loads.first()?.measured.as_ref()?;
    let of = number::short_count(highest.offered_fps);
    Some(format!(
        "{} of {of}",
        number::percent_or_under(highest.loss_ratio)
    ))
}

fn burst_of(line: &BurstLine) -> Option<String> {
    let longest = line
        .all
        .map(|all| number::spaced(all.average_frames.round() as u64));
    longest.or_else(|| Some(format!("> {}", number::spaced(line.all_passed_frames?))))
}

fn recovery_of(line: &RecoveryLine) -> Option<String> {
    let says = |wanted: Recovered| line.trials.iter().any(|trial| trial.recovered == wanted);
    match line.average_ns {
        Some(0) => Some("at once".to_owned()),
        Some(ns) => Some(number::time(ns as f64)),
        None if says(Recovered::NotRecovered) => Some("not recovered".to_owned()),
        None if says(Recovered::NotOverloaded) => Some(NO_OVERLOAD.to_owned()),
        None => None,
    }
}

/// The longest of all that was reset; nothing where one of them has no time.
fn reset_of<'a>(lines: impl Iterator<Item = &'a ResetLine> + Clone) -> Option<String> {
    let lasting = |trial: &ResetTrial| trial.tried.recovered == Recovered::NotRecovered;
    if lines.clone().flat_map(|line| &line.trials).any(lasting) {
        return Some("not recovered".to_owned());
    }
    let times: Option<Vec<u64>> = lines.map(|line| line.frame_loss_ns).collect();
    let longest = times?.into_iter().max()?;
    Some(number::time(longest as f64))
}
