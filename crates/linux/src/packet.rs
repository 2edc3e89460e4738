//! Packet sockets with rings shared with the kernel (`Documentation/networking/packet_mmap.rst`, packet(7)):
//! frames as octets to and from any Ethernet link, without BPF.
//!
//! Sockets belong to the namespace of the thread that opens them, and stay there. Lengths are octets from
//! the Ethernet header to the last octet of payload, without FCS.
//!
//! All memory that the kernel shares is reached through [`crate::mapping`]: one place that turns offsets into
//! slices and checks each against the ring's bounds. Who owns a slot or a block at a moment stands in its
//! status word, which is read with acquire and written with release order.

mod filter;
mod rx;
mod socket;
mod tx;

pub use filter::{Filter, Instruction};
pub use rx::{Arrival, RingCounts, RxRing, RxSpec, RxWaiter};
pub use socket::PacketSocket;
pub use tx::{FlushEnd, Flushed, TxRing, TxSpec};
