//! Parameters of a link that can be set: rings, channels, interrupt coalescing, RSS, offloads, tunables, private flags. Each is
//! named by a word.

use super::device::ask;
use super::request::{Buffer, Control};
use super::{fail, features, flag, netlink, object, rss, set_feature};
use crate::error::{Error, Result};

/// A structure of 32-bit numbers (`include/uapi/linux/ethtool.h`), and the commands that read and write it.
struct Group {
    name: &'static str,
    read: u32,
    write: u32,
    words: usize,
    /// Numbers behind the command that say what is asked for.
    head: &'static [u32],
    /// Names of the numbers that can be set, with their places.
    parameters: &'static [(&'static str, usize)],
    /// Names of their maxima.
    maxima: &'static [(&'static str, usize)],
}

impl Group {
    /// The structure as the driver has it.
    fn ask(&self, link: &str) -> Result<Buffer> {
        let operation = format!("read {} of", self.name);
        ask(&operation, link, self.request()).map_err(|error| match error.errno() {
            // A driver with other tunables than this one.
            Some(libc::EINVAL) => {
                Error::from_text(operation, object(link), "the driver does not have it")
            }
            _ => error,
        })
    }

    fn request(&self) -> Buffer {
        let mut request = Buffer::new(self.read, 4 * self.words);
        for (place, word) in (4..).step_by(4).zip(self.head) {
            request.set_u32(place, *word);
        }
        request
    }

    /// Turns what was read into what writes it, with one number changed.
    fn with(&self, mut read: Buffer, place: usize, number: u32) -> Buffer {
        read.set_u32(0, self.write);
        read.set_u32(4 * place, number);
        read
    }
}

/// Of `struct ethtool_tunable`: the type `ETHTOOL_TUNABLE_U32`, and the length of its value.
const U32: [u32; 2] = [3, 4];

/// `ETHTOOL_xRINGPARAM`, `ETHTOOL_xCHANNELS`, `ETHTOOL_xCOALESCE`, `ETHTOOL_xPAUSEPARAM`, `ETHTOOL_xEEE`, `ETHTOOL_xTUNABLE`,
/// with the words of ethtool(8).
const GROUPS: [Group; 7] = [
    Group {
        name: "rings",
        read: 0x10,
        write: 0x11,
        words: 9,
        head: &[],
        parameters: &[("rx", 5), ("rx-mini", 6), ("rx-jumbo", 7), ("tx", 8)],
        maxima: &[("rx-max", 1), ("tx-max", 4)],
    },
    Group {
        name: "channels",
        read: 0x3c,
        write: 0x3d,
        words: 9,
        head: &[],
        parameters: &[("rx", 5), ("tx", 6), ("other", 7), ("combined", 8)],
        maxima: &[("rx-max", 1), ("tx-max", 2), ("combined-max", 4)],
    },
    Group {
        name: "coalescing",
        read: 0x0e,
        write: 0x0f,
        words: 23,
        head: &[],
        parameters: &[
            ("rx-usecs", 1),
            ("rx-frames", 2),
            ("rx-usecs-irq", 3),
            ("rx-frames-irq", 4),
            ("tx-usecs", 5),
            ("tx-frames", 6),
            ("tx-usecs-irq", 7),
            ("tx-frames-irq", 8),
            ("adaptive-rx", 10),
            ("adaptive-tx", 11),
        ],
        maxima: &[],
    },
    Group {
        name: "pause",
        read: 0x12,
        write: 0x13,
        words: 4,
        head: &[],
        parameters: &[("autoneg", 1), ("rx", 2), ("tx", 3)],
        maxima: &[],
    },
    Group {
        name: "eee",
        read: 0x44,
        write: 0x45,
        words: 10,
        head: &[],
        parameters: &[("eee", 5)],
        maxima: &[],
    },
    Group {
        name: "tunables",
        read: 0x48,
        write: 0x49,
        words: 5,
        head: &[1, U32[0], U32[1]],
        parameters: &[("rx-copybreak", 4)],
        maxima: &[],
    },
    Group {
        name: "tunables",
        read: 0x48,
        write: 0x49,
        words: 5,
        head: &[2, U32[0], U32[1]],
        parameters: &[("tx-copybreak", 4)],
        maxima: &[],
    },
];

/// Value of a parameter: a number, `on` and `off` for `features/NAME` and `private-flags/NAME`, words for `rss/NAME`.
///
/// # Errors
/// No such parameter or link (ENODEV), or a driver without it.
pub fn parameter(link: &str, name: &str) -> Result<String> {
    if let Some(feature) = name.strip_prefix("features/") {
        let all = features(link)?;
        let found = all.iter().find(|known| known.name == feature);
        let found = found.ok_or_else(|| unknown("read", link, name))?;
        return Ok(if found.on { "on" } else { "off" }.to_owned());
    }
    if let Some(part) = name.strip_prefix("rss/") {
        return rss::read(link, part);
    }
    if let Some(name) = name.strip_prefix("private-flags/") {
        return flag::read(link, name);
    }
    if let Some(known) = netlink::find(name) {
        return known.read(link);
    }
    let (group, place) = find(name).ok_or_else(|| unknown("read", link, name))?;
    let request = group.ask(link)?;
    Ok(request.u32_at(4 * place).to_string())
}

