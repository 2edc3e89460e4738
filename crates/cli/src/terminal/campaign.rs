//! A campaign: its cells with the published figures beside ours, then its claims.

use super::columns::shown;
use super::wrap::prose;
use super::{fitted, headed, machine_line, out};
use crate::outcome::View;
use anyhow::Result;
use mpps_report::campaign::CampaignRun;
use mpps_report::cell::{MeasuredCell, Rate};
use mpps_report::factorial::{self, Grid};
use mpps_report::number::{Known, ranged, short_frame};
use mpps_report::verdict::Judged;
use serde_json::{Value, json};

const HEAD: &str = "cell;forwarded/s;no loss;published;ratio;limited by";

/// Puts a campaign on stdout.
///
/// # Errors
/// The result could not be written.
pub fn show_campaign(campaign: &CampaignRun<'_>, view: &View<'_>) -> Result<()> {
    if view.json {
        let cells: Vec<Value> = campaign.cells.iter().map(cell_json).collect();
        let claims: Vec<Value> = campaign.claims().iter().map(claim_json).collect();
        let own = json!({ "campaign": campaign.line, "cells": cells, "claims": claims });
        return view.print_json(campaign.run, &own);
    }
    out(&fitted(&(in_words(campaign) + &view.record())));
    Ok(())
}

/// All of it.
fn in_words(campaign: &CampaignRun<'_>) -> String {
    let line = campaign.line;
    let quick = if line.quick { " (short form)" } else { "" };
    let source = line.source.as_ref().map(|source| format!("{source}\n"));
    let mut runs = campaign.cells.iter().filter_map(|cell| cell.run);
    let machine = runs.find_map(|run| run.begin.as_ref()).map(machine_line);
    let about = format!(
        "{}: {}{quick}\n{}{}\n{}\n",
        line.name,
        line.title,
        source.unwrap_or_default(),
        campaign.counted(),
        machine.unwrap_or_default()
    );
    let claims = campaign.claims();
    let each = claims.iter().map(|claim| format!("- {}\n", claim.told()));
    let counted = campaign.counted_claims();
    let heading = counted.map(|counted| format!("\n{counted}\n"));
    prose(&about)
        + "\n"
        + &cells(&campaign.cells)
        + &prose(&(heading.unwrap_or_default() + &each.collect::<String>()))
}

/// A title for each cell, a row for each of its rates, and what else there is to say of it.
fn cells(cells: &[MeasuredCell<'_>]) -> String {
    let rates: Vec<Vec<Rate<'_>>> = cells.iter().map(MeasuredCell::rates).collect();
    let table = headed(HEAD, rates.iter().flatten().map(row), &[0, 1, 5]);
    let mut lines = table.lines();
    let mut text = format!("{}\n", lines.next().unwrap_or_default());
    for (cell, rates) in cells.iter().zip(&rates) {
        text += &prose(&format!("{}: {}\n", cell.line.cell, cell.line.title));
        let own = lines.by_ref().take(rates.len());
        text.extend(own.map(|line| format!("{line}\n")));
        let told = cell.told();
        text.extend(told.iter().map(|told| prose(&format!("  {told}\n"))));
        text.extend(cell.grid().map(|grid| in_rows(&grid)));
    }
    text
}

/// Rates by the levels of factors.
fn in_rows(grid: &Grid) -> String {
    let table = shown(&grid.table);
    let lines = std::iter::once(grid.title.as_str()).chain(table.lines());
    lines.map(|line| format!("  {line}\n")).collect()
}

fn row(rate: &Rate<'_>) -> [String; 6] {
    let short = |fps: f64| Known::three(fps).short();
    let here = rate.here.map(|here| match rate.is_bound {
        true => rate.in_words(here, short),
        false => ranged(here),
    });
    let [lossless, published, ratio, limit] = rate.beside(short);
    [
        format!("  {}", short_frame(&rate.frame)),
        here.unwrap_or_else(|| "-".to_owned()),
        lossless,
        published,
        ratio,
        limit,
    ]
}

/// A cell as its record has it, with its rates and what is said beside them.
fn cell_json(cell: &MeasuredCell<'_>) -> Value {
    let rate = |rate: &Rate<'_>| {
        json!({
            "frame": rate.frame,
            "forwarding_fps": rate.here,
            "is_bound": rate.is_bound,
            "lossless_fps": rate.lossless.rate(),
            "limited_by": rate.limit,
            "published": rate.published,
            "by_published_ratio": rate.by_published(),
        })
    };
    let mut value = json!(cell.line);
    value["rates"] = cell.rates().iter().map(rate).collect();
    value["told"] = cell.told().into();
    let comparison = cell
        .run
        .and_then(|run| Some((run.comparisons.first()?, run)));
    if let Some(found) = comparison.and_then(|(line, run)| factorial::document(line, run)) {
        value["contrasts"] = found;
    }
    value
}

fn claim_json(judged: &Judged<'_>) -> Value {
    let mut value = json!(judged.claim);
    value["cell"] = judged.cell.into();
    value["verdict"] = judged.verdict.to_string().into();
    value["reason"] = judged.reason().into();
    let numbers = judged.tested.iter().flat_map(|tested| &tested.numbers);
    let numbers = numbers.map(|one| {
        let mut number = json!({ "frame": one.name, "value": one.value });
        if let Ok(Some(alone)) = &one.alone {
            number["without_bed"] = json!({ "bed_share": alone.share, "value": alone.value });
        }
        number
    });
    value["numbers"] = numbers.collect();
    value
}

#[cfg(test)]
mod tests;
