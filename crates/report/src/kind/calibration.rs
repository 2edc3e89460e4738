//! Planted faults of `mpps calibrate`.

use super::{Shown, dash};
use crate::gauges::{Gauges, Labels, with};
use crate::table::Table;
use mpps_record::{CalibrationLine, Plan, Run};

const COLUMNS: &str = "planted fault;planted;found;tolerance;unit;holds";

impl Shown for Vec<CalibrationLine> {
    fn purpose(&self, _: &Plan) -> Option<String> {
        Some("A proof of the meter: does it find planted faults?".to_owned())
    }

    fn sentences(&self) -> Vec<String> {
        let (all, found) = (self.len(), self.iter().filter(|line| line.holds).count());
        let told =
            format!("The meter found {found} of {all} planted faults within their tolerance");
        if self.is_empty() {
            Vec::new()
        } else {
            vec![told]
        }
    }

    fn table(&self) -> Table {
        Table::new(COLUMNS, self.iter().map(row))
    }

    fn gauges(&self, gauges: &mut Gauges, labels: &Labels<'_>, _: &Run) {
        for line in self {
            let labels = with(labels, &[("fault", &line.fault)]);
            let holds = if line.holds { 1.0 } else { 0.0 };
            let compared = line.disturbed.is_none().then_some(holds);
            gauges.add(
                "mpps_planted_fault_found",
                "Whether the meter found a planted fault.",
                &labels,
                compared,
            );
        }
    }
}

fn row(line: &CalibrationLine) -> Vec<String> {
    let number = |value: Option<f64>| value.map_or_else(dash, |value| value.to_string());
    vec![
        line.fault.clone(),
        number(line.planted),
        number(line.found),
        number(Some(line.tolerance)),
        line.unit.clone(),
        match (&line.disturbed, line.holds) {
            (Some(why), _) => format!("not compared: {why}"),
            (None, true) => "yes".to_owned(),
            (None, false) => "NO".to_owned(),
        },
    ]
}
