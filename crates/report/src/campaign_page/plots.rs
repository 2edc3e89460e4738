//! A campaign: frames/s of each scenario beside the published figures, and what each variant changes.

use crate::campaign::CampaignRun;
use crate::cell::{MeasuredCell, Rate};
use crate::chart::{Axis, Chart, Kind, Point, STYLES, Series};
use crate::number;
use crate::plots::rate_axis;
use crate::scale::Scale;
use mpps_record::{Difference, Interval};

/// Height of a mark with the room around it.
const MARK: f64 = 14.0;
/// Ends of an undecided interval that would leave no room for the others.
const WIDE: f64 = 1.0;
/// Between the marks of two rows.
const GAP: f64 = 10.0;
/// Part of a row that its marks take.
const MARKED: f64 = 0.7;
/// Mark and colour of published figures: those of the last style but one.
const PUBLISHED: usize = STYLES - 2;

/// Frames/s by scenario, a group for each frame size.
#[must_use]
pub fn scenarios(campaign: &CampaignRun<'_>) -> Option<Chart> {
    let mut cells: Vec<_> = campaign.cells.iter().map(named_rates).collect();
    cells.retain(|(_, rates)| !rates.is_empty());
    let mut sizes: Vec<&str> = Vec::new();
    for rate in cells.iter().flat_map(|(_, rates)| rates) {
        if !sizes.contains(&rate.size) {
            sizes.push(rate.size);
        }
    }
    let step = MARKED / sizes.len().max(1) as f64;
    let (mut here, mut published) = (Vec::new(), Vec::new());
    for (style, size) in sizes.iter().enumerate() {
        let aside = step * (style as f64 - (sizes.len() - 1) as f64 / 2.0);
        let (mut own, mut others) = (Vec::new(), Vec::new());
        for (row, (_, rates)) in cells.iter().enumerate() {
            let at = row as f64 + aside;
            for rate in rates.iter().filter(|rate| rate.size == *size) {
                own.extend(rate.here.map(|here| point(at, here, rate.is_bound)));
                let figure = rate.published.map(|figure| figure.frames_per_s);
                others.extend(figure.map(|fps| Point::new(at, fps)));
            }
        }
        let name = |of: &str| format!("{} {of}", number::short_frame(&number::frame(size)));
        here.push(Series::new(name("here"), style, Kind::Marks, own));
        let of_others = Series::new(name("published"), PUBLISHED, Kind::Marks, others);
        published.push(of_others.named_in_legend("published"));
    }
    let series: Vec<Series> = here.into_iter().chain(published).collect();
    let names = cells.into_iter().map(|(name, _)| name).collect();
    let scale = Scale::fitting(series.iter().flat_map(Series::points).map(Point::y));
    let chart = Chart::new(
        "Frames/s by scenario".to_owned(),
        "Published figures are of other machines. A hollow mark is a bound from below.",
        Axis::new("scenario", Scale::Names(names), number::short),
        rate_axis("forwarded at most, frames/s", scale),
        series,
    );
    chart.map(|chart| chart.lying(GAP + MARK * sizes.len() as f64))
}

/// The rates of a cell that are known here or elsewhere, behind its name.
fn named_rates<'a>(cell: &MeasuredCell<'a>) -> (String, Vec<Rate<'a>>) {
    let mut rates = cell.rates();
    rates.retain(|rate| rate.here.is_some() || rate.published.is_some());
    (format!("{} {}", cell.line.cell, cell.line.title), rates)
}

fn point(at: f64, here: Interval<f64>, is_bound: bool) -> Point {
    if is_bound {
        return Point::new(at, here.low).bounding(true);
    }
    Point::new(at, here.median).between(here.low, here.high)
}

/// The change of frames/s by each variant and each setting, the greatest loss first.
#[must_use]
pub fn settings(campaign: &CampaignRun<'_>) -> Option<Chart> {
    let mut changes: Vec<(String, Interval<f64>)> = Vec::new();
    for cell in &campaign.cells {
        let mut add = |name: &str, frame: &str, found: Option<&Difference>| {
            let change = found.and_then(Difference::told_rate_change);
            let change = change.filter(|change| change.high - change.low < WIDE);
            let name = || format!("{name} ({}, {})", cell.line.cell, number::frame(frame));
            changes.extend(change.map(|change| (name(), change)));
        };
        let lines = cell.run.map_or(&[][..], |run| &run.comparisons);
        for line in lines {
            for variant in &line.variants {
                add(&variant.name, &line.frame, variant.difference.as_ref());
            }
        }
        let lines = cell.run.map_or(&[][..], |run| &run.effects);
        for line in lines {
            for effect in line.effects.iter().filter(|one| line.can_tell(one)) {
                add(&effect.title(), &line.frame, effect.told_difference());
            }
        }
    }
    changes.sort_by(|(_, one), (_, other)| one.median.total_cmp(&other.median));
    let ends = [-0.5, changes.len() as f64 - 0.5].map(|at| Point::new(at, 0.0));
    let points = changes.iter().enumerate();
    let points = points.map(|(at, (_, change))| point(at as f64, *change, false));
    let series = vec![
        Series::new("no change", STYLES - 1, Kind::Rule, ends.into()),
        Series::new("change", 0, Kind::Marks, points.collect()),
    ];
    let names = changes.iter().map(|(name, _)| name.clone()).collect();
    let chart = Chart::new(
        "Change of frames/s by setting".to_owned(),
        "Each mark compares with the first variant of the cell, or with the other level of a setting. Lines are 95 % intervals. Since method version 21 those of a run hold together in 19 of 20 runs.",
        Axis::new("setting", Scale::Names(names), number::short),
        Axis::new(
            "more frames/s",
            Scale::Linear { from_zero: false },
            number::percent,
        ),
        series,
    );
    chart.map(|chart| chart.lying(GAP + MARK))
}

#[cfg(test)]
mod tests {
    use super::*;
    use mpps_record::{CampaignLine, CellLine, EffectsLine, Finding, Run, SettingEffect};

    #[test]
    fn a_settings_effect_is_a_mark_too() {
        let effect = |setting: &str, finding, median: f64| SettingEffect {
            setting: setting.to_owned(),
            placebo: setting == "placebo",
            difference: Some(Difference {
                finding,
                rate_change: Some(Interval {
                    low: median - 0.01,
                    median,
                    high: median + 0.01,
                }),
                ..Difference::default()
            }),
            ..SettingEffect::default()
        };
        let mut measured = Run::new("measured");
        measured.effects.push(EffectsLine {
            frame: "64".to_owned(),
            effects: vec![
                effect("netdev_budget", Finding::Different, -0.12),
                effect("placebo", Finding::NoDifference, 0.0),
            ],
            ..EffectsLine::default()
        });
        let mut run = Run::new("campaign");
        run.campaign = Some(CampaignLine::default());
        run.cells.push(CellLine {
            cell: "6.3.2".to_owned(),
            measured_run: Some("measured".to_owned()),
            ..CellLine::default()
        });
        let campaign = CampaignRun::new(&run, &[&run, &measured]).expect("a campaign");
        let figure = settings(&campaign)
            .expect("a plot")
            .figure(20)
            .into_string();
        assert!(figure.contains("netdev_budget (6.3.2, 64 B)"), "{figure}");
        assert!(!figure.contains("placebo"), "{figure}");
    }
}
