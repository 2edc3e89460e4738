//! A chart: inline SVG whose marks hold their values in words, a legend, and the same numbers as a table.
//!
//! Colours are classes, so that the style sheet gives dark pages others. Each series has a mark of its own too.

mod lying;
mod marks;
mod parts;
mod picture;

use crate::number;
use crate::scale::{Laid, Scale};
use marks::{CROSS, mark, sample};
use maud::{Markup, html};
use std::collections::HashMap;
use std::collections::hash_map::Entry;

pub use parts::{Axis, Kind, Point, Series};
pub use picture::picture;

/// How a drawing looks, wherever it stands.
pub const STYLE: &str = include_str!("chart.css");

/// Size of a drawing, and the field for values in it. A phone shows it at about three quarters.
const WIDTH: f64 = 480.0;
const HEIGHT: f64 = 280.0;
const LEFT: f64 = 64.0;
const RIGHT: f64 = WIDTH - 14.0;
const TOP: f64 = 26.0;
const BOTTOM: f64 = HEIGHT - 44.0;
/// Colours and marks there are; then they begin again.
pub const STYLES: usize = 8;
/// Rows of a plot's table, about. Of more points one in so many is shown.
pub const ROWS_BRIEF: usize = 200;
/// The same where the page has room.
pub const ROWS_LONG: usize = 600;

/// A series of more points than this is drawn without marks that lie on another.
const CROWDED: usize = 100;
/// Marks lie on each other where they share a square of this side. A mark is twice as wide.
const CELL: f64 = 4.0;

/// A chart.
#[derive(Clone, Debug)]
pub struct Chart {
    title: String,
    note: String,
    x: Axis,
    y: Axis,
    /// The first is at the back.
    series: Vec<Series>,
    /// Of a chart that lies on its side: the height of a row. Its x axis has names, which stand below each other.
    row: Option<f64>,
}

impl Chart {
    /// A chart of the series that have points. `None` where there is nothing to draw. `note` says how to read it.
    #[must_use]
    pub fn new(
        title: String,
        note: impl Into<String>,
        x: Axis,
        y: Axis,
        mut series: Vec<Series>,
    ) -> Option<Self> {
        series.retain(|series| !series.points.is_empty());
        let any = series.iter().any(|series| series.kind != Kind::Rule);
        any.then_some(Self {
            title,
            note: note.into(),
            x,
            y,
            series,
            row: None,
        })
    }

    /// On its side, with rows as high as this: many names have room below each other.
    #[must_use]
    pub fn lying(self, row: f64) -> Self {
        let row = Some(row);
        Self { row, ..self }
    }

    /// Points of all its series.
    pub fn points(&self) -> usize {
        self.series.iter().map(|series| series.points.len()).sum()
    }

    /// The figure: heading, legend, drawing, a line for the value pointed at, a table of about so many rows.
    #[must_use]
    pub fn figure(&self, rows: usize) -> Markup {
        html! {
            figure.plot {
                figcaption {
                    b { (self.title) }
                    span.note { (self.note) }
                    (self.legend())
                }
                @let (width, height) = self.size();
                svg viewBox=(format!("0 0 {width} {height}")) role="img" aria-label=(self.title) { (self.drawing()) }
                output aria-live="polite" {}
                (self.table(rows))
            }
        }
    }

    /// Axes and series.
    fn drawing(&self) -> Markup {
        if let Some(row) = self.row {
            return self.drawing_lying(row);
        }
        let points = || self.series.iter().flat_map(|series| &series.points);
        let xs = points().flat_map(|point| [point.x].into_iter().chain(bar_ends(point)));
        let x = self.x.scale.laid(xs);
        let ys = points().flat_map(|point| {
            let (low, high) = point.ends.unwrap_or((point.y, point.y));
            let base = point.bar.map(|(.., base)| base);
            [point.y, low, high].into_iter().chain(base)
        });
        let field = Field {
            x,
            y: self.y.scale.laid(ys),
        };
        html! {
            (self.axes(&field))
            @for series in &self.series { (self.series_drawn(series, &field)) }
            // A bar that stands on another hides no interval of that.
            @for series in self.series.iter().filter(|series| series.kind == Kind::Bars) {
                g class=(class(series)) {
                    @for point in &series.points { (ends(point, &field)) }
                }
            }
        }
    }

