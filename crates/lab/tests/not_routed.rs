//! Frames that come back, but not as a router sends them on: redirected past routing, copied, reflected, held back.

use crate::support;
use crate::support::trials::{self, BLIND};
use mpps_lab::bed::{Bed, BedPlan};
use mpps_lab::doubt::{Doubt, frame_doubts};
use mpps_lab::tester::{Fault, PlantedFault};
use mpps_lab::traffic::Traffic;
use mpps_lab::trial::probe::probe;
use mpps_method::{Trial, Verdict};

const FRAMES: u64 = 1 << 16;
const SMALL_RING: u32 = 512;

/// A bed with this set-up.
fn bed(setup: &str) -> Bed {
    support::bed_set_up(&support::plan(), setup)
}

/// The same with a ring that a load which any machine sends fills.
fn bed_with_small_ring(setup: &str) -> Bed {
    let plan = BedPlan {
        rx_ring: SMALL_RING,
        ..support::plan()
    };
    support::bed_set_up(&plan, setup)
}

fn redirect(from: &str, how: &str, to: &str) -> String {
    format!(
        "tc qdisc add dev {from} clsact\n\
         tc filter add dev {from} ingress protocol all u32 match u32 0 0 action mirred egress {how} dev {to}\n"
    )
}

fn doubts(trial: &Trial) -> Vec<Doubt> {
    println!("{:?}", trial.counts());
    frame_doubts(
        &[(trial.clone(), Verdict::Lossless)],
        support::plan().rx_ring,
    )
}

/// What is doubted, by name.
fn doubted(trial: &Trial) -> Vec<&'static str> {
    doubts(trial).iter().map(|doubt| doubt.name).collect()
}

#[test]
fn frames_redirected_past_routing_are_named() {
    if !support::can_run() {
        return;
    }
    for ipv6 in [false, true] {
        let traffic = Traffic {
            ipv6,
            frames: trials::frames("78"),
            ..support::traffic()
        };
        let routed = bed(":\n");
        let mut tester = trials::tester(&routed, &traffic, FRAMES);
        let offer = trials::offer(20_000.0, 200);
        let is_wanted = |trial: &Trial| trial.counts().received > 0 && doubts(trial).is_empty();
        let trial = trials::run_until(&mut tester, &offer, is_wanted);
        assert!(is_wanted(&trial), "{:?}", doubts(&trial));
        drop(tester);
        drop(routed);
        let past = bed(&redirect("mB", "redirect", "mC"));
        let mut tester = trials::tester(&past, &traffic, FRAMES);
        probe(&mut tester).expect("frames come through");
        let is_wanted = |trial: &Trial| doubted(trial) == ["not-routed"];
        let trial = trials::run_until(&mut tester, &offer, is_wanted);
        let (looked_at, seen) = (trial.latency.count(), doubts(&trial));
        assert!(is_wanted(&trial), "{seen:?}");
        let all = format!(
            "{looked_at} of {looked_at} examined frames arrived with an unchanged TTL or hop limit"
        );
        assert_eq!(seen[0].seen, all);
    }
}

#[test]
fn copies_of_frames_are_named() {
    if !support::can_run() {
        return;
    }
    let copied = bed(&redirect("mB", "mirror", "mC"));
    let mut tester = trials::tester(&copied, &support::traffic(), FRAMES);
    let trial = trials::run(&mut tester, 20_000.0, 200);
    let verdict = trial.judge(&BLIND).to_string();
    assert!(
        verdict.ends_with(
            "canary frames arrived before the load: something on their way copies frames"
        ),
        "{verdict}"
    );
    let received = trial.counted().received;
    // A CPU that stands still loses copies too.
    let duplicated = trial.counts().duplicated;
    assert!(10 * duplicated > 9 * received, "{duplicated} of {received}");
    let seen = doubts(&trial);
    assert_eq!(seen[0].name, "duplicates", "{seen:?}");
    let all = format!("{duplicated} of {received} frames");
    assert!(seen[0].seen.starts_with(&all), "{seen:?}");
}

/// The copies alone arrive, one a frame, so no count shows that the router forwards nothing.
#[test]
fn copies_of_frames_that_the_router_drops_are_named() {
    if !support::can_run() || !support::has("nft") {
        return;
    }
    let dropped = bed(&(redirect("mB", "mirror", "mC") + &support::forward_rule("drop")));
    let mut tester = trials::tester(&dropped, &support::traffic(), FRAMES);
    let trial = trials::run(&mut tester, 20_000.0, 200);
    let counts = trial.counts();
    assert_eq!(counts.duplicated, 0, "{counts:?}");
    assert!(counts.received > 0, "{counts:?}");
    let seen = doubted(&trial);
    assert!(seen.contains(&"not-routed"), "{seen:?}");
}

#[test]
fn a_port_that_reflects_does_not_pass_both_ways() {
    if !support::can_run() {
        return;
    }
    let reflecting = redirect("mB", "redirect", "mB") + &redirect("mC", "redirect", "mC");
    let reflecting = bed(&reflecting);
    let traffic = Traffic {
        bidirectional: true,
        ..support::traffic()
    };
    let mut tester = trials::tester(&reflecting, &traffic, FRAMES);
    let error = probe(&mut tester).expect_err("nothing is forwarded");
    println!("{error}");
    let trial = trials::run(&mut tester, 20_000.0, 200);
    let counts = trial.counts();
    assert_eq!(counts.received, 0, "{counts:?}");
    assert!(counts.foreign > 0, "{counts:?}");
}

