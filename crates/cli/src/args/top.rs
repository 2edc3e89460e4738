//! `mpps top`.

use super::quantity::span;
use clap::Args;
use mpps_lab::observe::CpuSet;
use mpps_method::Span;

/// A shorter look has too few samples, a longer one too many.
const LOOK_MIN: Span = Span::from_millis(500);
const LOOK_MAX: Span = Span::from_millis(300_000);

/// Arguments of `mpps top`.
#[derive(Args, Debug)]
pub struct TopArgs {
    /// CPUs to watch (2-5, or all)
    #[arg(long, value_name = "CPUS", default_value = "all", value_parser = watched_cpus)]
    pub cpus: CpuSet,
    /// Time between two updates
    #[arg(long, value_name = "SECONDS", default_value = "1", value_parser = watched_time)]
    pub interval: Span,
    /// Print one update as plain text, and end
    #[arg(long, conflicts_with = "json")]
    pub once: bool,
    /// Print a JSON object a line at each interval, until Ctrl-C
    #[arg(long)]
    pub json: bool,
}

/// The nearest interval that is allowed.
pub fn top_intervals(wanted: Span) -> Span {
    wanted.clamp(LOOK_MIN, LOOK_MAX)
}

/// CPUs of this machine; `all` is the empty set.
pub fn watched_cpus(text: &str) -> Result<CpuSet, String> {
    match (text.trim(), text.parse::<CpuSet>()) {
        ("all", _) => Ok(CpuSet::default()),
        (_, Ok(cpus)) if !cpus.is_empty() => Ok(cpus),
        _ => Err("give CPUs such as 1, 2-5 or 0,2, or all".to_owned()),
    }
}

/// How long one look takes.
pub fn watched_time(text: &str) -> Result<Span, String> {
    let refuse =
        || format!("give seconds (10, 0.5) or a unit (800ms, 2m), {LOOK_MIN} to {LOOK_MAX}");
    let found = span(text).filter(|&span| span == top_intervals(span));
    found.ok_or_else(refuse)
}
