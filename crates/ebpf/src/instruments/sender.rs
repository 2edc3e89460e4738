//! Reads `sender.bpf.c`: one trial's order to the sender and what became of it.

skeleton!("sender");

/// Fixed-point shift of the pace: time is in ns << 20.
pub const PACE_SHIFT: u32 = 20;
/// Directions a sender can serve in one call.
pub const DIRECTIONS: usize = 2;
/// Longest schedule of sizes.
pub const SIZES_MAX: usize = 4093;
/// Longest frame without FCS on live frames.
pub const FRAME_OCTETS_MAX: usize = 3400;
/// Octets of headers kept in a template.
pub const TEMPLATE_OCTETS: usize = 80;
/// Buckets of the lateness histogram (the scheme of `mpps_method::histogram`).
pub const BUCKETS: usize = 1152;

plain! {
    sender_direction: 104 {
        sequence, unsent, size_at, port, host, flow, round, port_first, host_first, dest_at, lap, dest_first, lap_first
    }
    sender_state: 9824 {
        gap_fp, slots, late_max_ns, id, delay_ns, plain, mark_gap_ns, slow_after_ns, slow_gap_fp, turns, turn_gap_fp, batch, back_off_frames, lasts_ns, started_ns, slot, slot_fp, first_ns, last_ns,
        ended_ns, burst, burst_largest, refused, late_largest_ns, clock_ns, clock_left, mark_due_ns, marks, slowed_ns, turn_end_ns, batch_at, window_end_ns, refused_seen, refused_ns, refused_sent, direction,
        lateness
    }
    sender_mark: 24 { ns, sequence }
    dest_address: 16 { high, low }
}

/// Marks kept of a trial: the first so many.
pub const MARKS_MAX: u64 = 65_536;
/// The sender paused for so long: both ends of the pause are marked, ns.
pub const MARK_PAUSE_NS: u64 = 100_000;
/// Longest pause after a refusal, ns.
pub const PAUSE_MAX_NS: u64 = 400_000;
/// A batch waits for slots for so long, ns.
pub const BATCH_WAIT_NS: u64 = 10_000;
/// From one mark to the next at least, but for pauses, ns.
const MARK_GAP_MIN_NS: u64 = 1_000_000;

/// Ports of flows, from 1024 on.
const PORT_COUNT: u32 = 64_512;
/// What the sender is to do in one trial.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Order {
    /// Time between two slots, ns << [`PACE_SHIFT`]; 0 sends back-to-back.
    pub gap_fp: u64,
    /// Slots over all directions.
    pub slots: u64,
    /// A slot later than this stays unsent, ns.
    pub late_max_ns: u64,
    /// Tag id.
    pub id: u16,
    /// From the call to the first slot, ns.
    pub delay_ns: u64,
    /// All frames to the template's addresses, whatever the list of destinations says (canaries).
    pub plain: bool,
    /// Number of the flow to begin with.
    pub flow_first: u32,
    /// Entry of the list of destinations to begin with.
    pub entry_first: u32,
    /// Times the list has been passed before.
    pub lap_first: u32,
    /// A slower pace after a while.
    pub slow: Option<Slow>,
    /// Paces that take turns of [`TURN_SHIFT`].
    pub turns: Option<Turns>,
    /// Most pages handed on at once; 0: as many as the sender may. A sender makes them fewer by the pace.
    pub batch: u32,
    /// After a port or a ring refused frames it pauses until so many more will have been taken; 0: no pause.
    pub back_off_frames: u64,
    /// It ends so long after its first slot, whatever slots are left, ns; 0: with the last slot.
    pub lasts_ns: u64,
}

/// The slower pace of an order. The first mark after its time begins it, so it may come a mark's gap late.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slow {
    /// From the first slot on, ns.
    pub after_ns: u64,
    /// Time between two slots, ns << [`PACE_SHIFT`].
    pub gap_fp: u64,
}

/// Most paces of an order that take turns.
pub const TURNS_MAX: usize = 16;
/// A turn ends where the monotonic clock is a multiple of `1 << TURN_SHIFT` ns.
pub const TURN_SHIFT: u32 = 25;

/// Paces that take turns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Turns {
    /// How many.
    pub count: u64,
    /// Time between two slots of each, ns << [`PACE_SHIFT`].
    pub gap_fp: [u64; TURNS_MAX],
}

impl Order {
    /// The state before the trial: the order, all outcomes zero.
    #[must_use]
    pub fn to_state(self) -> types::sender_state {
        let port = u64::from(self.flow_first % PORT_COUNT);
        let host = u64::from(self.flow_first / PORT_COUNT);
        let (entry, lap) = (u64::from(self.entry_first), u64::from(self.lap_first));
        let direction = types::sender_direction {
            port,
            host,
            port_first: port,
            host_first: host,
            dest_at: entry,
            lap,
            dest_first: entry,
            lap_first: lap,
            ..types::sender_direction::default()
        };
        types::sender_state {
            gap_fp: self.gap_fp,
            slots: self.slots,
            late_max_ns: self.late_max_ns,
            id: u64::from(self.id),
            delay_ns: self.delay_ns,
            plain: u64::from(self.plain),
            mark_gap_ns: self.mark_gap_ns(),
            slow_after_ns: self.slow.map_or(0, |slow| slow.after_ns),
            slow_gap_fp: self.slow.map_or(0, |slow| slow.gap_fp),
            turns: self.turns.map_or(0, |turns| turns.count),
            turn_gap_fp: self.turns.map_or([0; TURNS_MAX], |turns| turns.gap_fp),
            batch: u64::from(self.batch),
            back_off_frames: self.back_off_frames,
            lasts_ns: self.lasts_ns,
            direction: [direction; DIRECTIONS],
            ..types::sender_state::default()
        }
    }

