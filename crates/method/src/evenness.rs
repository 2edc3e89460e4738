//! How evenly the frames of a trial left the tester: what a DUT's ring has to bear beside the load.

use crate::trial::Trial;
use mpps_record::Evenness;

impl Trial {
    /// Lateness against the schedule, beside the frames that the DUT's receive rings hold together (0 where nobody
    /// knows). `None` where lateness was not timed (a burst has no schedule).
    #[must_use]
    pub fn evenness(&self, ring_frames: u32) -> Option<Evenness> {
        let late = |part| Some(self.lateness.quantile(part)?.as_nanos());
        let behind = self.catch_up_frames()?;
        let ring_frames = Some(ring_frames).filter(|&frames| frames > 0);
        Some(Evenness {
            late_ns_p50: late(0.5)?,
            late_ns_p999: late(0.999)?,
            late_ns_max: late(1.0)?,
            largest_burst_frames: self.largest_burst,
            catch_up_frames: Some(behind),
            ring_frames,
            // A ring with this share free beside the load does not overflow.
            ring_share: ring_frames.map(|ring| behind as f64 / f64::from(ring)),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::{Rate, Span};

    #[test]
    fn a_trial_says_how_evenly_its_frames_left() {
        let mut trial = Trial {
            // Longer than the ring, and no matter: the sender was never far behind.
            largest_burst: 4_973,
            offered: Rate::from_fps(1_000_000.0),
            ..Trial::default()
        };
        assert_eq!(trial.evenness(4_096), None, "a burst");
        trial.lateness.add_many(Span::from_nanos(20), 9_980);
        trial.lateness.add_many(Span::from_nanos(41_000), 15);
        trial.lateness.add_many(Span::from_nanos(310_000), 5);
        let even = trial.evenness(4_096).expect("timed");
        assert_eq!(even.late_ns_p50, 20);
        // Upper ends of buckets.
        assert!((41_000..42_300).contains(&even.late_ns_p999), "{even:?}");
        assert!((310_000..320_000).contains(&even.late_ns_max), "{even:?}");
        let behind = even.catch_up_frames.expect("known");
        assert!((310..320).contains(&behind), "{even:?}");
        assert_eq!(even.ring_share, Some(behind as f64 / 4_096.0));
        let unknown = trial.evenness(0).expect("timed");
        assert_eq!((unknown.ring_frames, unknown.ring_share), (None, None));
    }
}
