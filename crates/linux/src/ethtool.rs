//! Offloads, RSS, driver statistics and the driver's own description of a link of the calling thread's namespace (`SIOCETHTOOL`,
//! `include/uapi/linux/ethtool.h`).

mod device;
mod flag;
mod netlink;
mod parameter;
mod request;
mod rss;

pub use device::{Driver, driver};
pub use parameter::{numbers, parameter, set_parameter};

use crate::error::{Error, Result};
use crate::netns;
use request::{Buffer, Control};

const ETHTOOL_GSET: u32 = 0x1;
/// Octets of `struct ethtool_cmd`.
const SETTINGS_LEN: usize = 44;
const ETHTOOL_GSTATS: u32 = 0x1d;
const ETHTOOL_GSTRINGS: u32 = 0x1b;
const ETHTOOL_GSSET_INFO: u32 = 0x37;
const ETHTOOL_GFEATURES: u32 = 0x3a;
const ETHTOOL_SFEATURES: u32 = 0x3b;
const ETH_SS_STATS: u32 = 1;
const ETH_SS_FEATURES: u32 = 4;
/// Octets of one name (`ETH_GSTRING_LEN`).
const STRING_LEN: usize = 32;

/// An offload of a link.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Feature {
    /// The kernel's name: `rx-gro`, `tx-checksum-ip-generic`... (not always that of ethtool(8)).
    pub name: String,
    /// In effect now.
    pub on: bool,
    /// Whether it can be switched.
    pub changeable: bool,
}

/// All offloads of the link.
///
/// # Errors
/// No such link (ENODEV).
pub fn features(link: &str) -> Result<Vec<Feature>> {
    let control = Control::open()?;
    let names = strings(&control, link, ETH_SS_FEATURES)?;
    let blocks = names.len().div_ceil(32);
    // Header: command, number of blocks. Each block: available, requested, active, never changed.
    let mut request = Buffer::new(ETHTOOL_GFEATURES, 8 + 16 * blocks);
    request.set_u32(4, blocks as u32);
    control
        .ask(link, &mut request)
        .map_err(|e| fail("read features of", link, e))?;
    let bit =
        |word: usize, i: usize| request.u32_at(8 + 16 * (i / 32) + 4 * word) >> (i % 32) & 1 == 1;
    Ok(names
        .into_iter()
        .enumerate()
        .filter(|(_, name)| !name.is_empty())
        .map(|(i, name)| Feature {
            name,
            on: bit(2, i),
            changeable: bit(0, i) && !bit(3, i),
        })
        .collect())
}

/// Mbit/s of the link as its driver says; `None` where it knows none.
///
/// # Errors
/// Its driver tells nothing (EOPNOTSUPP), no such link (ENODEV).
pub fn speed(link: &str) -> Result<Option<u32>> {
    let mut request = Buffer::new(ETHTOOL_GSET, SETTINGS_LEN);
    let asked = Control::open()?.ask(link, &mut request);
    asked.map_err(|e| fail("read the speed of", link, e))?;
    // Two halves, of 16 bits each.
    let half = |at| request.u32_at(at) & 0xffff;
    let speed = half(12) | half(28) << 16;
    Ok(Some(speed).filter(|&speed| speed != u32::MAX && speed != 0))
}

/// Switches one offload by the kernel's name for it.
///
/// # Errors
/// The link has no such feature or it is fixed, no such link (ENODEV), no right (EPERM).
pub fn set_feature(link: &str, feature: &str, on: bool) -> Result<()> {
    let operation = format!("set feature {feature} {} of", if on { "on" } else { "off" });
    let control = Control::open()?;
    let names = strings(&control, link, ETH_SS_FEATURES)?;
    let unknown = || {
        Error::from_text(&*operation, object(link), "no such feature")
            .with_remedy("`ethtool -k` lists them")
    };
    let i = names
        .iter()
        .position(|name| name == feature && !name.is_empty())
        .ok_or_else(unknown)?;
    let blocks = names.len().div_ceil(32);
    // Each block: which bits are meant, and their values.
    let mut request = Buffer::new(ETHTOOL_SFEATURES, 8 + 8 * blocks);
    request.set_u32(4, blocks as u32);
    request.set_u32(8 + 8 * (i / 32), 1 << (i % 32));
    request.set_u32(8 + 8 * (i / 32) + 4, u32::from(on) << (i % 32));
    let answer = control
        .ask(link, &mut request)
        .map_err(|e| fail(&operation, link, e))?;
    match answer {
        0 => Ok(()),
        // ETHTOOL_F_UNSUPPORTED, ETHTOOL_F_WISH: taken note of, not in effect.
        _ => Err(Error::from_text(
            operation,
            object(link),
            "the link cannot change it",
        )),
    }
}

/// The driver's own counters, in its order; empty where it has none. On a veth with an XDP program:
/// `rx_queue_0_xdp_packets`, `rx_queue_0_xdp_drops`, `tx_queue_0_xdp_xmit_errors`...
///
/// # Errors
/// No such link (ENODEV).
pub fn statistics(link: &str) -> Result<Vec<(String, u64)>> {
    let control = Control::open()?;
    let names = strings(&control, link, ETH_SS_STATS)?;
    if names.is_empty() {
        return Ok(Vec::new());
    }
    let mut request = Buffer::new(ETHTOOL_GSTATS, 8 + 8 * names.len());
    request.set_u32(4, names.len() as u32);
    control
        .ask(link, &mut request)
        .map_err(|e| fail("read statistics of", link, e))?;
    let counted = request.u32_at(4) as usize;
    if counted != names.len() {
        let text = format!("{} names but {counted} counters", names.len());
        return Err(Error::from_text("read statistics of", object(link), text)
            .with_remedy("the link changed its queues meanwhile; ask again"));
    }
    Ok(names
        .into_iter()
        .enumerate()
        .map(|(i, name)| (name, request.u64_at(8 + 8 * i)))
        .collect())
}

/// The names of one string set; empty where the driver has no such set.
fn strings(control: &Control, link: &str, set: u32) -> Result<Vec<String>> {
    // Header: command, reserved, mask of sets (64 bits); then a length for each bit.
    let mut info = Buffer::new(ETHTOOL_GSSET_INFO, 16 + 4);
    info.set_u64(8, 1 << set);
    match control.ask(link, &mut info) {
        Err(libc::EOPNOTSUPP) => return Ok(Vec::new()),
        other => other.map_err(|e| fail("count strings of", link, e))?,
    };
    let count = if info.u64_at(8) == 0 {
        0
    } else {
        info.u32_at(16) as usize
    };
    if count == 0 {
        return Ok(Vec::new());
    }
    // Header: command, set, length; then the names, zero-filled.
    let mut request = Buffer::new(ETHTOOL_GSTRINGS, 12 + STRING_LEN * count);
    request.set_u32(4, set);
    request.set_u32(8, count as u32);
    control
        .ask(link, &mut request)
        .map_err(|e| fail("read strings of", link, e))?;
    let count = count.min(request.u32_at(8) as usize);
    Ok((0..count)
        .map(|i| {
            let name = request.octets(12 + STRING_LEN * i, STRING_LEN);
            let text = name.split(|&b| b == 0).next().unwrap_or(name);
            String::from_utf8_lossy(text).into_owned()
        })
        .collect())
}

fn object(link: &str) -> String {
    format!("{link}{}", netns::place())
}

fn fail(operation: &str, link: &str, number: i32) -> Error {
    Error::from_errno(operation, object(link), number)
}
