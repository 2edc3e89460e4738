//! The page: what is wrong with the files, a summary where there are several runs, a section for each.

use crate::campaign::{self, CampaignRun};
use crate::campaign_page::campaign_section;
use crate::chart;
use crate::flame;
use crate::kind;
use crate::number;
use crate::raw::{Packed, Raw};
use crate::room::{LARGEST, Shared};
use crate::row::Row;
use crate::section::{gravest, moment, section};
use crate::source::Gathered;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use mpps_record::{Comparability, Run};
use std::collections::BTreeSet;
use std::io;

/// Problems that stand open at the top.
const PROBLEMS: usize = 4;
/// The browser fetches nothing, whatever a record holds.
const POLICY: &str =
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:";
/// Its `:root` has the colours of drawings too.
const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// One page of all runs. It needs no other file and no network.
#[must_use]
pub fn page(gathered: Gathered) -> String {
    // Answers and doubts are always there. What they leave is for plots and tables.
    let (_, least) = body(&gathered, 0);
    let (title, body) = body(&gathered, LARGEST.saturating_sub(least.0.len()));
    // The page is copied once more below: its records need not be in memory any longer.
    drop(gathered.runs);
    let files = files(&gathered.files, LARGEST.saturating_sub(body.0.len()));
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(POLICY);
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                link rel="icon" href="data:,";
                title { "mpps report: " (title) }
                style { (PreEscaped(chart::STYLE)) (PreEscaped(flame::STYLE)) (PreEscaped(STYLE)) }
            }
            body { (body) (files) script { (PreEscaped(SCRIPT)) (PreEscaped(flame::SCRIPT)) } }
        }
    }
    .0
}

/// Title and body, whose plots and tables have so many octets. The runs of a campaign's cells stand in its section.
fn body(gathered: &Gathered, room: usize) -> (String, Markup) {
    let all: Vec<&Run> = gathered.runs.iter().map(|(_, run)| run).collect();
    let campaigns = CampaignRun::each(&all);
    let is_alone = |run: &Run| campaigns.iter().all(|campaign| !campaign.has(run));
    let shared = Shared::new(room, &all);
    let own_section = |at: usize| {
        let (file, run) = &gathered.runs[at];
        shared.show(run, |room| section(file, run, (&id(at), all.len()), room))
    };
    let shown: Vec<usize> = (0..all.len()).filter(|at| is_alone(all[*at])).collect();
    let title = match shown[..] {
        [at] => crate::section::title(all[at]),
        _ => number::plural(all.len(), "run"),
    };
    let body = html! {
        header {
            h1 { "mpps report" }
            @if all.is_empty() { p { "There is no run to show." } }
            @if !gathered.problems.is_empty() {
                (problems(&gathered.problems))
            }
            @if shown.len() > 1 { (summary(&all, &shown)) }
        }
        main.alone[shown.len() == 1] {
            @for at in shown {
                @match campaigns.iter().find(|campaign| std::ptr::eq(campaign.run, all[at])) {
                    None => (own_section(at)),
                    Some(campaign) => (campaign_section(&gathered.runs[at].0, campaign, &id(at), |run| {
                        let at = all.iter().position(|known| std::ptr::eq(*known, run));
                        at.map_or_else(|| html! {}, own_section)
                    })),
                }
            }
        }
    };
    (title, body)
}

/// The first problems, and the others folded.
fn problems(problems: &[String]) -> Markup {
    let (first, rest) = problems.split_at(problems.len().min(PROBLEMS));
    let list = |part: &[String]| html! { ul { @for problem in part { li { (problem) } } } };
    html! {
        div.problems {
            (list(first))
            @if !rest.is_empty() {
                details { summary { (number::plural(rest.len(), "more problem")) } (list(rest)) }
            }
        }
    }
}

fn id(at: usize) -> String {
    format!("run-{}", at + 1)
}

/// A row for each result, and one for each run without any.
fn summary(all: &[&Run], shown: &[usize]) -> Markup {
    const COLUMNS: &str = "run;begun;frame;maximum forwarding, frames/s;without loss, frames/s;limited by;gravest doubt";
    html! {
        h2 { "Summary" }
        @if let Some(words) = differences(shown.iter().map(|at| all[*at])) { p { (words) } }
        div.wide { table.sortable.summary {
            thead { tr { @for name in COLUMNS.split(';') { th scope="col" { (name) } } } }
            tbody { @for at in shown { (rows(all[*at], &id(*at))) } }
        } }
    }
}

fn rows(run: &Run, id: &str) -> Markup {
    let begun = run.begun_utc();
    let begun = begun.map_or("unknown".to_owned(), moment);
    let link = html! { a href=(format!("#{id}")) { (run.name) } };
    html! {
        @for result in &Row::each(&run.results) {
            tr {
                td { (link) }
                td { (begun) }
                td { (result.name) }
                td { (kind::max_forwarding(result)) }
                td { (kind::without_loss(result)) }
                td { (result.limit()) }
                td { (gravest(run)) }
            }
        }
        @if run.results.is_empty() {
            tr {
                td { (link) }
                td { (begun) }
                td colspan="4" { (campaign::other_answers(run).join(" ")) }
                td { (gravest(run)) }
            }
        }
    }
}

/// In which properties the runs differ, because rates are compared only where none differs.
fn differences<'a>(runs: impl Iterator<Item = &'a Run>) -> Option<String> {
    let keys: Vec<&Comparability> = runs
        .filter_map(|run| run.begin.as_ref().map(|begin| &begin.comparability))
        .collect();
    let (first, others) = keys.split_first()?;
    let names: BTreeSet<String> = others
        .iter()
        .flat_map(|other| first.differences(other))
        .collect();
    if names.is_empty() {
        return None;
    }
    let names: Vec<String> = names.into_iter().collect();
    Some(format!(
        "These runs differ in {}: compare their rates with that in mind.",
        names.join(", ")
    ))
}

/// The raw files, as far as they fit into `room` octets.
fn files(files: &[(String, Raw)], mut room: usize) -> Markup {
    if files.is_empty() {
        return html! {};
    }
    let mut pack_within_room = |raw: &Raw| {
        let packed = raw.pack(room)?;
        room -= packed.link.as_ref().map_or(0, String::len);
        Ok::<_, io::Error>(packed)
    };
    html! {
        section {
            h2 { "Raw records" }
            ul {
                @for (name, raw) in files {
                    li {
                        @match pack_within_room(raw) {
                            Ok(Packed { octets, link: Some(link), .. }) => {
                                a download=(format!("{}.gz", base(name))) href=(link) { "Download " (name) }
                                " (" (number::grouped(octets)) " octets, packed with gzip)"
                            }
                            Ok(Packed { octets, sha256, link: None }) => {
                                (name) " (" (number::grouped(octets))
                                " octets) is too large for this page: keep the file beside it. Its SHA-256 is "
                                code { (sha256) } "."
                            }
                            Err(why) => { (name) " is not in this page: " (why) "." }
                        }
                    }
                }
            }
        }
    }
}

/// A path's last part.
fn base(name: &str) -> &str {
    name.rsplit('/').next().unwrap_or(name)
}
