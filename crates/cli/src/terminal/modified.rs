//! The modifiers that a run was measured with (RFC 2544 sections 11 and 12).

use mpps_record::{EndLine, Modifier, RunLine};
use std::fmt::Write;

/// What a run was measured with, and below its results the answers to management queries
/// and the command that tells what modifiers cost. `None`: no modifier, or a comparison, whose
/// variants have modifiers of their own.
#[must_use]
pub fn modified(run: &RunLine, end: Option<&EndLine>) -> Option<(String, String)> {
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
    let mut below = String::new();
    if let Some([overload, others]) = end.and_then(|end| end.queries) {
        let _ = writeln!(
            below,
            "management queries answered: {} of {} at overload, {} of {} in all other trials",
            overload.answered, overload.asked, others.answered, others.asked
        );
    }
    let _ = writeln!(
        below,
        "what this costs a frame: mpps compare --a none --b '{flags}'{ipv6}"
    );
    Some((format!("Measured with {with}.\n"), below))
}
