//! What the kernel lists of the calling thread's namespace and nobody here makes: rules of routing policy, policies of
//! IPsec, qdiscs with their classes, filters and actions. Only kinds and numbers are told.

use netlink_packet_core::{DefaultNla, Emitable, NLM_F_DUMP};

use crate::error::Result;
use crate::netlink::{Raw, attributes, exchange, transact_raw, value_of};
use crate::netns;
use crate::routes::Family;
use crate::tc::listed;

/// `NETLINK_XFRM`, which netlink-sys does not name.
const XFRM: isize = 6;
const XFRM_MSG_GETPOLICY: u16 = 0x15;
/// Octets of `struct xfrm_userpolicy_id`, `struct fib_rule_hdr`, `struct tcmsg` and `struct tcamsg`.
const POLICY_ID: usize = 64;
const RULE: usize = 12;
const TC: usize = 20;
const ACTION: usize = 4;
/// `TCA_KIND`; `TCA_ACT_KIND` and `TCA_ROOT_TAB` have its number.
const KIND: u16 = 1;

/// Rules that choose a routing table.
///
/// # Errors
/// The kernel's answer could not be read.
pub fn policy_rules(family: Family) -> Result<usize> {
    let mut body = vec![0; RULE];
    body[0] = family.number();
    let rules = listed(transact_raw(libc::RTM_GETRULE, body, NLM_F_DUMP));
    let rules = rules.map_err(|refusal| refusal.into_error("list policy rules", netns::place()))?;
    Ok(rules.len())
}

/// Policies of IPsec, those of single sockets left out.
///
/// # Errors
/// No right (EPERM), or the kernel's answer could not be read.
pub fn ipsec_policies() -> Result<usize> {
    let request = Raw {
        kind: XFRM_MSG_GETPOLICY,
        body: vec![0; POLICY_ID],
    };
    let policies = listed(exchange(XFRM, request, NLM_F_DUMP));
    let policies =
        policies.map_err(|refusal| refusal.into_error("list IPsec policies", netns::place()))?;
    Ok(policies.len())
}

/// Kinds of what traffic control has at a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TcKind {
    /// Queueing disciplines.
    Qdiscs,
    /// Classes of qdiscs.
    Classes,
    /// Filters before layer 3.
    IngressFilters,
}

/// A qdisc, a class or a filter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TcObject {
    /// What it is below: [`TcObject::ROOT`], [`TcObject::INGRESS`], or a handle.
    pub parent: u32,
    /// `fq_codel`, `u32`...
    pub kind: String,
}

impl TcObject {
    /// The way out of a link (`TC_H_ROOT`).
    pub const ROOT: u32 = 0xffff_ffff;
    /// The way into a link (`TC_H_INGRESS`).
    pub const INGRESS: u32 = 0xffff_fff1;
}

/// All of one kind at the link with this index. Programs of tcx are no filters: [`crate::bpf::attached`] lists them.
///
/// # Errors
/// No such link (ENODEV), or the kernel's answer could not be read.
pub fn tc_objects(ifindex: u32, of: TcKind) -> Result<Vec<TcObject>> {
    // Filters of clsact's ingress, which are those of the older qdisc `ingress` as well.
    let (list, parent) = match of {
        TcKind::Qdiscs => (libc::RTM_GETQDISC, 0),
        TcKind::Classes => (libc::RTM_GETTCLASS, 0),
        TcKind::IngressFilters => (libc::RTM_GETTFILTER, 0xffff_fff2_u32),
    };
    let mut body = vec![0; TC];
    body[4..8].copy_from_slice(&ifindex.to_ne_bytes());
    body[12..16].copy_from_slice(&parent.to_ne_bytes());
    let all = listed(transact_raw(list, body, NLM_F_DUMP));
    let all = all.map_err(|refusal| {
        let object = format!("interface {ifindex}{}", netns::place());
        refusal.into_error("list traffic control of", object)
    })?;
    let described = all.iter().filter_map(|body| describe(body, of));
    Ok(described
        .filter(|(link, _)| *link == ifindex)
        .map(|(_, one)| one)
        .collect())
}

/// The link it is at, and what it is. `None` for what is listed before filters: their priority, and tables of them.
fn describe(body: &[u8], of: TcKind) -> Option<(u32, TcObject)> {
    let number = |at: usize| Some(u32::from_ne_bytes(body.get(at..at + 4)?.try_into().ok()?));
    let kind = value_of(body.get(TC..)?, KIND)?;
    let kind = kind.split(|&octet| octet == 0).next().unwrap_or(kind);
    let one = TcObject {
        parent: number(12)?,
        kind: String::from_utf8_lossy(kind).into_owned(),
    };
    // u32 lists its tables of filters too, without a number in the last 12 bits.
    let handle = number(8)?;
    let is_head = handle == 0 || one.kind == "u32" && handle & 0xfff == 0;
    let is_filter = of != TcKind::IngressFilters || !is_head;
    is_filter.then_some((number(4)?, one))
}

/// Actions of filters that limit a rate, of the whole namespace.
///
/// # Errors
/// The kernel's answer could not be read.
pub fn police_actions() -> Result<usize> {
    // A table with one entry, whose kind is "police".
    let nested = |inside: Vec<u8>| {
        let attribute = [DefaultNla::new(KIND, inside)];
        let mut octets = vec![0; attribute.as_slice().buffer_len()];
        attribute.as_slice().emit(&mut octets);
        octets
    };
    let mut body = vec![0; ACTION];
    body.extend(nested(nested(nested(b"police\0".to_vec()))));
    let answers = listed(transact_raw(libc::RTM_GETACTION, body, NLM_F_DUMP));
    let answers =
        answers.map_err(|refusal| refusal.into_error("list police actions", netns::place()))?;
    let count = |body: &Vec<u8>| {
        let table = body.get(ACTION..).and_then(|own| value_of(own, KIND));
        attributes(table.unwrap_or_default()).count()
    };
    Ok(answers.iter().map(count).sum())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::netlink::tests::attribute;

    #[test]
    fn priorities_and_tables_are_no_filters() {
        let body = |handle: u32| {
            let mut body = vec![0; TC];
            body[4..8].copy_from_slice(&7_u32.to_ne_bytes());
            body[8..12].copy_from_slice(&handle.to_ne_bytes());
            body[12..16].copy_from_slice(&TcObject::INGRESS.to_ne_bytes());
            [body, attribute(KIND, b"u32\0")].concat()
        };
        let filter = describe(&body(0x8000_0801), TcKind::IngressFilters);
        let (parent, kind) = (TcObject::INGRESS, "u32".to_owned());
        assert_eq!(filter, Some((7, TcObject { parent, kind })));
        assert_eq!(describe(&body(0), TcKind::IngressFilters), None);
        assert_eq!(describe(&body(0x8000_0000), TcKind::IngressFilters), None);
        assert!(describe(&body(0), TcKind::Qdiscs).is_some());
        for length in 0..body(1).len() - 1 {
            assert_eq!(describe(&body(1)[..length], TcKind::Qdiscs), None);
        }
    }

    /// A namespace without any has the rules that the kernel begins with.
    #[test]
    fn this_kernels_lists_are_understood() {
        assert!(policy_rules(Family::V4).unwrap() >= 3);
        for link in crate::links::list().unwrap() {
            let qdiscs = tc_objects(link.index, TcKind::Qdiscs).unwrap();
            assert!(qdiscs.iter().all(|one| !one.kind.is_empty()), "{qdiscs:?}");
        }
        police_actions().unwrap();
    }
}
