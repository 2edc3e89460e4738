//! The machine watch: how long each CPU of the bed stood still (see `watch.bpf.c`).

use super::TesterError;
use crate::clock::wait_for;
use libbpf_rs::skel::{OpenSkel, SkelBuilder};
use libbpf_rs::{MapCore, MapFlags, ProgramInput};
use mpps_ebpf::instruments::watch::{WatchSkel, WatchSkelBuilder, Watched};
use mpps_linux::cpu::{self, CpuSet};

/// Time between two ticks, ns. What it cannot see: stops shorter than this.
pub const PERIOD_NS: u64 = 1_000_000;

const KEY: [u8; 4] = [0; 4];
/// A tick that has not come after so long is missing, ns.
const TICK_LIMIT_NS: u64 = 2_000_000_000;

/// A running watch; it ends when this is dropped.
pub struct Watch {
    skel: WatchSkel<'static>,
    cpus: Vec<usize>,
    epoch: std::cell::Cell<u64>,
}

impl Watch {
    /// Starts to tick on these CPUs.
    ///
    /// # Errors
    /// What loading, pinning or the timer said.
    pub fn start(cpus: &[usize]) -> Result<Self, TesterError> {
        let mut open = WatchSkelBuilder::default()
            .open(super::skeleton_storage())
            .map_err(|e| TesterError::bpf("open the machine watch", &e))?;
        open.maps
            .rodata_data
            .as_deref_mut()
            .ok_or(TesterError::Layout("watch rodata"))?
            .period_ns = PERIOD_NS;
        let skel = open
            .load()
            .map_err(|e| TesterError::bpf("load the machine watch", &e))?;
        // A timer starts on the CPU that runs the program.
        let home = cpu::available()?;
        let started = cpus.iter().try_for_each(|&on| {
            cpu::pin_current_thread(&CpuSet::single(on))?;
            let input = ProgramInput {
                data_in: Some(&[0; 64]),
                repeat: 1,
                ..ProgramInput::default()
            };
            match skel.progs.start.test_run(input) {
                Ok(run) if run.return_value == 0 => Ok(()),
                Ok(_) => Err(TesterError::NoTimer(on)),
                Err(error) => Err(TesterError::bpf("start the machine watch", &error)),
            }
        });
        cpu::pin_current_thread(&home)?;
        started?;
        Ok(Self {
            skel,
            cpus: cpus.to_vec(),
            epoch: std::cell::Cell::new(0),
        })
    }

    /// Forgets what was seen, and waits until every CPU has ticked since.
    ///
    /// # Errors
    /// What the kernel said; a CPU that ticks no more.
    pub fn clear(&self) -> Result<(), TesterError> {
        let epoch = self.epoch.get() + 1;
        self.epoch.set(epoch);
        let told = self
            .skel
            .maps
            .epoch
            .update(&KEY, &epoch.to_ne_bytes(), MapFlags::ANY);
        told.map_err(|e| TesterError::bpf("clear the machine watch", &e))?;
        let here = || {
            Ok::<_, TesterError>(
                self.read()?
                    .iter()
                    .all(|(_, watched)| watched.epoch == epoch),
            )
        };
        if wait_for(TICK_LIMIT_NS, PERIOD_NS, here)? {
            Ok(())
        } else {
            Err(TesterError::NoTimer(self.cpus[0]))
        }
    }

    /// What each watched CPU saw since the last clear.
    ///
    /// # Errors
    /// What the kernel said.
    pub fn read(&self) -> Result<Vec<(usize, Watched)>, TesterError> {
        let read = |&cpu: &usize| {
            let key = u32::try_from(cpu).unwrap_or(u32::MAX).to_ne_bytes();
            let value = self.skel.maps.watched.lookup(&key, MapFlags::ANY);
            let value = value.map_err(|e| TesterError::bpf("read the machine watch", &e))?;
            let watched = value
                .and_then(|v| Watched::from_value(&v))
                .ok_or(TesterError::Layout("watch"))?;
            Ok((cpu, watched))
        };
        self.cpus.iter().map(read).collect()
    }
}
