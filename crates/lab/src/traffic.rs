//! What is sent: frame sizes, flows, addresses, directions.

use crate::bed::Bed;
use crate::destinations::Destinations;
use crate::tester::{
    PortKind, ReceiverPlace, ReceiverPlan, SenderPlan, Template, TesterError, Varied, Way,
};
use mpps_ebpf::instruments::sender::SIZES_MAX;
use mpps_method::{FlowOrder, FrameLen, FrameSpec, Transport};
use mpps_wire::ether::MacAddr;
use mpps_wire::template::{self, Addresses, FrameTemplate};
use std::sync::Arc;

/// Hops a frame may still make; RFC 2544 names no value, 64 is the Internet's habit.
const TTL: u8 = mpps_ebpf::instruments::receiver::SENT_TTL;

/// One kind of traffic: all that stays the same over the trials of one search.
#[derive(Clone, Debug)]
pub struct Traffic {
    /// Frame sizes.
    pub frames: FrameSpec,
    /// Flows in each direction, sent round robin.
    pub flows: u32,
    /// Frames each flow lives before a new one takes its place; `None`: for ever.
    pub flow_length: Option<u32>,
    /// Destinations that take turns; `None`: the tester's own address alone.
    pub destinations: Option<Destinations>,
    /// What the frames look like behind their IP header.
    pub transport: Transport,
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
    /// Where the tester receives.
    pub receiver: ReceiverPlace,
}

impl Default for Traffic {
    /// The plainest there is: 64 octets, one flow, IPv4 and UDP, one way.
    fn default() -> Self {
        Self {
            frames: FrameSpec::Fixed(FrameLen::MIN),
            flows: 1,
            flow_length: None,
            destinations: None,
            transport: Transport::Udp,
            ipv6: false,
            bidirectional: false,
            dscp: 0,
            seed: 1,
            batch: Self::BATCH,
            all_timed: false,
            port: PortKind::Xdp,
            receiver: ReceiverPlace::Port,
        }
    }
}

/// Frames sent on one reading of the clock where all of them are late anyway: it costs 30 ns.
const CLOCK_FRAMES: u32 = 8;

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

    /// Whether the DUT is to have no route for any frame, and to drop it for that.
    #[must_use]
    pub fn missing(&self) -> bool {
        self.destinations
            .as_ref()
            .is_some_and(Destinations::missing)
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
            transport: if self.transport.is_tcp() {
                template::Transport::Tcp
            } else {
                template::Transport::Udp
            },
            dscp: self.dscp,
            ttl: TTL,
        }
    }

    /// Which flow each frame of a direction belongs to.
    #[must_use]
    pub fn flow_order(&self) -> FlowOrder {
        FlowOrder {
            flows: self.flows,
            flow_length: self.flow_length,
            destinations: self.destinations.as_ref().map_or(1, Destinations::places),
        }
    }

    /// Whether a trial may go on with the destination after the last one of the trial before it. Where flows have a
    /// length, a destination belongs to its flow.
    #[must_use]
    pub fn destinations_continue(&self) -> bool {
        let destinations = self.destinations.as_ref();
        self.flow_length.is_none() && destinations.is_some_and(Destinations::begins_anywhere)
    }

    /// The sender of this traffic along these ways.
    ///
    /// # Errors
    /// A schedule of sizes that does not fit.
    pub fn sender_plan(&self, bed: &Bed, ways: &[Way]) -> Result<SenderPlan, TesterError> {
        let lengths = match &self.frames {
            FrameSpec::Fixed(length) => vec![length.without_fcs()],
            FrameSpec::Mix(_) | FrameSpec::Genome(_) => self
                .frames
                .schedule(self.seed, SIZES_MAX)
                .iter()
                .map(|length| length.without_fcs())
                .collect(),
        };
        Ok(SenderPlan {
            templates: ways
                .iter()
                .zip([Varied::Destination, Varied::Source])
                .map(|(way, far)| Template::new(&self.frame_template(bed, *way), far))
                .collect::<Result<_, _>>()?,
            ipv6: self.ipv6,
            transport: self.transport,
            flows: self.flows,
            flow_length: self.flow_length,
            destinations: self.destinations.clone(),
            seed: self.seed,
            clock_frames: if self.all_timed { 1 } else { CLOCK_FRAMES },
            lengths,
            batch: self.batch,
            cpu: bed.plan().cpus.sender(),
        })
    }

    /// With a length each flow is one of its own, wherever it goes.
    fn place_flow(&self) -> Option<Arc<Vec<u32>>> {
        let repeats = self.destinations.as_ref()?.place_flow.clone();
        repeats.filter(|_| self.flow_length.is_none())
    }

    pub(crate) fn receiver_plan(&self, frames_max: u64) -> ReceiverPlan {
        ReceiverPlan {
            order: self.flow_order(),
            tcp: self.transport.is_tcp(),
            place_flow: self.place_flow(),
            sequences_max: frames_max,
            all_timed: self.all_timed,
            pass_foreign: false,
        }
    }
}
