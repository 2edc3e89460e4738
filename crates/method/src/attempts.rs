//! How many trials a search has run and what became of them: the same for every search, and blind to loss.

use crate::reason::Void;
use crate::search::CouldNotMeasure;

/// A search ends after so many void trials in a row, all of one load. Its caller's time budget ends it before.
pub const VOIDS_IN_ROW_MAX: u32 = 30;

/// Trials so far.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Attempts {
    /// Trials run, of any verdict.
    pub trials: u32,
    /// Trials voided.
    pub voided: u32,
    /// Trials that say something of the DUT.
    pub judged: u32,
    /// Trials of a load that the tester did not offer.
    pub not_offered: u32,
    /// Voided trials since the last other one.
    voids_in_row: u32,
    /// Why the last voided one was.
    last_void: Option<Void>,
}

impl Attempts {
    /// One more trial that says something of the DUT.
    pub const fn judged(&mut self) {
        self.judged += 1;
        self.other();
    }

    /// One more trial that the tester did not offer.
    pub const fn not_offered(&mut self) {
        self.not_offered += 1;
        self.other();
    }

    /// One more trial that is not voided.
    pub const fn other(&mut self) {
        self.trials += 1;
        self.voids_in_row = 0;
    }

    /// One more voided trial, to be run again; `Some` when these are too many in a row.
    pub fn void(&mut self, why: Void) -> Option<CouldNotMeasure> {
        self.trials += 1;
        self.voided += 1;
        self.voids_in_row += 1;
        self.last_void = Some(why);
        (self.voids_in_row > VOIDS_IN_ROW_MAX).then(|| self.no_answer())
    }

    /// Why there is no answer where no trial said anything of the DUT.
    #[must_use]
    pub fn no_answer(&self) -> CouldNotMeasure {
        let trials = self.voids_in_row;
        match self.last_void {
            Some(last) if trials > VOIDS_IN_ROW_MAX || trials == self.trials => {
                CouldNotMeasure::TooManyVoided { trials, last }
            }
            _ => CouldNotMeasure::OutOfTrials {
                trials: self.trials,
            },
        }
    }

    /// Trials against what a search is allowed. Neither the machine's disturbances nor loads that the tester cannot
    /// offer are the DUT's to pay for; of the latter as many are free as a search is allowed, so that it ends.
    #[must_use]
    pub const fn counted(&self, allowed: u32) -> u32 {
        let beyond = self.not_offered.saturating_sub(allowed);
        self.trials - self.voided - self.not_offered + beyond
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Span;

    const WHY: Void = Void::Disturbed {
        cpu: 1,
        culprit: None,
        longest: Span::from_millis(30),
        share: 0.6,
        bound: 0.5,
    };

    #[test]
    fn only_voids_in_a_row_end_a_search() {
        let mut attempts = Attempts::default();
        for _ in 0..10 {
            for _ in 0..VOIDS_IN_ROW_MAX {
                assert_eq!(attempts.void(WHY), None);
            }
            attempts.judged();
        }
        assert_eq!((attempts.trials, attempts.voided), (310, 300));
        assert_eq!(attempts.counted(15), 10);
        let ends = (0..=VOIDS_IN_ROW_MAX).find_map(|_| attempts.void(WHY));
        let trials = VOIDS_IN_ROW_MAX + 1;
        let too_many = CouldNotMeasure::TooManyVoided { trials, last: WHY };
        assert_eq!(ends, Some(too_many));
    }

    #[test]
    fn a_search_of_void_trials_alone_names_their_cause() {
        let mut attempts = Attempts::default();
        (0..7).for_each(|_| assert_eq!(attempts.void(WHY), None));
        let all_void = CouldNotMeasure::TooManyVoided {
            trials: 7,
            last: WHY,
        };
        assert_eq!(attempts.no_answer(), all_void);
        attempts.not_offered();
        let mixed = CouldNotMeasure::OutOfTrials { trials: 8 };
        assert_eq!(attempts.no_answer(), mixed);
    }

    #[test]
    fn loads_not_offered_are_free_up_to_the_allowance() {
        let mut attempts = Attempts::default();
        (0..4).for_each(|_| attempts.not_offered());
        assert_eq!(attempts.counted(4), 0);
        (0..2).for_each(|_| attempts.not_offered());
        attempts.other();
        assert_eq!(attempts.counted(4), 3);
    }
}
