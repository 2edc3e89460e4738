//! What the machine is: hypervisor, make, memory, and how much of its time others took.

use super::root::{Root, first_value};
use mpps_record::facts::{Memory, Platform, Reading};

const DMI: &str = "/sys/class/dmi/id";

/// What the machine is; its hypervisor by `signature`, where the CPU has one.
pub(super) fn read(root: &Root, signature: Option<String>) -> Platform {
    Platform {
        hypervisor: signature.map_or_else(|| root.text("/sys/hypervisor/type"), Reading::Known),
        vendor: root.text(&format!("{DMI}/sys_vendor")),
        product: root.text(&format!("{DMI}/product_name")),
        firmware: root.text(&format!("{DMI}/bios_version")),
    }
}

/// Memory of a machine.
#[must_use]
pub fn memory(root: &Root) -> Memory {
    const MEMINFO: &str = "/proc/meminfo";
    let text = root.text(MEMINFO);
    let reading = |name: &str| {
        let why = |_: &_| format!("{MEMINFO}: no {name}");
        text.find(|text| value(text, name), why)
    };
    Memory {
        total_octets: reading("MemTotal"),
        available_octets: reading("MemAvailable"),
        hugepage_octets: reading("Hugepagesize"),
        hugepages: reading("HugePages_Total"),
        hugepages_free: reading("HugePages_Free"),
    }
}

/// `MemTotal:       24689064 kB` in octets, `HugePages_Total:       0` as it is.
fn value(meminfo: &str, name: &str) -> Option<u64> {
    let line = first_value(meminfo, &[name])?;
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
    let why = |_: &_| format!("{STAT}: no line of all CPUs with steal");
    root.text(STAT).find(|text| stolen(text), why)
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
