//! When frames leave a port, by a count and at a place that are not the sender's (see `departures.bpf.c`).

use crate::bed::Port;
use crate::tester::error::TesterError;
use crate::tester::programs::{self, maps, trace};
use libbpf_rs::Link;
use mpps_ebpf::instruments::departures::{Departed, DeparturesSkel, DeparturesSkelBuilder};

/// A watched port; dropping this ends it. It costs the tester some 50 ns a bulk.
pub struct Departures {
    skel: DeparturesSkel<'static>,
    _link: Link,
}

impl Departures {
    /// Watches what is redirected to a port of the tester's.
    pub fn watch(port: &Port) -> Result<Self, TesterError> {
        let mut open = programs::open(
            DeparturesSkelBuilder::default(),
            "open the watch of departures",
        )?;
        let rodata = programs::constants(&mut open.maps.rodata_data, "departures rodata")?;
        rodata.port_netns = u32::try_from(port.netns.inode()).unwrap_or(0);
        rodata.port_ifindex = port.ifindex;
        let skel = programs::load(open, "load the watch of departures")?;
        let program = &skel.progs.port_transmits;
        let link = trace(program, "attach the watch of departures")?;
        Ok(Self { skel, _link: link })
    }

    /// Forgets what has left so far. Call it while nothing is sent.
    pub fn clear(&self) -> Result<(), TesterError> {
        let map = &self.skel.maps.data_departures;
        maps::write(
            map,
            0,
            &Departed::default(),
            "clear the watch of departures",
        )
    }

    /// What has left since.
    pub fn read(&self) -> Result<Departed, TesterError> {
        maps::read(
            &self.skel.maps.data_departures,
            0,
            "read the watch of departures",
        )
    }
}
