//! What a person reads when a measurement has ended: a sentence a frame size, one table, the doubts that change it.

use super::details::{details, once};
use super::doubts::{doubts, doubts_in_full};
use super::headline::{headline, name};
use super::{fitted, grouped, table};
use crate::figures::Figures;
use mpps_lab::doubt::Finding;
use mpps_lab::jobs::throughput::ThroughputPlan;
use mpps_lab::tester::ReceiverPlace;
use mpps_method::simulate::Properties;
use mpps_record::Comparability;
use std::fmt::Write;
use std::path::Path;

/// Where results are from.
#[derive(Clone, Copy)]
pub enum Place<'a> {
    /// A router of ours.
    Bed,
    /// A device of somebody else's between real ports.
    Device,
    /// A simulated pair.
    Simulated(&'a Properties),
}

/// A measurement that has ended.
pub struct Report<'a> {
    /// One a frame size and goal.
    pub rows: &'a [Figures],
    /// Those of them that were measured.
    pub findings: &'a [Finding],
    /// What was to be measured.
    pub plan: &'a ThroughputPlan,
    /// Where.
    pub place: Place<'a>,
    /// The set-up script that ran, and its hash.
    pub setup: Option<&'a str>,
    /// What results may be compared by.
    pub comparability: &'a Comparability,
    /// The record.
    pub record: &'a Path,
    /// Whether to tell every detail.
    pub verbose: bool,
}

impl Report<'_> {
    /// Writes it to stdout, its sentences in bold where that is a terminal.
    pub fn print(&self) {
        let head = fitted(&self.head());
        super::out(&super::style::bold(&head));
        super::out(&fitted(&self.body()));
    }

    /// What is to be read before anything else.
    fn head(&self) -> String {
        let mut text = once(self.rows.iter().filter_map(|row| {
            let found = row.unstable?;
            Some(format!("{}: UNSTABLE: {found}\n", name(row)))
        }));
        if !text.is_empty() {
            text.push_str("Chance decided the results below.\n");
        }
        if let Place::Simulated(pair) = self.place {
            let _ = writeln!(text, "SIMULATED, nothing was measured: {pair}");
        }
        for row in self.rows {
            let _ = writeln!(text, "{}", headline(row));
        }
        text
    }

    fn body(&self) -> String {
        let mut text = format!("\n{}", table(self.rows));
        let notes = self.notes();
        if !notes.is_empty() {
            let _ = write!(text, "\n{notes}");
        }
        if self.verbose {
            text.push_str(&details(self.rows, self.plan, self.place));
            text.push_str(&doubts_in_full(self.findings));
            let _ = writeln!(text, "\ncomparable with: {}", self.comparability);
        } else {
            text.push_str(&doubts(self.rows, self.findings));
            let key = &self.comparability.key;
            let _ = writeln!(
                text,
                "\ncomparable with: {key} (-v: of what, and all details)"
            );
        }
        let _ = writeln!(text, "record: {}", self.record.display());
        text
    }

    /// What the columns stand for, and what a rate means little without.
    fn notes(&self) -> String {
        let mut text = String::new();
        text.push_str(&self.bed_note());
        let apart = |row: &Figures| {
            let ns = row.saturated.maximum()?.distance_ns?;
            Some(format!(
                "{:.0} ns ({})",
                (ns / 10.0).round() * 10.0,
                row.subject
            ))
        };
        let apart: Vec<String> = self.rows.iter().filter_map(apart).collect();
        if !apart.is_empty() {
            let _ = writeln!(
                text,
                "round trip of a cache line between the tester's CPU and the router's: {}; compare only results with similar round trips",
                apart.join(", ")
            );
        }
        if let Some(setup) = self.setup {
            let _ = writeln!(text, "set-up script: {setup}");
        }
        text + &self.traffic_notes()
    }

    /// What the bed's part of a frame's cost is made of.
    fn bed_note(&self) -> String {
        let costs = || self.rows.iter().filter(|row| row.saturated.cost.is_some());
        let program = costs().filter_map(|row| row.saturated.exit_program_ns);
        let program = match (
            program.clone().min_by(f64::total_cmp),
            program.max_by(f64::total_cmp),
        ) {
            (Some(least), Some(most)) => {
                let (least, most) = (format!("{least:.0}"), format!("{most:.0}"));
                let range = if least == most {
                    least
                } else {
                    format!("{least} to {most}")
                };
                format!(" (the receiver's program: {range} ns of it)")
            }
            _ => String::new(),
        };
        once(costs().map(|row| {
            let receiver = match row.receiver {
                Some(ReceiverPlace::Port) => "cable".to_owned(),
                Some(ReceiverPlace::Exit) | None => format!("exit{program}"),
            };
            format!(
                "bed: virtual NIC and {receiver}, measured with a wire in place of the router\n"
            )
        }))
    }

    /// How many flows began, and where frames went.
    fn traffic_notes(&self) -> String {
        let traffic = &self.plan.traffic;
        let mut text = String::new();
        let new = |row: &Figures| {
            let new = grouped(row.new_flows_per_s?.round() as u64);
            Some(format!("{}: {new}", row.frames))
        };
        let each: Vec<String> = self.rows.iter().filter_map(new).collect();
        if !each.is_empty() {
            let _ = writeln!(text, "new flows/s: {}", each.join(", "));
        }
        if let Some(destinations) = &traffic.destinations {
            let count = grouped(destinations.distinct);
            let (draw, from) = (destinations.draw, &destinations.from);
            let prefixes = grouped(destinations.prefixes as u64);
            let _ = writeln!(
                text,
                "destinations: {count} ({draw}) from {prefixes} routes of {from}"
            );
        }
        if traffic.missing() {
            text.push_str("no frame has a route: the rates count frames that the DUT drops for that reason, with none lost earlier\n");
        }
        text
    }
}

/// What results may be compared by.
#[must_use]
pub fn comparability(key: &Comparability) -> String {
    format!("comparable with: {key}\n")
}

#[cfg(test)]
pub(in crate::terminal) mod tests;