/// Of one flow, one frame in 16 waits in a queue of its own.
#[test]
fn a_flow_that_two_queues_share_is_named() {
    if !support::can_run_on_two_cpus() || !support::has("nft") {
        return;
    }
    // 120 kbit/s are 250 frames of 60 octets a second, and 625 come where the sender keeps up.
    let queues = "tc qdisc add dev mC root handle 1: htb default 1\n\
        tc class add dev mC parent 1: classid 1:1 htb rate 1gbit\n\
        tc class add dev mC parent 1: classid 1:2 htb rate 120kbit burst 1600\n";
    let slower = support::forward_rule("numgen inc mod 16 3 meta priority set 1:2");
    let queued = bed(&format!("set -e\n{queues}{slower}"));
    let mut tester = trials::tester(&queued, &support::traffic(), FRAMES);
    let is_reordered = |trial: &Trial| {
        let counts = trial.counted();
        counts.reordered > 0 && 16 * counts.reordered < 2 * counts.received
    };
    let offer = trials::offer(10_000.0, 300);
    let trial = trials::run_until(&mut tester, &offer, is_reordered);
    let (reordered, received) = (trial.counted().reordered, trial.counted().received);
    assert!(is_reordered(&trial), "{:?}", trial.counted());
    // A CPU that stands still at the end of a trial raises another doubt too.
    let seen = doubts(&trial);
    let some = format!("{reordered} of {received} frames arrived after a later frame");
    assert!(
        seen.iter()
            .any(|doubt| doubt.name == "reordered" && doubt.seen.starts_with(&some)),
        "{seen:?}"
    );
}

#[test]
fn frames_that_come_after_their_trial_are_named() {
    if !support::can_run() {
        return;
    }
    // 4 kbit/s are 8 frames of 60 octets a second: fewer than keep a drain waiting. 34 pass at once.
    let held = bed("tc qdisc add dev mC root tbf rate 4kbit burst 2kb limit 1mb\n");
    let mut tester = trials::tester(&held, &support::traffic(), FRAMES);
    let first = trials::run(&mut tester, 1_000.0, 100);
    assert!(first.counts().lost > 0, "{:?}", first.counts());
    assert_eq!(first.counts().late, 0, "{:?}", first.counts());
    let next = trials::run(&mut tester, 1_000.0, 500);
    let late = next.counts().late;
    assert!(late > 0, "{:?}", next.counts());
    trials::assert_ledger(&next, "frames of an earlier trial");
    let verdict = next.judge(&BLIND);
    println!("{} {verdict}", first.judge(&BLIND));
    assert_ne!(verdict, Verdict::Lossless);
    let seen = doubts(&next);
    let after = format!("{late} frames arrived after the end of their trial");
    assert!(
        seen.iter()
            .any(|doubt| doubt.name == "late" && doubt.seen == after),
        "{seen:?}"
    );
}

#[test]
fn frames_that_a_shaper_holds_count_as_lost() {
    if !support::can_run_on_two_cpus() {
        return;
    }
    // 2 Mbit/s are 4166 frames of 60 octets a second.
    let tbf = "tc qdisc add dev mC root tbf rate 2mbit burst 8kb limit 20mb\n";
    let shaped = bed_with_small_ring(tbf);
    let mut tester = trials::tester(&shaped, &support::traffic(), FRAMES);
    // Where a CPU stands still, the ring loses frames too, or fewer are sent.
    let offer = trials::offer(6_000.0, 1_000);
    let is_held = |trial: &Trial| {
        let (arrived, in_time) = (trial.counted(), trial.counts());
        arrived.lost == 0 && in_time.lost > 1_000 && doubted(trial) == ["queued-behind"]
    };
    let trial = trials::run_until(&mut tester, &offer, is_held);
    assert!(
        is_held(&trial),
        "{:?} {:?}",
        trial.counted(),
        doubts(&trial)
    );
    let verdict = trial.judge(&BLIND);
    assert!(matches!(verdict, Verdict::Lossy { .. }), "{verdict}");
    let offer = trials::offer(2_000.0, 500);
    let within = trials::run_until(&mut tester, &offer, |trial| doubts(trial).is_empty());
    assert_eq!(doubts(&within), []);
}

/// A router of 1 kfps needs 0.5 s for a full ring, and a sender of three times that fills it within 0.3 s.
#[test]
fn frames_that_a_full_ring_holds_are_no_doubt() {
    if !support::can_run_on_two_cpus() {
        return;
    }
    let bed = bed_with_small_ring(":\n");
    let mut tester = trials::tester(&bed, &support::traffic(), FRAMES);
    let slow = Fault::spin(1_000_000);
    let _slow = PlantedFault::plant(slow, &bed, tester.ways()[0]).expect("planted");
    let is_held = |trial: &Trial| trial.ledger().lost_nic_ring > 0 && trial.overdue > 200;
    let offer = trials::offer(20_000.0, 600);
    let raised = |trial: &Trial| frame_doubts(&[(trial.clone(), Verdict::Lossless)], SMALL_RING);
    let is_wanted = |trial: &Trial| is_held(trial) && raised(trial).is_empty();
    let trial = trials::run_until(&mut tester, &offer, is_wanted);
    assert!(is_held(&trial), "{} {:?}", trial.overdue, trial.ledger());
    assert_eq!(raised(&trial), []);
}
