//! When samples should have come. After each setting of its period the timer expires at whole periods from that moment
//! on, also after an expiry that was handled late (`hrtimer_forward_now` in `perf_swevent_hrtimer`). So expiries that
//! never were handled can be counted, and each sample's lateness is known.

/// Samples within this time count as equally late, ns.
const NEAR_NS: u64 = 2_000;
/// Fewer samples do not show where the expiries lie.
const SAMPLES_MIN: usize = 20;

/// A time with one period on one CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    /// Before the period was set, ns of the monotonic clock.
    pub asked_ns: u64,
    /// After it was set.
    pub set_ns: u64,
    /// When the next period was asked for, or sampling ended.
    pub to_ns: u64,
    /// The period, in units of the clock.
    pub period: u64,
    /// What the clock counted in it. `None`: the clock is the timer, which counts all time.
    pub counted: Option<u64>,
}

impl Segment {
    /// How many samples should have come in it from one moment until before another.
    #[must_use]
    pub fn expected(&self, from_ns: u64, to_ns: u64) -> f64 {
        let (from, to) = (from_ns.max(self.set_ns), to_ns.min(self.to_ns));
        if from >= to || self.period == 0 {
            return 0.0;
        }
        match self.counted {
            None => {
                let until = |ns: u64| (ns - self.set_ns) / self.period;
                (until(to) - until(from)) as f64
            }
            Some(counted) => {
                let length = self.to_ns.saturating_sub(self.set_ns);
                // The part behind the last sample is half a period in the mean.
                let all = (counted as f64 / self.period as f64 - 0.5).max(0.0);
                all * (to - from) as f64 / length.max(1) as f64
            }
        }
    }

    /// What a sample of it stands for, in units of the clock: all that was counted, by the samples that were due. That is
    /// more than the period. Setting a period begins it anew, so the part behind the last sample has none.
    #[must_use]
    pub fn weight(&self) -> u64 {
        let (all, timed) = match self.counted {
            None => (
                self.to_ns.saturating_sub(self.asked_ns),
                self.to_ns.saturating_sub(self.set_ns),
            ),
            Some(counted) => (counted, counted),
        };
        let due = timed.checked_div(self.period).filter(|due| *due > 0);
        due.map_or(self.period, |due| all / due)
    }

    /// The first of these segments, in their order, that a sample at this time can be of: one that came while the next
    /// period was being set is still of the old one.
    #[must_use]
    pub fn place(segments: &[Self], time_ns: u64) -> Option<usize> {
        segments
            .partition_point(|segment| segment.set_ns <= time_ns)
            .checked_sub(1)
    }

