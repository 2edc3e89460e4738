//! What `mpps tune apply` and `revert` would do, and did.

use super::shell::command_in;
use crate::terminal::columns;
use mpps_lab::journal::Reverted;
use mpps_lab::tune::{Applied, LeftOut, Plan, Planned, shown};
use std::fmt::Write;

/// The commands that would make these changes.
#[must_use]
pub fn settings_planned(plan: &Plan, netns: Option<&str>) -> String {
    let mut text = String::new();
    for one in &plan.changes {
        let _ = writeln!(text, "{}", command_in(netns, &one.setting, &one.value));
    }
    text += &stay("\nNot changed", &plan.left_out);
    let _ = writeln!(
        text,
        "\nNothing was changed: {} settings would be.",
        plan.changes.len()
    );
    text
}

/// The changes made, those refused, and what stays.
#[must_use]
pub fn settings_applied(plan: &Plan, applied: &Applied) -> String {
    let row = |one: &Planned| {
        // The kernel puts tabs between numbers.
        let before: Vec<&str> = one.now.split_whitespace().collect();
        let change = format!("{} -> {}", before.join(" "), one.value);
        [format!("  {}", one.id), shown(&one.setting), change]
    };
    let mut text = format!("Changed ({})\n", applied.made.len());
    text += &columns(
        &applied.made.iter().map(row).collect::<Vec<_>>(),
        &[0, 1, 2],
    );
    if !applied.moved.is_empty() {
        let _ = writeln!(text, "\nMoved by these changes ({})", applied.moved.len());
        let row = |(name, before, now): &(String, String, String)| {
            [format!("  {name}"), format!("{before} -> {now}")]
        };
        text += &columns(&applied.moved.iter().map(row).collect::<Vec<_>>(), &[0, 1]);
    }
    text += &stay("\nRefused by the kernel, and as before", &applied.refused);
    text + &stay("\nNot changed", &plan.left_out)
}

fn stay(title: &str, some: &[LeftOut]) -> String {
    if some.is_empty() {
        return String::new();
    }
    let row = |one: &LeftOut| [format!("  {}", one.id), one.place.clone(), one.why.clone()];
    let table = columns(&some.iter().map(row).collect::<Vec<_>>(), &[0, 1, 2]);
    format!("{title} ({})\n{table}", some.len())
}

/// What was put back, and what was not because somebody else changed it.
#[must_use]
pub fn settings_reverted(reverted: &Reverted) -> String {
    let mut text = format!("{} settings put back\n", reverted.settings);
    for line in &reverted.foreign {
        let _ = writeln!(text, "{line}");
    }
    text
}
