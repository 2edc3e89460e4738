//! The doubts: each once, with what was seen, why it matters, and what to do next.

use crate::figures::subject;
use mpps_lab::doubt::{Doubt, Finding};
use std::fmt::Write;

/// One doubt with the frame sizes it was raised for, by what was seen.
struct Raised<'a> {
    doubt: &'a Doubt,
    seen: Vec<(String, Vec<String>)>,
}

/// All doubts about these findings; empty without any.
#[must_use]
pub fn doubts(findings: &[Finding]) -> String {
    let mut raised: Vec<Raised<'_>> = Vec::new();
    let several_goals = findings
        .windows(2)
        .any(|two| two[0].frames == two[1].frames);
    for finding in findings {
        let subject = subject(finding, several_goals);
        for doubt in &finding.doubts {
            note(&mut raised, doubt, &subject);
        }
    }
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
    use mpps_method::{FrameSpec, Outcome, Rate, Span};

    fn finding(frames: &str, doubts: Vec<Doubt>) -> Finding {
        let lowest = Rate::from_fps(10_000.0);
        Finding {
            saturated: mpps_lab::saturation::Saturated::default(),
            receiver: None,
            frames: FrameSpec::parse_list(frames).expect("a size").remove(0),
            goal: None,
            conditional_throughput: None,
            irregular: None,
            outcome: Outcome::NoneLossless {
                lowest,
                trials: 1,
                voided: 0,
            },
            claim: None,
            passes: mpps_method::Passes::default(),
            trial: None,
            loss_above: None,
            why_lost: None,
            headroom: None,
            evenness: None,
            stability: mpps_method::Stability::Stable,
            ceiling: lowest,
            doubts,
        }
    }

    #[test]
    fn each_doubt_stands_once_with_what_was_seen_why_and_what_next() {
        let short = Doubt::ShortTrial {
            trial: Span::from_millis(200),
        };
        let steal = |share| Doubt::Steal { share };
        let text = doubts(&[
            finding("64", vec![short.clone(), steal(0.01)]),
            finding("imix", vec![short, steal(0.02)]),
            finding(
                "1518",
                vec![Doubt::ShortTrial {
                    trial: Span::from_millis(200),
                }],
            ),
        ]);
        let count = |wanted: &str| text.matches(wanted).count();
        assert_eq!(
            (count("trials of 200 ms"), count("next: --preset rfc2544")),
            (1, 1),
            "{text}"
        );
        assert!(
            !text.contains("(64, imix, 1518)"),
            "all sizes need no list: {text}"
        );
        assert!(
            text.contains("1.0 % of a CPU during a trial (64)"),
            "{text}"
        );
        assert!(
            text.contains("2.0 % of a CPU during a trial (imix)"),
            "{text}"
        );
        assert_eq!(count("why:"), 2, "{text}");
        assert_eq!(doubts(&[finding("64", Vec::new())]), "");
    }
}
