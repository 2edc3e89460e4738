//! Routes as lines: a prefix a line, or what `bgpdump -m` prints.

use ipnet::{IpNet, Ipv4Net, Ipv6Net};
use std::net::IpAddr;

/// What a line holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Line {
    /// A route to this prefix.
    Route(IpNet),
    /// Blank, or a comment.
    Nothing,
    /// Well formed, and no route of a table: an update.
    Other,
    /// Not what it should be.
    Damaged(String),
}

/// Reads a line of a plain list: a prefix, or an address (a host route). Text behind a blank or a comma
/// is ignored. `#` begins a comment.
pub(super) fn list_line(line: &[u8]) -> Line {
    let Some(text) = readable(line) else {
        return not_a_prefix(line);
    };
    let mut words = text.split(|c: char| c.is_ascii_whitespace() || c == ',' || c == '#');
    match words.find(|word| !word.is_empty()) {
        None => Line::Nothing,
        Some(_) if text.trim_start().starts_with('#') => Line::Nothing,
        Some(word) => prefix(word).map_or_else(|| not_a_prefix(word.as_bytes()), Line::Route),
    }
}

/// Reads a line of `bgpdump -m` (or `-M`): `TABLE_DUMP2|time|B|peer|AS|prefix|path|...`.
pub(super) fn bgpdump_line(line: &[u8]) -> Line {
    let mut fields = line.split(|&octet| octet == b'|');
    let kind = fields.next().unwrap_or_default();
    if kind.trim_ascii().is_empty() {
        return Line::Nothing;
    }
    let (what, word) = (fields.nth(1), fields.nth(2));
    if kind.starts_with(b"BGP4MP") && what.is_some() {
        return Line::Other;
    }
    let (true, Some(b"B" | b"A"), Some(word)) = (kind.starts_with(b"TABLE_DUMP"), what, word)
    else {
        return Line::Damaged(format!("not a line of bgpdump -m: `{}`", excerpt(line)));
    };
    let read = std::str::from_utf8(word).ok().and_then(prefix);
    read.map_or_else(|| not_a_prefix(word), Line::Route)
}

/// Whether a line, the first that says anything, is of `bgpdump -m`.
pub(super) fn looks_like_bgpdump(line: &[u8]) -> bool {
    line.contains(&b'|')
}

fn readable(line: &[u8]) -> Option<&str> {
    std::str::from_utf8(line).ok()
}

pub(super) fn prefix(word: &str) -> Option<IpNet> {
    if word.contains('/') {
        // One family at a time: IpNet would try both on what is neither.
        return if word.contains(':') {
            word.parse::<Ipv6Net>().ok().map(IpNet::V6)
        } else {
            word.parse::<Ipv4Net>().ok().map(IpNet::V4)
        };
    }
    word.parse::<IpAddr>().ok().map(IpNet::from)
}

fn not_a_prefix(word: &[u8]) -> Line {
    Line::Damaged(format!("not a prefix: `{}`", excerpt(word)))
}

/// The beginning of these octets, fit to be printed.
pub(super) fn excerpt(octets: &[u8]) -> String {
    const SHOWN: usize = 40;
    let shown = octets.get(..SHOWN).unwrap_or(octets);
    let mut text: String = String::from_utf8_lossy(shown)
        .chars()
        .map(|c| if c.is_control() { '.' } else { c })
        .collect();
    if octets.len() > SHOWN {
        text.push_str("...");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::net;

    #[test]
    fn a_list_is_prefixes_and_comments() {
        for (line, wanted) in [
            ("1.0.0.0/24", Line::Route(net("1.0.0.0/24"))),
            (" 2001:db8::/32\r", Line::Route(net("2001:db8::/32"))),
            (
                "1.0.0.0/24 via 10.0.0.1 dev x",
                Line::Route(net("1.0.0.0/24")),
            ),
            ("1.0.0.0/24,13335", Line::Route(net("1.0.0.0/24"))),
            ("1.0.0.0/24# ours", Line::Route(net("1.0.0.0/24"))),
            ("192.0.2.1", Line::Route(net("192.0.2.1/32"))),
            ("::1", Line::Route(net("::1/128"))),
            ("", Line::Nothing),
            ("\t", Line::Nothing),
            ("# a list", Line::Nothing),
            ("  # 1.0.0.0/24", Line::Nothing),
        ] {
            assert_eq!(list_line(line.as_bytes()), wanted, "{line}");
        }
        for line in [
            "default",
            "1.0.0.0/33",
            "1.0.0/24",
            "2001:db8::/129",
            "1.0.0.0/",
            "/8",
            "\u{fffd}",
            "A 1.0.0.0/8",
        ] {
            assert!(
                matches!(list_line(line.as_bytes()), Line::Damaged(_)),
                "{line}"
            );
        }
        assert!(matches!(list_line(b"\xff\xfe1.0.0.0/8"), Line::Damaged(_)));
    }

    #[test]
    fn bgpdump_lines_are_routes() {
        for (line, wanted) in [
            (
                "TABLE_DUMP2|1401487200|B|196.223.14.55|30844|1.0.0.0/24|30844 15169|IGP|196.223.14.55|0|0||NAG||",
                Line::Route(net("1.0.0.0/24")),
            ),
            (
                "TABLE_DUMP|1027381055|B|193.203.0.1|1853|3.0.0.0/8|1853 1239 80|IGP",
                Line::Route(net("3.0.0.0/8")),
            ),
            (
                "TABLE_DUMP2|05/30/14 22:00:00|A|2001:7f8::1|1|2001:db8::/32|1|IGP",
                Line::Route(net("2001:db8::/32")),
            ),
            (
                "BGP4MP|1401487200|A|10.0.0.1|1|1.0.0.0/24|1|IGP",
                Line::Other,
            ),
            ("BGP4MP|1401487200|STATE|10.0.0.1|1|1|2", Line::Other),
            ("", Line::Nothing),
        ] {
            assert_eq!(bgpdump_line(line.as_bytes()), wanted, "{line}");
        }
        for line in [
            "TABLE_DUMP2|1|B|x|1",
            "TABLE_DUMP2|1|B|x|1|nowhere|1",
            "1.0.0.0/24",
            "TABLE_DUMP2",
            "x|1|B|x|1|1.0.0.0/8|",
        ] {
            assert!(
                matches!(bgpdump_line(line.as_bytes()), Line::Damaged(_)),
                "{line}"
            );
        }
    }

    #[test]
    fn an_excerpt_can_be_printed() {
        assert_eq!(excerpt(b"a\x1b[31m\n"), "a.[31m.");
        assert_eq!(excerpt(&[b'x'; 100]).len(), 43);
    }
}
