//! A chart on its side: a row for each name, values from left to right. It grows with its rows.

use super::{BOTTOM, Chart, HEIGHT, Kind, Point, RIGHT, Series, TOP, WIDTH, class, mark, px};
use crate::scale::{Laid, Scale};
use maud::{Markup, html};
use std::collections::BTreeSet;

/// Where values begin, names stand to the left; and what a chart is wider where words stand beside its rows: room for
/// longer names, and for the words.
const LEFT: f64 = 168.0;
const LONGER: f64 = 122.0;
const BESIDE: f64 = 66.0;
/// Width of the field for values.
const FIELD: f64 = RIGHT - LEFT;
/// Width of a letter of a name on a phone, where letters are larger.
const LETTER: f64 = 7.6;

/// Where rows and values stand.
struct Rows<'a> {
    row: f64,
    left: f64,
    right: f64,
    values: Laid<'a>,
}

impl Rows<'_> {
    fn down(&self, place: f64) -> f64 {
        TOP + (place + 0.5) * self.row
    }

    fn across(&self, value: f64) -> Option<f64> {
        let part = self.values.part(value);
        part.map(|part| self.left + part * FIELD)
    }
}

impl Chart {
    /// Width and height of the drawing.
    pub(super) fn size(&self) -> (f64, f64) {
        let Some(row) = self.row else {
            return (WIDTH, HEIGHT);
        };
        let wider = if self.is_wide() { LONGER + BESIDE } else { 0.0 };
        let rows = TOP + self.names().len() as f64 * row;
        (WIDTH + wider, rows + HEIGHT - BOTTOM)
    }

    fn is_wide(&self) -> bool {
        let mut points = self.series.iter().flat_map(|series| &series.points);
        points.any(|point| !point.beside.is_empty())
    }

    fn names(&self) -> &[String] {
        match &self.x.scale {
            Scale::Names(names) => names,
            _ => &[],
        }
    }

    pub(super) fn drawing_lying(&self, row: f64) -> Markup {
        let (width, height) = self.size();
        let ends = |point: &Point| {
            let (low, high) = point.ends.unwrap_or((point.y, point.y));
            [point.y, low, high]
        };
        let points = self.series.iter().flat_map(|series| &series.points);
        let rows = Rows {
            row,
            left: if self.is_wide() { LEFT + LONGER } else { LEFT },
            right: width - WIDTH + RIGHT,
            values: self.y.scale.laid(points.flat_map(ends)),
        };
        let bottom = height - HEIGHT + BOTTOM;
        html! {
            g.grid {
                @for (at, (name, label)) in self.names().iter().zip(shortened(self.names(), rows.left)).enumerate() {
                    @let (y, edge) = (rows.down(at as f64), rows.down(at as f64 + 0.5));
                    line x1="0" x2=(px(rows.right)) y1=(px(edge)) y2=(px(edge)) {}
                    text x="0" y=(px(y + 4.0)) { (label) title { (name) } }
                }
                @for (value, said) in rows.values.ticks() {
                    @if let Some(x) = rows.across(value) {
                        line x1=(px(x)) x2=(px(x)) y1=(px(TOP)) y2=(px(bottom + 4.0)) {}
                        text.middle x=(px(x)) y=(px(bottom + 18.0)) { (said.unwrap_or_else(|| (self.y.words)(value))) }
                    }
                }
                text.middle x=(px(rows.left + FIELD / 2.0)) y=(px(height - 6.0)) { (self.y.label) }
            }
            @for series in &self.series { (self.rows_drawn(series, &rows)) }
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
                        @if !point.beside.is_empty() {
                            g.grid { text.end x=(px(rows.right)) y=(px(y + 4.0)) { (point.beside) } }
                        }
                    }
                }
            }
        }
    }
}

/// As many letters of each name as have room: a long one is cut in the middle, or elsewhere if two would read the same.
fn shortened(names: &[String], room: f64) -> Vec<String> {
    let letters = (room / LETTER) as usize;
    let cut_behind = |begin: usize| -> Vec<String> {
        let each = names.iter().map(|name| cut(name, begin, letters));
        each.collect()
    };
    let count = |names: &[String]| names.iter().collect::<BTreeSet<_>>().len();
    let tells_apart = |labels: &Vec<String>| count(labels) == count(names);
    let middle = letters / 2;
    let mut begins: Vec<usize> = (1..letters - 1).collect();
    begins.sort_by_key(|begin| begin.abs_diff(middle));
    let mut labels = begins.into_iter().map(&cut_behind);
    labels
        .find(tells_apart)
        .unwrap_or_else(|| cut_behind(middle))
}

/// So many letters of a name with its first ones, where it has more.
fn cut(name: &str, begin: usize, letters: usize) -> String {
    let count = name.chars().count();
    if count <= letters {
        return name.to_owned();
    }
    let first: String = name.chars().take(begin).collect();
    let last: String = name.chars().skip(count - (letters - 1 - begin)).collect();
    format!("{}…{}", first.trim_end(), last.trim_start())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_names_are_cut_so_that_they_differ() {
        let names = |cells: &[&str]| -> Vec<String> {
            let name = |cell: &&str| format!("rp_filter ({cell}, 64 B)");
            cells.iter().map(name).collect()
        };
        let cells = ["a", "factorial-1-cpu-one-way", "factorial-1-cpu-both-ways"];
        let labels = shortened(&names(&cells), LEFT);
        assert_eq!(
            labels,
            [
                "rp_filter (a, 64 B)",
                "rp_filter (…way, 64 B)",
                "rp_filter (…ays, 64 B)"
            ]
        );
        // What differs is further to the left.
        let cells = ["factorial-1-cpu-one-way", "factorial-2-cpu-one-way"];
        let labels = shortened(&names(&cells), LEFT);
        assert_eq!(labels, ["r…1-cpu-one-way, 64 B)", "r…2-cpu-one-way, 64 B)"]);
        let same = names(&[cells[0], cells[0]]);
        assert_eq!(shortened(&same, LEFT), ["rp_filter (…way, 64 B)"; 2]);
    }
}
