//! A calibration's row as its line has it.

use mpps_lab::jobs::calibrate::Row;
use mpps_record::{CalibrationLine, Other};

/// The line of one row.
#[must_use]
pub fn calibration_line(row: &Row) -> CalibrationLine {
    CalibrationLine {
        fault: row.fault.to_owned(),
        unit: row.unit.to_owned(),
        planted: Some(row.planted).filter(|planted| planted.is_finite()),
        found: Some(row.found).filter(|found| found.is_finite()),
        tolerance: row.tolerance,
        holds: row.holds(),
        disturbed: row.disturbed.clone(),
        other: Other::new(),
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
        let line = serde_json::to_value(calibration_line(&row)).expect("serialises");
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
        let line = serde_json::to_value(calibration_line(&row)).expect("serialises");
        assert!(line["planted"].is_null() && line["holds"] == false);
        assert_eq!(line["disturbed"], "3 trials in a row were disturbed");
    }
}
