//! The curves of `mpps loss`: a sentence for each frame size, then its table.

use super::doubts::Doubted;
use super::{grouped, part, percent};
use crate::exit::Exit;
use crate::outcome::{Outcome, View, is_simulated, machine, worst};
use anyhow::Result;
use mpps_method::Span;
use mpps_record::doubts::{LOST_DISTURBED, SIMULATED};
use mpps_record::{CurveLine, CurvePoint, LimitedBy, Measured, Run, SeriesEnd, Verdict};
use mpps_report::number::{Known, busy, time};
use mpps_report::sentence;
use serde_json::{Value, json};
use std::fmt::Write;

const HEAD: &str = "verdict;load;intended;offered;forwarded;lost;loss;DUT busy;trial";

/// A load of which less was sent is not the load that it names.
const OFFERED: f64 = 0.999;
/// A trial that counts for a smaller share of the time asked for is a shorter one.
const WHOLE: f64 = 0.99;

impl Outcome for Vec<CurveLine> {
    fn document(&self, run: &Run, view: &View<'_>) -> Result<Value> {
        Ok(json!({
            "simulated": run.begin.as_ref().is_some_and(is_simulated),
            "plot": view.plot,
            "curves": self,
        }))
    }

    /// Loss and forwarding against load.
    fn plot(&self, run: &Run) -> Option<String> {
        let (title, machine) = (loss_title(self.first()?), machine(run.begin.as_ref()?));
        Some(mpps_report::loss_picture(self, &[&title, &machine]))
    }

    /// All curves, under the machine they were measured on, then the doubts.
    fn text(&self, machine: &str, verbose: bool) -> String {
        let mut text = self.first().map_or(String::new(), loss_title);
        let _ = writeln!(text, "\n{machine}");
        for curve in self {
            let _ = writeln!(text, "\n{}", sentence::curve(curve));
            text += &part("", HEAD, curve.loads.iter().map(row), &[0]);
            text += &remarks(curve, verbose);
        }
        let known = |curve: &&CurveLine| !curve.loads.is_empty() || !curve.doubts.is_empty();
        let doubted = Doubted {
            // By the line of the machine, and by the remarks.
            said: vec![SIMULATED, LOST_DISTURBED],
            ..Doubted::new("curves", self.iter().filter(known))
        };
        text + &doubted.lines(verbose)
    }

    /// A load that the tester cannot offer is shown as such.
    fn exit(&self, _: &Run) -> Exit {
        let exit = |load: &CurvePoint| match load.verdict {
            Verdict::Void => Exit::Undecided,
            Verdict::Invalid => Exit::Failed,
            _ => Exit::Measured,
        };
        let curve = |curve: &CurveLine| match curve.loads[..] {
            [] => Exit::Undecided,
            _ => worst(curve.loads.iter().map(exit)),
        };
        worst(self.iter().map(curve))
    }
}

/// What was measured, and how.
pub fn loss_title(curve: &CurveLine) -> String {
    let (time, step) = (Span::from_nanos(curve.trial_ns), percent(curve.step_share));
    format!("Frame loss rate (RFC 2544 section 26.3): steps of {step}, trials of {time}")
}

fn row(load: &CurvePoint) -> [String; 9] {
    let dash = || "-".to_owned();
    let cell = |value: fn(&Measured) -> String| load.measured.as_ref().map_or_else(dash, value);
    [
        load.verdict.to_string(),
        percent(load.load_share),
        short(load.load_fps),
        cell(|at| short(at.offered_fps)),
        cell(|at| short(at.forwarding_fps)),
        cell(|at| grouped(at.lost_frames)),
        cell(|at| percent(at.loss_ratio).replace("under ", "< ")),
        cell(|at| at.dut_busiest_cpu_share.map_or("-".to_owned(), busy)),
        load.trial.to_string(),
    ]
}

