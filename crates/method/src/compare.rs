//! Whether a variant of a DUT differs from another, and by how much, from trials of both in turns.
//!
//! Trials of two turns next to each other make a pair, because a CPU that slows down for seconds slows both. Only the
//! difference within a pair counts. The order of turns alternates, so a steady drift points both ways.
//!
//! The rule is fixed beforehand. There are at most ten looks, each after a fixed number of pairs that count, and one
//! more in place of the next when the time is spent. The interval of each look is wrong with a probability of its own,
//! and these add up to less than 5 %. So the interval at the end holds in 19 of 20 comparisons, whenever it ends.

mod signed_rank;

use crate::distance::Distance;
use crate::interval::Interval;
use crate::saturation::{self, Block, PAIR_WINDOWS_MIN};
use crate::statistics::median;
use crate::units::Rate;
use mpps_record::Pairs;
pub use mpps_record::known::{Finding, ToldBy};
pub(crate) use signed_rank::interval;

/// An interval of a difference is narrow enough when its half is this share of the difference.
const NARROW: f64 = 0.2;
/// Pairs at each look, and how often its interval may be wrong: together less than 5 %. Fewer than 8 pairs cannot be
/// that sure.
const LOOKS: [(usize, f64); 10] = [
    (8, 0.009),
    (12, 0.008),
    (18, 0.008),
    (28, 0.008),
    (40, 0.005),
    (60, 0.003),
    (90, 0.002),
    (136, 0.002),
    (200, 0.002),
    (300, 0.002),
];

/// More pairs at most, once the finding stands, for the cost at the fixed load.
const FIXED_MORE: u32 = 8;

/// Two trials of one variant, one right after the other.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Turn {
    /// At the lower overload.
    pub overload: Block,
    /// At the same load for all variants; one that overloads the DUT tells no cost there.
    pub fixed: Block,
}

/// By what rule two variants are compared; fixed before the first pair.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rule {
    /// What tells them apart.
    pub measure: ToldBy,
    /// A difference smaller than this share needs not be found.
    pub within: f64,
    /// Differences up to this share are also seen between two beds of the same set-up: they are none.
    pub alike: f64,
}

impl Rule {
    /// What such a change, as a share, means.
    pub(crate) fn finding(&self, Interval { low, high, .. }: Interval) -> Finding {
        let Self { within, alike, .. } = *self;
        match () {
            () if low > alike || high < -alike => Finding::Different,
            () if low >= -within && high <= within => Finding::NoDifference,
            () => Finding::NotDecided,
        }
    }
}

/// What pairs say of two variants. Intervals hold in 19 of 20 comparisons, however often was looked.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Compared {
    /// What was found.
    pub finding: Finding,
    /// By how much more the variant forwards at overload, as a share of the base's rate.
    pub rate: Option<Interval>,
    /// CPU time that a frame takes more at overload, ns.
    pub cost_ns: Option<Interval>,
    /// The same as a share of the base's.
    pub cost: Option<Interval>,
    /// CPU time that a frame takes more at the fixed load, ns.
    pub fixed_cost_ns: Option<Interval>,
    /// The pairs. Which of the two forwarded more decides nothing of which are left out.
    pub pairs: Pairs,
}

/// What one pair says.
#[derive(Clone, Copy, Debug)]
struct Differences {
    /// Logarithm of the rates' ratio.
    rate: f64,
    /// CPU times of a frame at overload, ns: the base's and the variant's.
    cost: Option<(f64, f64)>,
    /// CPU time more at the fixed load, ns.
    fixed_ns: Option<f64>,
    /// Whether the CPUs were at one distance in both trials at overload.
    at_one: bool,
}

/// A comparison under way, of a variant with the base.
#[derive(Clone, Debug)]
pub struct Comparison {
    rule: Rule,
    /// Comparisons that are told together: each may be wrong so many times less often.
    tests: u32,
    pairs: Vec<Differences>,
    left_out: Pairs,
    looks: usize,
    ended: Option<Compared>,
    /// Pairs taken since it has ended.
    more: u32,
}

impl Comparison {
    /// Begins without a pair.
    #[must_use]
    pub fn new(rule: Rule) -> Self {
        Self {
            rule,
            tests: 1,
            pairs: Vec::new(),
            left_out: Pairs::default(),
            looks: 0,
            ended: None,
            more: 0,
        }
    }

    /// One of so many: all their intervals together hold in 19 of 20 runs (Bonferroni).
    #[must_use]
    pub fn one_of(rule: Rule, tests: usize) -> Self {
        Self {
            tests: u32::try_from(tests.max(1)).unwrap_or(u32::MAX),
            ..Self::new(rule)
        }
    }

