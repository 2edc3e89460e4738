//! What stands before and behind the packet socket on a veth of ours (see `tap.bpf.c`).

use crate::tester::{TesterError, attach_in, skeleton_storage};
use libbpf_rs::skel::{OpenSkel, SkelBuilder};
use mpps_ebpf::instruments::tap::{TapSkel, TapSkelBuilder};
use mpps_linux::bpf::LinkKind;
use mpps_linux::netns::NetNs;
use std::os::fd::{AsFd, OwnedFd};

/// Attached programs; they are gone when this is dropped.
pub struct Tap {
    _skel: TapSkel<'static>,
    _links: [OwnedFd; 2],
}

impl Tap {
    /// Gives the port a NAPI, and its frames an end behind the packet sockets.
    ///
    /// # Errors
    /// What loading or attaching said.
    pub fn attach(netns: &NetNs, ifindex: u32) -> Result<Self, TesterError> {
        let open = TapSkelBuilder::default()
            .open(skeleton_storage())
            .map_err(|e| TesterError::bpf("open the tap", &e))?;
        let skel = open
            .load()
            .map_err(|e| TesterError::bpf("load the tap", &e))?;
        let links = [
            attach_in(netns, skel.progs.admit.as_fd(), ifindex, LinkKind::Xdp)?,
            attach_in(netns, skel.progs.end.as_fd(), ifindex, LinkKind::TcxIngress)?,
        ];
        Ok(Self {
            _skel: skel,
            _links: links,
        })
    }
}
