//! What is under test, behind one seam: the kernel's router in a namespace, or an external device between two ports.
//! The measuring code asks the [`Dut`], and never which of them it is. `bed` raises them, one file a kind.
//!
//! A DUT answers with `None` what only its owner knows.

mod cable;
mod front;
mod port;

pub use cable::Cable;
pub use front::{Front, VETH_RING};
pub use port::Port;

use mpps_linux::ipstat::IpCounts;
use mpps_linux::netns::NetNs;
use std::fmt::Debug;

/// What is under test.
pub trait Dut: Debug + Send + Sync {
    /// Where the tester's frames have to go: its Ethernet addresses before the tester's first port and before its second.
    fn next_hops(&self) -> [[u8; 6]; 2];

    /// Its two ports, before the tester's first and second, where their counters can be read and programs put on them. So
    /// a wire can be laid between them, and the receiver can stand at them.
    fn ports(&self) -> Option<[&Port; 2]> {
        None
    }

    /// Which part of the kernel receives at its ports.
    fn front(&self) -> Option<Front> {
        None
    }

    /// Frames that one of its receive rings holds.
    fn ring_frames(&self) -> Option<u32> {
        None
    }

    /// What its IP layer counted of a family.
    fn ip_counts(&self, _ipv6: bool) -> Result<Option<IpCounts>, mpps_linux::Error> {
        Ok(None)
    }

    /// The namespace of its FIB, its sockets and its programs.
    fn netns(&self) -> Option<&NetNs> {
        self.ports().map(|[port, _]| &*port.netns)
    }

    /// Whether its counters, rings and busy time can be read, and a wire be laid in its place.
    fn is_open(&self) -> bool {
        self.ports().is_some()
    }

    /// Ends what serves it while it stands. The bed's ports and namespaces go after that.
    fn leave(&mut self) {}
}
