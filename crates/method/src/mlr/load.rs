//! What the trials at one load come to: Load Classification and Conditional Throughput, as the code in
//! RFC 9971's appendices has them. (Where that document's example tables differ from its code, at
//! points 5 and 6 for the goal that lets 20 % exceed, the code is right.)

use super::goal::Stage;
use crate::search::Passes;
use crate::units::{Rate, Span};

/// What is known of one trial (Trial Result); its effective duration is its duration.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TrialResult {
    /// Trial Duration.
    pub duration: Span,
    /// Trial Loss Ratio, 0 to 1.
    pub loss_ratio: f64,
}

/// Load Classification.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    /// The load upholds the goal, whatever trials may still come up to the duration sum.
    Lower,
    /// The load fails the goal, whatever trials may still come up to the duration sum.
    Upper,
    /// More trials are needed.
    Undecided,
}

/// The four sums the classification is made of, ns. The RFC's code adds seconds; whole nanoseconds add up
/// without rounding, so that five trials of 0.9 s are as long as they are.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Sums {
    full_length_low_loss_ns: f64,
    full_length_high_loss_ns: f64,
    short_low_loss_ns: f64,
    short_high_loss_ns: f64,
}

/// Slack of a comparison, ns. Durations are whole nanoseconds, so what lies within it is a float's rounding of
/// the exceed ratio: one of ten trials is 10 %, whatever 0.1 is in binary.
const ROUNDING_NS: f64 = 0.01;

/// All trials at one load.
#[derive(Clone, Debug, PartialEq)]
pub struct Load {
    /// The load, over all directions.
    pub rate: Rate,
    results: Vec<TrialResult>,
    /// Trials in which the tester failed to offer it, since one at this load or above was judged.
    pub not_offered: u32,
    /// Trials at it that were disturbed for too long, since one was judged here or above.
    pub disturbed: u32,
    /// The most that came back when it failed: about what the tester can offer.
    pub carried: Rate,
    /// Trials in a row that were no evidence.
    pub invalid: u32,
}

impl Load {
    /// A load without a trial.
    #[must_use]
    pub const fn new(rate: Rate) -> Self {
        Self {
            rate,
            results: Vec::new(),
            not_offered: 0,
            disturbed: 0,
            carried: Rate::ZERO,
            invalid: 0,
        }
    }

    /// Adds a trial that says something of the DUT.
    pub fn add(&mut self, result: TrialResult) {
        self.results.push(result);
        (self.not_offered, self.disturbed, self.invalid) = (0, 0, 0);
    }

    /// Whether it has a trial that says something of the DUT.
    #[must_use]
    pub const fn is_judged(&self) -> bool {
        !self.results.is_empty()
    }

    fn sums(&self, stage: &Stage) -> Sums {
        let sum = |wanted: (bool, bool)| {
            let of = self.results.iter().filter(|trial| {
                let full_length = trial.duration >= stage.trial;
                let high_loss = trial.loss_ratio > stage.loss_ratio;
                (full_length, high_loss) == wanted
            });
            of.map(|trial| trial.duration.as_nanos() as f64).sum()
        };
        Sums {
            full_length_low_loss_ns: sum((true, false)),
            full_length_high_loss_ns: sum((true, true)),
            short_low_loss_ns: sum((false, false)),
            short_high_loss_ns: sum((false, true)),
        }
    }

    /// What the trials of at least this length said, by this loss ratio.
    #[must_use]
    pub fn passes(&self, loss_ratio: f64, trial: Span) -> Passes {
        let judged = self.results.iter().filter(|one| one.duration >= trial);
        let low_loss = judged.clone().filter(|one| one.loss_ratio <= loss_ratio);
        Passes {
            lossless: u32::try_from(low_loss.count()).unwrap_or(u32::MAX),
            judged: u32::try_from(judged.count()).unwrap_or(u32::MAX),
        }
    }

