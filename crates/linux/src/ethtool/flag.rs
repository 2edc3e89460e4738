//! Private flags of a driver: switches that it names itself (`struct ethtool_value`).

use super::request::{Buffer, Control};
use super::{fail, object, strings};
use crate::error::{Error, Result};

const ETHTOOL_GPFLAGS: u32 = 0x27;
const ETHTOOL_SPFLAGS: u32 = 0x28;
const ETH_SS_PRIV_FLAGS: u32 = 2;

/// `on` or `off`.
pub(super) fn read(link: &str, name: &str) -> Result<String> {
    let operation = format!("read private flag {name} of");
    let (at, bits) = look(&operation, link, name)?;
    Ok(if bits >> at & 1 == 1 { "on" } else { "off" }.to_owned())
}

/// The request that switches one flag, and no other.
pub(super) fn change(operation: &str, link: &str, name: &str, on: bool) -> Result<Buffer> {
    let (at, bits) = look(operation, link, name)?;
    Ok(request(bits, at, on))
}

/// A flag's place, and all flags as bits.
fn look(operation: &str, link: &str, name: &str) -> Result<(u32, u32)> {
    let control = Control::open()?;
    let names = strings(&control, link, ETH_SS_PRIV_FLAGS)?;
    // There are no more than bits of a word.
    let mut places = (0..u32::BITS).zip(&names);
    let found = places.find(|(_, known)| *known == name);
    let (at, _) = found.ok_or_else(|| {
        let error = Error::from_text(operation, object(link), "the driver has no such flag");
        error.with_remedy("`ethtool --show-priv-flags` lists them")
    })?;
    let mut request = Buffer::new(ETHTOOL_GPFLAGS, 8);
    let answer = control.ask(link, &mut request);
    answer.map_err(|number| fail(operation, link, number))?;
    Ok((at, request.u32_at(4)))
}

fn request(bits: u32, at: u32, on: bool) -> Buffer {
    let mut request = Buffer::new(ETHTOOL_SPFLAGS, 8);
    request.set_u32(4, bits & !(1 << at) | u32::from(on) << at);
    request
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_flag_changes_and_no_other() {
        for (bits, at, on, wanted) in [
            (0b101, 1, true, 0b111),
            (0b111, 1, false, 0b101),
            (0b101, 2, true, 0b101),
            (0, 31, true, 1 << 31),
        ] {
            let request = request(bits, at, on);
            assert_eq!(request.octets(0, 4), ETHTOOL_SPFLAGS.to_ne_bytes());
            assert_eq!(request.u32_at(4), wanted, "{bits:b} {at} {on}");
        }
    }

    #[test]
    fn a_driver_without_flags_says_so() {
        let error = read("lo", "legacy-rx").expect_err("no flag");
        assert!(error.to_string().contains("has no such flag"), "{error}");
    }
}
