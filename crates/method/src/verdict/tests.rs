use super::*;
use crate::disturbed::{Disturbance, Disturbed};
use crate::histogram::Histogram;
use crate::ledger::{Canaries, Ledger, LedgerGap};
use crate::trial::{CpuGap, CpuSteal, CpuTasks, SizeCount, TaskName};
use crate::units::Rate;

/// A good trial of 1000 frames, of which `lost` are lost in the DUT, both ways.
fn trial(lost: u64) -> Trial {
    let canaries = Canaries {
        sent_frames: 8,
        received_frames: 8,
    };
    let counts = Counts {
        intended: 1000,
        sent: 1000,
        received: 1000 - lost,
        lost,
        ..Counts::default()
    };
    let ledger = Ledger {
        sent: 1016,
        nic_received: 1016,
        nic_accepted: 1016,
        lost_in_dut: lost,
        dut_transmitted: 1016 - lost,
        receiver_total: 1016 - lost,
        opening: canaries,
        closing: canaries,
        ..Ledger::default()
    };
    Trial {
        offered: Rate::from_fps(1000.0),
        duration: Span::from_secs_f64(1.0),
        directions: vec![Direction { counts, ledger }; 2],
        sender_ended: true,
        steal: vec![
            CpuSteal {
                cpu: 0,
                steal_ns: 0,
            },
            CpuSteal {
                cpu: 1,
                steal_ns: 0,
            },
        ],
        gaps: vec![CpuGap {
            cpu: 0,
            longest_ns: 1_000_000,
        }],
        lateness: Histogram::default(),
        ..Trial::default()
    }
}

fn judged(change: impl FnOnce(&mut Trial)) -> Verdict {
    let mut trial = trial(3);
    change(&mut trial);
    trial.judge(&Rules::default())
}

/// Changes the second direction: the first one must not hide it.
fn second(change: impl FnOnce(&mut Counts, &mut Ledger)) -> Verdict {
    judged(|trial| {
        let Direction { counts, ledger } = &mut trial.directions[1];
        change(counts, ledger);
    })
}

#[test]
fn a_good_trial_says_what_was_lost() {
    assert_eq!(trial(0).judge(&Rules::default()), Verdict::Lossless);
    assert_eq!(
        trial(3).judge(&Rules::default()),
        Verdict::Lossy { lost: 6 }
    );
}

#[test]
fn an_empty_trial_is_no_evidence() {
    assert_eq!(
        Trial::default().judge(&Rules::default()),
        Verdict::Invalid(Invalid::NothingSent)
    );
}

#[test]
fn each_doubtful_count_makes_the_trial_invalid() {
    let nothing = second(|counts, ledger| {
        *counts = Counts {
            intended: 1000,
            unsent: 1000,
            ..Counts::default()
        };
        *ledger = Ledger::default();
    });
    assert_eq!(nothing, Verdict::Invalid(Invalid::NothingSent));
    let cut = judged(|trial| trial.sender_ended = false);
    assert_eq!(cut, Verdict::Invalid(Invalid::SenderDidNotEnd));
    let more = second(|counts, _| counts.received = 1001);
    assert_eq!(
        more,
        Verdict::Invalid(Invalid::MoreReceivedThanSent {
            sent: 1000,
            received: 1001
        })
    );
    let beyond = second(|counts, _| counts.beyond = 1);
    assert_eq!(beyond, Verdict::Invalid(Invalid::SequenceBeyond(1)));
    let open = second(|_, ledger| ledger.nic_received += 1);
    assert!(
        matches!(
            open,
            Verdict::Invalid(Invalid::LedgerOpen(LedgerGap { frames: -1, .. }))
        ),
        "{open}"
    );
    let size = |sent, received| SizeCount {
        frame_octets: 64,
        sent_frames: sent,
        received_frames: received,
    };
    assert_eq!(
        judged(|trial| trial.per_size = vec![size(2000, 1994)]),
        Verdict::Lossy { lost: 6 }
    );
    let sizes = judged(|trial| trial.per_size = vec![size(2000, 1995)]);
    assert_eq!(
        sizes.to_string(),
        "invalid: the frames by size add up to 2000 sent and 1995 received, but 2000 and 1994 were counted"
    );
}

