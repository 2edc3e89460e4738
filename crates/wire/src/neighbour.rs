//! Which Ethernet address has this IP address? The question and its answer, as whole frames: ARP (RFC 826)
//! and IPv6 neighbour discovery (RFC 4861 sections 4.3 and 4.4).

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use crate::ether::{self, Ether, MacAddr};
use crate::ipv6::{self, Ipv6};
use crate::{checksum, field};

/// EtherType of ARP.
pub const TYPE_ARP: u16 = 0x0806;
/// IP protocol number of ICMPv6.
pub const ICMPV6: u8 = 58;
/// ICMPv6 type of a neighbour solicitation.
pub const SOLICITATION: u8 = 135;
/// ICMPv6 type of a neighbour advertisement.
pub const ADVERTISEMENT: u8 = 136;

/// Ethernet and IPv4 as ARP names them, with their address lengths (RFC 826: hrd, pro, hln, pln).
const ARP_KIND: [u8; 6] = [0, 1, 8, 0, 6, 4];
const REQUEST: u8 = 1;
const REPLY: u8 = 2;
/// Type and length (in 8 octets) of the link-layer address options.
const SOURCE_OPTION: [u8; 2] = [1, 1];
const TARGET_OPTION: [u8; 2] = [2, 1];
/// Flags of an advertisement: solicited, override.
const FLAGS: u8 = 0x60;
/// Only neighbours' messages have all their hops left.
const HOPS: u8 = 255;
/// Shortest Ethernet frame without FCS.
const FRAME_MIN: usize = 60;
/// ICMPv6 message with one option.
const ICMP_OCTETS: usize = 32;

/// What neighbours say to each other. Both addresses are of one family.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Neighbour {
    /// Who has `wanted`?
    Question {
        /// Who asks, and where to answer to.
        asker: (MacAddr, IpAddr),
        /// The address asked for.
        wanted: IpAddr,
    },
    /// It has.
    Answer {
        /// Whose address it is, and where.
        owner: (MacAddr, IpAddr),
        /// Who had asked.
        to: (MacAddr, IpAddr),
    },
}

/// The Ethernet address of the group that an IPv6 address's neighbours ask (RFC 4291 section 2.7.1, RFC 2464
/// section 7).
#[must_use]
pub const fn solicited_group(address: Ipv6Addr) -> MacAddr {
    let [.., a, b, c] = address.octets();
    MacAddr([0x33, 0x33, 0xff, a, b, c])
}

impl Neighbour {
    /// Reads a frame without FCS; `None` when it is no such message, or not a right one.
    #[must_use]
    pub fn parse(frame: &[u8]) -> Option<Self> {
        let (link, packet) = Ether::parse(frame).ok()?;
        match link.ethertype {
            TYPE_ARP => parse_arp(packet),
            ether::TYPE_IPV6 => parse_icmp(&link, packet),
            _ => None,
        }
    }

    /// The whole frame, without FCS. `None` when its addresses are of two families.
    #[must_use]
    pub fn frame(&self) -> Option<Vec<u8>> {
        match *self {
            Self::Question {
                asker: (mac, IpAddr::V4(asker)),
                wanted: IpAddr::V4(wanted),
            } => arp(REQUEST, (mac, asker), (MacAddr::default(), wanted)),
            Self::Answer {
                owner: (mac, IpAddr::V4(owner)),
                to: (to_mac, IpAddr::V4(to)),
            } => arp(REPLY, (mac, owner), (to_mac, to)),
            Self::Question {
                asker: (mac, IpAddr::V6(asker)),
                wanted: IpAddr::V6(wanted),
            } => {
                let [.., a, b, c] = wanted.octets();
                let group = [0xff, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0xff, a, b, c];
                let to = (solicited_group(wanted), Ipv6Addr::from(group));
                icmp(SOLICITATION, (mac, asker), to, wanted)
            }
            Self::Answer {
                owner: (mac, IpAddr::V6(owner)),
                to: (to_mac, IpAddr::V6(to)),
            } => icmp(ADVERTISEMENT, (mac, owner), (to_mac, to), owner),
            _ => None,
        }
    }
}

