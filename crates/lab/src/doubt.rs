//! What to doubt about a result: each doubt says what was seen, why it matters, what to do next.
//!
//! A file holds the rules that look at one thing. A rule makes its doubt, with all its words.

mod bed;
mod claim;
mod curve;
mod finding;
mod frames;
mod limit;
mod loss;
pub(crate) mod machine;
mod overload;
mod profile;
mod ring;
mod search;
pub(crate) mod table;
pub(crate) mod tester;
mod why_lost;
mod work;

pub use finding::{Finding, weigh};
pub use frames::frame_doubts;
pub(crate) use limit::DROPS_INSIDE;
pub(crate) use limit::overload_limit;
pub use limit::{ForwardingLimit, Reading, highest_allowed};
pub use machine::{host_changed, other_run};
pub use overload::fixed_overloaded;
pub(crate) use overload::is_carried;
pub use profile::{ProfileDoubts, profile_doubts};
pub use why_lost::{CatchUp, WhyLost};
pub use work::{few_route_changes, work_doubts};

use crate::search::Searched;
use crate::search::gate::Gated;
use crate::search::measurer::{Measurer, Surroundings, TableMet};
use crate::search::saturation::Saturated;
use mpps_method::{LimitedBy, Rate, Span, Trial, Verdict};

/// One reason not to believe a number without a second thought.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Doubt {
    /// Short name, for records.
    pub name: &'static str,
    /// How much it changes what the number says.
    pub weight: Weight,
    /// What was seen.
    pub seen: String,
    /// Why it matters.
    pub why: &'static str,
    /// What to run or change next.
    pub next: &'static str,
}

/// How much a doubt changes what a number says, the gravest first; in each group by place, 0 the gravest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Weight {
    /// The number is one of something else than it names.
    Another(u8),
    /// It is too low or too high.
    Shifted(u8),
    /// It is less sure.
    Unsure(u8),
    /// Something that it depends on is not known.
    Unknown(u8),
    /// It holds for every result of such a bed: what a footnote says of it.
    Footnote(u8, &'static str),
}

impl Weight {
    /// Its place among all weights, as records have it: the lower, the graver.
    #[must_use]
    pub const fn place(self) -> u32 {
        let (group, place) = match self {
            Self::Another(place) => (0, place),
            Self::Shifted(place) => (100, place),
            Self::Unsure(place) => (200, place),
            Self::Unknown(place) => (300, place),
            Self::Footnote(place, _) => (400, place),
        };
        group + place as u32
    }

    /// What a footnote says.
    #[must_use]
    pub const fn footnote(self) -> Option<&'static str> {
        match self {
            Self::Footnote(_, words) => Some(words),
            _ => None,
        }
    }
}

/// What the rules look at.
struct Weighed<'a> {
    around: &'a Surroundings,
    saturated: &'a Saturated,
    gated: &'a Gated,
    searched: &'a Searched,
    why_lost: Option<&'a WhyLost>,
    limited_by: Option<LimitedBy>,
}

/// Every doubt about a finished search.
fn doubts(weighed: &Weighed<'_>) -> Vec<Doubt> {
    let trials = &weighed.searched.trials;
    [
        search::doubts(weighed),
        machine::doubts(weighed),
        overload::doubts(weighed),
        work_doubts(trials, weighed.around.cpus_shared),
        tester::doubts(weighed),
        bed::doubts(weighed.around, weighed.saturated.ceiling),
        ring::doubts(weighed),
        loss::doubts(weighed),
        table::doubts(weighed.around.table),
        frames::doubts(weighed),
    ]
    .concat()
}

/// A series of loads of one length, one trial each (`mpps loss`), which has neither gate nor search.
pub struct Series<'a> {
    /// What keeps the loads from being higher.
    pub limit: LimitedBy,
    /// What the tester can offer.
    pub ceiling: Rate,
    /// Of each trial.
    pub length: Span,
    /// From the highest load down.
    pub trials: &'a [(Trial, Verdict)],
    /// Void trials before these.
    pub void: u32,
    /// What a search before found without loss.
    pub passed: Option<Rate>,
}

/// What to doubt about a series.
#[must_use]
pub fn series_doubts(around: &Surroundings, series: &Series<'_>) -> Vec<Doubt> {
    let &Series {
        limit,
        ceiling,
        length,
        trials,
        void,
        passed,
    } = series;
    // From the lowest load up: a higher one without loss above a lossy one is chance.
    let is_lossless = |(_, verdict): &&(Trial, Verdict)| *verdict == Verdict::Lossless;
    let found = trials.iter().rev().take_while(is_lossless).last();
    let found = found.map(|(trial, _)| trial.offered);
    let verdicts = trials.iter().map(|(_, verdict)| verdict);
    let one_each = [
        search::short_trial(length),
        search::voided(void, void + trials.len() as u32, verdicts),
        found.and_then(|rate| machine::lost_disturbed(trials, rate)),
        tester::not_offered(trials),
        found.and_then(|rate| tester::near_ceiling(rate, limit, ceiling)),
    ];
    let mut doubts: Vec<Doubt> = one_each.into_iter().flatten().collect();
    doubts.extend(trials_doubts(around, trials));
    doubts.extend(bed::doubts(around, ceiling));
    doubts.extend(curve::doubt(trials, passed));
    doubts
}

/// What to doubt about trials, whatever they are for.
#[must_use]
pub fn trials_doubts(around: &Surroundings, trials: &[(Trial, Verdict)]) -> Vec<Doubt> {
    let mut doubts = machine::trial_doubts(around, trials, trials);
    doubts.extend(work_doubts(trials, around.cpus_shared));
    doubts.extend(table::doubts(around.table));
    doubts.extend(frame_doubts(trials, around.ring_frames));
    doubts
}

/// What to doubt about overload alone.
#[must_use]
pub fn overload_doubts(around: &Surroundings) -> Vec<Doubt> {
    let mut doubts = table::doubts(around.table);
    doubts.splice(0..0, machine::cpu_shared(around));
    doubts
}

#[cfg(test)]
mod tests;
