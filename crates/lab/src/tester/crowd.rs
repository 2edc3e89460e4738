//! Who else had the bed's CPUs during a trial (see `crowd.bpf.c`).

use super::TesterError;
use libbpf_rs::skel::{OpenSkel, SkelBuilder};
use libbpf_rs::{Link, MapCore, MapFlags};
use mpps_ebpf::instruments::crowd::{CrowdSkel, CrowdSkelBuilder, Crowded};
use mpps_linux::task;

/// A running watch for other programs; it ends when this is dropped.
pub struct Crowd {
    skel: CrowdSkel<'static>,
    cpus: Vec<usize>,
    _link: Link,
}

impl Crowd {
    /// Watches these CPUs. The bed's own are the threads of this process, `threads` (of the kernel), and
    /// those that the kernel does softirqs in on these CPUs.
    ///
    /// # Errors
    /// What loading or attaching said.
    pub fn watch(cpus: &[usize], threads: &[i32]) -> Result<Self, TesterError> {
        let mut open = CrowdSkelBuilder::default()
            .open(super::skeleton_storage())
            .map_err(|e| TesterError::bpf("open the crowd watch", &e))?;
        let rodata = open.maps.rodata_data.as_deref_mut();
        rodata.ok_or(TesterError::Layout("crowd rodata"))?.own_tgid =
            task::current_pid().unsigned_abs();
        let skel = open
            .load()
            .map_err(|e| TesterError::bpf("load the crowd watch", &e))?;
        let softirqs: Vec<String> = cpus.iter().map(|cpu| format!("ksoftirqd/{cpu}")).collect();
        let softirqs = task::find_kthreads(|comm| softirqs.iter().any(|name| name == comm))?;
        let own = threads
            .iter()
            .copied()
            .chain(softirqs.into_iter().map(|(tid, _)| tid));
        for tid in own {
            let told = skel
                .maps
                .own
                .update(&tid.to_ne_bytes(), &[0; 4], MapFlags::ANY);
            told.map_err(|e| TesterError::bpf("tell the crowd watch the bed's threads", &e))?;
        }
        let link = skel
            .progs
            .switched
            .attach_trace()
            .map_err(|e| TesterError::bpf("attach the crowd watch", &e))?;
        let crowd = Self {
            skel,
            cpus: cpus.to_vec(),
            _link: link,
        };
        crowd.clear()?;
        Ok(crowd)
    }

    /// Forgets what was seen.
    ///
    /// # Errors
    /// What the kernel said.
    pub fn clear(&self) -> Result<(), TesterError> {
        for &cpu in &self.cpus {
            let cleared =
                self.skel
                    .maps
                    .crowded
                    .update(&key(cpu), &Crowded::cleared(), MapFlags::ANY);
            cleared.map_err(|e| TesterError::bpf("clear the crowd watch", &e))?;
        }
        Ok(())
    }

    /// What other programs had of each of the bed's CPUs since the last clear.
    ///
    /// # Errors
    /// What the kernel said.
    pub fn read(&self) -> Result<Vec<(usize, Crowded)>, TesterError> {
        let read = |&cpu: &usize| {
            let value = self.skel.maps.crowded.lookup(&key(cpu), MapFlags::ANY);
            let value = value.map_err(|e| TesterError::bpf("read the crowd watch", &e))?;
            let crowded = value
                .and_then(|v| Crowded::from_value(&v))
                .ok_or(TesterError::Layout("crowd"))?;
            Ok((cpu, crowded))
        };
        self.cpus.iter().map(read).collect()
    }
}

fn key(cpu: usize) -> [u8; 4] {
    u32::try_from(cpu).unwrap_or(u32::MAX).to_ne_bytes()
}
