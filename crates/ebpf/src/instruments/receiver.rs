//! Reads `receiver.bpf.c`: what reached the tester's port.

#[allow(
    missing_docs,
    clippy::all,
    clippy::pedantic,
    clippy::undocumented_unsafe_blocks
)]
mod skeleton {
    include!(concat!(env!("OUT_DIR"), "/receiver.skel.rs"));
}
pub use skeleton::{OpenReceiverSkel, ReceiverSkel, ReceiverSkelBuilder};

/// Buckets of the latency histogram (the scheme of `mpps_method::histogram`).
pub const BUCKETS: usize = 1152;

/// TTL and hop limit of the sender's frames; `receiver.h` has the same.
pub const SENT_TTL: u8 = 64;

const FIXED_WORDS: usize = 12;
/// A window of time is 2 to this power, ns: 8.4 ms.
pub const WINDOW_SHIFT: u32 = 23;
/// Windows kept: 34 s of them.
pub const WINDOWS_MAX: u64 = 4096;

/// What one port received in one trial, over all CPUs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Received {
    /// Frames of this trial, duplicates included.
    pub tagged: u64,
    /// Of these, with a sequence number seen before.
    pub duplicated: u64,
    /// Of these, behind a later one of their flow (RFC 4737).
    pub reordered: u64,
    /// Frames without our tag.
    pub foreign: u64,
    /// Frames of an earlier trial.
    pub late: u64,
    /// Canary frames.
    pub canary: u64,
    /// Frames of this trial with a sequence nobody sends.
    pub beyond: u64,
    /// Earliest and latest arrival, monotonic ns (0 where arrivals are not timed).
    pub first_ns: u64,
    /// See `first_ns`.
    pub last_ns: u64,
    /// Of the frames that are timed, those whose TTL or hop limit was not lowered on the way.
    pub not_lowered: u64,
    /// Frames that came merged into larger ones (only where the receiver stands at the DUT's exit).
    pub merged: u64,
    /// Latency of each frame, log-linear buckets of ns.
    pub latency: Vec<u64>,
}

impl Received {
    /// Adds up the CPUs' values; `None` when one has another length than the C struct.
    #[must_use]
    pub fn from_cpus(per_cpu: &[Vec<u8>]) -> Option<Self> {
        let sum = crate::sum_words(per_cpu);
        if sum.len() != FIXED_WORDS + BUCKETS {
            return None;
        }
        let times = |word: usize| {
            per_cpu
                .iter()
                .filter_map(move |value| crate::to_words(value).get(word).copied())
        };
        Some(Self {
            tagged: sum[0],
            duplicated: sum[1],
            reordered: sum[2],
            foreign: sum[3],
            late: sum[4],
            canary: sum[5],
            beyond: sum[6],
            first_ns: times(7).filter(|&ns| ns > 0).min().unwrap_or(0),
            last_ns: times(8).max().unwrap_or(0),
            not_lowered: sum[11],
            merged: sum[9],
            latency: sum[FIXED_WORDS..].to_vec(),
        })
    }
}

/// When a window's first timed frame came, and how many frames of the trial one CPU had counted by then.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WindowMark {
    /// Monotonic ns.
    pub ns: u64,
    /// Frames, duplicates included.
    pub tagged: u64,
}

impl WindowMark {
    /// Reads one CPU's value; `None` when it has another length than the C struct.
    #[must_use]
    pub fn from_value(value: &[u8]) -> Option<Self> {
        match crate::to_words(value)[..] {
            [ns, tagged] => Some(Self { ns, tagged }),
            _ => None,
        }
    }
}
