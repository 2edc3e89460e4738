//! A fixed load: one sentence, then everything counted, the router's beside the wire's.

use super::grouped;
use mpps_lab::jobs::fixed_load::{FixedLoadPlan, Load, Offered, Tried};
use mpps_method::{FrameSpec, Rate, Span, Trial, Verdict};
use std::fmt::Write;

/// A row: what it is, and its cell for a trial.
type Row = (&'static str, fn(&Trial) -> String);

/// Shown for every trial.
const COUNTS: [Row; 4] = [
    ("offered, frames", |t| grouped(t.counts().intended)),
    ("sent", |t| grouped(t.counts().sent)),
    ("forwarded", |t| grouped(t.counts().received)),
    ("lost", |t| grouped(t.counts().lost)),
];
/// Shown below the counts.
const FIGURES: [Row; 11] = [
    ("duplicated", |t| grouped(t.counts().duplicated)),
    ("reordered", |t| grouped(t.counts().reordered)),
    ("busy, busiest CPU", |t| {
        let busy = t.busiest_share().map(|share| 100.0 * share.min(1.0));
        busy.map_or("-".to_owned(), |busy| format!("{busy:.0} %"))
    }),
    ("CPU time a frame", |t| {
        let cost = t.ns_per_frame();
        cost.map_or("-".to_owned(), |ns| format!("{ns:.0} ns"))
    }),
    ("latency, 50 %", |t| span(t.latency.quantile(0.5))),
    ("latency, 99 %", |t| span(t.latency.quantile(0.99))),
    ("latency, 99.9 %", |t| span(t.latency.quantile(0.999))),
    ("latency, most", |t| span(t.latency.quantile(1.0))),
    ("sent late, median", |t| span(t.lateness.quantile(0.5))),
    ("sent late, worst", |t| span(t.lateness.quantile(1.0))),
    ("stolen of a CPU", |t| {
        let shares = t.steal.iter().map(|steal| t.stolen_share(steal));
        format!("{:.1} %", 100.0 * shares.fold(0.0, f64::max))
    }),
];

/// A place of loss: in a row, in a sentence, and how many frames.
type Place = (&'static str, &'static str, fn(&Trial) -> u64);

/// Where frames were lost, in the order they meet it.
const PLACES: [Place; 4] = [
    (
        "  before the NIC",
        "before the router's NIC, by the tester",
        |t| t.ledger().lost_before_nic,
    ),
    (
        "  in the receive ring",
        "in the router's receive ring",
        lost_in_ring,
    ),
    ("  in the router", "inside the router", |t| {
        t.lost_at_dut().saturating_sub(lost_in_ring(t))
    }),
    (
        "  in the receiver's ring",
        "in the receiver's ring, by the tester",
        |t| t.ledger().lost_receiver_ring,
    ),
];

fn lost_in_ring(trial: &Trial) -> u64 {
    trial.ledger().lost_nic_ring
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
            text.extend(remarks(offered, tried));
            text.push_str(&table(offered, tried));
        }
    }
    text
}

/// `64 B: 1.5 Mfps offered for 2 s: 1.31 Mfps forwarded, 12.6 % lost in the router's receive ring`.
#[must_use]
pub fn in_words(offered: &Offered, tried: &Tried) -> String {
    let trial = &tried.trial;
    let counts = trial.counts();
    let sent = trial.sent_rate().unwrap_or_default();
    let of = match &offered.frames {
        FrameSpec::Fixed(length) => format!("{length} B"),
        frames => frames.to_string(),
    };
    let (asked, time) = (in_digits(trial.offered, 7), trial.duration);
    let load = match offered.load {
        Load::Max => format!("{}, the most, offered for {time}", in_digits(sent, 3)),
        Load::At(rate) if sent.fps() < 0.999 * rate.fps() => {
            format!("{asked} wanted for {time}, {} sent", in_digits(sent, 3))
        }
        Load::At(_) => format!("{asked} offered for {time}"),
    };
    let result = if counts.lost > 0 {
        let forwarded = in_digits(trial.forwarding_rate().unwrap_or_default(), 3);
        let percent = 100.0 * counts.lost as f64 / counts.sent.max(1) as f64;
        let places = PLACES.iter().map(|(_, place, lost)| (lost(trial), *place));
        let (most, place) = places.max().unwrap_or_default();
        let mostly = if most < counts.lost { ", most" } else { "" };
        let percent = digits(percent, 3);
        format!("{forwarded} forwarded, {percent} % lost{mostly} {place}")
    } else if counts.unrouted > 0 {
        "all dropped for want of a route".to_owned()
    } else {
        "all forwarded".to_owned()
    };
    format!("{of}: {load}: {result}")
}

/// What the figures have to be read with, a line each.
fn remarks(offered: &Offered, tried: &Tried) -> Vec<String> {
    let tries = tried.disturbed + 1;
    let mut lines = match &tried.verdict {
        Verdict::Void(why) => vec![format!(
            "disturbed in each of {tries} tries, the last time: {why}"
        )],
        Verdict::Invalid(why) => vec![format!("no evidence: {why}")],
        Verdict::NotOffered(why) => vec![format!("not offered: {why}")],
        Verdict::Lossless if offered.load == Load::Max => {
            vec!["the tester can offer no more, so it could not overload this router".to_owned()]
        }
        Verdict::Lossless | Verdict::Lossy { .. } => Vec::new(),
    };
    if tried.disturbed > 0 && !matches!(tried.verdict, Verdict::Void(_)) {
        lines.push(format!("disturbed tries before it: {}", tried.disturbed));
    }
    if let Some(Verdict::Void(why)) = offered.wire.as_ref().map(|wire| &wire.verdict) {
        lines.push(format!("the wire's trial was disturbed: {why}"));
    }
    if let Some((total, bed)) = costs(offered, tried) {
        let router = total - bed;
        lines.push(format!(
            "a frame costs {total:.0} ns of the router's CPU: {router:.0} the router, {bed:.0} the bed"
        ));
    }
    lines.into_iter().map(|line| format!("{line}\n")).collect()
}

