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
    /// Longest time another task ran without a break, ns.
    pub longest_ns: u64,
    /// All time of other tasks, ns.
    pub total_ns: u64,
    /// Name of the task that ran longest, as the kernel keeps it (zero-padded).
    pub longest_comm: [u8; 16],
}

impl Crowded {
    /// A watched CPU with nothing seen yet.
    #[must_use]
    pub fn cleared() -> Vec<u8> {
        [1u64, 0, 0, 0, 0, 0, 0]
            .iter()
            .flat_map(|word| word.to_ne_bytes())
            .collect()
    }

    /// Reads one CPU's entry; `None` when it has another length than the C struct.
    #[must_use]
    pub fn from_value(value: &[u8]) -> Option<Self> {
        let &[_watched, _came_pid, _came_ns, longest_ns, total_ns, _, _] =
            crate::to_words(value).as_slice()
        else {
            return None;
        };
        let longest_comm = value.last_chunk::<16>().copied()?;
        Some(Self {
            longest_ns,
            total_ns,
            longest_comm,
        })
    }
}
