//! `mpps explain` finds costs that are planted: in the stage where they are, and of their size. Needs root and perf events.

use crate::support;
use mpps_lab::bed::{Bed, BedPlan};
use mpps_lab::jobs::compare::Variant;
use mpps_lab::jobs::explain::against::{AgainstPlan, Side};
use mpps_lab::jobs::explain::by_stage::{self, Levels};
use mpps_lab::jobs::explain::{self, ExplainPlan};
use mpps_lab::jobs::fixed_load::{FixedLoadPlan, Load};
use mpps_lab::jobs::{JobError, Observer, Report, ResultObserver, Trials};
use mpps_lab::traffic::{ReceiverPlace, Traffic};
use mpps_method::{FrameSpec, Span};
use mpps_record::{Drops, PartChange, PartCost, ProfileChange, ProfileLine, ProfiledLoad};
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

/// Tries for a restless machine; none after one whose trials were void, which takes the longest and would be so again.
const TRIES: u32 = 2;

struct Kept(Vec<ProfileLine>);

impl Observer for Kept {
    fn trial(&mut self, report: &Report<'_>) -> std::io::Result<()> {
        println!(
            "{} {}: {}",
            report.phase.name(),
            report.offer.rate,
            report.verdict
        );
        Ok(())
    }
}

impl ResultObserver<ProfileLine> for Kept {
    fn result(&mut self, line: &ProfileLine) -> std::io::Result<()> {
        self.0.push(line.clone());
        Ok(())
    }
}

/// A profile of frames of 64 octets. `None`: the machine was too restless.
fn explained(bed: &Bed, burn_ns: Option<u64>) -> Option<ProfileLine> {
    let plan = ExplainPlan {
        offer: FixedLoadPlan {
            sizes: FrameSpec::parse_list("64").expect("a size"),
            traffic: support::traffic(),
            port: None,
            loads: vec![Load::Max],
            time: Span::from_millis(300),
            trials: 3,
            wire: true,
            receiver: None,
        },
        burn_ns,
    };
    let mut kept = Kept(Vec::new());
    let error = explain::measure(bed, &plan, &mut kept);
    let line = kept.0.pop().expect("a line");
    if let Some(error) = error {
        assert!(error.is_of_one_size(), "{error}");
        return None;
    }
    Some(line).filter(|line| !line.loads.is_empty())
}

fn saturated(line: &ProfileLine) -> &ProfiledLoad {
    &line.loads[0]
}

fn stage<'a>(line: &'a ProfileLine, name: &str) -> &'a PartCost {
    let stages = &saturated(line).stages;
    let found = stages.iter().find(|part| part.part == name);
    found.unwrap_or_else(|| panic!("no {name} in {stages:?}"))
}

fn assert_sound(line: &ProfileLine) {
    let load = saturated(line);
    // By construction: the stages are shares of the busy time.
    let sum: f64 = load.stages.iter().map(|part| part.ns.median).sum();
    assert!(
        (sum / load.frame_ns.median - 1.0).abs() < 0.01,
        "{sum} of {load:?}"
    );
    // Samples and scheduler count that time apart.
    let seen = load.seen_share.expect("a share");
    let is_doubted = line.doubts.iter().any(|one| one.name == "samples-missing");
    assert!(
        seen < 1.02 && (seen < 0.99) == is_doubted,
        "{seen}: {line:?}"
    );
    let causes: f64 = load.causes.iter().map(|part| part.ns.median).sum();
    assert!((causes / sum - 1.0).abs() < 0.01, "{causes} of {sum}");
    assert!(
        load.samples > 200 && load.unclassified_share < 0.01,
        "{load:?}"
    );
    let folded: f64 = line.stacks.iter().map(|stack| stack.ns).sum();
    assert!((folded / sum - 1.0).abs() < 0.01, "{folded} of {sum}");
    for stack in &line.stacks {
        assert_eq!(
            stack.frames.split(';').count(),
            stack.stages.len(),
            "{stack:?}"
        );
    }
    assert!(line.model.is_some() != line.no_model.is_some(), "{line:?}");
    let octets = serde_json::to_vec(line).expect("JSON").len();
    assert!(octets < 1 << 20, "{octets}");
}

