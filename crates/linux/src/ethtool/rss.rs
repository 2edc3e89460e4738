//! Receive-side scaling: which queue serves a flow. Table, key and exchange of addresses (`struct ethtool_rxfh`), and the
//! header fields that are hashed (`struct ethtool_rxnfc`). Values are the words of ethtool(8) wherever it has them.

use super::device::ask;
use super::object;
use super::request::{Buffer, Control};
use crate::error::{Error, Result};

const ETHTOOL_GRXFH: u32 = 0x29;
const ETHTOOL_SRXFH: u32 = 0x2a;
const ETHTOOL_GRXRINGS: u32 = 0x2d;
const ETHTOOL_GRSSH: u32 = 0x46;
const ETHTOOL_SRSSH: u32 = 0x47;
/// Octets before the table in `struct ethtool_rxfh`, and of `struct ethtool_rxnfc`.
const HEADER: usize = 24;
const RXNFC: usize = 192;
/// In place of the table's length: it stays (`ETH_RXFH_INDIR_NO_CHANGE`).
const NO_CHANGE: u32 = u32::MAX;
/// Source and destination are exchanged by XOR (`RXH_XFRM_SYM_XOR`).
const SYM_XOR: u8 = 1;
/// `UDP_V4_FLOW`, `UDP_V6_FLOW`.
const FLOWS: [(&str, u32); 2] = [("udp4", 0x02), ("udp6", 0x06)];
/// Bits of the fields (`RXH_L2DA`...) by the letters of ethtool(8). `r` is for frames that are not hashed.
const FIELDS: [(char, u64); 10] = [
    ('m', 1 << 1),
    ('v', 1 << 2),
    ('t', 1 << 3),
    ('s', 1 << 4),
    ('d', 1 << 5),
    ('f', 1 << 6),
    ('n', 1 << 7),
    ('e', 1 << 8),
    ('l', 1 << 9),
    ('r', 1 << 31),
];

/// What a device has; older kernels have no `exchange`.
struct Rss {
    table: Vec<u32>,
    key: Vec<u8>,
    exchange: u8,
}

impl Rss {
    fn read(operation: &str, link: &str) -> Result<Self> {
        let sizes = ask(operation, link, Buffer::new(ETHTOOL_GRSSH, HEADER))?;
        let (entries, octets) = (sizes.u32_at(8), sizes.u32_at(12));
        if (entries, octets) == (0, 0) {
            return Err(Error::from_text(operation, object(link), "no RSS"));
        }
        let len = HEADER + 4 * entries as usize + octets as usize;
        let mut request = Buffer::new(ETHTOOL_GRSSH, len);
        request.set_u32(8, entries);
        request.set_u32(12, octets);
        let read = ask(operation, link, request)?;
        Ok(Self::from_answer(&read))
    }

    fn from_answer(read: &Buffer) -> Self {
        let (entries, octets) = (read.u32_at(8) as usize, read.u32_at(12) as usize);
        let table = (0..entries).map(|entry| read.u32_at(HEADER + 4 * entry));
        Self {
            table: table.collect(),
            key: read.octets(HEADER + 4 * entries, octets).to_vec(),
            exchange: read.octets(17, 1)[0],
        }
    }
}

/// A part of it: `table`, `key`, `symxor`, or the fields of `udp4` and `udp6`.
pub(super) fn read(link: &str, part: &str) -> Result<String> {
    let operation = format!("read rss/{part} of");
    let lacks = |what| Error::from_text(&*operation, object(link), what);
    let rss = Rss::read(&operation, link)?;
    match part {
        "table" if rss.table.is_empty() => Err(lacks("no RSS table")),
        "table" => {
            let rings = ask(&operation, link, Buffer::new(ETHTOOL_GRXRINGS, RXNFC));
            let rings = rings.map(|answer| answer.u64_at(8) as u32);
            Ok(table_text(&rss.table, rings.ok()))
        }
        "key" if rss.key.is_empty() => Err(lacks("no RSS key")),
        "key" => Ok(key_text(&rss.key)),
        "symxor" if rss.exchange & SYM_XOR != 0 => Ok("on".to_owned()),
        "symxor" => match can_exchange(link, rss.key.len())? {
            true => Ok("off".to_owned()),
            false => Err(lacks(
                "not available: this driver and kernel cannot exchange addresses",
            )),
        },
        _ => {
            let flow = flow(part).ok_or_else(|| lacks("no such parameter"))?;
            let mut request = Buffer::new(ETHTOOL_GRXFH, RXNFC);
            request.set_u32(4, flow);
            Ok(fields_text(ask(&operation, link, request)?.u64_at(8)))
        }
    }
}

