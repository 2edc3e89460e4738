//! What arrived: the rule of `receiver.bpf.c`, frame by frame.

use crate::tester::ports::receiver::ReceiverPlan;
use mpps_ebpf::instruments::receiver::{BUCKETS, Received, SENT_TTL};
use mpps_method::histogram;
use mpps_wire::tag::Tag;
use mpps_wire::{ether, tcp, udp};

/// Ids so far behind the trial's are frames of an earlier one.
const EARLIER: u16 = 0x4000;
/// Data offset of a TCP header without options, as the whole octet.
const TCP_PLAIN: u8 = 0x50;
/// Longest frame counted by length, octets without FCS.
const LENGTH_MAX: usize = 16_384;
/// Octets of a frame needed to know it: Ethernet, IPv6, TCP and tag, and some.
pub const SNAP_OCTETS: u32 = 96;

/// A trial's frames so far.
#[derive(Debug)]
pub struct Counter {
    plan: ReceiverPlan,
    id: u16,
    canary_id: u16,
    received: Received,
    /// A bit a sequence number.
    seen: Vec<u64>,
    /// Next sequence expected at each place of the flow order.
    expected: Vec<u64>,
    by_length: Vec<u64>,
}

impl Counter {
    /// Counts nothing yet: every frame is foreign.
    pub fn new(plan: ReceiverPlan) -> Self {
        Self {
            expected: vec![0; plan.order.places() as usize],
            plan,
            id: 0,
            canary_id: 0,
            received: nothing(),
            seen: Vec::new(),
            by_length: vec![0; LENGTH_MAX + 1],
        }
    }

    /// Forgets the trial before, and waits for this one's frames, `sequences` at most.
    pub fn arm(&mut self, id: u16, canary_id: u16, sequences: u64) {
        let words = sequences.min(self.plan.sequences_max).div_ceil(64) as usize;
        (self.id, self.canary_id) = (id, canary_id);
        self.received = nothing();
        self.seen.clear();
        self.seen.resize(words, 0);
        self.expected.fill(0);
        self.by_length.fill(0);
    }

    /// Counts a frame that arrived at `now_ns`: its first octets, and its whole length.
    pub fn count(&mut self, octets: &[u8], length: usize, now_ns: u64) {
        let Some(tag) = self.find_tag(octets) else {
            self.received.foreign += 1;
            return;
        };
        let id = tag.id;
        if id == self.id {
            self.count_tagged(&tag, is_lowered(octets), length, now_ns);
        } else if id == self.canary_id {
            self.received.canary += 1;
        } else if self.id.wrapping_sub(id) < EARLIER {
            self.received.late += 1;
        } else {
            self.received.foreign += 1;
        }
    }

    fn count_tagged(&mut self, tag: &Tag, lowered: bool, length: usize, now_ns: u64) {
        let sequence = tag.sequence;
        let Some(bits) = self.seen.get_mut((sequence >> 6) as usize) else {
            self.received.beyond += 1;
            return;
        };
        let (bit, received) = (1 << (sequence & 63), &mut self.received);
        received.tagged += 1;
        received.latency[histogram::index(tag.age_ns(now_ns))] += 1;
        received.not_lowered += u64::from(!lowered);
        if received.first_ns == 0 {
            received.first_ns = now_ns;
        }
        received.last_ns = now_ns;
        if *bits & bit != 0 {
            received.duplicated += 1;
            return;
        }
        *bits |= bit;
        let place = if self.expected.len() == 1 {
            0
        } else {
            self.plan.order.place(sequence)
        };
        let place = match &self.plan.place_flow {
            Some(flows) => flows.get(place as usize).copied().map_or(0, u64::from),
            None => place,
        };
        let next = &mut self.expected[place as usize];
        if sequence < *next {
            received.reordered += 1;
        } else {
            *next = sequence + 1;
        }
        self.by_length[length.min(LENGTH_MAX)] += 1;
    }

    /// Reads the tag; `None` when the frame is not shaped like ours.
    fn find_tag(&self, octets: &[u8]) -> Option<Tag> {
        let (protocol, l4_octets) = if self.plan.tcp {
            (tcp::PROTOCOL, tcp::HEADER_LEN)
        } else {
            (udp::PROTOCOL, udp::HEADER_LEN)
        };
        let l4 = match u16::from_be_bytes([*octets.get(12)?, *octets.get(13)?]) {
            ether::TYPE_IPV4 => {
                (*octets.get(14)? == 0x45 && *octets.get(23)? == protocol).then_some(34)
            }
            ether::TYPE_IPV6 => (*octets.get(20)? == protocol).then_some(54),
            _ => None,
        }?;
        if self.plan.tcp && *octets.get(l4 + 12)? != TCP_PLAIN {
            return None;
        }
        Tag::parse(octets.get(l4 + l4_octets..)?)
            .ok()
            .map(|(tag, _)| tag)
    }

    /// What arrived since the counter was armed.
    pub fn received(&self) -> Received {
        self.received.clone()
    }

    /// A bit for each of the first `sequences` sequences, lowest first: set when it arrived.
    pub fn seen(&self, sequences: u64) -> Vec<u64> {
        let words = usize::try_from(sequences.div_ceil(64)).unwrap_or(usize::MAX);
        self.seen.iter().copied().take(words).collect()
    }

    /// Unique frames of the trial by length without FCS.
    pub fn by_length(&self, length: u16) -> u64 {
        self.by_length
            .get(usize::from(length))
            .copied()
            .unwrap_or(0)
    }
}

/// Whether a router has lowered the TTL or hop limit of an IPv4 or IPv6 frame.
fn is_lowered(octets: &[u8]) -> bool {
    let place = if octets.get(12..14) == Some(&ether::TYPE_IPV4.to_be_bytes()) {
        22
    } else {
        21
    };
    octets.get(place).is_some_and(|&ttl| ttl < SENT_TTL)
}

fn nothing() -> Received {
    Received {
        latency: vec![0; BUCKETS],
        ..Received::default()
    }
}

#[cfg(test)]
mod tests;
