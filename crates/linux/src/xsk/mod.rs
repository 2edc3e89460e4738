//! AF_XDP sockets (`Documentation/networking/af_xdp.rst`): whether one can be had.

mod memory;

use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

use crate::error::{Error, Result};
use crate::{links, netns, socket_option};
use memory::{CHUNK, CHUNKS, Memory};

/// Entries of each ring, a power of two.
const RING: u32 = CHUNKS as u32;

/// Binds an AF_XDP socket to queue 0 of a link of the calling thread's namespace and closes it again. In
/// copy mode, which every link with XDP has; without a copy only where its driver says so
/// ([`crate::xdp::features`]). Nothing is received or sent. The
/// kernel lets go of the queue a little later than this returns.
///
/// # Errors
/// A kernel without CONFIG_XDP_SOCKETS (EAFNOSUPPORT), no right (EPERM: CAP_NET_RAW), no such link (ENODEV), a
/// queue that has a socket (EBUSY), memory that may not be pinned (ENOBUFS: `ulimit -l`).
pub fn try_bind(link: &str) -> Result<()> {
    let object = format!("{link} queue 0{}", netns::place());
    let ifindex = links::index(link)?;
    let refused = |step: &str, number: i32| {
        let error = Error::from_errno(step, &*object, number);
        match error.errno() {
            Some(libc::EAFNOSUPPORT) => error.with_remedy("needs CONFIG_XDP_SOCKETS"),
            Some(libc::ENOBUFS) => error.with_remedy("raise `ulimit -l`"),
            _ => error,
        }
    };
    let fail = |step: &str| refused(step, nix::errno::Errno::last_raw());
    let memory = Memory::new()?;
    let socket = open().ok_or_else(|| fail("open AF_XDP socket on"))?;
    let umem = libc::xdp_umem_reg {
        addr: memory.address(),
        len: Memory::OCTETS as u64,
        chunk_size: CHUNK as u32,
        headroom: 0,
        flags: 0,
        tx_metadata_len: 0,
    };
    socket_option::set(&socket, libc::SOL_XDP, libc::XDP_UMEM_REG, &umem)
        .map_err(|number| refused("share memory with AF_XDP socket on", number))?;
    for ring in [
        libc::XDP_UMEM_FILL_RING,
        libc::XDP_UMEM_COMPLETION_RING,
        libc::XDP_RX_RING,
    ] {
        socket_option::set(&socket, libc::SOL_XDP, ring, &RING)
            .map_err(|number| refused("make ring of AF_XDP socket on", number))?;
    }
    let address = libc::sockaddr_xdp {
        sxdp_family: libc::AF_XDP as u16,
        sxdp_flags: libc::XDP_COPY,
        sxdp_ifindex: ifindex,
        sxdp_queue_id: 0,
        sxdp_shared_umem_fd: 0,
    };
    // SAFETY: `address` is a whole sockaddr_xdp, its length goes along, and it is only read.
    let rc = unsafe {
        libc::bind(
            socket.as_raw_fd(),
            (&raw const address).cast(),
            size_of_val(&address) as libc::socklen_t,
        )
    };
    if rc != 0 {
        return Err(fail("bind AF_XDP socket to"));
    }
    Ok(())
}

fn open() -> Option<OwnedFd> {
    // SAFETY: plain integers.
    let fd = unsafe { libc::socket(libc::AF_XDP, libc::SOCK_RAW | libc::SOCK_CLOEXEC, 0) };
    // SAFETY: the kernel just returned this descriptor and nobody else knows it.
    (fd >= 0).then(|| unsafe { OwnedFd::from_raw_fd(fd) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_that_is_not_there_is_named() {
        let error = try_bind("no-such-link").unwrap_err();
        assert!(
            error.is_missing() && error.to_string().contains("no-such-link"),
            "{error}"
        );
    }
}