#[test]
fn canaries_have_to_arrive_at_both_ends() {
    for (moment, closing) in [(Moment::Opening, false), (Moment::Closing, true)] {
        let with = |sent, received| {
            second(|_, ledger| {
                *(if closing {
                    &mut ledger.closing
                } else {
                    &mut ledger.opening
                }) = Canaries {
                    sent_frames: sent,
                    received_frames: received,
                };
            })
        };
        for (sent, received) in [(8, 0), (0, 0), (8, 9)] {
            assert_eq!(
                with(sent, received),
                Verdict::Invalid(Invalid::CanaryMissing {
                    moment,
                    sent,
                    received
                })
            );
        }
    }
    // One of eight is enough: a DUT that loses frames at any load can still be measured.
    let one = second(|_, ledger| {
        ledger.opening.received_frames = 1;
        ledger.dut_transmitted -= 7;
        ledger.receiver_total -= 7;
        ledger.lost_in_dut += 7;
    });
    assert_eq!(one, Verdict::Lossy { lost: 6 });
}

#[test]
fn the_machine_voids_lossless_and_lossy_trials_alike() {
    let rules = Rules::default();
    for lost in [0, 3] {
        let mut stolen = trial(lost);
        stolen.steal[1].steal_ns = 20_000_000;
        assert!(
            !matches!(stolen.judge(&rules), Verdict::Void(_)),
            "at the bound"
        );
        stolen.steal[1].steal_ns = 30_000_000;
        let void = Void::Steal {
            cpu: 1,
            share: 0.03,
            bound: 0.02,
        };
        assert_eq!(stolen.judge(&rules), Verdict::Void(void));
        assert_eq!(void.to_string(), "3.0 % of CPU 1 was stolen (bound 2.0 %)");

        // A slow CPU is not a stolen one.
        stolen.slow = vec![stall(1, 100, 115)];
        assert_eq!(stolen.judge(&rules), Verdict::Void(void));

        // Stalls that the watch saw are taken out of the trial; only what it did not see is left.
        stolen.stalls = vec![stall(1, 100, 115)];
        assert!(!matches!(stolen.judge(&rules), Verdict::Void(_)));

        let mut stalled = trial(lost);
        stalled.gaps[0].longest_ns = 80_000_000;
        stalled.disturbed.time = Span::from_millis(500);
        stalled.disturbed.lost = Some(0);
        assert!(
            !matches!(stalled.judge(&rules), Verdict::Void(_)),
            "at the bound"
        );
        stalled.disturbed.time = Span::from_millis(510);
        assert_eq!(
            stalled.judge(&rules).to_string(),
            "void: 51 % of the trial was disturbed (bound 50 %): CPU 0 stood still or was slow for up to 80 ms"
        );
        stalled.gaps.push(CpuGap {
            cpu: 1,
            longest_ns: 1_000_000,
        });
        stalled.slow = vec![stall(1, 100, 220)];
        let said = stalled.judge(&rules).to_string();
        assert!(
            said.ends_with("CPU 1 stood still or was slow for up to 120 ms"),
            "{said}"
        );

        let mut cpu_use = trial(lost);
        cpu_use.other_tasks = vec![CpuTasks {
            cpu: 1,
            longest: Span::from_millis(15),
            total: Span::from_millis(70),
            culprit: TaskName(*b"make\0\0\0\0\0\0\0\0\0\0\0\0"),
        }];
        assert_eq!(
            cpu_use.judge(&rules).to_string(),
            "void: other programs (make) had 7.0 % of CPU 1 in short turns (bound 5.0 %)"
        );
        cpu_use.others = vec![stall(1, 5, 20), stall(1, 30, 35)];
        assert!(!matches!(cpu_use.judge(&rules), Verdict::Void(_)));

        // What took more of the time names the disturbances, however long one of them was.
        cpu_use.disturbed.time = Span::from_millis(510);
        cpu_use.others = vec![stall(1, 5, 20), stall(1, 30, 45)];
        let mut said_of = |slow: &[(u64, u64)]| {
            cpu_use.slow = slow.iter().map(|&(from, to)| stall(0, from, to)).collect();
            cpu_use.judge(&rules).to_string()
        };
        let program = said_of(&[(100, 123)]);
        assert!(
            program.ends_with("another program (make) had CPU 1 for up to 15 ms"),
            "{program}"
        );
        let slow = said_of(&[(100, 111), (120, 140)]);
        assert!(
            slow.ends_with("CPU 0 stood still or was slow for up to 20 ms"),
            "{slow}"
        );
    }
}

