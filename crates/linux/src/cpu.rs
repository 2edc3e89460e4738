//! CPU sets, placement and scheduling class of tasks.
//!
//! CPUs are the kernel's CPU numbers (from 0, not always contiguous); tasks are thread ids.

use std::collections::BTreeSet;
use std::fmt;
use std::fs::{self, File};
use std::io::Write;
use std::path::Path;
use std::str::FromStr;

use nix::sched;
use nix::unistd::Pid;

use crate::error::{Error, Result};

/// A set of CPU numbers, written as the kernel writes it: `0-3,5`.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CpuSet(BTreeSet<usize>);

/// CPU numbers from here on are taken for a mistake; `cpu_set_t` of the C library holds no more.
const CPUS_AT_MOST: usize = libc::CPU_SETSIZE as usize;

impl CpuSet {
    /// The set of exactly this CPU.
    #[must_use]
    pub fn single(cpu: usize) -> Self {
        Self(BTreeSet::from([cpu]))
    }

    /// CPU numbers in rising order.
    pub fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        self.0.iter().copied()
    }

    /// How many CPUs are in the set.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether no CPU is in the set.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether this CPU is in the set.
    #[must_use]
    pub fn contains(&self, cpu: usize) -> bool {
        self.0.contains(&cpu)
    }

    /// CPUs in both sets.
    #[must_use]
    pub fn intersection(&self, other: &Self) -> Self {
        Self(self.0.intersection(&other.0).copied().collect())
    }

    /// CPUs of this set that are not in the other.
    #[must_use]
    pub fn difference(&self, other: &Self) -> Self {
        Self(self.0.difference(&other.0).copied().collect())
    }

    /// As the kernel writes masks, in sysfs: groups of 32 bits, the highest first; `0` is the empty set.
    #[must_use]
    pub fn mask(&self) -> String {
        let highest = self.iter().max().unwrap_or(0) / 32;
        let group = |number: usize| {
            let bits = self.iter().filter(|cpu| cpu / 32 == number);
            bits.fold(0u32, |mask, cpu| mask | 1 << (cpu % 32))
        };
        let first = format!("{:x}", group(highest));
        (0..highest).rev().fold(first, |mask, number| {
            format!("{mask},{:08x}", group(number))
        })
    }

    fn to_kernel(&self) -> Result<sched::CpuSet> {
        let mut set = sched::CpuSet::new();
        for cpu in self.iter() {
            set.set(cpu)
                .map_err(|e| Error::from_errno("name CPU", cpu.to_string(), e as i32))?;
        }
        Ok(set)
    }

    fn from_kernel(set: &sched::CpuSet) -> Self {
        (0..sched::CpuSet::count())
            .filter(|&cpu| set.is_set(cpu).unwrap_or(false))
            .collect()
    }
}

impl FromIterator<usize> for CpuSet {
    fn from_iter<I: IntoIterator<Item = usize>>(cpus: I) -> Self {
        Self(cpus.into_iter().collect())
    }
}

impl FromStr for CpuSet {
    type Err = Error;

    /// Reads `0-3,5` (the kernel's "list format"); blanks around parts are allowed, an empty text
    /// is the empty set.
    fn from_str(text: &str) -> Result<Self> {
        let refuse = |why: &str| {
            Error::from_text("parse CPU list", format!("`{}`", text.trim()), why)
                .with_remedy("write it as 0-3,5")
        };
        let number = |part: &str| -> Result<usize> {
            let n: usize = part
                .trim()
                .parse()
                .map_err(|_| refuse("not a CPU number"))?;
            if n < CPUS_AT_MOST {
                Ok(n)
            } else {
                Err(refuse("CPU number above 1023"))
            }
        };
        let mut cpus = BTreeSet::new();
        if text.trim().is_empty() {
            return Ok(Self(cpus));
        }
        for part in text.split(',') {
            match part.split_once('-') {
                None => {
                    cpus.insert(number(part)?);
                }
                Some((first, last)) => {
                    let (first, last) = (number(first)?, number(last)?);
                    if last < first {
                        return Err(refuse("range runs backwards"));
                    }
                    cpus.extend(first..=last);
                }
            }
        }
        Ok(Self(cpus))
    }
}

