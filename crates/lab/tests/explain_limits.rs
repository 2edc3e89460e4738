//! What limits a router, planted on a bed: `mpps explain` names it, with the evidence. Needs root and perf events.

use crate::support;
use crate::support::PortsOfBed as _;
use crate::support::printed::Printed;
use mpps_lab::bed::{Bed, BedPlan, CpuSplit, Side};
use mpps_lab::jobs::JobError;
use mpps_lab::jobs::explain::{self, ExplainPlan};
use mpps_lab::jobs::fixed_load::{FixedLoadPlan, Load};
use mpps_lab::tester::PortKind;
use mpps_lab::traffic::Traffic;
use mpps_linux::cpu;
use mpps_method::Span;
use mpps_record::{Drops, Evidence, LimitedBy, ProfileLine};
use std::io::Write as _;
use std::process::{Command, Stdio};

/// Tries for a restless machine.
const TRIES: u32 = 4;
/// A CPU that is at least so busy has no time left.
const BUSY: f64 = 0.95;
/// A router that forwards all of what is offered forwards more than this share in a window outside of pauses.
const ALL: f64 = 0.97;
/// A smaller share of drops is no limit.
const FEW: f64 = 0.005;
/// Places of drops, as a record has them.
const RING: &str = "virtual NIC's ring";
const ROUTER: &str = "router";
/// Limits that are no place of drops.
const TESTER: &str = "tester";
const CPU: &str = "CPU";

/// Each of these rules takes a lock, the same on all CPUs.
const LOCKS: &str = "nft -f - <<EOF\ntable ip planted {\nchain forward {\n\
    type filter hook forward priority 0;\n\
    $(for n in $(seq 100); do echo 'limit rate over 1000000000/second drop'; done)\n}\n}\nEOF\n";

/// The profile of a router for which this limit is planted. `None`: the machine disturbed it each time.
fn limited(
    bed: &Bed,
    traffic: &Traffic,
    planted: &str,
    (limit, sentence): (LimitedBy, &str),
) -> Option<ProfileLine> {
    for _ in 0..TRIES {
        let line = explained(bed, traffic)?;
        let text = line.limit_text.as_deref().expect("a sentence");
        println!("{text}");
        if text.starts_with(sentence) && line.limited_by.as_ref() == Some(&limit) {
            return Some(line);
        }
        if planted != CPU && line.loads[0].busy_share >= BUSY {
            support::skip!("a CPU that this limit leaves time");
        }
        assert!(
            is_disturbed(&line, planted),
            "{sentence}: {:?}, {text}\n{:?}",
            line.limited_by,
            line.evidence
        );
    }
    support::skip!("a quieter machine");
}

fn explained(bed: &Bed, traffic: &Traffic) -> Option<ProfileLine> {
    let plan = ExplainPlan {
        offer: FixedLoadPlan {
            sizes: vec![support::trials::frames("64")],
            traffic: traffic.clone(),
            port: None,
            loads: vec![Load::Max],
            time: Span::from_millis(120),
            trials: 1,
            wire: false,
            receiver: None,
        },
        burn_ns: None,
    };
    let mut kept = Printed::<ProfileLine>::new();
    match explain::measure(bed, &plan, &mut kept) {
        None => kept.0.pop(),
        Some(JobError::NoSamples { .. }) => support::skip!("a quieter machine"),
        Some(error) => panic!("{error}"),
    }
}

fn evidence(line: &ProfileLine) -> &Evidence {
    line.evidence.as_ref().expect("evidence")
}

fn dropped(line: &ProfileLine, place: &str) -> u64 {
    let drops = evidence(line).drops.iter();
    drops
        .filter(|one| one.place == place)
        .map(|one| one.frames)
        .sum()
}

fn is_void(line: &ProfileLine) -> bool {
    line.doubts.iter().any(|one| one.name == "voided")
}

/// Trials were void. Or a router with time left lost frames at its ring, and its own drops are fewer: its CPU was taken away
/// for a while. A planted ring loses them on any machine.
fn is_disturbed(line: &ProfileLine, planted: &str) -> bool {
    let has_time = line.loads[0].busy_share < BUSY;
    let at_ring = planted != RING && has_time && dropped(line, RING) > dropped(line, ROUTER);
    // A tester that paused offered hardly more than the router takes.
    let own = evidence(line).drops.iter();
    let mut own = own.filter(|one| one.place == ROUTER);
    let are_few = own.any(|one| one.frames > 0 && one.share < FEW);
    is_void(line) || at_ring || (planted == ROUTER && are_few)
}

/// Whether a script in the router's namespace did its work.
fn sets(bed: &Bed, script: &str) -> bool {
    let router = bed.dut().netns().expect("a router of ours");
    let run = || Command::new("sh").args(["-ec", script]).status();
    let ended = router.run(run).expect("the namespace");
    ended.is_ok_and(|status| status.success())
}

