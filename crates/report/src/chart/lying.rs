//! A chart on its side: a row for each name, values from left to right. It grows with its rows.

use super::{BOTTOM, Chart, HEIGHT, Kind, Point, RIGHT, Series, TOP, WIDTH, class, mark, px};
use crate::scale::{Laid, Scale};
use maud::{Markup, html};

/// Where values begin; names stand to the left.
const LEFT: f64 = 168.0;
/// Letters of a name that have room on a phone too.
const LETTERS: usize = 22;

/// Where rows and values stand.
struct Rows<'a> {
    row: f64,
    values: Laid<'a>,
}

impl Rows<'_> {
    fn down(&self, place: f64) -> f64 {
        TOP + (place + 0.5) * self.row
    }

    fn across(&self, value: f64) -> Option<f64> {
        let part = self.values.part(value);
        part.map(|part| LEFT + part * (RIGHT - LEFT))
    }
}

impl Chart {
    pub(super) fn figure_lying(&self, row: f64) -> Markup {
        let none = Vec::new();
        let names = match &self.x.scale {
            Scale::Names(names) => names,
            _ => &none,
        };
        let ends = |point: &Point| {
            let (low, high) = point.ends.unwrap_or((point.y, point.y));
            [point.y, low, high]
        };
        let points = self.series.iter().flat_map(|series| &series.points);
        let rows = Rows {
            row,
            values: self.y.scale.laid(points.flat_map(ends)),
        };
        let bottom = TOP + names.len() as f64 * row;
        let height = bottom + HEIGHT - BOTTOM;
        html! {
            svg viewBox=(format!("0 0 {WIDTH} {height}")) role="img" aria-label=(self.title) {
                g.grid {
                    @for (at, name) in names.iter().enumerate() {
                        @let (y, edge) = (rows.down(at as f64), rows.down(at as f64 + 0.5));
                        line x1="0" x2=(px(RIGHT)) y1=(px(edge)) y2=(px(edge)) {}
                        text x="0" y=(px(y + 4.0)) { (shortened(name)) title { (name) } }
                    }
                    @for (value, said) in rows.values.ticks() {
                        @if let Some(x) = rows.across(value) {
                            line x1=(px(x)) x2=(px(x)) y1=(px(TOP)) y2=(px(bottom + 4.0)) {}
                            text.middle x=(px(x)) y=(px(bottom + 18.0)) { (said.unwrap_or_else(|| (self.y.words)(value))) }
                        }
                    }
                    text.middle x=(px((LEFT + RIGHT) / 2.0)) y=(px(height - 6.0)) { (self.y.label) }
                }
                @for series in &self.series { (self.rows_drawn(series, &rows)) }
            }
        }
    }

    fn rows_drawn(&self, series: &Series, rows: &Rows<'_>) -> Markup {
        let placed = series.points.iter();
        let placed =
            placed.filter_map(|point| Some((rows.across(point.y)?, rows.down(point.x), point)));
        let placed: Vec<(f64, f64, &Point)> = placed.collect();
        let path = |ends: (f64, f64)| Some((rows.across(ends.0)?, rows.across(ends.1)?));
        html! {
            g class=(class(series)) {
                @if let (Kind::Rule, [(x, y, _), .., (_, end, _)]) = (series.kind, &placed[..]) {
                    path.rule d=(format!("M{x:.1} {y:.1}V{end:.1}")) { title { (series.name) } }
                } @else {
                    @for (x, y, point) in &placed {
                        @if let Some((low, high)) = point.ends.and_then(path) {
                            path.ends d=(format!("M{low:.1} {:.1}v8m0-4H{high:.1}m0-4v8", y - 4.0)) {}
                        }
                        g.mark.bound[point.bound] {
                            (mark(series.style, *x, *y))
                            title { (self.words(series, point)) }
                        }
                    }
                }
            }
        }
    }
}

/// As many letters as have room.
fn shortened(name: &str) -> String {
    if name.chars().count() <= LETTERS {
        return name.to_owned();
    }
    let begin: String = name.chars().take(LETTERS - 1).collect();
    begin.trim_end().to_owned() + "…"
}
