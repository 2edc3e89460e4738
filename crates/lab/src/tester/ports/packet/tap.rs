//! What stands before and behind the packet socket on a veth of ours (see `tap.bpf.c`).

use crate::bed::{Bed, Port};
use crate::tester::dut_path::InPath;
use crate::tester::error::TesterError;
use crate::tester::programs::{self, attach_in};
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

impl Tap {
    /// Gives the frames an end behind the packet sockets; and a veth of ours a NAPI, which an adopted port has by its
    /// interrupt.
    pub fn attach(bed: &Bed, port: &Port) -> Result<Self, TesterError> {
        let open = programs::open(TapSkelBuilder::default(), "open the tap")?;
        let skel = programs::load(open, "load the tap")?;
        let admit = skel.progs.admit.as_fd();
        let admit = (!port.is_adopted())
            .then(|| attach_in(&port.netns, admit, port.ifindex, LinkKind::Xdp))
            .transpose()?;
        let end = skel.progs.end.as_fd();
        let end = InPath::put(bed, port, (Hook::Ingress, Turn::Last), "mpps_end", end)?;
        Ok(Self {
            _skel: skel,
            _admit: admit,
            _end: end,
        })
    }
}
