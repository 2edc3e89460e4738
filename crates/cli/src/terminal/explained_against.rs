//! What one set-up takes more than another that took turns with it, by stage and by cause.

use super::columns;
use super::wrap::paragraph;
use mpps_record::{PartChange, PartCost, ProfileLine, ProfiledAgainst, ProfiledLoad};
use mpps_report::stage::is_beds;
use mpps_report::{number, profile_change};
use std::fmt::Write;

/// Of the other set-up's name in the tables' head.
const NAME: usize = 16;

/// The sentence, then the time of a frame in both set-ups.
pub fn explained_against(
    size: &ProfileLine,
    own: &ProfiledLoad,
    against: &ProfiledAgainst,
    verbose: bool,
) -> String {
    let frame = number::frame(&size.frame);
    let told = profile_change::against(against);
    let mut text = paragraph(format!("{frame}: {told}."));
    let Some(change) = &against.change else {
        return text;
    };
    let base = &against.load;
    for (head, changes, [own, base]) in [
        ("stage", &change.stages, [&own.stages, &base.stages]),
        ("cause", &change.causes, [&own.causes, &base.causes]),
    ] {
        let name: String = against.name.chars().take(NAME).collect();
        let mut rows = vec![[head, "ns", &name, "more", "interval", ""].map(str::to_owned)];
        for change in changes {
            let of = |costs: &[PartCost]| {
                costs
                    .iter()
                    .find(|cost| cost.part == change.part)
                    .map_or((0.0, 0), |cost| (cost.ns.median, cost.samples))
            };
            let ((own, samples), (base, base_samples)) = (of(own), of(base));
            if verbose || samples + base_samples > 0 {
                rows.push(row(change, own, base));
            }
        }
        let _ = write!(text, "\n{}", columns(&rows, &[0, 5]));
    }
    let pairs = &against.pairs;
    let left_out = pairs.disturbed + pairs.distance + pairs.not_overloaded;
    text + &paragraph(format!(
        "*: the bed's own. Intervals of all stages hold together in 19 of 20 comparisons, and those of all causes. {} pairs of neighbouring trials count, {left_out} do not.",
        pairs.counted
    ))
}

fn row(change: &PartChange, own: f64, base: f64) -> [String; 6] {
    let bed = if is_beds(&change.part) { " *" } else { "" };
    let ns = change.ns.rounded();
    [
        format!("{}{bed}", change.part),
        format!("{own:.0}"),
        format!("{base:.0}"),
        format!("{:+.0}", ns.median),
        format!("{:.0} to {:.0}", ns.low, ns.high),
        if change.seen { "seen" } else { "" }.to_owned(),
    ]
}
