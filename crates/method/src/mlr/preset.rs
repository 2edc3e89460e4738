//! Goals people ask for by name.

use super::TRIALS_MAX;
use super::goal::SearchGoal;
use crate::units::Span;

/// Trials of the quick preset at most.
const QUICK_TRIALS: u32 = 25;
/// The partial drop rate where nobody says another (FD.io CSIT's).
pub const PDR_LOSS_RATIO: f64 = 0.005;

crate::named! {
    /// A set of attributes for goals.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Preset {
        /// An estimate in seconds: trials of 1 s, five at a load at most, 25 in all. A load is found by one trial, and
        /// the result confirmed by more of them, so that a lucky trial does not make it.
        Quick = "quick",
        /// As FD.io CSIT measures: trials of 1 s, up to 21 at a load, of which half may exceed; NDR and PDR.
        Csit = "csit",
        /// RFC 2544 section 24 to the letter: one trial of 60 s, nothing lost, nothing tolerated. Only this gives a
        /// throughput.
        Rfc2544 = "rfc2544",
    }
}

impl Preset {
    /// Attributes of a goal with this loss ratio.
    #[must_use]
    pub const fn goal(self, loss_ratio: f64) -> SearchGoal {
        let second = Span::from_millis(1_000);
        match self {
            Self::Quick => SearchGoal {
                loss_ratio,
                exceed_ratio: 0.5,
                initial_trial: second,
                final_trial: second,
                duration_sum: Span::from_millis(5_000),
                width: 0.02,
            },
            Self::Csit => SearchGoal {
                loss_ratio,
                exceed_ratio: 0.5,
                initial_trial: second,
                final_trial: second,
                duration_sum: Span::from_millis(21_000),
                width: 0.005,
            },
            Self::Rfc2544 => SearchGoal {
                loss_ratio,
                exceed_ratio: 0.0,
                initial_trial: second,
                final_trial: Span::from_millis(60_000),
                duration_sum: Span::from_millis(60_000),
                width: 0.01,
            },
        }
    }

    /// Loss ratios of its goals, where the user names none.
    #[must_use]
    pub const fn loss_ratios(self) -> &'static [f64] {
        match self {
            Self::Quick | Self::Rfc2544 => &[0.0],
            Self::Csit => &[0.0, PDR_LOSS_RATIO],
        }
    }

    /// Trials at most; void and not offered ones do not count.
    #[must_use]
    pub const fn trials_at_most(self) -> u32 {
        match self {
            Self::Quick => QUICK_TRIALS,
            Self::Csit | Self::Rfc2544 => TRIALS_MAX,
        }
    }
}
