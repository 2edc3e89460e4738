//! Netlink attributes (`struct rtattr`): length, type, value, padded to 4 octets.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Octets of an attribute's header.
const HEADER: usize = 4;

/// Appends an attribute. Values are addresses and numbers: far below the 65 531 octets that fit.
pub(super) fn put(message: &mut Vec<u8>, kind: u16, value: &[u8]) {
    let length = u16::try_from(HEADER + value.len()).unwrap_or(u16::MAX);
    message.extend(length.to_ne_bytes());
    message.extend(kind.to_ne_bytes());
    message.extend(value);
    message.resize(message.len().next_multiple_of(4), 0);
}

/// A 32-bit number in host order.
pub(super) fn number(value: &[u8]) -> Option<u32> {
    value.try_into().ok().map(u32::from_ne_bytes)
}

/// An address of 4 or 16 octets.
pub(super) fn address(value: &[u8]) -> Option<IpAddr> {
    match value.len() {
        4 => <[u8; 4]>::try_from(value)
            .ok()
            .map(|octets| Ipv4Addr::from(octets).into()),
        16 => <[u8; 16]>::try_from(value)
            .ok()
            .map(|octets| Ipv6Addr::from(octets).into()),
        _ => None,
    }
}

/// Appends an address as an attribute.
pub(super) fn put_address(message: &mut Vec<u8>, kind: u16, address: IpAddr) {
    match address {
        IpAddr::V4(v4) => put(message, kind, &v4.octets()),
        IpAddr::V6(v6) => put(message, kind, &v6.octets()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::netlink::attributes;

    #[test]
    fn what_was_put_is_found_again() {
        let mut message = Vec::new();
        put(&mut message, 1, &[1, 2, 3]);
        put(&mut message, 30 | 0x8000, &7u32.to_ne_bytes());
        put_address(&mut message, 5, "2001:2::1".parse().unwrap());
        let found: Vec<(u16, &[u8])> = attributes(&message).collect();
        assert_eq!(found[0], (1, &[1u8, 2, 3][..]));
        assert_eq!((found[1].0, number(found[1].1)), (30, Some(7)));
        assert_eq!(
            address(found[2].1),
            Some("2001:2::1".parse::<IpAddr>().unwrap())
        );
        assert_eq!(found.len(), 3);
    }

    #[test]
    fn a_broken_attribute_ends_the_list() {
        assert_eq!(attributes(&[200, 0, 1, 0, 9]).count(), 0);
        assert_eq!(attributes(&[0, 0, 1, 0]).count(), 0);
        assert_eq!(attributes(&[4]).count(), 0);
        assert_eq!((number(&[1]), address(&[1, 2])), (None, None));
    }
}
