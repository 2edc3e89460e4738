//! Martians: prefixes that are never a destination on the Internet.
//!
//! The IANA IPv4 and IPv6 Special-Purpose Address Registries (RFC 6890, as updated by RFC 8190): what they
//! mark as not globally reachable; and multicast (RFC 5771, RFC 4291 section 2.7), which no unicast route
//! may reach. Entries marked reachable within others that are not stand here too: the longest match decides.
//! 6to4 and Teredo, for which the registry says neither, are no martians.

use ipnet::{IpNet, Ipv4Net, Ipv6Net};
use std::net::{Ipv4Addr, Ipv6Addr};

/// Network, length, whether it is globally reachable.
type V4 = ([u8; 4], u8, bool);
type V6 = ([u16; 8], u8, bool);

const REGISTRY_V4: [V4; 20] = [
    ([0, 0, 0, 0], 8, false),          // "this network", RFC 791
    ([10, 0, 0, 0], 8, false),         // private use, RFC 1918
    ([100, 64, 0, 0], 10, false),      // shared address space, RFC 6598
    ([127, 0, 0, 0], 8, false),        // loopback, RFC 1122
    ([169, 254, 0, 0], 16, false),     // link local, RFC 3927
    ([172, 16, 0, 0], 12, false),      // private use, RFC 1918
    ([192, 0, 0, 0], 24, false),       // IETF protocol assignments, RFC 6890
    ([192, 0, 0, 9], 32, true),        // Port Control Protocol anycast, RFC 7723
    ([192, 0, 0, 10], 32, true),       // TURN anycast, RFC 8155
    ([192, 0, 2, 0], 24, false),       // TEST-NET-1, RFC 5737
    ([192, 31, 196, 0], 24, true),     // AS112-v4, RFC 7535
    ([192, 52, 193, 0], 24, true),     // AMT, RFC 7450
    ([192, 168, 0, 0], 16, false),     // private use, RFC 1918
    ([192, 175, 48, 0], 24, true),     // direct delegation AS112, RFC 7534
    ([198, 18, 0, 0], 15, false),      // benchmarking, RFC 2544
    ([198, 51, 100, 0], 24, false),    // TEST-NET-2, RFC 5737
    ([203, 0, 113, 0], 24, false),     // TEST-NET-3, RFC 5737
    ([224, 0, 0, 0], 4, false),        // multicast, RFC 5771
    ([240, 0, 0, 0], 4, false),        // reserved, RFC 1112
    ([255, 255, 255, 255], 32, false), // limited broadcast, RFC 8190
];

const REGISTRY_V6: [V6; 20] = [
    ([0, 0, 0, 0, 0, 0, 0, 1], 128, false), // loopback, RFC 4291
    ([0, 0, 0, 0, 0, 0, 0, 0], 128, false), // unspecified, RFC 4291
    ([0, 0, 0, 0, 0, 0xffff, 0, 0], 96, false), // IPv4-mapped, RFC 4291
    ([0x64, 0xff9b, 1, 0, 0, 0, 0, 0], 48, false), // local translation, RFC 8215
    ([0x100, 0, 0, 0, 0, 0, 0, 0], 64, false), // discard only, RFC 6666
    ([0x100, 0, 0, 1, 0, 0, 0, 0], 64, false), // dummy prefix, RFC 9780
    ([0x2001, 0, 0, 0, 0, 0, 0, 0], 23, false), // IETF protocol assignments, RFC 2928
    ([0x2001, 0, 0, 0, 0, 0, 0, 0], 32, true), // Teredo, RFC 4380: neither
    ([0x2001, 1, 0, 0, 0, 0, 0, 1], 128, true), // Port Control Protocol anycast, RFC 7723
    ([0x2001, 1, 0, 0, 0, 0, 0, 2], 128, true), // TURN anycast, RFC 8155
    ([0x2001, 1, 0, 0, 0, 0, 0, 3], 128, true), // DNS-SD SRP anycast, RFC 9665
    ([0x2001, 3, 0, 0, 0, 0, 0, 0], 32, true), // AMT, RFC 7450
    ([0x2001, 4, 0x112, 0, 0, 0, 0, 0], 48, true), // AS112-v6, RFC 7535
    ([0x2001, 0x20, 0, 0, 0, 0, 0, 0], 28, true), // ORCHIDv2, RFC 7343
    ([0x2001, 0x30, 0, 0, 0, 0, 0, 0], 28, true), // drone remote identification, RFC 9374
    ([0x2001, 0xdb8, 0, 0, 0, 0, 0, 0], 32, false), // documentation, RFC 3849
    ([0x3fff, 0, 0, 0, 0, 0, 0, 0], 20, false), // documentation, RFC 9637
    ([0x5f00, 0, 0, 0, 0, 0, 0, 0], 16, false), // segment routing SIDs, RFC 9602
    ([0xfc00, 0, 0, 0, 0, 0, 0, 0], 7, false), // unique local, RFC 4193
    ([0xfe80, 0, 0, 0, 0, 0, 0, 0], 10, false), // link local, RFC 4291
];

