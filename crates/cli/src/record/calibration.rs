//! A calibration's line: one planted fault, and what the meter made of it.

use mpps_lab::jobs::calibrate::Row;
use serde::Serialize;

/// One planted fault. The three numbers are in `unit`.
#[derive(Clone, Debug, Serialize)]
pub struct CalibrationLine {
    fault: &'static str,
    unit: &'static str,
    /// Null: the machine disturbed every trial.
    planted: Option<f64>,
    /// Null: the meter had nothing to say.
    found: Option<f64>,
    tolerance: f64,
    holds: bool,
    /// Why the machine's restlessness left nothing to compare; null where it did not.
    disturbed: Option<String>,
}

impl CalibrationLine {
    /// The line of one row.
    #[must_use]
    pub fn of(row: &Row) -> Self {
        Self {
            fault: row.fault,
            unit: row.unit,
            planted: Some(row.planted).filter(|planted| planted.is_finite()),
            found: Some(row.found).filter(|found| found.is_finite()),
            tolerance: row.tolerance,
            holds: row.holds(),
            disturbed: row.disturbed.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_is_a_line_and_nothing_found_is_null() {
        let row = Row {
            fault: "a delay",
            planted: 20_000.0,
            found: f64::NAN,
            tolerance: 5_000.0,
            unit: "ns",
            disturbed: None,
        };
        let line = serde_json::to_value(CalibrationLine::of(&row)).expect("serialises");
        assert_eq!(
            line,
            serde_json::json!({
                "fault": "a delay", "unit": "ns", "planted": 20_000.0, "found": null,
                "tolerance": 5_000.0, "holds": false, "disturbed": null,
            })
        );
        let row = Row {
            planted: f64::NAN,
            disturbed: Some("3 trials in a row were disturbed".to_owned()),
            ..row
        };
        let line = serde_json::to_value(CalibrationLine::of(&row)).expect("serialises");
        assert!(line["planted"].is_null() && line["holds"] == false);
        assert_eq!(line["disturbed"], "3 trials in a row were disturbed");
    }
}
