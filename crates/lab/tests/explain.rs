//! `mpps explain` finds costs that are planted: in the stage where they are, and of their size. Needs root and perf events.
//! Whether one profile is sound is told from its record, by cli's own test.

use crate::support;
use crate::support::printed::Printed;
use mpps_lab::bed::Bed;
use mpps_lab::jobs::compare::Variant;
use mpps_lab::jobs::explain::against::{self, AgainstPlan, Side};
use mpps_lab::jobs::explain::by_stage::{self, Levels};
use mpps_lab::jobs::turns::Forwards;
use mpps_lab::jobs::{JobError, Trials};
use mpps_lab::traffic::{ReceiverPlace, Traffic};
use mpps_method::Span;
use mpps_record::{PartChange, ProfileChange, ProfileLine, ProfiledLoad};
use std::process::Command;

/// Tries for a restless machine; none after one whose trials were void, which takes the longest and would be so again.
const TRIES: u32 = 2;

fn saturated(line: &ProfileLine) -> &ProfiledLoad {
    &line.loads[0]
}

/// What the second set-up takes more than the first, in turns, and how much longer its program spun, ns. `None`: the machine
/// was too restless.
fn in_turns(beds: [&Bed; 2], burns: [Option<u64>; 2]) -> Option<(ProfileChange, f64)> {
    let side = |at: usize| Side {
        flags: Vec::new(),
        variant: Variant {
            name: at.to_string(),
            bed: beds[at],
            traffic: support::traffic(),
        },
        burn_ns: burns[at],
    };
    let plan = AgainstPlan {
        time: Span::from_millis(300),
        pairs: 6,
        receiver: None,
    };
    let mut kept = Printed::<ProfileLine>::new();
    let error = against::measure(&[side(0), side(1)], plan, &mut kept);
    if let Some(error) = error {
        assert!(error.is_of_one_size(), "{error}");
        return None;
    }
    let line = kept.0.pop().expect("a line");
    let other = line.against.as_ref().expect("another set-up");
    assert_eq!([other.burnt_ns, line.burnt_ns], burns);
    let change = other.change.clone()?;
    let more = saturated(&line).frame_ns.median - other.load.frame_ns.median;
    let sum: f64 = change.stages.iter().map(|part| part.ns.median).sum();
    assert!((sum - more).abs() < 1.0, "{sum} of {more}");
    let spun = [other.burnt_measured_ns, line.burnt_measured_ns];
    assert_eq!(spun.map(|ns| ns.is_some()), burns.map(|ns| ns.is_some()));
    let [base, own] = spun.map(Option::unwrap_or_default);
    Some((change, own - base))
}

fn changed<'a>(parts: &'a [PartChange], name: &str) -> &'a PartChange {
    let found = parts.iter().find(|part| part.part == name);
    found.unwrap_or_else(|| panic!("no {name} in {parts:?}"))
}

#[test]
fn a_burn_is_found_in_the_stage_it_is_in() {
    /// Both spin, so that what a spinning program costs beside its time is in both.
    const BASE_NS: u64 = 250;
    const PLANT_NS: u64 = 500;
    if !support::can_run() {
        return;
    }
    let beds = [support::bed(), support::bed()];
    let mut seen = Vec::new();
    for _ in 0..TRIES {
        let burns = [Some(BASE_NS), Some(BASE_NS + PLANT_NS)];
        let Some((change, spun)) = in_turns([&beds[0], &beds[1]], burns) else {
            break;
        };
        // The machine's interrupts are in it.
        assert!(
            (0.98..1.1).contains(&(spun / PLANT_NS as f64)),
            "{spun} of {PLANT_NS}"
        );
        let rx = changed(&change.stages, "RX");
        let others = ["prerouting", "routing", "postrouting", "TX"];
        // What lies within its own interval is none.
        let others = others.map(|name| changed(&change.stages, name));
        let seen_there = others.iter().filter(|part| part.seen);
        let most = seen_there
            .map(|part| part.ns.median.abs())
            .fold(0.0, f64::max);
        println!(
            "{PLANT_NS} ns planted, {spun:.1} spun: RX {:?}, others {most:.0} at most",
            rx.ns
        );
        if rx.ns.high - rx.ns.low > spun {
            // So wide an interval holds nothing as well as the burn.
            continue;
        }
        if rx.seen && (rx.ns.low..=rx.ns.high).contains(&spun) && most < 0.1 * spun {
            return;
        }
        seen.push((spun, rx.ns, most));
    }
    assert!(
        seen.is_empty(),
        "planted, found in RX and elsewhere: {seen:?}"
    );
    support::skip!("a quieter machine");
}

