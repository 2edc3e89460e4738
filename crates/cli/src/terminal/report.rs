//! What a person reads when a measurement has ended: a sentence a frame size, one table, the doubts that change it.

use super::details::{details, listed, once};
use super::doubts::Doubted;
use super::{Reading, Row, error, fitted, grouped, table};
use crate::exit::Exit;
use crate::expectation;
use crate::outcome::{Outcome, View, worst};
use anyhow::Result;
use mpps_method::destinations::Draw;
use mpps_record::doubts::{SIMULATED, TESTER_NEAR_CEILING, UNSTABLE};
use mpps_record::{ForwardingLimit, ReceiverPlace, ResultLine, Run, RunBed, RunLine};
use mpps_report::headline::headline;
use serde_json::{Value, json};
use std::fmt::Write;

/// A measurement that has ended, as its record has it.
pub struct Report<'a> {
    /// Its first line; `None` where that cannot be read.
    pub run: Option<&'a RunLine>,
    /// One a frame size and goal.
    pub rows: &'a [Row<'a>],
    /// How it is shown.
    pub view: &'a View<'a>,
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
            let found = row.unstable.as_ref()?;
            Some(format!("{}: UNSTABLE: {found}\n", row.name))
        }));
        if !text.is_empty() {
            text.push_str("Chance decided the results below.\n");
        }
        match self.run.map(|run| &run.bed) {
            Some(RunBed::Simulated { pair }) => {
                let _ = writeln!(text, "SIMULATED, nothing was measured: {pair}");
            }
            _ if self.rows.iter().any(|row| row.simulated) => {
                text.push_str("SIMULATED, nothing was measured\n");
            }
            _ => {}
        }
        for row in self.rows {
            let _ = writeln!(text, "{}", headline(row));
        }
        text
    }

    fn body(&self) -> String {
        let table = table(self.rows);
        let mut text = match table.is_empty() {
            true => String::new(),
            false => format!("\n{table}"),
        };
        let notes = self.notes();
        if !notes.is_empty() {
            let _ = write!(text, "\n{notes}");
        }
        let verbose = self.view.verbose;
        if verbose {
            text.push_str(&details(self.rows, self.run));
        }
        text + &doubted(self.rows).lines(verbose) + &self.view.foot(self.run) + self.next()
    }

    /// Names the verbs that explain and move the limit. Both need a bed of their own.
    fn next(&self) -> &'static str {
        let is_on_bed = matches!(self.run.map(|run| &run.bed), Some(RunBed::Namespaces(_)));
        let limit = Some(ForwardingLimit::RouterCpu);
        let is_router = |row: &Row<'_>| row.overload.max_forwarding_limited_by == limit;
        match is_on_bed && self.rows.iter().any(is_router) {
            true => {
                "next: mpps explain (where the time goes), mpps tune measure (what a setting changes)\n"
            }
            false => "",
        }
    }

    /// In which state the machine was.
    fn state_note(&self) -> Option<String> {
        let tens = |ns: f64| (ns / 10.0).round() * 10.0;
        let work = |row: &Row<'_>| row.overload.max_forwarding_work_ns.map(tens);
        let state = |row: &Row<'_>| {
            let apart = tens(row.overload.max_forwarding_cpu_distance_ns?);
            let work = work(row).map_or(String::new(), |ns| format!("/{ns:.0}"));
            Some(format!("{apart:.0}{work} ns ({})", row.subject))
        };
        let and_work = match self.rows.iter().any(|row| work(row).is_some()) {
            true => "/fixed work",
            false => "",
        };
        let what = format!("state of the machine (CPU distance{and_work})");
        listed(&what, self.rows.iter().filter_map(state)).map(|states| states + "\n")
    }

    /// What the columns stand for, and what a rate means little without.
    fn notes(&self) -> String {
        self.bed_note() + &self.state_note().unwrap_or_default() + &self.traffic_notes()
    }

    /// What the bed's part of a frame's cost is made of.
    fn bed_note(&self) -> String {
        let costs = || self.rows.iter().filter(|row| row.overload.cost.is_some());
        let program = costs().filter_map(|row| row.overload.exit_program_ns);
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
                format!(" (receiver's program: {range} ns)")
            }
            _ => String::new(),
        };
        once(costs().map(|row| {
            let receiver = match row.receiver {
                Some(ReceiverPlace::Port) => "cable".to_owned(),
                _ => format!("exit{program}"),
            };
            format!("bed: virtual NIC and {receiver}, measured through a wire\n")
        }))
    }

    /// How many flows began, and where frames went.
    fn traffic_notes(&self) -> String {
        let mut text = String::new();
        let new = |row: &Row<'_>| {
            let new = grouped(row.new_flows_per_s?.round() as u64);
            Some(format!("{}: {new}", row.frame))
        };
        let new_flows = listed("new flows/s", self.rows.iter().filter_map(new));
        text.extend(new_flows.map(|flows| flows + "\n"));
        let plan = self.run.map(|run| &run.plan);
        if let Some(destinations) = plan.and_then(|plan| plan.traffic.destinations.as_ref()) {
            let count = grouped(destinations.distinct);
            let (draw, from) = (&destinations.draw, &destinations.from);
            let prefixes = grouped(destinations.prefixes);
            let _ = writeln!(
                text,
                "destinations: {count} ({draw}) from {prefixes} routes of {from}"
            );
            if *draw == Draw::Missing.to_string() {
                text.push_str("no frame has a route: the rates count frames that the DUT drops for that reason, with none lost earlier\n");
            }
        }
        text
    }
}

