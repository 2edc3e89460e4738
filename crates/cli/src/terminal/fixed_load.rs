//! A fixed load: one sentence, then everything counted, the router's beside the wire's.

use super::grouped;
use crate::plan::DestinationPlan;
use mpps_lab::jobs::fixed_load::FixedLoadPlan;
use mpps_method::{Rate, Span};
use mpps_record::{Direction, LoadLine, LoadTrial, TrialLine, Verdict};
use std::fmt::Write;

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

/// What is counted or told of a trial, with its name.
type Cell = (&'static str, fn(Tried<'_>) -> String);
/// A place of loss, and what was lost there.
type Place = (&'static str, fn(&LoadTrial) -> u64);

/// Shown for every trial, places of loss aside.
const ROWS: [Cell; 15] = [
    ("offered, frames", |t| {
        grouped(t.sum(|way| way.intended_frames))
    }),
    ("sent", |t| grouped(t.sum(|way| way.sent_frames))),
    ("forwarded", |t| grouped(t.found.forwarded_frames)),
    (LOST, |t| grouped(t.found.lost_frames)),
    ("duplicated", |t| {
        grouped(t.sum(|way| way.duplicated_frames))
    }),
    ("reordered", |t| grouped(t.sum(|way| way.reordered_frames))),
    ("busy, busiest CPU", |t| {
        rounded(
            t.found.busiest_share.map(|share| share.min(1.0)),
            100.0,
            "%",
        )
    }),
    ("CPU time a frame", |t| {
        rounded(t.found.ns_per_frame, 1.0, "ns")
    }),
    ("latency, 50 %", |t| span(t.line.latency.p50_ns)),
    ("latency, 99 %", |t| span(t.line.latency.p99_ns)),
    ("latency, 99.9 %", |t| span(t.line.latency.p999_ns)),
    ("latency, most", |t| span(t.line.latency.max_ns)),
    ("sent late, median", |t| span(t.line.lateness.p50_ns)),
    ("sent late, worst", |t| span(t.line.lateness.max_ns)),
    ("stolen of a CPU", |t| {
        format!("{:.1} %", 100.0 * t.found.stolen_share)
    }),
];
/// The row below which places of loss stand.
const LOST: &str = "lost";

/// Where frames were lost, in the order they meet it.
const PLACES: [Place; 4] = [
    ("before the router's NIC", |t| t.lost_before_nic_frames),
    ("in the router's receive ring", |t| t.lost_nic_ring_frames),
    ("inside the router", |t| t.lost_inside_frames),
    ("in the receiver's ring", |t| t.lost_receiver_ring_frames),
];

/// One block for each trial of these loads.
#[must_use]
pub fn fixed_load(loads: &[LoadLine], trials: &[TrialLine]) -> String {
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
            text.push_str(&table(load, tried, wire));
        }
    }
    text
}

/// `64 B: 1.5 Mfps offered for 2 s: 1.311 Mfps forwarded, 12.6 % lost in the router's receive ring`.
#[must_use]
pub fn in_words(load: &LoadLine, found: &LoadTrial, line: &TrialLine) -> String {
    let tried = Tried { found, line };
    let (frame, lost) = (&load.frame, found.lost_frames);
    let octets = if frame.chars().all(|c| c.is_ascii_digit()) {
        " B"
    } else {
        ""
    };
    let asked = in_digits(Rate::from_fps(line.offered_fps));
    let time = Span::from_nanos(line.duration_ns);
    let sent = found.sent_fps.unwrap_or(0.0);
    let offered = if load.load == MAX {
        let time = Span::from_millis(line.duration_ns / 1_000_000);
        format!("{asked}, the most, offered for {time}")
    } else if sent < 0.999 * line.offered_fps {
        let sent = in_digits(Rate::from_fps(sent));
        format!("{asked} wanted for {time}, {sent} sent")
    } else {
        format!("{asked} offered for {time}")
    };
    let result = if lost > 0 {
        let forwarded = in_digits(Rate::from_fps(found.forwarding_fps.unwrap_or(0.0)));
        let percent = 100.0 * lost as f64 / tried.sum(|way| way.sent_frames).max(1) as f64;
        let bound = if percent < 0.05 { "under " } else { "" };
        let (most, place) = PLACES
            .map(|(place, lost)| (lost(found), place))
            .into_iter()
            .max()
            .unwrap_or_default();
        let mostly = if most < lost { ", most" } else { "" };
        format!(
            "{forwarded} forwarded, {bound}{:.1} % lost{mostly} {place}",
            percent.max(0.1)
        )
    } else if tried.sum(|way| way.unrouted_frames) > 0 {
        "the router dropped all of them, because it has no route".to_owned()
    } else {
        "all forwarded".to_owned()
    };
    format!("{frame}{octets}: {offered}: {result}")
}

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
    if let (Some(total), Some(bed)) = (found.ns_per_frame, wire.found.ns_per_frame) {
        let parts = if total > bed {
            format!("{:.0} the router, {bed:.0} the bed", total - bed)
        } else {
            format!("{bed:.0} with a wire, so one trial each does not show the router's part")
        };
        say(format!(
            "a frame costs {total:.0} ns of the router's CPU: {parts}"
        ));
    }
    text
}

