//! The bus between NIC and memory: line coding, packets, descriptors.

use crate::units::FrameLen;
use std::fmt;

/// A PCI Express generation, 1 to 7.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Generation(u8);

/// What is no PCI Express link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PcieError {
    /// A generation nobody has specified.
    #[error("there is no PCI Express generation {0}: give 1 to {LAST}")]
    Generation(u8),
    /// A width no link has.
    #[error("a PCI Express link has no {0} lanes: give 1, 2, 4, 8, 12, 16 or 32")]
    Lanes(u8),
    /// A largest payload that is none of the six.
    #[error(
        "a PCI Express packet's largest payload is not {0} octets: give 128, 256, 512, 1024, 2048 or 4096"
    )]
    Payload(u16),
}

/// The latest generation specified (PCI Express 7.0, 2025).
const LAST: u8 = 7;
/// Octets of a flit that carry packets, and all of them (PCI Express 6.0 section 4.2.3).
const FLIT: (f64, f64) = (236.0, 256.0);

impl Generation {
    /// Generation `number`.
    ///
    /// # Errors
    /// Not 1 to 7.
    pub fn new(number: u8) -> Result<Self, PcieError> {
        if (1..=LAST).contains(&number) {
            Ok(Self(number))
        } else {
            Err(PcieError::Generation(number))
        }
    }

    /// Its number.
    #[must_use]
    pub const fn number(self) -> u8 {
        self.0
    }

    /// The generation that runs at so many GT/s a lane, as sysfs prints it: `8.0 GT/s PCIe`.
    #[must_use]
    pub fn from_speed(text: &str) -> Option<Self> {
        let speed: f64 = text.split_whitespace().next()?.parse().ok()?;
        (1..=LAST)
            .map(Self)
            .find(|generation| (generation.bits_per_lane() / 1e9 - speed).abs() < 0.01)
    }

    /// Bits per second a lane moves in one direction, coding included.
    #[must_use]
    pub fn bits_per_lane(self) -> f64 {
        match self.0 {
            1 => 2.5e9,
            2 => 5e9,
            faster => f64::from(1u16 << (faster - 3)) * 8e9,
        }
    }

    /// Share of the bits that the line coding leaves: 8b/10b, from generation 3 on 128b/130b, from 6 on
    /// what a flit leaves beside its own check and correction.
    #[must_use]
    pub fn coding(self) -> f64 {
        match self.0 {
            1 | 2 => 8.0 / 10.0,
            3..=5 => 128.0 / 130.0,
            _ => FLIT.0 / FLIT.1,
        }
    }

    /// The coding's name.
    #[must_use]
    pub const fn coding_name(self) -> &'static str {
        match self.0 {
            1 | 2 => "8b/10b",
            3..=5 => "128b/130b",
            _ => "flits",
        }
    }
}

/// A PCI Express link; it moves as much in each direction at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bus {
    generation: Generation,
    lanes: u8,
}

impl Bus {
    /// A link of this generation and width.
    ///
    /// # Errors
    /// A generation or width that there is not.
    pub fn pcie(generation: u8, lanes: u8) -> Result<Self, PcieError> {
        let generation = Generation::new(generation)?;
        if matches!(lanes, 1 | 2 | 4 | 8 | 12 | 16 | 32) {
            Ok(Self { generation, lanes })
        } else {
            Err(PcieError::Lanes(lanes))
        }
    }

    /// Its generation.
    #[must_use]
    pub const fn generation(self) -> Generation {
        self.generation
    }

    /// Its lanes.
    #[must_use]
    pub const fn lanes(self) -> u8 {
        self.lanes
    }

    /// Bits per second one way, coding included.
    #[must_use]
    pub fn raw_bits_per_s(self) -> f64 {
        self.generation.bits_per_lane() * f64::from(self.lanes)
    }

    /// Bits per second one way that are left for packets.
    #[must_use]
    pub fn bits_per_s(self) -> f64 {
        self.raw_bits_per_s() * self.generation.coding()
    }

    /// Octets per second one way that are left for packets.
    #[must_use]
    pub fn octets_per_s(self) -> f64 {
        self.bits_per_s() / 8.0
    }
}

impl fmt::Display for Bus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format!("PCIe {}.0 x{}", self.generation.0, self.lanes))
    }
}

