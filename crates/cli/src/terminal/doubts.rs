//! The doubts: those that change how a result is read, a line each, the worst first; with `--verbose` all of them, with
//! why each matters and what to do next.

use crate::figures::{Figures, ForwardingLimit, subject};
use mpps_lab::doubt::{Doubt, Finding};
use std::fmt::Write;

/// Lines of doubts at most, without `--verbose`.
const LINES_MAX: usize = 8;

/// Doubts by name, the gravest first: what makes the number one of something else, then what makes it too low or too
/// high, then what makes it less sure. A name that is not here comes after the first group.
const WEIGHTS: &[&[&str]] = &[
    &[
        "unstable",
        "not-routed",
        "merged",
        "duplicates",
        "few-destinations",
        "half-meets-table",
        "part-of-destinations",
        "other-run",
        "host-changed",
        "foreign",
        "busy-uncounted",
        "work-elsewhere",
        "softirq-elsewhere",
    ],
    &[],
    &[
        "cpu-shared",
        "lost-disturbed",
        "distance-changed",
        "loss-not-by-load",
        "sender-caught-up",
        "loss-while-idle",
        "cpu-slowed",
        "steal",
        "core-shared",
        "router-tasks",
        "uneven-queues",
        "late",
        "queued-behind",
        "reordered",
        "gate-unknown",
    ],
    &[
        "out-of-trials",
        "ring-hides",
        "stall-unseen",
        "voided",
        "not-offered",
        "contradiction",
        "tester-near-ceiling",
    ],
    &["veth-cable", "ceiling-unproven", "device-unknown"],
];

/// Doubts that hold for every result of such a bed, with what the footnote says of them.
const FOOTNOTES: [(&str, &str); 3] = [
    ("short-trial", "trials shorter than RFC 2544's 60 s"),
    ("notional-link", "no wire"),
    ("virtual-nic", "a virtual NIC"),
];

/// One doubt with the frame sizes it was raised for, by what was seen.
struct Raised<'a> {
    doubt: &'a Doubt,
    seen: Vec<(String, Vec<String>)>,
}

/// The doubts that change how these results are read, a line each, and the others in a line of their own; empty
/// without any.
#[must_use]
pub fn doubts(rows: &[Figures], findings: &[Finding]) -> String {
    let mut raised = raised(findings);
    raised.retain(|raised| !is_said(raised.doubt, rows));
    raised.sort_by_key(|raised| weight(raised.doubt.name()));
    let footnote: Vec<&str> = FOOTNOTES
        .iter()
        .filter(|(name, _)| raised.iter().any(|raised| raised.doubt.name() == *name))
        .map(|(_, words)| *words)
        .collect();
    raised.retain(|raised| {
        !FOOTNOTES
            .iter()
            .any(|(name, _)| *name == raised.doubt.name())
    });
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
        let of = match (also.is_empty(), frames.len() == findings.len()) {
            (true, true) => String::new(),
            (true, false) => format!(" ({})", frames.join(", ")),
            (false, _) => format!(" ({}; like it {})", frames.join(", "), also.join(", ")),
        };
        let _ = writeln!(text, "- {what}{of}");
    }
    if raised.len() > LINES_MAX {
        let _ = writeln!(text, "- and {} more (-v)", raised.len() - LINES_MAX);
    }
    if !footnote.is_empty() {
        let _ = writeln!(
            text,
            "\nHolds for every result of such a bed: {} (docs/method.md)",
            footnote.join(", ")
        );
    }
    text
}

/// All doubts, each with why it matters and what to do next.
#[must_use]
pub fn doubts_in_full(findings: &[Finding]) -> String {
    let mut raised = raised(findings);
    raised.sort_by_key(|raised| weight(raised.doubt.name()));
    if raised.is_empty() {
        return String::new();
    }
    let mut text = String::from("\nDoubts\n");
    for Raised { doubt, seen } in &raised {
        for (what, frames) in seen {
            let of = if frames.len() == findings.len() {
                String::new()
            } else {
                format!(" ({})", frames.join(", "))
            };
            let _ = writeln!(text, "- {what}{of}");
        }
        let _ = writeln!(
            text,
            "    why:  {}\n    next: {}",
            doubt.why(),
            doubt.next()
        );
    }
    text
}

/// A doubt's place among all, the gravest first, as records have it.
#[must_use]
pub fn doubt_weight(name: &str) -> u32 {
    let (group, place) = weight(name);
    (group * 100 + place) as u32
}

