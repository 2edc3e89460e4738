//! A run's section: its first screen, its plots, its trials, its machine.

use crate::answers;
use crate::campaign;
use crate::doubts::Raised;
use crate::drawn::Drawn;
use crate::factorial::grids;
use crate::headline::answer;
use crate::machine::command;
use crate::members;
use crate::number;
use crate::parts::parts;
use crate::room::Room;
use crate::row::Row;
use crate::sentence;
use crate::suite::Suite;
use crate::trial::Figures;
use maud::{Markup, PreEscaped, html};
use mpps_record::{Run, TrialLine};
use std::collections::HashSet;

/// Doubts that a first screen shows; the others unfold.
const FIRST: usize = 4;

/// A run, one of `runs`. Its table of trials is unfolded where it is alone.
#[must_use]
pub fn section(file: &str, run: &Run, (id, runs): (&str, usize), room: &mut Room) -> Markup {
    let parts = parts(run);
    // What changes the reading has room first.
    let machine = machine(run, room);
    let drawn = parts.iter().map(|part| Drawn::new(run, part, room));
    let drawn: Vec<Drawn> = drawn.collect();
    let trials = trials(run, runs, room);
    // Longer tables of the plots come last, because each has its beginning by now.
    let drawn = drawn.into_iter().map(|drawn| drawn.with_long_tables(room));
    let drawn: Vec<Drawn> = drawn.collect();
    html! {
        section id=(id) {
            h2 { (title(run)) }
            p.note { "Run " (run.name) " of " (file) ", schema " (run.schema) "." }
            (first_screen(run))
            @if let Some(told) = room.told() {
                p.note {
                    (told)
                    @if runs > 1 { " A page of this run alone has more." }
                    " "
                    code { "mpps report --format csv" } " has every trial."
                }
            }
            @for part in &drawn { (part.markup()) }
            @if let Some(trials) = trials { (trials) }
            (machine)
        }
    }
}

/// `mpps throughput, 2026-11-22 12:23 UTC`.
#[must_use]
pub fn title(run: &Run) -> String {
    let campaign = run.campaign.as_ref();
    match (&run.begin, campaign) {
        (Some(begin), _) => format!("mpps {}, {}", begin.job, moment(&begin.begun_utc)),
        (None, Some(line)) => format!("Campaign {}, {}", line.name, moment(&line.begun_utc)),
        (None, None) => format!("Run {}", run.name),
    }
}

/// `2026-11-22T12:23:26Z` to `2026-11-22 12:23 UTC`; other texts stay as they are.
#[must_use]
pub fn moment(utc: &str) -> String {
    match (utc.get(..10), utc.get(10..11), utc.get(11..16)) {
        (Some(day), Some("T"), Some(time)) if utc.ends_with('Z') => format!("{day} {time} UTC"),
        _ => utc.to_owned(),
    }
}

fn first_screen(run: &Run) -> Markup {
    let rows = Row::each(&run.results);
    let several = rows.len() > 1;
    let is_suite = run
        .begin
        .as_ref()
        .is_some_and(|begin| !begin.plan.parts.is_empty());
    let suite = is_suite.then(|| Suite::new(run));
    let answers = html! {
        @for row in &rows {
            p {
                b { (row.name) ": " }
                @if row.simulated { "Simulated, not measured: " }
                (answer(row))
            }
        }
        @for told in campaign::other_answers(run) { p { (told) } }
        @for grid in grids(run) {
            p { (grid.title) }
            (grid.table.markup(None))
        }
    };
    html! {
        dl.first {
            dt { "Asked" }
            dd {
                @match &run.begin {
                    Some(begin) => {
                        @for told in sentence::asked(begin, answers::purpose(run, &begin.job, &begin.plan)) { p { (told) } }
                        @if is_suite {
                            details {
                                summary { "Rules of its parts" }
                                @for part in &begin.plan.parts { p { "Part " (sentence::part(part)) "." } }
                            }
                        }
                    }
                    None => p { "The record does not say: it has no first line." }
                }
            }
            dt { "Answer" }
            dd.answer {
                @if let Some(suite) = suite {
                    p { (suite.measured) "." }
                    (suite.table.markup(None))
                    @for note in suite.notes { p.note { (note) } }
                    @for why in suite.not_as_planned { p.note { "Not as planned: " (why) } }
                    details { summary { "Answers of its parts" } (answers) }
                } @else {
                    (answers)
                }
                @for told in counted(run) { p { (told) } }
                @if let Some(error) = unfinished(run) { p { (error) } }
            }
            @if !run.results.is_empty() {
                dt { "Limit" }
                dd {
                    @for row in &rows {
                        p {
                            @if several { b { (row.name) ": " } }
                            (sentence::limited(row).join(" "))
                        }
                    }
                }
            }
            dt { "Doubts" }
            dd { (doubts(run)) }
        }
    }
}

