//! The points of `mpps fib-scale`.

use super::{Outcome, View, worst};
use crate::exit::Exit;
use crate::terminal::{self, Reading, Row, ScaleRow};
use anyhow::Result;
use mpps_record::{PointLine, Run};
use serde_json::{Value, json};
use std::path::Path;

impl Outcome for Vec<PointLine> {
    fn document(&self, run: &Run, view: &View<'_>) -> Result<Value> {
        let scale = run.begin.as_ref().and_then(|run| run.plan.scale.as_ref());
        Ok(json!({
            "table": scale.map(|scale| &scale.table),
            "draw": scale.map(|scale| &scale.draw),
            "plot": view.plot,
            "points": self,
        }))
    }

    fn shown(&self, run: &Run, view: &View<'_>) -> String {
        let (begin, rows) = (run.begin.as_ref(), ScaleRow::each(self));
        let text = terminal::fib_scale(&rows, begin) + &terminal::scale_doubts(&rows, view.verbose);
        text + &view.foot(begin)
    }

    /// A point that has nothing was disturbed.
    fn exit(&self, _: &Run) -> Exit {
        let exit = |row: &ScaleRow<'_>| {
            let reading = row.result.as_ref().map(Row::reading);
            match reading {
                _ if row.is_empty() => Exit::Disturbed,
                None | Some(Reading::Is(_) | Reading::AtLeast(_)) => Exit::Measured,
                Some(Reading::Below(_)) => Exit::NotMet,
                Some(Reading::Nothing) => Exit::Disturbed,
            }
        };
        worst(ScaleRow::each(self).iter().map(exit))
    }

    /// Cost and rate against routes or destinations.
    fn plot(&self, run: &Run) -> Option<String> {
        let begin = run.begin.as_ref()?;
        let scale = begin.plan.scale.as_ref()?;
        let title = terminal::scale_title(file_name(&scale.table), scale, begin);
        let (rows, machine) = (ScaleRow::each(self), terminal::machine_line(begin));
        let bed = terminal::bed_line(&rows);
        let heading = [&title, &machine, &bed].map(String::as_str);
        (!rows.is_empty()).then(|| mpps_report::scale_picture(self, &heading))
    }
}

/// A plot has no room for folders.
fn file_name(from: &str) -> &str {
    let name = Path::new(from).file_name();
    name.and_then(|name| name.to_str()).unwrap_or(from)
}
