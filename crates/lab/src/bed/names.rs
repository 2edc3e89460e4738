//! Names, MAC and IP addresses of the bed: fixed, so that a reader of a dump knows where she is.

use super::{BedError, Side};
use std::net::{Ipv4Addr, Ipv6Addr};

/// Longest bed name: it is part of namespace names.
const NAME_MAX: usize = 24;

/// Refuses a name that would not make a good namespace or folder name.
pub fn check(name: &str) -> Result<(), BedError> {
    let good = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    let first = name
        .chars()
        .next()
        .is_some_and(|c| c.is_ascii_alphanumeric());
    if first && name.len() <= NAME_MAX && name.chars().all(good) {
        return Ok(());
    }
    Err(BedError::BadName(name.to_owned()))
}

/// Names of a bed's three namespaces: tester out, DUT, tester in.
pub fn netns(bed: &str) -> [String; 3] {
    ["out", "dut", "in"].map(|role| format!("mpps-{bed}-{role}"))
}

/// Interface name.
pub fn interface(side: Side) -> &'static str {
    ["mA", "mB", "mC", "mD"][side as usize]
}

/// 02:6d:70:70 is "mpp" with the locally administered bit, then the port.
pub fn mac(side: Side) -> [u8; 6] {
    [0x02, 0x6d, 0x70, 0x70, 0x00, 0x0a + side as u8]
}

/// IPv4 address; prefix length [`V4_PREFIX`].
pub fn v4(side: Side) -> Ipv4Addr {
    [
        Ipv4Addr::new(198, 18, 0, 2),
        Ipv4Addr::new(198, 18, 0, 1),
        Ipv4Addr::new(198, 19, 0, 1),
        Ipv4Addr::new(198, 19, 0, 2),
    ][side as usize]
}

/// IPv6 address; prefix length [`V6_PREFIX`].
pub fn v6(side: Side) -> Ipv6Addr {
    let (net, host) = [(1, 2), (1, 1), (2, 1), (2, 2)][side as usize];
    Ipv6Addr::new(0x2001, 2, 0, net, 0, 0, 0, host)
}

/// Each side of the router has half of 198.18.0.0/15.
pub const V4_PREFIX: u8 = 16;
/// A network of 2001:2::/48 on each side.
pub const V6_PREFIX: u8 = 64;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_could_do_harm_are_refused() {
        for bad in [
            "",
            "-x",
            "a/b",
            "..",
            "A",
            "a b",
            "a_very_long_name_of_thirty",
            "abcdefghijklmnopqrstuvwxyz",
        ] {
            assert!(check(bad).is_err(), "{bad}");
        }
        for good in ["lab1", "3f2a", "a-b"] {
            assert!(check(good).is_ok(), "{good}");
        }
    }
}
