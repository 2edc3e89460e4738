//! A campaign on the page: what came of it, its plots, its claims, its cells, and the run of each cell folded.

mod plots;

use crate::campaign::CampaignRun;
use crate::chart::ROWS_LONG;
use crate::section::{title, unfinished};
use maud::{Markup, html};
use mpps_record::Run;

/// Its section. `of_run` makes that of a cell's own run.
pub fn campaign_section(
    file: &str,
    campaign: &CampaignRun<'_>,
    id: &str,
    of_run: impl Fn(&Run) -> Markup,
) -> Markup {
    let charts = [plots::scenarios(campaign), plots::settings(campaign)];
    let claims = campaign.claims_table();
    html! {
        section id=(id) {
            h2 { (title(campaign.run)) }
            p.note { "Run " (campaign.run.name) " of " (file) ", schema " (campaign.run.schema) "." }
            (first_screen(campaign))
            div.plots { @for chart in charts.iter().flatten() { (chart.figure(ROWS_LONG)) } }
            @if !claims.rows.is_empty() {
                h3 { "Claims" }
                (claims.markup(Some("said")))
            }
            h3 { "Cells" }
            p.note { "All rates are frames/s. Published figures are of other machines. \"here by published\" is our rate divided by theirs." }
            (campaign.table().markup(Some("said")))
            @for grid in campaign.grids() {
                h3 { (grid.title) }
                (grid.table.markup(None))
            }
            h3 { "Runs of the cells" }
            @for cell in &campaign.cells {
                @if let Some(run) = cell.run {
                    details {
                        summary { (cell.line.cell) ": " (cell.line.title) }
                        (of_run(run))
                    }
                }
            }
        }
    }
}

fn first_screen(campaign: &CampaignRun<'_>) -> Markup {
    let line = campaign.line;
    html! {
        dl.first {
            dt { "Asked" }
            dd {
                p { (line.title) @if line.quick { " (short form)" } "." }
                @if let Some(source) = &line.source { p { "It repeats: " (source) "." } }
            }
            dt { "Answer" }
            dd.answer {
                p { (campaign.answer()) }
                @if let Some(counted) = campaign.counted_claims() { p { (counted) "." } }
                @if let Some(error) = unfinished(campaign.run) { p { (error) } }
            }
            dt { "How" }
            dd { p { "A claim holds where the whole interval of its number lies between the claim's bounds. It does \
                not hold where the whole interval lies outside." } }
        }
    }
}