fn stall(cpu: usize, from: u64, to: u64) -> Disturbance {
    Disturbance {
        cpu,
        from: Span::from_millis(from),
        to: Span::from_millis(to),
    }
}

#[test]
fn what_fell_into_disturbances_counts_for_nothing() {
    let rules = Rules::default();
    let disturbed = |lost, unsent| Disturbed {
        times: 2,
        time: Span::from_millis(20),
        sent: 40,
        unsent,
        lost,
    };
    // All six frames lost then: lossless, though no throughput in RFC 2544's sense.
    let mut all_then = trial(3);
    all_then.disturbed = disturbed(Some(6), 0);
    assert_eq!(all_then.judge(&rules), Verdict::Lossless);
    assert_eq!(
        (all_then.lost_at_dut(), all_then.loss_ratio()),
        (0, Some(0.0))
    );
    all_then.duration = Span::from_millis(60_000);
    assert_eq!(
        crate::Throughput::from_trial(&all_then, &rules),
        Err(crate::claim::NotThroughput::Disturbed { lost: 6, unsent: 0 })
    );
    // Nor where more stayed unsent then than a trial may leave.
    let mut unsent_then = trial(0);
    unsent_then.duration = Span::from_millis(60_000);
    unsent(&mut unsent_then, 10);
    unsent_then.disturbed = disturbed(Some(0), 20);
    assert!(matches!(
        crate::Throughput::from_trial(&unsent_then, &rules),
        Err(crate::claim::NotThroughput::Disturbed {
            lost: 0,
            unsent: 20
        })
    ));
    // Two of them outside.
    let mut two_left = trial(3);
    two_left.disturbed = disturbed(Some(4), 0);
    assert_eq!(two_left.judge(&rules), Verdict::Lossy { lost: 2 });
    assert_eq!(two_left.loss_ratio(), Some(2.0 / 1_960.0));
    let counts = two_left.undisturbed();
    assert_eq!(
        (counts.sent, counts.received, counts.lost),
        (1_960, 1_958, 2)
    );
    // Nobody knows when they were lost.
    let mut unplaced = trial(3);
    unplaced.disturbed = disturbed(None, 0);
    assert_eq!(
        unplaced.judge(&rules),
        Verdict::Lossy { lost: 6 },
        "nobody knows when: they count"
    );
    let mut lossless = trial(0);
    lossless.disturbed = disturbed(None, 0);
    assert_eq!(lossless.judge(&rules), Verdict::Lossless);
    // What stayed unsent then is no shortfall; half of it belongs to each direction.
    let mut paused = trial(0);
    unsent(&mut paused, 10);
    assert!(matches!(paused.judge(&rules), Verdict::NotOffered(_)));
    paused.disturbed = disturbed(Some(0), 20);
    assert_eq!(paused.judge(&rules), Verdict::Lossless);
}

/// The tester's losses have no time: only what is more than those is the DUT's for certain.
#[test]
fn certain_loss_outside_disturbances_is_the_duts() {
    let mut both = trial(3);
    tester_loses(&mut both, 0, 5);
    let lost_then = |lost| Disturbed {
        times: 1,
        time: Span::from_millis(20),
        lost: Some(lost),
        ..Disturbed::default()
    };
    let rules = Rules::default();
    for (lost, verdict) in [
        (0, Verdict::Lossy { lost: 6 }),
        (4, Verdict::Lossy { lost: 2 }),
        (7, Verdict::NotOffered(Shortfall::LostAtReceiver(5))),
        (11, Verdict::Lossless),
    ] {
        both.disturbed = lost_then(lost);
        assert_eq!(both.judge(&rules), verdict, "{lost}");
    }
}