/// CPU time a frame with the router, and with the wire in its place, ns.
#[must_use]
pub fn costs(offered: &Offered, tried: &Tried) -> Option<(f64, f64)> {
    let wire = offered.wire.as_ref()?;
    Some((tried.trial.ns_per_frame()?, wire.trial.ns_per_frame()?))
}

fn table(offered: &Offered, tried: &Tried) -> String {
    let wire = offered.wire.as_ref().map(|wire| &wire.trial);
    let head = format!("received at the {}", offered.receiver.name());
    let second = wire.map_or("", |_| "a wire instead");
    let mut text = format!("\n{head:<26}{:>20}{second:>20}\n", "the router");
    let mut row = |what: &str, cell: &dyn Fn(&Trial) -> String| {
        let of_wire = wire.map_or(String::new(), cell);
        let line = format!("{what:<26}{:>20}{of_wire:>20}", cell(&tried.trial));
        let _ = writeln!(text, "{}", line.trim_end());
    };
    for (what, cell) in &COUNTS {
        row(what, cell);
    }
    for (what, _, lost) in &PLACES {
        if [Some(&tried.trial), wire]
            .into_iter()
            .flatten()
            .map(lost)
            .any(|lost| lost > 0)
        {
            row(what, &|trial| grouped(lost(trial)));
        }
    }
    for (what, cell) in &FIGURES {
        row(what, cell);
    }
    text
}

/// Three digits, for the histograms know no more.
fn span(span: Option<Span>) -> String {
    span.map_or("-".to_owned(), |span| match span.as_nanos() as f64 {
        ns if ns < 1e3 => format!("{ns} ns"),
        ns if ns < 1e6 => format!("{} us", digits(ns / 1e3, 3)),
        ns if ns < 1e9 => format!("{} ms", digits(ns / 1e6, 3)),
        ns => format!("{} s", digits(ns / 1e9, 3)),
    })
}

/// A rate with as many digits as are worth reading.
fn in_digits(rate: Rate, significant: i32) -> String {
    match rate.fps() {
        fps if fps >= 999_500.0 => format!("{} Mfps", digits(fps / 1e6, significant)),
        fps if fps >= 999.5 => format!("{} kfps", digits(fps / 1e3, significant)),
        fps => format!("{} fps", digits(fps, significant)),
    }
}

fn digits(value: f64, significant: i32) -> String {
    let before_point = value.max(1e-6).log10().floor() as i32 + 1;
    let decimals = usize::try_from(significant - before_point).unwrap_or(0);
    let text = format!("{value:.decimals$}");
    match text.split_once('.') {
        Some(_) => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        None => text,
    }
}

/// The plan in words, for `--dry-run`.
#[must_use]
pub fn fixed_load_plan(plan: &FixedLoadPlan) -> String {
    let sizes: Vec<String> = plan.sizes.iter().map(ToString::to_string).collect();
    let loads: Vec<String> = plan.loads.iter().map(ToString::to_string).collect();
    format!(
        "frame sizes  {}\nports        {}\nloads        {}, for {} each, {} trial(s)\n",
        sizes.join(", "),
        plan.traffic.port.name(),
        loads.join(", "),
        plan.time,
        plan.trials
    )
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
            received at the exit                the router      a wire instead\n\
            offered, frames                        800 000             800 000\n";
        assert!(text.starts_with(wanted), "{text}");
        assert!(text.lines().all(|line| line.len() <= 80), "{text}");
        for row in [
            "lost                                         0                   0\n",
            "latency, 50 %                          12.5 us             12.5 us\n",
            "latency, most                          7.08 ms             7.08 ms\n",
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
            "64 B: 1.5 Mfps offered for 2 s: 1.31 Mfps forwarded, 12.6 % lost in the router's receive ring\n"
        ), "{text}");
        assert!(
            text.contains("\n  in the receive ring                  378 000                   0\n"),
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
    fn what_disturbed_every_try_is_one_line() {
        let why = Void::Steal {
            cpu: 1,
            share: 0.05,
            bound: 0.02,
        };
        let mut disturbed = tried(400e3, 0, 0, 655, Verdict::Void(why));
        disturbed.disturbed = 3;
        let text = fixed_load(&[offered(at(400e3), disturbed)]);
        let line = "disturbed in each of 4 tries, the last time: 5.0 % of CPU 1 was stolen (bound 2.0 %)\n";
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
            (999_600.0, "1 Mfps"),
        ] {
            assert_eq!(in_digits(Rate::from_fps(fps), 3), text);
        }
        assert_eq!(digits(0.003_13, 3), "0.00313");
        assert_eq!(in_digits(Rate::from_fps(1_234_567.0), 7), "1.234567 Mfps");
    }
}
