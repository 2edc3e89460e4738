//! How evenly the frames of a trial left the tester: what a DUT's ring has to bear beside the load.

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
    /// Most frames sent since the sender last had to wait for a slot: long where a load is close to the sender's own
    /// rate, and no measure of what a ring has to bear.
    pub burst_frames: u64,
    /// Most frames the sender was behind at once and caught up with. Within any stretch of time at most this many more can
    /// have arrived than the load has in it.
    pub catch_up_frames: u64,
    /// Frames the DUT's receive rings hold together; 0 where nobody knows.
    pub ring_frames: u32,
}

impl Evenness {
    /// Of one trial; `None` where lateness was not timed (a burst has no schedule).
    #[must_use]
    pub fn from_trial(trial: &Trial, ring_frames: u32) -> Option<Self> {
        let late = |part| trial.lateness.quantile(part);
        Some(Self {
            late_p50: late(0.5)?,
            late_p999: late(0.999)?,
            late_max: late(1.0)?,
            burst_frames: trial.largest_burst,
            catch_up_frames: trial.catch_up_frames()?,
            ring_frames,
        })
    }

    /// [`Self::catch_up_frames`] as a share of the ring: a ring with this share free beside the load does not overflow.
    #[must_use]
    pub fn ring_share(&self) -> Option<f64> {
        (self.ring_frames > 0).then(|| self.catch_up_frames as f64 / f64::from(self.ring_frames))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Rate;

    #[test]
    fn a_trial_says_how_evenly_its_frames_left() {
        let mut trial = Trial {
            // Longer than the ring, and no matter: the sender was never far behind.
            largest_burst: 4_973,
            offered: Rate::from_fps(1_000_000.0),
            ..Trial::default()
        };
        assert_eq!(Evenness::from_trial(&trial, 4_096), None, "a burst");
        trial.lateness.add_many(Span::from_nanos(20), 9_980);
        trial.lateness.add_many(Span::from_nanos(41_000), 15);
        trial.lateness.add_many(Span::from_nanos(310_000), 5);
        let even = Evenness::from_trial(&trial, 4_096).expect("timed");
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
        assert!((310..320).contains(&even.catch_up_frames), "{even:?}");
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
