//! Reads `crowd.bpf.c`: what other programs had of the bed's CPUs.

#[allow(
    missing_docs,
    clippy::all,
    clippy::pedantic,
    clippy::undocumented_unsafe_blocks
)]
mod skeleton {
    include!(concat!(env!("OUT_DIR"), "/crowd.skel.rs"));
}
pub use skeleton::{CrowdSkel, CrowdSkelBuilder, OpenCrowdSkel};

/// One CPU since it was last cleared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Crowded {
    /// When it was, ns (CLOCK_MONOTONIC).
    pub cleared_ns: u64,
    /// Longest time another task ran without a break, ns.
    pub longest_ns: u64,
    /// All time of other tasks, ns.
    pub total_ns: u64,
    /// Name of the task that ran longest, as the kernel keeps it (zero-padded).
    pub longest_comm: [u8; 16],
}

impl Crowded {
    /// A watched CPU with nothing seen yet, from now on (ns, CLOCK_MONOTONIC).
    #[must_use]
    pub fn cleared(now_ns: u64) -> Vec<u8> {
        [1, now_ns, 0, 0, 0, 0]
            .iter()
            .flat_map(|word: &u64| word.to_ne_bytes())
            .collect()
    }

    /// Reads one CPU's entry; `None` when it has another length than the C struct.
    #[must_use]
    pub fn from_value(value: &[u8]) -> Option<Self> {
        let &[_watched, cleared_ns, longest_ns, total_ns, _, _] = crate::to_words(value).as_slice()
        else {
            return None;
        };
        let longest_comm = value.last_chunk::<16>().copied()?;
        Some(Self {
            cleared_ns,
            longest_ns,
            total_ns,
            longest_comm,
        })
    }
}

/// Who came to a CPU at the last switch seen, and by all that was seen has it still.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Came {
    /// Task id; 0: the idle task, or none seen yet.
    pub pid: u64,
    /// When, ns (CLOCK_MONOTONIC).
    pub ns: u64,
}

impl Came {
    /// Reads one CPU's entry; `None` when it has another length than the C struct.
    #[must_use]
    pub fn from_value(value: &[u8]) -> Option<Self> {
        let &[pid, ns] = crate::to_words(value).as_slice() else {
            return None;
        };
        Some(Self { pid, ns })
    }
}
