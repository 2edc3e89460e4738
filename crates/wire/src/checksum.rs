//! The Internet checksum (RFC 1071).

use std::net::IpAddr;

/// Sum of big-endian 16-bit words, not yet folded; an odd octet at the end counts as a high one.
/// Holds for up to 128 KiB.
#[must_use]
pub fn sum(octets: &[u8]) -> u32 {
    let (words, rest) = octets.as_chunks::<2>();
    let words: u32 = words
        .iter()
        .map(|&word| u32::from(u16::from_be_bytes(word)))
        .sum();
    words + rest.first().map_or(0, |&octet| u32::from(octet) << 8)
}

/// Folds a sum to 16 bits (ones' complement addition).
#[must_use]
pub const fn fold(mut sum: u32) -> u16 {
    while sum >> 16 != 0 {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    sum as u16
}

/// The checksum of a sum: folded and complemented.
#[must_use]
pub const fn finish(sum: u32) -> u16 {
    !fold(sum)
}

/// The checksum of some octets (RFC 1071). Over octets that contain their own checksum: 0 when right.
#[must_use]
pub fn compute(octets: &[u8]) -> u16 {
    finish(sum(octets))
}

/// Sum of the pseudo header (RFC 768, RFC 8200 8.1). Addresses of two families sum as they are.
#[must_use]
pub fn pseudo_header(source: IpAddr, destination: IpAddr, protocol: u8, length: u16) -> u32 {
    let address = |address: IpAddr| match address {
        IpAddr::V4(v4) => sum(&v4.octets()),
        IpAddr::V6(v6) => sum(&v6.octets()),
    };
    address(source) + address(destination) + u32::from(protocol) + u32::from(length)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_example_of_rfc_1071_section_3() {
        let octets = [0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7];
        assert_eq!(sum(&octets), 0x2_ddf0);
        assert_eq!(fold(sum(&octets)), 0xddf2);
        assert_eq!(compute(&octets), !0xddf2);
    }

    #[test]
    fn an_odd_octet_counts_as_a_high_one() {
        assert_eq!(sum(&[0x12, 0x34, 0x56]), 0x1234 + 0x5600);
        assert_eq!(compute(&[]), 0xffff);
    }
}
