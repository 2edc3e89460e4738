//! How many trials a search has run, and how many of them the machine disturbed: the same rule for every
//! search, and blind to loss.

use crate::reason::Void;
use crate::search::{CouldNotMeasure, Offer};
use crate::trial::Counts;

/// So many voided trials say nothing yet of their share: a search that ends after two trials would
/// otherwise have no answer for one moment's disturbance. Voiding is blind to loss, so repeating favours
/// nobody; the count is printed with the result.
pub const VOIDS_PARDONED: u32 = 12;

/// What a whole trial weighs that says nothing of the DUT. One that was cut short weighs 1: many of them fit into
/// its time, but the same moment of the machine's may have spoilt some in a row.
pub const WHOLE: u32 = 2;

/// A trial takes at least this share of a whole one's time: it is set up and drained as well.
const LEAST_TIME: f64 = 0.25;

/// What this trial weighs, should it say nothing of the DUT.
#[must_use]
pub fn weight(offer: &Offer, counts: &Counts) -> u32 {
    if passed(offer, counts) < 1.0 {
        1
    } else {
        WHOLE
    }
}

/// The share of its slots that passed; all of them where nobody counted.
fn passed(offer: &Offer, counts: &Counts) -> f64 {
    let slots = offer.rate.frames_in(offer.duration);
    if (1..slots).contains(&counts.intended) {
        counts.intended as f64 / slots as f64
    } else {
        1.0
    }
}

/// Trials so far.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Attempts {
    /// Trials run, voided ones included.
    pub trials: u32,
    /// Trials voided.
    pub voided: u32,
    /// Trials of a load that the tester did not offer.
    not_offered: u32,
    /// The time they took, in whole trials.
    not_offered_time: f64,
    /// What the voided ones weigh.
    voided_weight: u32,
    last_void: Option<Void>,
}

impl Attempts {
    /// One more trial, whatever it said.
    pub fn count(&mut self) {
        self.trials = self.trials.saturating_add(1);
    }

    /// Trials against what a search is allowed: those that say something of the DUT, and those that should have.
    /// Neither the machine's disturbances nor what the tester cannot offer is the DUT's to pay for; but of the
    /// latter no more is given away than the search is allowed itself, by the time they take, so that it ends.
    #[must_use]
    pub fn counted(&self, allowed: u32) -> u32 {
        let beyond = (self.not_offered_time - f64::from(allowed)).max(0.0).ceil();
        let paid = (beyond as u32).min(self.not_offered);
        let given = self.voided.saturating_add(self.not_offered - paid);
        self.trials.saturating_sub(given)
    }

    /// The tester did not offer this load (and the trial was counted before).
    pub fn not_offered(&mut self, offer: &Offer, counts: &Counts) {
        self.not_offered = self.not_offered.saturating_add(1);
        self.not_offered_time += passed(offer, counts).max(LEAST_TIME);
    }

    /// It was voided (and counted before). `Some` when the pardoned ones cannot make up for it any more.
    pub fn void(&mut self, why: Void, weight: u32) -> Option<CouldNotMeasure> {
        self.voided = self.voided.saturating_add(1);
        self.voided_weight = self.voided_weight.saturating_add(weight);
        self.last_void = Some(why);
        let others = self.trials.saturating_sub(self.voided);
        let most = VOIDS_PARDONED.saturating_add(others);
        (self.voided_weight > most.saturating_mul(WHOLE))
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
    use crate::units::{Rate, Span};

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
            last_void: Some(why),
            ..Attempts::default()
        };
        assert_eq!(of(20, 39).disturbed(), None);
        assert_eq!(of(26, 39).disturbed(), None);
        let given_up = CouldNotMeasure::TooManyVoided(why);
        assert_eq!(of(27, 39).disturbed(), Some(given_up));
        assert_eq!(of(VOIDS_PARDONED, VOIDS_PARDONED + 1).disturbed(), None);
    }

    #[test]
    fn a_trial_cut_short_weighs_half_of_a_whole_one() {
        let offer = Offer {
            rate: Rate::from_fps(1e6),
            duration: Span::from_millis(1000),
        };
        let passed = |intended: u64| Counts {
            intended,
            ..Counts::default()
        };
        assert_eq!(weight(&offer, &passed(1_000_000)), WHOLE);
        assert_eq!(weight(&offer, &passed(999_999)), 1);
        // Nobody counted: a whole one.
        assert_eq!(weight(&offer, &passed(0)), WHOLE);
        let why = Void::Stall {
            cpu: 1,
            longest: Span::from_millis(30),
            bound: Span::from_millis(10),
        };
        let until_given_up = |weight| {
            let mut attempts = Attempts::default();
            loop {
                attempts.count();
                if attempts.void(why, weight).is_some() {
                    return attempts.voided;
                }
            }
        };
        assert_eq!(until_given_up(WHOLE), VOIDS_PARDONED + 1);
        assert_eq!(until_given_up(1), VOIDS_PARDONED * WHOLE + 1);
        // Of those not offered a search's own trials are given away, and each beyond is one of them.
        let counted = |slots, number| {
            let mut attempts = Attempts::default();
            for _ in 0..number {
                attempts.count();
                attempts.not_offered(&offer, &passed(slots));
            }
            attempts.counted(4)
        };
        assert_eq!((counted(1_000_000, 4), counted(1_000_000, 6)), (0, 2));
        assert_eq!((counted(500_000, 8), counted(500_000, 10)), (0, 1));
        assert_eq!((counted(1, 16), counted(1, 20)), (0, 1));
    }
}
