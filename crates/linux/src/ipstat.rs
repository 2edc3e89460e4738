//! What the calling thread's network namespace counted of the IP packets that came by
//! (/proc/net/snmp, netstat and snmp6; kernel: net/ipv4/proc.c, net/ipv6/proc.c).

use crate::error::{Error, Result};

/// Packets of one family since the namespace was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IpCounts {
    /// Sent on towards somebody else: after merging, before cutting (ForwDatagrams).
    pub forwarded: u64,
    /// Dropped for want of a route (InNoRoutes).
    pub no_route: u64,
}

/// The counts of IPv4.
///
/// # Errors
/// /proc not mounted, or a format we do not know.
pub fn ipv4() -> Result<IpCounts> {
    Ok(IpCounts {
        forwarded: paired(&read("snmp")?, "Ip:", "ForwDatagrams")?,
        no_route: paired(&read("netstat")?, "IpExt:", "InNoRoutes")?,
    })
}

/// The counts of IPv6; nothing counted where the kernel has no IPv6.
///
/// # Errors
/// As [`ipv4`].
pub fn ipv6() -> Result<IpCounts> {
    let text = match read("snmp6") {
        Err(error) if error.is_missing() => return Ok(IpCounts::default()),
        text => text?,
    };
    Ok(IpCounts {
        forwarded: listed(&text, "Ip6OutForwDatagrams")?,
        no_route: listed(&text, "Ip6InNoRoutes")?,
    })
}

fn read(name: &str) -> Result<String> {
    let path = format!("/proc/thread-self/net/{name}");
    std::fs::read_to_string(&path).map_err(|error| Error::from_io("read", path, &error))
}

fn unknown(word: &str) -> Error {
    let error = std::io::Error::from(std::io::ErrorKind::InvalidData);
    Error::from_io("read", format!("{word} in /proc/net"), &error)
}

/// A line of names, then a line of numbers, both with the same first word.
fn paired(text: &str, head: &str, word: &str) -> Result<u64> {
    let mut lines = text.lines().filter(|line| line.starts_with(head));
    let (names, numbers) = (lines.next(), lines.next());
    let place = names.and_then(|line| line.split_ascii_whitespace().position(|name| name == word));
    let number = place.and_then(|place| numbers?.split_ascii_whitespace().nth(place)?.parse().ok());
    number.ok_or_else(|| unknown(word))
}

/// Lines of a name and a number.
fn listed(text: &str, word: &str) -> Result<u64> {
    let mut pairs = text
        .lines()
        .filter_map(|line| line.split_once(char::is_whitespace));
    let number = pairs.find(|(name, _)| *name == word);
    number
        .and_then(|(_, number)| number.trim().parse().ok())
        .ok_or_else(|| unknown(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_numbers_are_found_by_their_place() {
        let text = "Ip: Forwarding ForwDatagrams\nIp: 1 42\nIcmp: InMsgs\nIcmp: 7\n";
        assert_eq!(paired(text, "Ip:", "ForwDatagrams").ok(), Some(42));
        assert!(paired(text, "Ip:", "Unheard").is_err());
        assert!(paired("Ip: ForwDatagrams\n", "Ip:", "ForwDatagrams").is_err());
        let text = "Ip6InReceives     \t3\nIp6InNoRoutes                   \t5\n";
        assert_eq!(listed(text, "Ip6InNoRoutes").ok(), Some(5));
        assert!(listed(text, "Ip6").is_err());
    }

    #[test]
    fn this_kernel_counts_both_families() {
        assert!(ipv4().is_ok(), "{:?}", ipv4());
        assert!(ipv6().is_ok(), "{:?}", ipv6());
    }
}
