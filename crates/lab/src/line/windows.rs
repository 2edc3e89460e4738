//! The windows of a trial as its line has them, and the block of windows that a comparison takes from a line.

use crate::search::{Phase, saturation};
use mpps_method::saturation::{Block, Busy, Window};
use mpps_method::{Counts, CpuExchange, Direction, Disturbance, Ledger, Span, Trial};
use mpps_record::{self as record, TrialLine, Windows};

/// Longer trials are in no comparison, and their windows would be most of the record.
const LONGEST: Span = Span::from_millis(900);

/// Those of a trial that may be compared with others, if their states are known.
pub(super) fn entry(phase: Phase, trial: &Trial) -> Option<Windows> {
    let all = &trial.windows;
    let is_timed = |window: &Window| window.round_trip_ns.is_some() || window.work_ns.is_some();
    let is_compared = matches!(phase, Phase::Overload | Phase::Fixed) && trial.duration <= LONGEST;
    let is_disturbed = |(_, window): &(usize, &Window)| window.disturbed;
    let disturbed = all.iter().enumerate().filter(is_disturbed);
    (is_compared && all.iter().any(is_timed)).then(|| Windows {
        duration_ns: all.first().map_or(0, |window| window.duration.as_nanos()),
        forwarded_frames: all.iter().map(|window| window.forwarded).collect(),
        disturbed: disturbed.map(|(number, _)| number).collect(),
        round_trip_ns: all.iter().map(|window| window.round_trip_ns).collect(),
        work_ns: all.iter().map(|window| window.work_ns).collect(),
        dut_busy_ns: busy_ns(all),
    })
}

/// None at all where no window's is known.
fn busy_ns(all: &[Window]) -> Vec<Option<u64>> {
    let busy = |window: &Window| window.busy.map(|busy| busy.time.as_nanos());
    let each: Vec<Option<u64>> = all.iter().map(busy).collect();
    if each.iter().all(Option::is_none) {
        return Vec::new();
    }
    each
}

/// A trial's line as a comparison takes it: by the rule of a live trial. Without windows a CPU's share has disturbed times in
/// it, so it is left out. A frame's cost has them too, but is all that old records tell; a void trial's says nothing.
#[must_use]
pub fn block_of_line(line: &TrialLine) -> Block {
    let recorded = line.windows.as_deref().map(windows);
    let has_windows = recorded.is_some();
    let direction = |way: &record::Direction| Direction {
        counts: Counts {
            sent: way.sent_frames,
            received: way.received_frames,
            ..Counts::default()
        },
        ledger: Ledger {
            lost_before_nic: way.ledger.lost_before_nic_frames,
            nic_accepted: way.ledger.nic_accepted_frames.unwrap_or(0),
            ..Ledger::default()
        },
    };
    let other = |time: &record::Disturbance| Disturbance {
        cpu: time.cpu,
        from: Span::from_nanos(time.from_ns),
        to: Span::from_nanos(time.to_ns),
    };
    let [before, after] =
        [line.exchange_before_ns, line.exchange_after_ns].map(|ns| ns.map(Span::from_nanos));
    let block = saturation::block(Trial {
        duration: Span::from_nanos(line.duration_ns),
        directions: line.directions.iter().map(direction).collect(),
        busy: line.busy.clone(),
        others: line.others.iter().map(other).collect(),
        exchange: before
            .zip(after)
            .map(|(before, after)| CpuExchange { before, after }),
        windows: recorded.unwrap_or_else(|| vec![one_window(line)]),
        ..Trial::default()
    });
    Block {
        lost: line.lost_share(),
        busiest: block.busiest.filter(|_| has_windows),
        threads: block.threads.filter(|_| has_windows),
        ns_per_frame: block.ns_per_frame.filter(|_| has_windows || !is_void(line)),
        ..block
    }
}

/// A trial at overload says what was forwarded, and its verdict says nothing.
fn is_void(line: &TrialLine) -> bool {
    line.phase != record::Phase::Overload && line.verdict == record::Verdict::Void
}

/// The times of a trial without disturbances.
fn one_window(line: &TrialLine) -> Window {
    if let Some(fps) = line.forwarded_undisturbed_fps {
        return Window {
            duration: Span::from_millis(1_000),
            forwarded: fps.round() as u64,
            ..Window::default()
        };
    }
    let disturbed = line.disturbed.as_ref().and_then(|disturbed| {
        let forwarded = disturbed.sent_frames.saturating_sub(disturbed.lost_frames?);
        Some((disturbed.time_ns, forwarded))
    });
    let (disturbed_ns, elsewhere) = disturbed.unwrap_or_default();
    let received: u64 = line.directions.iter().map(|way| way.received_frames).sum();
    Window {
        duration: Span::from_nanos(line.duration_ns.saturating_sub(disturbed_ns)),
        forwarded: received.saturating_sub(elsewhere),
        disturbed: line.phase == record::Phase::Overload || is_void(line),
        ..Window::default()
    }
}

