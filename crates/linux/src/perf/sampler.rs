//! Samples of everything that runs on one CPU, with the kernel's call chains.

use std::os::fd::{AsRawFd, OwnedFd};

use super::record::{SAMPLE_REGISTERS, SAMPLE_TYPE};
use super::ring::unread;
use super::{Attributes, PERF_COUNT_SW_CPU_CLOCK, PERF_TYPE_SOFTWARE, Switch};
use crate::error::{Error, Result};
use crate::mapping::Mapping;

pub(super) const PERF_TYPE_HARDWARE: u32 = 0;
pub(super) const PERF_COUNT_HW_CPU_CYCLES: u64 = 0;
/// Bits of the attribute's flags: no call chains of programs; times of the clock named in `clock`.
const EXCLUDE_CALLCHAIN_USER: u64 = 1 << 22;
const USE_CLOCKID: u64 = 1 << 25;
/// `data_head` and `data_tail` of `struct perf_event_mmap_page`, the ring's first page.
const HEAD: usize = 1024;
const TAIL: usize = 1032;

/// What decides when a sample is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SamplingClock {
    /// Cycles that the CPU was not halted, counted by its PMU. Where its interrupt is an NMI, code that runs with
    /// interrupts off is sampled too.
    Cycles,
    /// A high-resolution timer, in ns. Code that runs with interrupts off is sampled where it enables them again.
    Timer,
}

/// A CPU that is sampled while this is enabled. Dropping it ends that.
///
/// Idle time is sampled too, where the machine lets it: some virtual machines run no timer while the CPU is idle.
pub struct CpuSampler {
    event: OwnedFd,
    mapping: Mapping,
    page: usize,
    octets: usize,
    object: String,
}

impl CpuSampler {
    /// Opens an event that is not yet enabled, with a ring of `pages` pages, a power of two. A period is in units of the
    /// clock; the kernel raises periods of the timer below 10 000 ns to that.
    ///
    /// # Errors
    /// The CPU is offline or does not exist (ENODEV), there is no PMU (ENOENT, EOPNOTSUPP), no right (EACCES, EPERM), no
    /// memory (ENOMEM).
    pub fn open(cpu: usize, clock: SamplingClock, period: u64, pages: usize) -> Result<Self> {
        let object = format!("sampler of CPU {cpu}");
        let (kind, config) = match clock {
            SamplingClock::Cycles => (PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES),
            SamplingClock::Timer => (PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK),
        };
        // Not `exclude_idle`: with it, soft interrupts on top of the idle task would be left out too.
        let attributes = Attributes {
            kind,
            config,
            sample_period: period,
            sample_type: SAMPLE_TYPE,
            flags: EXCLUDE_CALLCHAIN_USER | USE_CLOCKID,
            clock: libc::CLOCK_MONOTONIC,
            sample_regs_intr: SAMPLE_REGISTERS,
            ..Attributes::default()
        };
        let event = super::open(attributes, cpu, &object)?;
        let page = nix::unistd::sysconf(nix::unistd::SysconfVar::PAGE_SIZE)
            .map_err(|e| Error::from_errno("ask for", "the size of a page", e as i32))?
            .and_then(|size| usize::try_from(size).ok())
            .unwrap_or(4096);
        let octets = pages * page;
        Ok(Self {
            mapping: Mapping::new(&event, page + octets)?,
            event,
            page,
            octets,
            object,
        })
    }

    /// Begins to sample; the first sample comes one period later.
    ///
    /// # Errors
    /// The CPU went offline.
    pub fn enable(&self) -> Result<()> {
        super::switch(&self.event, Switch::Enable, &self.object)
    }

    /// Ends it; what is in the ring stays there.
    ///
    /// # Errors
    /// As [`Self::enable`].
    pub fn disable(&self) -> Result<()> {
        super::switch(&self.event, Switch::Disable, &self.object)
    }

    /// Samples with this period from now on: the next sample comes one such period later.
    ///
    /// # Errors
    /// A period of 0 (EINVAL), or the CPU went offline.
    pub fn set_period(&self, period: u64) -> Result<()> {
        /// `PERF_EVENT_IOC_PERIOD`, `_IOW('$', 4, __u64)`.
        const PERIOD: libc::c_ulong = 0x4008_2404;
        // SAFETY: the kernel reads 8 octets at the pointer, which lives across the call.
        let rc = unsafe { libc::ioctl(self.event.as_raw_fd(), PERIOD as _, &raw const period) };
        if rc == 0 {
            return Ok(());
        }
        Err(Error::last("set the period of", &*self.object))
    }

    /// What the clock has counted while enabled: cycles, or ns.
    ///
    /// # Errors
    /// As [`Self::enable`].
    pub fn counted(&self) -> Result<u64> {
        super::counted(&self.event, &self.object)
    }

    /// Which share of the ring is unread.
    #[must_use]
    pub fn fill(&self) -> f64 {
        let unread = self
            .mapping
            .position(HEAD)
            .wrapping_sub(self.mapping.position(TAIL));
        unread as f64 / self.octets as f64
    }

    /// Moves at most so many octets from the ring to the end of `into`. A record may be cut there; its rest comes next time.
    ///
    /// # Errors
    /// The kernel says that it wrote more than the ring holds.
    pub fn drain(&mut self, at_most: usize, into: &mut Vec<u8>) -> Result<()> {
        let tail = self.mapping.position(TAIL);
        let head = self.mapping.position(HEAD);
        if unread(self.octets, tail, head).is_none() {
            let cause = format!(
                "read to {tail}, written to {head}, in {} octets",
                self.octets
            );
            return Err(Error::from_text("read the ring of", &*self.object, cause));
        }
        let head = head.min(tail.saturating_add(at_most as u64));
        for part in unread(self.octets, tail, head).into_iter().flatten() {
            into.extend_from_slice(self.mapping.octets(self.page + part.start, part.len()));
        }
        self.mapping.set_position(TAIL, head);
        Ok(())
    }
}
