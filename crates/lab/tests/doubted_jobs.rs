//! Whole jobs on routers whose rate is not what it seems: the finding has the doubt.

use crate::support;
use crate::support::printed::Printed;
use crate::support::trials::frames;
use mpps_lab::jobs::throughput::{self, ThroughputPlan};
use mpps_lab::jobs::{JobError, Observer, Report, ResultObserver, UnderTest};
use mpps_lab::tester::ReceiverPlace;
use mpps_lab::traffic::Traffic;
use mpps_method::{Rate, Trial};
use mpps_record::{Doubt, LimitedBy, Outcome, ResultLine};
use std::io;

/// What a restless machine spoils is measured again.
const ATTEMPTS: u32 = 4;

/// Prints each trial, and keeps all of them beside the results.
struct Kept {
    printed: Printed<ResultLine>,
    trials: Vec<Trial>,
}

impl Observer for Kept {
    fn trial(&mut self, report: &Report<'_>) -> io::Result<()> {
        self.trials.push(report.trial.clone());
        self.printed.trial(report)
    }

    fn last_number(&self) -> u32 {
        self.printed.last_number()
    }
}

impl ResultObserver<ResultLine> for Kept {
    fn result(&mut self, line: &ResultLine) -> io::Result<()> {
        self.printed.result(line)
    }
}

/// What `mpps throughput` tells on a bed with this set-up.
fn measured(setup: &str, plan: &ThroughputPlan) -> (Option<JobError>, Kept) {
    let bed = support::bed_set_up(&support::plan(), setup);
    let mut kept = Kept {
        printed: Printed::new(),
        trials: Vec::new(),
    };
    let (error, _) = throughput::measure(UnderTest::Bed(&bed), plan, &mut kept);
    (error, kept)
}

/// What `mpps throughput` finds there, and all its trials; `None`: the machine was too disturbed.
fn finding(setup: &str, plan: &ThroughputPlan) -> Option<(ResultLine, Vec<Trial>)> {
    let (error, mut kept) = measured(setup, plan);
    if let Some(error) = error {
        assert!(error.is_disturbance(), "{error}");
    }
    let line = kept.printed.0.pop()?;
    println!("{:?}", line.doubts);
    Some((line, kept.trials))
}

/// The trial that a result stands on.
fn stands_on<'a>(line: &ResultLine, trials: &'a [Trial]) -> Option<&'a Trial> {
    trials.get(line.stands_on.stands_on_trial? as usize - 1)
}

/// The doubt of this name, from the first of a few searches that raises it. One that found what the doubt is about has
/// to raise it.
fn doubt(
    name: &str,
    setup: &str,
    plan: &ThroughputPlan,
    is_measured: impl Fn(&ResultLine, &[Trial]) -> bool,
) -> Option<Doubt> {
    for _ in 0..ATTEMPTS {
        let Some((line, trials)) = finding(setup, plan) else {
            continue;
        };
        let raised = line.doubts.iter().find(|doubt| doubt.name == name);
        if raised.is_some() {
            return raised.cloned();
        }
        assert!(!is_measured(&line, &trials), "no {name}: {line:?}");
    }
    support::skip!("a quieter machine to measure at all in {ATTEMPTS} searches");
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
    let seen = doubt("loss-begins-late", &policed, &plan, |line, trials| {
        // Loss is blamed only where a load passed, and where the search was not cut short.
        let has_passed = line.outcome == Outcome::Found && line.lossy_fps.is_some();
        let is_blamed =
            has_passed && matches!(line.limited_by, Some(LimitedBy::Dut | LimitedBy::Pause));
        let why = line
            .why_lost
            .as_ref()
            .filter(|why| why.bounds == Some(true));
        let counted = why.map(|why| (why.sent_frames, why.lost_frames));
        let losses = trials.iter().flat_map(|trial| &trial.losses);
        let mut losses = losses.filter(|losses| counted == Some((losses.sent, losses.lost)));
        is_blamed && losses.any(|losses| losses.lasts() && 5 * losses.before > losses.sent)
    });
    if let Some(Doubt { seen, .. }) = seen {
        assert!(seen.contains("behind the DUT's ring"), "{seen}");
    }
}

/// Overload fills the router's table of connections. It forwards no new flow from then on.
#[test]
fn a_table_that_overload_fills_is_named() {
    if !support::can_run() || !support::has("nft") {
        return;
    }
    let full = support::forward_rule("ct state new ct count over 2000 drop");
    let plan = ThroughputPlan {
        traffic: Traffic {
            flow_length: Some(10),
            ..support::traffic()
        },
        ..support::measurement(4_000)
    };
    // Each of its trials waits for canaries that are dropped, so a restless machine gets no second search.
    let (error, kept) = measured(&full, &plan);
    if let Some(error) = error.filter(|error| !error.is_disturbance()) {
        let line = error.to_string();
        assert!(
            line.contains("but none in 3 trials at a low load since"),
            "{line}"
        );
        assert!(line.contains("full tables"), "{line}");
        return;
    }
    let line = kept.printed.0.last();
    let is_untold =
        |line: &ResultLine| line.doubts.iter().any(|doubt| doubt.name == "gate-unknown");
    assert!(line.is_none_or(is_untold), "{line:?}");
    support::skip!("a quieter machine for three trials at a low load");
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
    let seen = doubt("merged", merging, &plan, |line, trials| {
        let trial = stands_on(line, trials);
        let routed =
            trial.and_then(|trial| Some((trial.stack?.forwarded, trial.counts().received)));
        routed.is_some_and(|(packets, frames)| 10 * packets < 9 * frames)
    });
    if let Some(Doubt { seen, .. }) = seen {
        assert!(seen.contains("GRO merged them"), "{seen}");
    }
}