    fn legend(&self) -> Markup {
        html! {
            ul.legend {
                @for series in self.legend_entries() {
                    li {
                        svg class=(class(series)) style=[own_colour(series)] viewBox="0 0 24 12" aria-hidden="true" { (sample(series)) }
                        (series.legend)
                    }
                }
            }
        }
    }

    /// The first series of each entry of the legend.
    fn legend_entries(&self) -> Vec<&Series> {
        let mut shown: Vec<&Series> = Vec::new();
        for series in &self.series {
            if shown.iter().all(|other| other.legend != series.legend) {
                shown.push(series);
            }
        }
        shown
    }

    fn axes(&self, field: &Field<'_>) -> Markup {
        let words =
            |axis: &Axis, value: f64, said: Option<String>| said.unwrap_or((axis.words)(value));
        html! {
            g.grid {
                @for (value, said) in field.y.ticks() {
                    @if let Some(y) = field.up(value) {
                        line x1=(px(LEFT)) x2=(px(RIGHT)) y1=(px(y)) y2=(px(y)) {}
                        text.end x=(px(LEFT - 6.0)) y=(px(y + 4.0)) { (words(&self.y, value, said)) }
                    }
                }
                @for (value, said) in field.x.ticks() {
                    @if let Some(x) = field.across(value) {
                        line x1=(px(x)) x2=(px(x)) y1=(px(BOTTOM)) y2=(px(BOTTOM + 4.0)) {}
                        text.middle x=(px(x)) y=(px(BOTTOM + 18.0)) { (words(&self.x, value, said)) }
                    }
                }
                text.middle x=(px((LEFT + RIGHT) / 2.0)) y=(px(HEIGHT - 6.0)) { (self.x.label) }
                text x="0" y="12" { (self.y.label) }
            }
        }
    }

    fn series_drawn(&self, series: &Series, field: &Field<'_>) -> Markup {
        let placed: Vec<Placed<'_>> = series
            .points
            .iter()
            .filter_map(|point| Some((field.across(point.x)?, field.height(point)?, point)))
            .collect();
        let drawn = apart(&placed);
        let path = || {
            let mut text = String::new();
            let known = placed.iter().filter(|(.., point)| !point.is_unknown());
            for (at, (x, y, _)) in known.enumerate() {
                text += &format!("{}{x:.1} {y:.1}", if at == 0 { "M" } else { "L" });
            }
            text
        };
        html! {
            g class=(class(series)) style=[own_colour(series)] {
                @if series.kind == Kind::Joined { path.line d=(path()) {} }
                @if series.kind == Kind::Rule { path.rule d=(path()) { title { (series.name) } } }
                @for ((x, y, point), hidden) in &drawn {
                    @if series.kind == Kind::Bars { (self.bar(series, point, field)) }
                    @else { (ends(point, field)) }
                    @if !matches!(series.kind, Kind::Bars | Kind::Rule) {
                        g.mark.bound[point.bound] {
                            (mark(if point.is_unknown() { CROSS } else { series.style }, *x, *y))
                            title {
                                (self.words(series, point))
                                @if *hidden > 0 { "; " (number::grouped(*hidden)) " more below it" }
                            }
                        }
                    }
                }
            }
        }
    }

    fn bar(&self, series: &Series, point: &Point, field: &Field<'_>) -> Markup {
        let Some((from, to, base)) = point.bar else {
            return html! {};
        };
        let ends = (
            field.across(from),
            field.across(to),
            field.span((base, point.y)),
        );
        let (Some(left), Some(right), Some((bottom, top))) = ends else {
            return html! {};
        };
        html! {
            rect.mark x=(px(left)) y=(px(top)) width=(px((right - left).max(0.7))) height=(px(bottom - top)) {
                title { (self.words(series, point)) }
            }
        }
    }

    fn words(&self, series: &Series, point: &Point) -> String {
        if !point.words.is_empty() {
            return point.words.clone();
        }
        format!("{}: {}, {}", series.name, self.at(point), self.value(point))
    }

    /// Where a point stands across, in words.
    fn at(&self, point: &Point) -> String {
        match &self.x.scale {
            Scale::Names(names) => names
                .get(point.x.round() as usize)
                .cloned()
                .unwrap_or_default(),
            _ => (self.x.words)(point.x),
        }
    }