/// Leaves so many frames of the second direction unsent.
fn unsent(trial: &mut Trial, frames: u64) {
    let Direction { counts, ledger } = &mut trial.directions[1];
    counts.unsent += frames;
    counts.sent -= frames;
    counts.received -= frames;
    ledger.sent -= frames;
    ledger.nic_received -= frames;
    ledger.nic_accepted -= frames;
    ledger.dut_transmitted -= frames;
    ledger.receiver_total -= frames;
}

/// The tester loses so many frames of the second direction: before the NIC, and at its receiver.
fn tester_loses(trial: &mut Trial, before: u64, behind: u64) {
    let Direction { counts, ledger } = &mut trial.directions[1];
    counts.lost += before + behind;
    counts.received -= before + behind;
    ledger.lost_before_nic = before;
    ledger.nic_received -= before;
    ledger.nic_accepted -= before;
    ledger.dut_transmitted -= before;
    ledger.lost_receiver_ring = behind;
    ledger.receiver_total -= before + behind;
}

#[test]
fn not_offered_needs_a_dut_that_lost_nothing() {
    type Change = fn(&mut Trial);
    let changes: [(Change, Shortfall); 3] = [
        (
            |trial| unsent(trial, 2),
            Shortfall::UnsentAboveBound {
                unsent: 2,
                intended: 1000,
            },
        ),
        (
            |trial| tester_loses(trial, 2, 0),
            Shortfall::LostBeforeNic(2),
        ),
        (
            |trial| tester_loses(trial, 0, 3),
            Shortfall::LostAtReceiver(3),
        ),
    ];
    for (change, shortfall) in changes {
        let judged = |lost| {
            let mut trial = trial(lost);
            change(&mut trial);
            trial.judge(&Rules::default())
        };
        assert_eq!(judged(0), Verdict::NotOffered(shortfall));
        // The tester's own loss is none of the DUT's.
        assert_eq!(judged(1), Verdict::Lossy { lost: 2 });
    }
    let mut within = trial(0);
    unsent(&mut within, 1);
    assert_eq!(within.judge(&Rules::default()), Verdict::Lossless);
}

/// As recorded: half of the load lost at the ring of a router without time left, and 73 frames at the receiver.
#[test]
fn loss_of_the_dut_counts_whatever_the_tester_lost() {
    let canaries = Canaries {
        sent_frames: 8,
        received_frames: 8,
    };
    let (sent, at_ring, behind) = (673_800, 329_044, 73);
    let received = sent - at_ring - behind;
    let counts = Counts {
        intended: sent,
        sent,
        received,
        lost: at_ring + behind,
        ..Counts::default()
    };
    let ledger = Ledger {
        sent: sent + 16,
        nic_received: sent + 16,
        lost_nic_ring: at_ring,
        nic_accepted: sent + 16 - at_ring,
        dut_transmitted: sent + 16 - at_ring,
        lost_receiver_ring: behind,
        receiver_total: received + 16,
        opening: canaries,
        closing: canaries,
        ..Ledger::default()
    };
    let mut trial = trial(0);
    trial.directions = vec![Direction { counts, ledger }];
    assert_eq!(
        trial.judge(&Rules::default()),
        Verdict::Lossy { lost: 329_044 }
    );
    let ratio = trial.loss_ratio().unwrap();
    assert!((ratio - 329_044.0 / 673_800.0).abs() < 1e-12);
    // The same around a device of somebody else's: what its ports did not lose, it did.
    trial.directions[0].ledger.device_unknown = true;
    assert!(matches!(
        trial.judge(&Rules::default()),
        Verdict::Lossy { lost: 329_044 }
    ));
}

#[test]
fn loss_ratio_is_of_what_reached_the_nic() {
    let mut trial = trial(100);
    tester_loses(&mut trial, 500, 0);
    assert_eq!(trial.judge(&Rules::default()), Verdict::Lossy { lost: 200 });
    assert_eq!(trial.loss_ratio(), Some(200.0 / 1_500.0));
}

#[test]
fn a_trial_with_another_load_cannot_count() {
    let rules = Rules::default();
    assert!(!rules.cannot_count(&[(0, 1_000), (50, 1_000)]));
    assert!(rules.cannot_count(&[(0, 1_000), (51, 1_000)]));
}

