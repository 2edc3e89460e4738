//! A plot of `mpps fib-scale`: one SVG that needs nothing beside it. Above what a frame costs the router, below the
//! maximum forwarding rate, both against routes or destinations, with their intervals.
//!
//! A point at which the router was not at its limit is drawn hollow. A point that could not be measured is a cross on
//! the axis.

mod loss;
mod panel;

pub use loss::loss_svg;

use crate::terminal::{ScaleRow, bed_line, three_digits};
use mpps_record::Interval;
use panel::{Counts, HEIGHT, Kind, LEFT, Line, Mark, Panel, WIDTH, escaped, mark};
use std::fmt::Write;

/// Told apart in black and white too: each has a mark of its own (Okabe and Ito's palette).
const STYLES: [(&str, &str, &str, panel::Shape); 3] = [
    ("routes", "against routes", "#0072b2", panel::Shape::Circle),
    (
        "destinations",
        "against destinations",
        "#d55e00",
        panel::Shape::Square,
    ),
    (
        "coupled",
        "against both, coupled",
        "#009e73",
        panel::Shape::Diamond,
    ),
];
/// Where the first panel begins, below title and legend, pixels.
const TOP: f64 = 120.0;

/// What a frame costs the router, and the maximum forwarding rate, against routes or destinations; each series a
/// line. `machine` says where and when.
#[must_use]
pub fn svg(rows: &[ScaleRow<'_>], title: &str, machine: &str) -> String {
    let counts = Counts {
        most: counts(rows),
        name: "routes, or different destinations",
        decades: true,
    };
    let costs = Panel {
        top: TOP,
        unit: "router, ns a frame",
        lines: lines(rows, |row| row.router_ns()),
        counts,
    };
    let rates = Panel {
        top: TOP + HEIGHT,
        unit: "maximum forwarding rate, frames/s",
        lines: lines(rows, |row| row.maximum()),
        counts,
    };
    let head = small(38.0, machine) + &small(56.0, &bed_line(rows)) + &legend(&costs.lines);
    page(title, &head, &[costs, rates])
}

/// A picture of panels below their title and legend.
fn page(title: &str, head: &str, panels: &[Panel]) -> String {
    let all = TOP + HEIGHT * panels.len() as f64;
    let drawn: String = panels.iter().map(Panel::drawn).collect();
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {all}\" font-family=\"sans-serif\" \
         font-size=\"12\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n\
         <text x=\"{LEFT}\" y=\"20\" font-size=\"13\">{}</text>\n{head}{drawn}</svg>\n",
        escaped(title)
    )
}

/// A line of small text; nothing where there is none.
fn small(y: f64, words: &str) -> String {
    if words.is_empty() {
        return String::new();
    }
    let words = escaped(words);
    format!("<text x=\"{LEFT}\" y=\"{y}\" font-size=\"11\" fill=\"#444\">{words}</text>\n")
}

