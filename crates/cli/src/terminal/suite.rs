//! The results of `mpps rfc2544`: what was done, a row for each frame size, the doubts; with `--verbose` each part's own
//! tables in between.

use super::doubts::Doubted;
use super::latency::not_offered;
use super::{Row, columns, details, error, fitted, machine_line, out, report, table};
use crate::expectation;
use crate::outcome::{Outcome, View, is_in};
use anyhow::Result;
use mpps_record::{
    BurstLine, CurveLine, Doubt, LatencyLine, LatencyLoad, LimitedBy, Plan, Recovered,
    RecoveryLine, RecoveryTrial, ResetLine, ResetTrial, ResultLine, Run,
};
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
    macro_rules! lines {
        ($($lines:ident $verb:literal $name:expr, $left_out:expr;)*) => {[$(
            (run.$lines.iter())
                .map(|line| Line {
                    part: format!("{} {}", number::frame(&line.frame), $verb),
                    name: format!("{} {}", number::frame(&line.frame), $name(line)),
                    why: line.why.clone().or_else(|| $left_out(line)),
                    doubts: &line.doubts,
                })
                .collect::<Vec<_>>(),
        )*]};
    }
    let all = lines! {
        results "throughput" |_: &ResultLine| "throughput", |line: &ResultLine| {
            let is_early = matches!(line.limited_by, Some(LimitedBy::Trials | LimitedBy::Disturbed));
            is_early.then(|| "the search ended early (-v: why)".to_owned())
        };
        latencies "latency" |_: &LatencyLine| "latency", |line: &LatencyLine| {
            let why = |load: &LatencyLoad| load.router.left_out_text.clone().unwrap_or_default();
            let instead = |load| Some(not_offered(load, line.in_place_of(load)?));
            line.loads.iter().find_map(instead).or_else(|| left_out(&line.loads, "loads", |load| load.router.trials.is_empty(), why))
        };
        curves "loss" |_: &CurveLine| "loss", |line: &CurveLine| {
            left_out(&line.loads, "loads", |load| load.measured.is_none(), |load| load.verdict_text.clone())
        };
        bursts "back-to-back" |_: &BurstLine| "back-to-back", |_: &BurstLine| None;
        recoveries "recovery" |_: &RecoveryLine| "recovery", |line: &RecoveryLine| {
            let is_left_out = |trial: &RecoveryTrial| trial.recovered == Recovered::NotMeasured;
            left_out(&line.trials, "trials", is_left_out, |trial| trial.verdict_text.clone())
        };
        resets "reset" |line: &ResetLine| format!("reset, {}", line.reset), |line: &ResetLine| {
            let is_left_out = |trial: &ResetTrial| trial.tried.recovered == Recovered::NotMeasured;
            left_out(&line.trials, "trials", is_left_out, |trial| trial.tried.verdict_text.clone())
        };
    };
    all.into_iter().flatten().collect()
}

/// How many have no result, because their trials do not count, and why the last does not.
fn left_out<T>(
    all: &[T],
    noun: &str,
    is_left_out: fn(&T) -> bool,
    why: fn(&T) -> String,
) -> Option<String> {
    let left: Vec<&T> = all.iter().filter(|one| is_left_out(one)).collect();
    let (count, of, why) = (left.len(), all.len(), why(left.last()?));
    Some(format!(
        "{count} of {of} {noun} not measured, the last: {why}"
    ))
}

/// A row a frame size, with the columns of the parts that were asked for.
fn summary(run: &Run) -> String {
    let (table, notes) = mpps_report::suite(run);
    let rows = std::iter::once(table.head).chain(table.rows);
    let notes = notes.into_iter().map(|note| note + "\n");
    columns(rows, &[0]) + &notes.collect::<String>()
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
    text.extend(told.map(|lines| format!("\n{}", lines.text(machine, true))));
    text
}

#[cfg(all(test, feature = "measure"))]
mod tests;
