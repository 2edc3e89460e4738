//! What a campaign came to: its cells and claims, from its record alone.

use super::View;
use crate::terminal;
use anyhow::Result;
use mpps_report::campaign::{CampaignRun, MeasuredCell, Rate};
use mpps_report::verdict::Judged;
use serde_json::{Value, json};

/// Puts a campaign on stdout.
///
/// # Errors
/// The result could not be written.
pub fn show(campaign: &CampaignRun<'_>, view: &View<'_>) -> Result<()> {
    if view.json {
        let cells: Vec<Value> = campaign.cells.iter().map(cell).collect();
        let claims: Vec<Value> = campaign.claims().iter().map(claim).collect();
        let own = json!({ "campaign": campaign.line, "cells": cells, "claims": claims });
        return view.print_json(campaign.run, &own);
    }
    let text = terminal::campaign(campaign) + &view.record();
    terminal::out(&terminal::fitted(&text));
    Ok(())
}

/// A cell as its record has it, with its rates and what is said beside them.
fn cell(cell: &MeasuredCell<'_>) -> Value {
    let rate = |rate: &Rate<'_>| {
        json!({
            "frame": rate.frame,
            "forwarding_fps": rate.here,
            "is_bound": rate.is_bound,
            "lossless_fps": rate.lossless.map(|(_, fps)| fps),
            "limited_by": rate.limit,
            "published": rate.published,
            "by_published_ratio": rate.by_published(),
        })
    };
    let mut value = json!(cell.line);
    value["rates"] = cell.rates().iter().map(rate).collect();
    value["told"] = cell.told().into();
    value
}

fn claim(judged: &Judged<'_>) -> Value {
    let mut value = json!(judged.claim);
    value["cell"] = judged.cell.into();
    value["verdict"] = judged.verdict.to_string().into();
    value["reason"] = judged.reason().into();
    let numbers = judged.numbers.iter();
    let numbers = numbers.map(|one| json!({ "frame": one.name, "value": one.value }));
    value["numbers"] = numbers.collect();
    value
}
