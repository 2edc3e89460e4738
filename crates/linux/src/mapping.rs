//! The memory of a ring, shared with the kernel. The only place that makes references into it.

use std::os::fd::{AsRawFd, OwnedFd};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use crate::error::{Error, Result};

/// A mapped ring; unmapped when dropped. Every access is checked against its length.
pub(crate) struct Mapping {
    start: NonNull<u8>,
    octets: usize,
}

// SAFETY: the mapping is plain memory of this process; nothing in it belongs to a thread.
unsafe impl Send for Mapping {}

impl Mapping {
    /// Maps the ring of a packet socket or of a perf event, of the length that it takes.
    pub(crate) fn new(ring: &OwnedFd, octets: usize) -> Result<Self> {
        // SAFETY: a new mapping at an address of the kernel's choice; nothing existing is replaced.
        let start = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                octets,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_SHARED,
                ring.as_raw_fd(),
                0,
            )
        };
        if start == libc::MAP_FAILED {
            return Err(Error::last("map", format!("a ring of {octets} octets")));
        }
        let null = || Error::from_text("map", "a ring", "at address 0");
        let start = NonNull::new(start.cast::<u8>()).ok_or_else(null)?;
        Ok(Self { start, octets })
    }

    /// The status word at this offset, a multiple of 4.
    ///
    /// # Panics
    /// Beyond the ring, or not aligned: a fault of this module.
    fn word(&self, offset: usize) -> &AtomicU32 {
        assert!(offset.is_multiple_of(4) && offset + 4 <= self.octets);
        // SAFETY: inside the mapping (checked), aligned (it begins at a page), and only ever accessed
        // as an atomic, by us and by the kernel.
        unsafe { AtomicU32::from_ptr(self.start.as_ptr().add(offset).cast()) }
    }

    /// Reads a status word; what its writer wrote before it is visible afterwards.
    pub(crate) fn status(&self, offset: usize) -> u32 {
        self.word(offset).load(Ordering::Acquire)
    }

    /// Writes a status word; what we wrote before it is visible to whoever reads it.
    pub(crate) fn set_status(&self, offset: usize, status: u32) {
        self.word(offset).store(status, Ordering::Release);
    }

    fn counter(&self, offset: usize) -> &AtomicU64 {
        assert!(offset.is_multiple_of(8) && offset + 8 <= self.octets);
        // SAFETY: as `word`, of 8 octets.
        unsafe { AtomicU64::from_ptr(self.start.as_ptr().add(offset).cast()) }
    }

    /// Reads how far its writer came; what it wrote before is visible afterwards.
    ///
    /// # Panics
    /// Beyond the ring, or not aligned: a fault of the caller.
    pub(crate) fn position(&self, offset: usize) -> u64 {
        self.counter(offset).load(Ordering::Acquire)
    }

    /// Tells how far we read; the kernel may write over it from now on.
    ///
    /// # Panics
    /// As [`Self::position`].
    pub(crate) fn set_position(&self, offset: usize, position: u64) {
        self.counter(offset).store(position, Ordering::Release);
    }

    /// Reads a header the kernel wrote.
    ///
    /// # Panics
    /// Beyond the ring: the caller has checked what the kernel said.
    pub(crate) fn read<T: KernelHeader>(&self, offset: usize) -> T {
        assert!(offset + size_of::<T>() <= self.octets);
        // SAFETY: inside the mapping (checked); every bit pattern is a value of the header (its trait
        // says so); unaligned reads are allowed here.
        unsafe { self.start.as_ptr().add(offset).cast::<T>().read_unaligned() }
    }

    /// Writes a header for the kernel to read.
    ///
    /// # Panics
    /// As [`Self::read`].
    pub(crate) fn write<T: KernelHeader>(&mut self, offset: usize, header: T) {
        assert!(offset + size_of::<T>() <= self.octets);
        // SAFETY: inside the mapping (checked), exclusively ours (`&mut self`, and the slot's status).
        unsafe {
            self.start
                .as_ptr()
                .add(offset)
                .cast::<T>()
                .write_unaligned(header);
        }
    }

    /// Octets of a part of the ring that is ours by its status.
    ///
    /// # Panics
    /// As [`Self::read`].
    pub(crate) fn octets(&self, offset: usize, length: usize) -> &[u8] {
        assert!(offset + length <= self.octets);
        // SAFETY: inside the mapping (checked); mapped memory is initialised; the kernel does not write
        // a part whose status says it is ours.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr().add(offset), length) }
    }

    /// The same, to write.
    ///
    /// # Panics
    /// As [`Self::read`].
    pub(crate) fn octets_mut(&mut self, offset: usize, length: usize) -> &mut [u8] {
        assert!(offset + length <= self.octets);
        // SAFETY: as `octets`; exclusive by `&mut self`.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr().add(offset), length) }
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: exactly what mmap returned, unmapped once; no reference outlives `self`.
        unsafe { libc::munmap(self.start.as_ptr().cast(), self.octets) };
    }
}

/// A header of `linux/if_packet.h`.
///
/// # Safety
/// Every bit pattern must be a value of the type, and the type must be without references.
pub(crate) unsafe trait KernelHeader: Copy {}

// SAFETY: integers only.
unsafe impl KernelHeader for libc::tpacket2_hdr {}
// SAFETY: integers only.
unsafe impl KernelHeader for libc::tpacket3_hdr {}
// SAFETY: integers only.
unsafe impl KernelHeader for libc::tpacket_hdr_v1 {}

const _: () = assert!(size_of::<libc::tpacket2_hdr>() == 32);
const _: () = assert!(size_of::<libc::tpacket3_hdr>() == 48);
const _: () = assert!(size_of::<libc::tpacket_hdr_v1>() == 40);