/// The rules come and go on one standing bed.
#[test]
fn a_switch_of_a_bed_is_split_by_stage() {
    const RULES: &str = "nft add table ip planted\n\
        nft 'add chain ip planted forward { type filter hook forward priority 0; }'\n\
        for n in $(seq 100); do echo add rule ip planted forward ip saddr 203.0.113.$n drop; done | nft -f -";
    if !support::can_run() {
        return;
    }
    let bed = support::bed();
    let router = bed.dut().netns().expect("a router of ours");
    let sets = |script: &str| {
        let run = || Command::new("sh").args(["-ec", script]).status();
        let ended = router.run(run).expect("the namespace");
        ended.is_ok_and(|status| status.success())
    };
    if !sets(RULES) || !sets("nft delete table ip planted") {
        support::skip!("nft with rules in the forward hook");
    }
    let traffic = Traffic {
        receiver: ReceiverPlace::Exit,
        ..support::traffic()
    };
    let mut tester = support::trials::tester(&bed, &traffic, 3_000_000);
    let forwards = |most| Forwards {
        most,
        ..Forwards::default()
    };
    let levels = Levels {
        names: ["none", "ruled"].map(str::to_owned),
        forwards: [1.8e6, 0.6e6].map(forwards),
        time: Span::from_millis(200),
        pairs: 6,
    };
    let mut at_levels = |order: [usize; 2], work: &mut dyn FnMut(usize) -> Result<(), JobError>| {
        order.into_iter().try_for_each(|at| {
            assert!(at == 0 || sets(RULES));
            let worked = work(at);
            assert!(at == 0 || sets("nft delete table ip planted"));
            worked
        })
    };
    let mut kept = Printed::<ProfileLine>::new();
    let mut trials = Trials::new(&mut kept);
    let found = by_stage::measure(&mut tester, levels, &mut at_levels, &mut trials);
    let change = match found.unwrap_or_else(|error| panic!("{error}")) {
        Ok(change) => change,
        Err(why) => {
            println!("{why}");
            support::skip!("a quieter machine");
        }
    };
    let hook = changed(&change.stages, "postrouting");
    let others = ["prerouting", "routing", "TX", "exit"];
    let others = others.map(|name| changed(&change.stages, name).ns.median);
    let most = others.into_iter().fold(0.0, f64::max);
    let median = hook.ns.median;
    assert!(median > 2.0 * most && median > 100.0, "{change:?}");
    let cause = changed(&change.causes, "rules");
    assert!(cause.ns.median > 100.0, "{change:?}");
    // An interval as wide as what it found tells nothing.
    if hook.ns.high - hook.ns.low < median {
        let are_seen = hook.seen && cause.seen;
        assert!(
            are_seen && hook.ns.low > 100.0 && median > 3.0 * most,
            "{change:?}"
        );
    }
    assert!(change.router_before_ns > 100.0, "{change:?}");
    let mut refused = |_: [usize; 2], _: &mut dyn FnMut(usize) -> Result<(), JobError>| Ok(());
    let none = Levels {
        names: Default::default(),
        forwards: [1e6; 2].map(forwards),
        time: Span::from_millis(200),
        pairs: 4,
    };
    let found = by_stage::measure(&mut tester, none, &mut refused, &mut trials);
    let found = found.unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(found, Err("a level was refused".to_owned()));
}
