//! A wire in place of the router, to find the tester's own ceiling.

use super::{TesterError, Way};
use crate::bed::Bed;
use libbpf_rs::skel::{OpenSkel, SkelBuilder};
use mpps_ebpf::instruments::wire::{WireSkel, WireSkelBuilder};
use mpps_linux::bpf::LinkKind;
use std::os::fd::{AsFd, OwnedFd};

/// While this lives, the DUT routes nothing: what comes in at one port goes out at the other.
pub struct Wire {
    _links: Vec<(WireSkel<'static>, OwnedFd)>,
}

impl Wire {
    /// Puts the wire between the DUT's ports.
    ///
    /// # Errors
    /// What loading or attaching said.
    pub fn lay(bed: &Bed, ways: &[Way]) -> Result<Self, TesterError> {
        let mut links = Vec::new();
        for way in ways {
            let mut open = WireSkelBuilder::default()
                .open(super::skeleton_storage())
                .map_err(|e| TesterError::bpf("open the wire", &e))?;
            let rodata = open
                .maps
                .rodata_data
                .as_deref_mut()
                .ok_or(TesterError::Layout("wire rodata"))?;
            rodata.other_port = bed.port(way.dut_out).ifindex;
            let skel = open
                .load()
                .map_err(|e| TesterError::bpf("load the wire", &e))?;
            let (netns, ifindex) = (bed.netns(way.dut_in), bed.port(way.dut_in).ifindex);
            let link = super::attach_in(
                netns,
                skel.progs.wire.as_fd(),
                ifindex,
                LinkKind::TcxIngress,
            )?;
            links.push((skel, link));
        }
        Ok(Self { _links: links })
    }
}