/// What the table has to be read with.
fn remarks(curve: &CurveLine, verbose: bool) -> String {
    let mut lines = Vec::new();
    let whose = match &curve.highest_limited_by {
        Some(LimitedBy::Link) => "what the link carries",
        Some(LimitedBy::MaxRate) => "--max-rate",
        _ => "all that the tester can offer",
    };
    let highest = curve.highest_fps.map(short);
    lines.extend(highest.map(|highest| format!("100 % is {whose}: {highest} frames/s")));
    let last = percent(curve.loads.last().map_or(0.0, |load| load.load_share));
    lines.extend(match (&curve.end, &curve.why) {
        (SeriesEnd::LowestLoad, _) => Some(format!(
            "no load below {last} is offered: no two in a row were without loss"
        )),
        (SeriesEnd::Budget, _) => Some(format!(
            "the budget was spent after {last}: lower loads are not measured"
        )),
        (SeriesEnd::CutShort, Some(why)) => Some(format!("cut short: {why}")),
        _ => None,
    });
    lines.extend(curve.loads.iter().filter_map(unsent));
    lines.extend(shorter(curve));
    let measured = curve.loads.iter().filter_map(|load| load.measured.as_ref());
    let disturbed = measured.map(|found| found.disturbed_lost_frames);
    let disturbed: Vec<u64> = disturbed.filter(|&lost| lost > 0).collect();
    if !disturbed.is_empty() {
        let (lost, loads) = (grouped(disturbed.iter().sum()), disturbed.len());
        lines.push(format!(
            "{lost} frames lost in disturbances at {loads} of {} loads do not count",
            curve.loads.len()
        ));
    }
    let mut unsure: Vec<String> = curve.loads.iter().filter_map(unsure).collect();
    if let (more @ 1.., false) = (unsure.len().saturating_sub(1), verbose) {
        unsure.truncate(1);
        let loads = curve.loads.len();
        unsure.push(format!(
            "{more} more of {loads} loads were not measured (-v: why)"
        ));
    }
    lines.extend(unsure);
    lines.iter().map(|line| format!("{line}\n")).collect()
}

/// The loads whose trials counted for less time than the title says.
fn shorter(curve: &CurveLine) -> Option<String> {
    let counted = |load: &CurvePoint| {
        let ns = load.measured.as_ref()?.undisturbed_ns;
        // Older records do not have the time.
        let is_short = ns > 0 && (ns as f64) < WHOLE * curve.trial_ns as f64;
        is_short.then(|| (ns, percent(load.load_share)))
    };
    let (times, loads): (Vec<u64>, Vec<String>) = curve.loads.iter().filter_map(counted).unzip();
    let [least, most] = [times.iter().min()?, times.iter().max()?].map(|ns| time(*ns as f64));
    let times = match least == most {
        true => least,
        false => format!("{least} to {most}"),
    };
    let loads = loads.join(", ");
    let asked = Span::from_nanos(curve.trial_ns);
    Some(format!("trials of {times}, not {asked}: at {loads}"))
}

/// A load of which less was sent.
fn unsent(load: &CurvePoint) -> Option<String> {
    let sent = load.measured.as_ref()?.offered_fps;
    let (share, is_short) = (
        load.load_share,
        (sent as f64) < load.load_fps as f64 * OFFERED,
    );
    is_short.then(|| {
        format!(
            "{}: only {} frames/s were offered",
            percent(share),
            short(sent)
        )
    })
}

/// A load that is neither lossless nor lossy.
fn unsure(load: &CurvePoint) -> Option<String> {
    let tries = match (&load.verdict, load.void_trials) {
        (Verdict::Lossless | Verdict::Lossy, _) => return None,
        (_, 0) => String::new(),
        (_, tries) => format!("{} trials, the last ", tries + 1),
    };
    Some(format!(
        "{}: {tries}{}",
        percent(load.load_share),
        load.verdict_text
    ))
}

fn short(fps: u64) -> String {
    Known::new(fps as f64, 0.0).short()
}

#[cfg(test)]
mod tests;
