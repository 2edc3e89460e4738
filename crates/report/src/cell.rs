//! A cell of a campaign: what became of it, and its rates.

use crate::answers;
use crate::doubts::Raised;
use crate::factorial::{self, Grid};
use crate::headline::{at_least_forwarded, is_bound};
use crate::number;
use crate::row::{Reading, Row};
use mpps_record::{
    CellLine, ComparisonLine, Difference, Finding, Interval, LoadLine, ProfileLine, Published,
    RateIs, ResultLine, Run,
};

/// A cell with its run.
#[derive(Clone, Copy, Debug)]
pub struct MeasuredCell<'a> {
    /// What it is.
    pub line: &'a CellLine,
    /// Its run; `None` where it was not run, or the files lack it.
    pub run: Option<&'a Run>,
}

/// A rate of a cell beside the published one.
#[derive(Clone, Debug, Default)]
pub struct Rate<'a> {
    /// The frame size, as records have it.
    pub size: &'a str,
    /// The same as people read it, with what else the rate is of.
    pub frame: String,
    /// What was forwarded at most here.
    pub here: Option<Interval<f64>>,
    /// Whether that is a bound from below.
    pub is_bound: bool,
    /// The rate without loss, behind the sign of a bound.
    pub lossless: Reading,
    /// What limited it.
    pub limit: Option<String>,
    /// The published figure.
    pub published: Option<&'a Published>,
}

/// What became of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// It was measured.
    Measured,
    /// Not all that it asks is known.
    Undecided,
    /// Its run failed.
    Failed,
    /// It was not run.
    NotRun,
}

impl<'a> MeasuredCell<'a> {
    /// What became of it.
    #[must_use]
    pub const fn state(&self) -> State {
        match (&self.line.not_run, self.line.exit_code) {
            (Some(_), _) => State::NotRun,
            // 1: an expectation was not met, or no load was without loss.
            (None, Some(0 | 1)) => State::Measured,
            (None, Some(4)) => State::Undecided,
            (None, _) => State::Failed,
        }
    }

    /// Why it has no answer, or not all of it.
    #[must_use]
    pub fn failure(&self) -> Option<String> {
        let ended = self.run.and_then(|run| run.end.as_ref()?.error.clone());
        let said = self.line.error.clone().or(ended);
        let said = |or: &str| said.unwrap_or(or.to_owned());
        match self.state() {
            State::NotRun => self.line.not_run.clone(),
            State::Measured => None,
            State::Undecided => Some(said(&self.unknown())),
            State::Failed => Some(said("its run ended early")),
        }
    }

    /// What its run could not tell.
    fn unknown(&self) -> String {
        let Some(run) = self.run else {
            return "not all of it is known".to_owned();
        };
        let results = &run.results;
        let without_rate = results.iter().filter(|line| line.rate_fps.is_none());
        let unconfirmed = (results.iter()).filter(|line| line.rate_is == Some(RateIs::Unconfirmed));
        // The first variant is what the others are compared with.
        let others = (run.comparisons.iter()).flat_map(|line| line.variants.iter().skip(1));
        let is_open = |of: &Difference| of.finding == Finding::NotDecided;
        let others: Vec<bool> = others
            .map(|one| one.difference.as_ref().is_none_or(is_open))
            .collect();
        let undecided = others.iter().filter(|is_open| **is_open);
        let counted = [
            (
                without_rate.count(),
                results.len(),
                "rates without loss are unknown",
            ),
            (
                unconfirmed.count(),
                results.len(),
                "rates without loss are not confirmed",
            ),
            (
                undecided.count(),
                others.len(),
                "differences are not decided",
            ),
        ];
        let told: Vec<String> = (counted.into_iter())
            .filter(|(count, ..)| *count > 0)
            .map(|(count, of, what)| format!("{count} of {of} {what}"))
            .collect();
        match told.is_empty() {
            true => "not all of it is known".to_owned(),
            false => told.join(", "),
        }
    }