/// What was counted of the conditions that the run was measured with.
#[must_use]
pub fn counted(run: &Run) -> Vec<String> {
    let end = run.end.as_ref();
    end.map_or(Vec::new(), |end| {
        sentence::queries_and_changes(run.begin.as_ref(), end)
    })
}

/// What a run with an answer lacks all the same.
#[must_use]
pub fn unfinished(run: &Run) -> Option<String> {
    if !answers::is_answered(run) && run.campaign.is_none() {
        return None;
    }
    match &run.end {
        None => Some("The record ends early: the run was killed or is under way.".to_owned()),
        Some(end) => {
            let error = end.error.as_ref()?;
            Some(format!("The run ended early: {error}."))
        }
    }
}

/// The name of the gravest doubt.
#[must_use]
pub fn gravest(run: &Run) -> String {
    let all = Raised::from_run(run);
    all.first().map_or("none".to_owned(), |known| {
        let more = all.len() - 1;
        let more = if more > 0 {
            format!(", {more} more")
        } else {
            String::new()
        };
        known.doubt.name.clone() + &more
    })
}

/// A text whose commands stand in back quotes.
fn with_code(text: &str) -> Markup {
    html! {
        @for (at, part) in text.split('`').enumerate() {
            @if at % 2 == 1 { code { (part) } } @else { (part) }
        }
    }
}

fn doubts(run: &Run) -> Markup {
    let all = Raised::from_run(run);
    let (first, rest) = all.split_at(all.len().min(FIRST));
    let list = |part: &[Raised<'_>]| {
        html! {
            ul.doubts {
                @for known in part {
                    li {
                        b { (known.doubt.name) } ": " (with_code(&known.told())) ". "
                        span.note {
                            "Why: " (with_code(known.doubt.why.trim_end_matches('.')))
                            ". Next: " (with_code(known.doubt.next.trim_end_matches('.'))) "."
                        }
                    }
                }
            }
        }
    };
    html! {
        @if all.is_empty() { p { "The record has none." } }
        (list(first))
        @if !rest.is_empty() {
            details { summary { (number::plural(rest.len(), "more doubt")) } (list(rest)) }
        }
    }
}

/// Columns of the table of trials.
const COLUMNS: &str = "trial;frame;phase;verdict;offered /s;forwarded /s;sent;unsent;lost;loss %;lost in disturbances;\
    lost by the tester;overdue;DUT busy %;latency p50 µs;p99.9 µs;longest stall µs;length s";

/// Rows of trials that a run has at most. No phone opens a page with ten times as many.
const ROWS: usize = 10_000;
/// What the head of their table and the words around it take, octets.
const HEAD: usize = 2_500;
/// What a row takes at most, octets.
const ROW: usize = 500;

