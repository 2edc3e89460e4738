//! eBPF programs as traffic control filters (`tc-bpf(8)`): the way into a link's ingress and egress
//! that kernels before tcx (Linux 6.6) have.
//!
//! A filter is attached to a `clsact` qdisc and stays until somebody takes it off: it outlives the process
//! that put it there. So ours carry priorities and a handle of their own, by which the next
//! process finds what a killed one left behind.

use std::os::fd::{AsRawFd, BorrowedFd};

use netlink_packet_core::{NLM_F_CREATE, NLM_F_DUMP, NLM_F_EXCL};
use netlink_packet_route::RouteNetlinkMessage;
use netlink_packet_route::tc::{
    TcAttribute, TcBpfFlags, TcFilterBpfOption, TcHandle, TcMessage, TcOption,
};

use crate::error::Result;
use crate::netlink::{Refusal, transact};
use crate::netns;

/// When a program of ours runs among those of others at the same hook.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Turn {
    /// Before all others.
    First,
    /// After all others.
    Last,
}

impl Turn {
    /// Both.
    pub const BOTH: [Self; 2] = [Self::First, Self::Last];

    /// Filters run by rising priority.
    fn priority(self) -> u32 {
        match self {
            Self::First => 1,
            Self::Last => 0xff00,
        }
    }
}

/// "mpps" in ASCII: a handle no other program draws by chance.
const HANDLE: u32 = 0x6d70_7073;

/// Where on a link a program runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hook {
    /// On what the link received, before anything of layer 3.
    Ingress,
    /// On what the link is about to transmit.
    Egress,
}

impl Hook {
    /// Both.
    pub const BOTH: [Self; 2] = [Self::Ingress, Self::Egress];

    fn parent(self) -> TcHandle {
        TcHandle {
            minor: match self {
                Self::Ingress => TcHandle::MIN_INGRESS,
                Self::Egress => TcHandle::MIN_EGRESS,
            },
            ..TcHandle::CLSACT
        }
    }
}

/// Gives a link of the calling thread's namespace a clsact qdisc; `false` when it has one already.
///
/// # Errors
/// No such link (ENODEV), no right (EPERM), a kernel without `CONFIG_NET_SCH_INGRESS` (ENOENT), or
/// an ingress qdisc in its place (EEXIST is taken for "has one").
pub fn add_clsact(ifindex: u32) -> Result<bool> {
    let mut qdisc = clsact(ifindex);
    qdisc.attributes = vec![TcAttribute::Kind("clsact".to_owned())];
    let request = RouteNetlinkMessage::NewQueueDiscipline(qdisc);
    match transact(request, NLM_F_CREATE | NLM_F_EXCL) {
        Ok(_) => Ok(true),
        Err(refusal) if refusal.errno() == Some(libc::EEXIST) => Ok(false),
        Err(refusal) => Err(refusal
            .into_error("add qdisc clsact to", object(ifindex))
            .with_remedy("needs root and CONFIG_NET_SCH_INGRESS (module sch_ingress)")),
    }
}

/// Takes the clsact qdisc off, with all its filters.
///
/// # Errors
/// There is none (ENOENT, EINVAL), no such link (ENODEV), no right (EPERM).
pub fn delete_clsact(ifindex: u32) -> Result<()> {
    transact(RouteNetlinkMessage::DelQueueDiscipline(clsact(ifindex)), 0)
        .map(drop)
        .map_err(|refusal| refusal.into_error("delete qdisc clsact of", object(ifindex)))
}

/// Runs the program, whose verdict is final, in its turn at this hook. The link must have a clsact qdisc.
///
/// # Errors
/// One of ours is there already (EEXIST), a filter of another kind has its priority (EEXIST or
/// EINVAL), a kernel without `CONFIG_NET_CLS_BPF` (ENOENT), no right (EPERM).
pub fn add_filter(
    ifindex: u32,
    hook: Hook,
    turn: Turn,
    name: &str,
    program: BorrowedFd<'_>,
) -> Result<()> {
    let mut filter = ours(ifindex, hook, turn);
    filter.attributes = vec![
        TcAttribute::Kind("bpf".to_owned()),
        TcAttribute::Options(vec![
            TcOption::Bpf(TcFilterBpfOption::ProgFd(
                program.as_raw_fd().cast_unsigned(),
            )),
            TcOption::Bpf(TcFilterBpfOption::ProgName(name.to_owned())),
            TcOption::Bpf(TcFilterBpfOption::Flags(TcBpfFlags::DirectAction)),
        ]),
    ];
    transact(
        RouteNetlinkMessage::NewTrafficFilter(filter),
        NLM_F_CREATE | NLM_F_EXCL,
    )
    .map(drop)
    .map_err(|refusal| {
        refusal
            .into_error(&format!("add filter {name} to the {hook:?} of"), object(ifindex))
            .with_remedy(
                "needs root, CONFIG_NET_CLS_BPF (module cls_bpf), and no filter of another kind at its priority",
            )
    })
}

