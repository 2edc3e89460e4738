//! Counters of a link (`struct rtnl_link_stats64`, `include/uapi/linux/if_link.h`).

use netlink_packet_route::link::LinkAttribute;

use super::{fetch, object};
use crate::error::{Error, Result};

/// Frames and octets a link counted since it was made.
///
/// On a veth: `tx_packets` are frames handed to the peer, `tx_dropped` those the peer could not
/// take (its ring was full, it was down), `rx_dropped` those lost between ring and stack.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LinkStats {
    /// Frames received.
    pub rx_packets: u64,
    /// Frames transmitted.
    pub tx_packets: u64,
    /// Octets received.
    pub rx_bytes: u64,
    /// Octets transmitted.
    pub tx_bytes: u64,
    /// Frames received with an error.
    pub rx_errors: u64,
    /// Frames not transmitted because of an error.
    pub tx_errors: u64,
    /// Frames received and dropped.
    pub rx_dropped: u64,
    /// Frames dropped on their way to transmission.
    pub tx_dropped: u64,
    /// Multicast frames received.
    pub multicast: u64,
    /// Frames the device missed, of `rx_errors` not part.
    pub rx_missed_errors: u64,
    /// Frames dropped because the receiver's queue was full.
    pub rx_over_errors: u64,
    /// The same, in other drivers.
    pub rx_fifo_errors: u64,
    /// Frames dropped because nobody wanted them.
    pub rx_nohandler: u64,
}

/// The link's counters now.
///
/// # Errors
/// No such link (ENODEV).
pub fn stats(name: &str) -> Result<LinkStats> {
    fetch(name)?
        .attributes
        .iter()
        .find_map(|attribute| match attribute {
            LinkAttribute::Stats64(s) => Some(LinkStats {
                rx_packets: s.rx_packets,
                tx_packets: s.tx_packets,
                rx_bytes: s.rx_bytes,
                tx_bytes: s.tx_bytes,
                rx_errors: s.rx_errors,
                tx_errors: s.tx_errors,
                rx_dropped: s.rx_dropped,
                tx_dropped: s.tx_dropped,
                multicast: s.multicast,
                rx_missed_errors: s.rx_missed_errors,
                rx_over_errors: s.rx_over_errors,
                rx_fifo_errors: s.rx_fifo_errors,
                rx_nohandler: s.rx_nohandler,
            }),
            _ => None,
        })
        .ok_or_else(|| {
            Error::from_text(
                "read counters of link",
                object(name),
                "the kernel sent none",
            )
        })
}
