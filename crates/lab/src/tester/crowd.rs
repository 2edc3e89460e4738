//! Who else had the bed's CPUs during a trial (see `crowd.bpf.c`).

use super::TesterError;
use libbpf_rs::skel::{OpenSkel, SkelBuilder};
use libbpf_rs::{Link, MapCore, MapFlags, MapMut};
use mpps_ebpf::instruments::crowd::{Came, CrowdSkel, CrowdSkelBuilder, Crowded};
use mpps_linux::clock::monotonic_ns;
use mpps_linux::task;

/// Readings of a CPU's entry after the first.
const READINGS_MAX: u32 = 8;

/// A running watch for other programs; it ends when this is dropped.
pub struct Crowd {
    skel: CrowdSkel<'static>,
    cpus: Vec<usize>,
    /// The bed's own tasks besides the threads of this process.
    own: Vec<i32>,
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
        let softirqs = softirqs.into_iter().map(|(tid, _)| tid);
        let own: Vec<i32> = threads.iter().copied().chain(softirqs).collect();
        for tid in &own {
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
            own,
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
            let cleared = self.skel.maps.crowded.update(
                &key(cpu),
                &Crowded::cleared(monotonic_ns()),
                MapFlags::ANY,
            );
            cleared.map_err(|e| TesterError::bpf("clear the crowd watch", &e))?;
        }
        Ok(())
    }

    /// What other programs had of each of the bed's CPUs since the last clear, those aside that still have one: never more
    /// than [`Self::read`] says later.
    ///
    /// # Errors
    /// What the kernel said.
    pub fn gone(&self) -> Result<Vec<(usize, Crowded)>, TesterError> {
        self.cpus
            .iter()
            .map(|&cpu| Ok((cpu, self.counted(cpu)?)))
            .collect()
    }

    fn counted(&self, cpu: usize) -> Result<Crowded, TesterError> {
        entry(&self.skel.maps.crowded, cpu, Crowded::from_value)
    }

    /// What other programs had of each of the bed's CPUs since the last clear, one that has a CPU right now included.
    ///
    /// # Errors
    /// What the kernel said.
    pub fn read(&self) -> Result<Vec<(usize, Crowded)>, TesterError> {
        let read = |&cpu: &usize| {
            let crowded = self.counted(cpu)?;
            Ok((cpu, self.with_whom_it_is_now(crowded, self.came(cpu)?)))
        };
        self.cpus.iter().map(read).collect()
    }

    /// Who has a CPU, read again until no switch fell into the reading.
    fn came(&self, cpu: usize) -> Result<Came, TesterError> {
        let read = || entry(&self.skel.maps.came, cpu, Came::from_value);
        let mut came = read()?;
        for _ in 0..READINGS_MAX {
            let again = read()?;
            if again == came {
                break;
            }
            came = again;
        }
        Ok(came)
    }

    /// The program counts who goes; who has not gone yet is added here.
    fn with_whom_it_is_now(&self, mut crowded: Crowded, came: Came) -> Crowded {
        let tid = i32::try_from(came.pid).unwrap_or(0);
        if tid == 0 || self.own.contains(&tid) || task::is_own_thread(tid) {
            return crowded;
        }
        let ran_ns = monotonic_ns().saturating_sub(came.ns.max(crowded.cleared_ns));
        crowded.total_ns += ran_ns;
        if ran_ns > crowded.longest_ns {
            // It may have ended since.
            let comm = task::comm(tid).unwrap_or_else(|_| "gone".to_owned());
            crowded.longest_ns = ran_ns;
            crowded.longest_comm = [0; 16];
            for (place, octet) in crowded.longest_comm.iter_mut().zip(comm.bytes()).take(15) {
                *place = octet;
            }
        }
        crowded
    }
}

fn key(cpu: usize) -> [u8; 4] {
    u32::try_from(cpu).unwrap_or(u32::MAX).to_ne_bytes()
}

/// One CPU's entry of a map.
fn entry<T>(
    map: &MapMut<'_>,
    cpu: usize,
    from_value: impl Fn(&[u8]) -> Option<T>,
) -> Result<T, TesterError> {
    let value = map.lookup(&key(cpu), MapFlags::ANY);
    let value = value.map_err(|e| TesterError::bpf("read the crowd watch", &e))?;
    value
        .and_then(|v| from_value(&v))
        .ok_or(TesterError::Layout("crowd"))
}
