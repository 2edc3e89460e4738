//! A port that drops everything in its driver, to measure senders alone.

use crate::tester::error::TesterError;
use crate::tester::programs::{attach_in, skeleton_storage};
use libbpf_rs::skel::{OpenSkel, SkelBuilder};
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
    ///
    /// # Errors
    /// What loading or attaching said.
    pub fn attach(netns: &NetNs, ifindex: u32) -> Result<Self, TesterError> {
        let skel = SinkSkelBuilder::default()
            .open(skeleton_storage())
            .map_err(|e| TesterError::bpf("open the sink", &e))?
            .load()
            .map_err(|e| TesterError::bpf("load the sink", &e))?;
        let link = attach_in(netns, skel.progs.sink.as_fd(), ifindex, LinkKind::Xdp)?;
        Ok(Self {
            _skel: skel,
            _link: link,
        })
    }
}
