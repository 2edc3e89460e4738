//! The records of a folder: a row a run.

use super::document::document;
use super::headed;
use crate::records::{Kept, Shelf};
use mpps_record::Run;
use mpps_report::Row;
use mpps_report::campaign::{CampaignRun, other_answers};
use mpps_report::headline::short_without_loss;
use mpps_report::number::{Known, plural};
use serde_json::{Value, json};
use std::path::Path;

const HEAD: &str = "begun (UTC);run;job;exit;size;result;arguments";
/// Columns of words.
const LEFT: [usize; 5] = [0, 1, 2, 5, 6];
/// Characters of a result and of arguments that are shown; JSON has all of them.
const WIDTH: usize = 44;

/// A table, newest first, then what is beside the records.
pub fn records(folder: &Path, shelf: &Shelf) -> String {
    let rows: Vec<_> = shelf.kept.iter().flat_map(rows).collect();
    let folder = visible(&folder.display().to_string());
    let records = plural(shelf.kept.len(), "record");
    let table = match rows[..] {
        [] => String::new(),
        _ => headed(HEAD, rows, &LEFT) + "\n",
    };
    let others = match shelf.others {
        0 => String::new(),
        others => format!(
            "; {} no records",
            plural(others, "other file") + if others == 1 { " is" } else { " are" }
        ),
    };
    format!("{table}{records} in {folder}{others}\n")
}

/// A row for each run; the cells of a campaign are in its row.
fn rows(kept: &Kept) -> Vec<[String; 7]> {
    let all: Vec<&Run> = kept.records.runs.iter().collect();
    let campaigns = CampaignRun::each(&all);
    let is_alone = |run: &&&Run| campaigns.iter().all(|campaign| !campaign.has(run));
    let alone = all.iter().filter(is_alone);
    alone.map(|run| row(kept, run)).collect()
}

fn row(kept: &Kept, run: &Run) -> [String; 7] {
    let dash = || "-".to_owned();
    let begin = run.begin.as_ref();
    let begun = |utc: &str| utc.chars().take(16).collect::<String>().replace('T', " ");
    let exit = run.end.as_ref().map(|end| end.exit_code.to_string());
    let arguments = begin.map(|begin| begin.arguments.get(1..).unwrap_or_default().join(" "));
    let plan = run.campaign.as_ref().map(|campaign| campaign.name.clone());
    [
        run.begun_utc()
            .map_or_else(dash, |utc| visible(&begun(utc))),
        visible(&run.name),
        run.job().map_or_else(dash, visible),
        exit.unwrap_or_else(dash),
        file_size(kept.octets),
        shortened(&in_few_words(run)),
        arguments
            .or(plan)
            .map_or_else(dash, |words| shortened(&words)),
    ]
}

/// The same as JSON, with all arguments.
pub fn records_json(folder: &Path, shelf: &Shelf) -> String {
    let entry = |kept: &Kept, run: &Run| {
        let begin = run.begin.as_ref();
        json!({
            "record": kept.path.to_string_lossy(),
            "octets": kept.octets,
            "run": run.name,
            "begun_utc": run.begun_utc(),
            "job": run.job(),
            "arguments": begin.map(|begin| &begin.arguments),
            "result": in_few_words(run),
            "exit_code": run.end.as_ref().map(|end| end.exit_code),
        })
    };
    let runs = shelf.kept.iter().flat_map(|kept| {
        let runs = kept.records.runs.iter();
        runs.map(move |run| entry(kept, run))
    });
    document(json!({
        "folder": folder.to_string_lossy(),
        "runs": runs.collect::<Value>(),
        "others": shelf.others,
    }))
}

/// The first result, and how many more there are.
fn in_few_words(run: &Run) -> String {
    let rows = Row::each(&run.results);
    let first = rows.first().map(|row| {
        let short = |fps: u64| Known::new(fps as f64, 0.0).short();
        let forwarded = row
            .overload
            .max_forwarding_fps
            .map(|fps| short(fps.median) + " forwarded");
        let lossless = row
            .rate_fps
            .map(|_| short_without_loss(row) + " without loss");
        let rates: Vec<String> = forwarded.into_iter().chain(lossless).collect();
        let more = match rows.len() {
            1 => String::new(),
            rows => format!(" (+{})", rows - 1),
        };
        format!("{}: {}{more}", row.name, rates.join(", "))
    });
    first.unwrap_or_else(|| match run.loads.len() {
        0 => other_answers(run).join(" "),
        loads => plural(loads, "load"),
    })
}

/// A path's last part.
pub fn file_name(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default();
    visible(&name.to_string_lossy())
}

/// Octets in the unit that leaves the fewest digits: `734 B`, `12 kB`, `3.4 MB`.
pub fn file_size(octets: u64) -> String {
    match octets {
        0..1_000 => format!("{octets} B"),
        1_000..1_000_000 => format!("{} kB", octets / 1_000),
        _ => format!("{:.1} MB", octets as f64 / 1e6),
    }
}

/// Without characters that would move the cursor, or a line into two.
fn visible(text: &str) -> String {
    let shown = |c: char| {
        if c.is_control() {
            c.escape_default().to_string()
        } else {
            c.to_string()
        }
    };
    text.chars().map(shown).collect()
}

fn shortened(text: &str) -> String {
    let text = visible(text);
    if text.chars().count() <= WIDTH {
        return text;
    }
    text.chars().take(WIDTH - 3).collect::<String>() + "..."
}
