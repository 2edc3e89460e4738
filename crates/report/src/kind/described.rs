//! A kind of line that is whole with one description: a title, then mostly for each line a sentence, a table, and what that
//! has to be read with.

use super::{PartLine, Shown, TrialPlot};
use crate::chart::{Chart, Kind, Point, STYLES, Series};
use crate::column::{self, On, TableRow, Unsure};
use crate::gauges::{Gauges, Labels, with};
use crate::number;
use crate::plots::rate_axis;
use crate::scale::Scale;
use crate::table::Table;
use crate::told::Told;
use maud::Markup;
use mpps_record::doubts::SIMULATED;
use mpps_record::{Answer, Doubt, Plan, Run, Verdict};
use serde_json::{Value, json};
use std::borrow::Cow;

/// What a line is about, its frame size first; and what cut it short.
pub type About<'a> = (Labels<'a>, Option<&'a str>);

/// Results by name, with what there is to doubt about them.
pub type Subjects<'a> = Vec<(Cow<'a, str>, Vec<&'a Doubt>)>;

/// What its lines say, wherever they are shown.
pub trait Described: Answer {
    /// What a run of their job was to find, in a sentence; empty where the plan's loads say it.
    const PURPOSE: &'static str = "";
    /// Several of them.
    const NOUN: &'static str = "frame sizes";
    /// Several of a line's rows.
    const ROWS: &'static str = "trials";
    /// All of them in a result in JSON.
    const MEMBER: &'static str = "results";
    /// Whether a verb draws them beside its record.
    const IS_DRAWN: bool = false;
    /// Whether its sentences are long: they are broken in a file too, and empty lines part the remarks.
    const IS_PROSE: bool = false;
    /// Plots of all trials that say nothing beside them.
    const HIDDEN: &'static [TrialPlot] = &[];
    /// Above each table on a terminal.
    const ABOVE: &'static str = "";
    /// Plots of its rows, a series each line.
    const PLOTS: Plots = Plots::NONE;

    /// What a run of their job was to find, in a sentence. `None`: this plan asks for another kind.
    fn purpose(_plan: &Plan) -> Option<String> {
        (!Self::PURPOSE.is_empty()).then(|| Self::PURPOSE.to_owned())
    }

    /// Subjects of one doubt that a terminal names at most. More are counted.
    const NAMED_MAX: usize = 5;

    /// What was measured, and how.
    fn title(&self) -> String {
        String::new()
    }

    /// The same of all lines of a run, above the machine. Empty: the sentences come first, and no machine.
    fn heading(lines: &[Self], _run: &Run) -> String {
        lines.first().map_or(String::new(), Self::title)
    }

    /// What it is about, and what cut it short.
    fn about(&self) -> About<'_>;

    /// The answer; no stop at its end.
    fn sentence(&self) -> String {
        String::new()
    }

    /// The answers of all lines; no stop at their ends.
    fn sentences(lines: &[Self]) -> Vec<String> {
        lines.iter().map(Self::sentence).collect()
    }

    /// A row for each thing that was measured.
    fn rows(&self, on: On) -> Vec<TableRow>;

    /// The rows of all lines, each behind columns for what its line is about.
    fn all_rows(lines: &[Self], on: On) -> Vec<TableRow> {
        let rows = lines.iter().flat_map(|line| {
            let (labels, _) = line.about();
            let own = line.rows(on).into_iter();
            own.map(|row| row.about(&labels)).collect::<Vec<_>>()
        });
        rows.collect()
    }

    /// The tables of a terminal, each below its lines.
    fn tables(&self, rows: &[TableRow], on: On) -> Vec<(String, Table)> {
        let table = (!rows.is_empty()).then(|| column::table(rows, on));
        let table = table.map(|table| (Self::ABOVE.to_owned(), table));
        table.into_iter().collect()
    }

    /// The text of a terminal below the title.
    fn told(lines: &[Self], _run: &Run, verbose: bool) -> Vec<Told> {
        let on = On::terminal(verbose);
        let each = lines.iter().map(|line| {
            let rows = line.rows(on);
            Told {
                sentences: vec![line.sentence()],
                tables: line.tables(&rows, on),
                remarks: line.all_remarks(&rows, verbose),
            }
        });
        each.collect()
    }

    /// What the table has to be read with on a terminal, beside rows without a result, and what cut it short.
    fn remarks(&self) -> Vec<String> {
        Vec::new()
    }

