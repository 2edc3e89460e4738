//! The results of `mpps throughput`: a row for each frame size and goal.

use super::{Outcome, View, worst};
use crate::exit::Exit;
use crate::expectation;
use crate::terminal::{self, Report, Row};
use anyhow::Result;
use mpps_record::{ResultLine, Run};
use mpps_report::Reading;
use serde_json::{Value, json};

impl Outcome for Vec<ResultLine> {
    fn document(&self, run: &Run, _: &View<'_>) -> Result<Value> {
        let plan = run.begin.as_ref().map(|begin| &begin.plan);
        let search = plan.and_then(|plan| plan.search.as_ref());
        Ok(json!({
            "simulated": self.iter().any(|line| line.simulated),
            "pass_rule": search.and_then(|search| search.pass_rule.as_deref()),
            "link_bits_per_s": search.map(|search| search.link_bits_per_s),
            "link_source": search.map(|search| &search.link_source),
            "expected_min_fps": plan.and_then(|plan| plan.expected_min_fps),
            "expectation_unmet": expectation::all_unmet(run.begin.as_ref(), &Row::each(self)),
            "results": self,
        }))
    }

    fn put(&self, run: &Run, view: &View<'_>) {
        let report = Report {
            run: run.begin.as_ref(),
            rows: &Row::each(self),
            record: &view.head.record,
            verbose: view.verbose,
        };
        report.print();
    }

    fn tell(&self, run: &Run, view: &View<'_>) {
        let rows = Row::each(self);
        let unmet = expectation::all_unmet(run.begin.as_ref(), &rows);
        if view.is_disturbed() && unmet.is_empty() {
            let missing = rows.iter().filter(|row| row.reading() == Reading::Nothing);
            let missing: Vec<&str> = missing.map(|row| row.subject.as_str()).collect();
            terminal::error(&format!(
                "not measured: {} (run again when the machine is quieter)",
                missing.join(", ")
            ));
        }
        for line in &unmet {
            terminal::error(line);
        }
    }

    /// Another try may measure what was not measured; what was measured and falls short stays so.
    fn exit(&self, run: &Run) -> Exit {
        let exit = |row: &Row<'_>| match row.reading() {
            Reading::Nothing => Exit::Disturbed,
            Reading::Below(_) => Exit::NotMet,
            _ if !expectation::all_unmet(run.begin.as_ref(), std::slice::from_ref(row))
                .is_empty() =>
            {
                Exit::NotMet
            }
            Reading::Is(_) | Reading::AtLeast(_) => Exit::Measured,
        };
        worst(Row::each(self).iter().map(exit))
    }
}
