use super::*;
use crate::jobs::Judged;
use crate::trial::Beside;
use mpps_ebpf::instruments::receiver::{Gap, Received};
use mpps_ebpf::instruments::sender::{DIRECTIONS, Mark};
use mpps_method::{Counts, Direction, Disturbance, Trial, Verdict};

const MS: u64 = 1_000_000;

/// A trial of 1 s at 10 kfps from 1 s on. It lost so many frames, and nothing arrived between these ms.
fn beside(lost: u64, gap_ms: [u64; 2]) -> Beside<()> {
    let counts = Counts {
        intended: 10_000,
        sent: 10_000,
        received: 10_000 - lost,
        lost,
        ..Counts::default()
    };
    let [from, to] = gap_ms.map(|ms| (1_000 + ms) * MS);
    Beside {
        marks: vec![
            Mark {
                ns: 1_000 * MS,
                sequence: [0; DIRECTIONS],
            },
            Mark {
                ns: 2_000 * MS,
                sequence: [10_000; DIRECTIONS],
            },
        ],
        trial: Trial {
            offered: Rate::from_fps(10_000.0),
            directions: vec![Direction {
                counts,
                ..Direction::default()
            }],
            ..Trial::default()
        },
        sent_ns: [1_000 * MS, 2_000 * MS],
        received: Received {
            tagged: 10_000 - lost,
            first_ns: 1_000 * MS,
            last_ns: 2_000 * MS,
            gap: Some(Gap {
                from_ns: from,
                to_ns: to,
                before: gap_ms[0] * 10,
            }),
            ..Received::default()
        },
        did: (),
    }
}

fn seen(beside: &Beside<()>) -> Seen {
    Seen::new(beside, [1_250 * MS, 1_270 * MS])
}

#[test]
fn both_methods_tell_the_same_outage() {
    let seen = seen(&beside(1_000, [250, 350]));
    let ms = Span::from_millis;
    assert_eq!((seen.frame_loss, seen.time_stamp), (ms(100), Some(ms(100))));
    assert_eq!(
        (seen.took, seen.rest, seen.is_back),
        (ms(20), ms(750), true)
    );
    assert_eq!(seen.resolution.as_nanos(), 200_000);
    assert_eq!((seen.disagreement(), seen.is_as_before), (None, true));
    assert_eq!(seen.recovery(true), Recovery::After(ms(100)));
    assert_eq!(seen.recovery(false), Recovery::NotMeasured);
}

#[test]
fn loss_outside_the_gap_is_a_disagreement() {
    let seen = seen(&beside(1_400, [250, 350]));
    assert_eq!(seen.disagreement(), Some(Span::from_millis(40)));
    assert!(!seen.is_as_before, "{seen:?}");
}

#[test]
fn slots_left_out_in_the_gap_are_lost_time() {
    let mut paused = beside(900, [250, 350]);
    paused.trial.directions[0].counts.unsent = 150;
    paused.trial.directions[0].counts.sent = 9_850;
    paused.received.tagged = 8_950;
    let mark = |ms: u64, sent: u64| Mark {
        ns: (1_000 + ms) * MS,
        sequence: [sent; DIRECTIONS],
    };
    // The sender paused for 10 ms within the gap, and for 5 ms outside of it.
    paused.marks = [(0, 0), (300, 3_000), (310, 3_000), (500, 4_900)]
        .into_iter()
        .chain([(505, 4_900), (1_000, 9_850)])
        .map(|(ms, sent)| mark(ms, sent))
        .collect();
    let seen = seen(&paused);
    assert_eq!((seen.lost, seen.unsent), (900, 100));
    assert_eq!(seen.frame_loss, Span::from_millis(100));
    assert_eq!(seen.resolution.as_nanos(), 10_200_000);
    assert_eq!((seen.disagreement(), seen.is_as_before), (None, true));
    // Where there is no gap, nobody knows when they were left out.
    paused.received.gap = None;
    let seen = Seen::new(&paused, [1_250 * MS, 1_270 * MS]);
    assert_eq!((seen.unsent, seen.frame_loss.as_nanos()), (0, 90 * MS));
    assert_eq!(seen.resolution.as_nanos(), 15_200_000);
}

