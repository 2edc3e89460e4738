//! The frame a tester sends: Ethernet, IPv4 or IPv6, UDP, tag, zeros. Lengths here are without FCS,
//! as in a buffer.

use std::net::IpAddr;

use crate::TooShort;
use crate::checksum;
use crate::ether::{self, Ether, MacAddr};
use crate::ipv4::{self, Ipv4};
use crate::ipv6::{self, Ipv6};
use crate::tag::{TAG_LEN, Tag};
use crate::udp::{self, Udp};

/// Internet Protocol version.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Family {
    /// IPv4.
    V4,
    /// IPv6.
    V6,
}

impl Family {
    /// Octets before the tag: Ethernet, IP and UDP headers (42 or 62).
    #[must_use]
    pub const fn headers_len(self) -> usize {
        let ip = match self {
            Self::V4 => ipv4::HEADER_LEN,
            Self::V6 => ipv6::HEADER_LEN,
        };
        ether::HEADER_LEN + ip + udp::HEADER_LEN
    }

    /// Shortest frame without FCS: Ethernet's 60, or 74 where headers and tag need more.
    #[must_use]
    pub const fn frame_min(self) -> usize {
        let needs = self.headers_len() + TAG_LEN;
        if needs > ETHERNET_MIN {
            needs
        } else {
            ETHERNET_MIN
        }
    }
}

/// Shortest Ethernet frame without FCS.
const ETHERNET_MIN: usize = 60;
/// Longest frame without FCS whose IPv4 total length fits its 16 bits.
const FRAME_MAX: usize = 0xffff;

/// Source and destination address, of one family.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Addresses {
    /// IPv4, source then destination.
    V4(std::net::Ipv4Addr, std::net::Ipv4Addr),
    /// IPv6, source then destination.
    V6(std::net::Ipv6Addr, std::net::Ipv6Addr),
}

impl Addresses {
    /// Their family.
    #[must_use]
    pub const fn family(&self) -> Family {
        match self {
            Self::V4(..) => Family::V4,
            Self::V6(..) => Family::V6,
        }
    }

    /// Source address.
    #[must_use]
    pub const fn source(&self) -> IpAddr {
        match *self {
            Self::V4(source, _) => IpAddr::V4(source),
            Self::V6(source, _) => IpAddr::V6(source),
        }
    }

    /// Destination address.
    #[must_use]
    pub const fn destination(&self) -> IpAddr {
        match *self {
            Self::V4(_, destination) => IpAddr::V4(destination),
            Self::V6(_, destination) => IpAddr::V6(destination),
        }
    }
}

/// What is the same in every frame of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameTemplate {
    /// The tester's port.
    pub src_mac: MacAddr,
    /// The DUT's port.
    pub dst_mac: MacAddr,
    /// Addresses, and thereby the family.
    pub addresses: Addresses,
    /// Differentiated services code point, 0 to 63.
    pub dscp: u8,
    /// Time to live, or hop limit.
    pub ttl: u8,
}

impl FrameTemplate {
    /// A whole frame of `length` octets without FCS, from and to these ports, with this tag (the
    /// default tag is all zero) and right lengths and checksums.
    ///
    /// # Errors
    /// `length` is below the family's shortest frame or above 65 535.
    pub fn frame(
        &self,
        length: usize,
        ports: (u16, u16),
        tag: &Tag,
    ) -> Result<Vec<u8>, FrameLength> {
        let family = self.addresses.family();
        let wrong = FrameLength {
            length,
            min: family.frame_min(),
            max: FRAME_MAX,
        };
        if length < wrong.min || length > wrong.max {
            return Err(wrong);
        }
        let mut frame = vec![0; length];
        self.write(&mut frame, ports, tag).map_err(|_| wrong)?;
        Ok(frame)
    }

