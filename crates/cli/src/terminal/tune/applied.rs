//! What `mpps tune apply` and `revert` would do, and did.

use super::shell::command_in;
use crate::terminal::columns;
use crate::terminal::document::document;
use mpps_lab::journal::Reverted;
use mpps_lab::tune::persist::File;
use mpps_lab::tune::{Applied, AtBoot, KEYFILE_END, LeftOut, Plan, Planned, shown};
use mpps_report::number::plural;
use serde_json::json;
use std::fmt::Write;

/// The commands that would make these changes.
pub fn settings_planned(plan: &Plan, netns: Option<&str>) -> String {
    let mut text = String::new();
    for one in &plan.changes {
        let _ = writeln!(text, "{}", command_in(netns, &one.setting, &one.value));
    }
    text + &stay("\nNot changed", &plan.left_out) + &by_manager(plan)
}

/// What NetworkManager sets otherwise whenever an interface comes up, at boot and later.
fn by_manager(plan: &Plan) -> String {
    let is_profile = |one: &&AtBoot| one.file.ends_with(KEYFILE_END);
    let title = "\nNetworkManager sets something else when the interface comes up";
    set_otherwise(title, plan.at_boot.iter().filter(is_profile))
}

fn set_otherwise<'a>(title: &str, some: impl Iterator<Item = &'a AtBoot>) -> String {
    let row = |one: &AtBoot| {
        let what = format!("{} sets {}", one.file, one.value);
        [format!("  {}", one.id), one.place.clone(), what]
    };
    part(title, &some.map(row).collect::<Vec<_>>())
}

/// Files that would keep settings across boots.
pub fn files_planned(plan: &Plan, files: &[File]) -> String {
    let mut text = String::new();
    for file in files {
        let _ = write!(text, "\n{}:\n{}", file.path.display(), file.text);
    }
    text + &at_boot(plan, files)
}

fn at_boot(plan: &Plan, files: &[File]) -> String {
    // Files before ours in the order of their names have no last word, and tuned leaves that to sysctl.d.
    let comes_later = |one: &&AtBoot| {
        let name = one.file.rsplit('/').next().unwrap_or_default();
        let is_other = !name.ends_with(KEYFILE_END) && name != "tuned.conf";
        !files.is_empty() && name > "90-mpps.conf" && is_other
    };
    let title = "\nSet to something else by another file at boot";
    set_otherwise(title, plan.at_boot.iter().filter(comes_later))
}

/// The changes made, those refused, and what stays.
pub fn settings_applied(plan: &Plan, applied: &Applied) -> String {
    let row = |one: &Planned| {
        // The kernel puts tabs between numbers.
        let before: Vec<&str> = one.now.split_whitespace().collect();
        let change = format!("{} -> {}", before.join(" "), one.value);
        [format!("  {}", one.id), shown(&one.setting), change]
    };
    let mut text = format!("Changed ({})\n", applied.made.len());
    text += &columns(applied.made.iter().map(row), &[0, 1, 2]);
    if !applied.moved.is_empty() {
        let _ = writeln!(text, "\nMoved by these changes ({})", applied.moved.len());
        let row = |(name, before, now): &(String, String, String)| {
            [format!("  {name}"), format!("{before} -> {now}")]
        };
        text += &columns(applied.moved.iter().map(row), &[0, 1]);
    }
    text += &stay("\nRefused by the kernel, and as before", &applied.refused);
    text += &stay("\nNot changed", &plan.left_out);
    if !applied.files.is_empty() {
        let _ = writeln!(text, "\nFiles for each boot ({})", applied.files.len());
        for file in &applied.files {
            let _ = writeln!(text, "  {}", file.path.display());
        }
    }
    text + &at_boot(plan, &applied.files) + &by_manager(plan)
}

fn stay(title: &str, some: &[LeftOut]) -> String {
    let row = |one: &LeftOut| [format!("  {}", one.id), one.place.clone(), one.why.clone()];
    part(title, &some.iter().map(row).collect::<Vec<_>>())
}

fn part(title: &str, rows: &[[String; 3]]) -> String {
    match rows.len() {
        0 => String::new(),
        count => format!("{title} ({count})\n{}", columns(rows, &[0, 1, 2])),
    }
}

/// What was put back, and what was not because somebody else changed it.
pub fn settings_reverted(reverted: &Reverted) -> String {
    let mut text = String::new();
    if reverted.settings > 0 || reverted.files == 0 {
        let settings = plural(reverted.settings, "setting");
        let _ = writeln!(text, "{settings} put back");
    }
    if reverted.files > 0 {
        let files = plural(reverted.files, "file");
        let _ = writeln!(text, "{files} of apply --persist taken back");
    }
    for line in reverted.foreign.iter().chain(&reverted.gone) {
        let _ = writeln!(text, "{line}");
    }
    text
}

/// The same as JSON.
pub fn reverted_json(reverted: &Reverted) -> String {
    document(json!({
        "settings": reverted.settings,
        "files": reverted.files,
        "kept": reverted.foreign,
        "gone": reverted.gone,
    }))
}
