//! The table of a calibration: what was planted, what was found, whether they agree.

use super::{error, grouped, headed};
use crate::exit::Exit;
use crate::outcome::{Outcome, View, worst};
use anyhow::Result;
use mpps_record::{CalibrationLine, Run};
use serde_json::{Value, json};
use std::fmt::Write;

const HEAD: &str = "planted fault;planted;found;tolerance;unit;holds";
/// Columns of words.
const WORDS: [usize; 3] = [0, 4, 5];

/// The table, and what it says of the meter.
pub fn calibration(rows: &[CalibrationLine]) -> String {
    let mut text = String::from(
        "Calibration (64-octet frames, 1 flow; each fault is planted by a program that keeps its own count)\n\n",
    );
    text += &headed(HEAD, rows.iter().map(cells), &WORDS);
    let named = |wanted: fn(&&CalibrationLine) -> bool| -> Vec<&str> {
        let rows = rows.iter().filter(wanted);
        rows.map(|row| row.fault.as_str()).collect()
    };
    let miscounted = named(|row| is_wrong(row) && quantity(row).is_none());
    let has_all = rows.iter().all(|row| row.disturbed.is_none());
    text.push('\n');
    text += &without_result(rows);
    if !miscounted.is_empty() {
        let _ = writeln!(
            text,
            "{} of {} do not hold ({}): frames are miscounted here. Trust no rate and no loss of this machine until they \
             hold; run again when it is quieter.",
            miscounted.len(),
            rows.len(),
            miscounted.join(", ")
        );
    }
    let mut others = rows
        .iter()
        .filter(is_wrong)
        .filter_map(|row| Some((row, quantity(row)?)))
        .peekable();
    if miscounted.is_empty() && others.peek().is_none() {
        let _ = if has_all {
            writeln!(text, "all {} hold", rows.len())
        } else {
            writeln!(text, "the others hold")
        };
    }
    for (row, quantity) in others {
        let off = row.found.zip(row.planted);
        let off = off.map_or(
            "was not read for any frame".to_owned(),
            |(found, planted)| {
                let off = (found - planted).abs().round();
                format!("is wrong by {} ns here", grouped(off as u64))
            },
        );
        let _ = writeln!(
            text,
            "{} does not hold: {quantity} {off}. Rates and losses do not depend on it. Quote no {quantity} of \
             this machine until it holds; run again when it is quieter.",
            row.fault
        );
    }
    text
}

/// The faults that were not looked for to an end, a line for each reason.
fn without_result(rows: &[CalibrationLine]) -> String {
    let mut reasons: Vec<(&str, Vec<&str>)> = Vec::new();
    for row in rows {
        let Some(why) = row.disturbed.as_deref() else {
            continue;
        };
        match reasons.iter_mut().find(|(known, _)| *known == why) {
            Some((_, faults)) => faults.push(&row.fault),
            None => reasons.push((why, vec![&row.fault])),
        }
    }
    let line = |(why, faults): &(&str, Vec<&str>)| {
        let (count, all, faults) = (faults.len(), rows.len(), faults.join(", "));
        format!("{count} of {all} have no result ({faults}): {why}\n")
    };
    reasons.iter().map(line).collect()
}

fn is_wrong(row: &&CalibrationLine) -> bool {
    row.disturbed.is_none() && !row.holds
}

/// What a planted time is found in; `None` where frames were planted.
fn quantity(row: &CalibrationLine) -> Option<&'static str> {
    match row.unit.as_str() {
        "ns" => Some("latency"),
        "ns/frame" => Some("cost"),
        _ => None,
    }
}

fn cells(row: &CalibrationLine) -> [String; 6] {
    let holds = match (&row.disturbed, row.holds) {
        (Some(_), _) => "?",
        (None, true) => "yes",
        (None, false) => "NO",
    };
    [
        row.fault.clone(),
        number(row.planted),
        number(row.found),
        number(Some(row.tolerance)),
        row.unit.clone(),
        holds.to_owned(),
    ]
}

/// Whole units; a median without a frame is a dash, a difference may be below zero.
fn number(value: Option<f64>) -> String {
    let Some(value) = value else {
        return "-".to_owned();
    };
    let rounded = value.round();
    let sign = if rounded < 0.0 { "-" } else { "" };
    format!("{sign}{}", grouped(rounded.abs() as u64))
}

impl Outcome for Vec<CalibrationLine> {
    fn document(&self, _: &Run, _: &View<'_>) -> Result<Value> {
        let disturbed = self.iter().any(|row| row.disturbed.is_some());
        Ok(json!({ "disturbed": disturbed, "rows": self }))
    }

