//! A plot of `mpps fib-scale`: one SVG that needs nothing beside it. Above the rate, below what a frame costs
//! the DUT, both against routes or destinations.
//!
//! A rate that something else than the DUT ended is drawn hollow: the DUT does at least that. What could not be
//! measured is a cross on the axis: no point is left out in silence.

mod panel;

use crate::figures::Reading;
use crate::terminal::ScaleRow;
use mpps_lab::jobs::fib_scale::Series;
use panel::{HEIGHT, Kind, LEFT, Line, Mark, Panel, WIDTH, escaped, mark};
use std::fmt::Write;

/// Told apart in black and white too: each has a mark of its own (Okabe and Ito's palette).
const STYLES: [(Series, &str, panel::Shape); 3] = [
    (Series::Routes, "#0072b2", panel::Shape::Circle),
    (Series::Destinations, "#d55e00", panel::Shape::Square),
    (Series::Coupled, "#009e73", panel::Shape::Diamond),
];
/// Where the first panel begins, below title and legend, pixels.
const TOP: f64 = 70.0;

/// Rate, and busy time of the DUT for each frame, against routes or destinations; each series a line.
#[must_use]
pub fn svg(rows: &[ScaleRow], title: &str) -> String {
    let rates = Panel {
        top: TOP,
        unit: "frames/s",
        lines: lines(rows, rate),
        counts: counts(rows),
    };
    let costs = Panel {
        top: TOP + HEIGHT,
        unit: "DUT busy, ns a frame",
        lines: lines(rows, cost),
        counts: counts(rows),
    };
    let all = TOP + 2.0 * HEIGHT;
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {all}\" font-family=\"sans-serif\" \
         font-size=\"12\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n\
         <text x=\"{LEFT}\" y=\"20\" font-size=\"14\">{}</text>\n",
        escaped(title)
    );
    text += &legend(&rates.lines);
    text += &rates.drawn();
    text += &costs.drawn();
    text + "</svg>\n"
}

/// The largest count there is.
fn counts(rows: &[ScaleRow]) -> u64 {
    rows.iter().map(count).max().unwrap_or(1)
}

/// What changes in the row's series.
fn count(row: &ScaleRow) -> u64 {
    match row.point.series {
        Series::Destinations => row.destinations,
        Series::Routes | Series::Coupled => row.routes,
    }
}

fn lines(rows: &[ScaleRow], of: impl Fn(&ScaleRow) -> (f64, Kind)) -> Vec<Line> {
    STYLES
        .iter()
        .map(|&(series, colour, shape)| {
            let of_series = rows.iter().filter(|row| row.point.series == series);
            let mut marks: Vec<Mark> = of_series
                .map(|row| {
                    let (value, kind) = of(row);
                    Mark {
                        count: count(row),
                        value,
                        kind,
                        words: words(row),
                    }
                })
                .collect();
            marks.sort_by_key(|mark| mark.count);
            Line {
                name: legend_of(series),
                colour,
                shape,
                marks,
            }
        })
        .filter(|line| !line.marks.is_empty())
        .collect()
}

fn rate(row: &ScaleRow) -> (f64, Kind) {
    match row.reading() {
        Reading::Is(rate) => (rate.fps(), Kind::Is),
        Reading::AtLeast(rate) => (rate.fps(), Kind::Bound),
        Reading::Below(rate) => (rate.fps(), Kind::Bound),
        Reading::Nothing => (0.0, Kind::Nothing),
    }
}

/// What a frame costs is known of a bound too: it is of the same trial.
fn cost(row: &ScaleRow) -> (f64, Kind) {
    let ns = row
        .figures
        .as_ref()
        .and_then(|figures| figures.busy_ns_per_frame);
    match (ns, rate(row).1) {
        (Some(ns), kind) => (ns, kind),
        (None, _) => (0.0, Kind::Nothing),
    }
}

/// What a browser shows at a mark: all that makes it comparable.
fn words(row: &ScaleRow) -> String {
    format!(
        "{} ({}): {} frames/s, limited by {}",
        row.place(),
        row.draw.as_deref().unwrap_or("the tester's own address"),
        row.rate(),
        row.limited_by()
    )
}

fn legend(lines: &[Line]) -> String {
    let mut text = String::new();
    for (at, line) in lines.iter().enumerate() {
        let x = LEFT + 12.0 + 170.0 * at as f64;
        text += &mark(line.shape, line.colour, (x, 40.0), Kind::Is, "");
        let _ = writeln!(
            text,
            "<text x=\"{}\" y=\"44\">{}</text>",
            x + 12.0,
            line.name
        );
    }
    let any = |wanted| {
        let mut marks = lines.iter().flat_map(|line| &line.marks);
        marks.any(|mark| mark.kind == wanted)
    };
    let mut notes = Vec::new();
    if any(Kind::Bound) {
        notes.push("hollow: something else than the DUT ended first (see limited by)");
    }
    if any(Kind::Nothing) {
        notes.push("cross: could not be measured");
    }
    if !notes.is_empty() {
        let _ = writeln!(
            text,
            "<text x=\"{LEFT}\" y=\"62\" fill=\"#444\">{}</text>",
            notes.join("; ")
        );
    }
    text
}

const fn legend_of(series: Series) -> &'static str {
    match series {
        Series::Routes => "against routes",
        Series::Destinations => "against destinations",
        Series::Coupled => "against both, coupled",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_point_has_a_mark_and_says_what_it_is() {
        let rows = crate::terminal::scale_rows_for_tests();
        let text = svg(&rows, "routes of <a&b>");
        assert!(text.contains("routes of &lt;a&amp;b&gt;"));
        // In each panel two of one series, the first of them hollow; one in the legend.
        assert_eq!(text.matches("<circle").count(), 2 * 2 + 1, "{text}");
        assert_eq!(text.matches("r=\"4\" fill=\"white\"").count(), 2, "{text}");
        // What could not be measured is a cross, in both.
        assert_eq!(text.matches("<path").count(), 2);
        for wanted in [
            "hollow: something else than the DUT",
            "cross: could not be measured",
            "<title>0 routes, 1 destination (the tester's own address): &gt;= 1 500 000 frames/s, limited by tester</title>",
            "<title>1 000 routes, 256 destinations (per-prefix): 1 250 000 frames/s, limited by DUT</title>",
        ] {
            assert!(text.contains(wanted), "{wanted}: {text}");
        }
        assert!(!text.contains("NaN") && !text.contains("inf"), "{text}");
        assert!(text.ends_with("</svg>\n"));
    }

    #[test]
    fn nothing_measured_is_an_empty_field() {
        let text = svg(&[], "none");
        assert!(!text.contains("NaN") && text.contains("</svg>"), "{text}");
        assert!(!text.contains("hollow"), "{text}");
    }
}
