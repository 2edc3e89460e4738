//! What frames do to memory, and what memory can take.

use crate::units::{FrameLen, LinkSpeed};

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

    /// Of a second in which a router's interfaces carry so much altogether, half of it in, half out.
    #[must_use]
    pub fn through_interfaces(all: LinkSpeed) -> Self {
        let half = all.bits_per_second() as f64 / 2.0 / 8.0;
        Self {
            written_octets: half,
            read_octets: half,
        }
    }

    /// Both together.
    #[must_use]
    pub fn octets(self) -> f64 {
        self.written_octets + self.read_octets
    }
}
