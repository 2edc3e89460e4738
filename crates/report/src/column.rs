//! A row of a result, as its columns say it: each has a heading and a value in its unit. The tables of terminal and page,
//! plots and gauges are made from the same rows.

use crate::chart::Axis;
use crate::gauges::{Labels, NS};
use crate::number;
use crate::scale::Scale;
use crate::table::Table;
use mpps_record::Verdict;

/// Where rows are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum On {
    /// On a page, or in Markdown.
    Page,
    /// On a terminal, whose lines are short.
    Screen,
    /// The same with all details, and in plots.
    Details,
}

impl On {
    /// A terminal, with all details or without.
    #[must_use]
    pub const fn terminal(verbose: bool) -> Self {
        if verbose { Self::Details } else { Self::Screen }
    }
}

/// A value in its unit.
#[derive(Clone, Debug, PartialEq)]
enum Value {
    /// On the left of its column.
    Words(String),
    /// On the right.
    Text(String),
    Count(u64),
    /// Without its fraction; it may be below zero.
    Whole(f64),
    /// Frames/s.
    Rate(u64),
    /// Of 1.
    Share(f64),
    /// A busy share, which sampling may put above 1.
    Busy(f64),
    /// So many of so many.
    Of(u64, u64),
    /// Nanoseconds.
    Time(u64),
    /// The same in microseconds on a terminal, and whether enough frames support it.
    Micros(u64, bool),
}

/// Behind a time that too few frames support.
pub const FEW: &str = "?";

impl Value {
    fn shown(&self, on: On) -> String {
        let is_page = on == On::Page;
        match *self {
            Self::Words(ref words) | Self::Text(ref words) => words.clone(),
            Self::Count(count) | Self::Rate(count) if is_page => number::grouped(count),
            Self::Count(count) => number::spaced(count),
            Self::Whole(whole) if is_page => number::whole(whole, number::grouped),
            Self::Whole(whole) => number::whole(whole, number::spaced),
            Self::Rate(fps) => number::short_count(fps),
            Self::Share(share) if is_page => number::percent(share),
            Self::Share(share) => number::percent_or_under(share).replace("under ", "< "),
            Self::Busy(share) if is_page => number::percent(share.min(1.0)),
            Self::Busy(share) => number::busy(share),
            Self::Of(some, all) => format!("{some} of {all}"),
            Self::Micros(ns, known) if is_page => {
                number::time(ns as f64) + if known { "" } else { " (few)" }
            }
            Self::Micros(ns, known) => {
                number::Known::three(ns as f64 / 1e3).plain() + if known { "" } else { FEW }
            }
            Self::Time(ns) => number::time(ns as f64),
        }
    }

    /// As a plot has it. Words have no number.
    fn number(&self) -> Option<f64> {
        match *self {
            Self::Words(_) | Self::Text(_) => None,
            Self::Count(count) | Self::Rate(count) => Some(count as f64),
            Self::Share(number) | Self::Whole(number) => Some(number),
            Self::Busy(share) => Some(share.min(1.0)),
            Self::Of(some, all) => Some(some as f64 / all.max(1) as f64),
            Self::Time(ns) | Self::Micros(ns, _) => Some(ns as f64),
        }
    }
}

/// The heading of a column with a row's value. A column without a value in any row is left out.
#[derive(Clone, Debug)]
pub struct Column {
    heading: &'static str,
    value: Option<Value>,
    /// `Some(true)`: only on a page. `Some(false)`: only on a terminal and in plots.
    on_page: Option<bool>,
    gauge: Option<(&'static str, &'static str)>,
}

