//! What is under test, behind one seam: the kernel's router in a namespace (`kernel`), or somebody else's device between
//! two real ports (`device`). Whoever measures asks the [`Dut`], and never which of them it is.
//!
//! A DUT answers with `None` what nobody but its owner knows.

mod cable;
mod device;
mod kernel;
mod port;

pub use cable::Cable;
pub use device::Device;
pub use kernel::{Front, KernelRouter, VETH_RING};
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
    fn ports(&self) -> Option<[&Port; 2]>;

    /// Which part of the kernel receives at its ports.
    fn front(&self) -> Option<Front>;

    /// Frames that one of its receive rings holds.
    fn ring_frames(&self) -> Option<u32>;

    /// What its IP layer counted of a family.
    ///
    /// # Errors
    /// What /proc said.
    fn ip_counts(&self, ipv6: bool) -> Result<Option<IpCounts>, mpps_linux::Error>;

    /// The namespace of its FIB, its sockets and its programs.
    fn netns(&self) -> Option<&NetNs> {
        self.ports().map(|[port, _]| &*port.netns)
    }
}

/// The kinds there are, for plans and records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DutKind {
    /// [`KernelRouter`].
    Kernel,
    /// [`Device`].
    Device,
}

impl DutKind {
    /// The bed's word in records: three network namespaces joined by veth, or real ports around a device.
    #[must_use]
    pub fn bed_name(self) -> &'static str {
        match self {
            Self::Kernel => "namespaces",
            Self::Device => "external",
        }
    }
}