/// What a line lacks is unknown.
fn windows(line: &Windows) -> Vec<Window> {
    let known = |values: &[Option<u64>], number: usize| values.get(number).copied().flatten();
    let window = |(number, forwarded): (usize, &u64)| Window {
        duration: Span::from_nanos(line.duration_ns),
        forwarded: *forwarded,
        disturbed: line.disturbed.contains(&number),
        round_trip_ns: known(&line.round_trip_ns, number),
        work_ns: known(&line.work_ns, number),
        busy: known(&line.dut_busy_ns, number).map(|ns| Busy {
            time: Span::from_nanos(ns),
            wakes: 0,
        }),
    };
    line.forwarded_frames
        .iter()
        .enumerate()
        .map(window)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::Report;
    use mpps_method::compare::{Comparison, Rule, ToldBy, Turn};
    use mpps_method::screen::in_one_state;
    use mpps_method::{CpuBusy, FrameSpec, Offer, Rate, Verdict};

    /// A trial at overload, whose frames take this long on a whole core and twice that on a shared one, as it is in
    /// `shared` of 40 windows. Two are disturbed, and one untimed.
    fn trial(ns: u64, shared: u64) -> Trial {
        let window = |number: u64| {
            let slower = 1 + u64::from(number < shared);
            Window {
                duration: Span::from_nanos(8_388_608),
                forwarded: 8_388_608 / (ns * slower + number % 3),
                disturbed: number % 20 == 7,
                round_trip_ns: (number != 11).then_some(70 + number % 9),
                work_ns: (number != 11).then_some(240 * slower),
                busy: (number != 12).then_some(Busy {
                    time: Span::from_nanos(7_000_000 + number),
                    wakes: 0,
                }),
            }
        };
        let windows: Vec<Window> = (0..40).map(window).collect();
        let received: u64 = windows.iter().map(|window| window.forwarded).sum();
        let counts = Counts {
            sent: 2_000_000,
            received,
            ..Counts::default()
        };
        let ledger = Ledger {
            nic_accepted: received,
            lost_before_nic: 5,
            ..Ledger::default()
        };
        let times = |from: u64, to: u64| Disturbance {
            cpu: 1,
            from: Span::from_millis(from),
            to: Span::from_millis(to),
        };
        Trial {
            duration: Span::from_millis(350),
            directions: vec![Direction { counts, ledger }],
            busy: vec![CpuBusy {
                cpu: 1,
                run_ns: 340_000_000,
                ..CpuBusy::default()
            }],
            others: vec![times(60, 64)],
            windows,
            ..Trial::default()
        }
    }

    /// The trial's line, once it was written and read.
    fn line(trial: &Trial, phase: Phase) -> TrialLine {
        let frames = FrameSpec::parse_list("64").expect("a size").remove(0);
        let offer = Offer {
            rate: Rate::from_fps(3e6),
            duration: trial.duration,
        };
        let report = Report {
            number: 1,
            frames: &frames,
            phase,
            offer,
            trial,
            verdict: &Verdict::Lossy { lost: 1 },
        };
        let text = serde_json::to_string(&crate::line::trial(&report)).expect("a line");
        serde_json::from_str(&text).expect("a trial's line")
    }

    /// Trials of a base and of one that costs 60 ns more, among other tenants.
    fn pairs() -> Vec<[Trial; 2]> {
        let shared = |pair: u64| [(7 * pair) % 31, (11 * pair + 5) % 31];
        let pair = |pair: u64| {
            let [one, other] = shared(pair);
            [trial(400, one), trial(460 + pair % 3, other)]
        };
        (0..12).map(pair).collect()
    }

    #[test]
    fn a_comparison_of_records_is_that_of_live_trials() {
        let compared = |as_block: &dyn Fn(&Trial) -> Block| {
            let mut comparison = Comparison::new(Rule {
                measure: ToldBy::Rate,
                within: 0.01,
                alike: 0.01,
            });
            let turn = |trial: &Trial| Turn {
                overload: as_block(trial),
                fixed: as_block(trial),
            };
            for [base, variant] in pairs() {
                comparison.add(&turn(&base), &turn(&variant));
            }
            comparison.end()
        };
        let live = compared(&|trial| saturation::block(trial));
        // A build's trials are at fixed loads, those of settings at overload.
        for phase in [Phase::Overload, Phase::Fixed] {
            let recorded = |trial: &Trial| block_of_line(&line(trial, phase));
            assert_eq!(compared(&recorded), live);
        }
        let more = live.cost_ns.expect("an interval");
        assert!(
            live.pairs.counted == 12 && more.low > 55.0 && more.high < 95.0,
            "{live:?}"
        );
    }

    #[test]
    fn a_screen_of_records_is_that_of_live_trials() {
        let costs = |as_block: &dyn Fn(&Trial) -> Block| {
            let turns = pairs()
                .into_iter()
                .map(|pair| pair.iter().map(as_block).collect());
            in_one_state(&turns.collect::<Vec<_>>(), true)
        };
        let live = costs(&|trial| saturation::block(trial));
        assert_eq!(
            costs(&|trial| block_of_line(&line(trial, Phase::Overload))),
            live
        );
        assert!(live.costs.concat().len() > 20, "{live:?}");
    }

    #[test]
    fn only_short_timed_trials_have_windows() {
        let short = trial(400, 10);
        let recorded = line(&short, Phase::Overload);
        let octets = serde_json::to_string(&recorded.windows)
            .expect("windows")
            .len();
        assert!((300..1_000).contains(&octets), "{octets} octets");
        assert_eq!(line(&short, Phase::Search).windows, None);
        let long = Trial {
            duration: Span::from_millis(1_000),
            ..short.clone()
        };
        assert_eq!(line(&long, Phase::Overload).windows, None);
        let mut untimed = short;
        for window in &mut untimed.windows {
            (window.round_trip_ns, window.work_ns) = (None, None);
        }
        assert_eq!(line(&untimed, Phase::Overload).windows, None);
    }
}
