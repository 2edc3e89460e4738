//! A screen: many two-level factors at once, in runs of which each changes about half of them (Plackett and Burman,
//! 1946), and the same runs with all levels exchanged (fold-over). A block is all of these runs once.
//!
//! The response is the cost of a frame in ns, and not its logarithm: a frame passes one stage after the other, so costs
//! of settings add up. On a logarithmic scale two settings that add 300 ns each would seem to interact.
//!
//! Each block says one number for each effect, free of what the other factors do and of what two of them do together.
//! The interval is that of these numbers over blocks, so its error comes from repeats, whatever the noise looks like.
//! Columns without a factor are placebos.

mod turns;

use crate::compare::{Compared, Finding, Rule, interval, share};
use crate::interval::Interval;
use crate::random::Random;
pub use turns::{InOneState, in_one_state, whole_blocks};

/// Primes one less than a multiple of 4: a design has one run more (Paley).
const PRIMES: [usize; 11] = [11, 19, 23, 31, 43, 47, 59, 67, 71, 79, 83];
/// Columns without a factor that a design has at least.
pub const PLACEBOS_MIN: usize = 2;
/// How often any of the intervals may be wrong.
const WRONG: f64 = 0.05;
/// Interactions that are looked for, the largest first.
const INTERACTIONS_MAX: usize = 5;

/// Which factor is at which level in which run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Design {
    prime: usize,
    factors: usize,
}

/// Part of a frame's cost that is left at least, whatever effects are subtracted.
const LEAST_SHARE: f64 = 0.05;

/// Two factors, by their columns.
pub type Pair = (usize, usize);

/// Two settings that do not add.
#[derive(Clone, Debug, PartialEq)]
pub struct Interaction {
    /// The two.
    pub pair: Pair,
    /// The effect of one with the other at its second level, less that at its first, halved, ns.
    pub ns: Interval,
    /// Pairs that show the same to this share, -1 to 1: it may be one of these.
    pub aliases: Vec<(Pair, f64)>,
}

/// The cost of a frame with all settings as they stand. With half of the others at another level, the same effect would be
/// a smaller share of a greater cost.
#[derive(Clone, Debug)]
pub struct AsItStands {
    /// The cost, ns.
    pub ns: f64,
    /// Whether each factor stands at its second level.
    pub at_second: Vec<bool>,
}

impl AsItStands {
    /// The cost with a column at its first level, where the second costs so much more.
    fn first(&self, column: usize, more: f64) -> f64 {
        match self.at_second.get(column) {
            Some(true) => (self.ns - more).max(LEAST_SHARE * self.ns),
            Some(false) | None => self.ns.max(LEAST_SHARE * self.ns - more),
        }
    }
}

/// What a screen says.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Screened {
    /// Of each column: its second level against its first, the others averaged; those of the factors come first, then
    /// the placebos.
    pub effects: Vec<Compared>,
    /// Pairs of factors that do not add, the largest first.
    pub interactions: Vec<Interaction>,
    /// Whether there are blocks enough to find interactions.
    pub tells_interactions: bool,
}

impl Design {
    /// The smallest one that holds so many factors and two placebos. `None`: there are too many.
    #[must_use]
    pub fn new(factors: usize) -> Option<Self> {
        let holds = |prime: &&usize| **prime >= factors + PLACEBOS_MIN;
        let prime = *PRIMES.iter().find(holds)?;
        Some(Self { prime, factors })
    }

    /// Its columns: factors, then placebos.
    #[must_use]
    pub const fn columns(&self) -> usize {
        self.prime
    }

    /// Its factors.
    #[must_use]
    pub const fn factors(&self) -> usize {
        self.factors
    }

    /// Runs of a block, the exchanged ones included.
    #[must_use]
    pub const fn runs(&self) -> usize {
        2 * (self.prime + 1)
    }