/// Whether the driver can exchange addresses, as far as the kernel tells: it says only of a request to do so. A key that is
/// too long has it refuse each of them, and first one for a driver that cannot (`ethtool_set_rxfh`).
fn can_exchange(link: &str, key_len: usize) -> Result<bool> {
    let control = Control::open()?;
    // Before Linux 6.8 the octet had to be 0.
    let mut known = Buffer::new(ETHTOOL_GRSSH, HEADER);
    known.set_u32(16, u32::from_ne_bytes([0, SYM_XOR, 0, 0]));
    let is_known = control.ask(link, &mut known).is_ok();
    let mut refused = request(None, &vec![0; key_len + 1], SYM_XOR);
    let refused = control.ask(link, &mut refused).err();
    Ok(is_known && refused != Some(libc::EOPNOTSUPP))
}

/// The request that sets a part; `None` where the value is none of it.
pub(super) fn change(
    operation: &str,
    link: &str,
    part: &str,
    value: &str,
) -> Result<Option<Buffer>> {
    let rss = Rss::read(operation, link)?;
    Ok(match part {
        "table" => {
            let table = table_of(value, rss.table.len());
            table.map(|table| request(Some(&table), &[], rss.exchange))
        }
        "key" => {
            let key = key_of(value).filter(|key| key.len() == rss.key.len());
            key.map(|key| request(None, &key, rss.exchange))
        }
        "symxor" => match value {
            "on" => Some(request(None, &[], rss.exchange | SYM_XOR)),
            "off" => Some(request(None, &[], rss.exchange & !SYM_XOR)),
            _ => None,
        },
        _ => flow(part).zip(fields_of(value)).map(|(flow, fields)| {
            let mut request = Buffer::new(ETHTOOL_SRXFH, RXNFC);
            request.set_u32(4, flow);
            request.set_u64(8, fields);
            request
        }),
    })
}

/// `ETHTOOL_SRSSH`. An empty table is the kernel's own; then a change of channels spreads it anew. The function of the hash
/// stays, and a kernel without `exchange` refuses another one than it said.
fn request(table: Option<&[u32]>, key: &[u8], exchange: u8) -> Buffer {
    let entries = table.map_or(NO_CHANGE, |table| table.len() as u32);
    let table = table.unwrap_or_default();
    let mut request = Buffer::new(ETHTOOL_SRSSH, HEADER + 4 * table.len() + key.len());
    request.set_u32(8, entries);
    request.set_u32(12, key.len() as u32);
    request.set_u32(16, u32::from_ne_bytes([0, exchange, 0, 0]));
    let key = key.chunks(4).map(|octets| {
        let mut word = [0; 4];
        word[..octets.len()].copy_from_slice(octets);
        u32::from_ne_bytes(word)
    });
    let words = table.iter().copied().chain(key);
    for (place, word) in (HEADER..).step_by(4).zip(words) {
        request.set_u32(place, word);
    }
    request
}

/// `equal` over all queues, `equal 2` over the first two, `weight 96 32` for so many entries of each queue in a row, or
/// `table` with the queue of each entry, which ethtool(8) cannot write.
fn table_text(table: &[u32], rings: Option<u32>) -> String {
    let queues = table.iter().max().map_or(0, |last| last + 1);
    let is_equal = |queues: u32| {
        (0..)
            .zip(table)
            .all(|(entry, queue)| entry % queues == *queue)
    };
    let listed = |word: &str, numbers: &mut dyn Iterator<Item = u32>| {
        numbers.fold(word.to_owned(), |text, number| format!("{text} {number}"))
    };
    let entries = |of: u32| table.iter().filter(|queue| **queue == of).count() as u32;
    match rings.unwrap_or(queues) {
        rings @ 1.. if is_equal(rings) => "equal".to_owned(),
        _ if is_equal(queues) => format!("equal {queues}"),
        _ if table.is_sorted() => listed("weight", &mut (0..queues).map(entries)),
        _ => listed("table", &mut table.iter().copied()),
    }
}

/// The table of so many entries that a text stands for; an empty one for `equal`.
fn table_of(text: &str, len: usize) -> Option<Vec<u32>> {
    let (word, numbers) = text.split_once(' ').unwrap_or((text, ""));
    let numbers = numbers.split(' ').filter(|number| !number.is_empty());
    let numbers: Vec<u32> = numbers
        .map(|number| number.parse().ok())
        .collect::<Option<_>>()?;
    let table: Vec<u32> = match (word, numbers.as_slice()) {
        ("equal", []) => return Some(Vec::new()),
        ("equal", [queues]) => (0..*queues).cycle().take(len).collect(),
        ("weight", weights) => {
            let of_each = (0..).zip(weights);
            let all =
                of_each.flat_map(|(queue, &count)| std::iter::repeat_n(queue, count as usize));
            // One more than there may be is enough to refuse it.
            all.take(len + 1).collect()
        }
        ("table", queues) => queues.to_vec(),
        _ => return None,
    };
    (table.len() == len).then_some(table)
}

fn key_text(key: &[u8]) -> String {
    let octets: Vec<String> = key.iter().map(|octet| format!("{octet:02x}")).collect();
    octets.join(":")
}

