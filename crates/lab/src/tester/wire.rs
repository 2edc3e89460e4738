//! A wire in place of the router, for the bed's part of a frame's cost and the tester's ceiling.

use crate::bed::Bed;
use crate::tester::at_egress;
use crate::tester::dut_path::InPath;
use crate::tester::error::TesterError;
use crate::tester::programs;
use crate::tester::ways::Way;
use mpps_ebpf::instruments::wire::{WireSkel, WireSkelBuilder};
use mpps_linux::tc::{Hook, Turn};
use std::os::fd::AsFd;

/// While this lives, the DUT routes nothing: what comes in at one port goes out at the other.
pub struct Wire {
    _in_path: Vec<(WireSkel<'static>, InPath)>,
}

impl Wire {
    /// Puts the wire between the DUT's ports; `None` where the tester does not get at them, or the kernel lacks the hook. Nor
    /// where something of the router's own is at the outgoing port's egress: the wire's frames would pass it, and its time
    /// count as the bed's.
    pub fn lay(bed: &Bed, ways: &[Way<'_>]) -> Result<Option<Self>, TesterError> {
        let mut in_path = Vec::new();
        for way in ways {
            let Some(dut) = way.dut else {
                return Ok(None);
            };
            if at_egress(dut.outgoing)?.is_some() {
                return Ok(None);
            }
            let mut open = programs::open(WireSkelBuilder::default(), "open the wire")?;
            let rodata = programs::constants(&mut open.maps.rodata_data, "wire rodata")?;
            rodata.other_port = dut.outgoing.ifindex;
            let skel = programs::load(open, "load the wire")?;
            let program = skel.progs.wire.as_fd();
            let put = InPath::put(
                bed,
                dut.incoming,
                (Hook::Ingress, Turn::First),
                "mpps_wire",
                program,
            );
            match put {
                Err(TesterError::NoHook) => return Ok(None),
                put => in_path.push((skel, put?)),
            }
        }
        Ok(Some(Self { _in_path: in_path }))
    }
}