/// Numbers of one group as the driver has them at one moment: `rx`, `rx-max` of `rings`.
///
/// # Errors
/// As [`parameter`].
pub fn numbers<const N: usize>(link: &str, group: &str, names: [&str; N]) -> Result<[u32; N]> {
    let lacks = || unknown("read", link, group);
    let group = GROUPS.iter().find(|known| known.name == group);
    let group = group.ok_or_else(lacks)?;
    let read = group.ask(link)?;
    let mut numbers = [0; N];
    for (number, name) in numbers.iter_mut().zip(names) {
        let mut all = group.parameters.iter().chain(group.maxima);
        let (_, place) = all.find(|(word, _)| *word == name).ok_or_else(lacks)?;
        *number = read.u32_at(4 * place);
    }
    Ok(numbers)
}

/// Sets a parameter; the others of its group stay as they are.
///
/// # Errors
/// As [`parameter`]; a value that is none of the parameter, or that the driver refuses.
pub fn set_parameter(link: &str, name: &str, value: &str) -> Result<()> {
    let operation = format!("set {name} to {value} of");
    let refuse = |text| Error::from_text(&*operation, object(link), text);
    let switch = || match value {
        "on" => Ok(true),
        "off" => Ok(false),
        _ => Err(refuse("not a value").with_remedy("give on or off")),
    };
    if let Some(feature) = name.strip_prefix("features/") {
        return set_feature(link, feature, switch()?);
    }
    let wants_number = || refuse("not a value").with_remedy("give a number");
    if let Some(known) = netlink::find(name) {
        let octet = value.parse().map_err(|_| wants_number())?;
        return known.write(&operation, link, octet);
    }
    let mut request = if let Some(part) = name.strip_prefix("rss/") {
        rss::change(&operation, link, part, value)?
            .ok_or_else(|| refuse("not a value").with_remedy("give one as it was read"))?
    } else if let Some(name) = name.strip_prefix("private-flags/") {
        flag::change(&operation, link, name, switch()?)?
    } else {
        let (group, place) = find(name).ok_or_else(|| unknown("set", link, name))?;
        let number = value.parse().map_err(|_| wants_number())?;
        group.with(group.ask(link)?, place, number)
    };
    match Control::open()?.ask(link, &mut request) {
        Ok(_) => Ok(()),
        Err(libc::EOPNOTSUPP) => Err(refuse("the driver cannot change it")),
        Err(errno @ (libc::EINVAL | libc::ERANGE)) => Err(fail(&operation, link, errno)
            .with_remedy("the driver does not take this value; ethtool shows its limits")),
        Err(errno) => Err(fail(&operation, link, errno)),
    }
}

fn find(name: &str) -> Option<(&'static Group, usize)> {
    let (group, parameter) = name.split_once('/')?;
    let of_name = GROUPS.iter().filter(|known| known.name == group);
    let mut all = of_name.flat_map(|group| group.parameters.iter().map(move |one| (group, one)));
    let (group, (_, place)) = all.find(|(_, (word, _))| *word == parameter)?;
    Some((group, *place))
}

fn unknown(verb: &str, link: &str, name: &str) -> Error {
    let operation = format!("{verb} {name} of");
    Error::from_text(operation, object(link), "no such parameter").with_remedy(
        "name it as rings/rx, channels/combined, coalescing/rx-usecs or features/rx-gro",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As `include/uapi/linux/ethtool.h` has the structures: command, what is asked for, and the value's place.
    #[test]
    fn requests_lie_where_the_kernel_looks() {
        for (name, read, write, head, place) in [
            ("rings/rx", 0x10, 0x11, &[][..], 20),
            ("pause/tx", 0x12, 0x13, &[], 12),
            ("eee/eee", 0x44, 0x45, &[], 20),
            ("tunables/rx-copybreak", 0x48, 0x49, &[1, 3, 4], 16),
            ("tunables/tx-copybreak", 0x48, 0x49, &[2, 3, 4], 16),
        ] {
            let (group, word) = find(name).expect(name);
            let asks = group.request();
            let words = |request: &Buffer| -> Vec<u32> {
                let places = (4..).step_by(4).take(head.len());
                places.map(|place| request.u32_at(place)).collect()
            };
            assert_eq!((asks.u32_at(0), &*words(&asks)), (read, head), "{name}");
            let writes = group.with(asks, word, 77);
            assert_eq!(
                (writes.u32_at(0), &*words(&writes)),
                (write, head),
                "{name}"
            );
            assert_eq!((4 * word, writes.u32_at(place)), (place, 77), "{name}");
        }
        for (name, maxima) in [("rings", &[4, 16][..]), ("channels", &[4, 8, 16])] {
            let group = GROUPS.iter().find(|group| group.name == name).expect(name);
            let places = group.maxima.iter().map(|(_, word)| 4 * word);
            assert!(places.eq(maxima.iter().copied()), "{name}");
        }
        assert!(find("tunables/rx").is_none() && find("eee/rx-copybreak").is_none());
    }
}