    /// From one [`Mark`] to the next at least, ns: there is room for those of the whole order.
    #[must_use]
    pub fn mark_gap_ns(&self) -> u64 {
        (self.length_ns() / (MARKS_MAX / 2)).max(MARK_GAP_MIN_NS)
    }

    /// From the first slot to the end of the last, or of its time, ns; 0 back-to-back without a time.
    #[must_use]
    pub fn length_ns(&self) -> u64 {
        let lasting = |slots: u64, gap_fp: u64| {
            let ns = (u128::from(slots) * u128::from(gap_fp)) >> PACE_SHIFT;
            u64::try_from(ns).unwrap_or(u64::MAX)
        };
        let fast = self
            .slow
            .map_or(self.slots, |slow| self.slots_by(slow.after_ns));
        let slow_ns = self.slow.map_or(0, |slow| {
            lasting(self.slots.saturating_sub(fast), slow.gap_fp)
        });
        let all = lasting(fast, self.gap_fp).saturating_add(slow_ns);
        match self.lasts_ns {
            0 => all,
            lasts_ns if self.gap_fp == 0 => lasts_ns,
            lasts_ns => all.min(lasts_ns),
        }
    }

    /// Slots due so long after the first; back-to-back none ever is.
    #[must_use]
    pub fn slots_by(&self, ns: u64) -> u64 {
        let due = |ns: u64, gap_fp: u64| {
            let slots = (u128::from(ns) << PACE_SHIFT).checked_div(u128::from(gap_fp));
            slots.map_or(0, |slots| u64::try_from(slots).unwrap_or(u64::MAX))
        };
        match self.slow {
            Some(slow) if ns > slow.after_ns => {
                due(slow.after_ns, self.gap_fp) + due(ns - slow.after_ns, slow.gap_fp)
            }
            _ => due(ns, self.gap_fp),
        }
    }
}

/// How far the sender was at a moment (monotonic ns): the next frame's sequence number, by direction.
pub use types::sender_mark as Mark;

/// Why a sender was stopped before its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stopped {
    /// It had sent for long enough.
    Enough,
    /// What it still had to send could not count.
    CannotCount,
}

/// What became of an order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// When the first slot was due, monotonic ns (0: the program never ran).
    pub started_ns: u64,
    /// Slots passed.
    pub slots: u64,
    /// Slots passed without a frame, by direction.
    pub unsent: [u64; DIRECTIONS],
    /// First frame handed over, monotonic ns.
    pub first_ns: u64,
    /// Last frame handed over, monotonic ns.
    pub last_ns: u64,
    /// When all slots had passed, monotonic ns (0: not ended).
    pub ended_ns: u64,
    /// Why it was stopped before, where it was.
    pub stopped: Option<Stopped>,
    /// Marks made.
    pub marks: u64,
    /// When the pace became slower, monotonic ns (0: it did not).
    pub slowed_ns: u64,
    /// Most frames handed over without a wait between them.
    pub burst_largest: u64,
    /// Frames the program could not build: a fault of the sender's.
    pub refused: u64,
    /// Latest frame, ns after its slot was due.
    pub late_largest_ns: u64,
    /// Frames handed over, by direction.
    pub sent: [u64; DIRECTIONS],
    /// Lateness of each frame, log-linear buckets of ns.
    pub lateness: Vec<u64>,
}

impl From<&types::sender_state> for Outcome {
    fn from(state: &types::sender_state) -> Self {
        Self {
            started_ns: state.started_ns,
            slots: state.slot,
            unsent: state.direction.map(|direction| direction.unsent),
            first_ns: state.first_ns,
            last_ns: state.last_ns,
            ended_ns: state.ended_ns,
            stopped: None,
            marks: state.marks,
            slowed_ns: state.slowed_ns,
            burst_largest: state.burst_largest,
            refused: state.refused,
            late_largest_ns: state.late_largest_ns,
            sent: state.direction.map(|direction| direction.sequence),
            lateness: state.lateness.to_vec(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slower_pace_makes_an_order_longer() {
        let order = Order {
            gap_fp: 1_000 << PACE_SHIFT,
            slots: 3_000,
            ..Order::default()
        };
        assert_eq!(order.length_ns(), 3_000_000);
        assert_eq!((order.slots_by(0), order.slots_by(2_500)), (0, 2));
        let slower = Order {
            slow: Some(Slow {
                after_ns: 2_000_000,
                gap_fp: 4_000 << PACE_SHIFT,
            }),
            ..order
        };
        assert_eq!(slower.length_ns(), 2_000_000 + 1_000 * 4_000);
        assert_eq!(slower.slots_by(2_000_000), 2_000);
        assert_eq!(slower.slots_by(6_000_000), 3_000);
        // Back-to-back no slot is ever due.
        let burst = Order { gap_fp: 0, ..order };
        assert_eq!((burst.length_ns(), burst.slots_by(1_000)), (0, 0));
        // A time ends an order before its last slot, and never later.
        let ends = |order: Order, lasts_ns| Order { lasts_ns, ..order }.length_ns();
        assert_eq!([ends(order, 500_000), ends(burst, 500_000)], [500_000; 2]);
        assert_eq!(ends(order, u64::MAX), order.length_ns());
    }
}