/// The reason of most of the router's own drops.
fn reason(line: &ProfileLine) -> &str {
    let own = evidence(line)
        .drops
        .iter()
        .filter(|one| one.place == ROUTER);
    let most: &Drops = own.max_by_key(|one| one.frames).expect("drops");
    most.reason.as_deref().expect("the kernel's reason")
}

/// Where the router's own drops are planted, sampled trials that lost most at the ring, in pauses, are none of that limit.
fn assert_no_prediction(line: &ProfileLine, planted: &str) {
    if planted == ROUTER && is_disturbed(line, planted) {
        return;
    }
    let why = line.no_model.as_deref().expect("no model");
    assert!(why.contains("CPU was not the limit"), "{why}");
    let is_doubted = line.doubts.iter().any(|one| one.name == "not-saturated");
    assert!(is_doubted, "{:?}", line.doubts);
}

#[test]
fn a_short_ring_is_the_limit() {
    if !support::can_run_on_two_cpus() {
        return;
    }
    let plan = BedPlan {
        rx_ring: 8,
        ..support::plan()
    };
    let bed = Bed::raise(&plan).unwrap_or_else(|error| panic!("raise: {error}"));
    let ring = "The virtual NIC's ring is the limit: it dropped ";
    let limit = (LimitedBy::Disturbed, ring);
    let Some(line) = limited(&bed, &support::traffic(), RING, limit) else {
        return;
    };
    assert!(line.loads[0].busy_share < BUSY, "{line:?}");
    assert!(dropped(&line, RING) > 0, "{:?}", evidence(&line));
    assert_no_prediction(&line, RING);
}

/// Packet sockets send less than a router forwards.
#[test]
fn a_slow_tester_is_the_limit() {
    if !support::can_run_on_two_cpus() {
        return;
    }
    let traffic = Traffic {
        port: PortKind::AfPacket,
        ..support::traffic()
    };
    let tester = "The tester is the limit: the router forwarded all that was sent";
    let limit = (LimitedBy::Tester, tester);
    let Some(line) = limited(&support::bed(), &traffic, TESTER, limit) else {
        return;
    };
    assert_eq!(dropped(&line, ROUTER), 0, "{:?}", evidence(&line));
    // A pause of the router's CPU fills its ring, and what windows outside of pauses forwarded is all of it. A void trial may
    // have no such window.
    let load = &line.loads[0];
    let forwarded = load.forwarding_fps.median / load.offered_fps;
    let is_all = dropped(&line, RING) == 0 || forwarded > ALL || is_void(&line);
    assert!(is_all, "{forwarded}: {:?}", evidence(&line));
    assert_no_prediction(&line, TESTER);
}

#[test]
fn a_policer_is_the_limit() {
    if !support::can_run_on_two_cpus() {
        return;
    }
    let bed = support::bed();
    let rule = "limit rate over 50000/second burst 500 packets drop";
    if !sets(&bed, &support::forward_rule(rule)) {
        support::skip!("nft with limits in the forward hook");
    }
    let own = "The router's own drops are the limit. The router dropped ";
    let limit = (LimitedBy::Dut, own);
    let Some(line) = limited(&bed, &support::traffic(), ROUTER, limit) else {
        return;
    };
    assert_eq!(reason(&line), "NETFILTER_DROP");
    assert_no_prediction(&line, ROUTER);
}

/// Behind a shaper no wire can be laid.
#[test]
fn a_shaper_at_the_outgoing_port_is_the_limit() {
    if !support::can_run_on_two_cpus() {
        return;
    }
    let bed = support::bed();
    let port = &bed.port(Side::C).name;
    // 50 000 frames/s of 60 octets.
    let shaper = format!("tc qdisc add dev {port} root tbf rate 24mbit burst 4k limit 8k");
    if !sets(&bed, &shaper) {
        support::skip!("tc with tbf");
    }
    let queue = "The queueing discipline of the outgoing port is the limit. The router dropped ";
    let limit = (LimitedBy::Dut, queue);
    let Some(line) = limited(&bed, &support::traffic(), ROUTER, limit) else {
        return;
    };
    assert!(reason(&line).starts_with("QDISC_"), "{}", reason(&line));
    let why = line.no_wire.as_deref().expect("no wire");
    let told = format!("because {port} has the queueing discipline tbf");
    assert!(why.ends_with(&told), "{why}");
    assert_no_prediction(&line, ROUTER);
}

