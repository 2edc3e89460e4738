//! How evenly the frames of a trial left the tester: what a DUT's ring has to bear beside the load.

use std::fmt;

use crate::trial::Trial;
use crate::units::Span;

/// Lateness against the schedule, and the longest burst.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Evenness {
    /// Half of the frames were no later than this.
    pub late_p50: Span,
    /// 99.9 % were no later than this.
    pub late_p999: Span,
    /// None was later than this.
    pub late_max: Span,
    /// Most frames sent since the sender last had to wait for a slot.
    pub burst_frames: u64,
    /// Frames the DUT's receive rings hold together; 0 where nobody knows.
    pub ring_frames: u32,
}

impl Evenness {
    /// Of one trial; `None` where lateness was not timed (a burst has no schedule).
    #[must_use]
    pub fn of(trial: &Trial, ring_frames: u32) -> Option<Self> {
        let late = |part| trial.lateness.quantile(part);
        Some(Self {
            late_p50: late(0.5)?,
            late_p999: late(0.999)?,
            late_max: late(1.0)?,
            burst_frames: trial.largest_burst,
            ring_frames,
        })
    }

    /// The longest burst as a share of the ring: what is free of it, a burst no longer than that cannot overflow.
    #[must_use]
    pub fn ring_share(&self) -> Option<f64> {
        (self.ring_frames > 0).then(|| self.burst_frames as f64 / f64::from(self.ring_frames))
    }
}

/// `half at most 96 ns late, 99.9 % 41.0 us, all 310.3 us; up to 96 without a pause (2 % of the ring)`
impl fmt::Display for Evenness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [half, most, all] = [self.late_p50, self.late_p999, self.late_max].map(rounded);
        write!(
            f,
            "half at most {half} late, 99.9 % {most}, all {all}; up to {} without a pause",
            self.burst_frames
        )?;
        match self.ring_share() {
            Some(share) => write!(f, " ({:.1} % of the ring)", share * 100.0),
            None => Ok(()),
        }
    }
}

/// To three digits: the histogram knows no more.
fn rounded(span: Span) -> Span {
    let ns = span.as_nanos();
    let step = 10_u64.pow(ns.checked_ilog10().unwrap_or(0).saturating_sub(2));
    Span::from_nanos((ns + step / 2) / step * step)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trial_says_how_evenly_its_frames_left() {
        let mut trial = Trial {
            largest_burst: 96,
            ..Trial::default()
        };
        assert_eq!(Evenness::of(&trial, 4_096), None, "a burst");
        trial.lateness.add_many(Span::from_nanos(20), 9_980);
        trial.lateness.add_many(Span::from_nanos(41_000), 15);
        trial.lateness.add_many(Span::from_nanos(310_000), 5);
        let even = Evenness::of(&trial, 4_096).expect("timed");
        assert_eq!(even.late_p50, Span::from_nanos(20));
        // Upper ends of buckets.
        assert!(
            (41_000..42_300).contains(&even.late_p999.as_nanos()),
            "{even:?}"
        );
        assert!(
            (310_000..320_000).contains(&even.late_max.as_nanos()),
            "{even:?}"
        );
        let said = even.to_string();
        assert!(
            said.starts_with("half at most 20 ns late, 99.9 % 4"),
            "{said}"
        );
        assert!(
            said.ends_with("; up to 96 without a pause (2.3 % of the ring)"),
            "{said}"
        );
        assert_eq!(
            Evenness {
                ring_frames: 0,
                ..even
            }
            .ring_share(),
            None
        );
    }
}
