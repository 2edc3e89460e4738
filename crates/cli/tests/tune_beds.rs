//! `mpps tune measure` where the levels of a setting are two beds.

use crate::program::{Scratch, assert_gone, mpps, privileged, run};
use mpps_record::read_file;
use std::collections::BTreeSet;

/// A comparison that a disturbed machine leaves undecided has trials of both levels all the same.
#[test]
fn levels_may_be_two_beds() {
    if !privileged() {
        return;
    }
    let scratch = Scratch::new("tune-beds");
    let path = scratch.path("run.jsonl");
    let file = path.to_str().expect("UTF-8");
    let words = ["tune", "measure", "--only", "ipv6", "--within", "50%"];
    let ended = run(&mut mpps(
        &[
            &words[..],
            &["--share", "--budget", "75s", "--record", file],
        ]
        .concat(),
    ));
    assert!(matches!(ended.code, Some(0 | 4)), "{ended:?}");
    assert!(
        ended.stdout.contains("ipv6 `IPv6` against `IPv4`: "),
        "{ended:?}"
    );
    let beds = ended.stderr.lines();
    let beds = beds.filter_map(|line| line.strip_prefix("bed: ")?.split(',').next());
    let beds: Vec<&str> = beds.collect();
    assert_eq!(beds.len(), 5, "{ended:?}");
    beds.into_iter().for_each(assert_gone);

    let run = read_file(&path).expect("a record").runs.remove(0);
    let line = &run.effects[0];
    assert_eq!(line.tests, 3, "the others are placebos");
    let mut effects = line.effects.iter();
    let effect = effects.find(|one| one.setting == "ipv6").expect("ipv6");
    let mut effects = line.effects.iter();
    let placebo = effects.find(|one| one.placebo && one.two_beds);
    let placebo = placebo.expect("a placebo on two beds");
    assert_eq!([&*placebo.from, &*placebo.to], ["one bed", "another"]);
    let alike = placebo.difference.as_ref().expect("a comparison");
    if let Some(change) = &alike.rate_change {
        assert!(change.low < 0.1 && change.high > -0.1, "{placebo:?}");
    }
    let levels = [effect.from.as_str(), &effect.to];
    assert_eq!(levels, ["IPv4", "IPv6"]);
    assert!(effect.difference.is_some(), "{effect:?}");
    assert_eq!(effect.from_trials.len(), effect.to_trials.len());
    let numbers = |turn: &str| {
        let of_turn = run.trials.iter();
        let of_turn = of_turn.filter(|trial| trial.variant.as_deref() == Some(turn));
        of_turn.map(|trial| trial.trial).collect::<Vec<u32>>()
    };
    assert_eq!(numbers("ipv6 IPv4"), effect.from_trials);
    assert_eq!(numbers("ipv6 IPv6"), effect.to_trials);
    for level in levels {
        assert!(numbers(&format!("ipv6 {level}, first trials")).len() >= 3);
    }
    let all: BTreeSet<u32> = run.trials.iter().map(|trial| trial.trial).collect();
    assert_eq!(all.len(), run.trials.len(), "each trial has its number");
}
