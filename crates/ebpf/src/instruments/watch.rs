//! Reads `watch.bpf.c`: the longest time each CPU stood still.

#[allow(
    missing_docs,
    clippy::all,
    clippy::pedantic,
    clippy::undocumented_unsafe_blocks
)]
mod skeleton {
    include!(concat!(env!("OUT_DIR"), "/watch.skel.rs"));
}
pub use skeleton::{OpenWatchSkel, WatchSkel, WatchSkelBuilder};

/// Octets of the kernel's timer at the head of each entry.
const TIMER_WORDS: usize = 2;

/// One CPU's standing still since the watch was last cleared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Watched {
    /// Longest time between two ticks, ns (the period at least).
    pub longest_ns: u64,
    /// Ticks seen.
    pub ticks: u64,
    /// The epoch these belong to.
    pub epoch: u64,
    /// Stalls since; the last [`STALLS_MAX`] are kept.
    pub stalls: u64,
}

/// Stalls kept of each CPU.
pub const STALLS_MAX: u32 = 4096;

/// Two ticks between which a CPU stood still, monotonic ns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stall {
    /// The tick before.
    pub from_ns: u64,
    /// The tick after.
    pub to_ns: u64,
}

impl Stall {
    /// Reads one entry; `None` when it has another length than the C struct.
    #[must_use]
    pub fn from_value(value: &[u8]) -> Option<Self> {
        match crate::to_words(value)[..] {
            [from_ns, to_ns] => Some(Self { from_ns, to_ns }),
            _ => None,
        }
    }
}

impl Watched {
    /// Reads one CPU's entry; `None` when it has another length than the C struct.
    #[must_use]
    pub fn from_value(value: &[u8]) -> Option<Self> {
        let words = crate::to_words(value);
        let &[_last_ns, longest_ns, ticks, epoch, stalls] = words.get(TIMER_WORDS..)? else {
            return None;
        };
        Some(Self {
            longest_ns,
            ticks,
            epoch,
            stalls,
        })
    }
}
