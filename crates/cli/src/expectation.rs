//! `--expect-min`: whether every result reaches what was expected.

use crate::figures::{Figures, Reading};
use mpps_method::Rate;

/// Why a result does not show that `expected` is reached, in a line; `None` where it does. Only a rate without loss
/// shows it: at the maximum forwarding rate frames are lost.
#[must_use]
pub fn unmet(expected: Rate, row: &Figures) -> Option<String> {
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
        Reading::Nothing => Some(format!(
            "{subject}: the {expected} expected could not be shown: not measured (run again when the machine is quieter)"
        )),
        Reading::Is(_) | Reading::AtLeast(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_rate_that_passed_meets_it() {
        let rate = Rate::from_fps(1e6);
        let is_unmet = |expected: f64, reading| {
            let row = Figures {
                reading,
                ..Figures::default()
            };
            unmet(Rate::from_fps(expected), &row).is_some()
        };
        assert!(!is_unmet(1e6, Reading::Is(rate)));
        assert!(is_unmet(1_000_001.0, Reading::Is(rate)));
        assert!(!is_unmet(1e6, Reading::AtLeast(rate)));
        assert!(is_unmet(2e6, Reading::AtLeast(rate)));
        assert!(is_unmet(1.0, Reading::Below(rate)));
        assert!(is_unmet(1.0, Reading::Nothing));
    }
}
