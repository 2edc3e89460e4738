//! Reads `fault.bpf.c`: what was planted on the DUT's path to calibrate the meter.

#[allow(
    missing_docs,
    clippy::all,
    clippy::pedantic,
    clippy::undocumented_unsafe_blocks
)]
mod skeleton {
    include!(concat!(env!("OUT_DIR"), "/fault.skel.rs"));
}
pub use skeleton::{FaultSkel, FaultSkelBuilder, OpenFaultSkel};

/// The planting program's own count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Planted {
    /// Tagged frames that came by.
    pub seen: u64,
    /// Frames dropped, one in N.
    pub dropped: u64,
    /// Frames sent twice.
    pub duplicated: u64,
    /// Pairs whose tags changed places.
    pub swapped: u64,
    /// Frames dropped above the policed rate.
    pub policed: u64,
    /// Frames held back.
    pub delayed: u64,
    /// How long these were held back in all, ns.
    pub delayed_ns: u64,
}

impl Planted {
    /// Adds up the CPUs' values; `None` when one has another length than the C struct.
    #[must_use]
    pub fn from_cpus(per_cpu: &[Vec<u8>]) -> Option<Self> {
        let &[
            seen,
            dropped,
            duplicated,
            swapped,
            policed,
            delayed,
            delayed_ns,
        ] = crate::sum_words(per_cpu).as_slice()
        else {
            return None;
        };
        Some(Self {
            seen,
            dropped,
            duplicated,
            swapped,
            policed,
            delayed,
            delayed_ns,
        })
    }
}