    fn write(
        &self,
        frame: &mut [u8],
        (source, destination): (u16, u16),
        tag: &Tag,
    ) -> Result<(), TooShort> {
        let family = self.addresses.family();
        let ip_len = (frame.len() - ether::HEADER_LEN) as u16;
        let udp_len = (frame.len() - family.headers_len() + udp::HEADER_LEN) as u16;
        let ethertype = match family {
            Family::V4 => ether::TYPE_IPV4,
            Family::V6 => ether::TYPE_IPV6,
        };
        let link = Ether {
            destination: self.dst_mac,
            source: self.src_mac,
            ethertype,
        };
        let rest = link.emit(frame)?;
        let datagram = match self.addresses {
            Addresses::V4(source, destination) => Ipv4 {
                dscp: self.dscp & 0x3f,
                total_length: ip_len,
                ttl: self.ttl,
                protocol: udp::PROTOCOL,
                source,
                destination,
            }
            .emit(rest)?,
            Addresses::V6(source, destination) => Ipv6 {
                dscp: self.dscp & 0x3f,
                payload_length: udp_len,
                next_header: udp::PROTOCOL,
                hop_limit: self.ttl,
                source,
                destination,
            }
            .emit(rest)?,
        };
        let mut header = Udp {
            source,
            destination,
            length: udp_len,
            checksum: 0,
        };
        tag.emit(header.emit(datagram)?)?;
        let (from, to) = (self.addresses.source(), self.addresses.destination());
        let sum =
            checksum::pseudo_header(from, to, udp::PROTOCOL, udp_len) + checksum::sum(datagram);
        header.checksum = udp::checksum_on_wire(checksum::finish(sum));
        header.emit(datagram)?;
        Ok(())
    }
}

/// A length no test frame of this family can have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameLength {
    /// The length, octets without FCS.
    pub length: usize,
    /// Shortest possible.
    pub min: usize,
    /// Longest possible.
    pub max: usize,
}

impl std::fmt::Display for FrameLength {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { length, min, max } = self;
        write!(
            f,
            "a test frame of {length} octets without FCS cannot be: choose {min} to {max}"
        )
    }
}

impl std::error::Error for FrameLength {}

/// A received frame that is shaped like ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TestFrame {
    /// What it shares with its stream.
    pub template: FrameTemplate,
    /// Source and destination port.
    pub ports: (u16, u16),
    /// Its tag.
    pub tag: Tag,
    /// Whether the lengths in IP and UDP header agree with the frame.
    pub lengths_right: bool,
    /// Whether the IPv4 header checksum is right (true for IPv6, which has none).
    pub ip_checksum_right: bool,
    /// Whether the UDP checksum is right, or absent over IPv4.
    pub udp_checksum_right: bool,
}

impl TestFrame {
    /// Reads a frame without FCS; `None` when it is not UDP over plain IPv4 or IPv6 with room for a
    /// tag. Wrong lengths and checksums are reported, not refused.
    #[must_use]
    pub fn parse(frame: &[u8]) -> Option<Self> {
        let (link, packet) = Ether::parse(frame).ok()?;
        match link.ethertype {
            ether::TYPE_IPV4 => {
                let (ip, datagram) = Ipv4::parse(packet).ok()??;
                let ip_checksum_right = Ipv4::is_checksum_right(packet).ok()?;
                let addresses = Addresses::V4(ip.source, ip.destination);
                let length_right = usize::from(ip.total_length) == packet.len();
                let template = template(&link, addresses, ip.dscp, ip.ttl);
                (ip.protocol == udp::PROTOCOL)
                    .then(|| Self::finish(template, ip_checksum_right, length_right, datagram))?
            }
            ether::TYPE_IPV6 => {
                let (ip, datagram) = Ipv6::parse(packet).ok()??;
                let addresses = Addresses::V6(ip.source, ip.destination);
                let length_right = usize::from(ip.payload_length) == datagram.len();
                let template = template(&link, addresses, ip.dscp, ip.hop_limit);
                (ip.next_header == udp::PROTOCOL)
                    .then(|| Self::finish(template, true, length_right, datagram))?
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
        let (header, payload) = Udp::parse(datagram).ok()?;
        let (tag, _) = Tag::parse(payload).ok()?;
        let addresses = template.addresses;
        let (from, to) = (addresses.source(), addresses.destination());
        let sum = checksum::pseudo_header(from, to, udp::PROTOCOL, header.length)
            + checksum::sum(datagram);
        let absent = header.checksum == 0 && addresses.family() == Family::V4;
        Some(Self {
            template,
            ports: (header.source, header.destination),
            tag,
            lengths_right: ip_length_right && usize::from(header.length) == datagram.len(),
            ip_checksum_right,
            udp_checksum_right: absent || (header.checksum != 0 && checksum::finish(sum) == 0),
        })
    }

    /// Whether all lengths and checksums are right.
    #[must_use]
    pub const fn is_right(&self) -> bool {
        self.lengths_right && self.ip_checksum_right && self.udp_checksum_right
    }
}

fn template(link: &Ether, addresses: Addresses, dscp: u8, ttl: u8) -> FrameTemplate {
    FrameTemplate {
        src_mac: link.source,
        dst_mac: link.destination,
        addresses,
        dscp,
        ttl,
    }
}

#[cfg(test)]
mod tests;