    /// The rates of its run by frame size, and published ones without a run.
    #[must_use]
    pub fn rates(&self) -> Vec<Rate<'a>> {
        let published = |frame: &str| {
            let mut all = self.line.published.iter();
            all.find(|figure| figure.frame == frame)
        };
        let mut rates: Vec<Rate<'a>> = Vec::new();
        if let Some(run) = self.run {
            let results = run.results.iter().zip(Row::each(&run.results));
            rates.extend(results.map(|(line, row)| result_rate(line, &row)));
            rates.extend(run.comparisons.iter().map(comparison_rate));
            rates.extend(run.profiles.iter().map(profile_rate));
            rates.extend(run.loads.iter().map(load_rate));
        }
        for rate in &mut rates {
            rate.published = published(rate.size);
        }
        let is_new = |figure: &&Published| rates.iter().all(|rate| rate.size != figure.frame);
        let more: Vec<Rate<'a>> = (self.line.published.iter().filter(is_new))
            .map(|figure| Rate {
                size: &figure.frame,
                frame: number::frame(&figure.frame),
                published: Some(figure),
                ..Rate::default()
            })
            .collect();
        rates.into_iter().chain(more).collect()
    }

    /// Its rates by the levels of its factors, where it has any.
    #[must_use]
    pub fn grid(&self) -> Option<Grid> {
        factorial::of_cell(self.line, self.run)
    }

    /// What is said beside its rates: why it has none, its answer in sentences, how many doubts and the gravest.
    #[must_use]
    pub fn told(&self) -> Vec<String> {
        let mut told: Vec<String> = self.failure().into_iter().collect();
        if self.state() == State::NotRun {
            told[0] = format!("not run: {}", told[0]);
        }
        if let Some(run) = self.run {
            if answers::is_answered(run) {
                let answers = answers::sentences(run);
                told.extend(
                    answers
                        .iter()
                        .map(|told| told.trim_end_matches('.').to_owned()),
                );
            }
            let levels = self.line.factors.iter().flat_map(|factor| &factor.levels);
            told.extend(levels.filter_map(|level| {
                let why = level.not_run.as_ref()?;
                Some(format!("{} cannot be tested here: {why}", level.name))
            }));
            let mut doubts = Raised::from_run(run);
            // Footnotes hold for every result of such a bed.
            doubts.retain(|one| one.doubt.footnote.is_none());
            if let [gravest, ..] = &doubts[..] {
                let count = number::plural(doubts.len(), "doubt");
                let seen = &gravest.doubt.seen;
                told.push(format!(
                    "{count} (mpps show -v prints all), the gravest: {seen}"
                ));
            }
        }
        told
    }

    pub(crate) fn rows(&self) -> Vec<Vec<String>> {
        let dash = || "-".to_owned();
        let whole = |fps: f64| number::grouped(fps.round() as u64);
        let mut told = self.told().join("; ");
        let row = |rate: Rate<'_>| {
            let here = rate.here.map(|here| rate.in_words(here, whole));
            let ends = rate.here.filter(|_| !rate.is_bound);
            let ends = ends.map(|here| [here.low, here.high].map(whole).join(" to "));
            let [lossless, published, ratio, limit] = rate.beside(whole);
            vec![
                self.line.cell.clone(),
                self.line.title.clone(),
                rate.frame,
                here.unwrap_or_else(dash),
                ends.unwrap_or_else(dash),
                published,
                ratio,
                lossless,
                limit,
                std::mem::take(&mut told),
            ]
        };
        let mut rates = self.rates();
        if rates.is_empty() {
            rates.push(Rate {
                frame: dash(),
                ..Rate::default()
            });
        }
        rates.into_iter().map(row).collect()
    }
}

