//! What may be said of a DUT. The type's name is the guarantee: a `Throughput` cannot be had from
//! anything but a lossless trial of the length RFC 2544 asks for.

use crate::trial::Trial;
use crate::units::{Rate, Span};
use crate::verdict::{Rules, Verdict};

/// Length of a trial that may carry a throughput claim (RFC 2544 section 24).
pub const FINAL_TRIAL: Span = Span::from_millis(60_000);

/// Throughput in the sense of RFC 1242 3.17 and RFC 2544 26.1: a load of which no frame was lost
/// in a trial of at least 60 s.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Throughput {
    rate: Rate,
    trial: Span,
}

/// Why a trial carries no throughput claim.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum NotThroughput {
    /// It is not lossless, or no evidence.
    #[error("no throughput: the trial is {0}")]
    Verdict(Verdict),
    /// It lost frames in disturbances, or left more unsent then than a trial may: RFC 2544 knows of no disturbances.
    #[error(
        "no throughput: {lost} frames were lost and {unsent} left unsent in disturbances, which RFC 2544 does not allow for"
    )]
    Disturbed {
        /// Frames lost.
        lost: u64,
        /// Frames left unsent.
        unsent: u64,
    },
    /// It is too short.
    #[error(
        "no throughput: the trial lasted {trial}, RFC 2544 section 24 asks for {FINAL_TRIAL} (--preset rfc2544)"
    )]
    TooShort {
        /// Its length.
        trial: Span,
    },
}

impl Throughput {
    /// From the final trial.
    ///
    /// # Errors
    /// The trial lost a frame, if only in a disturbance, is no evidence, or is shorter than 60 s.
    pub fn from_trial(trial: &Trial, rules: &Rules) -> Result<Self, NotThroughput> {
        let verdict = trial.judge(rules);
        let Some(rate) = trial.sent_rate().filter(|_| verdict == Verdict::Lossless) else {
            return Err(NotThroughput::Verdict(verdict));
        };
        let (lost, unsent) = (trial.lost_disturbed(), trial.disturbed.unsent);
        let allowed = rules.unsent_max * trial.counts().intended as f64;
        if lost > 0 || trial.counts().unsent as f64 > allowed {
            return Err(NotThroughput::Disturbed { lost, unsent });
        }
        if trial.duration < FINAL_TRIAL {
            return Err(NotThroughput::TooShort {
                trial: trial.duration,
            });
        }
        // The load really sent: what stayed unsent, though within its bound, was not tested.
        Ok(Self {
            rate,
            trial: trial.duration,
        })
    }

    /// The load, over all directions.
    #[must_use]
    pub const fn rate(&self) -> Rate {
        self.rate
    }

    /// Length of the final trial.
    #[must_use]
    pub const fn trial(&self) -> Span {
        self.trial
    }
}

/// Loss at a load (RFC 1242 3.6, RFC 2544 26.3), without what the tester lost.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LossRate {
    rate: Rate,
    lost: u64,
    ratio: f64,
}

impl LossRate {
    /// From a trial that lost frames; `None` for any other.
    #[must_use]
    pub fn from_trial(trial: &Trial, rules: &Rules) -> Option<Self> {
        let Verdict::Lossy { lost } = trial.judge(rules) else {
            return None;
        };
        Some(Self {
            rate: trial.undisturbed_rate()?,
            lost,
            ratio: trial.loss_ratio()?,
        })
    }

    /// The load, over all directions.
    #[must_use]
    pub const fn rate(&self) -> Rate {
        self.rate
    }

    /// Frames lost at the DUT.
    #[must_use]
    pub const fn lost(&self) -> u64 {
        self.lost
    }

    /// Lost of the frames that reached the DUT, above 0 and to 1.
    #[must_use]
    pub const fn ratio(&self) -> f64 {
        self.ratio
    }
}

/// What an estimate rests on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Basis {
    /// A lossless trial too short for a throughput claim.
    ShortTrial {
        /// Its length.
        trial: Span,
    },
    /// A lossless trial of any length at a load where the goal puts up with others that lose: no throughput,
    /// which RFC 2544 ties to a load at which nothing is lost.
    LossTolerated {
        /// Its length.
        trial: Span,
    },
}

/// A lossless load that is no throughput, with what it rests on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    rate: Rate,
    basis: Basis,
}

impl Estimate {
    /// The load of a lossless trial of any length.
    #[must_use]
    pub fn from_short_trial(trial: &Trial, rules: &Rules) -> Option<Self> {
        let rate = trial
            .undisturbed_rate()
            .filter(|_| trial.judge(rules) == Verdict::Lossless)?;
        Some(Self {
            rate,
            basis: Basis::ShortTrial {
                trial: trial.duration,
            },
        })
    }

    /// The load of a lossless trial found by a goal that tolerates trials with loss.
    #[must_use]
    pub fn from_tolerant_goal(trial: &Trial, rules: &Rules) -> Option<Self> {
        let basis = Basis::LossTolerated {
            trial: trial.duration,
        };
        Self::from_short_trial(trial, rules).map(|estimate| Self { basis, ..estimate })
    }

    /// The estimated load, over all directions.
    #[must_use]
    pub const fn rate(&self) -> Rate {
        self.rate
    }

    /// What it rests on.
    #[must_use]
    pub const fn basis(&self) -> Basis {
        self.basis
    }
}

/// The strongest thing one trial allows to be said.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Claim {
    /// Zero loss in a final trial.
    Throughput(Throughput),
    /// Frames were lost.
    LossRate(LossRate),
    /// Zero loss, but not for long enough.
    Estimate(Estimate),
}

impl Claim {
    /// From one trial; `None` when it says nothing of the DUT.
    #[must_use]
    pub fn from_trial(trial: &Trial, rules: &Rules) -> Option<Self> {
        if let Ok(throughput) = Throughput::from_trial(trial, rules) {
            return Some(Self::Throughput(throughput));
        }
        let lossy = LossRate::from_trial(trial, rules).map(Self::LossRate);
        lossy.or_else(|| Estimate::from_short_trial(trial, rules).map(Self::Estimate))
    }

    /// The load really sent.
    #[must_use]
    pub const fn rate(&self) -> Rate {
        match self {
            Self::Throughput(throughput) => throughput.rate(),
            Self::LossRate(loss) => loss.rate(),
            Self::Estimate(estimate) => estimate.rate(),
        }
    }
}

#[cfg(test)]
mod tests;
