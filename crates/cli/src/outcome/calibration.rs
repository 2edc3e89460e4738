//! A calibration: a row for each planted fault.

use super::{Outcome, View, worst};
use crate::exit::Exit;
use crate::terminal;
use anyhow::Result;
use mpps_record::{CalibrationLine, Run};
use serde_json::{Value, json};

impl Outcome for Vec<CalibrationLine> {
    fn document(&self, _: &Run, _: &View<'_>) -> Result<Value> {
        let disturbed = self.iter().any(|row| row.disturbed.is_some());
        Ok(json!({ "disturbed": disturbed, "rows": self }))
    }

    fn shown(&self, _: &Run, view: &View<'_>) -> String {
        terminal::calibration(self) + &view.record()
    }

    /// A run that ends with 2 says why, in JSON too.
    fn tell(&self, _: &Run, view: &View<'_>) {
        let reason = self.iter().find_map(|row| row.disturbed.as_ref());
        if let (None, Some(why)) = (view.head.error, reason) {
            terminal::error(&format!("could not calibrate all of it: {why}"));
        }
    }

    /// Everything found is the meter doing its work; anything not found is the meter failing it; and of what the machine
    /// disturbed nobody knows.
    fn exit(&self, _: &Run) -> Exit {
        let exit = |row: &CalibrationLine| match (&row.disturbed, row.holds) {
            (Some(_), _) => Exit::Disturbed,
            (None, true) => Exit::Measured,
            (None, false) => Exit::NotMet,
        };
        worst(self.iter().map(exit))
    }
}
