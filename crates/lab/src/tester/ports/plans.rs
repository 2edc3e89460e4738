//! What sender and receiver are to do, from the traffic and the bed's addresses.

use super::receiver::ReceiverPlan;
use super::sender::SenderPlan;
use super::template::{Template, Varied};
use crate::bed::Bed;
use crate::tester::error::TesterError;
use crate::tester::ways::Way;
use crate::traffic::Traffic;
use mpps_ebpf::instruments::receiver::SENT_TTL;
use mpps_ebpf::instruments::sender::SIZES_MAX;
use mpps_method::FrameSpec;
use mpps_wire::ether::MacAddr;
use mpps_wire::template::{self, Addresses, FrameTemplate};

/// Hops a frame may still make; RFC 2544 names no value, 64 is the Internet's habit.
const TTL: u8 = SENT_TTL;

/// Frames sent on one reading of the clock where all of them are late anyway: it costs 30 ns.
const CLOCK_FRAMES: u32 = 8;

/// Header template of one direction's frames.
#[must_use]
pub fn frame_template(traffic: &Traffic, way: &Way<'_>) -> FrameTemplate {
    let (from, to) = (way.from, way.to);
    FrameTemplate {
        src_mac: MacAddr(from.mac),
        dst_mac: MacAddr(way.next_hop),
        addresses: if traffic.ipv6 {
            Addresses::V6(from.v6, to.v6)
        } else {
            Addresses::V4(from.v4, to.v4)
        },
        transport: if traffic.transport.is_tcp() {
            template::Transport::Tcp
        } else {
            template::Transport::Udp
        },
        dscp: traffic.dscp,
        ttl: TTL,
    }
}

impl SenderPlan {
    /// The sender of this traffic along these ways.
    ///
    /// # Errors
    /// A schedule of sizes that does not fit.
    pub fn new(bed: &Bed, traffic: &Traffic, ways: &[Way<'_>]) -> Result<Self, TesterError> {
        let lengths = match &traffic.frames {
            FrameSpec::Fixed(length) => vec![length.without_fcs()],
            FrameSpec::Mix(_) | FrameSpec::Genome(_) => traffic
                .frames
                .schedule(traffic.seed, SIZES_MAX)
                .iter()
                .map(|length| length.without_fcs())
                .collect(),
        };
        Ok(Self {
            templates: ways
                .iter()
                .zip([Varied::Destination, Varied::Source])
                .map(|(way, varied)| Template::new(&frame_template(traffic, way), varied))
                .collect::<Result<_, _>>()?,
            ipv6: traffic.ipv6,
            transport: traffic.transport,
            flows: traffic.flows,
            flow_length: traffic.flow_length,
            destinations: traffic.destinations.clone(),
            seed: traffic.seed,
            clock_frames: if traffic.all_timed { 1 } else { CLOCK_FRAMES },
            lengths,
            batch: traffic.batch,
            cpu: bed.plan().cpus.sender(),
        })
    }

    /// Lengths that are sent, each once, without FCS.
    pub(super) fn distinct_lengths(&self) -> Vec<u16> {
        let mut lengths = self.lengths.clone();
        lengths.sort_unstable();
        lengths.dedup();
        lengths
    }
}

impl ReceiverPlan {
    /// The receiver of trials of at most `frames_max` frames in its direction.
    #[must_use]
    pub fn new(traffic: &Traffic, frames_max: u64) -> Self {
        Self {
            order: traffic.flow_order(),
            tcp: traffic.transport.is_tcp(),
            place_flow: traffic.place_flow(),
            sequences_max: frames_max,
            all_timed: traffic.all_timed,
            pass_foreign: false,
        }
    }
}