    fn shown(&self, _: &Run, view: &View<'_>) -> String {
        calibration(self) + &view.record()
    }

    /// A run that ends with 2 says why, in JSON too.
    fn tell(&self, _: &Run, view: &View<'_>) {
        let reason = self.iter().find_map(|row| row.disturbed.as_ref());
        if let (None, Some(why)) = (view.head.error, reason) {
            error(&format!("could not calibrate all of it: {why}"));
        }
    }

    /// Everything found is the meter doing its work; anything not found is the meter failing it; and of what the machine
    /// disturbed nobody knows.
    fn exit(&self, _: &Run) -> Exit {
        let exit = |row: &CalibrationLine| match (&row.disturbed, row.holds) {
            (Some(_), _) => Exit::Undecided,
            (None, true) => Exit::Measured,
            (None, false) => Exit::NotMet,
        };
        worst(self.iter().map(exit))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
        let text = calibration(&[good.clone(), disturbed.clone()]);
        let why = "1 of 2 have no result (a policer): 10 trials were disturbed: run again\n";
        assert!(text.contains(why), "{text}");
        assert!(text.ends_with("the others hold\n"), "{text}");
        let line = text.lines().find(|line| line.starts_with("a policer"));
        assert!(line.is_some_and(|line| line.ends_with('?')), "{text}");
        let bad = row("duplicates", 50.0, 1.0, 0.0);
        let text = calibration(&[good, disturbed, bad]);
        assert!(text.contains("1 of 3 do not hold (duplicates)"), "{text}");
        assert!(!text.contains("hold\n"), "{text}");
    }

    #[test]
    fn each_row_without_result_has_its_own_reason() {
        let without = |fault: &str, why: &str| CalibrationLine {
            disturbed: Some(why.to_owned()),
            ..row(fault, f64::NAN, f64::NAN, 0.0)
        };
        let text = calibration(&[
            without("a cost", "too few of 24 pairs count"),
            without("losses", "10 trials in a row were disturbed"),
            without("a delay", "too few of 24 pairs count"),
        ]);
        for wanted in [
            "2 of 3 have no result (a cost, a delay): too few of 24 pairs count\n",
            "1 of 3 have no result (losses): 10 trials in a row were disturbed\n",
        ] {
            assert!(text.contains(wanted), "{text}");
        }
    }

    #[test]
    fn each_fault_is_a_row_that_says_whether_it_holds() {
        let text = calibration(&[
            row("1 in 1000 frames lost", 50.0, 50.0, 0.0),
            row("the receive ring", 4096.0, 4101.3, 204.8),
        ]);
        let lines: Vec<&str> = text.lines().skip(2).collect();
        assert_eq!(
            lines,
            [
                "planted fault          planted  found  tolerance  unit    holds",
                "1 in 1000 frames lost       50     50          0  frames  yes",
                "the receive ring         4 096  4 101        205  frames  yes",
                "",
                "all 2 hold",
            ]
        );
    }

    #[test]
    fn a_wrong_delay_says_nothing_of_rates() {
        let delay = CalibrationLine {
            unit: "ns".to_owned(),
            ..row("a delay", 20_000.0, 12_288.0, 5_000.0)
        };
        let text = calibration(&[row("a policer", 3.0, 3.0, 0.0), delay.clone()]);
        assert!(
            text.ends_with(
                "a delay does not hold: latency is wrong by 7 712 ns here. Rates and losses do not depend on it. Quote no \
                 latency of this machine until it holds; run again when it is quieter.\n"
            ),
            "{text}"
        );
        assert!(!text.contains("miscounted"), "{text}");
        let both = calibration(&[row("a policer", 3.0, 2.0, 0.0), delay]);
        assert!(both.contains("1 of 2 do not hold (a policer)"), "{both}");
        assert!(both.contains("latency is wrong by"), "{both}");
    }

    #[test]
    fn a_wrong_cost_says_nothing_of_rates() {
        let cost = CalibrationLine {
            unit: "ns/frame".to_owned(),
            ..row("a cost on the router's path", 512.0, 300.0, 60.0)
        };
        let text = calibration(&[row("a policer", 3.0, 3.0, 0.0), cost]);
        assert!(
            text.contains("does not hold: cost is wrong by 212 ns here."),
            "{text}"
        );
        assert!(!text.contains("miscounted"), "{text}");
    }

    #[test]
    fn what_does_not_hold_is_named() {
        let text = calibration(&[
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
}
