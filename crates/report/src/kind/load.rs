//! Loads of `mpps trial`: each trial in a sentence, what that has to be read with, then everything counted.

use super::described::{About, Answered, Described};
use crate::column::{self, On, TableRow, columns, count, words};
use crate::number::{self, Known, percent_or_under as percent, spaced};
use crate::told::Told;
use mpps_record::{Direction, LoadLine, LoadTrial, ReceiverPlace, Run, TrialLine, Verdict};
use serde_json::{Value, json};

/// Neighbouring trials differ by such a share of a frame's cost.
const NEIGHBOURS_APART: f64 = 0.05;

/// The word for all that the sender can.
const MAX: &str = "max";

/// A place of loss, as a row below all that was lost has it, and what was lost there.
type Place = (&'static str, fn(&LoadTrial) -> u64);

/// Where frames were lost, in the order they meet it.
const PLACES: [Place; 4] = [
    ("  before the router's NIC", |t| t.lost_before_nic_frames),
    ("  in the router's receive ring", |t| t.lost_nic_ring_frames),
    ("  inside the router", |t| t.lost_inside_frames),
    ("  in the receiver's ring", |t| t.lost_receiver_ring_frames),
];

/// Their trials have plots and gauges.
impl Described for LoadLine {
    const NOUN: &'static str = "loads";

    fn title(&self) -> String {
        "Trials of fixed loads".to_owned()
    }

    fn about(&self) -> About<'_> {
        (vec![("frame", &self.frame)], None)
    }

    fn rows(&self, _: On) -> Vec<TableRow> {
        let all = self.trials.iter().chain(&self.wire);
        all.map(|found| row(self, found, &[], &[])).collect()
    }

    /// A page has them in its table of trials.
    fn sentences(_: &[Self]) -> Vec<String> {
        Vec::new()
    }

    /// One for each trial whose own line can be read, the router's beside the wire's.
    fn told(lines: &[Self], run: &Run, verbose: bool) -> Vec<Told> {
        let on = On::terminal(verbose);
        let of_load = |load: &Self| {
            let tried = load.trials.iter().enumerate().filter_map(|(at, found)| {
                let both: Vec<&LoadTrial> = [found].into_iter().chain(&load.wire).collect();
                let rows = both.iter().map(|one| row(load, one, &both, &run.trials));
                let rows: Vec<TableRow> = rows.collect();
                let line = line_of(found, &run.trials)?;
                let place = match load.trials.len() {
                    1 => String::new(),
                    all => format!("trial {} of {all}, ", at + 1),
                };
                let mut sentences = vec![place + &in_words(load, found, line)];
                sentences.extend(remarks(load, (found, line), &run.trials));
                Some(Told {
                    sentences,
                    tables: vec![(String::new(), column::table(&rows, on).upright())],
                    ..Told::default()
                })
            });
            tried.collect::<Vec<_>>()
        };
        lines.iter().flat_map(of_load).collect()
    }

    /// Of each load that of its best trial.
    fn all_answered(lines: &[Self], run: &Run) -> Answered {
        let answered =
            |found: &LoadTrial| match line_of(found, &run.trials).map(|line| &line.verdict) {
                Some(Verdict::Lossless | Verdict::Lossy) => Answered::Measured,
                Some(Verdict::Void | Verdict::NotOffered) => Answered::Undecided,
                _ => Answered::Failed,
            };
        let best = |load: &Self| load.trials.iter().map(answered).min();
        let worst = lines
            .iter()
            .map(|load| best(load).unwrap_or(Answered::Failed));
        worst.max().unwrap_or(Answered::Measured)
    }

    /// With the whole line of each trial in place of its number.
    fn document(lines: &[Self], run: &Run) -> Value {
        let results = lines.iter().map(|load| {
            let entry = |found: &LoadTrial| {
                let mut entry = json!(found);
                if let Some(line) = line_of(found, &run.trials) {
                    entry["text"] = in_words(load, found, line).into();
                    entry["trial"] = json!(line);
                }
                entry
            };
            let mut result = json!(load);
            result["trials"] = load.trials.iter().map(entry).collect();
            result["wire"] = load.wire.as_ref().map(entry).into();
            result
        });
        json!({ "simulated": run.is_simulated(), "results": results.collect::<Vec<_>>() })
    }
}

/// `None` where it cannot be read.
fn line_of<'a>(found: &LoadTrial, trials: &'a [TrialLine]) -> Option<&'a TrialLine> {
    trials.iter().find(|line| line.trial == found.trial)
}

/// Frames of all directions.
fn summed(line: &TrialLine, frames: fn(&Direction) -> u64) -> u64 {
    line.directions.iter().map(frames).sum()
}