#[test]
fn a_pause_elsewhere_is_not_the_resets_loss() {
    let mut paused = beside(1_400, [250, 350]);
    paused.trial.disturbed.lost = Some(600);
    // 1000 frames were sent in the gap, so 400 of those 600 were lost elsewhere.
    let found = seen(&paused);
    assert_eq!((found.lost, found.elsewhere), (1_400, 400));
    assert_eq!(found.frame_loss, Span::from_millis(100));
    paused.received.gap = None;
    let found = seen(&paused);
    assert_eq!(found.elsewhere, 600);
    assert_eq!(found.frame_loss, Span::from_millis(80));
    assert_eq!(found.resolution.as_nanos(), 60_200_000);
}

#[test]
fn without_a_gap_frame_loss_alone_tells_a_time() {
    let mut unseen = beside(1_000, [250, 350]);
    unseen.received.gap = None;
    let seen = seen(&unseen);
    assert_eq!((seen.time_stamp, seen.disagreement()), (None, None));
    assert_eq!(seen.frame_loss, Span::from_millis(100));
}

#[test]
fn a_pause_of_the_machine_is_no_reset_time() {
    let mut paused = beside(600, [250, 310]);
    paused.trial.disturbed.lost = Some(600);
    let around = Recovery::After(Span::from_millis(60));
    assert_eq!(seen(&paused).recovery(true), around);
    paused.received.gap = None;
    assert_eq!(seen(&paused).recovery(true), Recovery::NotMeasured);
}

#[test]
fn a_gap_that_a_pause_fills_is_none_of_the_reset() {
    let mut paused = beside(0, [250, 310]);
    paused.trial.begun = Some(Span::from_millis(1_000));
    let time = |cpu, from, to| Disturbance {
        cpu,
        from: Span::from_millis(from),
        to: Span::from_millis(to),
    };
    // The same 35 of 60 ms on two CPUs.
    paused.trial.stalls = vec![time(0, 240, 285)];
    paused.trial.others = vec![time(1, 250, 285)];
    assert_eq!(seen(&paused).time_stamp, Some(Span::from_millis(60)));
    paused.trial.others.push(time(1, 290, 320));
    let found = seen(&paused);
    assert_eq!((found.time_stamp, found.rates), (None, None));
    // It began before the reset was over.
    assert_eq!(found.recovery(true), Recovery::NotMeasured);
    // Which of the frames lost then the reset lost is not known.
    paused.trial.directions[0].counts.lost = 600;
    paused.trial.disturbed.lost = Some(600);
    assert_eq!(seen(&paused).recovery(true), Recovery::NotMeasured);
}

#[test]
fn silence_to_the_end_is_no_recovery() {
    let mut dead = beside(7_500, [100, 101]);
    dead.received.last_ns = 1_250 * MS;
    assert_eq!(seen(&dead).recovery(true), Recovery::NotRecovered);
    assert_eq!(seen(&dead).recovery(false), Recovery::NotRecovered);
    // Nothing was sent after the reset.
    dead.sent_ns = [0, 0];
    assert_eq!(seen(&dead).recovery(false), Recovery::NotMeasured);
    dead.sent_ns = [1_000 * MS, 2_000 * MS];
    dead.received.last_ns = 1_930 * MS;
    assert!(seen(&dead).is_back);
}

#[test]
fn the_median_needs_every_recovery() {
    let trial = |ms: u64, recovery| ResetTrial {
        tried: RecoveryTrial {
            judged: Judged {
                number: 1,
                trial: Trial::default(),
                verdict: Verdict::Lossless,
            },
            void: 0,
            recovery,
            lost_later: 0,
        },
        seen: Seen {
            frame_loss: Span::from_millis(ms),
            ..Seen::default()
        },
    };
    let median = |last: Recovery| {
        let after = |ms| trial(ms, Recovery::After(Span::from_millis(ms)));
        let part = PartResets {
            part: Part::Link,
            trials: vec![after(30), after(10), after(20), trial(900, last)],
            why: None,
            doubts: Vec::new(),
        };
        part.median(|seen| Some(seen.frame_loss))
    };
    assert_eq!(median(Recovery::NotMeasured), Some(Span::from_millis(20)));
    assert_eq!(median(Recovery::NotRecovered), None);
}
