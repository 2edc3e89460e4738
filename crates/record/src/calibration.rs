//! A calibration's line: one planted fault, and the meter's answer.

use crate::other::Other;
use serde::{Deserialize, Serialize};

/// One planted fault. The three numbers are in `unit`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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

impl CalibrationLine {
    /// A fault named `fault` of the size `planted`, which the meter found to be `found`. NaN: nobody knows, or nothing.
    #[must_use]
    pub fn new(fault: &str, unit: &str, tolerance: f64, planted: f64, found: f64) -> Self {
        Self {
            fault: fault.to_owned(),
            unit: unit.to_owned(),
            planted: Some(planted).filter(|planted| planted.is_finite()),
            found: Some(found).filter(|found| found.is_finite()),
            tolerance,
            holds: planted > 0.0 && (planted - found).abs() <= tolerance,
            disturbed: None,
            other: Other::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_found_is_null() {
        let line = |planted, found| CalibrationLine::new("a delay", "ns", 5e3, planted, found);
        let json = |line| serde_json::to_value(line).expect("serialises");
        assert_eq!(
            json(line(20_000.0, f64::NAN)),
            serde_json::json!({
                "fault": "a delay", "unit": "ns", "planted": 20_000.0, "found": null,
                "tolerance": 5_000.0, "holds": false, "disturbed": null,
            })
        );
        let unknown = line(f64::NAN, f64::NAN);
        assert!(unknown.planted.is_none() && !unknown.holds);
        assert!(line(20_000.0, 15_000.0).holds && !line(20_000.0, 14_999.0).holds);
        assert!(!line(0.0, 0.0).holds, "nothing was planted");
    }
}
