//! The Toeplitz hash of receive-side scaling (Microsoft, "RSS hashing types"; verified against the
//! published vectors). Input: source address, destination address, source port, destination port,
//! each as on the wire.

use std::net::IpAddr;

/// Octets of a key.
pub const KEY_LEN: usize = 40;
/// Longest input: two IPv6 addresses and two ports.
pub const INPUT_MAX: usize = 36;

/// Microsoft's key, the default of most drivers' documentation.
pub const DEFAULT_KEY: [u8; KEY_LEN] = [
    0x6d, 0x5a, 0x56, 0xda, 0x25, 0x5b, 0x0e, 0xc2, 0x41, 0x67, 0x25, 0x3d, 0x43, 0xa3, 0x8f, 0xb0,
    0xd0, 0xca, 0x2b, 0xcb, 0xae, 0x7b, 0x30, 0xb4, 0x77, 0xcb, 0x2d, 0xa3, 0x80, 0x30, 0xf2, 0x0c,
    0x6a, 0x42, 0xb7, 0x3b, 0xbe, 0xac, 0x01, 0xfa,
];

/// A key of one repeated word (Woo & Park 2012): both directions of a connection hash alike. A flow
/// with equal ports between the same two addresses then has a hash without its ports.
pub const SYMMETRIC_KEY: [u8; KEY_LEN] = {
    let mut key = [0x6d; KEY_LEN];
    let mut at = 1;
    while at < KEY_LEN {
        // A constant of a compiler's evaluation: an index out of bounds would not compile.
        #[allow(clippy::indexing_slicing)]
        {
            key[at] = 0x5a;
        }
        at += 2;
    }
    key
};

/// What each octet value contributes at each place of the input: a hash is the XOR of them.
pub type Table = [[u32; 256]; INPUT_MAX];

/// The 32 bits of the key that begin at bit `at`; zeros beyond its end.
fn window(key: &[u8; KEY_LEN], at: usize) -> u32 {
    let octet = |place: usize| u64::from(key.get(place).copied().unwrap_or(0));
    let first = at / 8;
    let five = (first..first + 5).fold(0, |bits, place| bits << 8 | octet(place));
    (five >> (8 - at % 8)) as u32
}

/// The hash of up to 36 octets; what is beyond them does not count.
#[must_use]
pub fn hash(key: &[u8; KEY_LEN], input: &[u8]) -> u32 {
    let mut hash = 0;
    for (place, octet) in input.iter().take(INPUT_MAX).enumerate() {
        for bit in 0..8 {
            if octet & (0x80 >> bit) != 0 {
                hash ^= window(key, place * 8 + bit);
            }
        }
    }
    hash
}

/// The table of a key.
#[must_use]
pub fn table(key: &[u8; KEY_LEN]) -> Box<Table> {
    let mut table = Box::new([[0; 256]; INPUT_MAX]);
    for (place, values) in table.iter_mut().enumerate() {
        for (value, entry) in values.iter_mut().enumerate() {
            for bit in 0..8 {
                if value & (0x80 >> bit) != 0 {
                    *entry ^= window(key, place * 8 + bit);
                }
            }
        }
    }
    table
}

/// The hash's input for a flow: addresses of one family and ports, as on the wire.
#[must_use]
pub fn input(
    source: IpAddr,
    destination: IpAddr,
    source_port: u16,
    destination_port: u16,
) -> Vec<u8> {
    let mut input = Vec::with_capacity(INPUT_MAX);
    for address in [source, destination] {
        match address {
            IpAddr::V4(v4) => input.extend(v4.octets()),
            IpAddr::V6(v6) => input.extend(v6.octets()),
        }
    }
    input.extend(source_port.to_be_bytes());
    input.extend(destination_port.to_be_bytes());
    input
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Microsoft's verification suite: (source, port, destination, port, with ports, addresses alone).
    const VECTORS: [(&str, u16, &str, u16, u32, u32); 8] = [
        (
            "66.9.149.187",
            2794,
            "161.142.100.80",
            1766,
            0x51cc_c178,
            0x323e_8fc2,
        ),
        (
            "199.92.111.2",
            14230,
            "65.69.140.83",
            4739,
            0xc626_b0ea,
            0xd718_262a,
        ),
        (
            "24.19.198.95",
            12898,
            "12.22.207.184",
            38024,
            0x5c2b_394a,
            0xd2d0_a5de,
        ),
        (
            "38.27.205.30",
            48228,
            "209.142.163.6",
            2217,
            0xafc7_327f,
            0x8298_9176,
        ),
        (
            "153.39.163.191",
            44251,
            "202.188.127.2",
            1303,
            0x10e8_28a2,
            0x5d18_09c5,
        ),
        (
            "3ffe:2501:200:1fff::7",
            2794,
            "3ffe:2501:200:3::1",
            1766,
            0x4020_7d3d,
            0x2cc1_8cd5,
        ),
        (
            "3ffe:501:8::260:97ff:fe40:efab",
            14230,
            "ff02::1",
            4739,
            0xdde5_1bbf,
            0x0f0c_461c,
        ),
        (
            "3ffe:1900:4545:3:200:f8ff:fe21:67cf",
            44251,
            "fe80::200:f8ff:fe21:67cf",
            38024,
            0x02d1_feef,
            0x4b61_e985,
        ),
    ];

    #[test]
    fn the_published_vectors_hold() {
        for (source, source_port, destination, destination_port, with_ports, addresses) in VECTORS {
            let input = input(
                source.parse().unwrap(),
                destination.parse().unwrap(),
                source_port,
                destination_port,
            );
            assert_eq!(hash(&DEFAULT_KEY, &input), with_ports, "{source}");
            assert_eq!(
                hash(&DEFAULT_KEY, &input[..input.len() - 4]),
                addresses,
                "{source}"
            );
        }
    }

    #[test]
    fn the_table_gives_the_same_hash() {
        for key in [DEFAULT_KEY, SYMMETRIC_KEY] {
            let table = table(&key);
            let input: Vec<u8> = (0..INPUT_MAX as u8)
                .map(|octet| octet.wrapping_mul(151))
                .collect();
            let by_table = input.iter().enumerate().fold(0, |hash, (place, &octet)| {
                hash ^ table[place][usize::from(octet)]
            });
            assert_eq!(by_table, hash(&key, &input));
        }
    }

    #[test]
    fn the_symmetric_key_hashes_both_directions_alike() {
        let (here, there) = ("198.18.0.2".parse().unwrap(), "198.19.0.2".parse().unwrap());
        let forth = hash(&SYMMETRIC_KEY, &input(here, there, 1024, 80));
        assert_eq!(forth, hash(&SYMMETRIC_KEY, &input(there, here, 80, 1024)));
        assert_ne!(forth, hash(&SYMMETRIC_KEY, &input(here, there, 1025, 80)));
        // The thesis' flows, both ports moving together, all meet in one queue.
        let equal = |port| hash(&SYMMETRIC_KEY, &input(here, there, port, port));
        assert!((1024..1056).all(|port| equal(port) == equal(1024)));
        // A NIC that exchanges source and destination by XOR feeds both halves alike, and nothing is left.
        let both = "0.1.0.0".parse().unwrap();
        assert_eq!(hash(&SYMMETRIC_KEY, &input(both, both, 1104, 1104)), 0);
        assert_eq!((SYMMETRIC_KEY[0], SYMMETRIC_KEY[39]), (0x6d, 0x5a));
    }
}
