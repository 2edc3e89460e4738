//! The doubts: those that change how a result is read, a line each, the worst first; with `--verbose` all of them, with
//! why each matters and what to do next.

use mpps_report::doubts::Raised;
use mpps_report::{Described, Subjects};
use std::borrow::Cow;
use std::fmt::Write;

/// Lines of doubts at most, without `--verbose`; and lines of one doubt with it.
const LINES_MAX: usize = 8;

/// Columns of a doubt without `--verbose`.
const WIDTH: usize = 100;
const HEADING: &str = "\nDoubts\n";

/// What was seen, in so many columns: all of it, or its first clause, or that one without the
/// parenthesis that ends it, or its first words.
fn short<'a>(seen: &'a str, room: usize) -> Cow<'a, str> {
    let fits = |text: &str| text.chars().count() <= room;
    let first = |text: &'a str, end: &str| text.split(end).next().unwrap_or(text);
    let clause = first(seen, "; ");
    let bare = clause
        .strip_suffix(')')
        .and_then(|open| open.rsplit_once(" ("));
    let bare = bare.map_or(clause, |(bare, _)| bare);
    if let Some(whole) = [seen, clause, bare].into_iter().find(|text| fits(text)) {
        return whole.into();
    }
    let cut: String = clause.chars().take(room.saturating_sub(3)).collect();
    let words = cut
        .rsplit_once(' ')
        .map_or(cut.as_str(), |(words, _)| words);
    format!("{}...", words.trim_end_matches(',')).into()
}

/// Results, points or curves, and what there is to doubt about them.
pub struct Doubted<'a> {
    /// Each by its name, with its doubts.
    pub subjects: Subjects<'a>,
    /// What they are together: `points`.
    pub noun: &'static str,
    /// So many are named at most for one doubt. More are counted.
    pub named_max: usize,
    /// Doubts that the text above says already, by name.
    pub said: Vec<&'static str>,
}

impl<'a> Doubted<'a> {
    /// Of lines, below the text of their kind.
    pub fn new<L: Described>(lines: &'a [L]) -> Self {
        Self {
            subjects: L::subjects(lines),
            noun: L::NOUN,
            named_max: L::NAMED_MAX,
            said: L::said(lines),
        }
    }

    /// The doubts as lines; empty without any.
    pub fn lines(&self, verbose: bool) -> String {
        let raised = Raised::each(self.subjects.iter().cloned());
        if verbose {
            self.in_full(&raised)
        } else {
            self.in_short(raised)
        }
    }

    /// A line each, and in a line of their own those that hold for every result of such a bed.
    fn in_short(&self, mut raised: Vec<Raised<'_>>) -> String {
        raised.retain(|raised| !self.said.contains(&raised.doubt.name.as_str()));
        let footnotes = raised
            .iter()
            .filter_map(|one| one.doubt.footnote.as_deref());
        let footnotes = footnotes.collect::<Vec<_>>().join(", ");
        raised.retain(|raised| raised.doubt.footnote.is_none());
        let heading = if raised.is_empty() { "" } else { HEADING };
        let mut text = heading.to_owned();
        for Raised { seen, .. } in raised.iter().take(LINES_MAX) {
            let (what, first) = &seen[0];
            let similar: Vec<_> = seen[1..].iter().flat_map(|(_, all)| all.clone()).collect();
            let among = self.among(first, &similar);
            let room = WIDTH.saturating_sub("- ".len() + among.chars().count());
            let _ = writeln!(text, "- {}{among}", short(what, room));
        }
        if raised.len() > LINES_MAX {
            let _ = writeln!(text, "- and {} more (-v)", raised.len() - LINES_MAX);
        }
        if !footnotes.is_empty() {
            let _ = writeln!(
                text,
                "\nLimits of every such result: {footnotes} (docs/method.md)"
            );
        }
        text
    }

