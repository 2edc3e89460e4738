//! `mpps report`.

use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// Arguments of `mpps report`.
#[derive(Args, Debug)]
pub struct ReportArgs {
    /// Records: files, or names of runs as `mpps records list` shows them
    #[arg(value_name = "RECORD", required = true)]
    pub records: Vec<PathBuf>,
    /// One of their runs, by its name, or a cell of a campaign by its id; without this all of them
    #[arg(long, value_name = "RUN")]
    pub run: Option<String>,
    /// What to write
    #[arg(long, value_name = "FORMAT", value_enum, default_value = "html")]
    pub format: ReportFormat,
    /// File to write to; one that is there is overwritten. A dash is standard output [default: mpps-report.html; standard
    /// output for all other formats]
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

/// What a report is written as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ReportFormat {
    /// One page with plots and every trial
    Html,
    /// A summary in Markdown, to paste into an issue
    Md,
    /// One row a trial
    Csv,
    /// The results alone, as `mpps show --json` prints them
    Json,
    /// Results as gauges, for Prometheus
    Openmetrics,
    /// The flame graph of a record of `mpps explain`, one SVG. Of two runs it shows what the second gained and lost.
    /// Of one with --against it shows what the set-up takes more
    Flame,
    /// Its call stacks as folded text, for speedscope
    Folded,
    /// The same as text of `perf script`, for the Firefox Profiler: a sample for each ns of a frame
    PerfScript,
}