impl fmt::Display for CpuSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut cpus = self.iter().peekable();
        let mut separator = "";
        while let Some(first) = cpus.next() {
            let mut last = first;
            while cpus.peek() == Some(&(last + 1)) {
                last += 1;
                cpus.next();
            }
            match last {
                _ if last == first => write!(f, "{separator}{first}")?,
                _ => write!(f, "{separator}{first}-{last}")?,
            }
            separator = ",";
        }
        Ok(())
    }
}

/// CPUs that run now (`/sys/devices/system/cpu/online`).
///
/// # Errors
/// /sys not mounted.
pub fn online() -> Result<CpuSet> {
    read_list("/sys/devices/system/cpu/online")
}

fn read_list(path: &str) -> Result<CpuSet> {
    std::fs::read_to_string(path)
        .map_err(|e| Error::from_io("read CPU list", path, &e))?
        .parse()
}

/// CPUs the calling thread may run on (`sched_getaffinity(2)`): under `taskset` or a cpuset fewer
/// than [`online`].
///
/// # Errors
/// Only on a machine with more CPUs than the C library's `cpu_set_t` holds (1024).
pub fn available() -> Result<CpuSet> {
    affinity(0)
}

/// CPUs the task may run on; task 0 is the calling thread.
///
/// # Errors
/// No such task (ESRCH).
pub fn affinity(tid: i32) -> Result<CpuSet> {
    sched::sched_getaffinity(Pid::from_raw(tid))
        .map(|set| CpuSet::from_kernel(&set))
        .map_err(|e| Error::from_errno("read CPU affinity of", task_name(tid), e as i32))
}

/// Lets the calling thread (and threads and processes it makes later) run on these CPUs only.
///
/// # Errors
/// None of the CPUs is online or allowed (EINVAL).
pub fn pin_current_thread(cpus: &CpuSet) -> Result<()> {
    pin_task(0, cpus)
}

/// Lets a task run on these CPUs only; task 0 is the calling thread.
///
/// # Errors
/// No such task (ESRCH), none of the CPUs is online or allowed, or the task is a per-CPU kthread
/// (both EINVAL), no right (EPERM).
pub fn pin_task(tid: i32, cpus: &CpuSet) -> Result<()> {
    sched::sched_setaffinity(Pid::from_raw(tid), &cpus.to_kernel()?).map_err(|e| {
        let error = Error::from_errno(
            "pin to CPUs",
            format!("{cpus}: {}", task_name(tid)),
            e as i32,
        );
        match e {
            nix::errno::Errno::EINVAL => {
                error.with_remedy("choose CPUs that are online and allowed to this process")
            }
            nix::errno::Errno::EPERM => error.with_remedy("needs CAP_SYS_NICE; run as root"),
            _ => error,
        }
    })
}

/// While it lives, the kernel is asked to let no CPU sleep.
#[derive(Debug)]
pub struct Awake {
    _request: File,
}

/// Asks that idle CPUs poll instead of sleeping. The kernel ends it with the process
/// (`Documentation/power/pm_qos_interface.rst`). Whether CPUs follow it, [`sleeps`] tells.
///
/// # Errors
/// No such device (ENOENT), no right (EACCES).
pub fn keep_awake() -> Result<Awake> {
    let path = "/dev/cpu_dma_latency";
    let failed = |e| Error::from_io("keep CPUs awake by", path, &e);
    let mut request = File::options().write(true).open(path).map_err(failed)?;
    // Microseconds that leaving a state may take.
    request.write_all(&0_i32.to_ne_bytes()).map_err(failed)?;
    Ok(Awake { _request: request })
}

