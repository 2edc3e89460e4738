//! `--expect-min`: whether every result reaches what was expected.

use crate::figures::{Figures, Reading};
use mpps_method::Rate;

/// A line for each result that does not reach `expected`. One that was not measured has its own line already.
#[must_use]
pub fn unmet(expected: Option<Rate>, rows: &[&Figures]) -> Vec<String> {
    let Some(expected) = expected else {
        return Vec::new();
    };
    rows.iter()
        .filter_map(|row| of_row(expected, row))
        .collect()
}

fn of_row(expected: Rate, row: &Figures) -> Option<String> {
    let subject = &row.subject;
    match row.reading {
        Reading::Is(rate) if rate < expected => Some(format!(
            "{subject}: {rate} is less than the {expected} expected"
        )),
        // The DUT may well reach it; nobody has seen it do so.
        Reading::AtLeast(rate) if rate < expected => Some(format!(
            "{subject}: the {expected} expected could not be shown: {rate} is the most that passed"
        )),
        Reading::Below(rate) => Some(format!(
            "{subject}: less than {rate}, where {expected} were expected"
        )),
        Reading::Is(_) | Reading::AtLeast(_) | Reading::Nothing => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(reading: Reading) -> Figures {
        Figures {
            frames: "64".to_owned(),
            subject: "64".to_owned(),
            fails_at: None,
            conditional_throughput: None,
            trials: 6,
            reading,
            label: None,
            link_share: None,
            gbit_per_s: None,
            loss_ratio: None,
            busy_share: None,
            busy_ns_per_frame: None,
            limited_by: None,
            why_lost: None,
            headroom: None,
            evenness: None,
            unstable: None,
            ceiling: Rate::ZERO,
            new_flows_per_s: None,
        }
    }

    #[test]
    fn only_what_falls_short_is_told() {
        let rate = Rate::from_fps(1e6);
        let count =
            |expected: f64, reading| unmet(Some(Rate::from_fps(expected)), &[&row(reading)]).len();
        assert_eq!(count(1e6, Reading::Is(rate)), 0);
        assert_eq!(count(1_000_001.0, Reading::Is(rate)), 1);
        assert_eq!(count(1e6, Reading::AtLeast(rate)), 0);
        assert_eq!(count(2e6, Reading::AtLeast(rate)), 1);
        assert_eq!(count(1.0, Reading::Below(rate)), 1);
        assert_eq!(count(1.0, Reading::Nothing), 0);
        assert_eq!(
            unmet(None, &[&row(Reading::Is(Rate::ZERO))]),
            Vec::<String>::new()
        );
    }
}