fn parse_arp(packet: &[u8]) -> Option<Neighbour> {
    let what = "an ARP message";
    let (kind, rest) = field::split::<6>(packet, what).ok()?;
    let (operation, rest) = field::split::<2>(rest, what).ok()?;
    let (sender_mac, rest) = field::split::<6>(rest, what).ok()?;
    let (sender, rest) = field::split::<4>(rest, what).ok()?;
    let (target_mac, rest) = field::split::<6>(rest, what).ok()?;
    let (target, _) = field::split::<4>(rest, what).ok()?;
    let sender = (MacAddr(*sender_mac), IpAddr::V4(Ipv4Addr::from(*sender)));
    let target = (MacAddr(*target_mac), IpAddr::V4(Ipv4Addr::from(*target)));
    match (*kind == ARP_KIND, *operation) {
        (true, [0, REQUEST]) => Some(Neighbour::Question {
            asker: sender,
            wanted: target.1,
        }),
        (true, [0, REPLY]) => Some(Neighbour::Answer {
            owner: sender,
            to: target,
        }),
        _ => None,
    }
}

fn arp(operation: u8, sender: (MacAddr, Ipv4Addr), target: (MacAddr, Ipv4Addr)) -> Option<Vec<u8>> {
    let to = if operation == REQUEST {
        MacAddr([0xff; 6])
    } else {
        target.0
    };
    let mut message = ARP_KIND.to_vec();
    message.extend([0, operation]);
    for (mac, address) in [sender, target] {
        message.extend(mac.0);
        message.extend(address.octets());
    }
    frame(to, sender.0, TYPE_ARP, &message)
}

fn parse_icmp(link: &Ether, packet: &[u8]) -> Option<Neighbour> {
    let (ip, message) = Ipv6::parse(packet).ok()??;
    let message = message.get(..usize::from(ip.payload_length))?;
    let (from, to) = (IpAddr::V6(ip.source), IpAddr::V6(ip.destination));
    let sum = checksum::pseudo_header(from, to, ICMPV6, ip.payload_length) + checksum::sum(message);
    if ip.next_header != ICMPV6 || ip.hop_limit != HOPS || checksum::finish(sum) != 0 {
        return None;
    }
    let what = "a neighbour message";
    let (head, rest) = field::split::<8>(message, what).ok()?;
    let (target, options) = field::split::<16>(rest, what).ok()?;
    let target = IpAddr::V6(Ipv6Addr::from(*target));
    let (&[option, length], options) = field::split::<2>(options, what).ok()?;
    let mac = MacAddr(*field::split::<6>(options, what).ok()?.0);
    match (head.first(), [option, length]) {
        (Some(&SOLICITATION), SOURCE_OPTION) => Some(Neighbour::Question {
            asker: (mac, from),
            wanted: target,
        }),
        (Some(&ADVERTISEMENT), TARGET_OPTION) => Some(Neighbour::Answer {
            owner: (mac, target),
            to: (link.destination, to),
        }),
        _ => None,
    }
}

fn icmp(
    kind: u8,
    sender: (MacAddr, Ipv6Addr),
    to: (MacAddr, Ipv6Addr),
    target: Ipv6Addr,
) -> Option<Vec<u8>> {
    let (flags, option) = if kind == SOLICITATION {
        (0, SOURCE_OPTION)
    } else {
        (FLAGS, TARGET_OPTION)
    };
    let mut rest = vec![flags, 0, 0, 0];
    rest.extend(target.octets());
    rest.extend(option);
    rest.extend(sender.0.0);
    let length = ICMP_OCTETS as u16;
    let pseudo = checksum::pseudo_header(sender.1.into(), to.1.into(), ICMPV6, length);
    let sum = pseudo + checksum::sum(&[kind, 0, 0, 0]) + checksum::sum(&rest);
    let [high, low] = checksum::finish(sum).to_be_bytes();
    let header = Ipv6 {
        dscp: 0,
        payload_length: length,
        next_header: ICMPV6,
        hop_limit: HOPS,
        source: sender.1,
        destination: to.1,
    };
    let mut packet = vec![0; ipv6::HEADER_LEN];
    header.emit(&mut packet).ok()?;
    packet.extend([kind, 0, high, low]);
    packet.extend(rest);
    frame(to.0, sender.0, ether::TYPE_IPV6, &packet)
}

