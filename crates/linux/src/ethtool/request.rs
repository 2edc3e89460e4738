//! One `SIOCETHTOOL` request: a buffer of known length and the ioctl.

use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

use crate::error::{Error, Result};

const SIOCETHTOOL: libc::c_ulong = 0x8946;

/// Octets the kernel may write beyond the length asked for. It writes as many names and counters as
/// the driver has *now*; a link that grew queues since we counted would otherwise overrun the
/// buffer. Enough for 4096 more counters of 8 octets or 1024 more names of 32.
const SLACK: usize = 32 * 1024;

/// A request and its answer, zeroed and aligned to 8 octets as the widest of these structures.
pub(super) struct Buffer {
    words: Vec<u64>,
}

impl Buffer {
    /// A buffer of this length in octets (plus slack), beginning with the command.
    pub(super) fn new(command: u32, len: usize) -> Self {
        let mut buffer = Self {
            words: vec![0; (len + SLACK).div_ceil(8)],
        };
        buffer.set_u32(0, command);
        buffer
    }

    /// The native 32-bit word at this offset in octets, a multiple of 4.
    pub(super) fn u32_at(&self, offset: usize) -> u32 {
        let octets = self.words[offset / 8].to_ne_bytes();
        let at = offset % 8;
        u32::from_ne_bytes([octets[at], octets[at + 1], octets[at + 2], octets[at + 3]])
    }

    /// Sets the native 32-bit word at this offset, a multiple of 4.
    pub(super) fn set_u32(&mut self, offset: usize, value: u32) {
        let word = &mut self.words[offset / 8];
        let mut octets = word.to_ne_bytes();
        octets[offset % 8..offset % 8 + 4].copy_from_slice(&value.to_ne_bytes());
        *word = u64::from_ne_bytes(octets);
    }

    /// The native 64-bit word at this offset, a multiple of 8.
    pub(super) fn u64_at(&self, offset: usize) -> u64 {
        self.words[offset / 8]
    }

    /// Sets the native 64-bit word at this offset, a multiple of 8.
    pub(super) fn set_u64(&mut self, offset: usize, value: u64) {
        self.words[offset / 8] = value;
    }

    /// Octets at any offset.
    pub(super) fn octets(&self, offset: usize, len: usize) -> &[u8] {
        // SAFETY: the words are initialised memory of 8 octets each, and any octet is a valid u8.
        let all = unsafe {
            std::slice::from_raw_parts(self.words.as_ptr().cast::<u8>(), self.words.len() * 8)
        };
        &all[offset..offset + len]
    }
}

/// A socket of the calling thread's namespace to ask through.
pub(super) struct Control {
    socket: OwnedFd,
}

impl Control {
    pub(super) fn open() -> Result<Self> {
        // SAFETY: plain integers.
        let fd = unsafe { libc::socket(libc::AF_INET, libc::SOCK_DGRAM | libc::SOCK_CLOEXEC, 0) };
        if fd < 0 {
            return Err(Error::last("open", "socket for ethtool requests"));
        }
        // SAFETY: the kernel just returned this descriptor and nobody else knows it.
        let socket = unsafe { OwnedFd::from_raw_fd(fd) };
        Ok(Self { socket })
    }

    /// Asks; the ioctl's result (0, or flags of a partial success), or the error number.
    pub(super) fn ask(
        &self,
        link: &str,
        request: &mut Buffer,
    ) -> std::result::Result<libc::c_int, i32> {
        let mut ifreq = libc::ifreq {
            ifr_name: [0; libc::IFNAMSIZ],
            ifr_ifru: libc::__c_anonymous_ifr_ifru {
                ifru_data: request.words.as_mut_ptr().cast(),
            },
        };
        // The name needs its final zero.
        if link.len() >= libc::IFNAMSIZ {
            return Err(libc::ENODEV);
        }
        for (to, from) in ifreq.ifr_name.iter_mut().zip(link.bytes()) {
            *to = from as libc::c_char;
        }
        // SAFETY: `ifreq` names a NUL-terminated link and points to a buffer that lives across the
        // call, is aligned, and is longer than what the command in it makes the kernel write.
        let rc = unsafe { libc::ioctl(self.socket.as_raw_fd(), SIOCETHTOOL as _, &raw mut ifreq) };
        if rc < 0 {
            Err(nix::errno::Errno::last_raw())
        } else {
            Ok(rc)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_land_where_the_kernels_structures_have_them() {
        let mut buffer = Buffer::new(0x1d, 24);
        buffer.set_u32(4, 7);
        buffer.set_u64(8, 1 << 40);
        assert_eq!(buffer.u32_at(0), 0x1d);
        assert_eq!(buffer.u32_at(4), 7);
        assert_eq!(buffer.u64_at(8), 1 << 40);
        assert_eq!(buffer.octets(4, 4), 7u32.to_ne_bytes());
    }
}
