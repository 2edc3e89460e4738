//! The latencies of `mpps latency`: a sentence for each frame size, then its table.

use super::details::listed;
use super::doubts::{Doubted, SIZES};
use super::part;
use crate::exit::Exit;
use crate::outcome::{Outcome, worst};
use mpps_record::{
    LatencyLine, LatencyLoad, LatencyTimes, PERCENTS, PathLatency, Percentile, Run, Verdict,
};
use mpps_report::number::{self, Known, short_count};
use mpps_report::sentence;
use std::fmt::Write;

const HEAD: &str = "load;frames/s;path;p50;p90;p99;p99.9;p99.99;max;PDV;samples";
/// Behind a percentile that too few frames support.
const MARK: &str = "?";

impl Outcome for Vec<LatencyLine> {
    /// All frame sizes, under the machine they were measured on, then the doubts.
    fn text(&self, machine: &str, verbose: bool) -> String {
        let mut text = format!(
            "Latency, one-way, every frame timed (RFC 2544 section 26.2, RFC 8219 section 7)\n\n{machine}\n"
        );
        for size in self {
            let _ = writeln!(text, "\n{}.", sentence::latency(size));
            let rows = size.loads.iter().flat_map(rows_of);
            text += &part("Times in µs\n", HEAD, rows, &[2]);
            text += &remarks(size);
        }
        let known = |size: &&LatencyLine| !size.loads.is_empty() || !size.doubts.is_empty();
        text + &Doubted::new(SIZES, self.iter().filter(known)).lines(verbose)
    }

    /// A load that the tester cannot offer is shown as such, unless it is all that there is.
    fn exit(&self, _: &Run) -> Exit {
        let is_measured = |load: &LatencyLoad| !load.router.trials.is_empty();
        let of_load = |size: &LatencyLine, load: &LatencyLoad| match load.router.left_out_verdict {
            _ if is_measured(load) || size.in_place_of(load).is_some() => Exit::Measured,
            Some(Verdict::NotOffered) => Exit::Measured,
            Some(Verdict::Invalid) => Exit::Failed,
            _ => Exit::Undecided,
        };
        let of_size = |size: &LatencyLine| Exit::from_each([size.loads.iter().any(is_measured)]);
        let loads = |size: &LatencyLine| worst(size.loads.iter().map(|load| of_load(size, load)));
        worst(self.iter().map(|size| loads(size).worse(of_size(size))))
    }
}

/// The router's, then the bed's own.
fn rows_of(load: &LatencyLoad) -> Vec<[String; 11]> {
    let begin = [share(load), short_count(load.load_fps)];
    let mut rows = vec![row(begin, "router", &load.router)];
    rows.extend((load.bed.iter()).map(|bed| row(Default::default(), "bed", bed)));
    rows
}

fn row([share, rate]: [String; 2], path: &str, found: &PathLatency) -> [String; 11] {
    let times = &found.times;
    let mut cells = vec![share, rate, path.to_owned()];
    cells.extend(PERCENTS.map(|percent| {
        let mut known = times.percentiles.iter();
        let known = known.find(|at| at.percent == percent);
        known.map_or("-".to_owned(), percentile)
    }));
    let rest = [times.max_ns, times.pdv_ns].map(|ns| ns.map_or("-".to_owned(), us));
    cells.extend(rest);
    cells.push(short_count(times.timed_frames));
    cells.try_into().unwrap_or_default()
}

fn percentile(at: &Percentile) -> String {
    us(at.ns) + if at.supported { "" } else { MARK }
}

/// Microseconds, three digits that count.
fn us(ns: u64) -> String {
    Known::three(ns as f64 / 1e3).plain()
}

fn share(load: &LatencyLoad) -> String {
    load.load_share
        .map_or("-".to_owned(), number::percent_given)
}

fn name(load: &LatencyLoad) -> String {
    match load.load_share {
        Some(share) => number::percent_given(share),
        None => format!("{} frames/s", short_count(load.load_fps)),
    }
}

/// What the table has to be read with.
fn remarks(size: &LatencyLine) -> String {
    let mut lines = Vec::new();
    let timed = |load: &LatencyLoad| {
        let paths = [Some(&load.router), load.bed.as_ref()];
        paths
            .into_iter()
            .flatten()
            .any(|path| !is_supported(&path.times))
    };
    if size.loads.iter().any(timed) {
        let least = mpps_record::FRAMES_ABOVE_MIN;
        lines.push(format!("{MARK}: fewer than {least} frames took longer"));
    }
    let whose = match size.throughput_given {
        true => "the given throughput",
        false => "the rate without loss that a search found",
    };
    let shares = size.loads.iter().any(|load| load.load_share.is_some());
    lines.extend(
        (size.throughput_fps.filter(|_| shares))
            .map(|fps| format!("100 % is {whose}: {} frames/s", short_count(fps))),
    );
    let of_router = longest(size, "router", |load| Some(&load.router));
    let stalls = [of_router, longest(size, "bed", |load| load.bed.as_ref())];
    let stalls = stalls.into_iter().flatten();
    lines.extend(listed("longest stall or slow time of a CPU", stalls));
    lines.extend(size.loads.iter().flat_map(|load| left_out(size, load)));
    lines.extend(size.why.as_ref().map(|why| format!("cut short: {why}")));
    lines.iter().map(|line| format!("{line}\n")).collect()
}

fn is_supported(times: &LatencyTimes) -> bool {
    times.percentiles.iter().all(|at| at.supported)
}

/// The longest stall of all loads, through this path.
fn longest(
    size: &LatencyLine,
    name_of_path: &str,
    path: fn(&LatencyLoad) -> Option<&PathLatency>,
) -> Option<String> {
    let each = size
        .loads
        .iter()
        .filter_map(|load| Some((path(load)?.longest_stall_ns, load)));
    let (ns, load) = each.max_by_key(|(ns, _)| *ns).filter(|(ns, _)| *ns > 0)?;
    let time = number::time(ns as f64);
    Some(format!("{time} ({name_of_path}, at {})", name(load)))
}

/// Paths of a load that no trial tells of.
fn left_out(size: &LatencyLine, load: &LatencyLoad) -> Vec<String> {
    if let Some(instead) = size.in_place_of(load) {
        return vec![format!("{}: {}", name(load), not_offered(load, instead))];
    }
    let paths = [("router", Some(&load.router)), ("bed", load.bed.as_ref())];
    let none = paths.into_iter().filter_map(|(path, found)| {
        let found = found.filter(|found| found.trials.is_empty())?;
        let last = found.left_out_text.as_deref().unwrap_or("no trial");
        let trials = found.left_out_trials.len();
        Some(format!(
            "{}: {path} not measured: {}, the last {last}",
            name(load),
            number::plural(trials, "trial")
        ))
    });
    none.collect()
}

/// Why a load was measured in place of another.
pub(super) fn not_offered(load: &LatencyLoad, instead: &LatencyLoad) -> String {
    format!(
        "the tester could not offer this load, {} frames/s; {} was offered instead",
        short_count(load.load_fps),
        short_count(instead.load_fps)
    )
}

#[cfg(test)]
mod tests;
