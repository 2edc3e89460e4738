//! Charts as a picture of their own: one SVG that needs nothing beside it.

use super::{Chart, STYLE, Series, WIDTH, class, sample};
use maud::{Markup, PreEscaped, html};

/// The style sheet of pages, which has the colours.
const PAGE: &str = include_str!("../page.css");
/// Charts side by side.
const COLUMNS: usize = 2;
/// Between two charts, and around all of them.
const GAP: f64 = 24.0;
/// Between two lines of text.
const LINE: f64 = 18.0;
/// About the width of a letter. A picture cannot ask.
const LETTER: f64 = 6.8;
/// The same of a note, whose letters are smaller.
const NOTE_LETTER: f64 = 6.0;
/// Texts as a page would show them. The field below is white, because programs show pictures on black too.
const TEXTS: &str = "text { font: 12px sans-serif; fill: var(--ink); } .title { font-weight: 600; } \
    .note { fill: var(--soft); font-size: 11px; } .field { fill: var(--paper); }";
/// Colours by name.
const COLOURS: [&str; 12] = [
    "ink", "paper", "soft", "line", "c0", "c1", "c2", "c3", "c4", "c5", "c6", "c7",
];

/// Charts below a heading, whose first line is the title.
#[must_use]
pub fn picture(heading: &[&str], charts: impl IntoIterator<Item = Option<Chart>>) -> String {
    let charts: Vec<Chart> = charts.into_iter().flatten().collect();
    let notes: Vec<Vec<String>> = charts.iter().map(note).collect();
    let lines = notes.iter().map(Vec::len).max().unwrap_or(0);
    let above = LINE * (lines as f64 + 1.0);
    let head = above + charts.iter().map(legend_height).fold(0.0, f64::max);
    let sizes = || charts.iter().map(Chart::size);
    let across = GAP + sizes().map(|(width, _)| width).fold(0.0, f64::max);
    let down = GAP + head + sizes().map(|(_, height)| height).fold(0.0, f64::max);
    let columns = charts.len().clamp(1, COLUMNS);
    let size = (
        across * columns as f64 - GAP,
        down * charts.len().div_ceil(COLUMNS) as f64,
    );
    let body = html! {
        @for (at, chart) in charts.iter().enumerate() {
            @let (x, y) = (across * (at % COLUMNS) as f64, down * (at / COLUMNS) as f64);
            g transform=(format!("translate({x} {y})")) {
                text.title { (chart.title) }
                @for (line, words) in notes[at].iter().enumerate() {
                    text.note y=(LINE * (line as f64 + 1.0)) { (words) }
                }
                g transform=(format!("translate(0 {above})")) { (legend(chart)) }
                g transform=(format!("translate(0 {})", head)) { (chart.drawing()) }
            }
        }
    };
    framed(heading, size, &body)
}

/// A chart's note in lines as wide as the chart, because a text of a picture does not wrap.
fn note(chart: &Chart) -> Vec<String> {
    let room = (chart.size().0 / NOTE_LETTER) as usize;
    let mut lines: Vec<String> = Vec::new();
    for word in chart.note.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= room => {
                *line += " ";
                *line += word;
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

/// A drawing of this width and height below a heading, whose first line is the title.
fn framed(heading: &[&str], (width, height): (f64, f64), body: &Markup) -> String {
    let heading = || heading.iter().filter(|line| !line.is_empty());
    let top = GAP + LINE * (heading().count() as f64 + 1.0);
    let (width, height) = (width + 2.0 * GAP, top + height);
    let svg = html! {
        svg xmlns="http://www.w3.org/2000/svg" viewBox=(format!("0 0 {width} {height}")) {
            style { (PreEscaped(style())) }
            rect.field width="100%" height="100%" {}
            @for (at, line) in heading().enumerate() {
                text.title[at == 0].note[at > 0] x=(GAP) y=(GAP + LINE * at as f64) { (line) }
            }
            g transform=(format!("translate({GAP} {top})")) { (body) }
        }
    };
    // XML has no place for control characters, however they are written.
    svg.0.replace(char::is_control, " ") + "\n"
}

/// The style sheet with colours for paper in place of their names, which few programs but browsers know.
fn style() -> String {
    let colour = |name: &str| {
        let rest = PAGE.split_once(&format!("--{name}: "));
        rest.and_then(|(_, rest)| rest.split(';').next())
    };
    let named = |style: String, name: &&str| {
        let value = colour(name).unwrap_or("black");
        style.replace(&format!("var(--{name})"), value)
    };
    COLOURS.iter().fold(TEXTS.to_owned() + STYLE, named)
}

/// Where the names of a chart's series stand: as many in a line as it has room for.
fn places(chart: &Chart) -> Vec<(f64, f64)> {
    let (mut x, mut y) = (0.0, 0.0);
    let place = |series: &Series| {
        let width = 40.0 + LETTER * series.legend.chars().count() as f64;
        if x > 0.0 && x + width > WIDTH {
            (x, y) = (0.0, y + LINE);
        }
        x += width;
        (x - width, y)
    };
    chart.legend_entries().into_iter().map(place).collect()
}

fn legend_height(chart: &Chart) -> f64 {
    let last = places(chart).pop();
    last.map_or(0.0, |(_, y)| y + LINE)
}

fn legend(chart: &Chart) -> Markup {
    html! {
        @for (series, (x, y)) in chart.legend_entries().into_iter().zip(places(chart)) {
            g class=(class(series)) transform=(format!("translate({x:.0} {})", y - 10.0)) { (sample(series)) }
            text x=(format!("{:.0}", x + 28.0)) y=(y) { (series.legend) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::{Axis, Kind, Point};
    use crate::number;
    use crate::scale::Scale;

    #[test]
    fn a_note_is_as_wide_as_its_chart() {
        let axis = || Axis::new("share", Scale::Linear { from_zero: true }, number::percent);
        let points = vec![Point::new(0.0, 0.0), Point::new(1.0, 1.0)];
        let series = vec![Series::new("64 B", 0, Kind::Joined, points)];
        const NOTE: &str = "Rates and losses are of the time outside disturbances. At a cross on the axis nothing \
            could be measured.";
        let chart = Chart::new("Loss".to_owned(), NOTE, axis(), axis(), series).expect("a chart");
        let (lines, width) = (note(&chart), chart.size().0);
        assert_eq!(lines.join(" "), NOTE);
        assert!(lines.len() > 1, "{lines:?}");
        let fits = |line: &String| line.chars().count() as f64 * NOTE_LETTER <= width;
        assert!(lines.iter().all(fits), "{lines:?}");
        let all = picture(&["Title"], [Some(chart)]);
        assert_eq!(all.matches("class=\"note\"").count(), lines.len());
    }
}