/// Makes a column of values of one unit.
macro_rules! units {
    ($($(#[$about:meta])* $name:ident($type:ty) $value:expr;)*) => {$(
        $(#[$about])*
        pub fn $name(heading: &'static str, value: impl Into<Option<$type>>) -> Column {
            let value = value.into().map($value);
            Column { heading, value, on_page: None, gauge: None }
        }
    )*};
}
units! {
    /// On the left.
    words(String) Value::Words;
    /// On the right.
    text(String) Value::Text;
    /// Of frames or events.
    count(u64) Value::Count;
    /// In the unit that its heading has, without a fraction.
    whole(f64) Value::Whole;
    /// Frames/s.
    rate(u64) Value::Rate;
    /// Of 1.
    share(f64) Value::Share;
    /// Of a CPU's time.
    busy(f64) Value::Busy;
    /// So many of so many.
    of((u64, u64)) |(some, all)| Value::Of(some, all);
    /// Nanoseconds.
    time(u64) Value::Time;
    /// The same in microseconds on a terminal, and whether enough frames support it.
    micros((u64, bool)) |(ns, known)| Value::Micros(ns, known);
}

/// A line for each column: unit, heading, value. Behind `=>` stand a gauge's name and help. `page` or `screen` limits it to
/// that place.
macro_rules! columns {
    ($($unit:ident $heading:literal $value:expr $(=> $name:expr, $help:expr)? $(, $on:ident)?;)*) => {
        vec![$(
            $crate::column::$unit($heading, $value) $(.gauge($name, $help))? $(.$on())?
        ),*]
    };
}
pub(crate) use columns;

impl Column {
    /// On a page alone.
    pub fn page(self) -> Self {
        let on_page = Some(true);
        Self { on_page, ..self }
    }

    /// On a terminal alone.
    pub fn screen(self) -> Self {
        let on_page = Some(false);
        Self { on_page, ..self }
    }

    /// With a gauge of this name and help.
    pub fn gauge(self, name: &'static str, help: &'static str) -> Self {
        let gauge = Some((name, help));
        Self { gauge, ..self }
    }

    /// Its heading, with the unit that a page has beside whole numbers.
    pub fn heading(&self, on: On) -> String {
        match self.value {
            // On a terminal a heading may take two lines.
            _ if on == On::Page && self.heading.contains('\n') => {
                self.heading.replace('\n', " ").trim().to_owned()
            }
            Some(Value::Rate(_)) if on == On::Page && !self.heading.contains("frames/s") => {
                format!("{}, frames/s", self.heading)
            }
            _ => self.heading.to_owned(),
        }
    }

    /// A plot's axis of its values.
    fn axis(&self) -> Axis {
        let words = match self.value {
            Some(Value::Share(_) | Value::Busy(_) | Value::Of(..)) => number::percent,
            Some(Value::Time(_) | Value::Micros(..)) => number::time,
            _ => number::short,
        };
        Axis::new(
            self.heading(On::Page),
            Scale::Linear { from_zero: true },
            words,
        )
    }
}

/// A row whose trial says nothing, by its name, and why.
#[derive(Clone, Debug)]
pub struct Unsure {
    name: String,
    void: u32,
    /// On its last trial.
    pub verdict: Verdict,
    /// The same with its numbers.
    pub text: String,
}

impl Unsure {
    /// `100 %: 4 trials, the last void: ...`
    pub fn told(&self) -> String {
        let tries = match self.void {
            0 => String::new(),
            void => format!("{} trials, the last ", void + 1),
        };
        format!("{}: {tries}{}", self.name, self.text)
    }
}

/// A row. All rows of a kind have the same columns in the same order.
#[derive(Clone, Debug)]
pub struct TableRow {
    columns: Vec<Column>,
    /// Where a plot has it across.
    pub x: f64,
    /// Drawn hollow: a bound, or disturbed.
    pub is_bound: bool,
    /// Labels of its gauges beside those of its line.
    pub labels: Vec<(&'static str, String)>,
    /// Of a row that was not measured.
    pub unsure: Option<Unsure>,
}

impl TableRow {
    /// A row that a plot has there across.
    pub fn new(x: f64, columns: Vec<Column>) -> Self {
        Self {
            columns,
            x,
            is_bound: false,
            labels: Vec::new(),
            unsure: None,
        }
    }

    /// Behind columns for what its line is about.
    pub fn about(mut self, labels: &Labels<'_>) -> Self {
        let own = labels
            .iter()
            .map(|(name, about)| words(name, number::frame(about)));
        self.columns.splice(0..0, own);
        self
    }

    /// Where `bound` is true, drawn hollow.
    pub fn bounding(self, is_bound: bool) -> Self {
        Self { is_bound, ..self }
    }

    /// With a label for its gauges.
    pub fn labelled(mut self, name: &'static str, label: impl ToString) -> Self {
        self.labels.push((name, label.to_string()));
        self
    }

    /// Unless it was measured: its name, void trials before the last one, and the verdict on that in a word and in full.
    pub fn unless(self, measured: bool, name: String, void: u32, last: (&Verdict, &str)) -> Self {
        let unsure = (!measured).then(|| Unsure {
            name,
            void,
            verdict: last.0.clone(),
            text: last.1.to_owned(),
        });
        Self { unsure, ..self }
    }

    /// Its values that have a gauge: name and help, value in base units.
    pub fn gauges(&self) -> impl Iterator<Item = ((&'static str, &'static str), Option<f64>)> {
        let base = |value: &Value| match value {
            Value::Time(ns) | Value::Micros(ns, _) => Some(*ns as f64 * NS),
            _ => value.number(),
        };
        let columns = self.columns.iter();
        columns.filter_map(move |one| Some((one.gauge?, one.value.as_ref().and_then(base))))
    }

    /// The value under this heading, as a plot has it.
    pub fn number(&self, heading: &str) -> Option<f64> {
        let column = self.columns.iter().find(|one| one.heading == heading)?;
        column.value.as_ref()?.number()
    }

    /// All that it says: `offered 1 000 000 frames/s, lost 12`.
    pub fn in_words(&self) -> String {
        let columns = self.columns.iter().filter(|one| one.on_page != Some(false));
        let told = columns.filter_map(|one| {
            let unit = if matches!(one.value, Some(Value::Rate(_))) {
                " frames/s"
            } else {
                ""
            };
            let value = one.value.as_ref()?.shown(On::Page);
            Some(format!("{} {value}{unit}", one.heading))
        });
        told.collect::<Vec<_>>().join(", ")
    }
}

/// The axis of the values under this heading; `None` where no row has one.
pub fn axis(rows: &[TableRow], heading: &str) -> Option<Axis> {
    let columns = rows.iter().flat_map(|row| &row.columns);
    let mut known = columns.filter(|one| one.heading == heading && one.value.is_some());
    known.next().map(Column::axis)
}

/// The table of rows.
pub fn table(rows: &[TableRow], on: On) -> Table {
    let is_shown = |at: &usize| {
        let here = |column: &Column| column.on_page.is_none_or(|page| page == (on == On::Page));
        let mut columns = rows.iter().filter_map(|row| row.columns.get(*at));
        columns.any(|column| here(column) && column.value.is_some())
    };
    let most = rows.first().map_or(0, |row| row.columns.len());
    let shown: Vec<usize> = (0..most).filter(is_shown).collect();
    let known = |at: &usize| {
        let mut columns = rows.iter().map(|row| &row.columns[*at]);
        let known = columns.clone().find(|column| column.value.is_some());
        known.or_else(|| columns.next())
    };
    let heads: Vec<&Column> = shown.iter().filter_map(known).collect();
    let cells = |row: &TableRow| {
        let cell = |at: &usize| {
            let value = row.columns[*at].value.as_ref();
            value.map_or("-".to_owned(), |value| value.shown(on))
        };
        shown.iter().map(cell).collect()
    };
    let is_words = |column: &&Column| matches!(column.value, Some(Value::Words(_)));
    Table {
        left: (0..)
            .zip(&heads)
            .filter(|(_, head)| is_words(head))
            .map(|(at, _)| at)
            .collect(),
        head: heads.iter().map(|head| head.heading(on)).collect(),
        rows: rows.iter().map(cells).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(fps: u64, few: Option<u64>) -> TableRow {
        TableRow::new(
            1.0,
            columns! {
                words "verdict" "lossy".to_owned(), screen;
                count "lost" 12_345;
                rate "offered" fps => "a_rate", "A rate.";
                share "loss" 1e-6;
                busy "busy" 1.02;
                of "answered" (9, 10);
                time "took" 1_500_000 => "a_time", "A time.";
                micros "p99" (7_900, false);
                count "left out" few, page;
            },
        )
    }

    #[test]
    fn each_unit_is_shown_as_its_place_has_room() {
        let rows = [row(1_234_567, None), row(999, Some(3))];
        let (page, screen) = (table(&rows, On::Page), table(&rows, On::Screen));
        let whole = "lost;offered, frames/s;loss;busy;answered;took;p99;left out";
        assert_eq!(page.head.join(";"), whole);
        let cells =
            "12\u{202f}345;1\u{202f}234\u{202f}567;1.0e-4 %;100 %;9 of 10;1.50 ms;7.90 µs (few);-";
        assert_eq!(page.rows[0].join(";"), cells);
        assert_eq!(page.rows[1].last().map(String::as_str), Some("3"));
        let short = "verdict;lost;offered;loss;busy;answered;took;p99";
        assert_eq!(screen.head.join(";"), short);
        let cells = "lossy;12 345;1.23M;< 0.001 %;100 %;9 of 10;1.50 ms;7.90?";
        assert_eq!(screen.rows[0].join(";"), cells);
        assert_eq!((screen.left, page.left), (vec![0], vec![]));
        assert!(table(&[], On::Page).head.is_empty());
    }

    #[test]
    fn plots_and_gauges_have_the_numbers_of_the_table() {
        let row = row(999, None);
        let numbers = ["offered", "busy", "answered", "took"].map(|head| row.number(head));
        assert_eq!(numbers, [Some(999.0), Some(1.0), Some(0.9), Some(1.5e6)]);
        let others = ["verdict", "left out", "?"].map(|head| row.number(head));
        assert_eq!(others, [None; 3]);
        let gauges: Vec<_> = row
            .gauges()
            .map(|((name, _), value)| (name, value))
            .collect();
        assert_eq!(
            gauges,
            [("a_rate", Some(999.0)), ("a_time", Some(1.5e6 * NS))]
        );
        assert!(axis(std::slice::from_ref(&row), "left out").is_none());
        let told = row.in_words();
        assert!(
            told.starts_with("lost 12\u{202f}345, offered 999 frames/s, loss "),
            "{told}"
        );
    }
}
