//! Who else had the bed's CPUs during a trial (see `other_tasks.bpf.c`).

use crate::tester::error::TesterError;
use crate::tester::programs::{self, maps, trace};
use libbpf_rs::Link;
use mpps_ebpf::instruments::other_tasks::{
    Came, CpuUse, OtherTasksSkel, OtherTasksSkelBuilder, STRETCHES_MAX, Whose, types,
};
use mpps_ebpf::instruments::watch::Stall;
use mpps_linux::clock::monotonic_ns;
use mpps_linux::task;
use std::os::fd::{AsFd, BorrowedFd};

/// Readings of a CPU's entry after the first.
const READINGS_MAX: u32 = 8;
const READ: &str = "read the watch of other tasks";

/// By what the router's own tasks are known.
#[derive(Clone, Debug, Default)]
pub struct RouterTasks {
    /// Inode number of its network namespace: all tasks in it are the router's.
    pub netns: u64,
    /// Its CPUs: the kernel's workers are the router's there.
    pub cpus: Vec<usize>,
    /// Those of its CPUs where ksoftirqd is the router's alone.
    pub softirqs: Vec<usize>,
}

/// A running watch for other programs; it ends when this is dropped.
pub struct OtherTasks {
    skel: OtherTasksSkel<'static>,
    /// CPUs watched, and whether each is the DUT's.
    cpus: Vec<(usize, bool)>,
    _links: [Link; 2],
}

impl OtherTasks {
    /// Watches these CPUs. The bed's own are the threads of this process, `threads` (of the kernel), and
    /// those that the kernel does softirqs in on these CPUs. The router's tasks are counted apart from others.
    pub fn watch(
        cpus: &[usize],
        threads: &[i32],
        router: &RouterTasks,
    ) -> Result<Self, TesterError> {
        let mut open = programs::open(
            OtherTasksSkelBuilder::default(),
            "open the watch of other tasks",
        )?;
        let rodata = programs::constants(&mut open.maps.rodata_data, "other_tasks rodata")?;
        rodata.own_tgid = task::current_pid().unsigned_abs();
        rodata.dut_netns = u32::try_from(router.netns).unwrap_or(0);
        let highest = cpus.iter().copied().max().unwrap_or(0);
        let entries = u32::try_from(highest + 1).unwrap_or(1) * STRETCHES_MAX;
        (open.maps.stretches.set_max_entries(entries))
            .map_err(|e| TesterError::bpf("size the watch of other tasks", &e))?;
        let skel = programs::load(open, "load the watch of other tasks")?;
        let know = |tid: i32, whose: Whose| {
            let tell = "tell the watch of other tasks the bed's threads";
            let (kthreads, tid) = (&skel.maps.kthreads, tid.cast_unsigned());
            maps::write(kthreads, tid, &(whose as u32), tell)
        };
        for &tid in threads {
            know(tid, Whose::Testers)?;
        }
        for &cpu in cpus {
            let name = format!("ksoftirqd/{cpu}");
            let whose = if router.softirqs.contains(&cpu) {
                Whose::Routers
            } else {
                Whose::Testers
            };
            for (tid, _) in task::find_kthreads(|comm| comm == name)? {
                know(tid, whose)?;
            }
        }
        let attached = "attach the watch of other tasks";
        let links = [
            trace(&skel.progs.switched, attached)?,
            trace(&skel.progs.looked, attached)?,
        ];
        let is_duts = |&cpu: &usize| (cpu, router.cpus.contains(&cpu));
        let other_tasks = Self {
            skel,
            cpus: cpus.iter().map(is_duts).collect(),
            _links: links,
        };
        other_tasks.clear()?;
        Ok(other_tasks)
    }

    /// The scheduler's clock on each CPU, against the monotonic one.
    #[must_use]
    pub fn clock(&self) -> BorrowedFd<'_> {
        self.skel.maps.ahead_ns.as_fd()
    }

    /// Forgets what was seen.
    pub fn clear(&self) -> Result<(), TesterError> {
        for &(cpu, dut) in &self.cpus {
            let cleared = CpuUse::cleared(monotonic_ns(), dut);
            let map = &self.skel.maps.cpu_use;
            maps::write(map, cpu as u32, &cleared, "clear the watch of other tasks")?;
        }
        Ok(())
    }

    /// When other programs had one of the bed's CPUs for long since the last clear.
    pub fn stretches(&self) -> Result<Vec<(usize, Stall)>, TesterError> {
        let mut stretches = Vec::new();
        for &(cpu, _) in &self.cpus {
            let counted = self.counted(cpu)?.stretches;
            let (ring, map) = ((cpu, STRETCHES_MAX), &self.skel.maps.stretches);
            let kept: Vec<types::stretch> = maps::read_ring(map, ring, counted, READ)?;
            stretches.extend(kept.into_iter().map(|stretch| (cpu, stretch.into())));
        }
        Ok(stretches)
    }

    fn counted(&self, cpu: usize) -> Result<CpuUse, TesterError> {
        maps::read(&self.skel.maps.cpu_use, cpu as u32, READ)
    }

    /// What other programs had of each of the bed's CPUs since the last clear, one that has a CPU right now included.
    pub fn read(&self) -> Result<Vec<(usize, CpuUse)>, TesterError> {
        let read = |&(cpu, _): &(usize, bool)| {
            let cpu_use = self.counted(cpu)?;
            Ok((cpu, with_whom_it_is_now(cpu_use, self.came(cpu)?)))
        };
        self.cpus.iter().map(read).collect()
    }

    /// Who has a CPU, read again until no switch fell into the reading.
    fn came(&self, cpu: usize) -> Result<Came, TesterError> {
        let read = || {
            let came = maps::read::<types::others_came>(&self.skel.maps.came, cpu as u32, READ)?;
            Ok::<Came, TesterError>(came.into())
        };
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
}

/// The program counts who goes; who has not gone yet is added here.
fn with_whom_it_is_now(mut cpu_use: CpuUse, came: Came) -> CpuUse {
    let ran_ns = monotonic_ns().saturating_sub(came.ns.max(cpu_use.cleared_ns));
    let Some(had) = cpu_use.had_by(came.whose) else {
        return cpu_use;
    };
    had.total_ns += ran_ns;
    if ran_ns > had.longest_ns {
        // It may have ended since.
        let tid = i32::try_from(came.pid).unwrap_or(0);
        let comm = task::comm(tid).unwrap_or_else(|_| "gone".to_owned());
        had.longest_ns = ran_ns;
        had.longest_comm = [0; 16];
        for (place, octet) in had.longest_comm.iter_mut().zip(comm.bytes()).take(15) {
            *place = octet;
        }
    }
    cpu_use
}
