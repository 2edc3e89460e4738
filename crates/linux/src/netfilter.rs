//! nftables' chains and rules (`nft(8)`): those that stand in a frame's way behind the router, and how many there are.

use std::collections::BTreeMap;

use netlink_packet_core::NLM_F_DUMP;
use netlink_sys::protocols::NETLINK_NETFILTER;

use crate::error::Result;
use crate::netlink::{Raw, attributes, exchange, value_of};
use crate::netns;

/// `NFNL_SUBSYS_NFTABLES` in the upper octet; `NFT_MSG_GETCHAIN`, `NFT_MSG_GETRULE`, `NFT_MSG_GETFLOWTABLE` in the lower.
const GET_CHAINS: u16 = 10 << 8 | 4;
const GET_RULES: u16 = 10 << 8 | 7;
const GET_FLOWTABLES: u16 = 10 << 8 | 23;
/// Family, version and resource of `struct nfgenmsg`: `NFPROTO_NETDEV`.
const NETDEV: [u8; 4] = [5, 0, 0, 0];
/// The same for all families.
const ALL: [u8; 4] = [0; 4];
/// `NFPROTO_INET`, `NFPROTO_IPV4`, `NFPROTO_IPV6`.
const IP: [u8; 3] = [1, 2, 10];
/// Hooks of these families, by their numbers (`enum nf_inet_hooks`).
const IP_HOOKS: [&str; 6] = [
    "prerouting",
    "input",
    "forward",
    "output",
    "postrouting",
    "ingress",
];
/// Hooks of `NFPROTO_NETDEV` (`enum nf_dev_hooks`).
const NETDEV_HOOKS: [&str; 2] = ["ingress", "egress"];
const NFTA_TABLE: u16 = 1;
const NFTA_CHAIN_NAME: u16 = 3;
const NFTA_RULE_CHAIN: u16 = 2;
const NFTA_RULE_EXPRESSIONS: u16 = 4;
const NFTA_FLOWTABLE_FLAGS: u16 = 7;
/// `NFT_FLOWTABLE_HW_OFFLOAD`, in network order.
const IN_HARDWARE: u8 = 1;
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
    let chains = list("list chains of nftables", GET_CHAINS, NETDEV)?;
    Ok(chains.iter().any(|chain| is_at_egress(chain, interface)))
}

/// How many there are of each in the calling thread's namespace: expressions of rules by their names, with those of
/// iptables-nft by its own. `jump` is a rule that goes to another chain; `set-mark`, `set-nftrace`, `set-ct-mark`,
/// `set-ct-zone` and `set-payload` write what they are called after. `chains` are base chains of the IP families,
/// `chains-empty` those without a rule; `chains-ingress` is of a hook, as `rules-forward` is. `flowtables-hw` are in
/// hardware. What there is none of is missing.
///
/// # Errors
/// No right (EPERM), or the kernel's answer could not be read.
pub fn count_rules() -> Result<BTreeMap<String, u64>> {
    let chains = list("list chains of nftables", GET_CHAINS, ALL)?;
    let rules = list("list rules of nftables", GET_RULES, ALL)?;
    let flowtables = list("list flowtables of nftables", GET_FLOWTABLES, ALL)?;
    Ok(count(&chains, &rules, &flowtables))
}

/// Bodies of all messages that answer, each with its family first. None for a kernel without nftables.
fn list(operation: &str, kind: u16, family: [u8; 4]) -> Result<Vec<Vec<u8>>> {
    let body = family.to_vec();
    match exchange(NETLINK_NETFILTER, Raw { kind, body }, NLM_F_DUMP) {
        Ok(answers) => Ok(answers.into_iter().map(|answer| answer.body).collect()),
        // No such protocol, no such subsystem.
        Err(refusal)
            if matches!(
                refusal.errno(),
                Some(libc::EPROTONOSUPPORT | libc::EINVAL | libc::EOPNOTSUPP)
            ) =>
        {
            Ok(Vec::new())
        }
        Err(refusal) => Err(refusal.into_error(operation, netns::place())),
    }
}