const MULTICAST_V6: V6 = ([0xff00, 0, 0, 0, 0, 0, 0, 0], 8, false);

/// Networks that hold IPv4 martians, and nothing but the few reachable exceptions beside them.
pub fn networks_v4() -> impl Iterator<Item = Ipv4Net> {
    let unreachable = REGISTRY_V4.iter().filter(|(.., reachable)| !reachable);
    unreachable
        .filter_map(|(network, length, _)| Ipv4Net::new(Ipv4Addr::from(*network), *length).ok())
}

/// Networks that hold IPv6 martians, and nothing but the few reachable exceptions beside them.
pub fn networks_v6() -> impl Iterator<Item = Ipv6Net> {
    let unreachable = REGISTRY_V6.iter().filter(|(.., reachable)| !reachable);
    let unreachable = unreachable.chain([&MULTICAST_V6]);
    unreachable
        .filter_map(|(network, length, _)| Ipv6Net::new(Ipv6Addr::from(*network), *length).ok())
}

/// Whether a prefix lies within martian space. One that covers martian and other space alike is none.
#[must_use]
pub fn is_martian(prefix: IpNet) -> bool {
    match prefix {
        IpNet::V4(prefix) => is_martian_v4(prefix),
        IpNet::V6(prefix) => is_martian_v6(prefix),
    }
}

fn is_martian_v4(prefix: Ipv4Net) -> bool {
    let around = REGISTRY_V4.iter().filter(|(network, length, _)| {
        within(
            u32::from(prefix.addr()),
            prefix.prefix_len(),
            u32::from(Ipv4Addr::from(*network)),
            *length,
        )
    });
    around
        .max_by_key(|(_, length, _)| *length)
        .is_some_and(|(_, _, reachable)| !reachable)
}

fn within(address: u32, length: u8, network: u32, network_length: u8) -> bool {
    length >= network_length && (address ^ network).leading_zeros() >= u32::from(network_length)
}

fn is_martian_v6(prefix: Ipv6Net) -> bool {
    let around = REGISTRY_V6
        .iter()
        .chain([&MULTICAST_V6])
        .filter(|(network, length, _)| {
            let difference = u128::from(prefix.addr()) ^ u128::from(Ipv6Addr::from(*network));
            prefix.prefix_len() >= *length && difference.leading_zeros() >= u32::from(*length)
        });
    around
        .max_by_key(|(_, length, _)| *length)
        .is_some_and(|(_, _, reachable)| !reachable)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::net;

    #[test]
    fn what_the_registries_say_is_so() {
        for martian in [
            "0.0.0.0/8",
            "10.1.0.0/16",
            "100.64.0.0/10",
            "127.0.0.1/32",
            "169.254.0.0/16",
            "172.31.0.0/16",
            "192.0.0.0/24",
            "192.0.0.8/32",
            "192.0.2.0/25",
            "192.168.0.0/16",
            "198.19.0.0/16",
            "198.51.100.0/24",
            "203.0.113.0/24",
            "224.0.0.0/4",
            "239.1.0.0/16",
            "240.0.0.0/4",
            "255.255.255.255/32",
            "::/128",
            "::1/128",
            "::ffff:1.2.3.0/120",
            "64:ff9b:1::/48",
            "100::/64",
            "100:0:0:1::/64",
            "2001::/23",
            "2001:2::/48",
            "2001:10::/28",
            "2001:db8:1::/48",
            "3fff::/20",
            "5f00::/16",
            "fd00::/8",
            "fe80::/64",
            "ff02::/16",
        ] {
            assert!(is_martian(net(martian)), "{martian}");
        }
    }

    #[test]
    fn neighbours_covers_and_exceptions_are_none() {
        for other in [
            "0.0.0.0/7",
            "1.0.0.0/8",
            "8.0.0.0/6",
            "11.0.0.0/8",
            "100.0.0.0/9",
            "100.128.0.0/16",
            "172.0.0.0/8",
            "172.32.0.0/16",
            "192.0.0.9/32",
            "192.0.0.0/23",
            "192.0.1.0/24",
            "192.31.196.0/24",
            "198.20.0.0/16",
            "192.88.99.0/24",
            "223.255.255.0/24",
            "64:ff9b::/96",
            "2001::/32",
            "2001::/16",
            "2001:1::1/128",
            "2001:3::/32",
            "2001:4:112::/48",
            "2001:20::/28",
            "2001:200::/32",
            "2002::/16",
            "2a00::/12",
            "3ffe::/16",
            "fec0::/10",
        ] {
            assert!(!is_martian(net(other)), "{other}");
        }
    }
}
