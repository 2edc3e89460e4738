//! What is sent: frame sizes, flows, addresses, directions.

use crate::bed::Bed;
use crate::tester::{PortKind, ReceiverPlan, SenderPlan, Template, TesterError, Way};
use mpps_ebpf::instruments::sender::SIZES_MAX;
use mpps_method::FrameSpec;
use mpps_wire::ether::MacAddr;
use mpps_wire::template::{Addresses, FrameTemplate};

/// Hops a frame may still make; RFC 2544 names no value, 64 is the Internet's habit.
const TTL: u8 = 64;

/// One kind of traffic: all that stays the same over the trials of one search.
#[derive(Clone, Debug)]
pub struct Traffic {
    /// Frame sizes.
    pub frames: FrameSpec,
    /// Flows in each direction, sent round robin.
    pub flows: u32,
    /// IPv6 instead of IPv4.
    pub ipv6: bool,
    /// Both ways at once; the offered rate is the sum of both.
    pub bidirectional: bool,
    /// Differentiated services code point, 0 to 63.
    pub dscp: u8,
    /// Seed of everything drawn.
    pub seed: u64,
    /// Pages the sender hands on at once.
    pub batch: u32,
    /// Whether every frame's arrival is timed, or one frame's in 16.
    pub all_timed: bool,
    /// What carries the frames at the tester's ports.
    pub port: PortKind,
}

impl Traffic {
    /// Pages handed on at once in throughput trials. Below the 64 frames a NAPI poll takes (its weight), so
    /// that the virtual NIC's poll empties the port within the sender's own call. What a poll leaves over
    /// waits for the next softirq, in the context of whatever task then runs, and some kernels show
    /// no tracepoint there: the ledger was open by just those frames. Rates from 60 to 96 are alike.
    pub const BATCH: u32 = 60;

    /// Directions served.
    #[must_use]
    pub fn directions(&self) -> u64 {
        if self.bidirectional { 2 } else { 1 }
    }

    /// Header template of one direction's frames.
    #[must_use]
    pub fn frame_template(&self, bed: &Bed, way: Way) -> FrameTemplate {
        let (from, to) = (bed.port(way.from), bed.port(way.to));
        FrameTemplate {
            src_mac: MacAddr(from.mac),
            dst_mac: MacAddr(bed.port(way.dut_in).mac),
            addresses: if self.ipv6 {
                Addresses::V6(from.v6, to.v6)
            } else {
                Addresses::V4(from.v4, to.v4)
            },
            dscp: self.dscp,
            ttl: TTL,
        }
    }

    pub(crate) fn sender_plan(&self, bed: &Bed, ways: &[Way]) -> Result<SenderPlan, TesterError> {
        let lengths = match &self.frames {
            FrameSpec::Fixed(length) => vec![length.without_fcs()],
            FrameSpec::Mix(_) => self
                .frames
                .schedule(self.seed, SIZES_MAX)
                .iter()
                .map(|length| length.without_fcs())
                .collect(),
        };
        Ok(SenderPlan {
            templates: ways
                .iter()
                .map(|way| Template::new(&self.frame_template(bed, *way)))
                .collect::<Result<_, _>>()?,
            ipv6: self.ipv6,
            flows: self.flows,
            lengths,
            batch: self.batch,
            cpu: bed.plan().cpus.sender(),
        })
    }

    pub(crate) fn receiver_plan(&self, bed: &Bed, way: Way, frames_max: u64) -> ReceiverPlan {
        let from = bed.port(way.from);
        let source_first = if self.ipv6 {
            u128::from(from.v6) as u32
        } else {
            u32::from(from.v4)
        };
        ReceiverPlan {
            source_first,
            flows: self.flows,
            sequences_max: frames_max,
            all_timed: self.all_timed,
        }
    }
}
