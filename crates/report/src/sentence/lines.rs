//! One sentence a frame size of `mpps latency`, `mpps back-to-back`, `mpps recovery` and `mpps compare`.

use crate::number::{self, percent_or_under as percent};
use mpps_record::{
    BurstLine, BurstSum, ComparisonLine, LatencyLine, LatencyLoad, LatencyTimes, RecoveryLine,
};

/// What of a line is not known, and why.
fn not_measured(why: Option<&String>) -> String {
    let why = why.map_or("the run ended before", String::as_str);
    format!("not measured: {why}")
}

fn rate(fps: u64) -> String {
    format!("{} frames/s", number::rate(fps as f64))
}

/// `50 % (600 thousand frames/s)`, or the rate alone where it was given.
#[must_use]
pub fn load(load: &LatencyLoad) -> String {
    let rate = rate(load.load_fps);
    let share = load.load_share.map(percent);
    share.map_or(rate.clone(), |share| format!("{share} ({rate})"))
}

/// `64 B: at 50 % (600 thousand frames/s) typically 12.3 µs, at worst 55.0 µs (through a wire 10.0 µs and 41.0 µs)`, for
/// the lowest load and the highest.
#[must_use]
pub fn latency(line: &LatencyLine) -> String {
    let mut timed: Vec<&LatencyLoad> = line.loads.iter().collect();
    timed.retain(|load| load.router.times.typical_ns.is_some());
    timed.sort_by_key(|load| load.load_fps);
    if timed.len() > 2 {
        timed.drain(1..timed.len() - 1);
    }
    let at = |known: &&LatencyLoad| {
        let (typical, worst) = typical_and_worst(&known.router.times);
        let wire = known.bed.as_ref().map(|bed| typical_and_worst(&bed.times));
        let wire = wire.map(|(typical, worst)| format!(" (through a wire {typical} and {worst})"));
        let wire = wire.unwrap_or_default();
        format!(
            "at {} typically {typical}, at worst {worst}{wire}",
            load(known)
        )
    };
    let parts: Vec<String> = timed.iter().map(at).collect();
    let told = if parts.is_empty() {
        not_measured(line.why.as_ref())
    } else {
        parts.join("; ")
    };
    format!("{}: {told}", number::frame(&line.frame))
}

/// The median and the 99.9th percentile (RFC 8219 section 7.2).
fn typical_and_worst(times: &LatencyTimes) -> (String, String) {
    let known = |ns: Option<u64>| ns.map_or("unknown".to_owned(), |ns| number::time(ns as f64));
    let mut percentiles = times.percentiles.iter();
    let worst = percentiles.find(|at| at.percent == 99.9);
    let few = worst.is_some_and(|worst| !worst.supported);
    let few = if few { " by too few frames" } else { "" };
    (known(times.typical_ns), known(times.worst_case_ns) + few)
}

/// `64 B: 1 024 frames back to back without loss (1 000 to 1 050 in 50 searches); the buffer holds 800 µs of them, 120 µs
/// corrected`.
#[must_use]
pub fn burst(line: &BurstLine) -> String {
    let told = match (&line.all, line.all_passed_frames) {
        (Some(all), _) => {
            let rings = line.own_ring_frames.map_or(String::new(), |frames| {
                let frames = number::grouped(u64::from(frames));
                format!("; the bed's own rings hold {frames} frames")
            });
            format!("{}{rings}", bursts(all, line.searches.len()))
        }
        (None, Some(most)) => format!(
            "no burst was too long, up to {} frames back to back",
            number::grouped(most)
        ),
        (None, None) => not_measured(line.why.as_ref()),
    };
    format!("{}: {told}", number::frame(&line.frame))
}

fn bursts(all: &BurstSum, searches: usize) -> String {
    let average = number::grouped(all.average_frames.max(0.0).round() as u64);
    let [least, most] = [all.least_frames, all.most_frames].map(number::grouped);
    let searches = match searches {
        1 => "in 1 search".to_owned(),
        count => format!("in {} searches", number::grouped(count as u64)),
    };
    let corrected = all.corrected_buffer_ns.map_or(String::new(), |ns| {
        format!(", {} corrected", number::time(ns as f64))
    });
    format!(
        "{average} frames back to back without loss ({least} to {most} {searches}); the buffer holds {} of \
         them{corrected}",
        number::time(all.implied_buffer_ns as f64)
    )
}

/// `64 B: the last lost frame left 12.3 ms after the drop from 1.32 million frames/s (10.1 ms to 15.0 ms in 5 trials)`.
#[must_use]
pub fn recovery(line: &RecoveryLine) -> String {
    let times = || line.trials.iter().filter_map(|trial| trial.recovery_ns);
    let trials = number::plural(line.trials.len(), "trial");
    let time = |ns: u64| number::time(ns as f64);
    let load = line
        .overload_fps
        .map_or(String::new(), |fps| format!(" from {}", rate(fps)));
    let told = match (line.average_ns, times().min(), times().max()) {
        (Some(average), Some(least), Some(most)) => {
            let (average, least, most) = (time(average), time(least), time(most));
            format!(
                "the last lost frame left {average} after the drop{load} ({least} to {most} in {trials})"
            )
        }
        _ if line.trials.is_empty() => not_measured(line.why.as_ref()),
        _ => format!(
            "recovered after the drop{load} in {} of {trials}",
            times().count()
        ),
    };
    format!("{}: {told}", number::frame(&line.frame))
}

/// One sentence for each variant that was compared: `64 B, 100 rules against none: 231 ns more a frame for the router ...`.
#[must_use]
pub fn comparison(line: &ComparisonLine) -> Vec<String> {
    let first = line.variants.first().map_or("", |first| &first.name);
    let frame = number::frame(&line.frame);
    let told = |variant: &mpps_record::Variant| {
        let difference = variant.difference.as_ref()?;
        Some(format!(
            "{frame}, {} against {first}: {difference}",
            variant.name
        ))
    };
    let told: Vec<String> = line.variants.iter().filter_map(told).collect();
    if told.is_empty() {
        return vec![format!("{frame}: {}", not_measured(line.why.as_ref()))];
    }
    told
}

#[cfg(test)]
mod tests;
