//! The memory an AF_XDP socket puts frames into.

use std::ptr::NonNull;

use crate::error::{Error, Result};

/// Octets of one frame's place: a page everywhere we run.
pub(super) const CHUNK: usize = 4096;
/// Places.
pub(super) const CHUNKS: usize = 64;

/// Whole pages of this process, shared with the kernel. A mapping of their own and not the allocator's: the
/// kernel keeps them a while after the socket is closed, and what it writes then must not reach a next owner.
pub(super) struct Memory {
    start: NonNull<u8>,
}

impl Memory {
    pub(super) const OCTETS: usize = CHUNK * CHUNKS;

    pub(super) fn new() -> Result<Self> {
        // SAFETY: a new mapping at an address of the kernel's choice; nothing existing is replaced.
        let start = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                Self::OCTETS,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
                -1,
                0,
            )
        };
        if start == libc::MAP_FAILED {
            return Err(Error::last("map", "the memory of an AF_XDP socket"));
        }
        let null = || Error::from_text("map", "the memory of an AF_XDP socket", "at address 0");
        Ok(Self {
            start: NonNull::new(start.cast()).ok_or_else(null)?,
        })
    }

    pub(super) fn address(&self) -> u64 {
        self.start.as_ptr() as u64
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        // SAFETY: exactly what mmap returned, unmapped once; no reference into it is ever made.
        unsafe { libc::munmap(self.start.as_ptr().cast(), Self::OCTETS) };
    }
}
