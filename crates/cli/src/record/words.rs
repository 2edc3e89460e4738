//! The method's answers as words of the record. The lab's own are the record's already.

use mpps_method::{self as method, Claim, Stability, Verdict};
use mpps_record::{self as record, LimitedBy};

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
pub(super) const fn limited_by(limit: method::LimitedBy) -> LimitedBy {
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

/// The word for a claim.
pub(super) const fn claim(claim: &Claim) -> record::Claim {
    match claim {
        Claim::Throughput(_) => record::Claim::Throughput,
        Claim::LossRate(_) => record::Claim::LossRate,
        Claim::Estimate(_) => record::Claim::Estimate,
    }
}

/// The word for a stability.
pub(super) const fn stability(stability: &Stability) -> record::Stability {
    match stability {
        Stability::Stable => record::Stability::Stable,
        Stability::Overloaded => record::Stability::Overloaded,
        Stability::Unstable(_) => record::Stability::Unstable,
        Stability::Unknown { .. } => record::Stability::Unknown,
    }
}
