//! A calibration: a row for each planted fault.

use super::View;
use crate::terminal;
use anyhow::Result;
use mpps_record::Run;
use serde_json::json;

/// Puts a calibration on stdout.
///
/// # Errors
/// The result could not be written.
pub fn show(run: &Run, view: &View<'_>) -> Result<()> {
    let rows = &run.calibrations;
    let reason = rows.iter().find_map(|row| row.disturbed.as_ref());
    if view.json {
        view.print_json(run, &json!({ "disturbed": reason.is_some(), "rows": rows }))?;
    } else if !rows.is_empty() {
        terminal::out(&terminal::fitted(&terminal::calibration(rows)));
        terminal::out(&format!("\nrecord: {}\n", view.head.record));
    }
    // A run that ends with 2 says why, in JSON too.
    if let (None, Some(why)) = (view.head.error, reason) {
        terminal::error(&format!("could not calibrate all of it: {why}"));
    }
    Ok(())
}