fn table(load: &LoadLine, tried: Tried<'_>, wire: Option<Tried<'_>>) -> String {
    let mut text = String::from("\n");
    let mut line = |what: &str, router: &str, wire: &str| {
        let line = format!("{what:<34}{router:>16}{wire:>18}");
        let _ = writeln!(text, "{}", line.trim_end());
    };
    let head = format!("received at the {}", load.receiver);
    line(&head, "the router", wire.map_or("", |_| "a wire instead"));
    for (what, cell) in &ROWS {
        line(what, &cell(tried), &wire.map_or(String::new(), cell));
        for (place, lost) in PLACES.iter().filter(|_| *what == LOST) {
            let (router, wire) = (lost(tried.found), wire.map_or(0, |wire| lost(wire.found)));
            if router + wire > 0 {
                line(&format!("  {place}"), &grouped(router), &grouped(wire));
            }
        }
    }
    text
}

fn rounded(value: Option<f64>, times: f64, unit: &str) -> String {
    value.map_or("-".to_owned(), |value| {
        format!("{:.0} {unit}", value * times)
    })
}

/// Three digits, for histograms know no more.
fn span(ns: Option<u64>) -> String {
    let Some(ns) = ns else {
        return "-".to_owned();
    };
    let digits = ns.checked_ilog10().unwrap_or(0);
    let unit = 10_u64.pow(digits.saturating_sub(2));
    Span::from_nanos(ns.div_ceil(unit) * unit).to_string()
}

/// A rate without zeros at its end.
fn in_digits(rate: Rate) -> String {
    let text = rate.to_string();
    let (number, unit) = text.split_once(' ').unwrap_or((&text, ""));
    let number = match number.split_once('.') {
        Some(_) => number.trim_end_matches('0').trim_end_matches('.'),
        None => number,
    };
    format!("{number} {unit}")
}

/// The plan in words, for `--dry-run`.
#[must_use]
pub fn fixed_load_plan(plan: &FixedLoadPlan, routes: Option<&DestinationPlan>) -> String {
    let mut text = String::new();
    for frames in &plan.sizes {
        for load in &plan.loads {
            let (trials, time) = (plan.trials, plan.time);
            let _ = writeln!(text, "offer        {frames}: {load}, {trials} x {time}");
        }
    }
    text + &super::plan::destinations(routes)
}

#[cfg(test)]
mod tests {
    use super::{MAX, in_digits, span};
    use crate::record::{load_line, trial_lines_for_tests};
    use mpps_lab::jobs::fixed_load::{Load, Offered, Tried};
    use mpps_lab::tester::ReceiverPlace;
    use mpps_method::{
        Counts, CpuBusy, Direction, FrameSpec, Histogram, Ledger, Rate, Shortfall, Span, Trial,
        Verdict, Void,
    };

    fn fixed_load(found: &[Offered]) -> String {
        let loads: Vec<_> = found.iter().map(load_line).collect();
        let trials: Vec<_> = found.iter().flat_map(trial_lines_for_tests).collect();
        super::fixed_load(&loads, &trials)
    }

    #[test]
    fn the_most_is_labs_word() {
        assert_eq!(Load::Max.to_string(), MAX);
    }

    /// 2 s at this load; so many frames stay unsent, so many are lost in the ring.
    fn tried(fps: f64, unsent: u64, lost: u64, ns: u64, verdict: Verdict) -> Tried {
        let intended = (2.0 * fps) as u64;
        let sent = intended - unsent;
        let counts = Counts {
            intended,
            sent,
            unsent,
            received: sent - lost,
            lost,
            ..Counts::default()
        };
        let ledger = Ledger {
            nic_accepted: sent - lost,
            lost_nic_ring: lost,
            ..Ledger::default()
        };
        let mut trial = Trial {
            offered: Rate::from_fps(fps),
            duration: Span::from_millis(2_000),
            directions: vec![Direction { counts, ledger }],
            busy: vec![CpuBusy {
                run_ns: (sent - lost) * ns,
                ..CpuBusy::default()
            }],
            ..Trial::default()
        };
        trial.latency.add_many(Span::from_nanos(12_345), 999);
        trial.latency.add(Span::from_millis(7));
        Tried {
            number: 1,
            trial,
            verdict,
            disturbed: 0,
        }
    }

    fn offered(load: Load, of_router: Tried) -> Offered {
        Offered {
            frames: FrameSpec::parse_list("64").expect("a size").remove(0),
            load,
            receiver: ReceiverPlace::Exit,
            trials: vec![of_router],
            wire: Some(Tried {
                number: 2,
                ..tried(400e3, 0, 0, 430, Verdict::Lossless)
            }),
        }
    }

