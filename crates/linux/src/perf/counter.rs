//! Counts of what one CPU does by its PMU, and the energy that processor packages take.

use std::os::fd::OwnedFd;
use std::path::Path;

use super::sampler::{PERF_COUNT_HW_CPU_CYCLES, PERF_TYPE_HARDWARE};
use super::{Attributes, Switch};
use crate::error::{Error, Result};

const PERF_COUNT_HW_INSTRUCTIONS: u64 = 1;
const PERF_COUNT_HW_CACHE_MISSES: u64 = 3;
const PERF_TYPE_HW_CACHE: u32 = 3;
/// `PERF_COUNT_HW_CACHE_DTLB`, of its reads (0 << 8) those that missed (1 << 16).
const DTLB_READ_MISSES: u64 = 3 | 1 << 16;
/// `PERF_FORMAT_TOTAL_TIME_ENABLED` and `PERF_FORMAT_TOTAL_TIME_RUNNING`.
const TIMES: u64 = 1 | 2;

/// What is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counted {
    /// Cycles that the CPU was not halted.
    Cycles,
    /// Instructions that retired.
    Instructions,
    /// Accesses that missed the last level of the caches.
    CacheMisses,
    /// Reads whose address the first level of the TLB did not have.
    TlbMisses,
}

/// A running count of all that runs on one CPU, or of what that CPU's package does. Dropping it ends that.
#[derive(Debug)]
pub struct CpuCounter {
    event: OwnedFd,
    /// What each count stands for.
    unit: u64,
}

/// A count at one moment. Where events share a counter of the PMU, each is counted for a part of the time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    counted: u64,
    unit: u64,
    enabled_ns: u64,
    running_ns: u64,
}

impl CpuCounter {
    /// Begins to count.
    ///
    /// # Errors
    /// The CPU is offline or does not exist (ENODEV), its PMU does not count this or there is none (ENOENT, EOPNOTSUPP),
    /// no right (EACCES, EPERM).
    pub fn open(cpu: usize, counted: Counted) -> Result<Self> {
        let (kind, config) = match counted {
            Counted::Cycles => (PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES),
            Counted::Instructions => (PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS),
            Counted::CacheMisses => (PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES),
            Counted::TlbMisses => (PERF_TYPE_HW_CACHE, DTLB_READ_MISSES),
        };
        Self::open_event(cpu, kind, config, 1)
    }

    /// Begins to count in units.
    pub(super) fn open_event(cpu: usize, kind: u32, config: u64, unit: u64) -> Result<Self> {
        let attributes = Attributes {
            kind,
            config,
            read_format: TIMES,
            ..Attributes::default()
        };
        let object = format!("counter of CPU {cpu}");
        let event = super::open(attributes, cpu, &object)?;
        super::switch(&event, Switch::Enable, &object)?;
        Ok(Self { event, unit })
    }

    /// What was counted so far.
    ///
    /// # Errors
    /// The CPU went offline.
    pub fn read(&self) -> Result<Count> {
        let [counted, enabled_ns, running_ns] = super::numbers(&self.event, "counter of a CPU")?;
        Ok(Count {
            counted,
            unit: self.unit,
            enabled_ns,
            running_ns,
        })
    }
}

impl Count {
    /// What was counted since, extrapolated to all of the time. `None`: it was never counted.
    #[must_use]
    pub fn since(self, before: Self) -> Option<f64> {
        let counted = self.counted.wrapping_sub(before.counted) as f64 * self.unit as f64;
        let enabled = self.enabled_ns.saturating_sub(before.enabled_ns) as f64;
        let running = self.running_ns.saturating_sub(before.running_ns) as f64;
        (running > 0.0).then(|| counted * enabled / running)
    }
}

/// Energy of one processor package so far, microjoules, and the greatest number before it begins again at 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Energy {
    so_far_uj: u64,
    greatest_uj: u64,
}

impl Energy {
    /// Of all packages, by RAPL (`/sys/class/powercap`). Empty where there is none.
    #[must_use]
    pub fn read_packages() -> Vec<Self> {
        Self::read_zones(Path::new("/sys/class/powercap"))
    }

