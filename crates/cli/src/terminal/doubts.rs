//! The doubts: those that change how a result is read, a line each, the worst first; with `--verbose` all of them, with
//! why each matters and what to do next.

use super::row::Row;
use mpps_lab::doubt::{SIMULATED, TESTER_NEAR_CEILING, UNSTABLE};
use mpps_record::{Doubt, ForwardingLimit};
use std::fmt::Write;

/// Lines of doubts at most, without `--verbose`.
const LINES_MAX: usize = 8;

/// One doubt with the frame sizes it was raised for, by what was seen.
struct Raised<'a> {
    doubt: &'a Doubt,
    seen: Vec<(String, Vec<String>)>,
}

/// The doubts that change how these results are read, a line each, and the others in a line of their own; empty
/// without any.
#[must_use]
pub fn doubts(rows: &[Row<'_>]) -> String {
    let searched = searched(rows);
    let mut raised = raised(rows);
    raised.retain(|raised| !is_said(raised.doubt, rows));
    let footnotes: Vec<&str> = raised
        .iter()
        .filter_map(|raised| raised.doubt.footnote.as_deref())
        .collect();
    raised.retain(|raised| raised.doubt.footnote.is_none());
    let mut text = String::new();
    if !raised.is_empty() {
        text.push_str("\nDoubts\n");
    }
    for Raised { seen, .. } in raised.iter().take(LINES_MAX) {
        let (what, frames) = &seen[0];
        let also: Vec<&str> = seen[1..]
            .iter()
            .flat_map(|(_, frames)| frames.iter().map(String::as_str))
            .collect();
        let of = match (also.is_empty(), frames.len() == searched) {
            (true, true) => String::new(),
            (true, false) => format!(" ({})", frames.join(", ")),
            (false, _) => format!(" ({}; similar: {})", frames.join(", "), also.join(", ")),
        };
        let _ = writeln!(text, "- {what}{of}");
    }
    if raised.len() > LINES_MAX {
        let _ = writeln!(text, "- and {} more (-v)", raised.len() - LINES_MAX);
    }
    if !footnotes.is_empty() {
        let _ = writeln!(
            text,
            "\nHolds for every result of such a bed: {} (docs/method.md)",
            footnotes.join(", ")
        );
    }
    text
}

/// All doubts, each with why it matters and what to do next.
#[must_use]
pub fn doubts_in_full(rows: &[Row<'_>]) -> String {
    let (searched, raised) = (searched(rows), raised(rows));
    if raised.is_empty() {
        return String::new();
    }
    let mut text = String::from("\nDoubts\n");
    for Raised { doubt, seen } in &raised {
        for (what, frames) in seen {
            let of = if frames.len() == searched {
                String::new()
            } else {
                format!(" ({})", frames.join(", "))
            };
            let _ = writeln!(text, "- {what}{of}");
        }
        let _ = writeln!(text, "    why:  {}\n    next: {}", doubt.why, doubt.next);
    }
    text
}

/// Rows of which anything is known.
fn searched(rows: &[Row<'_>]) -> usize {
    let known = |row: &&Row<'_>| row.trials > 0 || !row.doubts.is_empty();
    rows.iter().filter(known).count()
}

/// Whether the sentences above the table say the same.
fn is_said(doubt: &Doubt, rows: &[Row<'_>]) -> bool {
    let by_tester =
        |row: &Row<'_>| row.overload.max_forwarding_limited_by == Some(ForwardingLimit::Tester);
    match doubt.name.as_str() {
        SIMULATED | UNSTABLE => true,
        TESTER_NEAR_CEILING => rows.iter().all(by_tester),
        _ => false,
    }
}

/// Each doubt once, the gravest first.
fn raised<'a>(rows: &'a [Row<'_>]) -> Vec<Raised<'a>> {
    let mut raised = Vec::new();
    for row in rows {
        for doubt in &row.doubts {
            note(&mut raised, doubt, &row.subject);
        }
    }
    // Older records have no weights: then the order is the one in which doubts were raised.
    raised.sort_by_key(|raised| raised.doubt.weight);
    raised
}

fn note<'a>(raised: &mut Vec<Raised<'a>>, doubt: &'a Doubt, frames: &str) {
    let place = raised
        .iter()
        .position(|one| one.doubt.name == doubt.name)
        .unwrap_or_else(|| {
            raised.push(Raised {
                doubt,
                seen: Vec::new(),
            });
            raised.len() - 1
        });
    let seen = &mut raised[place].seen;
    match seen.iter_mut().find(|(what, _)| *what == doubt.seen) {
        Some((_, of)) => of.push(frames.to_owned()),
        None => seen.push((doubt.seen.clone(), vec![frames.to_owned()])),
    }
}

#[cfg(test)]
pub(in crate::terminal) mod tests {
    use super::*;
    use crate::record;
    use mpps_lab::doubt::{self, Weight};
    use mpps_record::ResultLine;

    /// A doubt with a cause and an advice that no test reads.
    pub(in crate::terminal) fn doubt(name: &'static str, weight: Weight, seen: &str) -> Doubt {
        record::doubt(&doubt::Doubt {
            name,
            weight,
            seen: seen.to_owned(),
            why: "it matters",
            next: "run again",
        })
    }

    fn result(frame: &str, doubts: Vec<Doubt>) -> ResultLine {
        ResultLine {
            frame: frame.to_owned(),
            doubts,
            trials: 1,
            ..ResultLine::default()
        }
    }

    fn doubts(lines: &[ResultLine]) -> String {
        super::doubts(&Row::each(lines))
    }

    fn doubts_in_full(lines: &[ResultLine]) -> String {
        super::doubts_in_full(&Row::each(lines))
    }

    fn results() -> [ResultLine; 3] {
        let words = "trials shorter than RFC 2544's 60 s";
        let short = "trials lasted 200 ms, RFC 2544 asks for 60 s";
        let short = doubt("short-trial", Weight::Footnote(0, words), short);
        let steal = |seen| doubt("steal", Weight::Shifted(7), seen);
        let merged = "the DUT forwarded 1000 frames as 100 packets";
        let merged = doubt("merged", Weight::Another(2), merged);
        let (one, two) = ("1.0 % of a CPU was stolen", "2.0 % of a CPU was stolen");
        [
            result("64", vec![short.clone(), steal(one)]),
            result("imix", vec![short.clone(), steal(two), merged]),
            result("1518", vec![short]),
        ]
    }

    #[test]
    fn doubts_are_a_line_each_the_worst_first() {
        assert_eq!(
            doubts(&results()),
            "\nDoubts\n\
             - the DUT forwarded 1000 frames as 100 packets (imix)\n\
             - 1.0 % of a CPU was stolen (64; similar: imix)\n\
             \nHolds for every result of such a bed: trials shorter than RFC 2544's 60 s (docs/method.md)\n"
        );
        assert_eq!(doubts(&[result("64", Vec::new())]), "");
    }

    #[test]
    fn in_full_each_doubt_has_why_and_next_once() {
        let text = doubts_in_full(&results());
        let count = |wanted: &str| text.matches(wanted).count();
        assert_eq!((count("why:"), count("next:")), (3, 3), "{text}");
        for line in [
            "- trials lasted 200 ms, RFC 2544 asks for 60 s\n",
            "- 1.0 % of a CPU was stolen (64)\n",
            "- 2.0 % of a CPU was stolen (imix)\n",
        ] {
            assert_eq!(count(line), 1, "{text}");
        }
        assert_eq!(doubts_in_full(&[result("64", Vec::new())]), "");
    }

    #[test]
    fn a_doubt_that_a_sentence_says_is_left_out() {
        let seen = "1.000 Mfps is at or near the tester's own ceiling";
        let near = doubt(TESTER_NEAR_CEILING, Weight::Unsure(6), seen);
        let mut line = result("64", vec![near]);
        let mut limited = |limit| {
            line.overload.max_forwarding_limited_by = Some(limit);
            doubts(std::slice::from_ref(&line))
        };
        assert_eq!(limited(ForwardingLimit::Tester), "");
        assert!(limited(ForwardingLimit::RouterCpu).contains("- 1.000 Mfps is at"));
    }

    #[test]
    fn weights_order_groups_then_places() {
        let footnote = Weight::Footnote(0, "no wire");
        let weights = [
            Weight::Another(0),
            Weight::Another(12),
            Weight::Shifted(0),
            Weight::Unsure(0),
            Weight::Unknown(0),
            footnote,
        ];
        assert!(weights.is_sorted() && weights[4] < footnote);
    }
}
