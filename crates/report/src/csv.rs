//! One row a trial, then one row for each member of every line of results (RFC 4180). A cell is empty where its value
//! was not read, or where the row has no such value.

use crate::campaign::CampaignRun;
use crate::members;
use crate::source::Gathered;
use crate::trial::Figures;
use mpps_record::{Body, CellLine, Run, TrialLine};
use serde_json::{Value, json};
use std::io::{self, Write};

/// Cells of every row.
type RunColumn = (&'static str, fn(&str, &Run) -> String);
/// Cells of a trial's row.
type TrialColumn = (&'static str, fn(&TrialLine, &Figures) -> String);

const OF_RUN: [RunColumn; 5] = [
    ("file", |file, _| file.to_owned()),
    ("run", |_, run| run.name.clone()),
    ("schema", |_, run| run.schema.to_string()),
    ("begun_utc", |_, run| known(run.begun_utc())),
    ("job", |_, run| known(run.job())),
];
const OF_TRIAL: [TrialColumn; 27] = [
    ("trial", |trial, _| trial.trial.to_string()),
    ("frame", |trial, _| trial.frame.clone()),
    ("phase", |trial, _| trial.phase.to_string()),
    ("variant", |trial, _| known(trial.variant.as_ref())),
    ("verdict", |trial, _| trial.verdict.to_string()),
    ("verdict_text", |trial, _| trial.verdict_text.clone()),
    ("begun_after_ns", |trial, _| known(trial.begun_after_ns)),
    ("duration_ns", |trial, _| trial.duration_ns.to_string()),
    ("offered_fps", |_, figures| figures.offered_fps.to_string()),
    ("sent_fps", |_, figures| figures.sent_fps.to_string()),
    ("forwarding_fps", |_, figures| {
        figures.forwarded_fps.to_string()
    }),
    ("intended_frames", |_, figures| figures.intended.to_string()),
    ("sent_frames", |_, figures| figures.sent.to_string()),
    ("unsent_frames", |_, figures| figures.unsent.to_string()),
    ("received_frames", |_, figures| figures.received.to_string()),
    ("lost_frames", |_, figures| figures.lost.to_string()),
    ("lost_disturbed_frames", |_, figures| {
        known(figures.lost_disturbed)
    }),
    ("lost_by_tester_frames", |_, figures| {
        figures.lost_by_tester.to_string()
    }),
    ("overdue_frames", |_, figures| known(figures.overdue)),
    ("reached_frames", |_, figures| figures.reached.to_string()),
    ("loss_ratio", |_, figures| figures.loss.to_string()),
    ("dut_busiest_cpu_share", |_, figures| known(figures.busy)),
    ("latency_p50_ns", |trial, _| known(trial.latency.p50_ns)),
    ("latency_p99_ns", |trial, _| known(trial.latency.p99_ns)),
    ("latency_p999_ns", |trial, _| known(trial.latency.p999_ns)),
    ("latency_max_ns", |trial, _| known(trial.latency.max_ns)),
    ("longest_stall_ns", |_, figures| known(figures.gap_ns)),
];
/// Columns of the other rows. Their frame size stands in the trials' column.
const OF_MEMBER: [&str; 3] = ["line", "member", "value"];
/// The member that has its column among the trials'.
const FRAME: &str = "frame";

/// Writes the trials and the results of all runs, row by row, because all rows together take memory.
///
/// # Errors
/// The writer's own.
pub fn csv(all: &Gathered, to: &mut dyn Write) -> io::Result<()> {
    let names = (OF_RUN.map(|(name, _)| name).into_iter())
        .chain(OF_TRIAL.map(|(name, _)| name))
        .chain(OF_MEMBER);
    let runs: Vec<&Run> = all.runs.iter().map(|(_, run)| run).collect();
    let campaigns = CampaignRun::each(&runs);
    let mut rows = Rows(to);
    rows.add(names.map(str::to_owned))?;
    for (file, run) in &all.runs {
        let of_run = OF_RUN.map(|(_, cell)| cell(file, run));
        for trial in &run.trials {
            let figures = Figures::new(trial);
            let cells = OF_TRIAL.map(|(_, cell)| cell(trial, &figures));
            let of_member = [TrialLine::KIND.to_owned(), String::new(), String::new()];
            rows.add(of_run.iter().cloned().chain(cells).chain(of_member))?;
        }
        for lines in run.answers() {
            rows.add_members(&of_run, lines.kind(), lines.values())?;
        }
        for campaign in campaigns.iter().filter(|own| own.run.name == run.name) {
            let cells = campaign.cells.iter().map(|cell| json!(cell.line));
            rows.add_members(&of_run, CellLine::KIND, cells.collect())?;
            let verdicts = campaign.claims().into_iter().map(|judged| {
                let (verdict, reason) = (judged.verdict.to_string(), judged.reason());
                json!({ "claim": judged.claim.id, "cell": judged.cell, "verdict": verdict, "reason": reason })
            });
            rows.add_members(&of_run, "verdict", verdicts.collect())?;
        }
    }
    Ok(())
}

struct Rows<'a>(&'a mut dyn Write);

impl Rows<'_> {
    fn add(&mut self, cells: impl Iterator<Item = String>) -> io::Result<()> {
        let cells: Vec<String> = cells.map(quoted).collect();
        write!(self.0, "{}\r\n", cells.join(","))
    }

    /// The members of these lines, by the names that a page's tables have too.
    fn add_members(&mut self, of_run: &[String], kind: &str, lines: Vec<Value>) -> io::Result<()> {
        for line in lines {
            let members = members::rows(&line);
            let frame = members.iter().find(|(name, _)| name == FRAME);
            let frame = frame.map_or("", |(_, frame)| frame);
            let of_trial = OF_TRIAL.map(|(name, _)| match name {
                FRAME => frame.to_owned(),
                _ => String::new(),
            });
            for (member, value) in members.iter().filter(|(name, _)| name != FRAME) {
                let of_member = [kind.to_owned(), member.clone(), value.clone()];
                let cells = of_run.iter().cloned().chain(of_trial.clone());
                self.add(cells.chain(of_member))?;
            }
        }
        Ok(())
    }
}

fn known(value: Option<impl ToString>) -> String {
    value.map_or(String::new(), |value| value.to_string())
}

/// A spreadsheet runs a text that begins as a formula does: an apostrophe keeps it a text. A number stays as it is.
fn quoted(mut cell: String) -> String {
    if cell.len() > 1
        && cell.starts_with(['=', '+', '-', '@', '\t', '\r'])
        && cell.parse::<f64>().is_err()
    {
        cell.insert(0, '\'');
    }
    if cell.contains(['"', ',', '\r', '\n']) {
        return format!("\"{}\"", cell.replace('"', "\"\""));
    }
    cell
}