/// How often this CPU has left a state of sleep since it was booted: each idle state but that which polls. `None`: the
/// kernel does not count it (`Documentation/admin-guide/pm/cpuidle.rst`).
#[must_use]
pub fn sleeps(cpu: usize) -> Option<u64> {
    let states = format!("/sys/devices/system/cpu/cpu{cpu}/cpuidle");
    sleeps_in(Path::new(&states))
}

fn sleeps_in(states: &Path) -> Option<u64> {
    let mut sum = None;
    for state in fs::read_dir(states).ok()? {
        let state = state.ok()?.path();
        let read = |file| fs::read_to_string(state.join(file)).ok();
        // Some kernels have the name of the driver beside the states.
        if let Some((name, usage)) = read("name").zip(read("usage")) {
            let polls = name.trim() == "POLL";
            let slept: u64 = if polls { 0 } else { usage.trim().parse().ok()? };
            sum = Some(sum.unwrap_or(0) + slept);
        }
    }
    sum
}

/// Scheduling class and priority of a task, as read back from the kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Class {
    /// SCHED_OTHER, the fair class.
    Other,
    /// SCHED_FIFO with its priority, 1 (lowest) to 99.
    Fifo(u8),
    /// Any other policy by its number (`sched(7)`).
    Else(i32),
}

/// Puts a task into SCHED_FIFO with this priority, 1 to 99; task 0 is the calling thread.
///
/// # Errors
/// No such task (ESRCH), priority out of range (EINVAL), no right (EPERM).
pub fn set_fifo(tid: i32, priority: u8) -> Result<()> {
    let param = libc::sched_param {
        sched_priority: i32::from(priority),
    };
    // SAFETY: `param` lives across the call and is only read by the kernel.
    let rc = unsafe { libc::sched_setscheduler(tid, libc::SCHED_FIFO, &raw const param) };
    if rc == 0 {
        return Ok(());
    }
    let error = Error::last(
        "set scheduling class",
        format!("SCHED_FIFO priority {priority}: {}", task_name(tid)),
    );
    Err(match error.errno() {
        Some(libc::EPERM) => error.with_remedy(
            "needs CAP_SYS_NICE, and real time for its control group (cpu.rt_runtime_us above 0); run as root",
        ),
        _ => error,
    })
}

/// The scheduling class of a task; task 0 is the calling thread.
///
/// # Errors
/// No such task (ESRCH).
pub fn class(tid: i32) -> Result<Class> {
    let fail = || Error::last("read scheduling class of", task_name(tid));
    // SAFETY: takes and returns plain integers.
    let policy = unsafe { libc::sched_getscheduler(tid) };
    if policy < 0 {
        return Err(fail());
    }
    let mut param = libc::sched_param { sched_priority: 0 };
    // SAFETY: `param` is a valid, writable sched_param for the whole call.
    if unsafe { libc::sched_getparam(tid, &raw mut param) } < 0 {
        return Err(fail());
    }
    // The kernel may add this flag to the policy it reports.
    Ok(match policy & !libc::SCHED_RESET_ON_FORK {
        libc::SCHED_OTHER => Class::Other,
        libc::SCHED_FIFO => Class::Fifo(u8::try_from(param.sched_priority).unwrap_or(0)),
        other => Class::Else(other),
    })
}

