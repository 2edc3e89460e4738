//! A calibration's line: one planted fault, and what the meter made of it.

use mpps_lab::jobs::calibrate::Row;
use serde::Serialize;

/// One planted fault. The three numbers are in `unit`.
#[derive(Clone, Debug, Serialize)]
pub struct CalibrationLine {
    fault: &'static str,
    unit: &'static str,
    planted: f64,
    /// Null: the meter had nothing to say.
    found: Option<f64>,
    tolerance: f64,
    holds: bool,
}

impl CalibrationLine {
    /// The line of one row.
    #[must_use]
    pub fn of(row: &Row) -> Self {
        Self {
            fault: row.fault,
            unit: row.unit,
            planted: row.planted,
            found: Some(row.found).filter(|found| found.is_finite()),
            tolerance: row.tolerance,
            holds: row.holds(),
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
        };
        let line = serde_json::to_value(CalibrationLine::of(&row)).expect("serialises");
        assert_eq!(
            line,
            serde_json::json!({
                "fault": "a delay", "unit": "ns", "planted": 20_000.0, "found": null,
                "tolerance": 5_000.0, "holds": false,
            })
        );
    }
}
