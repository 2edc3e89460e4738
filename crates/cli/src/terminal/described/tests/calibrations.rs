use super::{Outcome, Run};
use mpps_record::CalibrationLine;

fn shown(lines: &[CalibrationLine]) -> String {
    lines.to_vec().text(&Run::default(), false)
}

fn row(fault: &str, planted: f64, found: f64, tolerance: f64) -> CalibrationLine {
    CalibrationLine::new(fault, "frames", tolerance, planted, found)
}

#[test]
fn a_disturbed_row_is_neither_held_nor_wrong() {
    let disturbed = CalibrationLine {
        disturbed: Some("10 trials were disturbed: run again".to_owned()),
        ..row("a policer", f64::NAN, f64::NAN, 5_000.0)
    };
    let good = row("1 in 1000 frames lost", 50.0, 50.0, 0.0);
    let text = shown(&[good.clone(), disturbed.clone()]);
    let why = "\na policer: 10 trials were disturbed: run again\n";
    assert!(text.ends_with(why), "{text}");
    let found = "\nThe meter found 1 of 2 planted faults within their tolerance.\n\n";
    assert!(text.contains(found), "{text}");
    let line = text.lines().find(|line| line.starts_with("a policer "));
    assert!(line.is_some_and(|line| line.ends_with('?')), "{text}");
    let bad = row("duplicates", 50.0, 1.0, 0.0);
    let text = shown(&[good, disturbed, bad]);
    assert!(text.contains("1 of 3 do not hold (duplicates)"), "{text}");
}

#[test]
fn each_row_without_result_has_its_own_reason() {
    let without = |fault: &str, why: &str| CalibrationLine {
        disturbed: Some(why.to_owned()),
        ..row(fault, f64::NAN, f64::NAN, 0.0)
    };
    let text = shown(&[
        without("a cost", "too few of 24 pairs count"),
        without("losses", "10 trials in a row were disturbed"),
        without("a delay", "too few of 24 pairs count"),
    ]);
    for wanted in [
        "a cost: too few of 24 pairs count\n",
        "losses: 10 trials in a row were disturbed\n",
        "a delay: too few of 24 pairs count\n",
    ] {
        assert!(text.contains(wanted), "{text}");
    }
}

#[test]
fn each_fault_is_a_row_that_says_whether_it_holds() {
    let text = shown(&[
        row("1 in 1000 frames lost", 50.0, 50.0, 0.0),
        row("the receive ring", 4096.0, 4101.3, 204.8),
    ]);
    let lines: Vec<&str> = text.lines().skip(2).collect();
    assert_eq!(
        lines,
        [
            "The meter found 2 of 2 planted faults within their tolerance.",
            "",
            "fault                  planted  found  tolerance  unit    holds",
            "1 in 1000 frames lost       50     50          0  frames  yes",
            "the receive ring         4 096  4 101        205  frames  yes",
        ]
    );
}

#[test]
fn a_wrong_delay_says_nothing_of_rates() {
    let delay = CalibrationLine {
        unit: "ns".to_owned(),
        ..row("a delay", 20_000.0, 12_288.0, 5_000.0)
    };
    let text = shown(&[row("a policer", 3.0, 3.0, 0.0), delay.clone()]);
    assert!(
        text.contains(
            "\na delay does not hold: latency is wrong by 7 712 ns here. Rates and losses do not depend on it. Quote no \
             latency of this machine until it holds; run again when it is quieter.\n"
        ),
        "{text}"
    );
    assert!(!text.contains("miscounted"), "{text}");
    let both = shown(&[row("a policer", 3.0, 2.0, 0.0), delay]);
    assert!(both.contains("1 of 2 do not hold (a policer)"), "{both}");
    assert!(both.contains("latency is wrong by"), "{both}");
}

#[test]
fn a_wrong_cost_says_nothing_of_rates() {
    let cost = CalibrationLine {
        unit: "ns/frame".to_owned(),
        ..row("a cost on the router's path", 512.0, 300.0, 60.0)
    };
    let text = shown(&[row("a policer", 3.0, 3.0, 0.0), cost]);
    assert!(
        text.contains("does not hold: cost is wrong by 212 ns here."),
        "{text}"
    );
    assert!(!text.contains("miscounted"), "{text}");
}

#[test]
fn what_does_not_hold_is_named() {
    let text = shown(&[
        row("a policer", 3.0, 3.0, 0.0),
        row("reordering", 20_000.0, f64::NAN, 5.0),
        row("the receive ring", 4096.0, -12.0, 5.0),
    ]);
    assert!(
        text.contains("2 of 3 do not hold (reordering, the receive ring)"),
        "{text}"
    );
    let line = text.lines().find(|line| line.starts_with("reordering"));
    assert!(
        line.is_some_and(|line| line.contains(" - ") && line.ends_with("NO")),
        "{text}"
    );
    assert!(text.contains("-12"), "{text}");
}
