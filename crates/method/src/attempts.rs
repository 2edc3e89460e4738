//! How many trials a search has run, and how many of them the machine disturbed: the same rule for every
//! search, and blind to loss.

use crate::reason::Void;
use crate::search::CouldNotMeasure;

/// So many voided trials say nothing yet of their share: a search that ends after two trials would
/// otherwise have no answer for one moment's disturbance. Voiding is blind to loss, so repeating favours
/// nobody; the count is printed with the result.
pub const VOIDS_PARDONED: u32 = 12;

/// Trials so far.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Attempts {
    /// Trials run, voided ones included.
    pub trials: u32,
    /// Trials voided.
    pub voided: u32,
    /// Trials of a load that the tester did not offer.
    pub not_offered: u32,
    last_void: Option<Void>,
}

impl Attempts {
    /// One more trial, whatever it said.
    pub fn count(&mut self) {
        self.trials = self.trials.saturating_add(1);
    }

    /// Trials against what a search is allowed: those that say something of the DUT, and those that should have.
    /// Neither the machine's disturbances nor what the tester cannot offer is the DUT's to pay for; but of the
    /// latter no more is given away than the search is allowed itself, so that it ends.
    #[must_use]
    pub fn counted(&self, allowed: u32) -> u32 {
        let given = self.voided.saturating_add(self.not_offered.min(allowed));
        self.trials.saturating_sub(given)
    }

    /// It was voided (and counted before). `Some` when the pardoned ones cannot make up for it any more.
    pub fn void(&mut self, why: Void) -> Option<CouldNotMeasure> {
        self.voided = self.voided.saturating_add(1);
        self.last_void = Some(why);
        let others = self.trials.saturating_sub(self.voided);
        (self.voided > VOIDS_PARDONED.saturating_add(others))
            .then_some(CouldNotMeasure::TooManyVoided(why))
    }

    /// Why these trials carry no answer, though one was found: over two thirds of them voided, and more than the
    /// pardoned ones.
    #[must_use]
    pub fn disturbed(&self) -> Option<CouldNotMeasure> {
        let too_many = u64::from(self.voided) * 3 > u64::from(self.trials) * 2;
        self.last_void
            .filter(|_| self.voided > VOIDS_PARDONED && too_many)
            .map(CouldNotMeasure::TooManyVoided)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Span;

    #[test]
    fn what_was_found_stands_while_a_third_of_the_trials_was_undisturbed() {
        let why = Void::Stall {
            cpu: 1,
            longest: Span::from_millis(30),
            bound: Span::from_millis(10),
        };
        let of = |voided, trials| Attempts {
            trials,
            voided,
            not_offered: 0,
            last_void: Some(why),
        };
        assert_eq!(of(20, 39).disturbed(), None);
        assert_eq!(of(26, 39).disturbed(), None);
        let given_up = CouldNotMeasure::TooManyVoided(why);
        assert_eq!(of(27, 39).disturbed(), Some(given_up));
        assert_eq!(of(VOIDS_PARDONED, VOIDS_PARDONED + 1).disturbed(), None);
    }
}
