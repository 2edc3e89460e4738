//! The watch by eBPF timers, one bound to each CPU (see `watch.bpf.c`; Linux 6.7).

use super::{PERIOD_NS, SLOW_FACTOR, SLOW_TAIL_NS, STALL_NS, Timed};
use crate::clock::wait_for;
use crate::tester::error::TesterError;
use crate::tester::programs::{self, maps, trace};
use libbpf_rs::{Link, MapMut, ProgramInput};
use mpps_ebpf::instruments::receiver::{WINDOW_SHIFT, WINDOWS_MAX};
use mpps_ebpf::instruments::watch::{
    Apart, BusyMark, BusyWindow, STALLS_MAX, Stall, THREADS_MAX, WatchSkel, WatchSkelBuilder,
    Watched, types,
};
use mpps_linux::cpu::{self, CpuSet};
use mpps_linux::{clock, hypervisor};

/// A timer that does not start after so long will not, ns.
const START_LIMIT_NS: u64 = 5_000_000_000;
/// Clock sources of 1 ns or less. A piece of work takes two steps of a coarser one, so twice as long would say nothing.
const FINE_CLOCKS: [&str; 3] = ["tsc", "kvm-clock", "xen"];
/// Pipes created before the next try.
const PIPES: usize = 64;
/// The kernel binds no timer to a CPU (before 6.7).
const EINVAL: u32 = 22;

/// Running timers; they end when this is dropped.
pub struct Timers {
    skel: WatchSkel<'static>,
    cpus: Vec<usize>,
    sees_slow: bool,
    _links: [Link; 3],
}

impl Timers {
    /// Starts to tick on these CPUs, and to time what is asked for.
    pub fn start(cpus: &[usize], timed: Option<&Timed<'_>>) -> Result<Self, TesterError> {
        let mut open = programs::open(WatchSkelBuilder::default(), "open the machine watch")?;
        let rodata = programs::constants(&mut open.maps.rodata_data, "watch rodata")?;
        (rodata.period_ns, rodata.stall_ns) = (PERIOD_NS, STALL_NS);
        // A CPU of its own is slow by its own clock, cooling or firmware: that is part of the router.
        let sees_slow = hypervisor::signature().is_some() && is_clock_fine();
        if sees_slow {
            (rodata.slow_factor, rodata.slow_tail_ns) = (SLOW_FACTOR, SLOW_TAIL_NS);
        }
        if let Some(timed) = timed {
            let (writing, reading) = timed.between;
            (rodata.writing_cpu, rodata.reading_cpu) = (writing as u32, reading as u32);
            if timed.threads.len() <= THREADS_MAX {
                let threads = rodata.threads.iter_mut().zip(&timed.threads);
                threads.for_each(|(place, tid)| *place = tid.unsigned_abs());
            }
            (open.maps.ahead_ns.reuse_fd(timed.clock))
                .map_err(|e| TesterError::bpf("share the scheduler's clock", &e))?;
        }
        let highest = cpus.iter().copied().max().unwrap_or(0);
        let entries = u32::try_from(highest + 1).unwrap_or(1) * STALLS_MAX;
        for ring in [&mut open.maps.stalls, &mut open.maps.slow_times] {
            (ring.set_max_entries(entries))
                .map_err(|e| TesterError::bpf("size the machine watch", &e))?;
        }
        let skel = programs::load(open, "load the machine watch")?;
        let (programs, attached) = (&skel.progs, "attach the machine watch");
        let links = [
            trace(&programs.entered, attached)?,
            trace(&programs.exited, attached)?,
            trace(&programs.raised, attached)?,
        ];
        // A timer starts on the CPU that runs the program.
        let home = cpu::available()?;
        let started = cpus.iter().try_for_each(|&on| {
            cpu::pin_current_thread(&CpuSet::single(on))?;
            let mut error = 0;
            // The kernel allocates a timer without waiting for a lock (kmalloc_nolock), so it may have no room for a moment.
            wait_for(START_LIMIT_NS, PERIOD_NS, || {
                if error != 0 {
                    refill_allocator();
                }
                let run = skel.progs.start.test_run(ProgramInput {
                    data_in: Some(&[0; 64]),
                    repeat: 1,
                    ..ProgramInput::default()
                });
                error = run?.return_value;
                Ok(matches!(error, 0 | EINVAL))
            })
            .map_err(|error| TesterError::bpf("start the machine watch", &error))?;
            match error {
                0 => Ok(()),
                _ => Err(TesterError::NoTimer(
                    on,
                    std::io::Error::from_raw_os_error(error as i32).to_string(),
                )),
            }
        });
        cpu::pin_current_thread(&home)?;
        started?;
        Ok(Self {
            skel,
            cpus: cpus.to_vec(),
            sees_slow,
            _links: links,
        })
    }