/// The tester's CPU is the router's other one, and all frames hash to the queue of the first. That is slow, because each rule
/// takes a lock: so slow that its ring takes what a short trial offers beyond its rate.
#[test]
fn one_queue_of_two_is_the_limit() {
    if !support::can_run_on_two_cpus() {
        return;
    }
    let usual = support::plan();
    let (full, idle) = (usual.cpus.dut[0], usual.cpus.tester[0]);
    let plan = BedPlan {
        queues: 2,
        cpus: CpuSplit {
            dut: vec![full, idle],
            tester: vec![idle],
        },
        ..usual
    };
    let bed = Bed::raise(&plan).unwrap_or_else(|error| panic!("raise: {error}"));
    if !sets(&bed, LOCKS) {
        support::skip!("nft with limits in the forward hook");
    }
    let one = format!("CPU {full} is the limit, one of 2 that the router has: it was ");
    let limit = (LimitedBy::Dut, one.as_str());
    let Some(line) = limited(&bed, &support::traffic(), CPU, limit) else {
        return;
    };
    let cpus = &evidence(&line).cpus;
    let polls = |cpu| {
        let of = cpus.iter().find(|one| one.cpu == cpu);
        of.map(|one| one.polls_per_s)
    };
    assert!(
        polls(full) > Some(0.0) && polls(idle) == Some(0.0),
        "{cpus:?}"
    );
    let locked = evidence(&line).locks_in.as_ref().expect("locks");
    assert_eq!(locked.part, "postrouting", "{locked:?}");
}

/// How much of a frame's time waits for a lock that another CPU has, and the stage with the most time in locks.
fn waiting(line: &ProfileLine) -> (f64, &str) {
    let Some(locked) = &evidence(line).locks_in else {
        return (0.0, "no stage");
    };
    let waits = |name: &str| name.ends_with("queued_spin_lock_slowpath");
    let waits = locked.top.iter().filter(|top| waits(&top.function));
    let ns = waits.map(|top| top.ns).fold(0.0, |sum, ns| sum + ns);
    (ns / line.loads[0].frame_ns.median, &locked.part)
}

/// Two CPUs of the router wait for one lock in this stage. One flow is on one CPU, and waits for nobody.
fn assert_wait_is_told(stage: &str, plant: impl Fn(&Bed) -> bool) {
    if !support::can_run() {
        return;
    }
    let online = cpu::online().expect("sysfs");
    let three: Vec<usize> = online.iter().take(3).collect();
    let &[tester, first, second] = &three[..] else {
        support::skip!("3 CPUs, these are online: {online}");
    };
    let plan = BedPlan {
        queues: 2,
        cpus: CpuSplit {
            dut: vec![first, second],
            tester: vec![tester],
        },
        ..support::plan()
    };
    let bed = Bed::raise(&plan).unwrap_or_else(|error| panic!("raise: {error}"));
    if !plant(&bed) {
        support::skip!("nft with limits in the forward hook, tc with prio and u32");
    }
    let shares = [1, 64].map(|flows| {
        let traffic = Traffic {
            flows,
            ..support::traffic()
        };
        let line = explained(&bed, &traffic)?;
        let (share, part) = waiting(&line);
        let text = line.limit_text.as_deref().expect("a sentence");
        println!("{flows} flows: {share:.3} of the time waits in {part}. {text}");
        assert!(flows == 1 || part == stage, "{part}: {text}");
        Some(share)
    });
    let [Some(one), Some(both)] = shares else {
        return;
    };
    assert!(one < 0.01 && both > one + 0.02, "{one} and {both}");
}

#[test]
fn a_lock_that_two_cpus_wait_for_is_told() {
    assert_wait_is_told("postrouting", |bed| sets(bed, LOCKS));
}

/// A queueing discipline holds its root lock while it looks through its filters.
#[test]
fn a_qdisc_that_two_cpus_send_through_is_told() {
    assert_wait_is_told("TX", |bed| {
        let port = &bed.port(Side::C).name;
        let filter = format!(
            "filter add dev {port} parent 1: protocol ip prio 1 u32 match ip dst 192.0.2.1/32 flowid 1:1\n"
        );
        let root = format!("qdisc add dev {port} root handle 1: prio\n");
        tc(bed, &(root + &filter.repeat(400)))
    });
}

/// Whether tc did all of this in the router's namespace. The shell of an emulated machine has a tc of its own, which knows
/// less.
fn tc(bed: &Bed, lines: &str) -> bool {
    let router = bed.dut().netns().expect("a router of ours");
    let run = || {
        let mut tc = Command::new("tc");
        let mut tc = tc.args(["-batch", "-"]).stdin(Stdio::piped()).spawn()?;
        let input = tc.stdin.take().expect("a pipe");
        let written = write!(&input, "{lines}");
        drop(input);
        Ok(tc.wait()?.success() && written.is_ok())
    };
    let ended: std::io::Result<bool> = router.run(run).expect("the namespace");
    ended.unwrap_or(false)
}
