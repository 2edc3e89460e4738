//! Parameters of a link that can be set: rings, channels, interrupt coalescing, RSS, offloads. Each is named by a word.

use super::device::ask;
use super::request::{Buffer, Control};
use super::{fail, features, object, rss, set_feature};
use crate::error::{Error, Result};

/// A structure of 32-bit numbers (`include/uapi/linux/ethtool.h`), and the commands that read and write it.
struct Group {
    name: &'static str,
    read: u32,
    write: u32,
    words: usize,
    /// Names of the numbers that can be set, with their places.
    parameters: &'static [(&'static str, usize)],
}

impl Group {
    /// The structure as the driver has it.
    fn ask(&self, link: &str) -> Result<Buffer> {
        let operation = format!("read {} of", self.name);
        ask(&operation, link, Buffer::new(self.read, 4 * self.words))
    }
}

/// `ETHTOOL_xRINGPARAM`, `ETHTOOL_xCHANNELS`, `ETHTOOL_xCOALESCE`, `ETHTOOL_xPAUSEPARAM`, with the words of ethtool(8).
const GROUPS: [Group; 4] = [
    Group {
        name: "rings",
        read: 0x10,
        write: 0x11,
        words: 9,
        parameters: &[("rx", 5), ("rx-mini", 6), ("rx-jumbo", 7), ("tx", 8)],
    },
    Group {
        name: "channels",
        read: 0x3c,
        write: 0x3d,
        words: 9,
        parameters: &[("rx", 5), ("tx", 6), ("other", 7), ("combined", 8)],
    },
    Group {
        name: "coalescing",
        read: 0x0e,
        write: 0x0f,
        words: 23,
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
    },
    Group {
        name: "pause",
        read: 0x12,
        write: 0x13,
        words: 4,
        parameters: &[("autoneg", 1), ("rx", 2), ("tx", 3)],
    },
];

/// Value of a parameter: a number, `on` and `off` for `features/NAME`, words for `rss/NAME`.
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
    let (group, place) = find(name).ok_or_else(|| unknown("read", link, name))?;
    let request = group.ask(link)?;
    Ok(request.u32_at(4 * place).to_string())
}

/// Sets a parameter; the others of its group stay as they are.
///
/// # Errors
/// As [`parameter`]; a value that is none of the parameter, or that the driver refuses.
pub fn set_parameter(link: &str, name: &str, value: &str) -> Result<()> {
    let operation = format!("set {name} to {value} of");
    let refuse = |text| Error::from_text(&*operation, object(link), text);
    if let Some(feature) = name.strip_prefix("features/") {
        let on = match value {
            "on" => true,
            "off" => false,
            _ => return Err(refuse("not a value").with_remedy("give on or off")),
        };
        return set_feature(link, feature, on);
    }
    let mut request = if let Some(part) = name.strip_prefix("rss/") {
        rss::change(&operation, link, part, value)?
            .ok_or_else(|| refuse("not a value").with_remedy("give one as it was read"))?
    } else {
        let (group, place) = find(name).ok_or_else(|| unknown("set", link, name))?;
        let number = value
            .parse()
            .map_err(|_| refuse("not a value").with_remedy("give a number"))?;
        let mut request = group.ask(link)?;
        request.set_u32(0, group.write);
        request.set_u32(4 * place, number);
        request
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
    let group = GROUPS.iter().find(|known| known.name == group)?;
    let (_, place) = group
        .parameters
        .iter()
        .find(|(word, _)| *word == parameter)?;
    Some((group, *place))
}

fn unknown(verb: &str, link: &str, name: &str) -> Error {
    let operation = format!("{verb} {name} of");
    Error::from_text(operation, object(link), "no such parameter").with_remedy(
        "name it as rings/rx, channels/combined, coalescing/rx-usecs or features/rx-gro",
    )
}