#[test]
fn steal_is_a_share_of_the_trial_that_was_asked_for() {
    let mut trial = trial(0);
    trial.steal[0].steal_ns = 10_000_000;
    trial.duration = Span::from_millis(100);
    assert!(matches!(
        trial.judge(&Rules::default()),
        Verdict::Void(Void::Steal { .. })
    ));
    trial.cut_short_from = Some(Span::from_millis(1_000));
    // And where nothing explains it, it is no evidence.
    let no_end = Verdict::Invalid(Invalid::SenderDidNotEnd);
    assert_eq!(trial.judge(&Rules::default()), no_end);
}

#[test]
fn the_order_is_void_invalid_lossy_not_offered() {
    let mut all = trial(3);
    all.sender_ended = false;
    all.disturbed.time = Span::from_millis(900);
    tester_loses(&mut all, 0, 3);
    let rules = Rules::default();
    assert!(matches!(all.judge(&rules), Verdict::Void(_)));
    all.disturbed.time = Span::ZERO;
    assert!(matches!(all.judge(&rules), Verdict::Invalid(_)));
    all.sender_ended = true;
    assert_eq!(all.judge(&rules), Verdict::Lossy { lost: 6 });
    let mut lossless = trial(0);
    tester_loses(&mut lossless, 0, 3);
    assert!(matches!(lossless.judge(&rules), Verdict::NotOffered(_)));
}

/// "Nothing was sent" in a trial of which the hypervisor took 140 ms is the machine's doing.
#[test]
fn stolen_time_is_called_that_when_nothing_was_sent() {
    let mut trial = trial(0);
    for way in &mut trial.directions {
        way.counts = Counts {
            intended: 1000,
            unsent: 1000,
            ..Counts::default()
        };
        way.ledger = Ledger::default();
    }
    let rules = Rules::default();
    let nothing = Verdict::Invalid(Invalid::NothingSent);
    assert_eq!(trial.judge(&rules), nothing);
    trial.steal[1].steal_ns = 140_000_000;
    assert!(matches!(
        trial.judge(&rules),
        Verdict::Void(Void::Steal { cpu: 1, .. })
    ));
}

#[test]
fn every_reason_is_one_line() {
    let gap = LedgerGap {
        between: "sent",
        and: "received + lost",
        frames: 2,
    };
    let lines = [
        Invalid::NothingSent.to_string(),
        Invalid::SenderDidNotEnd.to_string(),
        Invalid::MoreReceivedThanSent {
            sent: 1,
            received: 2,
        }
        .to_string(),
        Invalid::SequenceBeyond(2).to_string(),
        Invalid::CanaryMissing {
            moment: Moment::Closing,
            sent: 8,
            received: 0,
        }
        .to_string(),
        Invalid::LedgerOpen(gap).to_string(),
        Shortfall::UnsentAboveBound {
            unsent: 2,
            intended: 1000,
        }
        .to_string(),
        Shortfall::LostBeforeNic(1).to_string(),
        Shortfall::LostAtReceiver(1).to_string(),
    ];
    assert_eq!(
        lines,
        [
            "nothing was sent",
            "the sender was cut short",
            "2 frames received of 1 sent",
            "2 frames received with a sequence number that was not sent",
            "0 of 8 canary frames arrived after the load",
            "the loss ledger is open: +2 frames between [sent] and [received + lost]",
            "the tester left 2 of 1000 frames unsent (0.20 %)",
            "the tester lost 1 frames before the virtual NIC",
            "the tester lost 1 frames at its receiver",
        ]
    );
}

#[test]
fn programs_that_take_turns_void_by_their_sum() {
    let beside = |longest: u64, total: u64, router: bool| {
        judged(|trial| {
            let tasks = CpuTasks {
                cpu: 1,
                longest: Span::from_millis(longest),
                total: Span::from_millis(total),
                ..CpuTasks::default()
            };
            if router {
                trial.dut_tasks.push(tasks);
            } else {
                trial.other_tasks.push(tasks);
            }
        })
    };
    assert!(matches!(beside(4, 40, false), Verdict::Lossy { .. }));
    let void = beside(4, 225, false);
    assert_eq!(
        void.to_string(),
        "void: other programs () had 22.5 % of CPU 1 in short turns (bound 5.0 %)"
    );
    // What the router does to itself is what it does.
    assert!(matches!(beside(400, 900, true), Verdict::Lossy { .. }));
}
