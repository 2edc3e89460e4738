//! A port that drops everything in its driver, to measure senders alone.

use libbpf_rs::skel::{OpenSkel, SkelBuilder};
use mpps_ebpf::instruments::sink::{SinkSkel, SinkSkelBuilder};
use mpps_linux::bpf::{self, LinkKind};
use mpps_linux::netns::NetNs;
use std::error::Error;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};

/// While this lives, port and driver count what comes and drop it.
pub struct Sink {
    _skel: SinkSkel<'static>,
    _link: OwnedFd,
}

impl Sink {
    /// Drops at port `ifindex` of the namespace.
    pub fn attach(netns: &NetNs, ifindex: u32) -> Result<Self, Box<dyn Error>> {
        let place = Box::leak(Box::new(MaybeUninit::uninit()));
        let skel = SinkSkelBuilder::default().open(place)?.load()?;
        let program = skel.progs.sink.as_fd();
        let link = netns.run(|| bpf::attach(program, ifindex, LinkKind::Xdp))??;
        Ok(Self {
            _skel: skel,
            _link: link,
        })
    }
}
