//! The curves of `mpps loss`.

use super::{View, is_simulated, machine};
use crate::terminal;
use anyhow::Result;
use mpps_record::Run;
use serde_json::json;

/// Puts curves on stdout.
///
/// # Errors
/// The result could not be written.
pub fn show(run: &Run, view: &View<'_>) -> Result<()> {
    let (begin, curves) = (run.begin.as_ref(), &run.curves);
    let machine = begin.map(machine);
    if view.json {
        view.print_json(
            run,
            &json!({
                "simulated": begin.is_some_and(is_simulated),
                "plot": view.plot,
                "curves": curves,
            }),
        )?;
    } else if !curves.is_empty() {
        let text = terminal::loss(curves, machine.as_deref().unwrap_or_default(), view.verbose);
        terminal::out(&terminal::fitted(&(text + &view.foot(begin))));
    }
    Ok(())
}

/// Loss and forwarding against load.
pub fn plot(run: &Run) -> Option<String> {
    let machine = machine(run.begin.as_ref()?);
    let title = terminal::loss_title(run.curves.first()?);
    Some(mpps_report::loss_picture(&run.curves, &[&title, &machine]))
}

/// Forwarding and answers by second of a lasting overload.
pub fn overload_plot(run: &Run) -> Option<String> {
    let machine = machine(run.begin.as_ref()?);
    let title = terminal::overload_title(run.overloads.first()?);
    Some(mpps_report::overload_picture(
        &run.overloads,
        &[&title, &machine],
    ))
}
