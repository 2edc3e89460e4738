//! What frames do to memory, and what memory can take.

use crate::units::FrameLen;
use serde::Serialize;

/// Octets that memory moves at once.
const LINE: u16 = 64;

/// What a memory moves, reads and writes together.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MemoryBandwidth {
    /// Octets per second.
    pub octets_per_s: f64,
}

impl MemoryBandwidth {
    /// A bus that moves `width_bits` at both edges of a clock of `clock_hz`: DDR memory (64 bit a channel),
    /// HyperTransport (16 bit one way).
    #[must_use]
    pub fn double_data_rate(clock_hz: f64, width_bits: u32) -> Self {
        Self {
            octets_per_s: 2.0 * clock_hz * f64::from(width_bits) / 8.0,
        }
    }

    /// Bits per second.
    #[must_use]
    pub fn bits_per_s(self) -> f64 {
        self.octets_per_s * 8.0
    }
}

/// Octets written to and read from memory, for one frame or for a second of them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MemoryTraffic {
    /// Written: what comes in.
    pub written_octets: f64,
    /// Read: what goes out.
    pub read_octets: f64,
}

impl MemoryTraffic {
    /// Of one forwarded frame: written by the NIC that receives it, read by the one that transmits it, in
    /// whole lines. Where the NIC writes into the CPU's cache (DDIO) less of it reaches the memory.
    #[must_use]
    pub fn from_frame(frame: FrameLen) -> Self {
        let lines = f64::from(frame.without_fcs().div_ceil(LINE) * LINE);
        Self {
            written_octets: lines,
            read_octets: lines,
        }
    }

    /// Both together.
    #[must_use]
    pub fn octets(self) -> f64 {
        self.written_octets + self.read_octets
    }
}

/// One size of working set.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct WorkingSet {
    /// Octets in use.
    pub working_set_octets: u64,
    /// Time of one access that depends on the one before, ns.
    pub latency_ns: f64,
    /// Octets per second of a copy inside the working set, read and written together.
    pub copy_octets_per_s: f64,
}

/// What was measured of a machine's memory, and how far it can be believed.
#[derive(Clone, Debug, PartialEq)]
pub struct MemoryMeasured {
    /// The CPU it ran on.
    pub cpu: usize,
    /// By rising size; each four times the one before, and the largest.
    pub points: Vec<WorkingSet>,
    /// Octets per second that all CPUs copy at once, each within its share of the largest working set; read
    /// and written together.
    pub together_octets_per_s: f64,
    /// How many CPUs that were.
    pub together_cpus: usize,
    /// Share of the time that the hypervisor took the one CPU away; `None` where the kernel does not say.
    pub steal_share: Option<f64>,
    /// Share of the time that other programs had that CPU.
    pub others_share: f64,
}

impl MemoryMeasured {
    /// The largest working set: memory itself, where that is beyond every cache.
    #[must_use]
    pub fn memory(&self) -> Option<WorkingSet> {
        self.points.last().copied()
    }
}