/// The lower, the graver.
fn weight(name: &str) -> (usize, usize) {
    let place = |group: &&[&str]| group.iter().position(|known| *known == name);
    let found = WEIGHTS.iter().enumerate();
    let found = found.filter_map(|(at, group)| Some((at, place(group)?)));
    let footnote = FOOTNOTES.iter().position(|(known, _)| *known == name);
    let known = found.min();
    known.unwrap_or_else(|| footnote.map_or((1, 0), |place| (WEIGHTS.len(), place)))
}

/// Whether the sentences above the table say the same.
fn is_said(doubt: &Doubt, rows: &[Figures]) -> bool {
    let tester = |row: &Figures| row.forwarding_limit == Some(ForwardingLimit::Tester);
    match doubt {
        Doubt::Simulated(_) | Doubt::Unstable(_) => true,
        Doubt::TesterNearCeiling { .. } => rows.iter().all(tester),
        _ => false,
    }
}

fn raised(findings: &[Finding]) -> Vec<Raised<'_>> {
    let several_goals = findings
        .windows(2)
        .any(|two| two[0].frames == two[1].frames);
    let mut raised = Vec::new();
    for finding in findings {
        let subject = subject(&finding.frames, finding.goal, several_goals);
        for doubt in &finding.doubts {
            note(&mut raised, doubt, &subject);
        }
    }
    raised
}

fn note<'a>(raised: &mut Vec<Raised<'a>>, doubt: &'a Doubt, frames: &str) {
    let place = raised
        .iter()
        .position(|one| one.doubt.name() == doubt.name())
        .unwrap_or_else(|| {
            raised.push(Raised {
                doubt,
                seen: Vec::new(),
            });
            raised.len() - 1
        });
    let seen = &mut raised[place].seen;
    match seen.iter_mut().find(|(what, _)| *what == doubt.seen()) {
        Some((_, of)) => of.push(frames.to_owned()),
        None => seen.push((doubt.seen(), vec![frames.to_owned()])),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terminal::report::tests::finding;
    use mpps_method::{Rate, Span};

    fn findings() -> [Finding; 3] {
        let short = Doubt::ShortTrial {
            trial: Span::from_millis(200),
        };
        let steal = |share| Doubt::Steal { share };
        let merged = Doubt::Merged {
            frames: 1_000,
            packets: 100,
        };
        [
            finding("64", vec![short.clone(), steal(0.01)]),
            finding("imix", vec![short.clone(), steal(0.02), merged]),
            finding("1518", vec![short]),
        ]
    }

    #[test]
    fn doubts_are_a_line_each_the_worst_first() {
        assert_eq!(
            doubts(&[], &findings()),
            "\nDoubts\n\
             - the DUT forwarded 1000 frames as 100 packets: GRO merged them, and they were cut again (imix)\n\
             - the hypervisor took 1.0 % of a CPU during a trial (64; like it imix)\n\
             \nHolds for every result of such a bed: trials shorter than RFC 2544's 60 s (docs/method.md)\n"
        );
        assert_eq!(doubts(&[], &[finding("64", Vec::new())]), "");
    }

    #[test]
    fn in_full_each_doubt_has_why_and_next_once() {
        let text = doubts_in_full(&findings());
        let count = |wanted: &str| text.matches(wanted).count();
        assert_eq!((count("why:"), count("next:")), (3, 3), "{text}");
        for line in [
            "- trials of 200 ms, RFC 2544 asks for 60 s\n",
            "- the hypervisor took 1.0 % of a CPU during a trial (64)\n",
            "- the hypervisor took 2.0 % of a CPU during a trial (imix)\n",
        ] {
            assert_eq!(count(line), 1, "{text}");
        }
        assert_eq!(doubts_in_full(&[finding("64", Vec::new())]), "");
    }

    #[test]
    fn what_the_sentences_say_is_not_doubted_again() {
        let rate = Rate::from_fps(1e6);
        let near = Doubt::TesterNearCeiling {
            result: rate,
            ceiling: rate,
        };
        let row = |limit| Figures {
            forwarding_limit: Some(limit),
            ..Figures::default()
        };
        let findings = [finding("64", vec![near])];
        assert_eq!(doubts(&[row(ForwardingLimit::Tester)], &findings), "");
        assert!(doubts(&[row(ForwardingLimit::Cpu)], &findings).contains("- 1.000 Mfps is at"));
    }

    #[test]
    fn every_weight_has_one_place() {
        let mut names: Vec<&str> = WEIGHTS.concat();
        names.extend(FOOTNOTES.map(|(name, _)| name));
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
        // One that this table has not heard of is no footnote.
        assert!(weight("unheard-of") < weight("steal"));
    }
}
