//! The curves of `mpps loss`.

use super::{Head, View, json};
use crate::terminal;
use anyhow::Result;
use mpps_record::{Comparability, CurveLine, Place, Run, RunLine, Traffic};
use serde::Serialize;
use std::path::Path;

/// Puts curves on stdout.
///
/// # Errors
/// The result could not be written.
pub fn show(run: &Run, view: &View<'_>) -> Result<()> {
    let (begin, curves) = (run.begin.as_ref(), &run.curves);
    let machine = begin.map(machine);
    if view.json {
        terminal::out(&json(&Document {
            head: &view.head,
            simulated: begin.is_some_and(is_simulated),
            comparability: begin.map(|run| &run.comparability),
            traffic: begin.map(|run| &run.plan.traffic),
            machine,
            plot: view.plot,
            curves,
        })?);
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

fn is_simulated(run: &RunLine) -> bool {
    matches!(run.bed, Place::Simulated { .. })
}

/// The machine in words, or the simulated pair.
fn machine(run: &RunLine) -> String {
    match &run.bed {
        Place::Simulated { pair } => format!("simulated: {pair}"),
        _ => terminal::machine_line(run),
    }
}

/// The result as one JSON object.
#[derive(Serialize)]
struct Document<'a> {
    #[serde(flatten)]
    head: &'a Head<'a>,
    /// Whether tester and router were simulated: nothing was measured.
    simulated: bool,
    comparability: Option<&'a Comparability>,
    traffic: Option<&'a Traffic>,
    /// CPU, hypervisor, kernel, date and version, in words.
    machine: Option<String>,
    plot: Option<&'a Path>,
    curves: &'a [CurveLine],
}