impl Rate<'_> {
    /// What passes without loss, what was published, what is forwarded here by that, and the limit; a dash for what is
    /// not known. `words` writes frames/s.
    pub fn beside(&self, words: fn(f64) -> String) -> [String; 4] {
        let lossless = self.lossless.in_cell(words);
        let published = self.published.map(|figure| words(figure.frames_per_s));
        let ratio = self.by_published();
        let ratio = ratio.map(|ratio| self.in_words(ratio, |ratio| format!("{ratio:.2}")));
        [lossless, published, ratio, self.limit.clone()]
            .map(|told| told.unwrap_or_else(|| "-".to_owned()))
    }

    /// What is forwarded here by what was published.
    #[must_use]
    pub fn by_published(&self) -> Option<Interval<f64>> {
        let (here, published) = (self.here?, self.published?.frames_per_s);
        (published > 0.0).then(|| Interval {
            low: here.low / published,
            median: here.median / published,
            high: here.high / published,
        })
    }

    /// Its median, or the end that it is a bound by.
    #[must_use]
    pub fn in_words(&self, of: Interval<f64>, words: impl Fn(f64) -> String) -> String {
        match self.is_bound {
            true => format!("≥ {}", words(of.low)),
            false => words(of.median),
        }
    }
}

fn result_rate<'a>(line: &'a ResultLine, row: &Row<'_>) -> Rate<'a> {
    let mut here = row.overload.max_forwarding_fps.map(Interval::from);
    if let (Some(here), Some(least)) = (&mut here, at_least_forwarded(row)) {
        here.low = least as f64;
    }
    Rate {
        size: &line.frame,
        frame: row.name.clone(),
        here,
        is_bound: is_bound(row),
        lossless: row.reading(),
        limit: Some(row.limit().to_owned()),
        published: None,
    }
}

/// The last variant is what the cell is about.
fn comparison_rate(line: &ComparisonLine) -> Rate<'_> {
    let last = line.variants.last();
    let name = last.map_or("", |variant| &variant.name);
    Rate {
        size: &line.frame,
        frame: format!("{}, {name}", number::frame(&line.frame)),
        here: last
            .and_then(|last| last.forwarding_fps)
            .map(Interval::from),
        ..Rate::default()
    }
}

fn profile_rate(line: &ProfileLine) -> Rate<'_> {
    Rate {
        size: &line.frame,
        frame: number::frame(&line.frame),
        here: line.loads.first().map(|load| load.forwarding_fps),
        limit: line.limited_by.as_ref().map(ToString::to_string),
        ..Rate::default()
    }
}

/// The range of its trials.
fn load_rate(line: &LoadLine) -> Rate<'_> {
    let trials = line.trials.iter().filter_map(|trial| trial.forwarding_fps);
    let mut all: Vec<f64> = trials.collect();
    all.sort_by(f64::total_cmp);
    let here = all.first().zip(all.last()).map(|(&low, &high)| Interval {
        low,
        median: all[all.len() / 2],
        high,
    });
    Rate {
        size: &line.frame,
        frame: format!("{}, {}", number::frame(&line.frame), line.load),
        here,
        ..Rate::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mpps_record::Variant;

    #[test]
    fn a_cell_that_is_not_decided_says_what_it_lacks() {
        let result = |rate_fps, rate_is| ResultLine {
            rate_fps,
            rate_is,
            ..ResultLine::default()
        };
        let variant = |finding: Option<Finding>| Variant {
            difference: finding.map(|finding| Difference {
                finding,
                ..Difference::default()
            }),
            ..Variant::default()
        };
        let compared = [
            None,
            None,
            Some(Finding::NotDecided),
            Some(Finding::Different),
        ];
        let run = Run {
            results: vec![
                result(None, None),
                result(Some(1), Some(RateIs::Unconfirmed)),
                result(Some(1), Some(RateIs::Equal)),
            ],
            comparisons: vec![ComparisonLine {
                variants: compared.map(variant).into(),
                ..ComparisonLine::default()
            }],
            ..Run::default()
        };
        let line = CellLine {
            exit_code: Some(4),
            ..CellLine::default()
        };
        let failure = |run| MeasuredCell { line: &line, run }.failure();
        let wanted = "1 of 3 rates without loss are unknown, 1 of 3 rates without loss are not confirmed, \
                      2 of 3 differences are not decided";
        assert_eq!(failure(Some(&run)).as_deref(), Some(wanted));
        assert_eq!(failure(None).as_deref(), Some("not all of it is known"));
    }
}
