//! What stands around a table: what must be read before it, and what explains its rows.

use crate::figures::Figures;
use std::fmt::Write;

/// Before everything else: rows of a DUT that loses frames for no load.
pub(super) fn unstable(rows: &[Figures]) -> String {
    let said = |row: &Figures| {
        let found = row.unstable?;
        Some(format!("{}: UNSTABLE: {found}\n", row.frames))
    };
    let lines = once(rows.iter().filter_map(said));
    if lines.is_empty() {
        return lines;
    }
    lines + "What follows is where chance left the search, no property of a load.\n\n"
}

/// Why frames were lost, what the DUT does with a fifth of its CPU left, and how evenly frames were sent.
pub(super) fn reasons(rows: &[Figures]) -> String {
    let said = rows.iter().flat_map(|row| {
        let why = row
            .why_lost
            .as_ref()
            .map(|why| format!("{}: {why}\n", row.frames));
        let headroom = row
            .headroom
            .map(|headroom| format!("{}: {headroom}\n", row.frames));
        let even = row
            .evenness
            .map(|even| format!("{}: sent: {even}\n", row.subject));
        why.into_iter().chain(headroom).chain(even)
    });
    once(said)
}

/// Several goals of one size have these in common: each line once.
fn once(lines: impl Iterator<Item = String>) -> String {
    let mut text = String::new();
    for line in lines {
        if !text.lines().any(|before| before == line.trim_end()) {
            let _ = write!(text, "{line}");
        }
    }
    text
}