/// How frames and descriptors cross the bus (PCI Express 3.0 section 2.2; the model of Neugebauer et al.,
/// Understanding PCIe performance for end host networking, SIGCOMM 2018, without its driver's registers).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packets {
    max_payload: u16,
    overhead: u16,
    descriptor: u16,
}

/// Octets that one read asks for at most: what most devices are set to.
const READ_REQUEST: u16 = 512;
/// Octets of a cache line: descriptors are moved by the line.
const LINE: u16 = 64;

impl Packets {
    /// Payload of a packet at most where nothing else is known: what most chipsets allow.
    pub const MAX_PAYLOAD: u16 = 256;
    /// Octets around each payload: framing and sequence number 4, header 16 (64-bit address), check 4.
    pub const OVERHEAD: u16 = 24;
    /// Octets of a frame's descriptor, as in Intel's NICs.
    pub const DESCRIPTOR: u16 = 16;

    /// Packets of at most `max_payload` octets with `overhead` octets around, and descriptors of
    /// `descriptor` octets (0: not counted).
    ///
    /// # Errors
    /// A payload that no device can be set to.
    pub fn new(max_payload: u16, overhead: u16, descriptor: u16) -> Result<Self, PcieError> {
        if matches!(max_payload, 128 | 256 | 512 | 1024 | 2048 | 4096) {
            Ok(Self {
                max_payload,
                overhead,
                descriptor,
            })
        } else {
            Err(PcieError::Payload(max_payload))
        }
    }

    /// Payload of a packet at most, octets.
    #[must_use]
    pub const fn max_payload(self) -> u16 {
        self.max_payload
    }

    /// Octets around each payload.
    #[must_use]
    pub const fn overhead(self) -> u16 {
        self.overhead
    }

    /// Octets of a descriptor; 0 where they are not counted.
    #[must_use]
    pub const fn descriptor(self) -> u16 {
        self.descriptor
    }

    /// Share of the link that payload has when every packet is full (128 of 152 octets: 0.84).
    #[must_use]
    pub fn payload_share(self) -> f64 {
        let payload = f64::from(self.max_payload);
        payload / (payload + f64::from(self.overhead))
    }

    /// Octets one frame takes in the direction it goes, on a port that only receives (or only transmits):
    /// its own packets and its descriptor's.
    #[must_use]
    pub fn octets_one_way(self, frame: FrameLen) -> f64 {
        self.data(frame) + self.descriptor_moved()
    }

    /// Octets one received and one transmitted frame take together in the busier direction of the bus.
    ///
    /// To the host: the received frame, its descriptor written back, and the requests to read the other's
    /// data and both descriptors. From the host: the transmitted frame and both descriptors. Registers,
    /// flow control and the report that a frame has left are not counted.
    #[must_use]
    pub fn octets_both_ways(self, frame: FrameLen) -> f64 {
        let requests = frame.without_fcs().div_ceil(READ_REQUEST);
        let to_host = self.data(frame)
            + self.descriptor_moved()
            + f64::from(requests) * f64::from(self.overhead)
            + 2.0 * self.descriptor_asked();
        let from_host = self.data(frame) + 2.0 * self.descriptor_moved();
        to_host.max(from_host)
    }

    fn data(self, frame: FrameLen) -> f64 {
        let octets = frame.without_fcs();
        let packets = octets.div_ceil(self.max_payload);
        f64::from(octets) + f64::from(packets) * f64::from(self.overhead)
    }

    /// A descriptor's share of the packet that moves it; a line of them goes at once.
    fn descriptor_moved(self) -> f64 {
        f64::from(self.descriptor) + self.descriptor_asked()
    }

    /// A descriptor's share of the packet that asks for its line.
    fn descriptor_asked(self) -> f64 {
        if self.descriptor == 0 {
            return 0.0;
        }
        let at_once = (LINE / self.descriptor).max(1);
        f64::from(self.overhead) / f64::from(at_once)
    }
}

impl Default for Packets {
    fn default() -> Self {
        Self {
            max_payload: Self::MAX_PAYLOAD,
            overhead: Self::OVERHEAD,
            descriptor: Self::DESCRIPTOR,
        }
    }
}
