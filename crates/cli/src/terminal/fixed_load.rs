//! A fixed load: one sentence, what the figures have to be read with, then everything counted.

mod table;

use super::doubts::Doubted;
use super::{grouped, percent};
use crate::exit::Exit;
use crate::outcome::{Outcome, View, is_simulated, machine, worst};
use anyhow::Result;
use mpps_method::Span;
use mpps_record::{Direction, LoadLine, LoadTrial, Run, TrialLine, Verdict};
use mpps_report::number::{self, Known};
use serde_json::{Value, json};
use std::fmt::Write;
use table::{PLACES, table};

/// A trial of a load.
#[derive(Clone, Copy)]
struct Tried<'a> {
    found: &'a LoadTrial,
    line: &'a TrialLine,
}

impl<'a> Tried<'a> {
    /// `None` where the trial's own line cannot be read.
    fn new(found: &'a LoadTrial, trials: &'a [TrialLine]) -> Option<Self> {
        let line = trials.iter().find(|line| line.trial == found.trial)?;
        Some(Self { found, line })
    }

    /// Frames of all directions.
    fn sum(self, frames: fn(&Direction) -> u64) -> u64 {
        self.line.directions.iter().map(frames).sum()
    }
}

/// One block for each trial of these loads, and what to doubt.
pub fn fixed_load(loads: &[LoadLine], trials: &[TrialLine], verbose: bool) -> String {
    let mut text = String::new();
    for load in loads {
        let wire = load.wire.as_ref();
        let wire = wire.and_then(|found| Tried::new(found, trials));
        for (place, found) in load.trials.iter().enumerate() {
            let Some(tried) = Tried::new(found, trials) else {
                continue;
            };
            if !text.is_empty() {
                text.push('\n');
            }
            if load.trials.len() > 1 {
                let _ = write!(text, "trial {} of {}, ", place + 1, load.trials.len());
            }
            let _ = writeln!(text, "{}", in_words(load, found, tried.line));
            text.push_str(&remarks(load, tried, wire));
            let _ = write!(text, "\n{}", table(load, tried, wire));
        }
    }
    let doubted = Doubted {
        named_max: 1,
        ..Doubted::new("loads", loads)
    };
    text + &doubted.lines(verbose)
}

/// `64 B: 1.5 million frames/s offered for 2 s: 1.311 million frames/s forwarded, 12.6 % lost in the router's receive ring`.
pub fn in_words(load: &LoadLine, found: &LoadTrial, line: &TrialLine) -> String {
    let tried = Tried { found, line };
    let words = |fps: f64| Known::new(fps, 0.0).trimmed();
    let asked = words(line.offered_fps) + " frames/s";
    let time = Span::from_nanos(line.duration_ns);
    let sent = found.sent_fps.unwrap_or(0.0);
    let offered = if load.load == MAX {
        let time = Span::from_millis(line.duration_ns / 1_000_000);
        format!("{asked}, the most, offered for {time}")
    } else if sent < 0.999 * line.offered_fps {
        format!("{asked} intended for {time}, {} offered", words(sent))
    } else {
        format!("{asked} offered for {time}")
    };
    let lost = found.lost_frames;
    let result = if lost > 0 {
        let forwarded = words(found.forwarding_fps.unwrap_or(0.0));
        let share = lost as f64 / tried.sum(|way| way.sent_frames).max(1) as f64;
        let most = PLACES.map(|(place, lost)| (lost(found), place));
        let (most, place) = most.into_iter().max().unwrap_or_default();
        let mostly = if most < lost { ", most" } else { "" };
        format!(
            "{forwarded} frames/s forwarded, {} lost{mostly} {place}",
            percent(share)
        )
    } else if tried.sum(|way| way.unrouted_frames) > 0 {
        "the router dropped all of them, because it has no route".to_owned()
    } else {
        "all forwarded".to_owned()
    };
    format!("{}: {offered}: {result}", number::frame(&load.frame))
}

/// Neighbouring trials differ by such a share of a frame's cost.
const NEIGHBOURS_APART: f64 = 0.05;

/// The word for all that the sender can.
const MAX: &str = "max";

