//! The port without BPF: packet sockets with rings. Sends and receives on any Ethernet link, and frames as
//! long as the link's MTU allows; slower than live frames.
//!
//! Same order, same outcome, same tag and same frames as the eBPF sender and receiver; what differs is who
//! writes them: a thread of ours on the tester's CPU, and the kernel takes them over slot by slot.

mod counter;
mod frames;
mod pace;
mod receiver;
mod sender;
mod tap;

pub use receiver::PacketReceiver;
pub use sender::{OnRefusal, PacketSender};
pub use tap::Tap;
