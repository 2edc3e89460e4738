//! Frames that leave the router and find no room in the receiver's port. Bursts longer than its 256 slots are no loss of the
//! router's; frames over its MTU are.

use crate::support;
use crate::support::PortsOfBed as _;
use crate::support::trials::{self, BLIND};
use mpps_lab::bed::{Bed, BedPlan, CpuSplit, Side};
use mpps_lab::clock::wait_for;
use mpps_lab::traffic::Traffic;
use mpps_lab::trial;
use mpps_linux::links;
use mpps_method::{Shortfall, Trial, Verdict};
use std::process::Command;

const MS: u64 = 1_000_000;
/// Frames that the shaper holds when it is opened.
const HELD: u64 = 2_000;

/// A router may send what the next link cannot carry. Every other frame here is so long.
#[test]
fn frames_over_the_next_mtu_are_the_routers_loss() {
    if !support::can_run() {
        return;
    }
    let bed = support::bed();
    let traffic = Traffic {
        frames: trials::frames("mix:64=1,1518=1"),
        ..support::traffic()
    };
    let mut tester = trials::tester(&bed, &traffic, 1 << 16);
    let next = bed.port(Side::D);
    let shortened = next.netns.run(|| links::set_mtu(&next.name, 1_000));
    shortened.expect("namespace").expect("MTU");
    let no_other = |trial: &Trial| {
        let ledger = trial.ledger();
        ledger.lost_before_nic + ledger.lost_nic_ring + ledger.lost_receiver_ring == 0
    };
    let trial = trials::run_until(&mut tester, &trials::offer(20_000.0, 200), no_other);
    let (ledger, counts) = (trial.ledger(), trial.counts());
    println!("{}: {ledger:?}", trial.judge(&BLIND));
    trials::assert_ledger(&trial, "over the MTU");
    assert!(no_other(&trial), "{ledger:?}");
    let long = trial.per_size.iter().find(|size| size.frame_octets == 1518);
    let long = long.expect("the size").sent_frames;
    assert!(long > 0);
    assert_eq!(counts.lost, long);
    let verdict = trial.judge(&BLIND);
    assert!(matches!(verdict, Verdict::Lossy { .. }), "{verdict}");
}

/// What `tc` of the router's says.
fn tc(bed: &Bed, words: &str) -> String {
    let run = || Command::new("tc").args(words.split(' ')).output();
    let ended = bed.netns(Side::B).run(run).expect("namespace");
    let ended = ended.expect("tc of iproute2");
    assert!(ended.status.success(), "{words}: {ended:?}");
    String::from_utf8(ended.stdout).expect("UTF-8")
}

/// Frames in the queue of the router's outgoing port: `backlog 90Kb 1500p`.
fn held(bed: &Bed) -> u64 {
    let told = tc(bed, "-s qdisc show dev mC");
    let mut words = told.split_whitespace();
    let frames = words.find_map(|word| word.strip_suffix('p')?.parse().ok());
    frames.expect("a backlog")
}

/// A trial in which a shaper first holds frames, and then sends all of them at once.
fn shaped(bed: &Bed, how: &str) -> Trial {
    // 34 frames pass at once: the canaries before the load.
    let closed = "root tbf rate 4kbit burst 2kb limit 20mb";
    tc(bed, &format!("qdisc {how} dev mC {closed}"));
    let mut tester = trials::tester(bed, &support::traffic(), 1 << 20);
    let offer = trials::offer(20_000.0, 500);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let full = wait_for(10_000 * MS, MS, || Ok::<_, ()>(held(bed) >= HELD));
            assert_eq!(full, Ok(true), "the shaper holds too few");
            tc(
                bed,
                "qdisc change dev mC root tbf rate 10gbit burst 2mb limit 20mb",
            );
        });
        trial::run(&mut tester, &offer).unwrap_or_else(|error| panic!("trial: {error}"))
    })
}

/// Whether a frame was held for so long.
fn has_waited(trial: &Trial, ms: u64) -> bool {
    let longest = trial.latency.quantile(1.0);
    longest.is_some_and(|longest| longest.as_nanos() > ms * MS)
}

#[test]
fn a_shapers_burst_is_no_loss_of_the_routers() {
    if !support::can_run_on_two_cpus() {
        return;
    }
    let usual = support::plan();
    let one = vec![usual.cpus.dut[0]];
    let shared = CpuSplit {
        dut: one.clone(),
        tester: one,
    };
    for cpus in [usual.cpus.clone(), shared] {
        let plan = BedPlan {
            cpus,
            ..usual.clone()
        };
        let bed = Bed::raise(&plan).unwrap_or_else(|error| panic!("{error}"));
        let mut how = "add";
        let fits = trials::tries().any(|_| {
            let trial = shaped(&bed, how);
            how = "change";
            let (ledger, verdict) = (trial.ledger(), trial.judge(&BLIND));
            println!("{verdict}: {ledger:?}");
            trials::assert_ledger(&trial, "a shaper");
            assert_eq!(ledger.lost_in_dut, 0);
            let (before, behind) = (ledger.lost_before_nic, ledger.lost_receiver_ring);
            if behind > 0 && before + ledger.lost_nic_ring == 0 {
                let not_offered = Verdict::NotOffered(Shortfall::LostAtReceiver(behind));
                assert_eq!(verdict, not_offered);
            }
            has_waited(&trial, 50) && trial.counts().lost == 0
        });
        assert!(fits, "lost each time on {:?}", plan.cpus);
    }
}

#[test]
fn a_stalled_routers_burst_fits_the_receivers_port() {
    if !support::can_run_on_two_cpus() {
        return;
    }
    let bed = support::bed();
    let dut = bed.plan().cpus.dut[0];
    let mut tester = trials::tester(&bed, &support::traffic(), 1 << 20);
    // 30 ms of 50 kfps are 1500 frames, and the ring has 4096 slots.
    let offer = trials::offer(50_000.0, 700);
    let passed = trials::tries().any(|_| {
        let trial = support::hogged_by_router(&mut tester, dut, 30 * MS, &offer);
        trials::assert_ledger(&trial, "a stall");
        println!("{}: {:?}", trial.judge(&BLIND), trial.ledger());
        has_waited(&trial, 25) && trial.counts().lost == 0
    });
    assert!(passed, "lost each time");
}
