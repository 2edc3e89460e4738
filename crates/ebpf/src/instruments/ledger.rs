//! Reads `ledger.bpf.c`: what the port and the virtual NIC's rings took and refused.

#[allow(
    missing_docs,
    clippy::all,
    clippy::pedantic,
    clippy::undocumented_unsafe_blocks
)]
mod skeleton {
    include!(concat!(env!("OUT_DIR"), "/ledger.skel.rs"));
}
pub use skeleton::{LedgerSkel, LedgerSkelBuilder, OpenLedgerSkel};

/// One direction's counts, over all CPUs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Taken {
    /// Frames the sending port took.
    pub port_taken: u64,
    /// Frames the sending port refused.
    pub port_refused: u64,
    /// Frames the virtual NIC's rings took.
    pub ring_taken: u64,
    /// Frames that found their ring full.
    pub ring_refused: u64,
}

impl Taken {
    /// Adds up the CPUs' values; `None` when one has another length than the C struct.
    #[must_use]
    pub fn from_cpus(per_cpu: &[Vec<u8>]) -> Option<Self> {
        let &[port_taken, port_refused, ring_taken, ring_refused] =
            crate::sum_words(per_cpu).as_slice()
        else {
            return None;
        };
        Some(Self {
            port_taken,
            port_refused,
            ring_taken,
            ring_refused,
        })
    }
}
