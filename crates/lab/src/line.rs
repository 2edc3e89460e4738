//! Values of the method and findings of the lab, as the lines of a record have them.

mod cause;
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
pub(crate) use trial::route_changes;
pub use trial::trial;
pub use windows::block_of_line;

use crate::doubt::Doubt;
use mpps_method::compare::{Compared, Finding, Measure};
use mpps_method::interval::Interval;
use mpps_method::{self as method, Histogram, Rate, Verdict, histogram};
use mpps_record::{self as record, Difference, LimitedBy, Pairs, ToldBy};

// Reports, which do not know the method, go by the same share.
const _: () = assert!(record::BUSY == method::limit::BUSY);

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

/// The word for a limit.
#[must_use]
pub(crate) const fn limited_by(limit: method::LimitedBy) -> LimitedBy {
    match limit {
        method::LimitedBy::Tester => LimitedBy::Tester,
        method::LimitedBy::Link => LimitedBy::Link,
        method::LimitedBy::MaxRate => LimitedBy::MaxRate,
        method::LimitedBy::Dut => LimitedBy::Dut,
        method::LimitedBy::SharedCpu => LimitedBy::SharedCpu,
        method::LimitedBy::Pause => LimitedBy::Pause,
        method::LimitedBy::Disturbed => LimitedBy::Disturbed,
        method::LimitedBy::Trials => LimitedBy::Trials,
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
pub(crate) fn difference(compared: &Compared, measure: Measure) -> Difference {
    Difference {
        finding: match compared.finding {
            Finding::Different => record::Finding::Different,
            Finding::NoDifference => record::Finding::NoDifference,
            Finding::NotDecided => record::Finding::NotDecided,
        },
        told_by: match measure {
            Measure::Rate => ToldBy::Rate,
            Measure::Cost => ToldBy::Cost,
        },
        rate_change: compared.rate.map(interval),
        cost_change: compared.cost.map(interval),
        cost_ns: compared.cost_ns.map(cost),
        fixed_cost_ns: compared.fixed_cost_ns.map(cost),
        pairs: Some(pairs(compared)),
    }
}

/// Pairs that count, and those left out.
pub(crate) const fn pairs(compared: &Compared) -> Pairs {
    Pairs {
        counted: compared.pairs,
        looks: compared.looks,
        disturbed: compared.left_out.disturbed,
        distance: compared.left_out.distance,
        moved: compared.moved,
        fixed: compared.fixed_pairs,
        not_overloaded: compared.left_out.not_overloaded,
    }
}