    /// Pairs with which the first look of one among so many comparisons can have an interval.
    #[must_use]
    pub fn pairs_min(tests: usize) -> usize {
        let differences = |pairs: usize| vec![0.0; pairs];
        let is_enough = |(pairs, wrong): &&(usize, f64)| {
            signed_rank::interval(&differences(*pairs), wrong / tests.max(1) as f64).is_some()
        };
        let look = LOOKS.iter().find(is_enough).or(LOOKS.last());
        look.map_or(0, |(pairs, _)| *pairs)
    }

    /// Adds two turns next to each other. Says whether the pair counts however often CPUs move in the others. Once the
    /// comparison has ended, a pair counts for the cost at the fixed load alone.
    pub fn add(&mut self, base: &Turn, variant: &Turn) -> bool {
        self.more += u32::from(self.ended.is_some());
        let added = differences(base, variant, self.rule.measure);
        match added {
            Ok(differences) => self.pairs.push(differences),
            Err(Unfit::Disturbed) => self.left_out.disturbed += 1,
            Err(Unfit::NotOverloaded) => self.left_out.not_overloaded += 1,
        }
        added.is_ok_and(|pair| pair.at_one)
    }

    /// Looks, where there are pairs enough for the next look. Says whether the comparison has ended.
    pub fn look(&mut self) -> bool {
        let due = LOOKS.get(self.looks);
        let Some(&(_, wrong)) = due.filter(|(pairs, _)| self.counting().count() >= *pairs) else {
            return self.ended.is_some();
        };
        if self.ended.is_none() {
            self.looks += 1;
            let compared = self.compared(wrong);
            let last = self.looks == LOOKS.len();
            self.ended = (last || self.is_enough(&compared)).then_some(compared);
        }
        self.ended.is_some()
    }

    /// Looks, as [`Self::look`] does. Says whether the comparison has ended and the cost at the fixed load is known too, or
    /// enough was tried for it.
    pub fn is_done(&mut self) -> bool {
        self.look() && !self.lacks_fixed()
    }

    /// Whether more pairs could tell a cost at the fixed load that those so far cannot.
    fn lacks_fixed(&self) -> bool {
        let by_now = self.compared(wrong_at(self.looks.saturating_sub(1)));
        // Where no pair tells it, busy times are unknown, or the load is too high for this machine.
        self.more < FIXED_MORE && by_now.pairs.fixed > 0 && by_now.fixed_cost_ns.is_none()
    }

    /// What was found, where the comparison has ended by itself; else what the pairs so far say, as the last look. The cost at
    /// the fixed load decides nothing, so it stands on all pairs.
    #[must_use]
    pub fn end(mut self) -> Compared {
        if let Some(ended) = self.ended.take() {
            let all = self.compared(wrong_at(self.looks.saturating_sub(1)));
            return Compared {
                fixed_cost_ns: all.fixed_cost_ns,
                pairs: Pairs {
                    fixed: all.pairs.fixed,
                    ..ended.pairs
                },
                ..ended
            };
        }
        let wrong = wrong_at(self.looks);
        self.looks += 1;
        self.compared(wrong)
    }

    /// The pairs whose CPUs were at one distance, where these are half of all or more. Where CPUs move all the time, all
    /// pairs: a machine that does not know which of the two is the base moves for both alike.
    fn counting(&self) -> impl Iterator<Item = &Differences> {
        let at_one = self.pairs.iter().filter(|pair| pair.at_one).count();
        let only_at_one = 2 * at_one >= self.pairs.len();
        self.pairs
            .iter()
            .filter(move |pair| pair.at_one || !only_at_one)
    }

    fn compared(&self, wrong: f64) -> Compared {
        let interval = |of: &dyn Fn(&Differences) -> Option<f64>| {
            let samples: Vec<f64> = self.counting().filter_map(of).collect();
            signed_rank::interval(&samples, wrong / f64::from(self.tests))
        };
        let counted = self.counting().count() as u32;
        let with_fixed = self.counting().filter(|pair| pair.fixed_ns.is_some());
        let fixed = with_fixed.count() as u32;
        let mut compared = Compared {
            rate: interval(&|pair| Some(pair.rate)).map(share),
            cost_ns: interval(&|pair| pair.cost.map(|(base, variant)| variant - base)),
            cost: interval(&|pair| pair.cost.map(|(base, variant)| (variant / base).ln()))
                .map(share),
            // Of less than half of the pairs it would be the cost of the fast states only.
            fixed_cost_ns: interval(&|pair| pair.fixed_ns).filter(|_| 2 * fixed >= counted),
            pairs: Pairs {
                counted,
                fixed,
                moved: self.counting().filter(|pair| !pair.at_one).count() as u32,
                distance: self.pairs.len() as u32 - counted,
                looks: self.looks as u32,
                ..self.left_out
            },
            finding: Finding::NotDecided,
        };
        compared.finding = self.finding(&compared);
        compared
    }