    /// Length of the longest trial within this loss ratio; `None` without one.
    #[must_use]
    pub fn longest_pass(&self, loss_ratio: f64) -> Option<Span> {
        let low_loss = self
            .results
            .iter()
            .filter(|one| one.loss_ratio <= loss_ratio);
        low_loss.map(|one| one.duration).max()
    }

    /// RFC 9971, appendix "Load Classification Code". A load without a trial is undecided.
    #[must_use]
    pub fn classify(&self, stage: &Stage) -> Bound {
        if self.results.is_empty() {
            return Bound::Undecided;
        }
        let sums = self.sums(stage);
        // Short high-loss trials weigh only as far as short low-loss ones do not make up for them.
        let exceed_coefficient = stage.exceed_ratio / (1.0 - stage.exceed_ratio);
        let balancing_ns = sums.short_low_loss_ns * exceed_coefficient;
        let positive_excess_ns = (sums.short_high_loss_ns - balancing_ns).max(0.0);
        let effective_high_loss_ns = sums.full_length_high_loss_ns + positive_excess_ns;
        let effective_full_length_ns = sums.full_length_low_loss_ns + effective_high_loss_ns;
        let effective_whole_ns = effective_full_length_ns.max(stage.duration_sum.as_nanos() as f64);
        let quantile_duration_ns = effective_whole_ns * stage.exceed_ratio + ROUNDING_NS;
        // What is missing of the whole would be all high-loss, or all low-loss.
        let pessimistic_high_loss_ns = effective_whole_ns - sums.full_length_low_loss_ns;
        let pessimistic_is_lower = pessimistic_high_loss_ns <= quantile_duration_ns;
        let optimistic_is_lower = effective_high_loss_ns <= quantile_duration_ns;
        match (optimistic_is_lower, pessimistic_is_lower) {
            (true, true) => Bound::Lower,
            (false, false) => Bound::Upper,
            _ => Bound::Undecided,
        }
    }

    /// RFC 9971, appendix "Conditional Throughput Code": the loss ratio that all but the exceed ratio's share
    /// of the time stays within. Conditional Throughput is the load less this share. `None` without a trial.
    #[must_use]
    pub fn quantile_loss_ratio(&self, stage: &Stage) -> Option<f64> {
        if self.results.is_empty() {
            return None;
        }
        let mut full_length: Vec<&TrialResult> = self
            .results
            .iter()
            .filter(|trial| trial.duration >= stage.trial)
            .collect();
        full_length.sort_by(|one, other| one.loss_ratio.total_cmp(&other.loss_ratio));
        let sums = self.sums(stage);
        let full_length_ns = sums.full_length_low_loss_ns + sums.full_length_high_loss_ns;
        let whole_ns = full_length_ns.max(stage.duration_sum.as_nanos() as f64);
        let mut remaining_ns = whole_ns * (1.0 - stage.exceed_ratio);
        let mut quantile = None;
        for trial in full_length {
            if quantile.is_some() && remaining_ns <= ROUNDING_NS {
                return quantile;
            }
            quantile = Some(trial.loss_ratio);
            remaining_ns -= trial.duration.as_nanos() as f64;
        }
        // Trials that are missing count as if they had lost everything.
        if remaining_ns > ROUNDING_NS {
            quantile = Some(1.0);
        }
        quantile
    }

    /// Where the highest load within a loss ratio may lie, after this one has failed: at what came back of it
    /// at best (of which the goal may lose its share again), or at what the tester carried of it.
    #[must_use]
    pub fn hint(&self, loss_ratio: f64) -> Rate {
        match self.best_forwarding_ratio() {
            Some(ratio) => Rate::from_fps(self.rate.fps() * ratio / (1.0 - loss_ratio)),
            None => self.carried,
        }
    }

    /// Largest share of the frames that came back in any trial; `None` without one.
    fn best_forwarding_ratio(&self) -> Option<f64> {
        let ratios = self.results.iter().map(|trial| 1.0 - trial.loss_ratio);
        ratios.max_by(f64::total_cmp)
    }
}