    /// Takes no work of these threads for a stall, and none of the tasks in this network namespace, however long they have soft
    /// interrupts off.
    pub fn except(&mut self, threads: &[i32], netns: u64) -> Result<(), TesterError> {
        if let Some(bss) = self.skel.maps.bss_data.as_deref_mut() {
            bss.dut_netns = netns;
        }
        let map = &self.skel.maps.dut_threads;
        let name =
            |tid: &i32| maps::write(map, tid.unsigned_abs(), &1_u32, "name the DUT's threads");
        threads.iter().try_for_each(name)
    }

    /// Has everything older than this epoch forgotten, at the next tick of each CPU.
    pub fn begin(&self, epoch: u64) -> Result<(), TesterError> {
        maps::write(&self.skel.maps.epoch, 0, &epoch, "clear the machine watch")
    }

    /// What each watched CPU saw in its epoch.
    pub fn read(&self) -> Result<Vec<(usize, Watched)>, TesterError> {
        let read = |&cpu: &usize| {
            let watched: types::watch_cpu = maps::read(
                &self.skel.maps.watched,
                cpu as u32,
                "read the machine watch",
            )?;
            Ok((cpu, watched.into()))
        };
        self.cpus.iter().map(read).collect()
    }

    /// As [`Watch::plant_slow`](super::Watch::plant_slow).
    pub fn plant_slow(&mut self, planted: bool) -> bool {
        if let Some(bss) = self.skel.maps.bss_data.as_deref_mut() {
            bss.planted_slow = planted.into();
        }
        self.sees_slow
    }

    /// How far apart the two CPUs were in each window of this time.
    pub fn apart(&self, from_ns: u64, to_ns: u64) -> Result<Vec<Apart>, TesterError> {
        let (map, what) = (&self.skel.maps.apart, "read the distance between CPUs");
        let read = |window| maps::read(map, (window % WINDOWS_MAX) as u32, what);
        let apart = |window| Ok(Apart::from_window(window, read(window)?));
        windows(from_ns, to_ns)
            .filter_map(|window| apart(window).transpose())
            .collect()
    }

    /// What the DUT's threads had had, at the first tick and the last of each window of this time.
    pub fn busy(&self, from_ns: u64, to_ns: u64) -> Result<Vec<BusyMark>, TesterError> {
        let (map, what) = (&self.skel.maps.busy, "read the busy time of windows");
        let mut marks = Vec::new();
        for window in windows(from_ns, to_ns) {
            let read: BusyWindow = maps::read(map, (window % WINDOWS_MAX) as u32, what)?;
            marks.extend(read.marks(window));
        }
        Ok(marks)
    }

    /// The stalls that each watched CPU saw in its epoch, the last [`STALLS_MAX`] of them.
    pub fn stalls(&self) -> Result<Vec<(usize, Stall)>, TesterError> {
        self.kept(&self.skel.maps.stalls, |watched| watched.stalls)
    }

    /// The same of its slow times.
    pub fn slow(&self) -> Result<Vec<(usize, Stall)>, TesterError> {
        self.kept(&self.skel.maps.slow_times, |watched| watched.slow_times)
    }

    fn kept(
        &self,
        ring: &MapMut<'_>,
        count: fn(&Watched) -> u64,
    ) -> Result<Vec<(usize, Stall)>, TesterError> {
        let mut times = Vec::new();
        for (cpu, watched) in self.read()? {
            let place = (cpu, STALLS_MAX);
            let kept: Vec<types::watch_stall> = maps::read_ring(
                ring,
                place,
                count(&watched),
                "read stalls or slow times of a CPU",
            )?;
            times.extend(kept.into_iter().map(|time| (cpu, time.into())));
        }
        Ok(times)
    }
}

fn is_clock_fine() -> bool {
    clock::source().is_some_and(|name| FINE_CLOCKS.contains(&name.as_str()))
}

/// Makes the kernel allocate memory on this CPU. These allocations may wait for pages. They leave free objects that
/// kmalloc_nolock can take.
fn refill_allocator() {
    let _pipes: Vec<_> = (0..PIPES).map_while(|_| std::io::pipe().ok()).collect();
}

/// Windows of this time that are kept.
fn windows(from_ns: u64, to_ns: u64) -> std::ops::RangeInclusive<u64> {
    let (first, last) = (from_ns >> WINDOW_SHIFT, to_ns >> WINDOW_SHIFT);
    first.max(last.saturating_sub(WINDOWS_MAX - 1))..=last
}
