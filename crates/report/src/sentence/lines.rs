//! One sentence for each variant of `mpps compare`; a load of `mpps latency` in words.

use crate::number::{self, percent_or_under as percent};
use mpps_record::{ComparisonLine, LatencyLoad};

/// What of a line is not known, and why.
fn not_measured(why: Option<&String>) -> String {
    let why = why.map_or("the run ended before", String::as_str);
    format!("not measured: {why}")
}

fn rate(fps: u64) -> String {
    format!("{} frames/s", number::rate(fps as f64))
}

/// `50 % (600 thousand frames/s)`, or the rate alone where it was given.
#[must_use]
pub fn load(load: &LatencyLoad) -> String {
    let rate = rate(load.load_fps);
    let share = load.load_share.map(percent);
    share.map_or(rate.clone(), |share| format!("{share} ({rate})"))
}

/// One sentence for each variant that was compared: `64 B, 100 rules against none: 231 ns more a frame for the router ...`.
#[must_use]
pub fn comparison(line: &ComparisonLine) -> Vec<String> {
    let first = line.variants.first().map_or("", |first| &first.name);
    let frame = number::frame(&line.frame);
    let told = |variant: &mpps_record::Variant| {
        let difference = variant.difference.as_ref()?;
        Some(format!(
            "{frame}, {} against {first}: {difference}",
            variant.name
        ))
    };
    let told: Vec<String> = line.variants.iter().filter_map(told).collect();
    if told.is_empty() {
        return vec![format!("{frame}: {}", not_measured(line.why.as_ref()))];
    }
    told
}

#[cfg(test)]
mod tests;
