//! A table of a page or a summary.

use maud::{Markup, html};

/// Names of columns, and rows.
#[derive(Default)]
pub struct Table {
    /// Names of its columns.
    pub head: Vec<String>,
    /// Places of the columns of words, which begin at the left on a terminal.
    pub left: Vec<usize>,
    /// As many cells a row.
    pub rows: Vec<Vec<String>>,
}

impl Table {
    /// With rows of as many cells as it has columns, the first one of words. Semicolons part the names in the head.
    pub fn new(head: &str, rows: impl Iterator<Item = Vec<String>>) -> Self {
        Self {
            left: vec![0],
            head: head.split(';').map(str::to_owned).collect(),
            rows: rows.collect(),
        }
    }

    /// A line for each column, where the rows are few.
    #[must_use]
    pub fn upright(self) -> Self {
        let line = |(at, head): (usize, String)| {
            let cells = self.rows.iter().map(|row| row[at].clone());
            std::iter::once(head).chain(cells).collect()
        };
        let mut lines = self.head.into_iter().enumerate().map(line);
        Self {
            left: vec![0],
            head: lines.next().unwrap_or_default(),
            rows: lines.collect(),
        }
    }

    /// As a page has it, of this class.
    #[must_use]
    pub fn markup(&self, class: Option<&str>) -> Markup {
        html! {
            div.wide { table class=[class] {
                thead { tr { @for cell in &self.head { th scope="col" { (cell) } } } }
                tbody { @for row in &self.rows { tr { @for cell in row { td data-sort=[sort_key(cell)] { (cell) } } } } }
            } }
        }
    }
}

/// The number that a cell with a unit sorts by, in the smallest of these units. `None` for other cells.
fn sort_key(cell: &str) -> Option<String> {
    const UNITS: [(&str, f64); 6] = [
        ("ns", 1.0),
        ("µs", 1e3),
        ("ms", 1e6),
        ("s", 1e9),
        ("thousand", 1e3),
        ("million", 1e6),
    ];
    let (number, rest) = cell.split_once(' ')?;
    let unit = rest.split(' ').next()?;
    let (_, size) = UNITS.iter().find(|(name, _)| *name == unit)?;
    let digits = number
        .trim_start_matches(['≥', '<', '>', '='])
        .replace('\u{202f}', "");
    let number: f64 = digits.parse().ok()?;
    Some((number * size).to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_with_a_unit_sort_by_their_number() {
        let key = |cell| sort_key(cell).map(|key| key.parse::<f64>().expect("a number").round());
        let cells = [
            "930 ns",
            "6.78 µs",
            "6.80 µs (few)",
            "1.87 ms",
            "60.0 s",
            "1\u{202f}200 s",
        ];
        assert_eq!(
            cells.map(key),
            [930.0, 6780.0, 6800.0, 1.87e6, 6e10, 1.2e12].map(Some)
        );
        assert_eq!(key("1.52 million"), Some(1.52e6));
        for other in ["64 B", "-", "12", "lossy: 2 000 frames lost", "100 rules"] {
            assert_eq!(key(other), None, "{other}");
        }
        let table = Table::new("p50", [vec!["6.78 µs".to_owned()]].into_iter());
        assert!(table.markup(None).0.contains("<td data-sort=\"6780\">"));
    }
}