fn frame(to: MacAddr, from: MacAddr, ethertype: u16, packet: &[u8]) -> Option<Vec<u8>> {
    let link = Ether {
        destination: to,
        source: from,
        ethertype,
    };
    let mut frame = vec![0; ether::HEADER_LEN];
    link.emit(&mut frame).ok()?;
    frame.extend(packet);
    frame.resize(frame.len().max(FRAME_MIN), 0);
    Some(frame)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ASKER: MacAddr = MacAddr([0x02, 0, 0, 0, 0, 0x0a]);
    const OWNER: MacAddr = MacAddr([0x02, 0, 0, 0, 0, 0x0b]);

    fn both(asker: &str, owner: &str) -> [Neighbour; 2] {
        let (asker, owner): (IpAddr, IpAddr) = (asker.parse().unwrap(), owner.parse().unwrap());
        [
            Neighbour::Question {
                asker: (ASKER, asker),
                wanted: owner,
            },
            Neighbour::Answer {
                owner: (OWNER, owner),
                to: (ASKER, asker),
            },
        ]
    }

    #[test]
    fn messages_of_both_families_survive_the_wire() {
        for message in both("198.18.0.2", "198.18.0.1")
            .into_iter()
            .chain(both("2001:2:0:1::2", "2001:2:0:1::1"))
        {
            let frame = message.frame().unwrap();
            assert!(frame.len() >= 60);
            assert_eq!(Neighbour::parse(&frame), Some(message));
            for cut in 0..42 {
                assert_eq!(Neighbour::parse(&frame[..cut]), None, "{cut}");
            }
        }
    }

    #[test]
    fn an_arp_request_is_as_the_rfc_has_it() {
        let frame = both("198.18.0.2", "198.18.0.1")[0].frame().unwrap();
        let mut expected = vec![0xff; 6];
        expected.extend(ASKER.0);
        expected.extend([8, 6, 0, 1, 8, 0, 6, 4, 0, 1]);
        expected.extend(ASKER.0);
        expected.extend([198, 18, 0, 2, 0, 0, 0, 0, 0, 0, 198, 18, 0, 1]);
        assert_eq!(frame[..42], expected);
    }

    #[test]
    fn a_solicitation_goes_to_its_multicast_group() {
        let frame = both("2001:2::2", "2001:2::ab:1234")[0].frame().unwrap();
        assert_eq!(frame[..6], [0x33, 0x33, 0xff, 0xab, 0x12, 0x34]);
        let group: Ipv6Addr = "ff02::1:ffab:1234".parse().unwrap();
        assert_eq!(frame[38..54], group.octets());
        assert_eq!(frame[21], 255, "hops");
    }

    #[test]
    fn wrong_sums_hops_and_families_are_nothing() {
        let [question, _] = both("2001:2::2", "2001:2::1");
        for at in [21, 56, 70] {
            let mut frame = question.frame().unwrap();
            frame[at] ^= 1;
            assert_eq!(Neighbour::parse(&frame), None, "{at}");
        }
        let mixed = Neighbour::Question {
            asker: (ASKER, "198.18.0.2".parse().unwrap()),
            wanted: "2001:2::1".parse().unwrap(),
        };
        assert_eq!(mixed.frame(), None);
    }
}
