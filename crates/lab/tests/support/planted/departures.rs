//! When frames leave a port, by a count and at a place that are not the sender's (see `departures.bpf.c`).

use libbpf_rs::skel::{OpenSkel, SkelBuilder};
use libbpf_rs::{Link, MapCore, MapFlags};
use mpps_ebpf::Plain;
use mpps_ebpf::instruments::departures::{Departed, DeparturesSkel, DeparturesSkelBuilder};
use mpps_lab::bed::Port;
use std::error::Error;
use std::mem::MaybeUninit;

const KEY: [u8; 4] = [0; 4];

/// A watched port; dropping this ends it. It costs the tester some 50 ns a bulk.
pub struct Departures {
    skel: DeparturesSkel<'static>,
    _link: Link,
}

impl Departures {
    /// Watches what is redirected to a port of the tester's.
    pub fn watch(port: &Port) -> Result<Self, Box<dyn Error>> {
        let place = Box::leak(Box::new(MaybeUninit::uninit()));
        let mut open = DeparturesSkelBuilder::default().open(place)?;
        let rodata = open.maps.rodata_data.as_deref_mut().ok_or("no rodata")?;
        rodata.port_netns = u32::try_from(port.netns.inode())?;
        rodata.port_ifindex = port.ifindex;
        let skel = open.load()?;
        let link = skel.progs.port_transmits.attach_trace()?;
        Ok(Self { skel, _link: link })
    }

    /// Forgets what has left so far. Call it while nothing is sent.
    pub fn clear(&self) -> Result<(), libbpf_rs::Error> {
        let (map, nothing) = (&self.skel.maps.data_departures, Departed::default());
        map.update(&KEY, nothing.octets(), MapFlags::ANY)
    }

    /// What has left since.
    pub fn read(&self) -> Result<Departed, Box<dyn Error>> {
        let read = self.skel.maps.data_departures.lookup(&KEY, MapFlags::ANY)?;
        let departed = read.and_then(|octets| Departed::from_octets(&octets));
        Ok(departed.ok_or("another layout")?)
    }
}
