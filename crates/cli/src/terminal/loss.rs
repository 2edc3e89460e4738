//! The curves of `mpps loss`: a sentence for each frame size, then its table.

use super::columns;
use super::digits::Known;
use super::grouped;
use crate::words::percent;
use mpps_method::Span;
use mpps_record::{CurveLine, CurvePoint, LimitedBy, Measured, SeriesEnd, Verdict};
use std::fmt::Write;

const HEAD: [&str; 8] = [
    "verdict",
    "load",
    "frames/s",
    "offered",
    "forwarded",
    "lost",
    "loss %",
    "DUT busy",
];

/// A load of which less was sent is not the load that it names.
const OFFERED: f64 = 0.999;

/// All curves, under the machine they were measured on.
#[must_use]
pub fn loss(curves: &[CurveLine], machine: &str) -> String {
    let mut text = curves.first().map_or(String::new(), loss_title);
    let _ = writeln!(text, "\n{machine}");
    for curve in curves {
        let _ = writeln!(text, "\n{}", sentence(curve));
        if !curve.loads.is_empty() {
            let mut rows = vec![HEAD.map(str::to_owned).to_vec()];
            rows.extend(curve.loads.iter().map(row));
            text += &format!("\n{}", columns(&rows, &[0]));
        }
        text += &remarks(curve);
    }
    text + &doubts(curves)
}

/// What was measured, and how.
#[must_use]
pub fn loss_title(curve: &CurveLine) -> String {
    let (time, step) = (Span::from_nanos(curve.trial_ns), percent(curve.step_share));
    format!("Frame loss rate (RFC 2544 section 26.3): steps of {step}, trials of {time}")
}

/// `64 B: nothing lost up to 60 % (1.22M frames/s); at 70 % 3.2 % lost; at 100 % (2.03M) 35 % lost, 1.31M forwarded`.
fn sentence(curve: &CurveLine) -> String {
    let octets = if curve.frame.parse::<u32>().is_ok() {
        " B"
    } else {
        ""
    };
    let measured = |load: &CurvePoint| Some((load.load_share, load.measured.clone()?));
    let known: Vec<(f64, Measured)> = curve.loads.iter().filter_map(measured).collect();
    // From the lowest load up: a higher one without loss above a lossy one is chance.
    let lossless = |load: &&CurvePoint| load.verdict == Verdict::Lossless;
    let below = curve.loads.iter().rev().take_while(lossless).last();
    let at = |(share, at): &(f64, Measured)| {
        format!("{} ({} frames/s)", percent(*share), short(at.offered_fps))
    };
    let lost = |found| format!("at {} {} lost", at(found), percent(found.1.loss_ratio));
    let disturbed = known.iter().any(|(_, at)| at.disturbed_lost_frames > 0);
    let outside = if disturbed {
        " outside disturbances"
    } else {
        ""
    };
    let passed = below.and_then(measured);
    let mut parts: Vec<String> = passed
        .iter()
        .map(|load| format!("nothing lost{outside} up to {}", at(load)))
        .collect();
    let above = |load: &&(f64, Measured)| {
        load.1.lost_frames > 0 && passed.as_ref().is_none_or(|below| load.0 > below.0)
    };
    let highest = known.first().filter(above);
    parts.extend(
        known
            .iter()
            .rfind(above)
            .filter(|low| Some(*low) != highest)
            .map(lost),
    );
    parts.extend(
        highest.map(|top| format!("{}, {} forwarded", lost(top), short(top.1.forwarding_fps))),
    );
    if parts.is_empty() {
        parts.push("not measured".to_owned());
    }
    format!("{}{octets}: {}", curve.frame, parts.join("; "))
}

