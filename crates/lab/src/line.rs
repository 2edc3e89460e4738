//! Values of the method and findings of the lab, as the lines of a record have them.

mod losses;
mod overload;
mod result;
mod traffic;
mod trial;
mod windows;

pub(crate) use overload::{frame_cost, load_above};
pub(crate) use result::result;
pub use result::results_not_measured;
pub(crate) use traffic::replayed_file;
pub use traffic::{routes, traffic};
pub use trial::trial;
pub use windows::block_of_line;

use crate::doubt::Doubt;
use mpps_method::compare::{Compared, ToldBy};
use mpps_method::interval::Interval;
use mpps_method::{Histogram, Rate, Verdict, histogram};
use mpps_record::{self as record, Difference};

/// The record's word for what limits, which may be one that this version does not know.
pub(crate) fn limited_by(by: mpps_method::LimitedBy) -> record::LimitedBy {
    by.into()
}

/// The word for a verdict.
#[must_use]
pub const fn verdict(verdict: &Verdict) -> record::Verdict {
    match verdict {
        Verdict::Lossless => record::Verdict::Lossless,
        Verdict::Lossy { .. } => record::Verdict::Lossy,
        Verdict::NotOffered(_) => record::Verdict::NotOffered,
        Verdict::Invalid(_) => record::Verdict::Invalid,
        Verdict::Void(_) => record::Verdict::Void,
    }
}

/// The entries of doubts.
#[must_use]
pub fn doubts(doubts: &[Doubt]) -> Vec<record::Doubt> {
    doubts.iter().map(doubt).collect()
}

/// The entry of one doubt.
#[must_use]
pub fn doubt(doubt: &Doubt) -> record::Doubt {
    record::Doubt {
        name: doubt.name.to_owned(),
        seen: doubt.seen.clone(),
        why: doubt.why.to_owned(),
        next: doubt.next.to_owned(),
        weight: Some(doubt.weight.place()),
        footnote: doubt.weight.footnote().map(str::to_owned),
    }
}

/// The buckets that hold any frames.
#[must_use]
pub(crate) fn buckets(counted: &Histogram) -> record::Histogram {
    let buckets = counted.counts().iter().enumerate();
    let filled = buckets.filter(|(_, frames)| **frames > 0);
    let pairs = filled.map(|(bucket, frames)| (histogram::upper(bucket), *frames));
    record::Histogram(pairs.collect())
}

/// A rate in whole frames/s, because nobody measured the fractions of a search's loads.
#[must_use]
pub fn whole_fps(rate: Rate) -> u64 {
    rate.fps().round() as u64
}

/// As it is.
#[must_use]
pub(crate) fn interval(Interval { low, middle, high }: Interval) -> record::Interval<f64> {
    [low, middle, high].into()
}

/// A cost, to tenths of a nanosecond.
#[must_use]
pub(crate) fn cost(Interval { low, middle, high }: Interval) -> record::Interval<f64> {
    [low, middle, high].map(tenths).into()
}

/// To tenths of a nanosecond.
#[must_use]
pub(crate) fn tenths(ns: f64) -> f64 {
    (ns * 10.0).round() / 10.0
}

/// Rates in whole frames/s.
#[must_use]
pub(crate) fn rates(Interval { low, middle, high }: Interval) -> record::Interval<u64> {
    [low, middle, high].map(|fps| fps.round() as u64).into()
}

/// What pairs say of two variants.
#[must_use]
pub(crate) fn difference(compared: &Compared, measure: ToldBy) -> Difference {
    Difference {
        finding: compared.finding.into(),
        told_by: measure.into(),
        rate_change: compared.rate.map(interval),
        cost_change: compared.cost.map(interval),
        cost_ns: compared.cost_ns.map(cost),
        fixed_cost_ns: compared.fixed_cost_ns.map(cost),
        pairs: Some(compared.pairs),
    }
}
