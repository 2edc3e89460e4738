//! The results of `mpps rfc2544`: what was done, a row for each frame size, the doubts; with `--verbose` each part's own
//! tables in between.

use super::columns::shown;
use super::doubts::Doubted;
use super::{Row, details, error, fitted, machine_line, out, report, table};
use crate::expectation;
use crate::outcome::{Outcome, View, is_in};
use anyhow::Result;
use mpps_record::{Doubt, LimitedBy, Plan, Run};
use mpps_report::Described;
use mpps_report::column::On;
use mpps_report::number;
use mpps_report::sentence;
use serde_json::json;

/// Puts the results on stdout; what else a person should know goes to stderr.
///
/// # Errors
/// The result could not be written.
pub fn show(run: &Run, view: &View<'_>) -> Result<()> {
    let begin = run.begin.as_ref();
    let unmet = expectation::all_unmet(begin, &Row::each(&run.results));
    if view.json {
        let results = json!({
            "plan": begin.map(|begin| &begin.plan),
            "expectation_unmet": unmet,
            "results": run.results,
            "latencies": run.latencies,
            "curves": run.curves,
            "bursts": run.bursts,
            "recoveries": run.recoveries,
            "resets": run.resets,
        });
        view.print_json(run, &results)?;
    } else if is_in(run) {
        let machine = begin.map(machine_line).unwrap_or_default();
        out(&fitted(
            &(suite(run, &machine, view.verbose) + &view.foot(begin)),
        ));
    }
    unmet.iter().for_each(|line| error(line));
    Ok(())
}

/// The summary, under the machine that it was measured on.
fn suite(run: &Run, machine: &str, verbose: bool) -> String {
    let (rows, lines) = (Row::each(&run.results), lines(run));
    let plan = run.begin.as_ref().map(|begin| &begin.plan);
    let mut text = "RFC 2544 section 26".to_owned();
    text.extend(plan.map(|plan| measured(plan, &lines)));
    text += &format!("\n{machine}\n\n{}", summary(run));
    text.extend(plan.map(shortened));
    text += &remarks(run, &lines);
    if verbose {
        text += &parts(run, &rows, machine);
    } else {
        let doubts = lines
            .iter()
            .map(|line| (line.name.as_str().into(), line.doubts));
        let doubted = Doubted {
            subjects: doubts.collect(),
            noun: "results",
            named_max: 2,
            said: Vec::new(),
        };
        text += &doubted.lines(false);
    }
    text
}

/// How many parts have ended well, and what a run that ended early lacks. A size of a part is a part here.
fn measured(plan: &Plan, lines: &[Line<'_>]) -> String {
    let all = plan.frames.len() * plan.parts.len();
    // A part of a size has several lines where more than one thing was reset.
    let begun = lines.chunk_by(|one, next| one.part == next.part);
    let is_whole = |lines: &&[Line<'_>]| lines.iter().all(|line| line.why.is_none());
    let whole = begun.clone().filter(is_whole).count();
    let missing = all.saturating_sub(begun.count());
    let partial = match missing {
        0 => String::new(),
        _ => format!("PARTIAL: the run ended before {missing} of {all} parts had a result\n"),
    };
    format!(": {whole} of {all} parts measured as planned\n{partial}")
}

/// What a part has come to for one frame size.
struct Line<'a> {
    /// `64 B latency`.
    part: String,
    /// The same, or `64 B reset, link`.
    name: String,
    why: Option<String>,
    doubts: &'a [Doubt],
}

/// Each part that was begun, for each frame size.
fn lines(run: &Run) -> Vec<Line<'_>> {
    let searched = run.results.iter().map(|line| {
        let is_early = matches!(
            line.limited_by,
            Some(LimitedBy::Trials | LimitedBy::Disturbed)
        );
        let early = is_early.then(|| "the search ended early (-v: why)".to_owned());
        let part = format!("{} throughput", number::frame(&line.frame));
        Line {
            name: part.clone(),
            part,
            why: line.why.clone().or(early),
            doubts: &line.doubts,
        }
    });
    let mut lines: Vec<Line<'_>> = searched.collect();
    lines.extend(run.latencies.iter().map(Line::new));
    lines.extend(run.curves.iter().map(Line::new));
    lines.extend(run.bursts.iter().map(Line::new));
    lines.extend(run.recoveries.iter().map(Line::new));
    lines.extend(run.resets.iter().map(Line::new));
    lines
}

