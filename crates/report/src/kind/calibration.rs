//! Planted faults of `mpps calibrate`.

use super::described::{About, Answered, Described};
use crate::column::{On, TableRow, Unsure, columns, table};
use crate::gauges::{Gauges, Labels};
use crate::number;
use crate::told::Told;
use mpps_record::{CalibrationLine, Run, Verdict};
use serde_json::{Value, json};

impl Described for CalibrationLine {
    const PURPOSE: &'static str = "A proof of the meter: does it find planted faults?";

    fn title(&self) -> String {
        "Calibration: 64-octet frames, 1 flow; each fault is planted by a program that keeps its own count"
            .to_owned()
    }

    fn about(&self) -> About<'_> {
        (vec![("fault", &self.fault)], None)
    }

    fn rows(&self, _: On) -> Vec<TableRow> {
        let holds = if self.holds { "yes" } else { "NO" }.to_owned();
        let why = self.disturbed.as_deref();
        let columns = columns! {
            whole "planted" self.planted;
            whole "found" self.found;
            whole "tolerance" self.tolerance;
            words "unit" self.unit.clone();
            words "holds" why.map_or(holds.clone(), |_| "?".to_owned()), screen;
            words "holds" why.map_or(holds, |why| format!("not compared: {why}")), page;
        };
        let last = (&Verdict::Void, why.unwrap_or_default());
        let row = TableRow::new(0.0, columns);
        vec![row.unless(why.is_none(), self.fault.clone(), 0, last)]
    }

    /// All faults together.
    fn sentences(lines: &[Self]) -> Vec<String> {
        let (all, found) = (lines.len(), lines.iter().filter(|line| line.holds).count());
        let told =
            format!("The meter found {found} of {all} planted faults within their tolerance");
        let wrong = lines
            .iter()
            .filter(|line| line.answered() == Answered::NotMet);
        let (others, frames): (Vec<_>, Vec<_>) = wrong.partition(|line| quantity(line).is_some());
        let names: Vec<&str> = frames.iter().map(|line| line.fault.as_str()).collect();
        let miscounted = (!names.is_empty()).then(|| {
            let (some, names) = (names.len(), names.join(", "));
            format!(
                "{some} of {all} do not hold ({names}): frames are miscounted here. Trust no rate and no loss of this \
                 machine until they hold; run again when it is quieter"
            )
        });
        let told = (!lines.is_empty()).then_some(told);
        let others = others.into_iter().filter_map(off);
        told.into_iter().chain(miscounted).chain(others).collect()
    }

    /// A row each.
    fn told(lines: &[Self], _: &Run, verbose: bool) -> Vec<Told> {
        let on = On::terminal(verbose);
        let rows = Self::all_rows(lines, on);
        let unsure = rows.iter().filter_map(|row| row.unsure.as_ref());
        vec![Told {
            sentences: Self::sentences(lines),
            tables: vec![(String::new(), table(&rows, on))],
            remarks: unsure.map(Unsure::told).collect(),
        }]
    }

    fn gauges(&self, gauges: &mut Gauges, labels: &Labels<'_>, _: &Run) {
        let holds = if self.holds { 1.0 } else { 0.0 };
        gauges.add(
            "mpps_planted_fault_found",
            "Whether the meter found a planted fault.",
            labels,
            self.disturbed.is_none().then_some(holds),
        );
    }

    /// Of what the machine disturbed nobody knows.
    fn answered(&self) -> Answered {
        match (&self.disturbed, self.holds) {
            (Some(_), _) => Answered::Undecided,
            (None, true) => Answered::Measured,
            (None, false) => Answered::NotMet,
        }
    }

    fn document(lines: &[Self], _: &Run) -> Value {
        let disturbed = lines.iter().any(|line| line.disturbed.is_some());
        json!({ "disturbed": disturbed, "rows": lines })
    }

    /// An error that ended the run is said already.
    fn complaints(lines: &[Self], run: &Run) -> Vec<String> {
        let is_ended = run.end.as_ref().is_some_and(|end| end.error.is_some());
        let why = lines.iter().find_map(|line| line.disturbed.as_ref());
        let why = why.filter(|_| !is_ended);
        let told = why.map(|why| format!("could not calibrate all of it: {why}"));
        told.into_iter().collect()
    }
}

/// What a planted time is found in; `None` where frames were planted.
fn quantity(line: &CalibrationLine) -> Option<&'static str> {
    match line.unit.as_str() {
        "ns" => Some("latency"),
        "ns/frame" => Some("cost"),
        _ => None,
    }
}

/// By how much a time is wrong.
fn off(line: &CalibrationLine) -> Option<String> {
    let (fault, quantity) = (&line.fault, quantity(line)?);
    let off = line.found.zip(line.planted);
    let off = off.map_or(
        "was not read for any frame".to_owned(),
        |(found, planted)| {
            let off = number::whole((found - planted).abs(), number::spaced);
            format!("is wrong by {off} ns here")
        },
    );
    Some(format!(
        "{fault} does not hold: {quantity} {off}. Rates and losses do not depend on it. Quote no {quantity} of this \
         machine until it holds; run again when it is quieter"
    ))
}
