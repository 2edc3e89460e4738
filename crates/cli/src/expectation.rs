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

/// Whether another try may show what this result does not, because its search ended early.
pub fn may_be_met(run: Option<&RunLine>, row: &Row<'_>) -> bool {
    let expected = run.and_then(|run| run.plan.expected_min_fps);
    let expected = expected.map(|fps| Rate::from_fps(fps as f64));
    let is_open = matches!(row.reading(), Reading::Unconfirmed(_));
    is_open
        && expected.is_some_and(|expected| unmet(expected, row).is_some() && !fails(expected, row))
}

/// Whether a load as low as the expected one is known to fail.
fn fails(expected: Rate, row: &Row<'_>) -> bool {
    let fails = row.lossless_below_fps;
    fails.is_some_and(|fails| fails as f64 <= expected.fps())
}

/// Whether at least half of the trials at the load found passed.
fn half_passed(row: &Row<'_>) -> bool {
    let both = row.lossless_trials.zip(row.judged_trials);
    both.is_some_and(|(lossless, judged)| lossless > 0 && 2 * lossless >= judged)
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
        Reading::Unconfirmed(_) if fails(expected, row) => Some(format!(
            "{subject}: {expected} were expected, and that load failed"
        )),
        Reading::Unconfirmed(_) if rate >= expected && half_passed(row) => None,
        Reading::Unconfirmed(_) => Some(format!(
            "{subject}: the {expected} expected could not be shown: {rate} passed in too few trials (run again when the machine is quieter)"
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
        let line = ResultLine {
            rate_is: Some(RateIs::Unconfirmed),
            rate_fps: Some(1_000_000),
            lossless_below_fps: Some(1_100_000),
            ..ResultLine::default()
        };
        let row = &Row::each(std::slice::from_ref(&line))[0];
        let [below, above] = [1.05e6, 1.1e6].map(Rate::from_fps);
        assert!(!fails(below, row) && fails(above, row));
        let passed = |lossless_trials| {
            let line = ResultLine {
                lossless_trials: Some(lossless_trials),
                judged_trials: Some(3),
                ..line.clone()
            };
            let row = &Row::each(std::slice::from_ref(&line))[0];
            unmet(Rate::from_fps(1e6), row).is_none()
        };
        assert_eq!([1, 2].map(passed), [false, true]);
        assert!(is_unmet(1.0, (None, None)));
    }
}