    fn at(fps: f64) -> Load {
        Load::At(Rate::from_fps(fps))
    }

    #[test]
    fn a_load_without_loss_is_a_sentence_and_a_table() {
        let text = fixed_load(&[offered(
            at(400e3),
            tried(400e3, 0, 0, 655, Verdict::Lossless),
        )]);
        let wanted = "64 B: 400 kfps offered for 2 s: all forwarded\n\
            a frame costs 655 ns of the router's CPU: 225 the router, 430 the bed\n\n\
            received at the exit                    the router    a wire instead\n\
            offered, frames                            800 000           800 000\n";
        assert!(text.starts_with(wanted), "{text}");
        assert!(text.lines().all(|line| line.len() <= 80), "{text}");
        for row in [
            "lost                                             0                 0\n",
            "latency, 50 %                              12.6 us           12.6 us\n",
            "latency, most                              7.08 ms           7.08 ms\n",
        ] {
            assert!(text.contains(row), "{row}{text}");
        }
        assert!(!text.contains("ring"), "no row without loss: {text}");
    }

    #[test]
    fn loss_is_told_with_its_place() {
        let lossy = Verdict::Lossy { lost: 378_000 };
        let offered = offered(at(1.5e6), tried(1.5e6, 0, 378_000, 655, lossy));
        let text = fixed_load(&[offered]);
        assert!(text.starts_with(
            "64 B: 1.5 Mfps offered for 2 s: 1.311 Mfps forwarded, 12.6 % lost in the router's receive ring\n"
        ), "{text}");
        let row = text.lines().find(|line| line.starts_with("  in the"));
        let cells: Vec<&str> = row
            .unwrap_or_default()
            .split("  ")
            .filter(|cell| !cell.is_empty())
            .map(str::trim)
            .collect();
        assert_eq!(
            cells,
            ["in the router's receive ring", "378 000", "0"],
            "{text}"
        );
    }

    #[test]
    fn a_load_the_tester_cannot_offer_is_told() {
        let why = Shortfall::UnsentAboveBound {
            unsent: 4_000_000,
            intended: 10_000_000,
        };
        let short = offered(
            at(5e6),
            tried(5e6, 4_000_000, 0, 300, Verdict::NotOffered(why)),
        );
        let text = fixed_load(&[short]);
        let wanted = "64 B: 5 Mfps wanted for 2 s, 3 Mfps sent: all forwarded\n\
            not offered: the tester left 4000000 of 10000000 frames unsent (40.00 %)\n";
        assert!(text.starts_with(wanted), "{text}");
        let most = offered(Load::Max, tried(3.21e6, 0, 0, 300, Verdict::Lossless));
        let text = fixed_load(&[most]);
        let wanted = "64 B: 3.21 Mfps, the most, offered for 2 s: all forwarded\n\
            the tester can offer no more, so it could not overload this router\n";
        assert!(text.starts_with(wanted), "{text}");
    }

    #[test]
    fn no_part_of_the_cost_is_below_zero() {
        let text = fixed_load(&[offered(
            at(400e3),
            tried(400e3, 0, 0, 400, Verdict::Lossless),
        )]);
        let line = "a frame costs 400 ns of the router's CPU: 430 with a wire, so one trial each";
        assert!(text.contains(line), "{text}");
    }

    #[test]
    fn what_disturbed_every_try_is_one_line() {
        let why = Void::Steal {
            cpu: 1,
            share: 0.05,
            bound: 0.02,
        };
        let mut disturbed = tried(400e3, 0, 0, 655, Verdict::Void(why));
        disturbed.disturbed = 3;
        let text = fixed_load(&[offered(at(400e3), disturbed)]);
        let line =
            "disturbed 4 times, the last time because 5.0 % of CPU 1 was stolen (bound 2.0 %)\n";
        assert!(text.contains(line), "{text}");
        assert!(text.contains("\nsent  "), "the counts are shown: {text}");
    }

    #[test]
    fn digits_are_no_more_than_known() {
        for (fps, text) in [
            (850.0, "850 fps"),
            (20_000.0, "20 kfps"),
            (1_309_900.0, "1.31 Mfps"),
            (12e6, "12 Mfps"),
        ] {
            assert_eq!(in_digits(Rate::from_fps(fps)), text);
        }
        for (ns, text) in [
            (0, "0 ns"),
            (87, "87 ns"),
            (335_871, "336 us"),
            (9_999_999, "10.3 ms"),
        ] {
            let mut histogram = Histogram::default();
            histogram.add(Span::from_nanos(ns));
            let most = histogram.quantile(1.0).map(Span::as_nanos);
            assert_eq!(span(most), text);
        }
    }
}
