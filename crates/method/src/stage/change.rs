//! What each part of a frame's time gained or lost between two profiles, or between two set-ups that take turns.
//!
//! Many parts are looked at, so each interval is widened by Bonferroni's rule: that all of a comparison hold together is
//! as likely as that one alone would.

use crate::statistics::{mean, student_t};

/// How often a comparison of two profiles may call a difference that is none.
const WRONG: f64 = 0.05;
/// Profiles of fewer trials have intervals from their samples, whose number is large.
const TRIALS_MIN: u32 = 3;
/// Fewer pairs say nothing of how far they scatter.
const PAIRS_MIN: usize = 3;

/// The time of one part in a profile, in ns per frame.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Spent {
    /// The time.
    pub ns: f64,
    /// Lower end of its 95 % interval.
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// Trials that the interval comes from.
    pub trials: u32,
}

/// The time that a part takes more in the second profile, in ns per frame.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Change {
    /// The difference.
    pub ns: f64,
    /// Lower end of its widened interval.
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// Whether there is a difference: the whole interval lies beyond what two profiles of one set-up differ by.
    pub seen: bool,
}

/// The changes of all parts, of the first profile and the second. Differences up to the share `alike` of a part are also
/// seen between two profiles of one set-up.
#[must_use]
pub fn changes(parts: &[(Spent, Spent)], alike: f64) -> Vec<Change> {
    let wrong = WRONG / parts.len().max(1) as f64;
    let change = |(one, other): &(Spent, Spent)| {
        let [(first, first_freedom), (second, second_freedom)] = [one, other].map(error);
        let squares = first.powi(2) + second.powi(2);
        // Welch and Satterthwaite.
        let apart = first.powi(4) / first_freedom + second.powi(4) / second_freedom;
        let freedom = if apart > 0.0 {
            squares.powi(2) / apart
        } else {
            f64::INFINITY
        };
        let half = student_t(freedom, wrong) * squares.sqrt();
        Change::new(other.ns - one.ns, half, alike * one.ns.max(other.ns))
    };
    parts.iter().map(change).collect()
}

/// The changes of all parts from pairs of neighbouring trials: for each part what it takes more in each pair, in ns per
/// frame. Drift of the machine meets both trials of a pair, so the interval is Student's over the differences. Those up to
/// `alike_ns` are also seen between two beds of one set-up. `None` with too few pairs.
#[must_use]
pub fn paired_changes(parts: &[Vec<f64>], alike_ns: f64) -> Option<Vec<Change>> {
    let pairs = parts.iter().map(Vec::len).min();
    let pairs = pairs.filter(|pairs| *pairs >= PAIRS_MIN)? as f64;
    let wrong = WRONG / parts.len() as f64;
    let times = student_t(pairs - 1.0, wrong);
    let change = |differences: &Vec<f64>| {
        let middle = mean(differences)?;
        let squares = differences.iter().map(|one| (one - middle).powi(2));
        let error = (squares.sum::<f64>() / (pairs - 1.0) / pairs).sqrt();
        Some(Change::new(middle, times * error, alike_ns))
    };
    parts.iter().map(change).collect()
}

impl Change {
    /// With an interval so far to both sides. Differences up to `none` are none.
    fn new(ns: f64, half: f64, none: f64) -> Self {
        let (low, high) = (ns - half, ns + half);
        Self {
            ns,
            low,
            high,
            seen: low > none || high < -none,
        }
    }
}

/// The standard error behind an interval, and its degrees of freedom.
fn error(spent: &Spent) -> (f64, f64) {
    let freedom = if spent.trials < TRIALS_MIN {
        f64::INFINITY
    } else {
        f64::from(spent.trials) - 1.0
    };
    // An interval that ends at 0 was cut there.
    let half = (spent.high - spent.ns).max(spent.ns - spent.low);
    (half / student_t(freedom, 0.05), freedom)
}

#[cfg(test)]
mod tests;
