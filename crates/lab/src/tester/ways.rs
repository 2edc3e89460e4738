//! The ways of frames through the bed, by direction, and what tells the frames of one from the other's.

use crate::bed::Side;

/// The way of one direction through the bed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Way {
    /// Where the tester sends.
    pub from: Side,
    /// Where the DUT receives.
    pub dut_in: Side,
    /// Where the DUT transmits.
    pub dut_out: Side,
    /// Where the tester receives.
    pub to: Side,
}

/// The ways of this traffic, by direction.
#[must_use]
pub fn ways(bidirectional: bool) -> Vec<Way> {
    let there = Way {
        from: Side::A,
        dut_in: Side::B,
        dut_out: Side::C,
        to: Side::D,
    };
    let back = Way {
        from: Side::D,
        dut_in: Side::C,
        dut_out: Side::B,
        to: Side::A,
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