/// Rows of which anything is known, with their doubts; the sentences above the table say some.
pub(super) fn doubted<'a>(rows: &'a [Row<'_>]) -> Doubted<'a> {
    let is_known = |row: &&Row<'_>| row.trials > 0 || !row.doubts.is_empty();
    let by_tester =
        |row: &Row<'_>| row.overload.max_forwarding_limited_by == Some(ForwardingLimit::Tester);
    let near = rows.iter().all(by_tester).then_some(TESTER_NEAR_CEILING);
    let known = rows.iter().filter(is_known);
    Doubted {
        subjects: known
            .map(|row| (row.subject.as_str().into(), row.doubts.as_slice()))
            .collect(),
        noun: "results",
        named_max: 5,
        said: [SIMULATED, UNSTABLE].into_iter().chain(near).collect(),
    }
}

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
            view,
        };
        report.print();
    }

    fn tell(&self, run: &Run, view: &View<'_>) {
        let rows = Row::each(self);
        let unmet = expectation::all_unmet(run.begin.as_ref(), &rows);
        if view.is_undecided() && unmet.is_empty() {
            let named = |is: fn(&Row<'_>) -> bool| {
                let rows = rows.iter().filter(|row| is(row));
                let names: Vec<&str> = rows.map(|row| row.subject.as_str()).collect();
                names.join(", ")
            };
            let missing = named(|row| row.reading() == Reading::Nothing);
            let open = named(expectation::is_open);
            for (what, names) in [
                ("not measured", missing),
                ("no load of the search passed", open),
            ] {
                if !names.is_empty() {
                    error(&format!(
                        "{what}: {names} (run again when the machine is quieter)"
                    ));
                }
            }
        }
        for line in &unmet {
            error(line);
        }
    }

    /// Another try may measure what was not measured; what was measured and falls short stays so.
    fn exit(&self, run: &Run) -> Exit {
        let exit = |row: &Row<'_>| match row.reading() {
            Reading::Nothing => Exit::Undecided,
            Reading::Below(_) if !expectation::is_open(row) => Exit::NotMet,
            reading => match expectation::unmet(run.begin.as_ref(), row) {
                Some(unmet) if unmet.may_be_met => Exit::Undecided,
                Some(_) => Exit::NotMet,
                None if matches!(reading, Reading::Below(_)) => Exit::Undecided,
                None => Exit::Measured,
            },
        };
        worst(Row::each(self).iter().map(exit))
    }
}

#[cfg(all(test, feature = "measure"))]
pub(in crate::terminal) mod tests;
