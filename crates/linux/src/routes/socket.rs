//! A netlink socket with room for the answers to a batch.

use netlink_sys::Socket;
use netlink_sys::protocols::NETLINK_ROUTE;

use super::request::NLMSG_HEADER;
use crate::error::{Error, Result};
use crate::netns;

/// Answers of one batch that may wait, octets of kernel memory as the kernel counts them. Most systems
/// grant less (net.core.rmem_max, twice); a batch is so small that all its answers fit that too.
const RECEIVE_ROOM: usize = 1 << 20;
/// Larger than any datagram: a dump comes in datagrams of up to 32 KiB (net/netlink/af_netlink.c).
const DATAGRAM_MAX: usize = 64 << 10;

/// One message out of a datagram.
pub(super) struct Message<'a> {
    pub(super) kind: u16,
    pub(super) flags: u16,
    pub(super) sequence: u32,
    pub(super) body: &'a [u8],
}

pub(super) struct RouteSocket {
    socket: Socket,
    datagram: Vec<u8>,
}

impl RouteSocket {
    pub(super) fn open() -> Result<Self> {
        let fail = |e: &std::io::Error| {
            Error::from_io("open", format!("route socket{}", netns::place()), e)
        };
        let mut socket = Socket::new(NETLINK_ROUTE).map_err(|e| fail(&e))?;
        socket.bind_auto().map_err(|e| fail(&e))?;
        // Explanations in words, without our request quoted back, and dumps filtered by the kernel.
        socket.set_ext_ack(true).map_err(|e| fail(&e))?;
        socket.set_cap_ack(true).map_err(|e| fail(&e))?;
        // Linux 4.20; before it a dump is filtered by us alone.
        let _unfiltered = socket.set_netlink_get_strict_chk(true);
        socket.set_rx_buf_sz(RECEIVE_ROOM).map_err(|e| fail(&e))?;
        Ok(Self {
            socket,
            datagram: vec![0; DATAGRAM_MAX],
        })
    }

    /// Hands octets to the kernel, which has handled them when this returns.
    pub(super) fn send(&self, messages: &[u8]) -> Result<()> {
        let kernel = netlink_sys::SocketAddr::new(0, 0);
        self.socket
            .send_to(messages, &kernel, 0)
            .map(drop)
            .map_err(|e| Error::from_io("send to", object(), &e))
    }

    /// Waits for a datagram and gives each message in it to `each`; `false` from it ends the reading.
    /// Whether it was ended so.
    pub(super) fn receive(&mut self, mut each: impl FnMut(&Message<'_>) -> bool) -> Result<bool> {
        let mut room: &mut [u8] = &mut self.datagram;
        let length = loop {
            match self.socket.recv(&mut room, 0) {
                Err(e) if e.kind() == std::io::ErrorKind::Interrupted => {}
                other => break other.map_err(|e| Error::from_io("receive from", object(), &e))?,
            }
        };
        let mut rest = self.datagram.get(..length).unwrap_or(&[]);
        while let Some((message, tail)) = split(rest) {
            if !each(&message) {
                return Ok(true);
            }
            rest = tail;
        }
        Ok(false)
    }
}

fn object() -> String {
    format!("the kernel's routing{}", netns::place())
}

/// The first message and what is behind it; `None` at the end.
fn split(rest: &[u8]) -> Option<(Message<'_>, &[u8])> {
    let word = |at: usize| {
        rest.get(at..at + 4)?
            .try_into()
            .ok()
            .map(u32::from_ne_bytes)
    };
    let half = |at: usize| {
        rest.get(at..at + 2)?
            .try_into()
            .ok()
            .map(u16::from_ne_bytes)
    };
    let length = usize::try_from(word(0)?).ok()?;
    let message = Message {
        kind: half(4)?,
        flags: half(6)?,
        sequence: word(8)?,
        body: rest.get(NLMSG_HEADER..length)?,
    };
    let tail = rest.get(length.next_multiple_of(4)..).unwrap_or(&[]);
    Some((message, tail))
}
