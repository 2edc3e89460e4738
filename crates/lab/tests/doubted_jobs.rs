//! Whole jobs on routers whose rate is not what it seems: the finding has the doubt.

use crate::support;
use crate::support::printed::Printed;
use crate::support::trials::frames;
use mpps_lab::doubt::{Doubt, Finding};
use mpps_lab::jobs::throughput::{self, SizeResult, ThroughputPlan};
use mpps_lab::tester::ReceiverPlace;
use mpps_lab::traffic::Traffic;
use mpps_method::{LimitedBy, Outcome, Rate};

/// What a restless machine spoils is measured again.
const ATTEMPTS: u32 = 4;

/// What `mpps throughput` finds on a bed with this set-up; `None`: the machine was too disturbed.
fn finding(setup: &str, plan: &ThroughputPlan) -> Option<Finding> {
    let bed = support::bed_set_up(&support::plan(), setup);
    let mut found = Printed::new();
    if let Some(error) = throughput::measure(&bed, plan, &mut found) {
        assert!(error.is_disturbance(), "{error}");
    }
    let size: SizeResult = found.0.pop()?;
    let findings = size.findings;
    println!("{:?}", findings.as_ref().map(|found| &found[0].doubts));
    Some(findings.ok()?.remove(0))
}

/// The doubt of this name, from the first of a few searches that raises it. One that found what the doubt is about has
/// to raise it.
fn doubt(
    name: &str,
    setup: &str,
    plan: &ThroughputPlan,
    is_measured: impl Fn(&Finding) -> bool,
) -> Option<Doubt> {
    for _ in 0..ATTEMPTS {
        let Some(found) = finding(setup, plan) else {
            continue;
        };
        let raised = found.doubts.iter().find(|doubt| doubt.name == name);
        if raised.is_some() {
            return raised.cloned();
        }
        assert!(!is_measured(&found), "no {name}: {found:?}");
    }
    support::skip!("a quieter machine to measure at all in {ATTEMPTS} searches");
}

#[test]
fn a_router_that_is_redirected_past_is_named() {
    if !support::can_run() {
        return;
    }
    let past = "tc qdisc add dev mB clsact\n\
                tc filter add dev mB ingress protocol all u32 match u32 0 0 action mirred egress redirect dev mC\n";
    let seen = doubt("not-routed", past, &support::measurement(3_000), |found| {
        found.trial.is_some()
    });
    if let Some(Doubt { seen, .. }) = seen {
        assert!(
            seen.ends_with("with an unchanged TTL or hop limit"),
            "{seen}"
        );
    }
}

/// A bucket of 4000 frames is full before the first trial, and each trial uses up what came into it since the last.
#[test]
fn a_policer_with_a_bucket_is_named() {
    if !support::can_run() || !support::has("nft") {
        return;
    }
    let policed = support::forward_rule("limit rate over 20000/second burst 4000 packets drop");
    let plan = ThroughputPlan {
        maximum: Some(Rate::from_fps(60_000.0)),
        ..support::measurement(6_000)
    };
    // A trial that finds the bucket empty loses frames from its beginning.
    let seen = doubt("loss-begins-late", &policed, &plan, |found| {
        // Loss is blamed only where a load passed, and where the search was not cut short.
        let has_passed = matches!(found.outcome, Outcome::Found { lossy: Some(_), .. });
        let is_blamed =
            has_passed && matches!(found.limited_by, Some(LimitedBy::Dut | LimitedBy::Pause));
        let losses = found.why_lost.iter().filter(|why| why.bounds);
        let mut losses = losses.map(|why| &why.losses);
        is_blamed && losses.any(|losses| losses.lasts() && 5 * losses.before > losses.sent)
    });
    if let Some(Doubt { seen, .. }) = seen {
        assert!(seen.contains("behind the DUT's ring"), "{seen}");
    }
}

#[test]
fn frames_that_udp_gro_merges_are_named_at_the_port() {
    if !support::can_run() || !support::has("ethtool") {
        return;
    }
    let merging = "ethtool -K mB gro on rx-udp-gro-forwarding on\n";
    let plan = ThroughputPlan {
        sizes: vec![frames("78")],
        traffic: Traffic {
            ipv6: true,
            ..support::traffic()
        },
        receiver: Some(ReceiverPlace::Port),
        ..support::measurement(4_000)
    };
    // Frames that come one by one are not merged.
    let seen = doubt("merged", merging, &plan, |found| {
        let trial = found.trial.as_ref();
        let routed =
            trial.and_then(|trial| Some((trial.stack?.forwarded, trial.counts().received)));
        routed.is_some_and(|(packets, frames)| 10 * packets < 9 * frames)
    });
    if let Some(Doubt { seen, .. }) = seen {
        assert!(seen.contains("GRO merged them"), "{seen}");
    }
}
