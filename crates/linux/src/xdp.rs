//! What XDP a link's driver can do (generic netlink family `netdev`, `NETDEV_CMD_DEV_GET`; Linux 6.3).

use netlink_packet_core::DefaultNla;

use crate::error::Result;
use crate::napi::family_id;
use crate::netlink::{GenericRequest, Refusal, transact_generic, value_of};
use crate::{links, netns};

const NETDEV_CMD_DEV_GET: u8 = 1;
const NETDEV_A_DEV_IFINDEX: u16 = 1;
const NETDEV_A_DEV_XDP_FEATURES: u16 = 3;

/// What a driver can do (`enum netdev_xdp_act`).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct XdpFeatures {
    /// Runs programs in the driver: drop, pass, send back.
    pub basic: bool,
    /// Redirects frames to other links.
    pub redirect: bool,
    /// Sends frames that were redirected to it.
    pub transmit: bool,
    /// AF_XDP without a copy.
    pub zero_copy: bool,
    /// Frames of several buffers reach programs that can take them.
    pub receive_fragments: bool,
}

impl XdpFeatures {
    fn from_bits(bits: u64) -> Self {
        let bit = |number: u32| bits >> number & 1 == 1;
        Self {
            basic: bit(0),
            redirect: bit(1),
            transmit: bit(2),
            zero_copy: bit(3),
            receive_fragments: bit(5),
        }
    }
}

/// Asks for a link of the calling thread's namespace.
///
/// # Errors
/// No such link (ENODEV), or a kernel before 6.3 (ENOENT).
pub fn features(link: &str) -> Result<XdpFeatures> {
    let ifindex = links::index(link)?;
    let fail = |refusal: Refusal| {
        refusal
            .into_error("read XDP features of", format!("{link}{}", netns::place()))
            .with_remedy("needs Linux 6.3")
    };
    let request = GenericRequest {
        family: family_id("netdev").map_err(fail)?,
        command: NETDEV_CMD_DEV_GET,
        attributes: vec![DefaultNla::new(
            NETDEV_A_DEV_IFINDEX,
            ifindex.to_ne_bytes().to_vec(),
        )],
        dump: false,
    };
    let answers = transact_generic(&request).map_err(fail)?;
    answers
        .iter()
        .find_map(|answer| {
            let octets = value_of(answer, NETDEV_A_DEV_XDP_FEATURES)?;
            Some(XdpFeatures::from_bits(u64::from_ne_bytes(
                octets.try_into().ok()?,
            )))
        })
        .ok_or_else(|| fail(Refusal::number(libc::ENOENT)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loopback_has_no_xdp_of_its_own() {
        match features("lo") {
            Ok(features) => assert_eq!(features, XdpFeatures::default()),
            // Before Linux 6.3 nobody says.
            Err(error) => {
                let release = crate::kernel::release().unwrap();
                assert!(!release.at_least(6, 3), "{error}");
            }
        }
        assert!(features("no-such-link").unwrap_err().is_missing());
    }

    #[test]
    fn bits_are_as_the_kernel_has_them() {
        let driver = XdpFeatures::from_bits(0b10_1011);
        assert!(driver.basic && driver.redirect && driver.zero_copy && driver.receive_fragments);
        assert!(!driver.transmit);
    }
}
