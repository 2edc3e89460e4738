//! `mpps tune measure`: the effect of each setting with its interval, one below the other, the largest first.

use crate::chart::{Axis, Chart, Kind, Point, STYLES, Series};
use crate::number;
use crate::scale::Scale;
use mpps_record::{EffectsLine, Interval, SettingEffect};

/// Height of a row.
const ROW: f64 = 22.0;
/// Green, orange and grey.
const LESS: usize = 2;
const MORE: usize = 1;
const UNTOLD: usize = STYLES - 1;

/// A line's effects; `None` where none has an interval.
#[must_use]
pub fn effects(line: &EffectsLine) -> Option<Chart> {
    let has_interval = |effect: &&SettingEffect| change(effect).is_some();
    let rows: Vec<_> = line.effects.iter().filter(has_interval).collect();
    let series = |name, style| {
        let own = rows.iter().enumerate();
        let own = own.filter(|(_, effect)| self::style(line, effect) == style);
        let points = own.filter_map(|(at, effect)| point(at as f64, line, effect));
        Series::new(name, style, Kind::Marks, points.collect())
    };
    let ends = [-0.5, rows.len() as f64 - 0.5].map(|at| Point::new(at, 0.0));
    let series = vec![
        Series::new("no change", UNTOLD, Kind::Rule, ends.into()),
        series("less", LESS),
        series("more", MORE),
        series("nothing can be told, or no difference", UNTOLD),
    ];
    let names = rows.iter().map(|effect| effect.title()).collect();
    let chart = Chart::new(
        format!("Effects of settings: {}", number::frame(&line.frame)),
        "Each mark is the cost of a frame with the first level named, against the second. Lines are intervals.",
        Axis::new("setting", Scale::Names(names), number::short),
        Axis::new(
            "change of the CPU time of a frame",
            Scale::Linear { from_zero: false },
            number::percent,
        ),
        series,
    );
    chart.map(|chart| chart.lying(ROW))
}

/// The change of a frame's cost, as a share.
fn change(effect: &SettingEffect) -> Option<Interval<f64>> {
    effect.difference.as_ref()?.cost_change
}

fn point(at: f64, line: &EffectsLine, effect: &SettingEffect) -> Option<Point> {
    let change = change(effect)?;
    let ns = effect.difference.as_ref()?.cost_ns;
    let ns = ns.map_or_else(String::new, |ns| format!("{:+.0} ns", ns.median));
    let words = format!("{}: {}", effect.title(), line.finding(effect));
    let point = Point::new(at, change.median).between(change.low, change.high);
    Some(point.told(words).beside(ns))
}

fn style(line: &EffectsLine, effect: &SettingEffect) -> usize {
    match change(effect).filter(|_| line.is_found(effect)) {
        Some(change) if change.median < 0.0 => LESS,
        Some(_) => MORE,
        None => UNTOLD,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mpps_record::{Difference, Finding, ToldBy};

    #[test]
    fn effects_stand_in_rows_with_colours() {
        let effect = |setting: &str, finding, share: f64| SettingEffect {
            setting: setting.to_owned(),
            from: "on".to_owned(),
            to: "off".to_owned(),
            difference: Some(Difference {
                finding,
                told_by: ToldBy::Cost,
                cost_change: Some(Interval {
                    low: share - 0.02,
                    median: share,
                    high: share + 0.02,
                }),
                cost_ns: Some(Interval {
                    low: share * 900.0,
                    median: share * 1e3,
                    high: share * 1100.0,
                }),
                ..Difference::default()
            }),
            ..SettingEffect::default()
        };
        let line = EffectsLine {
            frame: "64".to_owned(),
            effects: vec![
                effect("conntrack", Finding::Different, -0.34),
                effect("gro", Finding::Different, 0.12),
                effect("mtu", Finding::NotDecided, 0.01),
                SettingEffect {
                    placebo: true,
                    ..effect("placebo", Finding::NoDifference, 0.0)
                },
                SettingEffect::default(),
            ],
            ..EffectsLine::default()
        };
        let figure = effects(&line)
            .expect("intervals")
            .figure(crate::chart::ROWS_BRIEF)
            .into_string();
        for (class, words) in [("c2", "-340 ns"), ("c1", "+120 ns"), ("c7", "+10 ns")] {
            let (before, _) = figure.split_once(words).expect(words);
            let series = before.rfind("<g class=\"c").expect(words);
            let is_of = before[series..].starts_with(&format!("<g class=\"{class}\""));
            assert!(is_of, "{class}: {figure}");
        }
        let order = ["conntrack `off`", "gro `off`", "mtu `off`"].map(|name| figure.find(name));
        assert!(order.is_sorted() && order[0].is_some(), "{order:?}");
        let picture = crate::picture(&vec![line], &mpps_record::Run::default(), &["Title"]);
        assert!(
            picture.starts_with("<svg") && picture.contains("Title"),
            "{picture}"
        );
        assert!(effects(&EffectsLine::default()).is_none());
    }
}