    /// Gauges beside those of its rows.
    fn gauges(&self, _gauges: &mut Gauges, _labels: &Labels<'_>, _run: &Run) {}

    /// Plots of all lines.
    fn charts(lines: &[Self], _run: &Run) -> Vec<Option<Chart>> {
        let plots = Self::PLOTS.of.iter();
        plots
            .map(|plot| plotted(lines, *plot, Vec::new()))
            .collect()
    }

    /// How far it answers what was asked: as its worst row does.
    fn answered(&self) -> Answered {
        let rows = self.rows(On::Screen).into_iter();
        let worst = rows
            .map(|row| Answered::from(row.unsure.map(|unsure| unsure.verdict)))
            .max();
        worst.unwrap_or(Answered::Undecided)
    }

    /// The same of all lines of a run.
    fn all_answered(lines: &[Self], _run: &Run) -> Answered {
        let all = lines.iter().map(Self::answered).max();
        all.unwrap_or(Answered::Measured)
    }

    /// The result in JSON, behind what all results have.
    fn document(lines: &[Self], run: &Run) -> Value {
        json!({ "simulated": run.is_simulated(), Self::MEMBER: lines })
    }

    /// What a program that reads only stderr should know of a result, a line each.
    fn complaints(_lines: &[Self], _run: &Run) -> Vec<String> {
        Vec::new()
    }

    /// What there is to doubt, line by line.
    fn subjects(lines: &[Self]) -> Subjects<'_> {
        let known = lines.iter().filter_map(|line| {
            let (name, doubts) = line.doubted();
            let is_known = !doubts.is_empty() || !line.rows(On::Details).is_empty();
            is_known.then(|| (name, doubts.iter().collect()))
        });
        known.collect()
    }

    /// Doubts that a terminal's text above them says already, by name.
    fn said(_lines: &[Self]) -> Vec<&'static str> {
        // By the line of the machine.
        vec![SIMULATED]
    }

    /// What a page has below the plots.
    fn section(&self) -> Option<Markup> {
        None
    }

    /// `64 B`, or `64 B, link`.
    fn name(&self) -> String {
        let (labels, _) = self.about();
        let names = labels.iter().map(|(_, name)| number::frame(name));
        names.collect::<Vec<_>>().join(", ")
    }

    /// Its name with what was found.
    fn found(&self, told: &str) -> String {
        let told = if told.is_empty() {
            "not measured"
        } else {
            told
        };
        format!("{}: {told}", self.name())
    }

    /// Remarks of all kinds, a line each: without details one row that was not measured stands for all.
    fn all_remarks(&self, rows: &[TableRow], verbose: bool) -> Vec<String> {
        let mut told = self.remarks();
        let unsure: Vec<&Unsure> = rows.iter().filter_map(|row| row.unsure.as_ref()).collect();
        let shown = if verbose { unsure.len() } else { 1 };
        told.extend(unsure.iter().take(shown).map(|unsure| unsure.told()));
        let more = unsure.len().saturating_sub(shown);
        if more > 0 {
            let (all, noun) = (rows.len(), Self::ROWS);
            told.push(format!(
                "{more} more of {all} {noun} were not measured (-v: why)"
            ));
        }
        told.extend(self.about().1.map(|why| format!("cut short: {why}")));
        told
    }
}

/// How far a line answers what was asked, the worst last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Answered {
    /// It does.
    Measured,
    /// The machine disturbed it.
    Undecided,
    /// It was measured, and it falls short.
    NotMet,
    /// The meter failed.
    Failed,
}

impl Answered {
    /// Of something that was measured or disturbed.
    pub const fn if_measured(measured: bool) -> Self {
        if measured {
            Self::Measured
        } else {
            Self::Undecided
        }
    }

    /// One row that was measured is enough.
    pub fn if_any(rows: &[TableRow]) -> Self {
        Self::if_measured(rows.iter().any(|row| row.unsure.is_none()))
    }
}

/// By the verdict on what was not measured. That the tester cannot offer a load is an answer too.
impl From<Option<Verdict>> for Answered {
    fn from(verdict: Option<Verdict>) -> Self {
        match verdict {
            Some(Verdict::Void) => Self::Undecided,
            Some(Verdict::Invalid) => Self::Failed,
            _ => Self::Measured,
        }
    }
}

impl<L: Described> Shown for Vec<L> {
    fn purpose(&self, plan: &Plan) -> Option<String> {
        L::purpose(plan)
    }

    fn sentences(&self) -> Vec<String> {
        L::sentences(self)
    }

    fn table(&self) -> Table {
        column::table(&L::all_rows(self, On::Page), On::Page)
    }

