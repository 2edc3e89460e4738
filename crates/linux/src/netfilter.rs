//! nftables' chains (`nft(8)`), as far as they stand in a frame's way behind the router.

use netlink_packet_core::NLM_F_DUMP;
use netlink_sys::protocols::NETLINK_NETFILTER;

use crate::error::Result;
use crate::netlink::{Raw, attributes, exchange};
use crate::netns;

/// `NFNL_SUBSYS_NFTABLES` in the upper octet, `NFT_MSG_GETCHAIN` in the lower.
const GET_CHAINS: u16 = 10 << 8 | 4;
/// Family, version and resource of `struct nfgenmsg`: `NFPROTO_NETDEV`.
const NETDEV: [u8; 4] = [5, 0, 0, 0];
const NFTA_CHAIN_HOOK: u16 = 4;
const NFTA_HOOK_HOOKNUM: u16 = 1;
/// `NF_NETDEV_EGRESS`, in network order.
const EGRESS: [u8; 4] = 1_u32.to_be_bytes();

/// Whether a chain hangs at the egress of some interface in the calling thread's namespace. `false` for a kernel without
/// nftables.
///
/// # Errors
/// No right (EPERM), or the kernel's answer could not be read.
pub fn has_egress_chain() -> Result<bool> {
    let request = Raw {
        kind: GET_CHAINS,
        body: NETDEV.to_vec(),
    };
    match exchange(NETLINK_NETFILTER, request, NLM_F_DUMP) {
        Ok(chains) => Ok(chains.iter().any(|chain| is_at_egress(&chain.body))),
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

fn is_at_egress(chain: &[u8]) -> bool {
    let own = chain.get(NETDEV.len()..).unwrap_or_default();
    let hooks = attributes(own).filter(|(kind, _)| *kind == NFTA_CHAIN_HOOK);
    let mut numbers = hooks.flat_map(|(_, hook)| attributes(hook));
    numbers.any(|(kind, number)| kind == NFTA_HOOK_HOOKNUM && number == EGRESS)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As the kernel sends it: `NLA_F_NESTED` is set where attributes are inside.
    fn chain(hook: [u8; 4]) -> Vec<u8> {
        let mut body = NETDEV.to_vec();
        body.extend([8_u8, 0, 3, 0, b'c', 0, 0, 0]);
        body.extend([12_u8, 0, 4, 0x80, 8, 0, 1, 0]);
        body.extend(hook);
        body
    }

    #[test]
    fn a_chain_at_egress_is_known_by_its_hook() {
        assert!(is_at_egress(&chain(EGRESS)));
        assert!(!is_at_egress(&chain([0; 4])));
        for length in 0..chain(EGRESS).len() {
            assert!(!is_at_egress(&chain(EGRESS)[..length]));
        }
    }
}
