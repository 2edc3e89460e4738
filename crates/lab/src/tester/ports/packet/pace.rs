//! When frames are due: the rule of `sender.bpf.c` for one direction. Knows no clock: it is told the time.

use mpps_ebpf::instruments::sender::{Order, PACE_SHIFT};

/// What is to be done at a moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Due {
    /// Nothing yet.
    Wait,
    /// A frame, so many ns after its slot was due.
    Frame(u64),
    /// All slots have passed.
    Ended,
}

/// The slots of one direction. With two directions every other slot of the order is this one's.
#[derive(Clone, Copy, Debug)]
pub struct Pace {
    gap_fp: u64,
    late_max_ns: u64,
    started_ns: u64,
    /// Slots of the order from one of ours to the next.
    stride: u64,
    /// The order's number of our first slot.
    first: u64,
    /// Slots of ours.
    slots: u64,
    /// Slots passed.
    passed: u64,
    /// Of these, without a frame.
    unsent: u64,
}

impl Pace {
    /// The slots of direction `way` of `ways`, beginning at `started_ns`.
    pub fn new(order: &Order, way: u64, ways: u64, started_ns: u64) -> Self {
        Self {
            gap_fp: order.gap_fp,
            late_max_ns: order.late_max_ns,
            started_ns,
            stride: ways,
            first: way,
            slots: (order.slots + ways - 1 - way) / ways,
            passed: 0,
            unsent: 0,
        }
    }

    /// What is due; passes the slots that are later than the bound. A frame that is due stays so until
    /// [`Self::pass`].
    pub fn due(&mut self, now_ns: u64) -> Due {
        if self.passed == self.slots {
            return Due::Ended;
        }
        let due_ns = self.due_ns();
        if now_ns < due_ns {
            return Due::Wait;
        }
        let late = now_ns - due_ns;
        if late <= self.late_max_ns {
            return Due::Frame(late);
        }
        self.skip(late - self.late_max_ns);
        if self.passed == self.slots {
            return Due::Ended;
        }
        Due::Frame(now_ns.saturating_sub(self.due_ns()))
    }

    /// The due slot gets its frame.
    pub fn pass(&mut self) {
        self.passed += 1;
    }

    /// Slots passed, with a frame or without.
    pub fn passed(&self) -> u64 {
        self.passed
    }

    /// Slots passed without a frame.
    pub fn unsent(&self) -> u64 {
        self.unsent
    }

    /// Gives up the slots that were due longer than `over_ns` before the bound: one at least.
    fn skip(&mut self, over_ns: u64) {
        let gap = u128::from(self.gap_fp) * u128::from(self.stride);
        let skip = (u128::from(over_ns) << PACE_SHIFT)
            .checked_div(gap)
            .map_or(u128::MAX, |slots| slots + 1);
        let skip = u64::try_from(skip)
            .unwrap_or(u64::MAX)
            .min(self.slots - self.passed);
        self.passed += skip;
        self.unsent += skip;
    }

    fn due_ns(&self) -> u64 {
        let slot = self.first + self.passed * self.stride;
        self.started_ns + ((u128::from(slot) * u128::from(self.gap_fp)) >> PACE_SHIFT) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(gap_ns: u64, slots: u64, late_max_ns: u64) -> Order {
        Order {
            gap_fp: gap_ns << PACE_SHIFT,
            slots,
            late_max_ns,
            ..Order::default()
        }
    }

    #[test]
    fn a_slot_is_due_at_its_time_and_passes_once() {
        let mut pace = Pace::new(&order(100, 2, 1000), 0, 1, 5000);
        assert_eq!(pace.due(4999), Due::Wait);
        assert_eq!(pace.due(5000), Due::Frame(0));
        assert_eq!(pace.due(5001), Due::Frame(1), "still due");
        pace.pass();
        assert_eq!(pace.due(5099), Due::Wait);
        assert_eq!(pace.due(5130), Due::Frame(30));
        pace.pass();
        assert_eq!(pace.due(9999), Due::Ended);
        assert_eq!((pace.passed(), pace.unsent()), (2, 0));
    }

    #[test]
    fn slots_later_than_the_bound_stay_unsent() {
        let mut pace = Pace::new(&order(100, 100, 250), 0, 1, 0);
        // At 1000 the slots of 0 to 700 are later than 250; that of 800 is 200 late.
        assert_eq!(pace.due(1000), Due::Frame(200));
        assert_eq!((pace.passed(), pace.unsent()), (8, 8));
        // All of it is too late: every slot is unsent, none is lost sight of.
        assert_eq!(pace.due(1_000_000), Due::Ended);
        assert_eq!((pace.passed(), pace.unsent()), (100, 100));
    }

    #[test]
    fn a_bound_is_no_bound_where_the_order_says_so() {
        let mut pace = Pace::new(&order(0, 3, u64::MAX), 0, 1, 10);
        for _ in 0..3 {
            assert!(matches!(pace.due(u64::MAX), Due::Frame(_)));
            pace.pass();
        }
        assert_eq!((pace.due(u64::MAX), pace.unsent()), (Due::Ended, 0));
        // Back-to-back with a bound: what is late is given up whole, not divided by no gap at all.
        let mut pace = Pace::new(&order(0, 3, 5), 0, 1, 10);
        assert_eq!((pace.due(100), pace.unsent()), (Due::Ended, 3));
    }

    #[test]
    fn two_directions_take_slots_in_turns() {
        let order = order(100, 5, 50);
        let (mut there, mut back) = (Pace::new(&order, 0, 2, 0), Pace::new(&order, 1, 2, 0));
        assert_eq!((there.due(0), back.due(0)), (Due::Frame(0), Due::Wait));
        there.pass();
        assert_eq!((there.due(100), back.due(100)), (Due::Wait, Due::Frame(0)));
        back.pass();
        let pass_all = |pace: &mut Pace| {
            let mut now = 0;
            while pace.due(now) != Due::Ended {
                if matches!(pace.due(now), Due::Frame(_)) {
                    pace.pass();
                }
                now += 10;
            }
            pace.passed()
        };
        assert_eq!((pass_all(&mut there), pass_all(&mut back)), (3, 2));
    }

    #[test]
    fn rates_with_fractional_gaps_hold_over_a_minute() {
        // 3.3 Mfps for 60 s.
        let gap_fp = (1e9 * f64::from(1u32 << PACE_SHIFT) / 3_300_000.0).round() as u64;
        let slots = 198_000_000;
        let order = Order {
            gap_fp,
            slots,
            late_max_ns: u64::MAX,
            ..Order::default()
        };
        let mut pace = Pace::new(&order, 0, 1, 0);
        pace.passed = slots - 1;
        let last = pace.due_ns();
        assert!(last.abs_diff(60_000_000_000) < 1_000, "{last}");
    }
}