fn count(chains: &[Vec<u8>], rules: &[Vec<u8>], flowtables: &[Vec<u8>]) -> BTreeMap<String, u64> {
    let mut counts = BTreeMap::new();
    let mut add = |word: String| *counts.entry(word).or_default() += 1;
    // Family, table and chain of each base chain, with its hook and its rules.
    let mut base = BTreeMap::new();
    for body in chains {
        let (family, own) = body.split_at(ALL.len().min(body.len()));
        if let Some((&family, hook)) = family.first().zip(value_of(own, NFTA_CHAIN_HOOK)) {
            let number = number_of(hook, NFTA_HOOK_HOOKNUM).unwrap_or(u32::MAX) as usize;
            let hook = match family {
                _ if IP.contains(&family) => IP_HOOKS.get(number),
                _ if family == NETDEV[0] => NETDEV_HOOKS.get(number),
                _ => None,
            };
            let key = (
                family,
                value_of(own, NFTA_TABLE),
                value_of(own, NFTA_CHAIN_NAME),
            );
            base.extend(hook.map(|hook| (key, (*hook, 0))));
        }
    }
    for body in rules {
        let (family, own) = body.split_at(ALL.len().min(body.len()));
        let family = family.first().copied().unwrap_or_default();
        let key = (
            family,
            value_of(own, NFTA_TABLE),
            value_of(own, NFTA_RULE_CHAIN),
        );
        if let Some((hook, rules)) = base.get_mut(&key) {
            *rules += 1;
            add(format!("rules-{hook}"));
        }
        let expressions = value_of(own, NFTA_RULE_EXPRESSIONS).unwrap_or_default();
        let words = attributes(expressions).filter_map(|(_, one)| expression(one));
        words.for_each(&mut add);
    }
    for ((family, ..), (hook, rules)) in base {
        add(format!("chains-{hook}"));
        if IP.contains(&family) {
            add("chains".to_owned());
            if rules == 0 {
                add("chains-empty".to_owned());
            }
        }
    }
    for body in flowtables {
        add("flowtables".to_owned());
        let flags = number_of(
            body.get(ALL.len()..).unwrap_or_default(),
            NFTA_FLOWTABLE_FLAGS,
        );
        if flags.is_some_and(|flags| flags & u32::from(IN_HARDWARE) != 0) {
            add("flowtables-hw".to_owned());
        }
    }
    counts
}

/// What an expression of a rule is called here: name and data of `enum nft_expr_attributes`.
fn expression(element: &[u8]) -> Option<String> {
    let text = |octets: &[u8]| {
        let text = octets.split(|&octet| octet == 0).next()?;
        Some(String::from_utf8_lossy(text).into_owned())
    };
    let name = text(value_of(element, 1)?)?;
    let data = value_of(element, 2).unwrap_or_default();
    let (key, has) = (number_of(data, 2), |kind| value_of(data, kind).is_some());
    let word = match (&*name, key) {
        // `struct nft_xt`: what iptables-nft took over from iptables.
        ("match" | "target", _) => return text(value_of(data, 1)?),
        // NFTA_IMMEDIATE_DATA, NFTA_DATA_VERDICT, NFTA_VERDICT_CHAIN.
        ("immediate", _) => {
            value_of(value_of(value_of(data, 2)?, 2)?, 2)?;
            "jump"
        }
        // NFTA_META_SREG, NFT_META_MARK, NFT_META_NFTRACE.
        ("meta", Some(3)) if has(3) => "set-mark",
        ("meta", Some(12)) if has(3) => "set-nftrace",
        // NFTA_CT_SREG, NFT_CT_MARK, NFT_CT_ZONE.
        ("ct", Some(3)) if has(4) => "set-ct-mark",
        ("ct", Some(17)) if has(4) => "set-ct-zone",
        // NFTA_PAYLOAD_SREG.
        ("payload", _) if has(5) => "set-payload",
        (name, _) => name,
    };
    Some(word.to_owned())
}

