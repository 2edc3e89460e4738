//! The ways of frames through the bed, by direction, and what tells the frames of one from the other's.

use super::error::TesterError;
use crate::bed::{Bed, Port};

/// The way of one direction through the bed.
#[derive(Clone, Copy, Debug)]
pub struct Way<'bed> {
    /// Where the tester sends.
    pub from: &'bed Port,
    /// The Ethernet address it sends to.
    pub next_hop: [u8; 6],
    /// The DUT's ports, where the tester gets at them.
    pub dut: Option<DutPorts<'bed>>,
    /// Where the tester receives.
    pub to: &'bed Port,
}

/// The DUT's ports along a way.
#[derive(Clone, Copy, Debug)]
pub struct DutPorts<'bed> {
    /// Where the DUT receives.
    pub incoming: &'bed Port,
    /// Where the DUT transmits.
    pub outgoing: &'bed Port,
}

impl<'bed> Way<'bed> {
    /// The DUT's ports, for who cannot do without them.
    ///
    /// # Errors
    /// The tester does not get at them.
    pub fn dut(&self) -> Result<DutPorts<'bed>, TesterError> {
        self.dut.ok_or(TesterError::NoDutPorts)
    }
}

/// The ways of this traffic, by direction.
#[must_use]
pub fn ways(bed: &Bed, bidirectional: bool) -> Vec<Way<'_>> {
    let ([a, d], dut) = (bed.tester(), bed.dut().ports());
    let [there, back] = bed.dut().next_hops();
    let through = |incoming, outgoing| DutPorts { incoming, outgoing };
    let there = Way {
        from: a,
        next_hop: there,
        dut: dut.map(|[b, c]| through(b, c)),
        to: d,
    };
    let back = Way {
        from: d,
        next_hop: back,
        dut: dut.map(|[b, c]| through(c, b)),
        to: a,
    };
    if bidirectional {
        vec![there, back]
    } else {
        vec![there]
    }
}

/// Bit of the second direction's tag ids (`sender.h`).
pub(super) const WAY_BIT: u16 = 1 << 15;

/// The tag id of one direction's frames: each has its own, so that what a port sends back is foreign to the other.
pub fn way_id(id: u16, way: usize) -> u16 {
    if way == 1 { id | WAY_BIT } else { id }
}
