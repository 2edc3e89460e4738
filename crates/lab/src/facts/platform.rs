//! What the machine is: hypervisor, make, memory, and how much of its time others took.

use super::reading::{Reading, Root};
use mpps_linux::hypervisor;
use serde::Serialize;

const DMI: &str = "/sys/class/dmi/id";

/// Facts of the machine around the CPUs. No serial numbers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Platform {
    /// Who runs below, by the CPU's own word (`KVMKVMKVM`) or the kernel's (`xen`).
    pub hypervisor: Reading<String>,
    /// Who made the machine.
    pub vendor: Reading<String>,
    /// What it is called.
    pub product: Reading<String>,
    /// Version of its firmware.
    pub firmware: Reading<String>,
}

/// Facts of the memory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Memory {
    /// All of it.
    pub total_octets: Reading<u64>,
    /// What programs could still get.
    pub available_octets: Reading<u64>,
    /// Size of a huge page.
    pub hugepage_octets: Reading<u64>,
    /// Huge pages set aside.
    pub hugepages: Reading<u64>,
    /// Of these, not in use.
    pub hugepages_free: Reading<u64>,
}

impl Platform {
    /// Reads them; the CPU itself is asked of this machine only.
    #[must_use]
    pub fn read(root: &Root, signature: Option<String>) -> Self {
        let hypervisor = match signature {
            Some(name) => Reading::Read(name),
            None => root.text("/sys/hypervisor/type"),
        };
        Self {
            hypervisor,
            vendor: root.text(&format!("{DMI}/sys_vendor")),
            product: root.text(&format!("{DMI}/product_name")),
            firmware: root.text(&format!("{DMI}/bios_version")),
        }
    }

    /// The hypervisor's name as this machine's CPU says it.
    #[must_use]
    pub fn signature() -> Option<String> {
        hypervisor::signature()
    }
}

impl Memory {
    /// Reads them.
    #[must_use]
    pub fn read(root: &Root) -> Self {
        const MEMINFO: &str = "/proc/meminfo";
        let text = root.text(MEMINFO);
        let of = |name: &str| {
            text.clone().and_then(|text| {
                Reading::of(value(&text, name), || format!("{MEMINFO}: no {name}"))
            })
        };
        Self {
            total_octets: of("MemTotal"),
            available_octets: of("MemAvailable"),
            hugepage_octets: of("Hugepagesize"),
            hugepages: of("HugePages_Total"),
            hugepages_free: of("HugePages_Free"),
        }
    }
}

/// `MemTotal:       24689064 kB` in octets, `HugePages_Total:       0` as it is.
fn value(meminfo: &str, name: &str) -> Option<u64> {
    let line = super::reading::first_value(meminfo, &[name])?;
    let mut words = line.split_whitespace();
    let number: u64 = words.next()?.parse().ok()?;
    match words.next() {
        None => Some(number),
        Some("kB") => number.checked_mul(1024),
        Some(_) => None,
    }
}

/// Share of all CPUs' time since the machine started that the hypervisor gave to others.
pub(super) fn steal_share(root: &Root) -> Reading<f64> {
    const STAT: &str = "/proc/stat";
    root.text(STAT).and_then(|text| {
        Reading::of(stolen(&text), || {
            format!("{STAT}: no line of all CPUs with steal")
        })
    })
}

/// `cpu  user nice system idle iowait irq softirq steal ...`; guest times are part of user and nice.
fn stolen(stat: &str) -> Option<f64> {
    let line = stat.lines().find_map(|line| line.strip_prefix("cpu "))?;
    let ticks: Option<Vec<f64>> = line
        .split_whitespace()
        .take(8)
        .map(|word| word.parse::<u64>().ok().map(|ticks| ticks as f64))
        .collect();
    let ticks = ticks.filter(|ticks| ticks.len() == 8)?;
    let all: f64 = ticks.iter().sum();
    (all > 0.0).then(|| ticks[7] / all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn memory_is_read_with_its_unit() {
        let text = "MemTotal:       24689064 kB\nHugePages_Total:      12\nOdd: 5 MB\n";
        assert_eq!(value(text, "MemTotal"), Some(24_689_064 * 1024));
        assert_eq!(value(text, "HugePages_Total"), Some(12));
        assert_eq!((value(text, "Odd"), value(text, "Free")), (None, None));
        assert_eq!(value("MemTotal: 18446744073709551615 kB", "MemTotal"), None);
    }

    #[test]
    fn steal_is_a_share_of_all_time() {
        assert_eq!(stolen("cpu  30 0 10 50 0 0 0 10 0 0\ncpu0 1\n"), Some(0.1));
        for text in [
            "",
            "cpu 1 2 3",
            "cpu  0 0 0 0 0 0 0 0",
            "cpu  a 0 0 0 0 0 0 0",
            "cpu0 1 1 1 1 1 1 1 1",
        ] {
            assert_eq!(stolen(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_read(text in "(cpu )?[ -~\n]{0,200}") {
            let _ = (value(&text, "MemTotal"), stolen(&text));
        }
    }
}
