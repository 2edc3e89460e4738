//! `mpps explain` finds costs that are planted: in the stage where they are, and of their size. Needs root and perf events.

mod support;

use mpps_lab::bed::{Bed, BedPlan};
use mpps_lab::jobs::explain::{self, ExplainPlan, SizeProfile};
use mpps_lab::jobs::fixed_load::{FixedLoadPlan, Load};
use mpps_lab::jobs::{Observer, Report, ResultObserver};
use mpps_method::{FrameSpec, Span};
use mpps_record::{PartCost, ProfileLine, ProfiledLoad};
use std::os::unix::fs::PermissionsExt;

/// Another try for a restless machine.
const TRIES: u32 = 3;

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

impl ResultObserver<SizeProfile> for Kept {
    fn result(&mut self, size: &SizeProfile) -> std::io::Result<()> {
        self.0.push(size.line.clone());
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

fn half_width(part: &PartCost) -> f64 {
    (part.ns.high - part.ns.low) / 2.0
}

fn assert_sound(line: &ProfileLine) {
    let load = saturated(line);
    let sum: f64 = load.stages.iter().map(|part| part.ns.median).sum();
    assert!(
        (sum / load.frame_ns.median - 1.0).abs() < 0.01,
        "{sum} of {load:?}"
    );
    let causes: f64 = load.causes.iter().map(|part| part.ns.median).sum();
    assert!((causes / sum - 1.0).abs() < 0.01, "{causes} of {sum}");
    assert!(
        load.samples > 500 && load.unclassified_share < 0.01,
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

#[test]
fn a_burn_is_found_in_the_stage_it_is_in() {
    /// Both spin, so that what a spinning program costs beside its time is in both.
    const BURNS_NS: [u64; 2] = [500, 1_000];
    if !support::can_run() {
        return;
    }
    let bed = support::bed();
    let mut seen = Vec::new();
    for _ in 0..TRIES {
        let both = explained(&bed, Some(BURNS_NS[0])).zip(explained(&bed, Some(BURNS_NS[1])));
        let Some((short, long)) = both else {
            continue;
        };
        assert_sound(&short);
        assert_sound(&long);
        assert_eq!(long.burnt_ns, Some(BURNS_NS[1]));
        let planted = (BURNS_NS[1] - BURNS_NS[0]) as f64;
        let (before, after) = (stage(&short, "RX"), stage(&long, "RX"));
        let found = after.ns.median - before.ns.median;
        let room = half_width(before) + half_width(after) + 0.1 * planted;
        seen.push((found, room));
        if (found - planted).abs() <= room {
            println!("RX rose by {found:.0} ns, +- {room:.0}");
            // Most of the router's time is the planted one.
            assert!(
                after.ns.median > 0.3 * saturated(&long).router_ns,
                "{after:?}"
            );
            return;
        }
    }
    assert!(seen.is_empty(), "RX rose by {seen:?}");
    support::skip!("a quieter machine");
}

#[test]
fn rules_cost_where_the_forward_hook_is() {
    if !support::can_run() {
        return;
    }
    let script = std::env::temp_dir().join(format!("mpps-rules-{}", std::process::id()));
    let rules = "#!/bin/sh\nset -e\ncommand -v nft >/dev/null || exit 0\nnft add table ip planted\n\
                 nft 'add chain ip planted forward { type filter hook forward priority 0; }'\n\
                 for n in $(seq 100); do echo add rule ip planted forward ip saddr 203.0.113.$n drop; done | nft -f -\n";
    std::fs::write(&script, rules).expect("write");
    std::fs::set_permissions(&script, PermissionsExt::from_mode(0o755)).expect("executable");
    let mut seen = Vec::new();
    for _ in 0..TRIES {
        let plain = explained(&support::bed(), None);
        let with_rules = Bed::raise(&BedPlan {
            dut_setup: Some(script.clone()),
            ..support::plan()
        });
        let ruled = explained(&with_rules.unwrap_or_else(|error| panic!("{error}")), None);
        let Some((plain, ruled)) = plain.zip(ruled) else {
            continue;
        };
        let cause = saturated(&ruled)
            .causes
            .iter()
            .find(|part| part.part == "rules");
        if cause.is_none_or(|rules| rules.samples == 0) {
            support::skip!("nft with rules in the forward hook");
        }
        let rise = |name: &str| stage(&ruled, name).ns.median - stage(&plain, name).ns.median;
        let others = ["prerouting", "routing", "TX", "exit"];
        let most = others.iter().map(|name| rise(name)).fold(0.0, f64::max);
        seen.push((rise("postrouting"), most));
        if rise("postrouting") > 100.0 && rise("postrouting") > 3.0 * most {
            println!(
                "postrouting rose by {:.0} ns, the others by {most:.0} at most",
                rise("postrouting")
            );
            std::fs::remove_file(&script).expect("tidy up");
            return;
        }
    }
    std::fs::remove_file(&script).expect("tidy up");
    assert!(seen.is_empty(), "postrouting and the others: {seen:?}");
    support::skip!("a quieter machine");
}
