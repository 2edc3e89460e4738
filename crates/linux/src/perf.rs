//! Perf events: samples of a CPU's work ([`CpuSampler`]), and counts of it ([`CpuCounter`]).

mod counter;
mod memory;
mod record;
mod ring;
mod sampler;

pub use counter::{Count, Counted, CpuCounter, Energy, NO_PMU, why_not};
pub use memory::memory_traffic;
pub use record::{Record, Sampled, records};
pub use sampler::{CpuSampler, SamplingClock};

use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

use crate::error::{Error, Result};

const PERF_TYPE_SOFTWARE: u32 = 1;
const PERF_COUNT_SW_CPU_CLOCK: u64 = 0;
const PERF_FLAG_FD_CLOEXEC: libc::c_ulong = 8;
/// Bit 0 of the attribute's flags: do not count before being enabled.
const DISABLED: u64 = 1;

/// The part of `struct perf_event_attr` that every kernel since 4.1 knows (`PERF_ATTR_SIZE_VER4`,
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
    bp_len: u64,
    branch_sample_type: u64,
    sample_regs_user: u64,
    sample_stack_user: u32,
    clock: libc::clockid_t,
    sample_regs_intr: u64,
}
const _: () = assert!(size_of::<Attributes>() == 104);

/// What an event has counted; the kernel brings it up to date.
fn counted(event: &OwnedFd, object: &str) -> Result<u64> {
    numbers(event, object).map(|[counted]| counted)
}

/// What reading an event gives: as many numbers as its format asks for.
fn numbers<const N: usize>(event: &OwnedFd, object: &str) -> Result<[u64; N]> {
    let mut bytes = [[0; 8]; N];
    nix::unistd::read(event, bytes.as_flattened_mut())
        .map_err(|e| Error::from_errno("read", object, e as i32))?;
    Ok(bytes.map(u64::from_ne_bytes))
}

/// Requests to an event that take no argument.
#[derive(Clone, Copy)]
enum Switch {
    /// `PERF_EVENT_IOC_ENABLE`, `_IO('$', 0)`.
    Enable = 0x2400,
    /// `PERF_EVENT_IOC_DISABLE`, `_IO('$', 1)`.
    Disable = 0x2401,
}

fn switch(event: &OwnedFd, request: Switch, object: &str) -> Result<()> {
    // SAFETY: these requests take no pointer.
    let rc = unsafe { libc::ioctl(event.as_raw_fd(), request as libc::c_ulong as _, 0) };
    if rc == 0 {
        return Ok(());
    }
    let operation = match request {
        Switch::Enable => "enable",
        Switch::Disable => "disable",
    };
    Err(Error::last(operation, object))
}

/// Opens an event of every task on this CPU, which counts nothing before it is enabled.
fn open(mut attributes: Attributes, cpu: usize, object: &str) -> Result<OwnedFd> {
    const EVERY_TASK: libc::pid_t = -1;
    const NO_GROUP: libc::c_int = -1;
    let number = libc::c_int::try_from(cpu)
        .map_err(|_| Error::from_errno("open perf event", object, libc::ENODEV))?;
    attributes.size = size_of::<Attributes>() as u32;
    attributes.flags |= DISABLED;
    // SAFETY: `attributes` is a valid perf_event_attr of the size it states, and only read.
    let fd = unsafe {
        libc::syscall(
            libc::SYS_perf_event_open,
            &raw const attributes,
            EVERY_TASK,
            number,
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
                Some(libc::EPERM | libc::EACCES) => error.with_remedy(
                    "needs CAP_PERFMON, or kernel.perf_event_paranoid below 1; run as root",
                ),
                _ => error,
            })
        }
    }
}
