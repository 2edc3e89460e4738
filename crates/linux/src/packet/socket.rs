//! Opening packet sockets, their options, and one without a ring for a few frames.

use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

use super::filter::Filter;
use crate::error::{Error, Result};
use crate::links;
use crate::netns;
use crate::socket_option;

/// A packet socket of a link, for frames that come and go now and then.
#[derive(Debug)]
pub struct PacketSocket {
    socket: OwnedFd,
    link: String,
}

impl PacketSocket {
    /// Opens a socket that gets what the filter lets through of the frames that arrive at the link, and
    /// joins these multicast groups (Ethernet addresses) for as long as it lives.
    ///
    /// # Errors
    /// No such link (ENODEV), no right (EPERM: CAP_NET_RAW).
    pub fn open(link: &str, filter: &Filter, groups: &[[u8; 6]]) -> Result<Self> {
        let index = links::index(link)?;
        let socket = open(link)?;
        filter.attach(&socket)?;
        set(&socket, libc::PACKET_IGNORE_OUTGOING, 1, link)?;
        for group in groups {
            join(&socket, index, *group, link)?;
        }
        bind(&socket, index, libc::ETH_P_ALL as u16, link)?;
        Ok(Self {
            socket,
            link: link.to_owned(),
        })
    }

    /// Sends a whole frame.
    ///
    /// # Errors
    /// The link is down (ENETDOWN), gone (ENXIO), or takes no more now (ENOBUFS).
    pub fn send(&self, frame: &[u8]) -> Result<()> {
        // SAFETY: the kernel reads `frame.len()` octets that outlive the call.
        let sent = unsafe {
            libc::send(
                self.socket.as_raw_fd(),
                frame.as_ptr().cast(),
                frame.len(),
                0,
            )
        };
        if sent < 0 {
            return Err(Error::last("send a frame on", object(&self.link)));
        }
        Ok(())
    }

    /// Waits for a frame; `None` when none came in time or a signal did. What is longer than `room` is cut.
    ///
    /// # Errors
    /// The link is down or gone (ENETDOWN).
    pub fn receive<'a>(&self, room: &'a mut [u8], timeout_ms: i32) -> Result<Option<&'a [u8]>> {
        if !wait(&self.socket, timeout_ms, &self.link)? {
            return Ok(None);
        }
        // SAFETY: the kernel writes at most `room.len()` octets into memory that outlives the call.
        let got = unsafe {
            libc::recv(
                self.socket.as_raw_fd(),
                room.as_mut_ptr().cast(),
                room.len(),
                libc::MSG_DONTWAIT,
            )
        };
        match usize::try_from(got) {
            Ok(got) => Ok(Some(&room[..got.min(room.len())])),
            Err(_) => match nix::errno::Errno::last_raw() {
                libc::EAGAIN | libc::EINTR => Ok(None),
                number => Err(Error::from_errno(
                    "receive a frame on",
                    object(&self.link),
                    number,
                )),
            },
        }
    }
}

/// "eth1 in netns NS", for error messages.
pub(super) fn object(link: &str) -> String {
    format!("{link}{}", netns::place())
}

/// A packet socket that receives nothing until it is bound.
pub(super) fn open(link: &str) -> Result<OwnedFd> {
    // SAFETY: plain integers.
    let fd = unsafe { libc::socket(libc::AF_PACKET, libc::SOCK_RAW | libc::SOCK_CLOEXEC, 0) };
    if fd < 0 {
        return Err(Error::last("open a packet socket for", object(link))
            .with_remedy("needs CAP_NET_RAW; run as root"));
    }
    // SAFETY: the kernel just returned this descriptor and nobody else knows it.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// Ties the socket to a link; with protocol 0 it sends only.
pub(super) fn bind(socket: &OwnedFd, index: u32, protocol: u16, link: &str) -> Result<()> {
    let address = libc::sockaddr_ll {
        sll_family: libc::AF_PACKET as u16,
        sll_protocol: protocol.to_be(),
        sll_ifindex: index.cast_signed(),
        sll_hatype: 0,
        sll_pkttype: 0,
        sll_halen: 0,
        sll_addr: [0; 8],
    };
    // SAFETY: `address` is a whole sockaddr_ll of the length given.
    let result = unsafe {
        libc::bind(
            socket.as_raw_fd(),
            (&raw const address).cast(),
            size_of::<libc::sockaddr_ll>() as libc::socklen_t,
        )
    };
    if result == 0 {
        return Ok(());
    }
    Err(Error::last("bind a packet socket to", object(link)))
}

/// Sets an option of level SOL_PACKET to a number.
pub(super) fn set(
    socket: &OwnedFd,
    option: libc::c_int,
    value: libc::c_int,
    link: &str,
) -> Result<()> {
    socket_option::set(socket, libc::SOL_PACKET, option, &value).map_err(|number| {
        Error::from_errno(
            format!("set packet option {option} of"),
            object(link),
            number,
        )
    })
}

fn join(socket: &OwnedFd, index: u32, group: [u8; 6], link: &str) -> Result<()> {
    let mut address = [0; 8];
    address[..6].copy_from_slice(&group);
    let request = libc::packet_mreq {
        mr_ifindex: index.cast_signed(),
        mr_type: libc::PACKET_MR_MULTICAST as u16,
        mr_alen: 6,
        mr_address: address,
    };
    socket_option::set(
        socket,
        libc::SOL_PACKET,
        libc::PACKET_ADD_MEMBERSHIP,
        &request,
    )
    .map_err(|number| Error::from_errno("join a multicast group on", object(link), number))
}

/// Waits until there is something to read; false when nothing came in time, or a signal did. A socket
/// whose link went down or away says so once, as an error.
pub(super) fn wait(socket: &OwnedFd, timeout_ms: i32, link: &str) -> Result<bool> {
    let mut asked = libc::pollfd {
        fd: socket.as_raw_fd(),
        events: libc::POLLIN,
        revents: 0,
    };
    // SAFETY: one pollfd that outlives the call.
    let ready = unsafe { libc::poll(&raw mut asked, 1, timeout_ms) };
    if ready < 0 {
        return match nix::errno::Errno::last_raw() {
            libc::EINTR => Ok(false),
            number => Err(Error::from_errno(
                "wait for frames on",
                object(link),
                number,
            )),
        };
    }
    if ready > 0 && asked.revents & libc::POLLIN == 0 {
        // Only an error is there: left where it is, every later wait would return at once.
        return Err(Error::from_errno(
            "receive on",
            object(link),
            pending_error(socket),
        ));
    }
    Ok(ready > 0)
}

/// Reads and clears the socket's pending error number.
fn pending_error(socket: &OwnedFd) -> i32 {
    match socket_option::number(socket, libc::SOL_SOCKET, libc::SO_ERROR) {
        Ok(number) if number != 0 => number,
        _ => libc::EIO,
    }
}
