//! The points of `mpps fib-scale`.

use super::View;
use crate::terminal::{self, ScaleRow};
use anyhow::Result;
use mpps_record::Run;
use serde_json::json;
use std::path::Path;

/// Puts points on stdout.
///
/// # Errors
/// The result could not be written.
pub fn show(run: &Run, view: &View<'_>) -> Result<()> {
    let (begin, points) = (run.begin.as_ref(), &run.points);
    let scale = begin.and_then(|run| run.plan.scale.as_ref());
    let rows = ScaleRow::each(points);
    if view.json {
        view.print_json(
            run,
            &json!({
                "table": scale.map(|scale| &scale.table),
                "draw": scale.map(|scale| &scale.draw),
                "plot": view.plot,
                "points": points,
            }),
        )?;
    } else if !rows.is_empty() {
        let text = terminal::fib_scale(&rows, begin) + &terminal::scale_doubts(&rows, view.verbose);
        terminal::out(&terminal::fitted(&(text + &view.foot(begin))));
    }
    Ok(())
}

/// Cost and rate against routes or destinations.
pub fn plot(run: &Run) -> Option<String> {
    let begin = run.begin.as_ref()?;
    let scale = begin.plan.scale.as_ref()?;
    let title = terminal::scale_title(file_name(&scale.table), scale, begin);
    let (rows, machine) = (ScaleRow::each(&run.points), terminal::machine_line(begin));
    let bed = terminal::bed_line(&rows);
    let heading = [&title, &machine, &bed].map(String::as_str);
    (!rows.is_empty()).then(|| mpps_report::scale_picture(&run.points, &heading))
}

/// A plot has no room for folders.
fn file_name(from: &str) -> &str {
    let name = Path::new(from).file_name();
    name.and_then(|name| name.to_str()).unwrap_or(from)
}