    fn gauges(&self, gauges: &mut Gauges, labels: &Labels<'_>, run: &Run) {
        for line in self {
            let labels = with(labels, &line.about().0);
            for row in line.rows(On::Page) {
                let own: Labels<'_> = row
                    .labels
                    .iter()
                    .map(|(name, at)| (*name, at.as_str()))
                    .collect();
                for ((name, help), value) in row.gauges() {
                    gauges.add(name, help, &with(&labels, &own), value);
                }
            }
            line.gauges(gauges, &labels, run);
        }
    }

    fn charts(&self, run: &Run) -> Vec<Option<Chart>> {
        L::charts(self, run)
    }

    fn hidden_plots(&self) -> &[TrialPlot] {
        L::HIDDEN
    }

    fn sections(&self) -> Vec<Markup> {
        self.iter().filter_map(L::section).collect()
    }

    fn parts(&self) -> Vec<PartLine<'_>> {
        self.iter().map(part).collect()
    }
}

/// A line as a part of a suite.
fn part<L: Described>(line: &L) -> PartLine<'_> {
    let (about, why) = line.about();
    let mut names = about.iter().map(|(_, name)| number::frame(name));
    let part = format!("{} {}", names.next().unwrap_or_default(), L::JOB);
    PartLine {
        name: names.fold(part.clone(), |name, other| name + ", " + &other),
        part,
        why: why.map(str::to_owned).or_else(|| left_out(line)),
        doubts: line.doubted().1,
    }
}

/// How many rows have no result, because their trials do not count, and why the last does not.
fn left_out<L: Described>(line: &L) -> Option<String> {
    let rows = line.rows(On::Screen);
    let left: Vec<_> = rows.iter().filter_map(|row| row.unsure.as_ref()).collect();
    let (count, of, noun, last) = (left.len(), rows.len(), L::ROWS, left.last()?);
    if let [one] = left[..] {
        return Some(one.told());
    }
    Some(format!(
        "{count} of {of} {noun} not measured, the last: {}",
        last.text
    ))
}

/// How rows are drawn, each where its `x` is.
pub struct Plots {
    /// What `x` is.
    pub x: &'static str,
    /// Titles, each with the heading whose values it has.
    pub of: &'static [(&'static str, &'static str)],
    /// How to read them.
    pub note: &'static str,
    /// The name of a line where y equals x; none without.
    pub all: Option<&'static str>,
    /// Of each series.
    pub kind: Kind,
}

impl Plots {
    /// No plots; other kinds take from it what they do not set.
    pub const NONE: Self = Self {
        x: "",
        of: &[],
        note: "",
        all: None,
        kind: Kind::Joined,
    };

    /// Of one value against the trials of each line, in their order.
    pub const fn by_trial(of: &'static [(&'static str, &'static str)], note: &'static str) -> Self {
        Self {
            x: "trial, in their order",
            of,
            note,
            kind: Kind::Marks,
            ..Self::NONE
        }
    }
}

/// A plot of the values under a heading, behind these rules. `None` where nothing is known.
pub fn plotted<L: Described>(
    lines: &[L],
    (title, heading): (&str, &str),
    mut rules: Vec<Series>,
) -> Option<Chart> {
    let Plots {
        x, note, all, kind, ..
    } = L::PLOTS;
    let rows = lines.iter().map(|line| line.rows(On::Details));
    let rows: Vec<Vec<TableRow>> = rows.collect();
    let y = rows.iter().find_map(|rows| column::axis(rows, heading))?;
    let most = rows.iter().flatten().map(|row| row.x).fold(0.0, f64::max);
    let all = all.filter(|_| y.label().ends_with("frames/s"));
    rules.extend(all.map(|name| {
        let ends = [0.0, most].map(|at| Point::new(at, at));
        Series::new(name, STYLES - 1, Kind::Rule, ends.into())
    }));
    let series = lines
        .iter()
        .zip(rows)
        .enumerate()
        .map(|(style, (line, rows))| {
            let name = line.name();
            let point = |row: &TableRow| {
                let y = row.number(heading).unwrap_or(f64::NAN);
                let words = format!("{name}: {}", row.in_words());
                Point::new(row.x, y).bounding(row.is_bound).told(words)
            };
            let mut points: Vec<Point> = rows.iter().map(point).collect();
            points.sort_by(|one, other| one.x().total_cmp(&other.x()));
            Series::new(name.clone(), style, kind, points)
        });
    let scale = match kind {
        Kind::Marks => Scale::Whole,
        _ => Scale::Linear { from_zero: true },
    };
    let series = rules.into_iter().chain(series).collect();
    Chart::new(title.to_owned(), note, rate_axis(x, scale), y, series)
}
