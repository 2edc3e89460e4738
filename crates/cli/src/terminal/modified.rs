//! The modifiers that a run was measured with (RFC 2544 sections 11 and 12).

use mpps_record::{Modifier, RunLine};

/// What a run was measured with, and the command that tells what that costs. `None`: no modifier, or a comparison, whose
/// variants have modifiers of their own.
#[must_use]
pub fn modified(run: &RunLine) -> Option<(String, String)> {
    let modifiers = run.modifiers();
    if modifiers.is_empty() || run.job == "compare" {
        return None;
    }
    let listed = |each: fn(&Modifier) -> &str, between: &str| {
        let words: Vec<&str> = modifiers.iter().map(each).collect();
        words.join(between)
    };
    let with = listed(|modifier| &modifier.words, ", ");
    let flags = listed(|modifier| &modifier.flag, " ");
    let ipv6 = if run.plan.traffic.family == "ipv6" {
        " -6"
    } else {
        ""
    };
    Some((
        format!("Measured with {with}.\n"),
        format!("cost of that: mpps compare --a none --b '{flags}'{ipv6}\n"),
    ))
}