/// The largest count there is.
fn counts(rows: &[ScaleRow<'_>]) -> u64 {
    rows.iter().map(count).max().unwrap_or(1)
}

/// What changes in the row's series.
fn count(row: &ScaleRow<'_>) -> u64 {
    match row.point.series.as_str() {
        "destinations" => row.destinations(),
        _ => row.routes(),
    }
}

fn lines(rows: &[ScaleRow<'_>], of: impl Fn(&ScaleRow<'_>) -> Option<Interval<f64>>) -> Vec<Line> {
    STYLES
        .iter()
        .map(|&(series, name, colour, shape)| {
            let of_series = rows.iter().filter(|row| row.point.series == series);
            let mut marks: Vec<Mark> = of_series
                .map(|row| {
                    let found = of(row);
                    Mark {
                        count: count(row),
                        value: found.map_or(0.0, |found| found.median),
                        ends: found.map(|found| (found.low, found.high)),
                        kind: match found {
                            None => Kind::Nothing,
                            Some(_) if row.is_the_duts() => Kind::Is,
                            Some(_) => Kind::Bound,
                        },
                        words: words(row),
                    }
                })
                .collect();
            marks.sort_by_key(|mark| mark.count);
            Line {
                name: name.to_owned(),
                colour,
                shape,
                marks,
            }
        })
        .filter(|line| !line.marks.is_empty())
        .collect()
}

/// What a browser shows at a mark: all that makes it comparable.
fn words(row: &ScaleRow<'_>) -> String {
    let cost = row.router_ns().map_or("cost unknown".to_owned(), |ns| {
        let (low, middle, high) = (ns.low, ns.median, ns.high);
        format!("{middle:.0} ns a frame ({low:.0} to {high:.0})")
    });
    let rate = row.maximum().map_or("not measured".to_owned(), |found| {
        three_digits(found.median) + " frames/s"
    });
    let drawn = row.point.traffic.destinations.as_ref();
    format!(
        "{} ({}): {cost}, {rate}, limited by {}",
        row.place(),
        drawn.map_or("the tester's own address", |drawn| &drawn.draw),
        row.limited_by()
    )
}

/// What each line is, so far apart.
fn symbols(lines: &[Line], apart: f64) -> String {
    let mut text = String::new();
    for (at, line) in lines.iter().enumerate() {
        let x = LEFT + 12.0 + apart * at as f64;
        text += &mark(line.shape, line.colour, (x, 76.0), Kind::Is, "");
        let _ = writeln!(
            text,
            "<text x=\"{}\" y=\"80\">{}</text>",
            x + 12.0,
            line.name
        );
    }
    text
}

fn legend(lines: &[Line]) -> String {
    let any = |wanted| {
        let mut marks = lines.iter().flat_map(|line| &line.marks);
        marks.any(|mark| mark.kind == wanted)
    };
    let mut notes = vec!["bars: 95 % intervals"];
    if any(Kind::Bound) {
        notes.push("hollow: the router was not at its limit (see limited by)");
    }
    if any(Kind::Nothing) {
        notes.push("cross: not measured");
    }
    symbols(lines, 170.0) + &small(98.0, &notes.join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_point_has_a_mark_and_says_what_it_is() {
        let points = crate::terminal::scale_points_for_tests();
        let rows = ScaleRow::each(&points);
        let text = svg(&rows, "routes of <a&b>", "a CPU, Linux 6.18, mpps 1");
        assert!(text.contains("routes of &lt;a&amp;b&gt;"));
        // In each panel two of one series, the first of them hollow; one in the legend.
        assert_eq!(text.matches("<circle").count(), 2 * 2 + 1, "{text}");
        assert_eq!(text.matches("r=\"4\" fill=\"white\"").count(), 2, "{text}");
        // Each has its interval.
        assert_eq!(text.matches("class=\"interval\"").count(), 2 * 2, "{text}");
        // What could not be measured is a cross, in both.
        assert_eq!(
            text.matches("stroke-width=\"2\"><title>1 000 routes, 1 destination")
                .count(),
            2
        );
        for wanted in [
            ">a CPU, Linux 6.18, mpps 1</text>",
            "part, 400 ns a frame",
            "hollow: the router was not at its limit",
            "cross: not measured",
            "<title>0 routes, 1 destination (the tester's own address): 200 ns a frame (190 to 220), \
             1 670 000 frames/s, limited by tester</title>",
        ] {
            assert!(text.contains(wanted), "{wanted}: {text}");
        }
        assert!(!text.contains("NaN") && !text.contains("inf"), "{text}");
        assert!(text.ends_with("</svg>\n"));
    }

    #[test]
    fn nothing_measured_is_an_empty_field() {
        let text = svg(&[], "none", "");
        assert!(!text.contains("NaN") && text.contains("</svg>"), "{text}");
        assert!(!text.contains("hollow"), "{text}");
    }
}
