//! What stands before and behind the packet socket on a veth of ours (see `tap.bpf.c`).

use crate::bed::{Bed, Side};
use crate::tester::error::TesterError;
use crate::tester::programs::dut_path::InPath;
use crate::tester::programs::{attach_in, skeleton_storage};
use libbpf_rs::skel::{OpenSkel, SkelBuilder};
use mpps_ebpf::instruments::tap::{TapSkel, TapSkelBuilder};
use mpps_linux::bpf::LinkKind;
use mpps_linux::tc::{Hook, Turn};
use std::os::fd::{AsFd, OwnedFd};

/// Attached programs; they are gone when this is dropped.
pub struct Tap {
    _skel: TapSkel<'static>,
    _admit: Option<OwnedFd>,
    _end: InPath,
}

/// Where programs are put.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TapEnds {
    /// Before and behind the socket: a veth of ours.
    Both,
    /// Behind it: a port with an interrupt, and so a NAPI, of its own.
    Behind,
}

impl Tap {
    /// Gives the frames an end behind the packet sockets, and where asked for the port a NAPI.
    ///
    /// # Errors
    /// What loading or attaching said.
    pub fn attach(bed: &Bed, side: Side, ends: TapEnds) -> Result<Self, TesterError> {
        let open = TapSkelBuilder::default()
            .open(skeleton_storage())
            .map_err(|e| TesterError::bpf("open the tap", &e))?;
        let skel = open
            .load()
            .map_err(|e| TesterError::bpf("load the tap", &e))?;
        let admit = skel.progs.admit.as_fd();
        let (netns, ifindex) = (bed.netns(side), bed.port(side).ifindex);
        let admit = (ends == TapEnds::Both)
            .then(|| attach_in(netns, admit, ifindex, LinkKind::Xdp))
            .transpose()?;
        let end = skel.progs.end.as_fd();
        let end = InPath::put(bed, side, (Hook::Ingress, Turn::Last), "mpps_end", end)?;
        Ok(Self {
            _skel: skel,
            _admit: admit,
            _end: end,
        })
    }
}
