//! A fixed load: one sentence, then everything counted, the router's beside the wire's.

use super::grouped;
use crate::plan::DestinationPlan;
use mpps_lab::jobs::fixed_load::{FixedLoadPlan, Load, Offered, Tried};
use mpps_method::{FrameSpec, Histogram, Rate, Span, Trial, Verdict};
use std::fmt::Write;

/// What is counted or told of a trial, with its name.
type Row<T> = (&'static str, fn(&Trial) -> T);

/// Shown for every trial, places of loss aside.
const ROWS: [Row<String>; 15] = [
    ("offered, frames", |t| grouped(t.counts().intended)),
    ("sent", |t| grouped(t.counts().sent)),
    ("forwarded", |t| grouped(t.counts().received)),
    (LOST, |t| grouped(t.counts().lost)),
    ("duplicated", |t| grouped(t.counts().duplicated)),
    ("reordered", |t| grouped(t.counts().reordered)),
    ("busy, busiest CPU", |t| {
        rounded(t.busiest_share().map(|share| share.min(1.0)), 100.0, "%")
    }),
    ("CPU time a frame", |t| rounded(t.ns_per_frame(), 1.0, "ns")),
    ("latency, 50 %", |t| span(&t.latency, 0.5)),
    ("latency, 99 %", |t| span(&t.latency, 0.99)),
    ("latency, 99.9 %", |t| span(&t.latency, 0.999)),
    ("latency, most", |t| span(&t.latency, 1.0)),
    ("sent late, median", |t| span(&t.lateness, 0.5)),
    ("sent late, worst", |t| span(&t.lateness, 1.0)),
    ("stolen of a CPU", |t| {
        let shares = t.steal.iter().map(|steal| t.stolen_share(steal));
        format!("{:.1} %", 100.0 * shares.fold(0.0, f64::max))
    }),
];
/// The row below which places of loss stand.
const LOST: &str = "lost";

/// Where frames were lost, in the order they meet it.
const PLACES: [Row<u64>; 4] = [
    ("before the router's NIC", |t| t.ledger().lost_before_nic),
    ("in the router's receive ring", |t| t.ledger().lost_nic_ring),
    ("inside the router", lost_inside),
    ("in the receiver's ring", |t| t.ledger().lost_receiver_ring),
];

/// Lost at the DUT and not by its ring; canaries are none of them.
fn lost_inside(trial: &Trial) -> u64 {
    let (lost, ledger) = (trial.counts().lost, trial.ledger());
    lost.saturating_sub(ledger.lost_before_nic + ledger.lost_nic_ring + ledger.lost_receiver_ring)
}

/// One block for each trial.
#[must_use]
pub fn fixed_load(found: &[Offered]) -> String {
    let mut text = String::new();
    for offered in found {
        for (place, tried) in offered.trials.iter().enumerate() {
            if !text.is_empty() {
                text.push('\n');
            }
            if offered.trials.len() > 1 {
                let _ = write!(text, "trial {} of {}, ", place + 1, offered.trials.len());
            }
            let _ = writeln!(text, "{}", in_words(offered, tried));
            text.push_str(&remarks(offered, tried));
            text.push_str(&table(offered, tried));
        }
    }
    text
}

/// `64 B: 1.5 Mfps offered for 2 s: 1.311 Mfps forwarded, 12.6 % lost in the router's receive ring`.
#[must_use]
pub fn in_words(offered: &Offered, tried: &Tried) -> String {
    let (trial, counts) = (&tried.trial, tried.trial.counts());
    let octets = if matches!(offered.frames, FrameSpec::Fixed(_)) {
        " B"
    } else {
        ""
    };
    let (asked, time) = (in_digits(trial.offered), trial.duration);
    let sent = trial.sent_rate().unwrap_or_default();
    let load = match offered.load {
        Load::Max => {
            let time = Span::from_millis(time.as_nanos() / 1_000_000);
            format!("{asked}, the most, offered for {time}")
        }
        Load::At(rate) if sent.fps() < 0.999 * rate.fps() => {
            format!("{asked} wanted for {time}, {} sent", in_digits(sent))
        }
        Load::At(_) => format!("{asked} offered for {time}"),
    };
    let result = if counts.lost > 0 {
        let forwarded = in_digits(trial.forwarding_rate().unwrap_or_default());
        let percent = 100.0 * counts.lost as f64 / counts.sent.max(1) as f64;
        let bound = if percent < 0.05 { "under " } else { "" };
        let (most, place) = PLACES
            .map(|(place, lost)| (lost(trial), place))
            .into_iter()
            .max()
            .unwrap_or_default();
        let mostly = if most < counts.lost { ", most" } else { "" };
        format!(
            "{forwarded} forwarded, {bound}{:.1} % lost{mostly} {place}",
            percent.max(0.1)
        )
    } else if counts.unrouted > 0 {
        "the router dropped all of them, because it has no route".to_owned()
    } else {
        "all forwarded".to_owned()
    };
    format!("{}{octets}: {load}: {result}", offered.frames)
}

/// What the figures have to be read with, a line each.
fn remarks(offered: &Offered, tried: &Tried) -> String {
    let mut text = String::new();
    let mut say = |line: String| text.extend([line, "\n".to_owned()]);
    match (&tried.verdict, tried.disturbed) {
        (Verdict::Void(why), times) => say(format!(
            "disturbed {} times, the last time because {why}",
            times + 1
        )),
        (_, 0) => {}
        (_, times) => say(format!("disturbed attempts before it: {times}")),
    }
    let disturbed = tried.trial.lost_disturbed();
    if disturbed > 0 {
        let time = tried.trial.disturbed.time;
        say(format!(
            "{} of the lost frames were sent in disturbances, which took {time}: the verdict does not count them",
            grouped(disturbed)
        ));
    }
    let lost = tried.trial.counts().lost;
    match tried.verdict {
        Verdict::Invalid(_) | Verdict::NotOffered(_) => say(tried.verdict.to_string()),
        Verdict::Lossless if offered.load == Load::Max && lost == 0 => {
            say("the tester can offer no more, so it could not overload this router".to_owned());
        }
        _ => {}
    }
    let Some(wire) = &offered.wire else {
        return text;
    };
    if !matches!(wire.verdict, Verdict::Lossless | Verdict::Lossy { .. }) {
        say(format!("the wire's trial: {}", wire.verdict));
    }
    if let (Some(total), Some(bed)) = (tried.trial.ns_per_frame(), wire.trial.ns_per_frame()) {
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

fn table(offered: &Offered, tried: &Tried) -> String {
    let wire = offered.wire.as_ref().map(|wire| &wire.trial);
    let mut text = String::from("\n");
    let mut line = |what: &str, router: &str, wire: &str| {
        let line = format!("{what:<34}{router:>16}{wire:>18}");
        let _ = writeln!(text, "{}", line.trim_end());
    };
    let head = format!("received at the {}", offered.receiver.name());
    line(&head, "the router", wire.map_or("", |_| "a wire instead"));
    for (what, cell) in &ROWS {
        line(what, &cell(&tried.trial), &wire.map_or(String::new(), cell));
        for (place, lost) in PLACES.iter().filter(|_| *what == LOST) {
            let (router, wire) = (lost(&tried.trial), wire.map_or(0, lost));
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
fn span(of: &Histogram, part: f64) -> String {
    let Some(span) = of.quantile(part) else {
        return "-".to_owned();
    };
    let digits = span.as_nanos().checked_ilog10().unwrap_or(0);
    let unit = 10_u64.pow(digits.saturating_sub(2));
    Span::from_nanos(span.as_nanos().div_ceil(unit) * unit).to_string()
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
    use super::*;
    use mpps_lab::tester::ReceiverPlace;
    use mpps_method::{Counts, CpuBusy, Direction, Ledger, Shortfall, Void};

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
            wire: Some(tried(400e3, 0, 0, 430, Verdict::Lossless)),
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
            assert_eq!(span(&histogram, 1.0), text);
        }
    }
}