/// What the second set-up takes more than the first, in turns, and how much longer its program spun, ns. `None`: the machine
/// was too restless.
fn against(beds: [&Bed; 2], burns: [Option<u64>; 2]) -> Option<(ProfileChange, f64)> {
    let side = |at: usize| Side {
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
    let mut kept = Kept(Vec::new());
    let error = explain::against::measure(&[side(0), side(1)], plan, &mut kept);
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

/// A bed whose router has these rules of nft in the forward hook, where there is nft.
fn ruled(name: &str, rules: &str) -> Bed {
    let script = std::env::temp_dir().join(format!("mpps-{name}-{}", std::process::id()));
    let script_text = format!(
        "#!/bin/sh\nset -e\ncommand -v nft >/dev/null || exit 0\nnft add table ip planted\n\
         nft 'add chain ip planted forward {{ type filter hook forward priority 0; }}'\n{rules}\n"
    );
    std::fs::write(&script, script_text).expect("write");
    std::fs::set_permissions(&script, PermissionsExt::from_mode(0o755)).expect("executable");
    let ruled = Bed::raise(&BedPlan {
        dut_setup: Some(script.clone()),
        ..support::plan()
    });
    std::fs::remove_file(&script).expect("tidy up");
    ruled.unwrap_or_else(|error| panic!("{error}"))
}

/// One of so many frames is dropped: far fewer than the losses of an overload, so that lower loads count as such.
const DROP_EVERY: f64 = 400.0;

/// The rule's drops are named, and frames that the receiver took at the exit are none.
fn assert_drops_named(line: &ProfileLine) {
    let drops = &line.evidence.as_ref().expect("evidence").drops;
    let share = |reason: &str| {
        let of = |drops: &&Drops| drops.reason.as_deref() == Some(reason);
        drops.iter().find(of).map_or(0.0, |drops| drops.share)
    };
    let before = drops.iter().filter(|drops| drops.place != "router");
    let reached = 1.0 - before.map(|drops| drops.share).sum::<f64>();
    let planted = share("NETFILTER_DROP") / reached * DROP_EVERY;
    assert!((0.9..1.1).contains(&planted), "{planted}: {drops:?}");
    assert_eq!(share("TC_EGRESS"), 0.0, "{drops:?}");
}

/// A wire routes nothing, and takes what is not the router's. Fewer than 3 pairs count on a restless machine.
fn assert_wire(line: &ProfileLine) {
    let Some(wire) = &line.wire else {
        let why = line.no_wire.as_deref().expect("a reason");
        assert!(why.contains("pairs of trials"), "{why}");
        return;
    };
    let ns = |name: &str| {
        let stages = wire.load.stages.iter();
        let found = stages.filter(|part| part.part == name);
        found.map(|part| part.ns.median).sum::<f64>()
    };
    let sum: f64 = wire.load.stages.iter().map(|part| part.ns.median).sum();
    assert!(
        (sum / wire.load.frame_ns.median - 1.0).abs() < 0.01,
        "{wire:?}"
    );
    // Samples name the wire's own program, and none is of a decision.
    assert!(
        ns("RX") > 0.0 && ns("virtual NIC") > 0.0 && ns("routing") < 5.0,
        "{wire:?}"
    );
    assert!(wire.load.unclassified_share < 0.01, "{wire:?}");
    let parts: f64 = wire.stages.iter().map(|part| part.ns.median).sum();
    assert!((parts - wire.router_ns.median).abs() < 1.0, "{wire:?}");
    assert!(wire.pairs >= 3 && wire.router_ns.low > 0.0, "{wire:?}");
}

#[test]
fn a_profile_is_sound() {
    if !support::can_run() {
        return;
    }
    let rule = format!("nft add rule ip planted forward numgen inc mod {DROP_EVERY} == 0 drop");
    let Some(line) = explained(&ruled("drops", &rule), Some(500)) else {
        support::skip!("a quieter machine");
    };
    assert_sound(&line);
    assert_eq!(line.burnt_ns, Some(500));
    let spun = line.burnt_measured_ns.expect("its program's count");
    assert!((495.0..510.0).contains(&spun), "{spun}");
    assert_wire(&line);
    // Most of the router's time is the planted one.
    let rx = stage(&line, "RX");
    assert!(rx.ns.median > 0.3 * saturated(&line).router_ns, "{rx:?}");
    if Command::new("nft").arg("--version").output().is_ok() {
        assert_drops_named(&line);
    }
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
        let Some((change, spun)) = against([&beds[0], &beds[1]], burns) else {
            break;
        };
        // The machine's interrupts are in it.
        assert!(
            (0.98..1.1).contains(&(spun / PLANT_NS as f64)),
            "{spun} of {PLANT_NS}"
        );
        let rx = changed(&change.stages, "RX");
        let others = ["prerouting", "routing", "postrouting", "TX"];
        let most = others.map(|name| changed(&change.stages, name).ns.median.abs());
        let most = most.into_iter().fold(0.0, f64::max);
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

#[test]
fn rules_cost_where_the_forward_hook_is() {
    if !support::can_run() {
        return;
    }
    let rules = "for n in $(seq 100); do echo add rule ip planted forward ip saddr 203.0.113.$n drop; done | nft -f -";
    let (plain, ruled) = (support::bed(), ruled("rules", rules));
    let mut seen = Vec::new();
    for _ in 0..TRIES {
        let Some((change, _)) = against([&plain, &ruled], [None, None]) else {
            break;
        };
        if changed(&change.causes, "rules").ns.median == 0.0 {
            support::skip!("nft with rules in the forward hook");
        }
        let hook = changed(&change.stages, "postrouting");
        let others = ["prerouting", "routing", "TX", "exit"];
        let others = others.map(|name| changed(&change.stages, name).ns.median);
        let most = others.into_iter().fold(0.0, f64::max);
        let rules = changed(&change.causes, "rules").seen;
        // An interval as wide as what it found tells nothing, unless no such cost is in it.
        if hook.ns.high < 100.0 || hook.ns.high - hook.ns.low < hook.ns.median {
            seen.push((hook.ns, most));
        }
        if hook.seen && rules && hook.ns.low > 100.0 && hook.ns.median > 3.0 * most {
            println!(
                "postrouting rose by {:?}, others by {most:.0} at most",
                hook.ns
            );
            return;
        }
    }
    assert!(seen.is_empty(), "postrouting and the others: {seen:?}");
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
    let levels = Levels {
        names: ["none", "ruled"].map(str::to_owned),
        most: [1.8e6, 0.6e6],
        time: Span::from_millis(200),
        pairs: 4,
    };
    let mut at_levels = |order: [usize; 2], work: &mut dyn FnMut(usize) -> Result<(), JobError>| {
        order.into_iter().try_for_each(|at| {
            assert!(at == 0 || sets(RULES));
            let worked = work(at);
            assert!(at == 0 || sets("nft delete table ip planted"));
            worked
        })
    };
    let mut kept = Kept(Vec::new());
    let mut trials = Trials::new(&mut kept);
    let found = by_stage::measure(&mut tester, levels, &mut at_levels, &mut trials);
    let change = match found.unwrap_or_else(|error| panic!("{error}")) {
        Ok(change) => change,
        Err(why) => {
            println!("{why}");
            support::skip!("a quieter machine");
        }
    };
    let hook = changed(&change.stages, "postrouting").ns.median;
    let others = ["prerouting", "routing", "TX", "exit"];
    let others = others.map(|name| changed(&change.stages, name).ns.median);
    let most = others.into_iter().fold(0.0, f64::max);
    assert!(hook > 2.0 * most && hook > 100.0, "{change:?}");
    assert!(change.router_before_ns > 100.0, "{change:?}");
    let mut refused = |_: [usize; 2], _: &mut dyn FnMut(usize) -> Result<(), JobError>| Ok(());
    let none = Levels {
        names: Default::default(),
        most: [1e6; 2],
        time: Span::from_millis(200),
        pairs: 4,
    };
    let found = by_stage::measure(&mut tester, none, &mut refused, &mut trials);
    let found = found.unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(found, Err("a level was refused".to_owned()));
}
