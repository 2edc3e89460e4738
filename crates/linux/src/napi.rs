//! The NAPI instances of a link and their threads (generic netlink family `netdev`,
//! `Documentation/netlink/specs/netdev.yaml`; Linux 6.8).
//!
//! A thread's name, `napi/mD-8193`, says which link it serves but not in which namespace. Two beds
//! have an mD each; only the kernel's own answer tells their threads apart.
//!
//! Seen on Linux 6.18 with veth: writing 1 to `class/net/mD/threaded` fails while the link has no
//! NAPI (down, or neither GRO nor an XDP program). The setting survives the link going down and GRO
//! going off, but the thread does not: afterwards it is a new one, SCHED_OTHER and unpinned. So
//! attach first, then set, then look the thread up and place it.

use netlink_packet_core::DefaultNla;

use crate::error::Result;
use crate::links;
use crate::netlink::{GenericRequest, Refusal, transact_generic, value_of};
use crate::netns;

const GENL_ID_CTRL: u16 = 0x10;
const CTRL_CMD_GETFAMILY: u8 = 3;
const CTRL_ATTR_FAMILY_ID: u16 = 1;
const CTRL_ATTR_FAMILY_NAME: u16 = 2;
const NETDEV_CMD_NAPI_GET: u8 = 11;
const NETDEV_A_NAPI_IFINDEX: u16 = 1;
const NETDEV_A_NAPI_ID: u16 = 2;
const NETDEV_A_NAPI_PID: u16 = 4;
const NETDEV_A_NAPI_IRQ_SUSPEND_TIMEOUT: u16 = 7;
const NETDEV_A_NAPI_THREADED: u16 = 8;

/// One NAPI instance: a receive queue's polling.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Napi {
    /// Its id, unique on the machine over all namespaces.
    pub id: u32,
    /// The kernel thread that polls it, if it is threaded.
    pub thread: Option<i32>,
    /// For how long a busy-polling program may keep its interrupt off, ns (Linux 6.13).
    pub suspend_timeout_ns: Option<u64>,
    /// Whether it is threaded: 0 not, 1 so, 2 busy-polling (Linux 6.17).
    pub threaded: Option<u64>,
}

/// NAPI instances of a link of the calling thread's namespace, by rising id. A veth has one a
/// receive queue, and only while it is up with GRO on or an XDP program attached.
///
/// # Errors
/// No such link (ENODEV), or a kernel before 6.8 (ENOENT: there is no family `netdev`, or it knows
/// no NAPI); then [`crate::task::find_kthreads`] has to do.
pub fn list(link: &str) -> Result<Vec<Napi>> {
    let ifindex = links::index(link)?;
    let fail = |refusal: Refusal| {
        refusal
            .into_error("list NAPI of", format!("{link}{}", netns::place()))
            .with_remedy("needs Linux 6.8")
    };
    let family = family_id("netdev").map_err(fail)?;
    let answers = transact_generic(&GenericRequest {
        family,
        command: NETDEV_CMD_NAPI_GET,
        attributes: vec![DefaultNla::new(
            NETDEV_A_NAPI_IFINDEX,
            ifindex.to_ne_bytes().to_vec(),
        )],
        dump: true,
    })
    .map_err(|refusal| match refusal.errno() {
        // Linux before 6.8 has the family but not this command.
        Some(libc::EOPNOTSUPP) => fail(Refusal::number(libc::ENOENT)),
        _ => fail(refusal),
    })?;
    let mut all: Vec<Napi> = answers
        .iter()
        .filter_map(|answer| describe(answer, ifindex))
        .collect();
    all.sort_by_key(|napi| napi.id);
    Ok(all)
}

fn describe(attributes: &[u8], ifindex: u32) -> Option<Napi> {
    let number = |kind| u32_of(attributes, kind);
    if number(NETDEV_A_NAPI_IFINDEX) != Some(ifindex) {
        return None;
    }
    Some(Napi {
        id: number(NETDEV_A_NAPI_ID)?,
        // 0: a thread that our process namespace does not show. To the scheduler 0 would be ourselves.
        thread: number(NETDEV_A_NAPI_PID)
            .and_then(|pid| i32::try_from(pid).ok())
            .filter(|&pid| pid > 0),
        suspend_timeout_ns: uint_of(attributes, NETDEV_A_NAPI_IRQ_SUSPEND_TIMEOUT),
        threaded: uint_of(attributes, NETDEV_A_NAPI_THREADED),
    })
}

pub(crate) fn family_id(name: &str) -> std::result::Result<u16, Refusal> {
    let mut text = name.as_bytes().to_vec();
    text.push(0);
    let answers = transact_generic(&GenericRequest {
        family: GENL_ID_CTRL,
        command: CTRL_CMD_GETFAMILY,
        attributes: vec![DefaultNla::new(CTRL_ATTR_FAMILY_NAME, text)],
        dump: false,
    })?;
    answers
        .iter()
        .find_map(|answer| {
            let octets = value_of(answer, CTRL_ATTR_FAMILY_ID)?;
            Some(u16::from_ne_bytes(octets.try_into().ok()?))
        })
        .ok_or(Refusal::number(libc::ENOENT))
}

fn u32_of(attributes: &[u8], kind: u16) -> Option<u32> {
    let octets = value_of(attributes, kind)?;
    Some(u32::from_ne_bytes(octets.try_into().ok()?))
}

/// A number of 4 octets, or of 8 where it needs them (`NLA_UINT`).
fn uint_of(attributes: &[u8], kind: u16) -> Option<u64> {
    let wide = || {
        Some(u64::from_ne_bytes(
            value_of(attributes, kind)?.try_into().ok()?,
        ))
    };
    u32_of(attributes, kind).map(u64::from).or_else(wide)
}

#[cfg(test)]
mod tests {
    use super::*;
    use netlink_packet_core::Emitable;

    fn answer(pairs: &[(u16, u32)]) -> Vec<u8> {
        let attributes: Vec<DefaultNla> = pairs
            .iter()
            .map(|(kind, value)| DefaultNla::new(*kind, value.to_ne_bytes().to_vec()))
            .collect();
        let mut bytes = vec![0; attributes.as_slice().buffer_len()];
        attributes.as_slice().emit(&mut bytes);
        bytes
    }

    #[test]
    fn instances_of_other_links_do_not_count() {
        let threaded = answer(&[(2, 8193), (1, 7), (4, 4242), (8, 1)]);
        let bare = answer(&[(1, 7), (2, 8194)]);
        let other = answer(&[(1, 8), (2, 8195), (4, 4243)]);
        assert_eq!(
            describe(&threaded, 7),
            Some(Napi {
                id: 8193,
                thread: Some(4242),
                threaded: Some(1),
                ..Napi::default()
            })
        );
        assert_eq!(
            describe(&bare, 7),
            Some(Napi {
                id: 8194,
                ..Napi::default()
            })
        );
        let hidden = answer(&[(1, 7), (2, 8196), (4, 0)]);
        assert_eq!(describe(&hidden, 7).unwrap().thread, None);
        assert_eq!(describe(&other, 7), None);
        assert_eq!(describe(&answer(&[(1, 7)]), 7), None);
        assert_eq!(describe(&[1, 2, 3], 7), None);
    }

    #[test]
    fn every_kernel_has_the_controlling_family_itself() {
        assert_eq!(family_id("nlctrl").unwrap(), GENL_ID_CTRL);
        assert_eq!(
            family_id("no-such").unwrap_err().errno(),
            Some(libc::ENOENT)
        );
    }
}