/// What the figures have to be read with, a line each.
fn remarks(load: &LoadLine, Tried { found, line }: Tried<'_>, wire: Option<Tried<'_>>) -> String {
    let mut text = String::new();
    let mut say = |line: String| text.extend([line, "\n".to_owned()]);
    match (&line.verdict, found.disturbed_tries) {
        (Verdict::Void, times) => {
            let why = line.verdict_text.trim_start_matches("void: ");
            say(format!(
                "disturbed {} times, the last time because {why}",
                times + 1
            ));
        }
        (_, 0) => {}
        (_, times) => say(format!("disturbed attempts before it: {times}")),
    }
    let disturbed = line
        .disturbed
        .and_then(|all| Some((all.lost_frames?, all.time_ns)));
    if let Some((lost @ 1.., time_ns)) = disturbed {
        let time = Span::from_nanos(time_ns);
        say(format!(
            "{} of the lost frames were sent in disturbances, which took {time}: the verdict does not count them",
            grouped(lost)
        ));
    }
    match line.verdict {
        Verdict::Invalid | Verdict::NotOffered => say(line.verdict_text.clone()),
        Verdict::Lossless if load.load == MAX && found.lost_frames == 0 => {
            say("the tester can offer no more, so it could not overload this router".to_owned());
        }
        _ => {}
    }
    let Some(wire) = wire else {
        return text;
    };
    if !matches!(wire.line.verdict, Verdict::Lossless | Verdict::Lossy) {
        say(format!("the wire's trial: {}", wire.line.verdict_text));
    }
    if let Some(total) = found.ns_per_frame {
        let parts = load.bed_ns.map_or_else(String::new, |bed_ns| {
            let about = Known::new(total, 2.0 * NEIGHBOURS_APART * total);
            let [router, bed] = [total - bed_ns, bed_ns].map(|part| about.with(part).plain());
            match total - bed_ns > NEIGHBOURS_APART * total {
                true => format!(": about {router} the router, {bed} the bed"),
                false => ": the router's part is too small for one trial".to_owned(),
            }
        });
        say(format!(
            "a frame costs {total:.0} ns of the router's CPU{parts}"
        ));
    }
    text
}

impl Outcome for Vec<LoadLine> {
    fn document(&self, run: &Run, _: &View<'_>) -> Result<Value> {
        let results = self.iter().map(|load| result(load, &run.trials));
        let simulated = run.begin.as_ref().is_some_and(is_simulated);
        Ok(json!({ "simulated": simulated, "results": results.collect::<Result<Vec<_>>>()? }))
    }

    fn shown(&self, run: &Run, view: &View<'_>) -> String {
        let pair = run.begin.as_ref().filter(|begin| is_simulated(begin));
        let pair = pair.map_or(String::new(), |begin| machine(begin) + "\n\n");
        pair + &fixed_load(self, &run.trials, view.verbose) + &view.foot(run.begin.as_ref())
    }

    /// Of each load that of its best trial.
    fn exit(&self, run: &Run) -> Exit {
        let exit = |found: &LoadTrial| {
            let line = run.trials.iter().find(|line| line.trial == found.trial);
            match line.map(|line| &line.verdict) {
                Some(Verdict::Lossless | Verdict::Lossy) => Exit::Measured,
                Some(Verdict::Void | Verdict::NotOffered) => Exit::Undecided,
                _ => Exit::Failed,
            }
        };
        let best = |load: &LoadLine| load.trials.iter().map(exit).min().unwrap_or(Exit::Failed);
        worst(self.iter().map(best))
    }
}

/// One load as its record has it, with the whole line of each trial in place of its number.
fn result(load: &LoadLine, trials: &[TrialLine]) -> Result<Value> {
    let line = |found: &LoadTrial| trials.iter().find(|line| line.trial == found.trial);
    let entry = |found: &LoadTrial| -> Result<Value> {
        let mut entry = serde_json::to_value(found)?;
        if let Some(line) = line(found) {
            entry["text"] = in_words(load, found, line).into();
            entry["trial"] = serde_json::to_value(line)?;
        }
        Ok(entry)
    };
    let mut result = serde_json::to_value(load)?;
    result["trials"] = load.trials.iter().map(entry).collect::<Result<_>>()?;
    result["wire"] = load.wire.as_ref().map(entry).transpose()?.into();
    Ok(result)
}

#[cfg(all(test, feature = "measure"))]
mod tests;
