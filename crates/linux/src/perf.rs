//! Perf events: a clock to hang eBPF programs on.

use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

use crate::error::{Error, Result};

const PERF_TYPE_SOFTWARE: u32 = 1;
const PERF_COUNT_SW_CPU_CLOCK: u64 = 0;
const PERF_FLAG_FD_CLOEXEC: libc::c_ulong = 8;
/// Bit 0 of the attribute's flags: do not count before being enabled.
const DISABLED: u64 = 1;

/// The part of `struct perf_event_attr` that every kernel knows (`PERF_ATTR_SIZE_VER0`,
/// `include/uapi/linux/perf_event.h`).
#[repr(C)]
#[derive(Default)]
struct Attributes {
    kind: u32,
    size: u32,
    config: u64,
    sample_period: u64,
    sample_type: u64,
    read_format: u64,
    flags: u64,
    wakeup_events: u32,
    bp_type: u32,
    bp_addr: u64,
}
const _: () = assert!(size_of::<Attributes>() == 64);

/// A clock that ticks on one CPU whatever runs there, idle included (`PERF_COUNT_SW_CPU_CLOCK`,
/// a high-resolution timer). Made silent: it ticks when an eBPF program is attached and the event
/// enabled (libbpf's `attach_perf_event` does both). Dropping it stops it.
#[derive(Debug)]
pub struct CpuClock {
    fd: OwnedFd,
}

impl CpuClock {
    /// Opens a clock on this CPU that ticks each `period_ns` nanoseconds; the kernel raises periods
    /// below 10 000 to that (`kernel/events/core.c`, `perf_swevent_start_hrtimer`).
    ///
    /// # Errors
    /// The CPU is offline or does not exist (ENODEV, EINVAL), no right (EACCES, EPERM).
    pub fn open(cpu: usize, period_ns: u64) -> Result<Self> {
        let attributes = Attributes {
            kind: PERF_TYPE_SOFTWARE,
            size: size_of::<Attributes>() as u32,
            config: PERF_COUNT_SW_CPU_CLOCK,
            sample_period: period_ns,
            flags: DISABLED,
            ..Attributes::default()
        };
        let object = format!("clock of {period_ns} ns on CPU {cpu}");
        let number = libc::c_int::try_from(cpu)
            .map_err(|_| Error::from_errno("open perf event", &*object, libc::ENODEV))?;
        const EVERY_TASK: libc::pid_t = -1;
        let fd = open(&attributes, EVERY_TASK, number, &object)?;
        Ok(Self { fd })
    }

    /// Time this clock has counted, nanoseconds; 0 until it is enabled.
    ///
    /// # Errors
    /// The CPU went offline.
    pub fn counted_ns(&self) -> Result<u64> {
        let mut bytes = [0; 8];
        nix::unistd::read(&self.fd, &mut bytes)
            .map_err(|e| Error::from_errno("read", "perf clock", e as i32))?;
        Ok(u64::from_ne_bytes(bytes))
    }

    /// Starts the clock, for users without libbpf.
    ///
    /// # Errors
    /// None known for an open event.
    pub fn enable(&self) -> Result<()> {
        /// `PERF_EVENT_IOC_ENABLE`, `_IO('$', 0)`.
        const ENABLE: libc::c_ulong = 0x2400;
        // SAFETY: this request takes no pointer.
        let rc = unsafe { libc::ioctl(self.fd.as_raw_fd(), ENABLE as _, 0) };
        if rc == 0 {
            return Ok(());
        }
        Err(Error::last("enable", "perf clock"))
    }
}

/// Opens an event; no group.
fn open(
    attributes: &Attributes,
    task: libc::pid_t,
    cpu: libc::c_int,
    object: &str,
) -> Result<OwnedFd> {
    const NO_GROUP: libc::c_int = -1;
    // SAFETY: `attributes` is a valid perf_event_attr of the size it states, and only read.
    let fd = unsafe {
        libc::syscall(
            libc::SYS_perf_event_open,
            std::ptr::from_ref(attributes),
            task,
            cpu,
            NO_GROUP,
            PERF_FLAG_FD_CLOEXEC,
        )
    };
    match i32::try_from(fd) {
        // SAFETY: the kernel just returned this descriptor and nobody else knows it.
        Ok(fd) if fd >= 0 => Ok(unsafe { OwnedFd::from_raw_fd(fd) }),
        _ => {
            let error = Error::last("open perf event", object);
            Err(match error.errno() {
                Some(libc::EPERM | libc::EACCES) => {
                    error.with_remedy("needs CAP_PERFMON; run as root")
                }
                _ => error,
            })
        }
    }
}

impl AsFd for CpuClock {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

impl From<CpuClock> for OwnedFd {
    fn from(clock: CpuClock) -> Self {
        clock.fd
    }
}
