//! What a link's driver says of itself: name and firmware.

use super::request::{Buffer, Control};
use super::{fail, object};
use crate::error::{Error, Result};

const ETHTOOL_GDRVINFO: u32 = 0x03;

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