fn task_name(tid: i32) -> String {
    match tid {
        0 => "the calling thread".to_owned(),
        _ => format!("task {tid}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_read_and_written_as_the_kernel_does() {
        for (text, cpus, back) in [
            ("0", vec![0], "0"),
            ("0-3,5", vec![0, 1, 2, 3, 5], "0-3,5"),
            (" 5, 0 - 2 \n", vec![0, 1, 2, 5], "0-2,5"),
            ("1,2,3,7,8", vec![1, 2, 3, 7, 8], "1-3,7-8"),
            ("", vec![], ""),
        ] {
            let set: CpuSet = text.parse().unwrap();
            assert_eq!(set.iter().collect::<Vec<_>>(), cpus, "{text}");
            assert_eq!(set.to_string(), back);
        }
    }

    #[test]
    fn masks_are_written_in_groups_of_32_bits() {
        for (list, mask) in [
            ("", "0"),
            ("1", "2"),
            ("0,33", "2,00000001"),
            ("130", "4,00000000,00000000,00000000,00000000"),
        ] {
            assert_eq!(list.parse::<CpuSet>().unwrap().mask(), mask);
        }
    }

    #[test]
    fn a_bad_list_is_refused_with_a_remedy() {
        for text in ["a", "3-1", "0,,1", "-1", "1-", "0-9999999999", "5000"] {
            let error = text.parse::<CpuSet>().unwrap_err().to_string();
            assert!(error.contains("write it as 0-3,5"), "{text}: {error}");
        }
    }

    #[test]
    fn set_operations() {
        let a: CpuSet = "0-3".parse().unwrap();
        let b: CpuSet = "2-5".parse().unwrap();
        assert_eq!(a.intersection(&b).to_string(), "2-3");
        assert_eq!(a.difference(&b).to_string(), "0-1");
        assert!(a.contains(3) && !a.contains(4) && a.len() == 4 && !a.is_empty());
    }

    #[test]
    fn a_thread_pins_itself_and_reads_it_back() {
        std::thread::spawn(|| {
            let all = available().unwrap();
            assert!(!all.is_empty());
            assert_eq!(all.difference(&online().unwrap()), CpuSet::default());
            let last = CpuSet::single(all.iter().last().unwrap());
            pin_current_thread(&last).unwrap();
            assert_eq!(available().unwrap(), last);
        })
        .join()
        .unwrap();
    }

    #[test]
    fn pinning_to_no_cpu_names_the_remedy() {
        let error = std::thread::spawn(|| pin_current_thread(&CpuSet::default()))
            .join()
            .unwrap()
            .unwrap_err();
        assert_eq!(error.errno(), Some(libc::EINVAL));
        assert!(error.remedy.unwrap().contains("online"));
    }

    #[test]
    fn a_task_that_is_not_there_is_said() {
        // Above the largest pid_max the kernel allows (4 194 304).
        let nobody = 2_000_000_000;
        assert_eq!(affinity(nobody).unwrap_err().errno(), Some(libc::ESRCH));
        assert_eq!(class(nobody).unwrap_err().errno(), Some(libc::ESRCH));
        assert_eq!(set_fifo(nobody, 1).unwrap_err().errno(), Some(libc::ESRCH));
    }

    #[test]
    fn each_state_that_does_not_poll_is_sleep() {
        let root = std::env::temp_dir().join(format!("mpps-idle-{}", std::process::id()));
        let state = |name: &str, files: &[(&str, &str)]| {
            let folder = root.join(name);
            fs::create_dir_all(&folder).unwrap();
            for (file, text) in files {
                fs::write(folder.join(file), text).unwrap();
            }
        };
        assert_eq!(sleeps_in(&root), None);
        state("driver", &[("name", "acpi_idle\n")]);
        assert_eq!(sleeps_in(&root), None);
        state("state0", &[("name", "POLL\n"), ("usage", "900\n")]);
        assert_eq!(sleeps_in(&root), Some(0));
        state("state1", &[("name", "C1\n"), ("usage", "40\n")]);
        state("state2", &[("name", "C6\n"), ("usage", "2\n")]);
        assert_eq!(sleeps_in(&root), Some(42));
        fs::remove_dir_all(&root).unwrap();
    }

    #[test]
    fn threads_begin_in_the_fair_class() {
        assert_eq!(
            std::thread::spawn(|| class(0)).join().unwrap().unwrap(),
            Class::Other
        );
    }
}
