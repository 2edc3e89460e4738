//! Busy polling: a socket that has the NAPI behind it polled in the caller's own context, whenever asked
//! (`Documentation/networking/napi.rst`).
//!
//! A socket knows its NAPI by a frame that came to it through there. AF_XDP sockets learn it no more from a veth (Linux
//! 6.13 and newer), so this is a UDP socket, for which one frame must pass all of the kernel's way.

use std::net::{SocketAddr, UdpSocket};

use crate::error::{Error, Result};
use crate::socket_option;

/// Frames one call takes off the queue at most.
const BUDGET: libc::c_int = 256;
/// Any time but none: without it the socket never polls (`sk_can_busy_loop`). A call that does not block polls
/// once, however long this is.
const BUSY_POLL_US: libc::c_int = 1;
/// `MIN_NAPI_ID` cannot be seen from here; the kernel says 0 for a socket without a NAPI.
const NO_NAPI: libc::c_int = 0;

/// A UDP socket that polls.
pub struct Poller {
    socket: UdpSocket,
    address: SocketAddr,
}

impl Poller {
    /// Opens one at an address of the calling thread's namespace.
    ///
    /// # Errors
    /// No such address (EADDRNOTAVAIL), a port in use (EADDRINUSE), no right (EPERM: CAP_NET_ADMIN), a kernel without
    /// CONFIG_NET_RX_BUSY_POLL (ENOPROTOOPT).
    pub fn open(address: SocketAddr) -> Result<Self> {
        let fail =
            |e: &std::io::Error| Error::from_io("open polling socket", address.to_string(), e);
        let socket = UdpSocket::bind(address).map_err(|e| fail(&e))?;
        socket.set_nonblocking(true).map_err(|e| fail(&e))?;
        for (option, value) in [
            (libc::SO_BUSY_POLL, BUSY_POLL_US),
            (libc::SO_BUSY_POLL_BUDGET, BUDGET),
        ] {
            socket_option::set(&socket, libc::SOL_SOCKET, option, &value).map_err(|number| {
                Error::from_errno("open polling socket", address.to_string(), number)
                    .with_remedy("needs root and CONFIG_NET_RX_BUSY_POLL")
            })?;
        }
        Ok(Self { socket, address })
    }

    /// Whether a frame has come, by which the socket knows its NAPI.
    ///
    /// # Errors
    /// None in practice.
    pub fn knows_its_napi(&self) -> Result<bool> {
        let id = socket_option::number(&self.socket, libc::SOL_SOCKET, libc::SO_INCOMING_NAPI_ID);
        let id = id.map_err(|number| {
            let object = self.address.to_string();
            Error::from_errno("ask for the NAPI of polling socket", object, number)
        })?;
        Ok(id != NO_NAPI)
    }

    /// Has the NAPI polled once in the calling thread, unless somebody else just does. What came to the socket itself
    /// is thrown away.
    pub fn poll(&self) {
        // Nothing there, cut off, interrupted: all the same here.
        let _nothing_is_wanted = self.socket.recv(&mut [0; 4]);
    }
}
