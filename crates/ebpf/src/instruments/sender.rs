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

const FIXED_WORDS: usize = 18;
const DIRECTION_WORDS: usize = 13;
const WORDS: usize = FIXED_WORDS + DIRECTIONS * DIRECTION_WORDS + BUCKETS;

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
    /// All frames to the template's addresses, whatever the list of far addresses says (canaries).
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
    /// Whether it was stopped before, as its caller wished.
    pub stopped: bool,
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
            started_ns: words[6],
            slots: words[7],
            first_ns: words[9],
            last_ns: words[10],
            ended_ns: words[11],
            stopped: false,
            burst_largest: words[13],
            refused: words[14],
            late_largest_ns: words[15],
            unsent: by_way(UNSENT),
            sent: by_way(SEQUENCE),
            lateness: words[WORDS - BUCKETS..].to_vec(),
        })
    }
}
