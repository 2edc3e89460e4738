//! `mpps tune measure`: the effect of each setting with its interval, one below the other, the largest first.

use crate::chart::framed;
use crate::number;
use crate::scale::Scale;
use maud::{Markup, html};
use mpps_record::{EffectsLine, Finding, SettingEffect};

const WIDTH: f64 = 760.0;
/// Names stand left of the field, numbers right of it.
const LEFT: f64 = 250.0;
const RIGHT: f64 = 640.0;
/// Height of a row.
const ROW: f64 = 22.0;
/// Above the first row, and below the last.
const TOP: f64 = 8.0;
const FOOT: f64 = 58.0;
/// Letters of a name that have room.
const NAME: usize = 38;
/// Colours: cheaper, dearer, not told.
const LESS: &str = "c2";
const MORE: &str = "c1";
const UNTOLD: &str = "c7";
const NOTE: &str = "Green: a frame costs less with the first level named. Orange: more. Grey: nothing can be told, or no difference.";

/// A line's figure; `None` where it has no interval.
#[must_use]
pub fn effects(line: &EffectsLine) -> Option<Markup> {
    let (drawing, height) = drawing(line)?;
    let frame = number::frame(&line.frame);
    Some(html! {
        figure.plot {
            figcaption { b { "Effects of settings: " (frame) } span.note { (NOTE) } }
            svg viewBox=(format!("0 0 {WIDTH} {height}")) role="img" aria-label="Effects of settings" { (drawing) }
        }
    })
}

/// The same of all lines as an SVG that needs nothing beside it. The first line of `heading` is its title.
#[must_use]
pub fn effects_picture(lines: &[EffectsLine], heading: &[&str]) -> String {
    let drawings: Vec<(Markup, f64)> = lines.iter().filter_map(drawing).collect();
    let height = drawings.iter().map(|(_, height)| height).sum();
    let mut top = 0.0;
    let body = html! {
        @for (drawing, height) in &drawings {
            g transform=(format!("translate(0 {top})")) { (drawing) }
            @let () = top += height;
        }
    };
    framed(&[heading, &[NOTE]].concat(), (WIDTH, height), &body)
}

/// Rows, axis, and how high all of it is.
fn drawing(line: &EffectsLine) -> Option<(Markup, f64)> {
    let rows: Vec<_> = line
        .effects
        .iter()
        .filter_map(|effect| Some((effect, cost(effect)?)))
        .collect();
    let scale = Scale::Linear { from_zero: true };
    let ends = rows.iter().flat_map(|(_, (low, _, high))| [*low, *high]);
    let x = scale.laid(ends.chain([-0.01, 0.01]));
    let across = |share: f64| x.part(share).map(|part| LEFT + part * (RIGHT - LEFT));
    let bottom = TOP + ROW * rows.len() as f64;
    (!rows.is_empty()).then(|| {
        let drawn = html! {
            g.grid {
                @for (share, _) in x.ticks() {
                    @if let Some(x) = across(share) {
                        line x1=(px(x)) x2=(px(x)) y1=(px(TOP)) y2=(px(bottom)) {}
                        text.middle x=(px(x)) y=(px(bottom + 16.0)) { (percent(share)) }
                    }
                }
                text.middle x=(px(LEFT.midpoint(RIGHT))) y=(px(bottom + 34.0)) { "change of the CPU time of a frame" }
            }
            @for (at, (effect, (low, middle, high))) in rows.iter().enumerate() {
                @let y = TOP + ROW * (at as f64 + 0.5);
                g class=(colour(line, effect)) {
                    text.end x=(px(LEFT - 8.0)) y=(px(y + 4.0)) { (name(effect)) }
                    @if let (Some(low), Some(x), Some(high)) = (across(*low), across(*middle), across(*high)) {
                        path.ends d=(format!("M{low:.1} {:.1}v8m0-4H{high:.1}m0-4v8", y - 4.0)) {}
                        g.mark {
                            circle cx=(px(x)) cy=(px(y)) r="4" {}
                            title { (effect.title()) ": " (line.finding(effect)) }
                        }
                    }
                    text x=(px(RIGHT + 10.0)) y=(px(y + 4.0)) { (ns(effect)) }
                }
            }
        };
        (drawn, bottom + FOOT)
    })
}

/// Low end, middle, high end of the change of the cost, as shares.
fn cost(effect: &SettingEffect) -> Option<(f64, f64, f64)> {
    let change = effect.difference.as_ref()?.cost_change?;
    Some((change.low, change.median, change.high))
}

fn colour(line: &EffectsLine, effect: &SettingEffect) -> &'static str {
    let found = effect
        .difference
        .as_ref()
        .filter(|found| found.finding == Finding::Different);
    let change = found
        .and_then(|found| found.cost_change)
        .filter(|_| line.distrust().is_none());
    change.map_or(
        UNTOLD,
        |change| if change.median < 0.0 { LESS } else { MORE },
    )
}

fn name(effect: &SettingEffect) -> String {
    let title = effect.title();
    match title.chars().count() > NAME {
        true => title.chars().take(NAME - 1).chain(['…']).collect(),
        false => title,
    }
}

fn ns(effect: &SettingEffect) -> String {
    let ns = effect
        .difference
        .as_ref()
        .and_then(|difference| difference.cost_ns);
    ns.map_or_else(String::new, |ns| format!("{:+.0} ns", ns.median))
}

/// `-20 %`, `0 %`, `+20 %`.
fn percent(share: f64) -> String {
    match format!("{:+.0} %", share * 100.0) {
        zero if share.abs() < 0.005 => zero.trim_start_matches(['+', '-']).to_owned(),
        percent => percent,
    }
}

fn px(place: f64) -> String {
    format!("{place:.1}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use mpps_record::{Difference, Interval};

    #[test]
    fn effects_stand_in_rows_with_colours() {
        let effect = |setting: &str, finding, share: f64| SettingEffect {
            setting: setting.to_owned(),
            from: "on".to_owned(),
            to: "off".to_owned(),
            difference: Some(Difference {
                finding,
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
                SettingEffect::default(),
            ],
            ..EffectsLine::default()
        };
        let figure = effects(&line).expect("intervals").into_string();
        for (class, words) in [("c2", "-340 ns"), ("c1", "+120 ns"), ("c7", "+10 ns")] {
            let group = figure
                .split("<g class=")
                .find(|group| group.contains(words));
            let group = group.expect(words).to_owned() + figure.split(words).next().unwrap_or("");
            assert!(group.contains(&format!("\"{class}\"")), "{class}: {figure}");
        }
        let order = ["conntrack off", "gro off", "mtu off"].map(|name| figure.find(name));
        assert!(order.is_sorted() && order[0].is_some(), "{order:?}");
        let picture = effects_picture(&[line], &["Title"]);
        assert!(
            picture.starts_with("<svg") && picture.contains("Title"),
            "{picture}"
        );
        assert!(effects(&EffectsLine::default()).is_none());
    }
}