fn row(load: &CurvePoint) -> Vec<String> {
    let cell = |of: fn(&Measured) -> String| load.measured.as_ref().map_or("-".to_owned(), of);
    let busy = |at: &Measured| {
        at.dut_busiest_cpu_share.map_or("-".to_owned(), |busy| {
            format!("{:.0} %", busy.min(1.0) * 100.0)
        })
    };
    vec![
        load.verdict.to_string(),
        percent(load.load_share),
        short(load.load_fps),
        cell(|at| short(at.offered_fps)),
        cell(|at| short(at.forwarding_fps)),
        cell(|at| grouped(at.lost_frames)),
        cell(|at| ratio(at.loss_ratio)),
        cell(busy),
    ]
}

/// What the table has to be read with.
fn remarks(curve: &CurveLine) -> String {
    let mut text = String::new();
    let mut say = |line: String| text.extend([line, "\n".to_owned()]);
    let whose = match &curve.highest_limited_by {
        Some(LimitedBy::Link) => "what the link carries",
        Some(LimitedBy::MaxRate) => "--max-rate",
        _ => "all that the tester can offer",
    };
    if let Some(highest) = curve.highest_fps {
        say(format!("100 % is {whose}: {} frames/s", short(highest)));
    }
    let last = curve.loads.last().map_or(0.0, |load| load.load_share);
    match (&curve.end, &curve.why) {
        (SeriesEnd::LowestLoad, _) => say(format!(
            "no load below {} is offered: no two in a row were without loss",
            percent(last)
        )),
        (SeriesEnd::Budget, _) => say(format!(
            "the budget was spent after {}: lower loads are not measured",
            percent(last)
        )),
        (SeriesEnd::CutShort, Some(why)) => say(format!("cut short: {why}")),
        _ => {}
    }
    for (load, found) in
        (curve.loads.iter()).filter_map(|load| Some((load, load.measured.as_ref()?)))
    {
        let share = percent(load.load_share);
        if (found.offered_fps as f64) < load.load_fps as f64 * OFFERED {
            let sent = short(found.offered_fps);
            say(format!("{share}: only {sent} frames/s were sent"));
        }
    }
    let disturbed = curve.loads.iter().filter_map(|load| load.measured.as_ref());
    let disturbed: Vec<u64> = disturbed
        .map(|found| found.disturbed_lost_frames)
        .filter(|&lost| lost > 0)
        .collect();
    if !disturbed.is_empty() {
        let (lost, loads) = (grouped(disturbed.iter().sum()), disturbed.len());
        say(format!(
            "{lost} frames lost in disturbances at {loads} of {} loads do not count",
            curve.loads.len()
        ));
    }
    let unsure = |load: &&CurvePoint| !matches!(load.verdict, Verdict::Lossless | Verdict::Lossy);
    for load in curve.loads.iter().filter(unsure) {
        let tries = match load.void_trials {
            0 => String::new(),
            tries => format!("{} trials, the last ", tries + 1),
        };
        say(format!(
            "{}: {tries}{}",
            percent(load.load_share),
            load.verdict_text
        ));
    }
    text
}

/// Each doubt once.
fn doubts(curves: &[CurveLine]) -> String {
    let mut told: Vec<&str> = Vec::new();
    let mut text = String::new();
    for doubt in curves.iter().flat_map(|curve| &curve.doubts) {
        if !told.contains(&doubt.name.as_str()) {
            told.push(&doubt.name);
            let (seen, why, next) = (&doubt.seen, &doubt.why, &doubt.next);
            let _ = writeln!(text, "- {seen}\n    why:  {why}\n    next: {next}");
        }
    }
    if text.is_empty() {
        text
    } else {
        format!("\nDoubts\n{text}")
    }
}

fn short(fps: u64) -> String {
    Known::new(fps as f64, 0.0).short()
}

/// A share as a percentage, for a column.
fn ratio(share: f64) -> String {
    match share * 100.0 {
        0.0 => "0".to_owned(),
        small if small < 0.0005 => "<0.001".to_owned(),
        share => format!("{share:.3}"),
    }
}

#[cfg(test)]
mod tests;