fn key_of(text: &str) -> Option<Vec<u8>> {
    let octets = text
        .split(':')
        .map(|octet| u8::from_str_radix(octet, 16).ok());
    octets.collect()
}

/// Some drivers say of frames that are not hashed that no field is.
fn fields_text(fields: u64) -> String {
    let all = FIELDS.iter().filter(|(_, bit)| fields & bit != 0);
    let text: String = all.map(|(letter, _)| letter).collect();
    if text.is_empty() {
        "r".to_owned()
    } else {
        text
    }
}

fn fields_of(text: &str) -> Option<u64> {
    let bit = |letter| FIELDS.iter().find(|(known, _)| *known == letter);
    let bits = text.chars().map(|letter| Some(bit(letter)?.1));
    let bits: Vec<u64> = bits.collect::<Option<_>>()?;
    (!bits.is_empty()).then(|| bits.iter().fold(0, |all, bit| all | bit))
}

fn flow(part: &str) -> Option<u32> {
    let found = FLOWS.iter().find(|(name, _)| *name == part);
    found.map(|(_, flow)| *flow)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_is_told_by_the_words_that_write_it() {
        for (table, rings, text) in [
            (&[0, 1, 2, 3, 0, 1, 2, 3][..], 4, "equal"),
            (&[0, 1, 2, 3, 0, 1, 2, 3], 8, "equal 4"),
            (&[0, 0, 0, 0], 2, "equal 1"),
            (&[0, 0, 0, 0], 1, "equal"),
            (&[0, 0, 0, 1], 2, "weight 3 1"),
            (&[1, 1, 3, 3], 4, "weight 0 2 0 2"),
            (&[1, 0, 1, 0], 2, "table 1 0 1 0"),
        ] {
            assert_eq!(table_text(table, Some(rings)), text);
            let written = if text == "equal" { &[] } else { table };
            assert_eq!(table_of(text, table.len()).as_deref(), Some(written));
        }
        // A driver that does not say how many rings it has.
        assert_eq!(table_text(&[0, 1, 0, 1], None), "equal");
        for wrong in [
            "",
            "equal 0",
            "equal 1 2",
            "weight 4294967295",
            "weight 1 2",
            "table 0",
            "default",
            "equal x",
        ] {
            assert_eq!(table_of(wrong, 4), None, "{wrong}");
        }
    }

    #[test]
    fn keys_and_fields_come_back() {
        let key = [0x6d, 0x5a, 0x00, 0x0f, 0xff];
        assert_eq!(key_text(&key), "6d:5a:00:0f:ff");
        assert_eq!(key_of("6d:5a:00:0f:ff").as_deref(), Some(&key[..]));
        for wrong in ["", "6d:", "symmetric", "100"] {
            assert_eq!(key_of(wrong), None, "{wrong}");
        }
        for (fields, text) in [(0x30, "sd"), (0xf0, "sdfn"), (1 << 31, "r"), (0x308, "tel")] {
            assert_eq!(fields_text(fields), text);
            assert_eq!(fields_of(text), Some(fields));
        }
        assert_eq!(fields_text(0), "r");
        assert_eq!((fields_of(""), fields_of("sdx")), (None, None));
    }

    /// What is written has the same layout as what is read (`include/uapi/linux/ethtool.h`).
    #[test]
    fn table_and_key_lie_where_the_kernel_looks() {
        let key = [1, 2, 3, 4, 5];
        let both = request(Some(&[7, 8]), &key, SYM_XOR);
        assert_eq!(both.octets(0, 4), ETHTOOL_SRSSH.to_ne_bytes());
        assert_eq!([both.u32_at(8), both.u32_at(12)], [2, 5]);
        assert_eq!(both.octets(16, 4), [0, SYM_XOR, 0, 0]);
        assert_eq!([both.u32_at(24), both.u32_at(28)], [7, 8]);
        assert_eq!(both.octets(32, 5), key);
        let read = Rss::from_answer(&both);
        assert_eq!(
            (read.table, read.key, read.exchange),
            (vec![7, 8], key.to_vec(), SYM_XOR)
        );
        // The length that no device has comes with it.
        let refused = request(None, &[0; 6], SYM_XOR);
        assert_eq!([refused.u32_at(8), refused.u32_at(12)], [NO_CHANGE, 6]);
        assert_eq!(refused.octets(16, 4), [0, SYM_XOR, 0, 0]);
        // Without a table the key comes at once.
        let alone = request(None, &key, 0);
        assert_eq!(
            (alone.u32_at(8), alone.octets(24, 5)),
            (NO_CHANGE, &key[..])
        );
        assert_eq!(request(Some(&[]), &[], 0).u32_at(8), 0);
    }

    #[test]
    fn a_link_without_rss_says_so() {
        let error = read("lo", "table").expect_err("no RSS");
        assert!(error.errno().is_none(), "{error}");
    }
}
