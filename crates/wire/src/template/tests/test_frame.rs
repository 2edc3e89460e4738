//! Reading a frame back: what a test frame says, and whether its lengths and checksums are right. The tests of wire and
//! of lab share this file.

use mpps_wire::checksum;
use mpps_wire::ether::{self, Ether};
use mpps_wire::ipv4::Ipv4;
use mpps_wire::ipv6::Ipv6;
use mpps_wire::tag::Tag;
use mpps_wire::tcp::{self, Tcp};
use mpps_wire::template::{Addresses, Family, FrameTemplate, Transport};
use mpps_wire::udp::{self, Udp};

/// A received frame that is shaped like ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TestFrame {
    /// What it shares with its stream.
    pub template: FrameTemplate,
    /// Source and destination port.
    pub ports: (u16, u16),
    /// Its tag.
    pub tag: Tag,
    /// TCP: where its payload stands in the stream (UDP: 0).
    pub position: u32,
    /// Whether the lengths in IP and UDP header agree with the frame.
    pub lengths_right: bool,
    /// Whether the IPv4 header checksum is right (true for IPv6, which has none).
    pub ip_checksum_right: bool,
    /// Whether the UDP or TCP checksum is right, or UDP's absent over IPv4.
    pub l4_checksum_right: bool,
}

impl TestFrame {
    /// Reads a frame without FCS; `None` when it is not UDP or TCP over plain IPv4 or IPv6 with room
    /// for a tag. Wrong lengths and checksums are reported, not refused.
    #[must_use]
    pub fn parse(frame: &[u8]) -> Option<Self> {
        let (link, packet) = Ether::parse(frame).ok()?;
        match link.ethertype {
            ether::TYPE_IPV4 => {
                let (ip, datagram) = Ipv4::parse(packet).ok()??;
                let ip_checksum_right = checksum::compute(packet.get(..20)?) == 0;
                let addresses = Addresses::V4(ip.source, ip.destination);
                let length_right = usize::from(ip.total_length) == packet.len();
                let template = template(&link, addresses, ip.protocol, ip.dscp, ip.ttl)?;
                Self::finish(template, ip_checksum_right, length_right, datagram)
            }
            ether::TYPE_IPV6 => {
                let (ip, datagram) = Ipv6::parse(packet).ok()??;
                let addresses = Addresses::V6(ip.source, ip.destination);
                let length_right = usize::from(ip.payload_length) == datagram.len();
                let template = template(&link, addresses, ip.next_header, ip.dscp, ip.hop_limit)?;
                Self::finish(template, true, length_right, datagram)
            }
            _ => None,
        }
    }

    fn finish(
        template: FrameTemplate,
        ip_checksum_right: bool,
        ip_length_right: bool,
        datagram: &[u8],
    ) -> Option<Self> {
        let l4 = Layer4::parse(template.transport, datagram)?;
        let (tag, _) = Tag::parse(l4.payload).ok()?;
        let addresses = template.addresses;
        let (from, to) = (addresses.source(), addresses.destination());
        let protocol = template.transport.protocol();
        let sum = checksum::pseudo_header(from, to, protocol, l4.length) + checksum::sum(datagram);
        let udp = template.transport == Transport::Udp;
        let absent = udp && l4.checksum == 0;
        let right = if absent {
            addresses.family() == Family::V4
        } else {
            checksum::finish(sum) == 0
        };
        Some(Self {
            template,
            ports: l4.ports,
            tag,
            position: l4.position,
            lengths_right: ip_length_right && usize::from(l4.length) == datagram.len(),
            ip_checksum_right,
            l4_checksum_right: right,
        })
    }

    /// Whether all lengths and checksums are right.
    #[must_use]
    pub const fn is_right(&self) -> bool {
        self.lengths_right && self.ip_checksum_right && self.l4_checksum_right
    }
}

/// What is read of a UDP or TCP header.
struct Layer4<'a> {
    ports: (u16, u16),
    length: u16,
    checksum: u16,
    position: u32,
    payload: &'a [u8],
}

impl<'a> Layer4<'a> {
    fn parse(transport: Transport, datagram: &'a [u8]) -> Option<Self> {
        match transport {
            Transport::Udp => {
                let (header, payload) = Udp::parse(datagram).ok()?;
                Some(Self {
                    ports: (header.source, header.destination),
                    length: header.length,
                    checksum: header.checksum,
                    position: 0,
                    payload,
                })
            }
            Transport::Tcp => {
                let (header, payload) = Tcp::parse(datagram).ok()??;
                Some(Self {
                    ports: (header.source, header.destination),
                    // TCP has no length of its own.
                    length: u16::try_from(datagram.len()).ok()?,
                    checksum: header.checksum,
                    position: header.sequence,
                    payload,
                })
            }
        }
    }
}

fn template(
    link: &Ether,
    addresses: Addresses,
    protocol: u8,
    dscp: u8,
    ttl: u8,
) -> Option<FrameTemplate> {
    let transport = match protocol {
        udp::PROTOCOL => Transport::Udp,
        tcp::PROTOCOL => Transport::Tcp,
        _ => return None,
    };
    Some(FrameTemplate {
        src_mac: link.source,
        dst_mac: link.destination,
        addresses,
        transport,
        dscp,
        ttl,
    })
}
