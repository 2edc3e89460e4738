//! Programs in the DUT's path: where it receives, before any routing, or where it transmits; and behind a packet
//! socket at the tester's port.

use crate::bed::{Bed, Port};
use crate::tester::error::TesterError;
use crate::tester::kernel_interfaces::{KernelInterfaces, TrafficControl};
use mpps_linux::bpf::{self, LinkKind};
use mpps_linux::netns::NetNs;
use mpps_linux::tc::{self, Hook, Turn};
use std::os::fd::{BorrowedFd, OwnedFd};

/// A program in the path; it is taken off when this is dropped.
pub enum InPath {
    /// Goes with its descriptor, however the process ends.
    Link { _link: OwnedFd },
    /// Stays until taken off: see [`sweep`].
    Filter { _filter: Filter },
}

/// A filter of ours on a port.
pub struct Filter {
    netns: NetNs,
    ifindex: u32,
    hook: Hook,
    turn: Turn,
    /// The qdisc is ours too.
    made_qdisc: bool,
}

impl InPath {
    /// Puts the program, which has this name, on a port of the bed, to run in its turn among those of others.
    pub fn put(
        bed: &Bed,
        port: &Port,
        (hook, turn): (Hook, Turn),
        name: &str,
        program: BorrowedFd<'_>,
    ) -> Result<Self, TesterError> {
        let ifindex = port.ifindex;
        match KernelInterfaces::find(bed.plan().interfaces)?.traffic_control {
            TrafficControl::None => Err(TesterError::NoHook),
            TrafficControl::Tcx => {
                let kind = match hook {
                    Hook::Ingress => LinkKind::TcxIngress,
                    Hook::Egress => LinkKind::TcxEgress,
                };
                let attach = match turn {
                    Turn::First => bpf::attach_first,
                    Turn::Last => bpf::attach,
                };
                let link = port.netns.run(|| attach(program, ifindex, kind))??;
                Ok(Self::Link { _link: link })
            }
            TrafficControl::Clsact => {
                let netns = NetNs::open(port.netns.name())?;
                let made_qdisc = netns.run(|| tc::add_clsact(ifindex))?.map_err(refused)?;
                // From here on a failure takes the qdisc off again.
                let filter = Filter {
                    netns,
                    ifindex,
                    hook,
                    turn,
                    made_qdisc,
                };
                filter
                    .netns
                    .run(|| tc::add_filter(ifindex, hook, turn, name, program))?
                    .map_err(refused)?;
                Ok(Self::Filter { _filter: filter })
            }
        }
    }
}

/// ENOENT: no qdisc or classifier of that name (`sch_api.c`, `cls_api.c`).
const NO_SUCH_KIND: i32 = 2;
/// EOPNOTSUPP.
const NOT_SUPPORTED: i32 = 95;

/// What the kernel says to a qdisc or filter of a kind that it lacks; a missing port or right is another error.
fn refused(error: mpps_linux::Error) -> TesterError {
    match error.errno() {
        Some(NO_SUCH_KIND | NOT_SUPPORTED) => TesterError::NoHook,
        _ => error.into(),
    }
}

impl Drop for Filter {
    fn drop(&mut self) {
        let (ifindex, made_qdisc) = (self.ifindex, self.made_qdisc);
        // A port that is gone has no filters; what else fails, the next tester's sweep finds.
        let _gone = self.netns.run(|| {
            let removed = tc::delete_filter(ifindex, self.hook, self.turn);
            if made_qdisc && is_empty(ifindex)? {
                return tc::delete_clsact(ifindex);
            }
            removed
        });
    }
}

/// Takes off what a killed process left at the ports of a kept bed: else the next one would measure the wire.
pub fn sweep(bed: &Bed) -> Result<(), TesterError> {
    for port in bed.ports() {
        let ifindex = port.ifindex;
        port.netns.run(|| {
            let mut found = false;
            for hook in Hook::BOTH {
                let filters = tc::filters(ifindex, hook)?;
                for turn in Turn::BOTH.into_iter().filter(|&turn| filters.ours(turn)) {
                    tc::delete_filter(ifindex, hook, turn)?;
                    found = true;
                }
            }
            if found && is_empty(ifindex)? {
                tc::delete_clsact(ifindex)?;
            }
            Ok::<_, mpps_linux::Error>(())
        })??;
    }
    Ok(())
}

fn is_empty(ifindex: u32) -> mpps_linux::Result<bool> {
    for hook in Hook::BOTH {
        if tc::filters(ifindex, hook)? != tc::Filters::default() {
            return Ok(false);
        }
    }
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::JobError;
    use crate::tester::ports::receiver::no_exit;

    #[test]
    fn a_kernel_without_hooks_is_told_in_one_line() {
        let said = |errno| {
            refused(mpps_linux::Error::from_errno(
                "add qdisc clsact to",
                "link 4",
                errno,
            ))
        };
        for errno in [NO_SUCH_KIND, NOT_SUPPORTED] {
            let error = no_exit(said(errno));
            assert_eq!(
                error.to_string(),
                "--receiver exit: this kernel has neither tcx links (Linux 6.6) nor clsact with eBPF (modules \
                sch_ingress, cls_bpf); load the modules, take a newer kernel, or give --receiver port"
            );
            // Where nobody asked for the exit, the port takes its place.
            assert!(JobError::from(error).is_past_exit());
        }
        let error = no_exit(said(1));
        assert!(
            error.to_string().contains("add qdisc clsact to link 4"),
            "{error}"
        );
        assert!(!JobError::from(error).is_past_exit());
    }
}