    /// Each with why it matters and what to do next.
    fn in_full(&self, raised: &[Raised<'_>]) -> String {
        let heading = if raised.is_empty() { "" } else { HEADING };
        let mut text = heading.to_owned();
        for Raised { doubt, seen, .. } in raised {
            for (what, subjects) in seen.iter().take(LINES_MAX) {
                let _ = writeln!(text, "- {what}{}", self.among(subjects, &[]));
            }
            if seen.len() > LINES_MAX {
                let more: usize = seen[LINES_MAX..].iter().map(|(_, all)| all.len()).sum();
                let _ = writeln!(text, "- similar at {more} more {} (--json)", self.noun);
            }
            let _ = writeln!(text, "    why:  {}\n    next: {}", doubt.why, doubt.next);
        }
        text
    }

    /// Which saw it: ` (64; similar: imix)`, ` (in 3 of 9 points)`; nothing where all saw the same. One of them can see it
    /// several times, as a comparison does for its variants.
    fn among(&self, first: &[Cow<'_, str>], similar: &[Cow<'_, str>]) -> String {
        let (seen, all) = (first.len() + similar.len(), self.subjects.len());
        match (seen == all, similar.is_empty()) {
            (true, true) => String::new(),
            _ if seen > all => format!(" (and {} similar)", similar.len()),
            _ if seen > self.named_max => {
                let similar = if similar.is_empty() { "" } else { "similar " };
                format!(" ({similar}in {seen} of {all} {})", self.noun)
            }
            (_, true) => format!(" ({})", first.join(", ")),
            (_, false) => format!(" ({}; similar: {})", first.join(", "), similar.join(", ")),
        }
    }
}

#[cfg(all(test, feature = "measure"))]
mod tests {
    use super::*;
    use crate::terminal::fixture::doubt;
    use mpps_lab::doubt::Weight;
    use mpps_record::doubts::TESTER_NEAR_CEILING;
    use mpps_record::{ComparisonLine, Doubt, ForwardingLimit, ResultLine};

    fn result(frame: &str, doubts: Vec<Doubt>) -> ResultLine {
        ResultLine {
            frame: frame.to_owned(),
            doubts,
            trials: 1,
            ..ResultLine::default()
        }
    }

    fn doubts(lines: &[ResultLine]) -> String {
        Doubted::new(lines).lines(false)
    }

    fn doubts_in_full(lines: &[ResultLine]) -> String {
        Doubted::new(lines).lines(true)
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
             \nLimits of every such result: trials shorter than RFC 2544's 60 s (docs/method.md)\n"
        );
        assert_eq!(doubts(&[result("64", Vec::new())]), "");
    }

    #[test]
    fn a_doubt_is_one_line_of_a_screen() {
        let text = |seen: &str| {
            let line = doubts(&[result("64", vec![doubt("steal", Weight::Shifted(7), seen)])]);
            let (_, line) = line.split_once("\n- ").expect("a doubt");
            line.trim_end().to_owned()
        };
        let (clause, whole) = ("a".repeat(60), "b ".repeat(49));
        assert_eq!(text(&format!("{clause}; b")), format!("{clause}; b"));
        assert_eq!(text(&format!("{clause}; {whole}")), clause);
        let cut = text(&format!("{clause}, {whole}"));
        assert!(cut.ends_with("b...") && cut.len() <= 98, "{cut}");
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
    fn many_that_saw_it_are_counted() {
        let near = |seen| [doubt("near", Weight::Unsure(6), seen)];
        let (one, two) = (near("1 is near"), near("2 is near"));
        let lines = |raised: usize, all: usize, verbose| {
            let subject = |place| match place {
                0 => ("first".into(), one.iter().collect()),
                place if place < raised => ("other".into(), two.iter().collect()),
                _ => ("without".into(), Vec::new()),
            };
            let doubted = Doubted {
                subjects: (0..all).map(subject).collect(),
                noun: "points",
                named_max: 1,
                said: Vec::new(),
            };
            doubted.lines(verbose)
        };
        assert_eq!(lines(1, 9, false), "\nDoubts\n- 1 is near (first)\n");
        let similar = "\nDoubts\n- 1 is near (similar in 4 of 9 points)\n";
        assert_eq!(lines(4, 9, false), similar);
        let full = lines(4, 9, true);
        assert!(full.contains("- 2 is near (in 3 of 9 points)\n"), "{full}");
    }

    #[test]
    fn a_comparison_may_see_a_doubt_thrice() {
        let near = ["a is near", "b is near", "c is near"];
        let line = ComparisonLine {
            doubts: near
                .map(|seen| doubt("near", Weight::Unsure(6), seen))
                .into(),
            ..ComparisonLine::default()
        };
        let doubted = Doubted {
            named_max: 1,
            ..Doubted::new(std::slice::from_ref(&line))
        };
        assert_eq!(
            doubted.lines(false),
            "\nDoubts\n- a is near (and 2 similar)\n"
        );
    }
}
