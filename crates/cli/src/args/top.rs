//! `mpps top`.

use super::quantity::span;
use clap::Args;
use mpps_lab::observe::CpuSet;
use mpps_method::Span;

/// A shorter interval has too few samples; who waits longer takes `mpps explain --cpus`.
const INTERVAL_MIN: Span = Span::from_millis(500);
/// The longest.
const INTERVAL_MAX: Span = Span::from_millis(60_000);

/// Arguments of `mpps top`.
#[derive(Args, Debug)]
pub struct TopArgs {
    /// CPUs to watch (2-5, or all)
    #[arg(long, value_name = "CPUS", default_value = "all", value_parser = watched_cpus)]
    pub cpus: CpuSet,
    /// Time between two pictures
    #[arg(long, value_name = "SECONDS", default_value = "1", value_parser = interval)]
    pub interval: Span,
    /// Print one picture as plain text, and end
    #[arg(long, conflicts_with = "json")]
    pub once: bool,
    /// Print a JSON object a line at each interval, until Ctrl-C
    #[arg(long)]
    pub json: bool,
    /// Begin with the causes in place of the stages
    #[arg(long)]
    pub causes: bool,
}

fn interval(text: &str) -> Result<Span, String> {
    span(text)
        .filter(|span| (INTERVAL_MIN..=INTERVAL_MAX).contains(span))
        .ok_or_else(|| {
            format!("give seconds (1, 0.5) or a unit (500ms, 1m), {INTERVAL_MIN} to {INTERVAL_MAX}")
        })
}

/// The nearest interval that is allowed.
#[must_use]
pub fn top_intervals(wanted: Span) -> Span {
    wanted.clamp(INTERVAL_MIN, INTERVAL_MAX)
}

/// A shorter look has too few samples, a longer one too many.
const LOOK_MIN: Span = Span::from_millis(500);
const LOOK_MAX: Span = Span::from_millis(300_000);

/// CPUs of this machine; `all` is the empty set.
pub fn watched_cpus(text: &str) -> Result<CpuSet, String> {
    match (text.trim(), text.parse::<CpuSet>()) {
        ("all", _) => Ok(CpuSet::default()),
        (_, Ok(cpus)) if !cpus.is_empty() => Ok(cpus),
        _ => Err("give CPUs such as 1, 2-5 or 0,2, or all".to_owned()),
    }
}

/// How long `mpps explain --cpus` looks.
pub fn watched_time(text: &str) -> Result<Span, String> {
    span(text)
        .filter(|span| (LOOK_MIN..=LOOK_MAX).contains(span))
        .ok_or_else(|| {
            format!("give seconds (10, 0.5) or a unit (800ms, 2m), {LOOK_MIN} to {LOOK_MAX}")
        })
}