    /// The order of a block's runs.
    #[must_use]
    pub fn order(&self, block: usize, seed: u64) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.runs()).collect();
        // Blocks of one seed differ, and each is the same whichever block a resumed run begins with.
        let mut random = Random::from_seed(seed.wrapping_add(block as u64));
        random.shuffle(&mut order);
        order
    }

    /// Whether a column is at its second level in a run.
    #[must_use]
    pub fn is_second(&self, run: usize, column: usize) -> bool {
        let (row, exchanged) = (run % (self.prime + 1), run > self.prime);
        let place = (row + column) % self.prime;
        let is_square = (0..=self.prime / 2).any(|root| root * root % self.prime == place);
        (row < self.prime && is_square) != exchanged
    }

    fn sign(&self, run: usize, column: usize) -> f64 {
        if self.is_second(run, column) {
            1.0
        } else {
            -1.0
        }
    }

    /// What the responses of a block change by when this product of columns goes from -1 to 1.
    fn contrast(&self, responses: &[f64], columns: &[usize]) -> f64 {
        let signed = responses.iter().enumerate().map(|(run, response)| {
            let signs = columns.iter().map(|column| self.sign(run, *column));
            response * signs.product::<f64>()
        });
        2.0 * signed.sum::<f64>() / responses.len().max(1) as f64
    }

    /// How much of one pair's interaction another pair shows, -1 to 1.
    #[must_use]
    pub fn alias(&self, one: Pair, other: Pair) -> f64 {
        let pure = |run: usize| self.sign(run, one.0) * self.sign(run, one.1);
        let pure: Vec<f64> = (0..self.runs()).map(pure).collect();
        self.contrast(&pure, &[other.0, other.1]) / 2.0
    }

    /// All pairs of factors.
    #[must_use]
    pub fn pairs(&self) -> Vec<Pair> {
        let with = |one| (one + 1..self.factors).map(move |other| (one, other));
        (0..self.factors).flat_map(with).collect()
    }

    /// Intervals that it says: of columns, and of pairs of factors.
    #[must_use]
    pub fn tests(&self) -> usize {
        self.columns() + self.pairs().len()
    }

    /// What whole blocks say: of each the cost of a frame in each run, ns. Shares are of the cost as all others stand. All
    /// effects are judged by `rule`. They and the interactions are some of so many `tests` that hold together in 19 of 20
    /// runs.
    #[must_use]
    pub fn screened(
        &self,
        blocks: &[Vec<f64>],
        stands: Option<&AsItStands>,
        rule: Rule,
        tests: usize,
    ) -> Screened {
        let wrong = WRONG / tests.max(1) as f64;
        let effect = |column| self.effect(blocks, column, stands, (rule, wrong));
        Screened {
            effects: (0..self.columns()).map(effect).collect(),
            interactions: self.interactions(blocks, wrong),
            tells_interactions: interval(&vec![0.0; blocks.len()], wrong).is_some(),
        }
    }

    fn effect(
        &self,
        blocks: &[Vec<f64>],
        column: usize,
        stands: Option<&AsItStands>,
        (rule, wrong): (Rule, f64),
    ) -> Compared {
        let ns = |block: &Vec<f64>| self.contrast(block, &[column]);
        let ratio = |block: &Vec<f64>| {
            let more = ns(block);
            let mean = || block.iter().sum::<f64>() / block.len() as f64;
            let first = stands.map_or_else(|| mean() - more / 2.0, |bed| bed.first(column, more));
            ((first + more) / first).ln()
        };
        let ratios: Vec<f64> = blocks.iter().map(ratio).collect();
        let ratio = interval(&ratios, wrong);
        let ns: Vec<f64> = blocks.iter().map(ns).collect();
        // A saturated router forwards as many frames as its time allows: the rate is the inverse of the cost.
        let rate = ratio.map(|Interval { low, middle, high }| Interval {
            low: -high,
            middle: -middle,
            high: -low,
        });
        let cost = ratio.map(share);
        Compared {
            finding: cost.map_or(Finding::NotDecided, |cost| rule.finding(cost)),
            rate: rate.map(share),
            cost_ns: interval(&ns, wrong),
            cost,
            ..Compared::default()
        }
    }

    /// The largest contrast that cannot be chance is told, and taken out of the responses before the next is looked for,
    /// because its aliases show a part of it.
    fn interactions(&self, blocks: &[Vec<f64>], wrong: f64) -> Vec<Interaction> {
        let mut blocks = blocks.to_vec();
        let mut found: Vec<Interaction> = Vec::new();
        let pairs = self.pairs();
        while found.len() < INTERACTIONS_MAX {
            let contrast = |pair: &Pair| {
                let each = blocks
                    .iter()
                    .map(|block| self.contrast(block, &[pair.0, pair.1]));
                let ns = interval(&each.collect::<Vec<f64>>(), wrong)?;
                (ns.low * ns.high > 0.0).then_some((*pair, ns))
            };
            let seen = pairs.iter().filter_map(contrast);
            let largest = seen.max_by(|(_, a), (_, b)| a.middle.abs().total_cmp(&b.middle.abs()));
            let Some((pair, ns)) = largest else {
                break;
            };
            for block in &mut blocks {
                for (run, response) in block.iter_mut().enumerate() {
                    *response -= ns.middle / 2.0 * self.sign(run, pair.0) * self.sign(run, pair.1);
                }
            }
            let aliases = pairs.iter().filter(|other| **other != pair);
            let aliases = aliases.map(|other| (*other, self.alias(pair, *other)));
            let aliases = aliases.filter(|(_, share)| share.abs() > 1e-9).collect();
            found.push(Interaction { pair, ns, aliases });
        }
        found
    }
}

/// Blocks with which one of so many effects can have an interval.
#[must_use]
pub fn blocks_min(tests: usize) -> usize {
    let wrong = WRONG / tests.max(1) as f64;
    let is_enough = |blocks: &usize| interval(&vec![0.0; *blocks], wrong).is_some();
    (1..).find(is_enough).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests;
