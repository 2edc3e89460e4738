//! The frame a tester sends: Ethernet, IPv4 or IPv6, UDP or TCP, tag, zeros. Lengths here are without FCS,
//! as in a buffer.

use std::net::IpAddr;

use crate::TooShort;
use crate::checksum;
use crate::ether::{self, Ether, MacAddr};
use crate::ipv4::{self, Ipv4};
use crate::ipv6::{self, Ipv6};
use crate::tag::{TAG_LEN, Tag};
use crate::tcp::{self, Tcp};
use crate::udp::{self, Udp};

/// Internet Protocol version.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Family {
    /// IPv4.
    V4,
    /// IPv6.
    V6,
}

/// What stands behind the IP header.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Transport {
    /// A datagram.
    #[default]
    Udp,
    /// A segment in the middle of a connection: ACK, no options.
    Tcp,
}

impl Transport {
    /// Octets of its header.
    #[must_use]
    pub const fn header_len(self) -> usize {
        match self {
            Self::Udp => udp::HEADER_LEN,
            Self::Tcp => tcp::HEADER_LEN,
        }
    }

    /// IP protocol number.
    #[must_use]
    pub const fn protocol(self) -> u8 {
        match self {
            Self::Udp => udp::PROTOCOL,
            Self::Tcp => tcp::PROTOCOL,
        }
    }
}

impl Family {
    /// Octets before the tag: Ethernet, IP and UDP (42 or 62) or TCP headers (54 or 74).
    #[must_use]
    pub const fn headers_len(self, transport: Transport) -> usize {
        let ip = match self {
            Self::V4 => ipv4::HEADER_LEN,
            Self::V6 => ipv6::HEADER_LEN,
        };
        ether::HEADER_LEN + ip + transport.header_len()
    }

    /// Shortest frame without FCS: Ethernet's 60, or what headers and tag need where that is more.
    #[must_use]
    pub const fn frame_min(self, transport: Transport) -> usize {
        let needs = self.headers_len(transport) + TAG_LEN;
        if needs > ETHERNET_MIN {
            needs
        } else {
            ETHERNET_MIN
        }
    }
}

/// Shortest Ethernet frame without FCS.
const ETHERNET_MIN: usize = 60;
/// Where a TCP-shaped frame stands in its stream, both ways, unless its sender moves it on.
pub const STREAM_START: u32 = 1;
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
    /// What stands behind the IP header.
    pub transport: Transport,
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
            min: family.frame_min(self.transport),
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
        let headers_len = family.headers_len(self.transport);
        let l4_len = (frame.len() - headers_len + self.transport.header_len()) as u16;
        let protocol = self.transport.protocol();
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
                dont_fragment: self.transport == Transport::Tcp,
                ttl: self.ttl,
                protocol,
                source,
                destination,
            }
            .emit(rest)?,
            Addresses::V6(source, destination) => Ipv6 {
                dscp: self.dscp & 0x3f,
                payload_length: l4_len,
                next_header: protocol,
                hop_limit: self.ttl,
                source,
                destination,
            }
            .emit(rest)?,
        };
        let (from, to) = (self.addresses.source(), self.addresses.destination());
        let pseudo = checksum::pseudo_header(from, to, protocol, l4_len);
        self.write_l4(datagram, (source, destination), tag, pseudo)
    }

    /// `pseudo` is the sum of the pseudo header.
    fn write_l4(
        &self,
        datagram: &mut [u8],
        (source, destination): (u16, u16),
        tag: &Tag,
        pseudo: u32,
    ) -> Result<(), TooShort> {
        match self.transport {
            Transport::Udp => {
                let mut header = Udp {
                    source,
                    destination,
                    length: datagram.len() as u16,
                    checksum: 0,
                };
                tag.emit(header.emit(datagram)?)?;
                let computed = checksum::finish(pseudo + checksum::sum(datagram));
                header.checksum = udp::checksum_on_wire(computed);
                header.emit(datagram)?;
            }
            Transport::Tcp => {
                let mut header = Tcp {
                    source,
                    destination,
                    sequence: STREAM_START,
                    acknowledgement: STREAM_START,
                    window: u16::MAX,
                    checksum: 0,
                };
                tag.emit(header.emit(datagram)?)?;
                header.checksum = checksum::finish(pseudo + checksum::sum(datagram));
                header.emit(datagram)?;
            }
        }
        Ok(())
    }
}

/// A length no test frame of this family can have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no test frame has {length} octets without FCS: choose {min} to {max}")]
pub struct FrameLength {
    /// The length, octets without FCS.
    pub length: usize,
    /// Shortest possible.
    pub min: usize,
    /// Longest possible.
    pub max: usize,
}

#[cfg(test)]
mod tests;
