//! One row a trial (RFC 4180). A cell without a value was not read.

use crate::source::Gathered;
use crate::trial::Figures;
use mpps_record::{Run, TrialLine};

/// A row's trial, with all that its cells come from.
struct Row<'a> {
    file: &'a str,
    run: &'a Run,
    trial: &'a TrialLine,
    figures: Figures,
}

type Column = (&'static str, fn(&Row<'_>) -> String);

const COLUMNS: [Column; 30] = [
    ("file", |row| row.file.to_owned()),
    ("run", |row| row.run.name.clone()),
    ("schema", |row| row.run.schema.to_string()),
    ("begun_utc", |row| {
        let begin = row.run.begin.as_ref();
        begin.map_or(String::new(), |begin| begin.begun_utc.clone())
    }),
    ("job", |row| {
        let begin = row.run.begin.as_ref();
        begin.map_or(String::new(), |begin| begin.job.clone())
    }),
    ("trial", |row| row.trial.trial.to_string()),
    ("frame", |row| row.trial.frame.clone()),
    ("phase", |row| row.trial.phase.to_string()),
    ("verdict", |row| row.trial.verdict.to_string()),
    ("verdict_text", |row| row.trial.verdict_text.clone()),
    ("begun_after_ns", |row| known(row.trial.begun_after_ns)),
    ("duration_ns", |row| row.trial.duration_ns.to_string()),
    ("offered_fps", |row| row.figures.offered_fps.to_string()),
    ("sent_fps", |row| row.figures.sent_fps.to_string()),
    ("forwarding_fps", |row| {
        row.figures.forwarded_fps.to_string()
    }),
    ("intended_frames", |row| row.figures.intended.to_string()),
    ("sent_frames", |row| row.figures.sent.to_string()),
    ("unsent_frames", |row| row.figures.unsent.to_string()),
    ("received_frames", |row| row.figures.received.to_string()),
    ("lost_frames", |row| row.figures.lost.to_string()),
    ("lost_disturbed_frames", |row| {
        known(row.figures.lost_disturbed)
    }),
    ("lost_by_tester_frames", |row| {
        row.figures.lost_by_tester.to_string()
    }),
    ("overdue_frames", |row| known(row.figures.overdue)),
    ("loss_ratio", |row| row.figures.loss.to_string()),
    ("dut_busiest_cpu_share", |row| known(row.figures.busy)),
    ("latency_p50_ns", |row| known(row.trial.latency.p50_ns)),
    ("latency_p99_ns", |row| known(row.trial.latency.p99_ns)),
    ("latency_p999_ns", |row| known(row.trial.latency.p999_ns)),
    ("latency_max_ns", |row| known(row.trial.latency.max_ns)),
    ("longest_stall_ns", |row| known(row.figures.gap_ns)),
];

/// The trials of all runs.
#[must_use]
pub fn csv(all: &Gathered) -> String {
    let mut text = COLUMNS.map(|(name, _)| name).join(",") + "\r\n";
    for (file, run) in &all.runs {
        for trial in &run.trials {
            let figures = Figures::new(trial);
            let row = Row {
                file,
                run,
                trial,
                figures,
            };
            text += &COLUMNS.map(|(_, cell)| quoted(cell(&row))).join(",");
            text += "\r\n";
        }
    }
    text
}

fn known(value: Option<impl ToString>) -> String {
    value.map_or(String::new(), |value| value.to_string())
}

fn quoted(cell: String) -> String {
    if cell.contains(['"', ',', '\r', '\n']) {
        return format!("\"{}\"", cell.replace('"', "\"\""));
    }
    cell
}