    /// How late each of these samples of this segment is, ns, against its promptest samples. `None` where they do not
    /// show when the timer expired.
    ///
    /// The expiries lie at `asked + phase + k * period`. The phase is the lowest residue that other samples share: a
    /// single sample that came almost a whole period late has a low residue too.
    #[must_use]
    pub fn lateness(&self, times: &[u64]) -> Option<Vec<u64>> {
        if times.len() < SAMPLES_MIN || self.period <= NEAR_NS {
            return None;
        }
        let residue = |&time: &u64| time.saturating_sub(self.asked_ns) % self.period;
        let mut residues: Vec<u64> = times.iter().map(residue).collect();
        residues.sort_unstable();
        let others = times.len() / 10;
        let together = residues.windows(others + 1);
        let mut shared = together.filter(|near| near[others] - near[0] <= NEAR_NS);
        // Not the very first: it may be the late one.
        let phase = shared.next()?[others / 5];
        let late = |time| match (residue(time) + self.period - phase) % self.period {
            before if before > self.period - NEAR_NS => 0,
            late => late,
        };
        Some(times.iter().map(late).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mpps_method::random::Random;

    const PERIOD: u64 = 250_000;
    /// From asking for the period until the timer began.
    const PHASE: u64 = 7_300;

    fn segment(counted: Option<u64>) -> Segment {
        Segment {
            asked_ns: 1_000_000_000,
            set_ns: 1_000_010_000,
            to_ns: 1_035_010_000,
            period: PERIOD,
            counted,
        }
    }

    /// A sample at each expiry, so much later than it.
    fn times(late: &[u64]) -> Vec<u64> {
        let each = late.iter().enumerate();
        each.map(|(k, late)| 1_000_000_000 + PHASE + (k as u64 + 1) * PERIOD + late)
            .collect()
    }

    #[test]
    fn lateness_is_found_without_the_phase() {
        let mut random = Random::from_seed(7);
        // Nine of ten are 0.4 to 0.5 us late, as the machine's own; one has waited for up to 20 us.
        let late: Vec<u64> = (0..130)
            .map(|k| 400 + random.below(if k % 10 == 9 { 20_000 } else { 100 }))
            .collect();
        let found = segment(None).lateness(&times(&late)).unwrap();
        for (found, late) in found.iter().zip(&late) {
            assert!((late - 400).abs_diff(*found) < 50, "{found} for {late}");
        }
    }

    #[test]
    fn one_sample_a_period_late_moves_no_other() {
        let mut late = vec![400; 100];
        (late[50], late[60]) = (PERIOD - 200, PERIOD - PHASE + 300);
        late[70] = PERIOD - 5_000;
        let found = segment(None).lateness(&times(&late)).unwrap();
        assert_eq!(found[60], PERIOD - PHASE - 100);
        assert_eq!(found[70], PERIOD - 5_400);
        // As near to the next expiry as this, it may as well have been prompt.
        assert_eq!((found[49], found[50], found[51]), (0, 0, 0));
    }

    #[test]
    fn too_few_or_scattered_samples_have_no_lateness() {
        assert_eq!(segment(None).lateness(&times(&[400; 19])), None);
        let mut random = Random::from_seed(3);
        let late: Vec<u64> = (0..100).map(|_| random.below(PERIOD)).collect();
        assert_eq!(segment(None).lateness(&times(&late)), None);
    }

    #[test]
    fn each_expiry_is_expected_in_one_part() {
        let whole = segment(None);
        assert_eq!(whole.expected(0, u64::MAX), 140.0);
        let middle = 1_012_345_678;
        let parts = whole.expected(0, middle) + whole.expected(middle, u64::MAX);
        assert_eq!(parts, 140.0);
        assert_eq!(whole.expected(0, 1_000_010_000 + PERIOD - 1), 0.0);
        assert_eq!(whole.expected(2_000_000_000, u64::MAX), 0.0);
    }

    /// Segments as the sampler draws them, one behind the other.
    fn drawn(random: &mut Random) -> Vec<Segment> {
        let mut asked_ns = 1_000_000_000;
        let mut next = || {
            let set_ns = asked_ns + 5_000 + random.below(10_000);
            let segment = Segment {
                asked_ns,
                set_ns,
                to_ns: set_ns + 20_000_000 + random.below(30_000_000),
                period: 750_000 + random.below(650_000),
                counted: None,
            };
            asked_ns = segment.to_ns;
            segment
        };
        (0..100).map(|_| next()).collect()
    }

    #[test]
    fn samples_that_are_complete_cover_all_the_time() {
        let segments = drawn(&mut Random::from_seed(11));
        let due = |segment: &Segment| segment.expected(0, u64::MAX) as u64;
        let all = segments[99].to_ns - segments[0].asked_ns;
        let share_of = |weight: fn(&Segment) -> u64| {
            let each = segments.iter().map(|one| due(one) * weight(one));
            each.sum::<u64>() as f64 / all as f64
        };
        let by_period = share_of(|one| one.period);
        assert!((0.98..0.99).contains(&by_period), "{by_period}");
        let covered = share_of(Segment::weight);
        assert!((covered - 1.0).abs() < 1e-4, "{covered}");
        let by_cycles = segment(Some(70 * PERIOD + PERIOD / 2));
        assert_eq!(by_cycles.weight(), PERIOD + PERIOD / 140);
        // Too short for a sample: one that came by chance stands for its period.
        assert_eq!(segment(Some(PERIOD - 1)).weight(), PERIOD);
    }

    #[test]
    fn halted_cycles_are_not_expected() {
        let half = segment(Some(70 * PERIOD));
        assert_eq!(half.expected(0, u64::MAX), 69.5);
        let middle = (half.set_ns + half.to_ns) / 2;
        assert_eq!(half.expected(0, middle), 34.75);
        assert_eq!(segment(Some(0)).expected(0, u64::MAX), 0.0);
    }

    #[test]
    fn a_sample_while_a_period_is_set_is_of_the_old() {
        let first = segment(None);
        let second = Segment {
            asked_ns: first.to_ns,
            set_ns: first.to_ns + 9_000,
            to_ns: first.to_ns + 30_000_000,
            ..first
        };
        let segments = [first, second];
        let place = |time| Segment::place(&segments, time);
        assert_eq!(place(first.asked_ns), None);
        assert_eq!(place(first.set_ns), Some(0));
        assert_eq!(place(second.asked_ns + 5_000), Some(0));
        assert_eq!(place(second.set_ns), Some(1));
    }
}