/// A number in network order.
fn number_of(octets: &[u8], kind: u16) -> Option<u32> {
    let octets = value_of(octets, kind)?;
    Some(u32::from_be_bytes(octets.try_into().ok()?))
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

    /// A rule of the chain `c` of the table `t`, with such expressions.
    fn rule(family: u8, expressions: &[(&str, Vec<u8>)]) -> Vec<u8> {
        let element = |(name, data): &(&str, Vec<u8>)| {
            let name = attribute(1, format!("{name}\0").as_bytes());
            attribute(1 | 0x8000, &[name, attribute(2 | 0x8000, data)].concat())
        };
        let list: Vec<u8> = expressions.iter().flat_map(element).collect();
        let head = [attribute(1, b"t\0"), attribute(2, b"c\0")].concat();
        [vec![family, 0, 0, 0], head, attribute(4 | 0x8000, &list)].concat()
    }

    /// A base chain of this family and hook.
    fn base(family: u8, hook: u32, name: &[u8]) -> Vec<u8> {
        let hook = attribute(NFTA_HOOK_HOOKNUM, &hook.to_be_bytes());
        let names = [attribute(1, b"t\0"), attribute(3, name)].concat();
        let hook = attribute(NFTA_CHAIN_HOOK | 0x8000, &hook);
        [vec![family, 0, 0, 0], names, hook].concat()
    }

    #[test]
    fn expressions_are_counted_by_their_names() {
        let key = |register, key: u32| {
            [
                attribute(2, &key.to_be_bytes()),
                attribute(register, &[0; 4]),
            ]
            .concat()
        };
        let verdict = |chain: &[u8]| {
            let code = attribute(1, &[0xff; 4]);
            attribute(2, &attribute(2, &[code, chain.to_vec()].concat()))
        };
        let target = attribute(1, b"MASQUERADE\0");
        let rules = [
            rule(
                2,
                &[
                    ("meta", key(3, 3)),
                    ("meta", key(1, 3)),
                    ("meta", key(3, 12)),
                ],
            ),
            rule(
                2,
                &[("ct", key(4, 17)), ("ct", key(4, 3)), ("ct", key(1, 3))],
            ),
            rule(2, &[("payload", key(5, 1)), ("payload", key(1, 1))]),
            rule(
                2,
                &[
                    ("immediate", verdict(&attribute(2, b"other\0"))),
                    ("immediate", verdict(&[])),
                ],
            ),
            rule(
                2,
                &[
                    ("target", target),
                    ("counter", Vec::new()),
                    ("log", Vec::new()),
                ],
            ),
            // The same names in another family are another chain.
            rule(7, &[("counter", Vec::new())]),
        ];
        let chains = [
            base(2, 2, b"c\0"),
            base(1, 0, b"c\0"),
            base(5, 1, b"c\0"),
            base(7, 2, b"c\0"),
        ];
        let hardware = [ALL.to_vec(), attribute(7, &1_u32.to_be_bytes())].concat();
        let counts = count(&chains, &rules, &[hardware, ALL.to_vec()]);
        let told: Vec<(&str, u64)> = counts
            .iter()
            .map(|(word, count)| (&**word, *count))
            .collect();
        let wanted = [
            ("MASQUERADE", 1),
            ("chains", 2),
            ("chains-egress", 1),
            ("chains-empty", 1),
            ("chains-forward", 1),
            ("chains-prerouting", 1),
            ("counter", 2),
            ("ct", 1),
            ("flowtables", 2),
            ("flowtables-hw", 1),
            ("jump", 1),
            ("log", 1),
            ("meta", 1),
            ("payload", 1),
            ("rules-forward", 5),
            ("set-ct-mark", 1),
            ("set-ct-zone", 1),
            ("set-mark", 1),
            ("set-nftrace", 1),
            ("set-payload", 1),
        ];
        assert_eq!(told, wanted);
        // Octets that end anywhere are counted as far as they are whole.
        for body in chains.iter().chain(&rules) {
            for length in 0..body.len() {
                let cut = [body[..length].to_vec()];
                count(&cut, &cut, &cut);
            }
        }
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
