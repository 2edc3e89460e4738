//! What a link's driver says of itself: name and firmware, rings, channels, interrupt coalescing.

use super::request::{Buffer, Control};
use super::{fail, object};
use crate::error::{Error, Result};

const ETHTOOL_GDRVINFO: u32 = 0x03;
const ETHTOOL_GCOALESCE: u32 = 0x0e;
const ETHTOOL_GRINGPARAM: u32 = 0x10;
const ETHTOOL_GCHANNELS: u32 = 0x3c;

/// Who drives a link (`struct ethtool_drvinfo`). Texts as the driver gives them, empty where it gives none.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Driver {
    /// The driver's name: `ixgbe`.
    pub name: String,
    /// Its version; since Linux 5.6 the kernel's for most.
    pub version: String,
    /// Version of the device's firmware.
    pub firmware: String,
    /// Where the device is: `0000:3b:00.0`.
    pub bus: String,
}

/// Entries of a link's rings (`struct ethtool_ringparam`).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Rings {
    /// Receive, now.
    pub rx: u32,
    /// Receive, at most.
    pub rx_max: u32,
    /// Transmit, now.
    pub tx: u32,
    /// Transmit, at most.
    pub tx_max: u32,
}

/// Channels: queues with an interrupt (`struct ethtool_channels`).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Channels {
    /// That only receive.
    pub rx: u32,
    /// That only transmit.
    pub tx: u32,
    /// That do both.
    pub combined: u32,
    /// Most that only receive.
    pub rx_max: u32,
    /// Most that only transmit.
    pub tx_max: u32,
    /// Most that do both.
    pub combined_max: u32,
}

/// When a receive queue interrupts (`struct ethtool_coalesce`).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Coalescing {
    /// Microseconds after a frame, 0 at once.
    pub rx_us: u32,
    /// Frames after which it does in any case, 0 never.
    pub rx_frames: u32,
    /// Whether the driver adapts both to the load.
    pub rx_adaptive: bool,
}

/// Who drives the link.
///
/// # Errors
/// No such link (ENODEV), a driver that does not say (EOPNOTSUPP).
pub fn driver(link: &str) -> Result<Driver> {
    const TEXT: usize = 32;
    // Command, four texts of 32 octets, another of 32, reserved 12, five numbers.
    let request = ask("read driver of", link, Buffer::new(ETHTOOL_GDRVINFO, 196))?;
    let text = |number: usize| {
        let octets = request.octets(4 + TEXT * number, TEXT);
        let end = octets.iter().position(|&octet| octet == 0);
        String::from_utf8_lossy(&octets[..end.unwrap_or(TEXT)])
            .trim()
            .to_owned()
    };
    Ok(Driver {
        name: text(0),
        version: text(1),
        firmware: text(2),
        bus: text(3),
    })
}

/// Its rings.
///
/// # Errors
/// No such link (ENODEV), a driver without rings (EOPNOTSUPP).
pub fn rings(link: &str) -> Result<Rings> {
    let words = numbers::<9>("read rings of", link, ETHTOOL_GRINGPARAM)?;
    Ok(Rings {
        rx_max: words[1],
        tx_max: words[4],
        rx: words[5],
        tx: words[8],
    })
}

/// Its channels.
///
/// # Errors
/// No such link (ENODEV), a driver without channels (EOPNOTSUPP).
pub fn channels(link: &str) -> Result<Channels> {
    let words = numbers::<9>("read channels of", link, ETHTOOL_GCHANNELS)?;
    Ok(Channels {
        rx_max: words[1],
        tx_max: words[2],
        combined_max: words[4],
        rx: words[5],
        tx: words[6],
        combined: words[8],
    })
}

/// When it interrupts.
///
/// # Errors
/// No such link (ENODEV), a driver that does not coalesce (EOPNOTSUPP).
pub fn coalescing(link: &str) -> Result<Coalescing> {
    let words = numbers::<23>("read coalescing of", link, ETHTOOL_GCOALESCE)?;
    Ok(Coalescing {
        rx_us: words[1],
        rx_frames: words[2],
        rx_adaptive: words[10] != 0,
    })
}

/// A structure of N 32-bit numbers, the command first.
fn numbers<const N: usize>(operation: &str, link: &str, command: u32) -> Result<[u32; N]> {
    let request = ask(operation, link, Buffer::new(command, 4 * N))?;
    Ok(std::array::from_fn(|place| request.u32_at(4 * place)))
}

pub(super) fn ask(operation: &str, link: &str, mut request: Buffer) -> Result<Buffer> {
    match Control::open()?.ask(link, &mut request) {
        Ok(_) => Ok(request),
        Err(libc::EOPNOTSUPP) => Err(Error::from_text(
            operation,
            object(link),
            "the driver does not say",
        )),
        Err(number) => Err(fail(operation, link, number)),
    }
}