/// A place of loss has a value where any of these trials lost frames there.
fn row(
    load: &LoadLine,
    found: &LoadTrial,
    beside: &[&LoadTrial],
    trials: &[TrialLine],
) -> TableRow {
    let is_wire = load
        .wire
        .as_ref()
        .is_some_and(|wire| wire.trial == found.trial);
    let (through, mark) = match is_wire {
        true => ("a wire instead", " (wire)"),
        false => ("the router", ""),
    };
    let received = match load.receiver {
        Some(ReceiverPlace::Exit) => "received at the exit",
        Some(ReceiverPlace::Port) => "received at the port",
        _ => "",
    };
    let line = line_of(found, trials);
    let sum = |frames| line.map(|line| summed(line, frames));
    let (latency, late) = (
        line.map(|line| &line.latency),
        line.map(|line| &line.lateness),
    );
    let fps = |fps: Option<f64>| fps.map(|fps| fps.round() as u64);
    let mut columns = vec![words(received, through.to_owned()).screen()];
    columns.extend(columns! {
        words "load" load.load.clone(), page;
        text "trial" format!("{}{mark}", found.trial), page;
        rate "sent" fps(found.sent_fps), page;
        rate "forwarded" fps(found.forwarding_fps), page;
        count "intended, frames" sum(|way| way.intended_frames);
        count "offered" sum(|way| way.sent_frames);
        count "forwarded" found.forwarded_frames, screen;
        count "lost" found.lost_frames;
    });
    columns.extend(PLACES.map(|(place, lost)| {
        let is_lossy = beside.iter().any(|found| lost(found) > 0);
        count(place, is_lossy.then(|| lost(found)))
    }));
    columns.extend(columns! {
        count "duplicated" sum(|way| way.duplicated_frames);
        count "reordered" sum(|way| way.reordered_frames);
        busy "DUT busy" found.busiest_share;
        whole "CPU time a frame, ns" found.ns_per_frame;
        time "latency, 50 %" latency.and_then(|at| at.p50_ns);
        time "latency, 99 %" latency.and_then(|at| at.p99_ns);
        time "latency, 99.9 %" latency.and_then(|at| at.p999_ns);
        time "latency, most" latency.and_then(|at| at.max_ns);
        time "sent late, median" late.and_then(|at| at.p50_ns);
        time "sent late, worst" late.and_then(|at| at.max_ns);
        share "stolen of a CPU" found.stolen_share, screen;
    });
    TableRow::new(0.0, columns)
}

/// `64 B: 1.5 million frames/s offered for 2.00 s: 1.311 million frames/s forwarded, 12.6 % lost in the router's receive ring`.
fn in_words(load: &LoadLine, found: &LoadTrial, line: &TrialLine) -> String {
    let words = |fps: f64| Known::new(fps, 0.0).trimmed();
    let asked = words(line.offered_fps) + " frames/s";
    let time = number::time(line.duration_ns as f64);
    let sent = found.sent_fps.unwrap_or(0.0);
    let offered = if load.load == MAX {
        format!("{asked}, the most, offered for {time}")
    } else if sent < 0.999 * line.offered_fps {
        format!("{asked} intended for {time}, {} offered", words(sent))
    } else {
        format!("{asked} offered for {time}")
    };
    let lost = found.lost_frames;
    let result = if lost > 0 {
        let forwarded = words(found.forwarding_fps.unwrap_or(0.0));
        let share = lost as f64 / summed(line, |way| way.sent_frames).max(1) as f64;
        let most = PLACES.map(|(place, lost)| (lost(found), place));
        let (most, place) = most.into_iter().max().unwrap_or_default();
        let (share, mostly) = (percent(share), if most < lost { ", most" } else { "" });
        let place = place.trim_start();
        format!("{forwarded} frames/s forwarded, {share} lost{mostly} {place}")
    } else if summed(line, |way| way.unrouted_frames) > 0 {
        "the router dropped all of them, because it has no route".to_owned()
    } else {
        "all forwarded".to_owned()
    };
    format!("{}: {offered}: {result}", number::frame(&load.frame))
}

/// What the figures have to be read with.
fn remarks(
    load: &LoadLine,
    (found, line): (&LoadTrial, &TrialLine),
    trials: &[TrialLine],
) -> Vec<String> {
    let mut told = Vec::new();
    match (&line.verdict, found.disturbed_tries) {
        (Verdict::Void, times) => {
            let (times, why) = (times + 1, line.verdict_text.trim_start_matches("void: "));
            told.push(format!(
                "disturbed {times} times, the last time because {why}"
            ));
        }
        (_, 0) => {}
        (_, times) => told.push(format!("disturbed attempts before it: {times}")),
    }
    let disturbed = line.disturbed.as_ref();
    let disturbed = disturbed.and_then(|all| Some((all.lost_frames?, all.time_ns)));
    if let Some((lost @ 1.., time_ns)) = disturbed {
        let (lost, time) = (spaced(lost), number::time(time_ns as f64));
        told.push(format!(
            "{lost} of the lost frames were sent in disturbances, which took {time}: the verdict does not count them"
        ));
    }
    match line.verdict {
        Verdict::Invalid | Verdict::NotOffered => told.push(line.verdict_text.clone()),
        Verdict::Lossless if load.load == MAX && found.lost_frames == 0 => {
            told.push(
                "the tester can offer no more, so it could not overload this router".to_owned(),
            );
        }
        _ => {}
    }
    let wire = load.wire.as_ref().and_then(|wire| line_of(wire, trials));
    let Some(wire) = wire else {
        return told;
    };
    if !matches!(wire.verdict, Verdict::Lossless | Verdict::Lossy) {
        told.push(format!("the wire's trial: {}", wire.verdict_text));
    }
    told.extend(found.ns_per_frame.map(|total| {
        let parts = load.bed_ns.map_or_else(String::new, |bed_ns| {
            let about = Known::new(total, 2.0 * NEIGHBOURS_APART * total);
            let [router, bed] = [total - bed_ns, bed_ns].map(|part| about.with(part).plain());
            match total - bed_ns > NEIGHBOURS_APART * total {
                true => format!(": about {router} the router, {bed} the bed"),
                false => ": the router's part is too small for one trial".to_owned(),
            }
        });
        format!("a frame costs {total:.0} ns of the router's CPU{parts}")
    }));
    told
}
