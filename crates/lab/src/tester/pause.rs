//! Pauses planted on one CPU, to calibrate the machine watch (see `pause.bpf.c`).

use super::TesterError;
use libbpf_rs::skel::{OpenSkel, SkelBuilder};
use libbpf_rs::{Link, MapCore, MapFlags};
use mpps_ebpf::instruments::pause::{LONGEST_NS, PAUSES, PauseSkel, PauseSkelBuilder};
use mpps_linux::perf::CpuClock;
use std::os::fd::{AsFd, IntoRawFd};

/// A CPU that stands still again and again; it runs on when this is dropped.
pub struct PlantedPauses {
    skel: PauseSkel<'static>,
    _link: Link,
    _clock: CpuClock,
}

impl PlantedPauses {
    /// Makes `cpu` stand still for `pause_ns` (200 ms at most), each time `every_ns` have passed.
    ///
    /// # Errors
    /// What loading, the clock or attaching said.
    pub fn plant(cpu: usize, every_ns: u64, pause_ns: u64) -> Result<Self, TesterError> {
        let mut open = PauseSkelBuilder::default()
            .open(super::skeleton_storage())
            .map_err(|e| TesterError::bpf("open the planted pauses", &e))?;
        open.maps
            .rodata_data
            .as_deref_mut()
            .ok_or(TesterError::Layout("pause rodata"))?
            .pause_ns = pause_ns;
        let skel = open
            .load()
            .map_err(|e| TesterError::bpf("load the planted pauses", &e))?;
        let clock = CpuClock::open(cpu, every_ns)?;
        // The link closes the descriptor it was given: it gets one of its own.
        let given = clock.as_fd().try_clone_to_owned();
        let given = given.map_err(|e| {
            mpps_linux::Error::from_io("duplicate", format!("clock on CPU {cpu}"), &e)
        })?;
        let link = skel
            .progs
            .stand_still
            .attach_perf_event(given.into_raw_fd())
            .map_err(|e| TesterError::bpf("attach the planted pauses", &e))?;
        Ok(Self {
            skel,
            _link: link,
            _clock: clock,
        })
    }

    /// Pauses so far, and the longest, ns, by the planting program's own clock.
    ///
    /// # Errors
    /// What the kernel said.
    pub fn planted(&self) -> Result<(u64, u64), TesterError> {
        let read = |key: u32| {
            let value = self
                .skel
                .maps
                .paused
                .lookup(&key.to_ne_bytes(), MapFlags::ANY)
                .map_err(|e| TesterError::bpf("read the planted pauses", &e))?;
            let words = mpps_ebpf::to_words(&value.unwrap_or_default());
            words.first().copied().ok_or(TesterError::Layout("pauses"))
        };
        Ok((read(PAUSES)?, read(LONGEST_NS)?))
    }
}