/// The table of trials, with as many rows as there is room for. `None` without any.
fn trials(run: &Run, runs: usize, room: &mut Room) -> Option<Markup> {
    let stands: HashSet<u32> = run
        .results
        .iter()
        .filter_map(|result| result.stands_on.stands_on_trial)
        .collect();
    let (mut rows, mut first) = (String::new(), 0);
    let has_head = room.take(HEAD + ROW * stands.len());
    for trial in run.trials.iter().take(ROWS) {
        let row = row(trial, stands.contains(&trial.trial)).0;
        if !has_head || !room.take(row.len()) {
            break;
        }
        first += 1;
        rows += &row;
    }
    let all = run.trials.len();
    if first == 0 {
        if all > 0 {
            room.leave_out("the trials");
        }
        return None;
    }
    let later = run.trials[first..].iter();
    let later = later.filter(|trial| stands.contains(&trial.trial));
    later.for_each(|trial| rows += &row(trial, true).0);
    let told = number::plural(all, "trial");
    let told = match first == all {
        true => format!("All {told}"),
        false => format!("The first {} of {told}", number::grouped(first as u64)),
    };
    Some(html! {
        h3 { "Trials" }
        details open[runs == 1] {
            summary { (told) }
            @if all > first {
                p.note { "Trials on which results stand follow. All of them: " code { "mpps report --format csv" } }
            }
            p.note {
                "A click on a heading sorts. Results stand on the trials in bold. Lost are the frames that the \
                 verdict counts: those that the DUT lost outside disturbances. Overdue frames arrived too late: above \
                 1 % they are lost. \"-\" means: it was not read."
            }
            label.filter { "Show rows with " input type="search" placeholder="lossy, 64, search"; }
            div.wide { table.sortable.trials {
                thead { tr { @for name in COLUMNS.split(';') { th scope="col" { (name) } } } }
                tbody { (PreEscaped(rows)) }
            } }
        }
    })
}

fn row(trial: &TrialLine, stood_on: bool) -> Markup {
    let figures = Figures::new(trial);
    let whole = |fps: f64| number::grouped(fps.max(0.0).round() as u64);
    let known = |value: Option<String>| value.unwrap_or_else(|| "-".to_owned());
    let percent = |share: f64| format!("{}", (share * 1e6).round() / 1e4);
    let us = |ns: u64| format!("{:.1}", ns as f64 / 1e3);
    let (verdict, text) = (trial.verdict.as_str(), trial.verdict_text.as_str());
    let cells = [
        trial.trial.to_string(),
        trial.frame.clone(),
        trial.phase.to_string(),
        if text.is_empty() {
            verdict.to_owned()
        } else {
            text.to_owned()
        },
        whole(figures.offered_fps),
        whole(figures.forwarded_fps),
        number::grouped(figures.sent),
        number::grouped(figures.unsent),
        number::grouped(figures.lost),
        percent(figures.loss),
        known(figures.lost_disturbed.map(number::grouped)),
        number::grouped(figures.lost_by_tester),
        known(figures.overdue.map(number::grouped)),
        known(figures.busy.map(|busy| format!("{:.1}", busy * 100.0))),
        known(trial.latency.p50_ns.map(us)),
        known(trial.latency.p999_ns.map(us)),
        known(figures.gap_ns.map(us)),
        format!("{}", (trial.duration_ns as f64 / 1e6).round() / 1e3),
    ];
    html! { tr.stood[stood_on] { @for cell in cells { td { (cell) } } } }
}

fn machine(run: &Run, room: &mut Room) -> Markup {
    let Some(begin) = &run.begin else {
        return html! {};
    };
    let tables = html! {
        (members::table("Machine", &begin.facts))
        (members::table("Bed", &begin.bed))
        (members::table("Plan", &begin.plan))
        @if let Some(routes) = &begin.routes { (members::table("Routes", routes)) }
    };
    html! {
        h3 { "Command and machine" }
        pre { code { (command(begin)) } }
        p.note {
            "mpps " (begin.tool_version) ", method " (begin.method_version) ". Results may be compared where this is equal: "
            (begin.comparability) "."
        }
        @if let Some(tables) = room.fit("the machine's facts", tables) { (tables) }
    }
}
