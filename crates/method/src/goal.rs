//! What a search is to find, and how hard it has to look.

use std::fmt;

use crate::units::{Rate, Span};

pub use mpps_record::known::LimitedBy;

/// A load below this share of the tester's proven ceiling is no limit of the tester's.
const RESTLESS_SHARE: f64 = 0.9;

/// The highest load worth offering, and whose limit it is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Ceiling {
    /// The tester's proven ceiling.
    Tester(Rate),
    /// The link's line rate.
    Link(Rate),
}

impl Ceiling {
    /// The load, over all directions.
    #[must_use]
    pub const fn rate(self) -> Rate {
        match self {
            Self::Tester(rate) | Self::Link(rate) => rate,
        }
    }

    /// Whose limit a load is that the tester did not offer: its own, or the machine's disturbances where the tester was
    /// proven to do clearly more.
    #[must_use]
    pub fn not_offered_by(self, rate: Rate) -> LimitedBy {
        if rate.fps() < RESTLESS_SHARE * self.rate().fps() {
            LimitedBy::Disturbed
        } else {
            LimitedBy::Tester
        }
    }

    /// What limits a DUT that passes here.
    #[must_use]
    pub const fn limited_by(self) -> LimitedBy {
        match self {
            Self::Tester(_) => LimitedBy::Tester,
            Self::Link(_) => LimitedBy::Link,
        }
    }
}

/// How far apart the highest lossless and the lowest lossy load may stay.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Resolution {
    /// This share of the lossy load, 0 to 1.
    Fraction(f64),
    /// One step of so many frames/s; all loads are whole multiples of it (the thesis: 50 000).
    StepFps(f64),
}

impl Resolution {
    /// Highest load not above this maximum.
    #[must_use]
    pub fn highest(self, maximum: Rate) -> Rate {
        match self {
            Self::Fraction(_) => maximum,
            Self::StepFps(step) => Rate::from_fps((maximum.fps() / step).floor() * step),
        }
    }
}

/// When a load counts as passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Accept {
    /// One lossless trial is enough (the thesis: any of 3).
    Any,
    /// Every trial has to be lossless (RFC 2544 with repeats).
    All,
    /// As `Any`, but a trial that lost more than so many frames fails its load at once: that is no passing
    /// disturbance (ETSI GS NFV-TST 009 12.3.3, binary search with loss verification: the trials at a load
    /// are its max(r), this is its z).
    Verified {
        /// Frames a trial may lose and be run again.
        lost_at_most: u64,
    },
}

impl fmt::Display for Accept {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Any => f.pad("any"),
            Self::All => f.pad("all"),
            Self::Verified { lost_at_most } => {
                f.pad(&format!("any (verified to {lost_at_most} lost)"))
            }
        }
    }
}

/// What a search is to find. Rates are over all directions together.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Goal {
    /// Length of each trial (RFC 2544 24: 60 s for the final ones).
    pub trial: Span,
    /// How closely to find the rate.
    pub resolution: Resolution,
    /// Trials at each load, at least 1.
    pub trials_per_load: u32,
    /// How these trials decide.
    pub accept: Accept,
    /// First load offered; none above it.
    pub maximum: Ceiling,
    /// Lowest load offered.
    pub minimum: Rate,
}

/// Finest fraction accepted; below it halving would end in the float's last bits, not in a result.
const FRACTION_MIN: f64 = 1e-6;

/// Why a goal cannot be searched for.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum GoalError {
    /// Zero trials at each load.
    #[error("0 trials at each load: give at least 1")]
    NoTrials,
    /// No whole frame fits the trial at the lowest load.
    #[error(
        "no frame is due within {trial} at {minimum}: raise the lowest load or the trial's length"
    )]
    NothingToSend {
        /// The lowest load.
        minimum: Rate,
        /// The trial's length.
        trial: Span,
    },
    /// Not within 0.000001 to 1.
    #[error("resolution {0} is not within 0.000001 to 1: give 0.01 for 1 %")]
    Fraction(f64),
    /// Not above zero.
    #[error("step of {0} frames/s: give one above zero")]
    Step(f64),
    /// No load lies from the minimum to the maximum (with a step: no multiple of it).
    #[error("no load to offer from {minimum} to {maximum}: lower the minimum or the step")]
    EmptyRange {
        /// The lowest load.
        minimum: Rate,
        /// The highest load.
        maximum: Rate,
    },
}

impl Goal {
    /// Checks that a search for this goal can begin and will end.
    ///
    /// # Errors
    /// The first member that makes no sense.
    pub fn check(&self) -> Result<(), GoalError> {
        if self.trials_per_load == 0 {
            return Err(GoalError::NoTrials);
        }
        match self.resolution {
            Resolution::Fraction(part) if !(FRACTION_MIN..1.0).contains(&part) => {
                return Err(GoalError::Fraction(part));
            }
            Resolution::StepFps(step) if !(step.is_finite() && step > 0.0) => {
                return Err(GoalError::Step(step));
            }
            _ => {}
        }
        let (minimum, maximum) = (self.lowest(), self.highest());
        if minimum > maximum || maximum.fps() <= 0.0 {
            let (minimum, maximum) = (self.minimum, self.maximum.rate());
            return Err(GoalError::EmptyRange { minimum, maximum });
        }
        if minimum.frames_in(self.trial) == 0 {
            return Err(GoalError::NothingToSend {
                minimum,
                trial: self.trial,
            });
        }
        Ok(())
    }

    /// Lowest load the search offers: the minimum, or the first step not below it.
    #[must_use]
    pub fn lowest(&self) -> Rate {
        match self.resolution {
            Resolution::Fraction(_) => self.minimum,
            Resolution::StepFps(step) => {
                Rate::from_fps((self.minimum.fps() / step).ceil().max(1.0) * step)
            }
        }
    }

    /// Highest load the search offers: the maximum, or the last step not above it.
    #[must_use]
    pub fn highest(&self) -> Rate {
        self.resolution.highest(self.maximum.rate())
    }

    /// The load halfway between a passed and a failed one; `None` when they are close enough.
    #[must_use]
    pub fn between(&self, passed: Rate, failed: Rate) -> Option<Rate> {
        let (low, high) = (passed.fps(), failed.fps());
        match self.resolution {
            Resolution::Fraction(part) => {
                (high - low > part * high).then(|| Rate::from_fps(low.midpoint(high)))
            }
            Resolution::StepFps(step) => {
                // Whole steps, so that no rounding of a float builds up over the search.
                let (low, high) = ((low / step).round(), (high / step).round());
                (high - low > 1.0).then(|| Rate::from_fps(((low + high) / 2.0).floor() * step))
            }
        }
    }
}

#[cfg(test)]
mod tests;
