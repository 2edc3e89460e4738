//! The doubts of several results, points or curves, each once.

use mpps_record::{Answer, Answers, Doubt, Run};
use std::borrow::Cow;

/// Things seen that are told of one doubt, and subjects that are named for one of them. More are counted.
const TOLD_MAX: usize = 3;

/// One doubt with all that raised it.
#[derive(Debug)]
pub struct Raised<'a> {
    /// The doubt, as the first of the gravest that raised it has it.
    pub doubt: &'a Doubt,
    /// What was seen, the gravest first, and which subjects saw it so.
    pub seen: Vec<(&'a str, Vec<Cow<'a, str>>)>,
    /// Subjects in all, those without this doubt too.
    pub among: usize,
}

impl<'a> Raised<'a> {
    /// Each doubt of these subjects once, the gravest first.
    pub fn each<S: Into<Cow<'a, str>>, D: IntoIterator<Item = &'a Doubt>>(
        subjects: impl IntoIterator<Item = (S, D)>,
    ) -> Vec<Self> {
        let (mut all, mut among) = (Vec::new(), 0);
        for (subject, doubts) in subjects {
            among += 1;
            let subject = subject.into();
            all.extend(doubts.into_iter().map(|doubt| (subject.clone(), doubt)));
        }
        // Older records have no weights: then the order is the one in which doubts were raised.
        all.sort_by_key(|(_, doubt)| doubt.weight.unwrap_or(u32::MAX));
        let mut raised: Vec<Self> = Vec::new();
        for (subject, doubt) in all {
            match raised.iter_mut().find(|one| one.doubt.name == doubt.name) {
                Some(known) => known.note(subject, &doubt.seen),
                None => raised.push(Self {
                    doubt,
                    seen: vec![(&doubt.seen, vec![subject])],
                    among,
                }),
            }
        }
        raised
    }

    /// Each doubt of a run's lines.
    #[must_use]
    pub fn from_run(run: &'a Run) -> Vec<Self> {
        let searched = run.points.iter().flat_map(|point| &point.results);
        let answers = run.answers().into_iter();
        let doubted = answers.flat_map(Answers::doubted);
        Self::each(searched.map(Answer::doubted).chain(doubted))
    }

    /// What was seen, each with the subjects that saw it. Nothing is named where all saw the same.
    #[must_use]
    pub fn told(&self) -> String {
        let told = self.seen.iter().take(TOLD_MAX).map(|(seen, subjects)| {
            let (count, mut names) = (subjects.len(), subjects.clone());
            names.dedup();
            if count == self.among {
                (*seen).to_owned()
            } else if names.len() < count || count > TOLD_MAX {
                format!("{seen} (in {count} of {})", self.among)
            } else {
                format!("{seen} ({})", names.join(", "))
            }
        });
        let mut told: Vec<String> = told.collect();
        let more = self.seen.len().saturating_sub(TOLD_MAX);
        if more > 0 {
            told.push(format!("and {more} more"));
        }
        told.join("; ")
    }

    fn note(&mut self, subject: Cow<'a, str>, seen: &'a str) {
        match self.seen.iter_mut().find(|(known, _)| *known == seen) {
            Some((_, subjects)) => subjects.push(subject),
            None => self.seen.push((seen, vec![subject])),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn doubt(seen: &str) -> [Doubt; 1] {
        [Doubt {
            name: "slow".to_owned(),
            seen: seen.to_owned(),
            ..Doubt::default()
        }]
    }

    fn told(seen: &[(&str, &str)]) -> String {
        let doubts: Vec<(&str, [Doubt; 1])> = seen
            .iter()
            .map(|(name, seen)| (*name, doubt(seen)))
            .collect();
        let subjects = doubts.iter().map(|(name, doubts)| (*name, &doubts[..]));
        let raised = Raised::each(subjects.chain([("none", &[][..])]));
        raised[0].told()
    }

    #[test]
    fn each_thing_seen_is_told() {
        assert_eq!(
            told(&[("64", "2 void"), ("imix", "3 void"), ("1518", "2 void")]),
            "2 void (64, 1518); 3 void (imix)"
        );
        let points = [
            ("64", "a"),
            ("64", "a"),
            ("64", "b"),
            ("64", "c"),
            ("64", "d"),
        ];
        assert_eq!(told(&points), "a (in 2 of 6); b (64); c (64); and 1 more");
        let all = doubt("2 void");
        let raised = Raised::each([("64", &all[..]), ("imix", &all[..])]);
        assert_eq!(raised[0].told(), "2 void");
    }

    #[test]
    fn the_gravest_of_all_subjects_is_first() {
        let weighed = |name: &str, weight| {
            let [mut doubt] = doubt(&format!("{name} {weight}"));
            (doubt.name, doubt.weight) = (name.to_owned(), Some(weight));
            doubt
        };
        let (first, second) = (
            [weighed("lost", 209), weighed("void", 203)],
            [weighed("lost", 101)],
        );
        let raised = Raised::each([("64", &first[..]), ("imix", &second[..])]);
        let told: Vec<String> = raised.iter().map(Raised::told).collect();
        assert_eq!(told, ["lost 101 (imix); lost 209 (64)", "void 203 (64)"]);
        assert_eq!(raised[0].doubt.weight, Some(101));
    }
}
