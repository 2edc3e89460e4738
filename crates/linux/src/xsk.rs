//! AF_XDP sockets: whether one can be had (`Documentation/networking/af_xdp.rst`).

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::ptr::NonNull;

use crate::error::{Error, Result};
use crate::{links, netns};

/// Octets of one frame's place in the shared memory; a page everywhere we run.
const CHUNK: usize = 4096;
/// Places.
const CHUNKS: usize = 64;
/// Entries of each ring, a power of two.
const RING: u32 = 64;

/// Memory that a socket shares with the kernel, whole pages.
struct Shared {
    start: NonNull<u8>,
    layout: Layout,
}

impl Shared {
    fn new() -> Option<Self> {
        let layout = Layout::from_size_align(CHUNK * CHUNKS, CHUNK).ok()?;
        // SAFETY: the layout's size is not zero.
        let start = NonNull::new(unsafe { alloc_zeroed(layout) })?;
        Some(Self { start, layout })
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        // SAFETY: allocated with this layout, freed once. The socket is closed; until the kernel unpins the
        // pages it could only write to places named in the fill ring, and none ever was.
        unsafe { dealloc(self.start.as_ptr(), self.layout) };
    }
}

/// Binds an AF_XDP socket to queue 0 of a link of the calling thread's namespace and closes it again. In
/// copy mode, which every link with XDP has; without a copy only where its driver says so
/// ([`crate::xdp::features`]). Nothing is received or sent. The
/// kernel lets go of the queue a little later than this returns.
///
/// # Errors
/// A kernel without CONFIG_XDP_SOCKETS (EAFNOSUPPORT), no right (EPERM: CAP_NET_RAW), no such link (ENODEV),
/// memory that may not be pinned (ENOBUFS: `ulimit -l`).
pub fn try_bind(link: &str) -> Result<()> {
    let object = format!("{link}{}", netns::place());
    let ifindex = links::index(link)?;
    let memory = Shared::new().ok_or_else(|| {
        Error::from_errno("share memory with AF_XDP socket on", &*object, libc::ENOMEM)
    })?;
    let fail = |step: &str| {
        let error = Error::last(step, &*object);
        match error.errno() {
            Some(libc::EAFNOSUPPORT) => error.with_remedy("needs CONFIG_XDP_SOCKETS"),
            Some(libc::ENOBUFS) => error.with_remedy("raise `ulimit -l`"),
            _ => error,
        }
    };
    // SAFETY: plain integers.
    let fd = unsafe { libc::socket(libc::AF_XDP, libc::SOCK_RAW | libc::SOCK_CLOEXEC, 0) };
    if fd < 0 {
        return Err(fail("open AF_XDP socket on"));
    }
    // SAFETY: the kernel just returned this descriptor and nobody else knows it. Declared after the memory,
    // so closed before it is freed.
    let socket = unsafe { OwnedFd::from_raw_fd(fd) };
    let umem = libc::xdp_umem_reg {
        addr: memory.start.as_ptr() as u64,
        len: memory.layout.size() as u64,
        chunk_size: CHUNK as u32,
        headroom: 0,
        flags: 0,
        tx_metadata_len: 0,
    };
    set(&socket, libc::XDP_UMEM_REG, &umem)
        .map_err(|()| fail("share memory with AF_XDP socket on"))?;
    for ring in [
        libc::XDP_UMEM_FILL_RING,
        libc::XDP_UMEM_COMPLETION_RING,
        libc::XDP_RX_RING,
        libc::XDP_TX_RING,
    ] {
        set(&socket, ring, &RING).map_err(|()| fail("make ring of AF_XDP socket on"))?;
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
    if rc == 0 {
        Ok(())
    } else {
        Err(fail("bind AF_XDP socket to"))
    }
}

fn set<T>(socket: &OwnedFd, option: libc::c_int, value: &T) -> std::result::Result<(), ()> {
    // SAFETY: `value` is a live value of the length passed along, and is only read; the pages it names live
    // longer than the socket.
    let rc = unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            libc::SOL_XDP,
            option,
            std::ptr::from_ref(value).cast(),
            size_of::<T>() as libc::socklen_t,
        )
    };
    if rc == 0 { Ok(()) } else { Err(()) }
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
