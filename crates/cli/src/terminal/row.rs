//! A result of a record as a row: what it is about, and how its rate is to be read.

use mpps_lab::doubt::{LOST_DISTURBED, Reading};
use mpps_method::Rate;
use mpps_record::{RateIs, ResultLine};
use std::ops::Deref;

/// A result, and what it is about.
#[derive(Clone, Debug)]
pub struct Row<'a> {
    /// The frame sizes, and the goal where there are several: `64`, `64 pdr 0.5 %`.
    pub subject: String,
    line: &'a ResultLine,
}

impl Deref for Row<'_> {
    type Target = ResultLine;

    fn deref(&self) -> &ResultLine {
        self.line
    }
}

impl<'a> Row<'a> {
    /// A row a result. Results of one frame size stand one after the other.
    #[must_use]
    pub fn each(results: &'a [ResultLine]) -> Vec<Self> {
        let alike = |two: &[ResultLine]| two[0].frame == two[1].frame && two[0].goal != two[1].goal;
        let several_goals = results.windows(2).any(alike);
        let row = |line: &'a ResultLine| Self {
            subject: match &line.goal {
                Some(goal) if several_goals => format!("{} {goal}", line.frame),
                _ => line.frame.clone(),
            },
            line,
        };
        results.iter().map(row).collect()
    }

    /// How the rate is to be read.
    #[must_use]
    pub fn reading(&self) -> Reading {
        let rate = self.rate_fps.map(from_fps);
        match (&self.rate_is, rate) {
            (Some(RateIs::Equal), Some(rate)) => Reading::Is(rate),
            (Some(RateIs::AtLeast), Some(rate)) => Reading::AtLeast(rate),
            (Some(RateIs::Below), Some(rate)) => Reading::Below(rate),
            _ => Reading::Nothing,
        }
    }

    /// Whether it leaves out frames that were lost or left unsent in disturbances.
    #[must_use]
    pub fn is_disturbed(&self) -> bool {
        self.doubts.iter().any(|doubt| doubt.name == LOST_DISTURBED)
    }

    /// Loss that its goal allows, 0 to 1.
    #[must_use]
    pub fn loss_allowed(&self) -> f64 {
        self.goal_loss_ratio.unwrap_or(0.0)
    }
}

/// A rate of a record.
#[must_use]
pub fn from_fps(fps: u64) -> Rate {
    Rate::from_fps(fps as f64)
}