    fn decides(&self, compared: &Compared) -> Option<Interval> {
        match self.rule.measure {
            ToldBy::Rate => compared.rate,
            ToldBy::Cost => compared.cost,
        }
    }

    fn finding(&self, compared: &Compared) -> Finding {
        let decides = self.decides(compared);
        decides.map_or(Finding::NotDecided, |change| self.rule.finding(change))
    }

    /// Whether nothing more needs to be measured.
    fn is_enough(&self, compared: &Compared) -> bool {
        let Some(Interval { low, middle, high }) = self.decides(compared) else {
            return false;
        };
        match compared.finding {
            Finding::Different => (high - low) / 2.0 <= self.rule.within.max(NARROW * middle.abs()),
            Finding::NoDifference => true,
            Finding::NotDecided => false,
        }
    }
}

/// How often the interval of a look, counted from 0, may be wrong.
fn wrong_at(look: usize) -> f64 {
    LOOKS.get(look).map_or(0.0, |(_, wrong)| *wrong)
}

/// A logarithm of ratios as a share more.
pub(crate) fn share(Interval { low, middle, high }: Interval) -> Interval {
    Interval {
        low: low.exp_m1(),
        middle: middle.exp_m1(),
        high: high.exp_m1(),
    }
}

/// Why a pair does not count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Unfit {
    Disturbed,
    NotOverloaded,
}

fn differences(base: &Turn, variant: &Turn, measure: ToldBy) -> Result<Differences, Unfit> {
    let (one, other) = Block::in_one_state(&base.overload, &variant.overload);
    let overloads = (&one, &other);
    let (one, other) = rates(overloads).ok_or(Unfit::Disturbed)?;
    let both = is_overloaded(overloads.0, one) && is_overloaded(overloads.1, other);
    if measure == ToldBy::Rate && !both {
        return Err(Unfit::NotOverloaded);
    }
    let costs = |(base, variant): (&Block, &Block)| base.ns_per_frame.zip(variant.ns_per_frame);
    let cost = costs(overloads).filter(|(base, variant)| *base > 0.0 && *variant > 0.0);
    if measure == ToldBy::Cost && cost.is_none() {
        return Err(Unfit::Disturbed);
    }
    let (one_fixed, other_fixed) = Block::in_one_state(&base.fixed, &variant.fixed);
    let fixed = (&one_fixed, &other_fixed);
    let at_one = is_at_one(overloads);
    let is_like = is_at_one(fixed) || !at_one;
    // At overload batches are larger, and a frame is cheaper.
    let counts = is_like && !base.fixed.is_saturated() && !variant.fixed.is_saturated();
    let fixed_costs = rates(fixed).filter(|_| counts).and_then(|_| costs(fixed));
    Ok(Differences {
        at_one,
        rate: (other / one).ln(),
        cost,
        fixed_ns: fixed_costs.map(|(base, variant)| variant - base),
    })
}

/// Whether a trial in which the DUT forwarded at this rate, fps, offered it more.
#[must_use]
pub fn is_overloaded(block: &Block, rate: f64) -> bool {
    saturation::is_overload((block.sent, block.lost), rate)
}

/// Whether a load is more than a DUT took that forwarded at this rate, fps.
#[must_use]
pub fn is_overload(load: Rate, rate: f64) -> bool {
    saturation::is_overload((load, 0.0), rate)
}

/// What two trials forwarded in their undisturbed windows.
fn rates((one, other): (&Block, &Block)) -> Option<(f64, f64)> {
    rate(one).zip(rate(other))
}

/// Whether the CPUs were at one distance in both trials, as far as anybody knows.
fn is_at_one((one, other): (&Block, &Block)) -> bool {
    one.distance.with(other.distance) != Distance::Changed
}

/// The median rate of a trial's undisturbed windows, fps; `None` where there are too few, or where nothing was
/// forwarded.
#[must_use]
pub fn rate(block: &Block) -> Option<f64> {
    let rates = block.rates(false);
    // Where the receiver keeps no windows, the trial is one.
    let enough = rates.len() >= PAIR_WINDOWS_MIN.min(block.windows.len());
    median(&rates).filter(|rate| enough && *rate > 0.0)
}

#[cfg(test)]
mod tests;
