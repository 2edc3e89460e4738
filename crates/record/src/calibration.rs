//! A calibration's line: one planted fault, and the meter's answer.

use crate::kind::Other;
use serde::{Deserialize, Serialize};

/// One planted fault. The three numbers are in `unit`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CalibrationLine {
    /// Its name.
    pub fault: String,
    /// `frames`, `ns`, `ns/frame`.
    pub unit: String,
    /// Null: the machine disturbed every trial.
    pub planted: Option<f64>,
    /// Null: the meter had nothing to say.
    pub found: Option<f64>,
    /// How far apart they may be.
    pub tolerance: f64,
    /// Whether they agree.
    pub holds: bool,
    /// Why the machine left nothing to compare; null where it did not.
    pub disturbed: Option<String>,
    /// Members that this version does not know.
    #[serde(flatten)]
    pub other: Other,
}
