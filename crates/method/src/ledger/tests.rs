use super::*;

/// A trial with something at every station: 1000 sent, 5 lost on the way to the NIC, 20 in its
/// ring, 10 in the DUT, 3 at the receiver; 2 frames doubled, 1 foreign, 4 late; 8 canaries each.
fn closed() -> (Ledger, Counts) {
    let counts = Counts {
        intended: 1010,
        sent: 1000,
        unsent: 10,
        received: 962,
        lost: 38,
        duplicated: 2,
        reordered: 7,
        foreign: 1,
        late: 4,
        beyond: 0,
        not_lowered: 0,
        merged: 0,
        unrouted: 0,
    };
    let canaries = Canaries {
        sent_frames: 8,
        received_frames: 8,
    };
    let mut ledger = Ledger {
        device_unknown: false,
        sent: 1016,
        lost_before_nic: 5,
        nic_received: 1011,
        lost_nic_ring: 20,
        nic_accepted: 991,
        lost_in_dut: 0,
        dut_transmitted: 988,
        lost_receiver_ring: 3,
        passed_exit: 0,
        receiver_total: 985,
        opening: canaries,
        closing: canaries,
    };
    ledger.infer_lost_in_dut(&counts);
    (ledger, counts)
}

#[test]
fn a_trial_with_loss_everywhere_closes() {
    let (ledger, counts) = closed();
    assert_eq!(ledger.lost_in_dut, 10);
    assert_eq!(ledger.close(&counts), Ok(()));
    let places = ledger.lost_before_nic
        + ledger.lost_nic_ring
        + ledger.lost_in_dut
        + ledger.lost_receiver_ring;
    assert_eq!(counts.sent, places + counts.received);
    assert_eq!(Ledger::default().close(&Counts::default()), Ok(()));
}

#[test]
fn a_lost_canary_is_found_among_the_losses() {
    let (mut ledger, counts) = closed();
    ledger.closing.received_frames = 7;
    ledger.receiver_total -= 1;
    ledger.dut_transmitted -= 1;
    ledger.infer_lost_in_dut(&counts);
    assert_eq!(ledger.lost_in_dut, 11);
    assert_eq!(ledger.close(&counts), Ok(()));
}

type Change = fn(&mut Ledger, &mut Counts);

/// One frame wrong at each station, with everything else kept consistent, opens exactly the
/// identity that holds that station: (change, left side, right side, frames).
const TRIPS: [(Change, &str, &str, i64); 12] = [
    (|_, c| c.intended += 1, "intended", "sent + unsent", 1),
    (|_, c| c.unsent += 1, "intended", "sent + unsent", -1),
    (|_, c| c.lost -= 1, "sent", "received + unrouted + lost", 1),
    (
        |l, _| l.sent += 1,
        "frames handed to the port",
        "sent + canaries sent",
        1,
    ),
    (
        |l, _| {
            l.opening.sent_frames += 1;
        },
        "frames handed to the port",
        "sent + canaries sent",
        -1,
    ),
    (
        |l, _| l.lost_before_nic -= 1,
        "frames handed to the port",
        "lost before the NIC + received by the NIC",
        1,
    ),
    (
        |l, _| l.lost_nic_ring += 1,
        "received by the NIC",
        "lost in its ring + accepted",
        -1,
    ),
    (
        |l, _| l.lost_in_dut -= 1,
        "accepted + made in the DUT (duplicated, foreign, late, beyond)",
        "lost in the DUT + unrouted + transmitted by it",
        1,
    ),
    (
        |l, _| l.lost_receiver_ring = 0,
        "transmitted by the DUT",
        "lost in the receiver's ring + past the exit + seen by the receiver",
        3,
    ),
    (
        |l, _| l.passed_exit += 1,
        "transmitted by the DUT",
        "lost in the receiver's ring + past the exit + seen by the receiver",
        -1,
    ),
    (
        |l, _| l.closing.received_frames -= 1,
        "seen by the receiver",
        "received + duplicated + foreign + late + beyond + canaries received",
        1,
    ),
    (
        // A frame counted both as received and as lost elsewhere: sums of the tester alone still agree.
        |_, c| {
            c.received += 1;
            c.lost -= 1;
        },
        "seen by the receiver",
        "received + duplicated + foreign + late + beyond + canaries received",
        -1,
    ),
];

#[test]
fn one_wrong_frame_opens_the_ledger_at_its_place() {
    for (change, between, and, frames) in TRIPS {
        let (mut ledger, mut counts) = closed();
        change(&mut ledger, &mut counts);
        assert_eq!(
            ledger.close(&counts),
            Err(LedgerGap {
                between,
                and,
                frames
            })
        );
    }
}

/// A frame more at every single count that takes part.
const ONE_MORE: [Change; 22] = [
    |_, c| c.intended += 1,
    |_, c| c.sent += 1,
    |_, c| c.unsent += 1,
    |_, c| c.received += 1,
    |_, c| c.lost += 1,
    |_, c| c.duplicated += 1,
    |_, c| c.foreign += 1,
    |_, c| c.late += 1,
    |_, c| c.beyond += 1,
    |l, _| l.sent += 1,
    |l, _| l.lost_before_nic += 1,
    |l, _| l.nic_received += 1,
    |l, _| l.lost_nic_ring += 1,
    |l, _| l.nic_accepted += 1,
    |l, _| l.lost_in_dut += 1,
    |l, _| l.dut_transmitted += 1,
    |l, _| l.lost_receiver_ring += 1,
    |l, _| l.receiver_total += 1,
    |l, _| l.opening.sent_frames += 1,
    |l, _| l.opening.received_frames += 1,
    |l, _| l.closing.sent_frames += 1,
    |l, _| l.closing.received_frames += 1,
];

#[test]
fn no_single_count_can_be_one_off() {
    for (place, change) in ONE_MORE.iter().enumerate() {
        let (mut ledger, mut counts) = closed();
        change(&mut ledger, &mut counts);
        assert!(ledger.close(&counts).is_err(), "place {place}");
    }
}

#[test]
fn a_dut_that_sends_too_much_opens_the_ledger() {
    let (mut ledger, counts) = closed();
    ledger.dut_transmitted += 20;
    ledger.receiver_total += 20;
    ledger.infer_lost_in_dut(&counts);
    assert_eq!(ledger.lost_in_dut, 0);
    let gap = ledger.close(&counts).unwrap_err();
    assert_eq!(
        (gap.and, gap.frames),
        ("lost in the DUT + unrouted + transmitted by it", -10)
    );
    assert_eq!(
        gap.to_string(),
        "-10 frames between [accepted + made in the DUT (duplicated, foreign, late, beyond)] \
         and [lost in the DUT + unrouted + transmitted by it]"
    );
}

#[test]
fn sums_at_the_ends_of_u64_do_not_wrap() {
    let counts = Counts {
        intended: 0,
        sent: u64::MAX,
        unsent: 1,
        ..Counts::default()
    };
    let gap = Ledger::default().close(&counts).unwrap_err();
    assert_eq!(gap.frames, i64::MIN);
}
