//! A campaign with the runs of its cells, which stand in the same files.

use crate::answers;
use crate::cell::{MeasuredCell, State};
use crate::factorial::Grid;
use crate::number;
use crate::table::Table;
use crate::verdict::{Judged, Verdict};
use mpps_record::{CampaignLine, Run};

/// A campaign.
#[derive(Clone, Debug)]
pub struct CampaignRun<'a> {
    /// What it repeats.
    pub line: &'a CampaignLine,
    /// Its own run.
    pub run: &'a Run,
    /// Its cells, each once, in their order.
    pub cells: Vec<MeasuredCell<'a>>,
}

impl<'a> CampaignRun<'a> {
    /// The campaign of a run, if it is one's; `all` are the runs of its files.
    #[must_use]
    pub fn new(run: &'a Run, all: &[&'a Run]) -> Option<Self> {
        let line = run.campaign.as_ref()?;
        let is_named =
            |other: &&Run, name: &String| other.name == *name && other.campaign.is_none();
        let named = |name: &String| all.iter().copied().find(|other| is_named(other, name));
        let mut cells: Vec<MeasuredCell<'a>> = Vec::new();
        for line in &run.cells {
            let run = line.measured_run.as_ref().and_then(named);
            let cell = MeasuredCell { line, run };
            // A cell that was run again counts as its last run.
            match cells.iter_mut().find(|known| known.line.cell == line.cell) {
                Some(known) => *known = cell,
                None => cells.push(cell),
            }
        }
        Some(Self { line, run, cells })
    }

    /// All campaigns of these runs.
    #[must_use]
    pub fn each(all: &[&'a Run]) -> Vec<Self> {
        let campaigns = all.iter().filter_map(|run| Self::new(run, all));
        campaigns.collect()
    }

    /// Whether it is the run of one of its cells, the ones that were run again included.
    #[must_use]
    pub fn has(&self, run: &Run) -> bool {
        let mut cells = self.run.cells.iter();
        run.campaign.is_none() && cells.any(|cell| cell.measured_run.as_ref() == Some(&run.name))
    }

    /// Its claims.
    #[must_use]
    pub fn claims(&self) -> Vec<Judged<'a>> {
        let claims = self.cells.iter();
        let claims = claims.filter_map(|cell| Judged::new(cell, &self.cells));
        claims.collect()
    }

    /// `7 of 9 cells measured, 1 undecided, 1 not run`.
    #[must_use]
    pub fn counted(&self) -> String {
        let count = |state: State| {
            let cells = self.cells.iter();
            cells.filter(|cell| cell.state() == state).count()
        };
        let all = self.line.cells as usize;
        let missing = all.saturating_sub(self.cells.len());
        let others = [
            (count(State::Undecided), "undecided"),
            (count(State::Failed), "failed"),
            (count(State::NotRun), "not run"),
            (missing, "not reached"),
        ];
        let others = others.into_iter().filter(|(count, _)| *count > 0);
        let others: String = others
            .map(|(count, word)| format!(", {count} {word}"))
            .collect();
        let cells = number::plural(all.max(self.cells.len()), "cell");
        format!("{} of {cells} measured{others}", count(State::Measured))
    }

    /// The same as a sentence of its own.
    #[must_use]
    pub fn answer(&self) -> String {
        self.counted() + "."
    }

    /// `5 claims: 3 hold here, 1 does not hold here, 1 cannot be tested here`; `None` without claims.
    #[must_use]
    pub fn counted_claims(&self) -> Option<String> {
        let claims = self.claims();
        let verdicts = [
            Verdict::Holds,
            Verdict::HoldsInPart,
            Verdict::DoesNotHold,
            Verdict::CannotTell,
            Verdict::CannotBeTested,
            Verdict::ByConstruction,
        ];
        let counted = verdicts.map(|verdict| {
            let count = claims.iter().filter(|one| one.verdict == verdict).count();
            (count, verdict)
        });
        let counted = counted.into_iter().filter(|(count, _)| *count > 0);
        let counted: Vec<String> = counted
            .map(|(count, verdict)| format!("{count} {verdict}"))
            .collect();
        let all = number::plural(claims.len(), "claim");
        (!claims.is_empty()).then(|| format!("{all}: {}", counted.join(", ")))
    }

    /// A row for each rate of each cell, and one for each cell without any.
    #[must_use]
    pub fn table(&self) -> Table {
        let columns = "cell;what;frame;frames/s at most;interval;published;here by published;without loss;limited by;told";
        Table::new(columns, self.cells.iter().flat_map(MeasuredCell::rows))
    }

    /// Rates of the cells that combine levels of factors.
    #[must_use]
    pub fn grids(&self) -> Vec<Grid> {
        self.cells.iter().filter_map(MeasuredCell::grid).collect()
    }

    /// A row for each claim.
    #[must_use]
    pub fn claims_table(&self) -> Table {
        let row = |judged: Judged<'_>| {
            vec![
                judged.claim.id.clone(),
                judged.claim.statement.clone(),
                judged.claim.published.clone(),
                judged.verdict.to_string(),
                judged.cell.to_owned(),
                judged.reason(),
            ]
        };
        let columns = "claim;statement;published;verdict;cell;why";
        Table::new(columns, self.claims().into_iter().map(row))
    }
}

/// The answers of a run beside its results, a sentence each. Of a campaign, how many cells were measured.
#[must_use]
pub fn other_answers(run: &Run) -> Vec<String> {
    match CampaignRun::new(run, &[]) {
        Some(campaign) => vec![campaign.answer()],
        None => answers::sentences(run),
    }
}
