//! AF_XDP sockets (`Documentation/networking/af_xdp.rst`): whether one can be had, and as a bell: a
//! program that redirects a frame to the socket wakes the socket's owner on the same CPU, without an interrupt.

mod memory;
mod ring;

use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

use crate::error::{Error, Result};
use crate::{links, netns, socket_option};
use memory::{CHUNK, CHUNKS, Memory};
use ring::Ring;

/// Entries of each ring, a power of two: as many as there are places.
const RING: u32 = CHUNKS as u32;
/// A socket at one queue of a link, in copy mode.
pub struct Socket {
    // Closed before its rings and its memory go.
    socket: OwnedFd,
    filled: Ring<u64>,
    received: Ring<libc::xdp_desc>,
    _memory: Memory,
    object: String,
}

impl Socket {
    /// Binds a socket to a queue of a link of the calling thread's namespace. In copy mode, which every link
    /// with XDP has.
    ///
    /// # Errors
    /// A kernel without CONFIG_XDP_SOCKETS (EAFNOSUPPORT), no right (EPERM: CAP_NET_RAW), no such link (ENODEV) or
    /// queue (EINVAL), a queue that has a socket (EBUSY), memory that may not be pinned (ENOBUFS: `ulimit -l`).
    pub fn bind(link: &str, queue: u32) -> Result<Self> {
        let object = format!("{link} queue {queue}{}", netns::place());
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
        let offsets =
            offsets(&socket).map_err(|()| fail("ask for the rings of AF_XDP socket on"))?;
        let fill_at = libc::XDP_UMEM_PGOFF_FILL_RING as libc::off_t;
        let filled = Ring::map(&socket, fill_at, offsets.fr, RING)?;
        let received = Ring::map(&socket, libc::XDP_PGOFF_RX_RING, offsets.rx, RING)?;
        let address = libc::sockaddr_xdp {
            sxdp_family: libc::AF_XDP as u16,
            sxdp_flags: libc::XDP_COPY,
            sxdp_ifindex: ifindex,
            sxdp_queue_id: queue,
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
        Ok(Self {
            socket,
            filled,
            received,
            _memory: memory,
            object,
        })
    }

    /// Lets frames in.
    pub fn fill(&mut self) {
        for place in 0..CHUNKS {
            self.filled.produce((place * CHUNK) as u64);
        }
    }

    /// Waits until a frame is there; false when none was in time, or a signal came.
    ///
    /// # Errors
    /// None in practice.
    pub fn wait(&self, timeout_ms: i32) -> Result<bool> {
        let mut asked = libc::pollfd {
            fd: self.socket.as_raw_fd(),
            events: libc::POLLIN,
            revents: 0,
        };
        // SAFETY: one pollfd that outlives the call.
        let ready = unsafe { libc::poll(&raw mut asked, 1, timeout_ms) };
        if ready >= 0 {
            return Ok(ready > 0);
        }
        let error = Error::last("wait for frames on AF_XDP socket on", &*self.object);
        match error.errno() {
            Some(libc::EINTR) => Ok(false),
            _ => Err(error),
        }
    }

    /// Throws away the frames that came and gives their places back; how many they were.
    pub fn take(&mut self) -> usize {
        let mut taken = 0;
        while let Some(frame) = self.received.consume() {
            // The frame begins behind a headroom of its place.
            self.filled.produce(frame.addr - frame.addr % CHUNK as u64);
            taken += 1;
        }
        taken
    }
}

impl AsFd for Socket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

/// Whether this kernel has AF_XDP sockets for us.
#[must_use]
pub fn can_open() -> bool {
    open().is_some()
}

fn open() -> Option<OwnedFd> {
    // SAFETY: plain integers.
    let fd = unsafe { libc::socket(libc::AF_XDP, libc::SOCK_RAW | libc::SOCK_CLOEXEC, 0) };
    // SAFETY: the kernel just returned this descriptor and nobody else knows it.
    (fd >= 0).then(|| unsafe { OwnedFd::from_raw_fd(fd) })
}

/// Binds an AF_XDP socket to queue 0 of a link of the calling thread's namespace and closes it again. In
/// copy mode, which every link with XDP has; without a copy only where its driver says so
/// ([`crate::xdp::features`]). Nothing is received or sent. The
/// kernel lets go of the queue a little later than this returns.
///
/// # Errors
/// As [`Socket::bind`].
pub fn try_bind(link: &str) -> Result<()> {
    Socket::bind(link, 0).map(drop)
}

fn offsets(socket: &OwnedFd) -> std::result::Result<libc::xdp_mmap_offsets, ()> {
    // SAFETY: integers only, for which zeros are a value.
    let mut offsets: libc::xdp_mmap_offsets = unsafe { std::mem::zeroed() };
    let mut length = size_of_val(&offsets) as libc::socklen_t;
    // SAFETY: `offsets` is writable for the length passed along.
    let rc = unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            libc::SOL_XDP,
            libc::XDP_MMAP_OFFSETS,
            (&raw mut offsets).cast(),
            &raw mut length,
        )
    };
    // Kernels before 5.4 know a shorter one.
    if rc == 0 && length as usize == size_of_val(&offsets) {
        Ok(offsets)
    } else {
        Err(())
    }
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
