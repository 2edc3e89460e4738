//! How each kind of line is shown: a file a kind, and one list of them all.

mod burst;
mod calibration;
mod comparison;
mod curve;
mod described;
mod effects;
mod latency;
mod load;
mod overload;
mod point;
mod profile;
mod recovery;
mod reset;
mod result;
mod sweep;

pub use comparison::{if_slower, unanswered};
pub use described::{Answered, Described, Subjects};
pub use result::{max_forwarding, without_loss};

use crate::chart::{self, Chart};
use crate::gauges::{Gauges, Labels};
use crate::table::Table;
use maud::Markup;
use mpps_record::{Answers, Doubt, Plan, Run};

/// What is shown of all lines of one kind.
pub trait Shown: Answers {
    /// What a run of their job was to find, in a sentence. `None`: this plan asks for another kind, or its loads say it.
    fn purpose(&self, plan: &Plan) -> Option<String>;

    /// The answer on the first screen.
    fn sentences(&self) -> Vec<String>;

    /// Their table.
    fn table(&self) -> Table;

    /// Their gauges, with the run's own labels.
    fn gauges(&self, gauges: &mut Gauges, labels: &Labels<'_>, run: &Run);

    /// Their plots.
    fn charts(&self, run: &Run) -> Vec<Option<Chart>>;

    /// Plots of all trials that say nothing beside these lines.
    fn hidden_plots(&self) -> &[TrialPlot];

    /// What a page has of each line below the plots.
    fn sections(&self) -> Vec<Markup>;

    /// Each line as a part of a suite.
    fn parts(&self) -> Vec<PartLine<'_>>;
}

/// A line as a part of a suite.
pub struct PartLine<'a> {
    /// `64 B latency`.
    pub part: String,
    /// The same, or `64 B reset, link`.
    pub name: String,
    /// Why it is not all that was planned.
    pub why: Option<String>,
    /// What to doubt.
    pub doubts: &'a [Doubt],
}

/// A plot of trials, whatever job they are of.
#[derive(Clone, Copy, PartialEq)]
pub enum TrialPlot {
    /// The loads of a search.
    Search,
    /// Latency, by trial and as a histogram.
    Latency,
}

/// The kinds of a run's answers, as a page shows them.
pub fn kinds(run: &Run) -> [&dyn Shown; 14] {
    mpps_record::answers!(run)
}

fn dash() -> String {
    "-".to_owned()
}

/// A cell that is not a dash.
fn if_known(cell: &str) -> Option<String> {
    (cell != "-").then(|| cell.to_owned())
}

/// Their plots as an SVG that needs nothing beside it. The first line of `heading` is its title.
#[must_use]
pub fn picture(lines: &dyn Shown, run: &Run, heading: &[&str]) -> String {
    chart::picture(heading, lines.charts(run))
}