impl<'a> Line<'a> {
    fn new<L: Described>(line: &'a L) -> Self {
        let (about, why) = line.about();
        let mut names = about.iter().map(|(_, name)| number::frame(name));
        let part = format!("{} {}", names.next().unwrap_or_default(), L::JOB);
        let (_, doubts) = line.doubted();
        Self {
            name: names.fold(part.clone(), |name, other| name + ", " + &other),
            part,
            why: why.cloned().or_else(|| left_out(line)),
            doubts,
        }
    }
}

/// How many rows have no result, because their trials do not count, and why the last does not.
fn left_out<L: Described>(line: &L) -> Option<String> {
    let rows = line.rows(On::Screen);
    let left: Vec<_> = rows.iter().filter_map(|row| row.unsure.as_ref()).collect();
    let (count, of, noun, last) = (left.len(), rows.len(), L::ROWS, left.last()?);
    if let [one] = left[..] {
        return Some(one.told());
    }
    Some(format!(
        "{count} of {of} {noun} not measured, the last: {}",
        last.text
    ))
}

/// A row a frame size, with the columns of the parts that were asked for.
fn summary(run: &Run) -> String {
    let (table, notes) = mpps_report::suite(run);
    let notes = notes.into_iter().map(|note| note + "\n");
    shown(&table) + &notes.collect::<String>()
}

/// The parts that do less than the RFC asks for.
fn shortened(plan: &Plan) -> String {
    let short = plan
        .parts
        .iter()
        .filter(|part| part.shortened_from.is_some());
    let short: Vec<String> = short
        .map(|part| format!("- {}\n", sentence::part(part)))
        .collect();
    match short.is_empty() {
        true => String::new(),
        false => format!("\nShortened, so these are estimates\n{}", short.concat()),
    }
}

/// Why a part has no result, or not all of it.
fn remarks(run: &Run, lines: &[Line<'_>]) -> String {
    let known = |frame: &str| {
        run.results
            .iter()
            .any(|line| line.frame == frame && line.rate_fps.is_some())
    };
    let own = run.latencies.iter().filter(|line| !known(&line.frame));
    let own = own.filter_map(|line| {
        let (frame, rate) = (
            number::frame(&line.frame),
            number::short_count(line.throughput_fps?),
        );
        Some(format!(
            "- {frame} latency: at {rate} frames/s, as a search of its own found it\n"
        ))
    });
    let cut = |line: &Line<'_>| Some(format!("- {}: {}\n", line.name, line.why.as_ref()?));
    let cut: String = lines.iter().filter_map(cut).chain(own).collect();
    match cut.is_empty() {
        true => cut,
        false => format!("\nNot as planned\n{cut}"),
    }
}

/// What each part's verb would show, with its doubts.
fn parts(run: &Run, rows: &[Row<'_>], machine: &str) -> String {
    let mut text = String::new();
    if !rows.is_empty() {
        text += &format!("\nThroughput (RFC 2544 section 26.1)\n\n{}", table(rows));
        text += &details::details(rows, run.begin.as_ref());
        text += &report::doubted(rows).lines(true);
    }
    let kinds: [&dyn Outcome; 5] = [
        &run.latencies,
        &run.curves,
        &run.bursts,
        &run.recoveries,
        &run.resets,
    ];
    let told = kinds.iter().filter(|lines| !lines.is_empty());
    text.extend(told.map(|lines| format!("\n{}", lines.text(run, machine, true))));
    text
}

#[cfg(all(test, feature = "measure"))]
mod tests;
