//! nftables' chains (`nft(8)`), as far as they stand in a frame's way behind the router.

use netlink_packet_core::NLM_F_DUMP;
use netlink_sys::protocols::NETLINK_NETFILTER;

use crate::error::Result;
use crate::netlink::{Raw, attributes, exchange, value_of};
use crate::netns;

/// `NFNL_SUBSYS_NFTABLES` in the upper octet, `NFT_MSG_GETCHAIN` in the lower.
const GET_CHAINS: u16 = 10 << 8 | 4;
/// Family, version and resource of `struct nfgenmsg`: `NFPROTO_NETDEV`.
const NETDEV: [u8; 4] = [5, 0, 0, 0];
const NFTA_CHAIN_HOOK: u16 = 4;
const NFTA_HOOK_HOOKNUM: u16 = 1;
const NFTA_HOOK_DEV: u16 = 3;
const NFTA_HOOK_DEVS: u16 = 4;
/// The beginning of names, where the kernel takes `veth*`.
const NFTA_DEVICE_PREFIX: u16 = 2;
/// `NF_NETDEV_EGRESS`, in network order.
const EGRESS: [u8; 4] = 1_u32.to_be_bytes();

/// Whether a chain is at the egress of this interface of the calling thread's namespace. `false` for a kernel without
/// nftables.
///
/// # Errors
/// No right (EPERM), or the kernel's answer could not be read.
pub fn has_egress_chain(interface: &str) -> Result<bool> {
    let request = Raw {
        kind: GET_CHAINS,
        body: NETDEV.to_vec(),
    };
    match exchange(NETLINK_NETFILTER, request, NLM_F_DUMP) {
        Ok(chains) => Ok(chains
            .iter()
            .any(|chain| is_at_egress(&chain.body, interface))),
        // No such protocol, no such subsystem.
        Err(refusal)
            if matches!(
                refusal.errno(),
                Some(libc::EPROTONOSUPPORT | libc::EINVAL | libc::EOPNOTSUPP)
            ) =>
        {
            Ok(false)
        }
        Err(refusal) => Err(refusal.into_error("list chains of nftables", netns::place())),
    }
}

fn is_at_egress(chain: &[u8], interface: &str) -> bool {
    let own = chain.get(NETDEV.len()..).unwrap_or_default();
    value_of(own, NFTA_CHAIN_HOOK).is_some_and(|hook| {
        let is_egress = value_of(hook, NFTA_HOOK_HOOKNUM) == Some(&EGRESS);
        is_egress && attributes(hook).any(|one| names(one, interface))
    })
}

/// Whether this attribute of a hook names the interface, alone or among others.
fn names((kind, value): (u16, &[u8]), interface: &str) -> bool {
    let begin = |name: &[u8]| name.split(|&octet| octet == 0).next().map(<[u8]>::to_vec);
    let is_meant = |(kind, name): (u16, &[u8])| match begin(name) {
        Some(prefix) if kind == NFTA_DEVICE_PREFIX => interface.as_bytes().starts_with(&prefix),
        name => name.as_deref() == Some(interface.as_bytes()),
    };
    match kind {
        NFTA_HOOK_DEV => is_meant((NFTA_HOOK_DEV, value)),
        NFTA_HOOK_DEVS => attributes(value).any(is_meant),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::netlink::tests::attribute;

    /// `NLA_F_NESTED` is set where other attributes are inside.
    fn chain(hook: [u8; 4], devices: &[u8]) -> Vec<u8> {
        let hook = [attribute(NFTA_HOOK_HOOKNUM, &hook), devices.to_vec()].concat();
        [
            NETDEV.to_vec(),
            attribute(3, b"c\0"),
            attribute(NFTA_CHAIN_HOOK | 0x8000, &hook),
        ]
        .concat()
    }

    #[test]
    fn a_chain_at_egress_is_known_by_hook_and_port() {
        let one = attribute(NFTA_HOOK_DEV, b"mC\0");
        let listed = [attribute(1, b"lo\0"), attribute(1, b"mC\0")].concat();
        let listed = attribute(NFTA_HOOK_DEVS | 0x8000, &listed);
        let prefix = attribute(
            NFTA_HOOK_DEVS | 0x8000,
            &attribute(NFTA_DEVICE_PREFIX, b"m"),
        );
        for devices in [one, listed, prefix] {
            let whole = chain(EGRESS, &devices);
            assert!(is_at_egress(&whole, "mC"), "{devices:?}");
            assert!(!is_at_egress(&whole, "eth0"), "{devices:?}");
            assert!(!is_at_egress(&chain([0; 4], &devices), "mC"));
            for length in 0..whole.len() - 4 {
                assert!(!is_at_egress(&whole[..length], "mC"));
            }
        }
    }
}
