//! Rates of a factorial comparison as a table: a row for each combination of all factors but the last, and a column for
//! each level of the last one.

use super::{contrasts, finding_in_words};
use crate::number;
use crate::table::Table;
use mpps_record::{CellLine, ComparisonLine, Factor, Factors, Finding, Level, Run, Variant};

/// Rates by the levels of factors.
pub struct Grid {
    /// The factors, and whether they interact.
    pub title: String,
    /// The rates, frames/s.
    pub table: Table,
}

/// Those of a run whose variants are all combinations.
#[must_use]
pub fn grids(run: &Run) -> Vec<Grid> {
    let each = run.comparisons.iter().filter_map(|line| {
        let found = line.factors()?;
        let level = |name: &&str| Level {
            name: (*name).to_owned(),
            not_run: None,
        };
        let factor = |levels: &Vec<&str>| Factor {
            // Only a plan names factors.
            name: levels.join("/"),
            levels: levels.iter().map(level).collect(),
        };
        let factors: Vec<Factor> = found.levels.iter().map(factor).collect();
        let of = |at: &[usize]| {
            let place = found.variants.iter().position(|levels| levels == at)?;
            line.variants.get(place)
        };
        Some(grid(line, run, &factors, of))
    });
    each.collect()
}

/// That of a cell of a campaign with factors, and with the levels that were not run. `None` where nothing was.
#[must_use]
pub fn of_cell(cell: &CellLine, run: Option<&Run>) -> Option<Grid> {
    let (run, factors) = (run?, &cell.factors);
    let line = run.comparisons.first().filter(|_| !factors.is_empty())?;
    let of = |at: &[usize]| {
        let levels = factors.iter().zip(at);
        let names: Vec<&str> = levels
            .map(|(factor, level)| factor.levels[*level].name.as_str())
            .collect();
        let name = names.join(&Factors::BETWEEN.to_string());
        line.variants.iter().find(|variant| variant.name == name)
    };
    Some(grid(line, run, factors, of))
}

fn grid<'a>(
    line: &ComparisonLine,
    run: &Run,
    factors: &[Factor],
    of: impl Fn(&[usize]) -> Option<&'a Variant>,
) -> Grid {
    let names: Vec<&str> = factors.iter().map(|one| one.name.as_str()).collect();
    let frame = number::frame(&line.frame);
    let title = format!("{}, {frame}: {}", names.join(" x "), verdict(line, run));
    let (last, others) = factors
        .split_last()
        .map_or((&[][..], factors), |(last, others)| {
            (&last.levels[..], others)
        });
    let sizes: Vec<usize> = others.iter().map(|factor| factor.levels.len()).collect();
    let row = |levels: Vec<usize>| {
        let own = others
            .iter()
            .zip(&levels)
            .map(|(factor, at)| &factor.levels[*at]);
        let own: Vec<&Level> = own.collect();
        let names: Vec<&str> = own.iter().map(|level| level.name.as_str()).collect();
        let cells = last.iter().enumerate().map(|(column, level)| {
            if own
                .iter()
                .chain([&level])
                .any(|level| level.not_run.is_some())
            {
                return "not run".to_owned();
            }
            let variant = of(&[&levels[..], &[column]].concat());
            let rate = variant.and_then(|variant| variant.forwarding_fps);
            rate.map_or("-".to_owned(), |rate| number::ranged(rate.into()))
        });
        std::iter::once(names.join(", ")).chain(cells).collect()
    };
    let columns = last.iter().map(|level| level.name.as_str());
    let head: Vec<&str> = std::iter::once("frames/s").chain(columns).collect();
    Grid {
        title,
        table: Table::new(
            &head.join(";"),
            Factors::combinations(&sizes).into_iter().map(row),
        ),
    }
}

/// Whether any of the changes interact.
fn verdict(line: &ComparisonLine, run: &Run) -> String {
    let found = match contrasts(line, run) {
        None => return "one factor alone changes here, so no interaction is told".to_owned(),
        Some(Err(why)) => return format!("not known, because {why}"),
        Some(Ok(found)) => found,
    };
    let of_several = found.iter().filter(|one| one.changes.len() > 1);
    let findings: Vec<&Finding> = of_several.map(|one| &one.finding).collect();
    let has = |finding: Finding| findings.contains(&&finding);
    let overall = match (has(Finding::Different), has(Finding::NotDecided)) {
        (true, _) => Finding::Different,
        (false, true) => Finding::NotDecided,
        (false, false) => Finding::NoDifference,
    };
    finding_in_words(&overall).to_owned()
}
