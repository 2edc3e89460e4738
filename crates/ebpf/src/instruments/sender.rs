//! Reads `sender.bpf.c`: one trial's order to the sender and what became of it.

#[allow(
    missing_docs,
    clippy::all,
    clippy::pedantic,
    clippy::undocumented_unsafe_blocks
)]
mod skeleton {
    include!(concat!(env!("OUT_DIR"), "/sender.skel.rs"));
}
pub use skeleton::{OpenSenderSkel, SenderSkel, SenderSkelBuilder};

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

const FIXED_WORDS: usize = 21;
const DIRECTION_WORDS: usize = 13;
const WORDS: usize = FIXED_WORDS + DIRECTIONS * DIRECTION_WORDS + BUCKETS;

/// Marks kept of a trial: the first so many.
pub const MARKS_MAX: u64 = 65_536;
/// The sender paused for so long: both ends of the pause are marked, ns.
pub const MARK_PAUSE_NS: u64 = 100_000;
/// From one mark to the next at least, but for pauses, ns.
const MARK_GAP_MIN_NS: u64 = 1_000_000;

/// Ports of flows, from 1024 on.
const PORT_COUNT: u32 = 64_512;
/// Words of `struct sender_direction`.
const SEQUENCE: usize = 0;
const UNSENT: usize = 1;
const PORT: usize = 3;
const HOST: usize = 4;
const PORT_FIRST: usize = 7;
const HOST_FIRST: usize = 8;
const FAR_AT: usize = 9;
const LAP: usize = 10;
const FAR_FIRST: usize = 11;
const LAP_FIRST: usize = 12;

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
}

impl Order {
    /// The state before the trial: the order, all outcomes zero.
    #[must_use]
    pub fn to_value(self) -> Vec<u8> {
        let order = [
            self.gap_fp,
            self.slots,
            self.late_max_ns,
            u64::from(self.id),
            self.delay_ns,
            u64::from(self.plain),
            self.mark_gap_ns(),
        ];
        let mut words = vec![0u64; WORDS];
        words[..order.len()].copy_from_slice(&order);
        let (port, host) = (self.flow_first % PORT_COUNT, self.flow_first / PORT_COUNT);
        for way in 0..DIRECTIONS {
            let direction = &mut words[FIXED_WORDS + way * DIRECTION_WORDS..];
            for (place, value) in [
                (PORT, port),
                (HOST, host),
                (PORT_FIRST, port),
                (HOST_FIRST, host),
                (FAR_AT, self.entry_first),
                (LAP, self.lap_first),
                (FAR_FIRST, self.entry_first),
                (LAP_FIRST, self.lap_first),
            ] {
                direction[place] = u64::from(value);
            }
        }
        words.iter().flat_map(|word| word.to_ne_bytes()).collect()
    }

    /// From one [`Mark`] to the next at least, ns: there is room for those of the whole order.
    #[must_use]
    pub fn mark_gap_ns(&self) -> u64 {
        let length_ns = (u128::from(self.slots) * u128::from(self.gap_fp)) >> PACE_SHIFT;
        let share = length_ns / u128::from(MARKS_MAX / 2);
        u64::try_from(share)
            .unwrap_or(u64::MAX)
            .max(MARK_GAP_MIN_NS)
    }
}

/// How far the sender was at a moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Mark {
    /// When, monotonic ns.
    pub ns: u64,
    /// The next frame's sequence number, by direction.
    pub sequence: [u64; DIRECTIONS],
}

impl Mark {
    /// Reads an entry of the map of marks; `None` when it has another length than the C struct.
    #[must_use]
    pub fn from_value(value: &[u8]) -> Option<Self> {
        let [ns, sequence @ ..]: [u64; 1 + DIRECTIONS] = crate::to_words(value).try_into().ok()?;
        Some(Self { ns, sequence })
    }
}

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

impl Outcome {
    /// Reads the state map's value; `None` when it has another length than the C struct.
    #[must_use]
    pub fn from_value(value: &[u8]) -> Option<Self> {
        let words = crate::to_words(value);
        if words.len() != WORDS {
            return None;
        }
        let of = |way: usize, place: usize| words[FIXED_WORDS + way * DIRECTION_WORDS + place];
        let by_way = |place: usize| std::array::from_fn(|way| of(way, place));
        Some(Self {
            started_ns: words[7],
            slots: words[8],
            first_ns: words[10],
            last_ns: words[11],
            ended_ns: words[12],
            stopped: None,
            marks: words[20],
            burst_largest: words[14],
            refused: words[15],
            late_largest_ns: words[16],
            unsent: by_way(UNSENT),
            sent: by_way(SEQUENCE),
            lateness: words[WORDS - BUCKETS..].to_vec(),
        })
    }
}
