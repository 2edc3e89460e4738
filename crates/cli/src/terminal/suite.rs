//! The results of `mpps rfc2544`: what was done, a row for each frame size, the doubts; with `--verbose` each part's own
//! tables in between.

use super::doubts::Doubted;
use super::{Row, columns, details, grouped, percent, report, table};
use mpps_record::{
    BurstLine, Claim, CurveLine, Doubt, LatencyLine, Plan, Recovered, RecoveryLine, ResetLine,
    ResetTrial, Run,
};
use mpps_report::number::{self, Known};
use mpps_report::{Reading, sentence};

/// What no part measured.
const NONE: &str = "-";

/// The summary, under the machine that it was measured on.
#[must_use]
pub fn suite(run: &Run, machine: &str, verbose: bool) -> String {
    let (rows, lines) = (Row::each(&run.results), lines(run));
    let plan = run.begin.as_ref().map(|begin| &begin.plan);
    let mut text = "RFC 2544 section 26".to_owned();
    text.extend(plan.map(|plan| measured(plan, &lines)));
    text += &format!("\n{machine}\n\n{}", summary(run, &rows));
    text.extend(plan.map(shortened));
    text += &remarks(run, &lines);
    if verbose {
        text += &parts(run, &rows, machine);
    } else {
        let doubts = lines.iter().map(|line| (line.name.as_str(), line.doubts));
        let doubted = Doubted {
            subjects: doubts.collect(),
            noun: "parts",
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
    format!(": {whole} of {all} parts measured in full\n{partial}")
}

/// What a part has come to for one frame size.
struct Line<'a> {
    /// `64 B latency`.
    name: String,
    /// Frame and verb.
    part: (&'a str, &'static str),
    why: Option<String>,
    doubts: &'a [Doubt],
}

/// Each part that was begun, for each frame size.
fn lines(run: &Run) -> Vec<Line<'_>> {
    macro_rules! lines {
        ($($lines:ident $verb:literal $of:expr, $left_out:expr;)*) => {[$(
            (run.$lines.iter())
                .map(|line| Line {
                    name: format!("{} {}{}", number::frame(&line.frame), $verb, $of(line)),
                    part: (&line.frame, $verb),
                    why: line.why.clone().or_else(|| $left_out(line)),
                    doubts: &line.doubts,
                })
                .collect::<Vec<_>>(),
        )*]};
    }
    let all = lines! {
        results "throughput" |_| "", |_| None;
        latencies "latency" |_| "", |line: &LatencyLine| {
            left_out(&line.loads, "loads", |load| load.router.trials.is_empty())
        };
        curves "loss" |_| "", |line: &CurveLine| left_out(&line.loads, "loads", |load| load.measured.is_none());
        bursts "back-to-back" |_| "", |_| None;
        recoveries "recovery" |_| "", |line: &RecoveryLine| {
            left_out(&line.trials, "trials", |trial| trial.recovered == Recovered::NotMeasured)
        };
        resets "reset" |line: &ResetLine| format!(", {}", line.reset), |line: &ResetLine| {
            left_out(&line.trials, "trials", |trial| trial.tried.recovered == Recovered::NotMeasured)
        };
    };
    all.into_iter().flatten().collect()
}

/// How many have no result, because their trials do not count.
fn left_out<T>(all: &[T], noun: &str, is_left_out: fn(&T) -> bool) -> Option<String> {
    let count = all.iter().filter(|one| is_left_out(one)).count();
    (count > 0).then(|| format!("{count} of {} {noun} not measured (-v: why)", all.len()))
}

