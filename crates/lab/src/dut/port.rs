//! A port, and the namespace it is in.

use super::Cable;
use mpps_linux::links;
use mpps_linux::netns::NetNs;
use std::net::{Ipv4Addr, Ipv6Addr};
use std::sync::Arc;

/// A port as it stands.
#[derive(Clone, Debug)]
pub struct Port {
    /// Interface name: mA, mB, mC, mD, or the host's own name for it.
    pub name: String,
    /// Interface index in its namespace.
    pub ifindex: u32,
    /// MAC address.
    pub mac: [u8; 6],
    /// IPv4 address (RFC 2544 appendix C.2.2: 198.18.0.0/15). The tester's ports do not have theirs
    /// configured: nobody there shall answer.
    pub v4: Ipv4Addr,
    /// IPv6 address (RFC 5180 section 8: 2001:2::/48).
    pub v6: Ipv6Addr,
    /// Where it is.
    pub netns: Arc<NetNs>,
    /// What a port is that the tester adopted from the host; `None`: an end of a veth that mpps made.
    pub cable: Option<Cable>,
}

impl Port {
    /// Whether the host lends it to the tester.
    #[must_use]
    pub fn is_adopted(&self) -> bool {
        self.cable.is_some()
    }

    /// The kind of its queueing discipline, if it has one.
    ///
    /// # Errors
    /// What the kernel said of the port.
    pub fn queue(&self) -> mpps_linux::error::Result<Option<String>> {
        let link = self.netns.run(|| links::get(&self.name))??;
        Ok(link.qdisc.filter(|kind| kind != "noqueue"))
    }
}
