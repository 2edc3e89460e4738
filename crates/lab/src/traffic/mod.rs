//! What is sent: frame sizes, flows, addresses, directions, and by which ports. Knows no tester and no bed.

pub mod destinations;

pub use mpps_record::known::ReceiverPlace;

use crate::fib::ReplayedChanges;
use destinations::Destinations;
use mpps_method::{FlowOrder, FrameLen, FrameSpec, Transport};
use std::sync::Arc;

/// Management queries each second at most: each wakes a thread on the tester's CPU.
pub const QUERIES_MAX: u16 = 100;

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
    /// Changes of the DUT's routes during each trial.
    pub route_changes: Option<Arc<ReplayedChanges>>,
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
    /// Management queries each second, 1 to [`QUERIES_MAX`].
    pub queries_per_s: Option<u16>,
    /// Whether every frame's arrival is timed, or one frame's in 16.
    pub all_timed: bool,
    /// CPUs of the DUT that serve a virtual NIC's rings; `None`: all of them.
    pub dut_cpus: Option<usize>,
    /// What carries the frames at the tester's ports.
    pub port: PortKind,
    /// Where the tester receives.
    pub receiver: ReceiverPlace,
}

mpps_method::named! {
    /// What carries the frames at the tester's ports.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum PortKind {
        /// eBPF: live XDP frames out, an XDP program in.
        #[default]
        Xdp = "xdp",
        /// Packet sockets with rings (packet(7)): any Ethernet port, any frame its MTU allows.
        AfPacket = "af-packet",
    }
}

impl Default for Traffic {
    /// The plainest there is: 64 octets, one flow, IPv4 and UDP, one way.
    fn default() -> Self {
        Self {
            frames: FrameSpec::Fixed(FrameLen::MIN),
            flows: 1,
            flow_length: None,
            destinations: None,
            route_changes: None,
            transport: Transport::Udp,
            ipv6: false,
            bidirectional: false,
            dscp: 0,
            seed: 1,
            batch: Self::BATCH,
            queries_per_s: None,
            all_timed: false,
            dut_cpus: None,
            port: PortKind::Xdp,
            receiver: ReceiverPlace::Port,
        }
    }
}

impl Traffic {
    /// Pages handed on at once in throughput trials. Below the 64 frames a NAPI poll takes (its weight), so
    /// that the virtual NIC's poll empties the port within the sender's own call. What a poll leaves over
    /// waits for the next softirq, in the context of whatever task then runs, and some kernels show
    /// no tracepoint there: the ledger was open by just those frames. Rates from 60 to 96 are alike.
    pub const BATCH: u32 = 60;

    /// The same traffic with these frame sizes.
    #[must_use]
    pub fn with_frames(&self, frames: &FrameSpec) -> Self {
        Self {
            frames: frames.clone(),
            ..self.clone()
        }
    }

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

    /// Which flow is at each place, where destinations come again (see [`FlowOrder::place`]). With a length each flow is
    /// one of its own, wherever it goes.
    #[must_use]
    pub fn place_flow(&self) -> Option<Arc<Vec<u32>>> {
        let repeats = self.destinations.as_ref()?.place_flow.clone();
        repeats.filter(|_| self.flow_length.is_none())
    }
}
