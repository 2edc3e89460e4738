//! `--expect-min`: whether every result reaches what was expected.

use mpps_method::Rate;
use mpps_record::RunLine;
use mpps_report::{Reading, Row};

/// A line for each result that does not show what was expected.
pub fn all_unmet(run: Option<&RunLine>, rows: &[Row<'_>]) -> Vec<String> {
    let expected = run.and_then(|run| run.plan.expected_min_fps);
    let unmet = |row| unmet(Rate::from_fps(expected? as f64), row);
    rows.iter().filter_map(unmet).collect()
}

/// Why a result does not show that `expected` is reached, in a line; `None` where it does. Only a rate without loss
/// shows it: at the maximum forwarding rate frames are lost.
fn unmet(expected: Rate, row: &Row<'_>) -> Option<String> {
    let subject = &row.subject;
    let rate = Rate::from_fps(row.rate_fps.unwrap_or_default() as f64);
    match row.reading() {
        Reading::Is(_) if rate < expected => Some(format!(
            "{subject}: {rate} is less than the {expected} expected"
        )),
        // The DUT may well reach it; nobody has seen it do so.
        Reading::AtLeast(_) if rate < expected => Some(format!(
            "{subject}: the {expected} expected could not be shown: {rate} is the most that passed"
        )),
        Reading::Below(_) => Some(format!(
            "{subject}: less than {rate}, where {expected} were expected"
        )),
        Reading::Nothing => Some(format!(
            "{subject}: the {expected} expected could not be shown: not measured (run again when the machine is quieter)"
        )),
        Reading::Unconfirmed(_) => Some(format!(
            "{subject}: the {expected} expected could not be shown: {rate} passed in too few trials"
        )),
        Reading::Is(_) | Reading::AtLeast(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mpps_record::{RateIs, ResultLine};

    #[test]
    fn only_a_rate_that_passed_meets_it() {
        let is = |word| (Some(word), Some(1_000_000));
        let is_unmet = |expected: f64, reading| {
            let (rate_is, rate) = reading;
            let line = ResultLine {
                rate_is,
                rate_fps: rate,
                ..ResultLine::default()
            };
            let row = &Row::each(std::slice::from_ref(&line))[0];
            unmet(Rate::from_fps(expected), row).is_some()
        };
        assert!(!is_unmet(1e6, is(RateIs::Equal)));
        assert!(is_unmet(1_000_001.0, is(RateIs::Equal)));
        assert!(!is_unmet(1e6, is(RateIs::AtLeast)));
        assert!(is_unmet(2e6, is(RateIs::AtLeast)));
        assert!(is_unmet(1.0, is(RateIs::Below)));
        assert!(is_unmet(1.0, is(RateIs::Unconfirmed)));
        assert!(is_unmet(1.0, (None, None)));
    }
}
