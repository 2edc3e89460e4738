//! The rings an AF_XDP socket shares with its owner. The only place that makes references into them.

use std::os::fd::{AsRawFd, OwnedFd};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::error::{Error, Result};

/// What lies in a ring.
///
/// # Safety
/// Every bit pattern must be a value of the type, and the type must be without references.
pub(super) unsafe trait Entry: Copy {}

// SAFETY: an integer (the fill ring's: where in the shared memory a place begins).
unsafe impl Entry for u64 {}
// SAFETY: integers only.
unsafe impl Entry for libc::xdp_desc {}

const _: () = assert!(size_of::<libc::xdp_desc>() == 16);

/// One mapped ring of `entries`, a power of two; unmapped when dropped.
pub(super) struct Ring<T> {
    start: NonNull<u8>,
    octets: usize,
    at: libc::xdp_ring_offset,
    entries: u32,
    of: std::marker::PhantomData<T>,
}

// SAFETY: the mapping is plain memory of this process; nothing in it belongs to a thread.
unsafe impl<T: Entry> Send for Ring<T> {}

impl<T: Entry> Ring<T> {
    /// Maps the ring that is `page_offset` into the socket; its parts lie where the kernel said (`at`).
    pub(super) fn map(
        socket: &OwnedFd,
        page_offset: libc::off_t,
        at: libc::xdp_ring_offset,
        entries: u32,
    ) -> Result<Self> {
        let octets = at.desc as usize + entries as usize * size_of::<T>();
        // SAFETY: a new mapping at an address of the kernel's choice; nothing existing is replaced.
        let start = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                octets,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_SHARED | libc::MAP_POPULATE,
                socket.as_raw_fd(),
                page_offset,
            )
        };
        if start == libc::MAP_FAILED {
            return Err(Error::last("map", "a ring of an AF_XDP socket"));
        }
        let null = || Error::from_text("map", "a ring of an AF_XDP socket", "at address 0");
        Ok(Self {
            start: NonNull::new(start.cast()).ok_or_else(null)?,
            octets,
            at,
            entries,
            of: std::marker::PhantomData,
        })
    }

    /// # Panics
    /// Beyond the ring, or not aligned: the kernel's offsets are not what its header says.
    fn word(&self, offset: u64) -> &AtomicU32 {
        let offset = offset as usize;
        assert!(offset.is_multiple_of(4) && offset + 4 <= self.octets);
        // SAFETY: inside the mapping (checked), aligned (it begins at a page), and only ever accessed as an
        // atomic, by us and by the kernel.
        unsafe { AtomicU32::from_ptr(self.start.as_ptr().add(offset).cast()) }
    }

    /// The place of an entry, whatever its number is: the ring goes round.
    fn entry(&self, number: u32) -> *mut T {
        let place = (number & (self.entries - 1)) as usize;
        // SAFETY: below `entries`, so inside the mapping, whose length was made of just these.
        unsafe {
            self.start
                .as_ptr()
                .add(self.at.desc as usize + place * size_of::<T>())
                .cast()
        }
    }

    /// Gives the kernel one more entry; false where the ring is full.
    pub(super) fn produce(&mut self, entry: T) -> bool {
        let producer = self.word(self.at.producer).load(Ordering::Relaxed);
        let consumer = self.word(self.at.consumer).load(Ordering::Acquire);
        if producer.wrapping_sub(consumer) >= self.entries {
            return false;
        }
        // SAFETY: a place inside the mapping that the kernel does not read before the producer has passed it.
        unsafe { self.entry(producer).write_unaligned(entry) };
        let after = producer.wrapping_add(1);
        self.word(self.at.producer).store(after, Ordering::Release);
        true
    }

    /// Takes the oldest entry of the kernel's, if there is one.
    pub(super) fn consume(&mut self) -> Option<T> {
        let consumer = self.word(self.at.consumer).load(Ordering::Relaxed);
        let producer = self.word(self.at.producer).load(Ordering::Acquire);
        if producer == consumer {
            return None;
        }
        // SAFETY: a place inside the mapping that the kernel has written and leaves alone until the consumer
        // has passed it; every bit pattern is a value (the trait says so).
        let entry = unsafe { self.entry(consumer).read_unaligned() };
        let after = consumer.wrapping_add(1);
        self.word(self.at.consumer).store(after, Ordering::Release);
        Some(entry)
    }
}

impl<T> Drop for Ring<T> {
    fn drop(&mut self) {
        // SAFETY: exactly what mmap returned, unmapped once; no reference outlives `self`.
        unsafe { libc::munmap(self.start.as_ptr().cast(), self.octets) };
    }
}
