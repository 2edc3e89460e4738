//! `mpps loss --overload`.

use super::quantity::lasting;
use clap::Args;
use mpps_lab::jobs::lasting::Overload;
use mpps_method::Span;

/// A lasting overload in place of a series.
#[derive(Args, Debug)]
#[command(next_help_heading = "Load")]
pub struct LastingArgs {
    /// Offer one lasting overload instead: a multiple of the maximum forwarding rate (5x), or all that the tester can
    /// (max). The result says whether the router holds its rate and its management path answers. It also says when the
    /// router is as before
    #[arg(long, value_name = "FACTOR", value_parser = overload,
          conflicts_with_all = ["step", "time", "max_rate", "warm_up"])]
    pub overload: Option<Overload>,
    /// How long the overload lasts (30s, 10m, 2h); the receiver keeps a bit for each frame, so memory bounds it
    #[arg(long = "for", value_name = "TIME", default_value = "60s", value_parser = lasting, requires = "overload")]
    pub lasts: Span,
}

fn overload(text: &str) -> Result<Overload, String> {
    if text == "max" {
        return Ok(Overload::Max);
    }
    let factor = text
        .strip_suffix('x')
        .and_then(|factor| factor.parse().ok());
    let factor = factor.filter(|factor: &f64| (1.1..=1000.0).contains(factor));
    let overload = factor.map(Overload::Times);
    overload.ok_or_else(|| "give 1.1x to 1000x of the maximum forwarding rate, or max".to_owned())
}
