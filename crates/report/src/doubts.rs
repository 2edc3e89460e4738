//! The doubts of several results, points or curves, each once.

use mpps_record::{Doubt, Run};

/// One doubt with all that raised it.
#[derive(Debug)]
pub struct Raised<'a> {
    /// The doubt, as the first that raised it has it.
    pub doubt: &'a Doubt,
    /// What was seen, and which subjects saw it so.
    pub seen: Vec<(&'a str, Vec<&'a str>)>,
}

impl<'a> Raised<'a> {
    /// Each doubt of these subjects once, the gravest first.
    pub fn each(subjects: impl IntoIterator<Item = (&'a str, &'a [Doubt])>) -> Vec<Self> {
        let mut raised: Vec<Self> = Vec::new();
        for (subject, doubts) in subjects {
            for doubt in doubts {
                match raised.iter_mut().find(|one| one.doubt.name == doubt.name) {
                    Some(known) => known.note(subject, &doubt.seen),
                    None => raised.push(Self {
                        doubt,
                        seen: vec![(&doubt.seen, vec![subject])],
                    }),
                }
            }
        }
        // Older records have no weights: then the order is the one in which doubts were raised.
        raised.sort_by_key(|raised| raised.doubt.weight.unwrap_or(u32::MAX));
        raised
    }

    /// Each doubt of a run's results, points and curves.
    #[must_use]
    pub fn of_run(run: &'a Run) -> Vec<Self> {
        let results = run.results.iter();
        let points = run.points.iter();
        let of_points = points.clone().flat_map(|point| &point.results);
        let results = results.chain(of_points).map(|result| &result.doubts);
        let points = points.map(|point| &point.doubts);
        let curves = run.curves.iter().map(|curve| &curve.doubts);
        let all = (results.chain(points).chain(curves))
            .chain(run.latencies.iter().map(|line| &line.doubts))
            .chain(run.bursts.iter().map(|line| &line.doubts))
            .chain(run.recoveries.iter().map(|line| &line.doubts))
            .chain(run.resets.iter().map(|line| &line.doubts));
        Self::each(all.map(|doubts| ("", doubts.as_slice())))
    }

    fn note(&mut self, subject: &'a str, seen: &'a str) {
        match self.seen.iter_mut().find(|(known, _)| *known == seen) {
            Some((_, subjects)) => subjects.push(subject),
            None => self.seen.push((seen, vec![subject])),
        }
    }
}
