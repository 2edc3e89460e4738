//! The frames of one direction, each by its sequence number: the same octets as `sender.bpf.c` writes.

use crate::destinations::Destinations;
use crate::tester::ports::sender::SenderPlan;
use crate::tester::ports::template::Template;
use crate::tester::ways::way_id;
use mpps_ebpf::instruments::sender::{Order, TEMPLATE_OCTETS};
use mpps_method::flows::{PORT_COUNT, PORT_FIRST};
use mpps_method::{FlowOrder, Transport};
use mpps_wire::checksum;
use mpps_wire::tag::{TAG_LEN, Tag};

/// Offsets of the source address go round after so many (`HOST_COUNT` of `sender.h`).
const HOST_COUNT: u64 = 65_533;
const ETHER: usize = 14;
const UDP: usize = 8;
const TCP: usize = 20;

/// All frames of one direction.
#[derive(Clone, Debug)]
pub struct Frames {
    template: Template,
    header: [u8; TEMPLATE_OCTETS],
    ipv6: bool,
    transport: Transport,
    order: FlowOrder,
    lengths: Vec<u16>,
    /// Where UDP or TCP begins, and where the tag does.
    l4: usize,
    tag: usize,
    /// Tag id and first flow of this trial.
    id: u16,
    flow_first: u32,
    /// Place of the first frame's destination.
    place_first: u64,
    /// Where frames go beyond the DUT, unless all go to the tester's own address; the second direction's
    /// come from there.
    destinations: Option<Destinations>,
    seed: u64,
    back: bool,
}

impl Frames {
    /// The frames of direction `way` of the plan in one trial.
    pub fn new(plan: &SenderPlan, way: usize, order: &Order) -> Self {
        let template = plan.templates[way].clone();
        let octets = template.header.iter().flat_map(|word| word.to_ne_bytes());
        let mut header = [0; TEMPLATE_OCTETS];
        for (to, from) in header.iter_mut().zip(octets) {
            *to = from;
        }
        let l4 = ETHER + if plan.ipv6 { 40 } else { 20 };
        Self {
            template,
            header,
            ipv6: plan.ipv6,
            transport: plan.transport,
            order: FlowOrder {
                flows: plan.flows,
                flow_length: plan.flow_length,
                destinations: plan.destinations.as_ref().map_or(1, Destinations::places),
            },
            lengths: plan.lengths.clone(),
            l4,
            tag: l4 + if plan.transport.is_tcp() { TCP } else { UDP },
            id: way_id(order.id, way),
            flow_first: order.flow_first,
            place_first: plan.destinations.as_ref().map_or(0, |destinations| {
                destinations.place(order.entry_first, order.lap_first)
            }),
            destinations: plan.destinations.clone().filter(|_| !order.plain),
            seed: plan.seed,
            back: way == 1,
        }
    }

    /// Length of frame `sequence`, octets without FCS.
    pub fn length(&self, sequence: u64) -> u16 {
        match self.lengths[..] {
            [only] => only,
            _ => self.lengths[(sequence % self.lengths.len() as u64) as usize],
        }
    }

    /// Writes frame `sequence` into a slot of its length, whose payload behind the tag is left as it is
    /// (zero in a new ring).
    pub fn write(&self, sequence: u64, time_ns: u64, frame: &mut [u8]) {
        let (port, mut host) = self.flow(sequence);
        let length = (frame.len() - self.l4) as u32;
        frame[..self.tag].copy_from_slice(&self.header[..self.tag]);
        let (headers, payload) = frame.split_at_mut(self.tag);
        let (ip, l4) = headers.split_at_mut(self.l4);
        if self.back && self.destinations.is_some() {
            host = 0;
        }
        let dest_sum = self.write_ip(ip, sequence, length, host);
        let fields = Tag {
            id: self.id,
            sequence,
            time_ns,
        };
        // No frame is too short for its tag.
        let _rest = fields.emit(payload);
        l4[0..2].copy_from_slice(&port.to_be_bytes());
        l4[2..4].copy_from_slice(&port.to_be_bytes());
        // The offset of the source address joins the sum as it is: its last 16 bits never carry.
        let sum = checksum::sum(&payload[..TAG_LEN])
            + self.template.l4_sum
            + dest_sum
            + length
            + 2 * u32::from(port)
            + host;
        if self.transport.is_tcp() {
            let position = self.position(sequence, length - TCP as u32);
            l4[4..8].copy_from_slice(&position.to_be_bytes());
            let sum = checksum::finish(sum + (position >> 16) + (position & 0xffff));
            l4[16..18].copy_from_slice(&sum.to_be_bytes());
        } else {
            l4[4..6].copy_from_slice(&(length as u16).to_be_bytes());
            // The length stands in the pseudo header and in the UDP header.
            let sum = mpps_wire::udp::checksum_on_wire(checksum::finish(sum + length));
            l4[6..8].copy_from_slice(&sum.to_be_bytes());
        }
    }

    /// Returns the sum of the destination.
    fn write_ip(&self, headers: &mut [u8], sequence: u64, length: u32, host: u32) -> u32 {
        let ip = &mut headers[ETHER..];
        let source = self.template.source.wrapping_add(host).to_be_bytes();
        let last = if self.ipv6 { 20..24 } else { 12..16 };
        ip[last].copy_from_slice(&source);
        let dest_sum = self.write_dest(ip, sequence);
        if self.ipv6 {
            ip[4..6].copy_from_slice(&(length as u16).to_be_bytes());
        } else {
            let length = length + 20;
            ip[2..4].copy_from_slice(&(length as u16).to_be_bytes());
            let sum = self.template.ip_sum + length + host + dest_sum;
            ip[10..12].copy_from_slice(&checksum::finish(sum).to_be_bytes());
        }
        dest_sum
    }

    fn write_dest(&self, ip: &mut [u8], sequence: u64) -> u32 {
        let Some(destinations) = &self.destinations else {
            return self.template.dest_sum;
        };
        let place = self.place_first + self.order.destination(sequence);
        let destination = destinations.at(place, self.seed);
        let at = match (self.ipv6, self.back) {
            (true, false) => 24..40,
            (true, true) => 8..24,
            (false, false) => 16..20,
            (false, true) => 12..16,
        };
        let octets = &destination.to_be_bytes()[16 - at.len()..];
        ip[at].copy_from_slice(octets);
        checksum::sum(octets)
    }

    /// Port and offset of the source address.
    fn flow(&self, sequence: u64) -> (u16, u32) {
        let number = if self.order.flows == 1 && self.order.flow_length.is_none() {
            0
        } else {
            self.order.flow(sequence)
        };
        let number = number + u64::from(self.flow_first);
        let (host, port) = (
            number / u64::from(PORT_COUNT),
            number % u64::from(PORT_COUNT),
        );
        (PORT_FIRST + port as u16, (host % HOST_COUNT) as u32)
    }

    /// Where the frame's octets stand in their flow's stream.
    fn position(&self, sequence: u64, payload: u32) -> u32 {
        if self.transport != Transport::TcpStream {
            return mpps_wire::template::STREAM_START;
        }
        let since = sequence
            .checked_rem(self.order.flow_frames())
            .unwrap_or(sequence);
        let round = since / u64::from(self.order.flows);
        (round as u32)
            .wrapping_mul(payload)
            .wrapping_add(mpps_wire::template::STREAM_START)
    }
}
