//! `mpps latency`.

use super::RunArgs;
use super::quantity::percent;
use super::quantity::{budget, rate, trial_length, warm_up};
use clap::Args;
use mpps_lab::jobs::latency::LatencyLoad;
use mpps_method::{Rate, Span};

/// Arguments of `mpps latency`.
#[derive(Args, Debug)]
#[command(next_help_heading = "Load")]
pub struct LatencyArgs {
    /// Loads to offer, one after the other: shares of the throughput, or frames/s over all directions (400k, 1.5M)
    #[arg(long, value_name = "PERCENT|FPS,...", value_delimiter = ',', default_value = "10%,50%,90%,100%",
          value_parser = load)]
    pub load: Vec<LatencyLoad>,
    /// The throughput that shares are of, frames/s (400k, 1.5M, 1e6) [default: a search finds it first]
    #[arg(long, value_name = "FPS", value_parser = rate)]
    pub throughput: Option<Rate>,
    /// Time of each load, through the router and again through a wire, in seconds or with a unit (200ms, 5m)
    #[arg(long, value_name = "SECONDS", default_value = "2", value_parser = trial_length)]
    pub time: Span,
    /// Leave idle states on. By default mpps keeps all CPUs of the machine awake while it measures
    #[arg(long)]
    pub sleep: bool,
    /// Warm-up before each trial: frames sent at its load for this long do not count (200ms, 1)
    #[arg(long, value_name = "SECONDS", value_parser = warm_up)]
    pub warm_up: Option<Span>,
    /// Time to search the throughput of each frame size (30s, 2m)
    #[arg(long, value_name = "TIME", default_value = "30s", value_parser = budget)]
    pub budget: Span,
    /// What is sent, where, and where results go.
    #[command(flatten)]
    pub run: RunArgs,
}

/// A share above the throughput would be overload: queues are full there.
fn load(text: &str) -> Result<LatencyLoad, String> {
    if text.ends_with('%') {
        let share = percent(text).filter(|share| *share > 0.0 && *share <= 1.0);
        return share
            .map(LatencyLoad::Share)
            .ok_or_else(|| "give a share above 0% and up to 100%".to_owned());
    }
    let wrong = |error| format!("{error}; or a share of the throughput, such as 50%");
    if text.parse().is_ok_and(|bare: f64| bare <= 100.0) {
        return Err(format!(
            "{text} frames/s is little: give {text}% for a share of the throughput, or {text}fps"
        ));
    }
    rate(text).map(LatencyLoad::At).map_err(wrong)
}