/// Takes our filter off this hook.
///
/// # Errors
/// There is none (ENOENT), no qdisc (EINVAL), no such link (ENODEV), no right (EPERM).
pub fn delete_filter(ifindex: u32, hook: Hook, turn: Turn) -> Result<()> {
    let mut filter = ours(ifindex, hook, turn);
    filter.attributes = vec![TcAttribute::Kind("bpf".to_owned())];
    transact(RouteNetlinkMessage::DelTrafficFilter(filter), 0)
        .map(drop)
        .map_err(|refusal| {
            refusal.into_error(
                &format!("delete filter of the {hook:?} of"),
                object(ifindex),
            )
        })
}

impl Filters {
    /// Whether ours is there that has this turn.
    #[must_use]
    pub fn ours(self, turn: Turn) -> bool {
        match turn {
            Turn::First => self.ours_first,
            Turn::Last => self.ours_last,
        }
    }
}

/// The filters at a hook.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Filters {
    /// Whether ours is there that runs first.
    pub ours_first: bool,
    /// Whether ours is there that runs last.
    pub ours_last: bool,
    /// How many of others.
    pub others: usize,
}

/// Which filters are attached to a hook; none where there is no clsact qdisc, or the kernel has no filters.
///
/// # Errors
/// No such link (ENODEV), or the kernel's answer could not be read.
pub fn filters(ifindex: u32, hook: Hook) -> Result<Filters> {
    let mut query = TcMessage::with_index(ifindex.cast_signed());
    query.header.parent = hook.parent();
    let answers = transact(RouteNetlinkMessage::GetTrafficFilter(query), NLM_F_DUMP);
    let answers =
        listed(answers).map_err(|no| no.into_error("list filters of", object(ifindex)))?;
    let handles = answers.iter().filter_map(|answer| match answer {
        // Each priority is listed once by itself, with handle 0, before its filters.
        RouteNetlinkMessage::NewTrafficFilter(filter) => {
            Some((filter.header.info >> 16, u32::from(filter.header.handle)))
                .filter(|(_, handle)| *handle != 0)
        }
        _ => None,
    });
    Ok(handles.fold(Filters::default(), |mut found, at| {
        if at == (Turn::First.priority(), HANDLE) {
            found.ours_first = true;
        } else if at == (Turn::Last.priority(), HANDLE) {
            found.ours_last = true;
        } else {
            found.others += 1;
        }
        found
    }))
}

/// No list is an empty one. Kernels differ in saying so where there is no qdisc (ENOENT, EINVAL). Those without
/// `CONFIG_NET_CLS` do not know the question (EOPNOTSUPP), nor those without a family or protocol.
pub(crate) fn listed<T>(
    answers: std::result::Result<Vec<T>, Refusal>,
) -> std::result::Result<Vec<T>, Refusal> {
    match answers {
        Err(refusal)
            if matches!(
                refusal.errno(),
                Some(
                    libc::ENOENT
                        | libc::EINVAL
                        | libc::EOPNOTSUPP
                        | libc::EAFNOSUPPORT
                        | libc::EPROTONOSUPPORT
                )
            ) =>
        {
            Ok(Vec::new())
        }
        answers => answers,
    }
}

fn clsact(ifindex: u32) -> TcMessage {
    let mut qdisc = TcMessage::with_index(ifindex.cast_signed());
    qdisc.header.parent = TcHandle::CLSACT;
    qdisc.header.handle = TcHandle {
        minor: 0,
        ..TcHandle::CLSACT
    };
    qdisc
}

/// Priority in the upper half, protocol (all, in network order) in the lower.
fn ours(ifindex: u32, hook: Hook, turn: Turn) -> TcMessage {
    let mut filter = TcMessage::with_index(ifindex.cast_signed());
    filter.header.parent = hook.parent();
    filter.header.handle = TcHandle::from(HANDLE);
    let all = u16::try_from(libc::ETH_P_ALL).unwrap_or(3).to_be();
    filter.header.info = turn.priority() << 16 | u32::from(all);
    filter
}

fn object(ifindex: u32) -> String {
    format!("interface {ifindex}{}", netns::place())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kernel_without_filters_lists_none() {
        let listed = |errno| listed::<()>(Err(Refusal::number(errno)));
        for errno in [libc::ENOENT, libc::EINVAL, libc::EOPNOTSUPP] {
            assert!(listed(errno).is_ok_and(|filters| filters.is_empty()));
        }
        assert!(listed(libc::ENODEV).is_err());
    }

    #[test]
    fn hooks_and_handles_are_the_kernels_numbers() {
        assert_eq!(u32::from(Hook::Ingress.parent()), 0xffff_fff2);
        assert_eq!(u32::from(Hook::Egress.parent()), 0xffff_fff3);
        assert_eq!(u32::from(clsact(1).header.handle), 0xffff_0000);
        assert_eq!(u32::from(clsact(1).header.parent), 0xffff_fff1);
        let ours = ours(1, Hook::Egress, Turn::First);
        assert_eq!(u32::from(ours.header.handle), HANDLE);
        // htons(ETH_P_ALL) on any machine: its octets in memory are 00 03.
        let info = ours.header.info;
        assert_eq!(((info & 0xffff) as u16).to_ne_bytes(), [0, 3]);
        assert_eq!(info >> 16, 1);
    }
}
