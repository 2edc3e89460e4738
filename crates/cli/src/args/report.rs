//! `mpps report`.

use clap::Args;
use std::path::PathBuf;

/// Arguments of `mpps report`.
#[derive(Args, Debug)]
pub struct ReportArgs {
    /// Files of records, as `--record` writes them
    #[arg(value_name = "RECORD", required = true)]
    pub records: Vec<PathBuf>,
    /// File to write the page to; one that is there is overwritten
    #[arg(long, short, value_name = "FILE", default_value = "mpps-report.html")]
    pub output: PathBuf,
}
