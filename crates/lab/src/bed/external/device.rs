//! The external device as it stands. Nothing is known of it but where frames have to go.

use super::Neighbours;
use crate::dut::Dut;

/// The device.
#[derive(Debug)]
pub struct Device {
    /// Its Ethernet addresses before the tester's first port and its second; zeros where no frame is sent.
    pub next_hops: [[u8; 6]; 2],
    /// They answer its questions for the tester's addresses.
    pub neighbours: Vec<Neighbours>,
}

impl Dut for Device {
    fn next_hops(&self) -> [[u8; 6]; 2] {
        self.next_hops
    }

    fn leave(&mut self) {
        self.neighbours.clear();
    }
}
