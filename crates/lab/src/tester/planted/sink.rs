//! A port that drops everything in its driver, to measure senders alone.

use crate::tester::error::TesterError;
use crate::tester::programs::{self, attach_in};
use mpps_ebpf::instruments::sink::{SinkSkel, SinkSkelBuilder};
use mpps_linux::bpf::LinkKind;
use mpps_linux::netns::NetNs;
use std::os::fd::{AsFd, OwnedFd};

/// While this lives, port and driver count what comes and drop it.
pub struct Sink {
    _skel: SinkSkel<'static>,
    _link: OwnedFd,
}

impl Sink {
    /// Drops at port `ifindex` of the namespace.
    pub fn attach(netns: &NetNs, ifindex: u32) -> Result<Self, TesterError> {
        let skel = programs::load(
            programs::open(SinkSkelBuilder::default(), "open the sink")?,
            "load the sink",
        )?;
        let link = attach_in(netns, skel.progs.sink.as_fd(), ifindex, LinkKind::Xdp)?;
        Ok(Self {
            _skel: skel,
            _link: link,
        })
    }
}