    /// Its value; of a bar its own part, without those below it.
    fn value(&self, point: &Point) -> String {
        if point.is_unknown() {
            return "not measured".to_owned();
        }
        let base = point.bar.map_or(0.0, |(.., base)| base);
        let base = if self.y.scale == Scale::Log {
            0.0
        } else {
            base
        };
        let bound = if point.bound { "at least " } else { "" };
        let ends = point.ends.map(|(low, high)| {
            let (low, high) = (low - base, high - base);
            format!(" ({} to {})", (self.y.words)(low), (self.y.words)(high))
        });
        format!(
            "{bound}{}{}",
            (self.y.words)(point.y - base),
            ends.unwrap_or_default()
        )
    }

    fn table(&self, rows: usize) -> Markup {
        let points = self.points();
        let step = points.div_ceil(rows).max(1);
        html! {
            details.data {
                summary {
                    "Table of this plot"
                    @if step > 1 { ": 1 in " (step) " of its " (number::grouped(points as u64)) " points" }
                }
                div.wide { table {
                    thead { tr { @for name in ["Series", &self.x.label, &self.y.label] { th scope="col" { (name) } } } }
                    tbody {
                        @for series in &self.series {
                            @for point in series.points.iter().step_by(step) {
                                tr {
                                    td { (series.name) }
                                    td { (self.at(point)) }
                                    td { (self.value(point)) }
                                }
                            }
                        }
                    }
                } }
            }
        }
    }
}

/// Both axes of a drawing.
struct Field<'a> {
    x: Laid<'a>,
    y: Laid<'a>,
}

impl Field<'_> {
    fn across(&self, value: f64) -> Option<f64> {
        self.x.part(value).map(|part| LEFT + part * (RIGHT - LEFT))
    }

    fn up(&self, value: f64) -> Option<f64> {
        self.y
            .part(value)
            .map(|part| BOTTOM - part * (BOTTOM - TOP))
    }

    /// Where a point stands; on the axis where it has no value.
    fn height(&self, point: &Point) -> Option<f64> {
        if point.is_unknown() {
            return Some(BOTTOM);
        }
        self.up(point.y)
    }

    /// Both ends of an interval; a lower end without a place is at the bottom.
    fn span(&self, (low, high): (f64, f64)) -> Option<(f64, f64)> {
        Some((self.up(low).unwrap_or(BOTTOM), self.up(high)?))
    }
}

/// A point where it is drawn.
type Placed<'a> = (f64, f64, &'a Point);

/// Of many points those that are to be seen, each with the number of those hidden below it.
fn apart<'a>(placed: &[Placed<'a>]) -> Vec<(Placed<'a>, u64)> {
    let mut drawn: Vec<(Placed<'a>, u64)> = Vec::new();
    let mut places: HashMap<(u64, u64), usize> = HashMap::new();
    for point in placed {
        let cell = |place: f64| (place / CELL) as u64;
        match places.entry((cell(point.0), cell(point.1))) {
            Entry::Occupied(known) if placed.len() > CROWDED => drawn[*known.get()].1 += 1,
            entry => {
                entry.insert_entry(drawn.len());
                drawn.push((*point, 0));
            }
        }
    }
    drawn
}

/// The interval of a point.
fn ends(point: &Point, field: &Field<'_>) -> Markup {
    let across = field.across(point.x);
    let span = point.ends.and_then(|ends| field.span(ends));
    html! {
        @if let Some((x, (low, high))) = across.zip(span) {
            path.ends.over[point.bar.is_some()] d=(format!("M{:.1} {low:.1}h8m-4 0V{high:.1}m-4 0h8", x - 4.0)) {}
        }
    }
}

fn bar_ends(point: &Point) -> Vec<f64> {
    point.bar.map_or(Vec::new(), |(from, to, _)| vec![from, to])
}

fn class(series: &Series) -> String {
    match series.colour {
        Some(_) => "own".to_owned(),
        None => format!("c{}", series.style % STYLES),
    }
}

fn own_colour(series: &Series) -> Option<String> {
    series.colour.map(|colour| format!("color:{colour}"))
}

/// A tenth of a pixel is enough.
fn px(place: f64) -> String {
    let text = format!("{place:.1}");
    text.strip_suffix(".0").map_or(text.clone(), str::to_owned)
}
