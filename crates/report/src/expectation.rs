//! `--expect-min`: whether every result reaches what was expected.

use crate::headline::is_bound;
use crate::number;
use crate::row::{Reading, Row};
use mpps_record::{LimitedBy, RunLine};

/// A result that does not show what was expected.
pub struct Unmet {
    /// Why not, in a line.
    pub line: String,
    /// Whether another try may show it, because the search ended early.
    pub may_be_met: bool,
}

/// A line for each result that does not show what was expected.
pub fn all_unmet(run: Option<&RunLine>, rows: &[Row<'_>]) -> Vec<String> {
    let unmet = rows.iter().filter_map(|row| unmet(run, row));
    unmet.map(|unmet| unmet.line).collect()
}

/// `None`: the result shows what was expected, or nothing was.
pub fn unmet(run: Option<&RunLine>, row: &Row<'_>) -> Option<Unmet> {
    let expected = run?.plan.expected_min_fps?;
    falls_short(expected, row)
}

/// What the rate without loss is known to be below, frames/s: a load that failed, or the maximum forwarding rate. A maximum
/// that a trial surpassed is of another state of the machine.
fn below(row: &Row<'_>) -> Option<u64> {
    let maximum = row.overload.max_forwarding_fps.filter(|_| !is_bound(row));
    let above = maximum.map(|maximum| maximum.high + 1);
    let above = above.filter(|above| row.rate_fps < Some(*above));
    row.lossless_below_fps.into_iter().chain(above).min()
}

/// Whether a load below the failed ones passed, or was not tried: then not every load loses frames.
pub fn is_open(row: &Row<'_>) -> bool {
    let is_ended = matches!(
        row.limited_by,
        Some(LimitedBy::Trials | LimitedBy::Disturbed)
    );
    matches!(row.reading(), Reading::Below(_)) && (is_ended || row.gate_lossless_fps.is_some())
}

/// Whether at least half of the trials at the load found passed.
fn half_passed(row: &Row<'_>) -> bool {
    let both = row.lossless_trials.zip(row.judged_trials);
    both.is_some_and(|(lossless, judged)| lossless > 0 && 2 * lossless >= judged)
}

/// Only a rate without loss shows what was expected: at the maximum forwarding rate frames are lost.
fn falls_short(expected: u64, row: &Row<'_>) -> Option<Unmet> {
    let (reading, found) = (row.reading(), row.rate_fps.unwrap_or_default());
    let fails = below(row).filter(|fails| *fails <= expected);
    let is_lower = is_open(row) && expected < found && fails.is_none();
    let is_less = found < expected;
    let in_words = |fps| format!("{} frames/s", number::spaced(fps));
    let (rate, expected) = (in_words(found), in_words(expected));
    let why = match reading {
        Reading::Is(_) if is_less => {
            format!("{rate} is less than the {expected} expected")
        }
        // The DUT may well reach it; nobody has seen it do so.
        Reading::AtLeast(_) if is_less => {
            format!("the {expected} expected could not be shown: {rate} is the most that passed")
        }
        Reading::Below(_) if is_lower => format!(
            "the {expected} expected could not be shown: no load of the search passed, but a lower one may (run again \
             when the machine is quieter)"
        ),
        Reading::Below(_) => format!("less than {rate}, where {expected} were expected"),
        Reading::Nothing => format!(
            "the {expected} expected could not be shown: not measured (run again when the machine is quieter)"
        ),
        Reading::Unconfirmed(_) if is_less || !half_passed(row) => match fails {
            Some(fails) => format!(
                "less than {}, where {expected} were expected",
                in_words(fails)
            ),
            None => format!(
                "the {expected} expected could not be shown: {rate} passed in too few trials (run again when the machine is quieter)"
            ),
        },
        Reading::Is(_) | Reading::AtLeast(_) | Reading::Unconfirmed(_) => return None,
    };
    Some(Unmet {
        line: format!("{}: {why}", row.subject),
        may_be_met: match reading {
            Reading::Unconfirmed(_) => fails.is_none(),
            Reading::Below(_) => is_lower,
            _ => false,
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use mpps_record::{ForwardingLimit, Interval, Overload, RateIs, ResultLine};

    fn forwards_at_most(high: u64) -> Overload {
        Overload {
            max_forwarding_fps: Some(Interval {
                low: high - 20_000,
                median: high - 10_000,
                high,
            }),
            max_forwarding_limited_by: Some(ForwardingLimit::RouterCpu),
            ..Overload::default()
        }
    }

    #[test]
    fn only_a_rate_that_passed_meets_it() {
        let is = |word| (Some(word), Some(1_000_000));
        let is_unmet = |expected: u64, reading| {
            let (rate_is, rate) = reading;
            let line = ResultLine {
                rate_is,
                rate_fps: rate,
                ..ResultLine::default()
            };
            let row = &Row::each(std::slice::from_ref(&line))[0];
            falls_short(expected, row).is_some()
        };
        assert!(!is_unmet(1_000_000, is(RateIs::Equal)));
        assert!(is_unmet(1_000_001, is(RateIs::Equal)));
        assert!(!is_unmet(1_000_000, is(RateIs::AtLeast)));
        assert!(is_unmet(2_000_000, is(RateIs::AtLeast)));
        assert!(is_unmet(1, is(RateIs::Below)));
        assert!(is_unmet(1, is(RateIs::Unconfirmed)));
        let line = ResultLine {
            rate_is: Some(RateIs::Unconfirmed),
            rate_fps: Some(1_000_000),
            lossless_below_fps: Some(1_100_000),
            ..ResultLine::default()
        };
        let row = &Row::each(std::slice::from_ref(&line))[0];
        let unmet = |fps| falls_short(fps, row).expect("it does not show it");
        assert!(
            unmet(1_050_000).may_be_met,
            "no load so low is known to fail"
        );
        let failed = unmet(1_100_000);
        assert!(!failed.may_be_met && failed.line.contains("less than 1 100 000 frames/s"));
        // What it forwards at most bounds it too.
        let mut measured = line.clone();
        (measured.lossless_below_fps, measured.overload) = (None, forwards_at_most(1_040_000));
        let row = &Row::each(std::slice::from_ref(&measured))[0];
        let unmet = falls_short(1_050_000, row);
        assert!(unmet.is_some_and(|unmet| !unmet.may_be_met));
        measured.overload = forwards_at_most(900_000);
        let row = &Row::each(std::slice::from_ref(&measured))[0];
        let surpassed = falls_short(1_050_000, row);
        assert!(surpassed.is_some_and(|unmet| unmet.may_be_met));
        let passed = |(lossless_trials, judged_trials)| {
            let line = ResultLine {
                lossless_trials: Some(lossless_trials),
                judged_trials: Some(judged_trials),
                ..line.clone()
            };
            let row = &Row::each(std::slice::from_ref(&line))[0];
            falls_short(1_000_000, row).is_none()
        };
        assert_eq!([(1, 3), (2, 3), (1, 1)].map(passed), [false, true, true]);
        assert!(is_unmet(1, (None, None)));
    }
}