    /// Zones below a package have names of their own: `core`, `dram`. `intel-rapl-mmio` has the same packages again.
    fn read_zones(folder: &Path) -> Vec<Self> {
        let read = |zone: &Path| {
            let is_rapl = |name: &str| name.starts_with("intel-rapl:");
            (zone.file_name()?.to_str().is_some_and(is_rapl)).then_some(())?;
            let text = |file| std::fs::read_to_string(zone.join(file)).ok();
            let number = |file| text(file)?.trim().parse().ok();
            (text("name")?.starts_with("package")).then_some(())?;
            Some(Self {
                so_far_uj: number("energy_uj")?,
                greatest_uj: number("max_energy_range_uj")?,
            })
        };
        let zones = std::fs::read_dir(folder).into_iter().flatten().flatten();
        let mut zones: Vec<_> = zones.map(|zone| zone.path()).collect();
        zones.sort();
        zones.iter().filter_map(|zone| read(zone)).collect()
    }

    /// Joules since.
    #[must_use]
    pub fn since(self, before: Self) -> f64 {
        let again = match self.so_far_uj < before.so_far_uj {
            true => self.greatest_uj,
            false => 0,
        };
        (self.so_far_uj + again).saturating_sub(before.so_far_uj) as f64 / 1e6
    }
}

/// The usual answer of [`why_not`].
pub const NO_PMU: &str = "no PMU";

/// Why events of the PMU cannot be counted.
#[must_use]
pub fn why_not(error: &Error) -> String {
    match error.errno() {
        Some(libc::ENOENT | libc::EOPNOTSUPP | libc::ENODEV) => NO_PMU.to_owned(),
        _ => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::perf::{PERF_COUNT_SW_CPU_CLOCK, PERF_TYPE_SOFTWARE};
    use std::time::{Duration, Instant};

    #[test]
    fn a_counter_counts_the_time() {
        let clock = CpuCounter::open_event(0, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, 1);
        let clock = match clock {
            Err(error) if error.errno() == Some(libc::EPERM) => return println!("SKIP: {error}"),
            Err(error) if error.errno() == Some(libc::EACCES) => return println!("SKIP: {error}"),
            clock => clock.unwrap(),
        };
        let begun = Instant::now();
        let before = clock.read().unwrap();
        let counted = || clock.read().unwrap().since(before).unwrap_or(0.0);
        while counted() < 2e7 {
            assert!(begun.elapsed() < Duration::from_secs(10), "{}", counted());
        }
        let ns = counted();
        let passed = begun.elapsed();
        assert!(ns <= passed.as_nanos() as f64, "{ns} {passed:?}");
        assert_eq!(before.since(before), None);
    }

    #[test]
    fn a_part_of_the_time_stands_for_all() {
        let count = |counted, enabled_ns, running_ns| Count {
            counted,
            unit: 64,
            enabled_ns,
            running_ns,
        };
        let since = count(1_500, 3_000, 1_500).since(count(500, 1_000, 1_000));
        assert_eq!(since, Some(64.0 * 4_000.0));
    }

    #[test]
    fn energy_is_that_of_packages() {
        let folder = std::env::temp_dir().join(format!("mpps-rapl-{}", std::process::id()));
        let zone = |zone: &str, name: &str, uj: &str| {
            let zone = folder.join(zone);
            std::fs::create_dir_all(&zone).unwrap();
            for (file, text) in [
                ("name", name),
                ("energy_uj", uj),
                ("max_energy_range_uj", "9000000\n"),
            ] {
                std::fs::write(zone.join(file), text).unwrap();
            }
        };
        zone("intel-rapl:0", "package-0\n", "8000000\n");
        zone("intel-rapl:0:0", "core\n", "1\n");
        zone("intel-rapl:1", "psys\n", "2\n");
        zone("intel-rapl-mmio:0", "package-0\n", "3\n");
        let before = Energy::read_zones(&folder);
        zone("intel-rapl:0", "package-0\n", "1500000\n");
        let after = Energy::read_zones(&folder);
        std::fs::remove_dir_all(&folder).unwrap();
        assert_eq!((before.len(), after.len()), (1, 1));
        // It began again at 0.
        assert_eq!(after[0].since(before[0]), 2.5);
        assert_eq!(Energy::read_zones(&folder), []);
    }
}