/// A row a frame size.
fn summary(run: &Run, rows: &[Row<'_>]) -> String {
    let is_throughput = |row: &Row<'_>| row.claim == Some(Claim::Throughput);
    let rate = match !rows.is_empty() && rows.iter().all(is_throughput) {
        true => "throughput",
        false => "without loss",
    };
    let head = [
        "frame",
        rate,
        "p50",
        "p99",
        "loss at max",
        "burst",
        "recovery",
        "reset",
    ];
    let mut table = vec![head.map(str::to_owned)];
    let mut frames: Vec<&str> = Vec::new();
    let begin = run.begin.as_ref();
    frames.extend(
        begin
            .iter()
            .flat_map(|begin| begin.plan.frames.iter().map(String::as_str)),
    );
    for frame in frames {
        let latency = run.latencies.iter().find(|line| line.frame == frame);
        let [p50, p99] = [50.0, 99.0].map(|percent| cell(latency, |line| time_of(line, percent)));
        table.push([
            frame.to_owned(),
            cell(rows.iter().find(|row| row.frame == frame), rate_of),
            p50,
            p99,
            cell(run.curves.iter().find(|line| line.frame == frame), loss_of),
            cell(run.bursts.iter().find(|line| line.frame == frame), burst_of),
            cell(
                run.recoveries.iter().find(|line| line.frame == frame),
                recovery_of,
            ),
            reset_of(run.resets.iter().filter(|line| line.frame == frame)),
        ]);
    }
    columns(&table, &[0])
        + "frames/s; p50, p99: one-way latency at that rate; loss at the highest load; burst: the longest\n\
           without loss; reset: the longest time without forwarding, by frame loss\n"
}

fn cell<T>(line: Option<T>, words: impl Fn(T) -> Option<String>) -> String {
    line.and_then(words).unwrap_or_else(|| NONE.to_owned())
}

fn short(fps: u64) -> String {
    Known::three(fps as f64).short()
}

fn rate_of(row: &Row<'_>) -> Option<String> {
    match row.reading() {
        Reading::Is(fps) => Some(short(fps)),
        Reading::AtLeast(fps) => Some(format!("≥ {}", short(fps))),
        Reading::Below(fps) => Some(format!("< {}", short(fps))),
        Reading::Nothing => None,
    }
}

fn time_of(line: &LatencyLine, percent: f64) -> Option<String> {
    let times = &line.loads.last()?.router.times;
    let at = times.percentiles.iter().find(|at| at.percent == percent)?;
    Some(number::time(at.ns as f64))
}

fn loss_of(line: &CurveLine) -> Option<String> {
    let highest = line.loads.first()?.measured.as_ref()?;
    let of = short(highest.offered_fps);
    Some(format!("{} of {of}", percent(highest.loss_ratio)))
}

fn burst_of(line: &BurstLine) -> Option<String> {
    let longest = line
        .all
        .map(|all| grouped(all.average_frames.round() as u64));
    longest.or_else(|| Some(format!("> {}", grouped(line.all_passed_frames?))))
}

fn recovery_of(line: &RecoveryLine) -> Option<String> {
    let says = |wanted: Recovered| line.trials.iter().any(|trial| trial.recovered == wanted);
    match line.average_ns {
        Some(0) => Some("at once".to_owned()),
        Some(ns) => Some(number::time(ns as f64)),
        None if says(Recovered::NotRecovered) => Some("not recovered".to_owned()),
        None if says(Recovered::NotOverloaded) => Some("no overload".to_owned()),
        None => None,
    }
}

/// The longest of all that was reset; nothing where one of them has no time.
fn reset_of<'a>(lines: impl Iterator<Item = &'a ResetLine> + Clone) -> String {
    let lasting = |trial: &ResetTrial| trial.tried.recovered == Recovered::NotRecovered;
    if lines.clone().flat_map(|line| &line.trials).any(lasting) {
        return "not recovered".to_owned();
    }
    let times: Option<Vec<u64>> = lines.map(|line| line.frame_loss_ns).collect();
    let longest = times.and_then(|times| times.into_iter().max());
    longest.map_or(NONE.to_owned(), |ns| number::time(ns as f64))
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
        let (frame, rate) = (number::frame(&line.frame), short(line.throughput_fps?));
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
    let mut add = |is_in: bool, told: String| {
        if is_in {
            text.extend(["\n".to_owned(), told]);
        }
    };
    add(
        !run.latencies.is_empty(),
        super::latency(&run.latencies, machine, true),
    );
    add(
        !run.curves.is_empty(),
        super::loss(&run.curves, machine, true),
    );
    add(
        !run.bursts.is_empty(),
        super::back_to_back(&run.bursts, machine, true),
    );
    add(
        !run.recoveries.is_empty(),
        super::overload_recovery(&run.recoveries, machine, true),
    );
    add(
        !run.resets.is_empty(),
        super::resets(&run.resets, machine, true),
    );
    text
}

#[cfg(all(test, feature = "measure"))]
mod tests;
