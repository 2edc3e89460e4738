//! Settings of the whole machine that a set-up script, or anyone else, may change while a run lasts.

use super::kernel::{SETTINGS, file_of};
use super::root::Root;
use super::topology::CPUS;
use std::collections::BTreeMap;
use std::fmt;

const IRQS: &str = "/proc/irq";
/// Memory settings that bear on packet rates.
const MEMORY: [&str; 5] = [
    "vm.compaction_proactiveness",
    "vm.min_free_kbytes",
    "vm.nr_hugepages",
    "vm.stat_interval",
    "vm.swappiness",
];

/// The settings at one moment, by name; what cannot be read is left out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HostSettings(BTreeMap<String, String>);

/// One setting that changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// Its name: `kernel.numa_balancing`, `governor of CPU 1`, `affinity of IRQ 24`.
    pub name: String,
    /// Before; `None` where it was not there.
    pub before: Option<String>,
    /// After; `None` where it is there no more.
    pub after: Option<String>,
}

/// The settings of interrupts begin so.
const OF_INTERRUPT: &str = "affinity of IRQ";

impl Change {
    /// Whether an interrupt was moved to other CPUs.
    #[must_use]
    pub fn is_of_interrupt(&self) -> bool {
        self.name.starts_with(OF_INTERRUPT)
    }
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = |side: &Option<String>| side.clone().unwrap_or_else(|| "nothing".to_owned());
        let (before, after) = (text(&self.before), text(&self.after));
        write!(f, "{} from {before} to {after}", self.name)
    }
}

impl HostSettings {
    /// Reads settings of the kernel and of memory, CPU governors, and the CPUs that interrupts go to.
    #[must_use]
    pub fn read(root: &Root) -> Self {
        let mut files: Vec<(String, String)> = SETTINGS
            .iter()
            .chain(&MEMORY)
            .map(|name| ((*name).to_owned(), file_of(name)))
            .collect();
        for cpu in root.numbered(CPUS, "cpu").known().into_iter().flatten() {
            let path = format!("{CPUS}/cpu{cpu}/cpufreq/scaling_governor");
            files.push((format!("governor of CPU {cpu}"), path));
        }
        for irq in root.numbered(IRQS, "").known().into_iter().flatten() {
            let path = format!("{IRQS}/{irq}/smp_affinity_list");
            files.push((format!("{OF_INTERRUPT} {irq}"), path));
        }
        let read = |(name, path): (String, String)| Some((name, root.text(&path).known()?.clone()));
        Self(files.into_iter().filter_map(read).collect())
    }

    /// What is otherwise in `later`.
    #[must_use]
    pub fn changes(&self, later: &Self) -> Vec<Change> {
        let mut names: Vec<&String> = self.0.keys().chain(later.0.keys()).collect();
        names.sort();
        names.dedup();
        let change = |name: &String| {
            let (before, after) = (self.0.get(name).cloned(), later.0.get(name).cloned());
            let name = name.clone();
            (before != after).then_some(Change {
                name,
                before,
                after,
            })
        };
        names.into_iter().filter_map(change).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn what_changed_is_named() {
        let base = std::env::temp_dir().join(format!("mpps-host-{}", std::process::id()));
        let write = |path: &str, text: &str| {
            let path = base.join(path);
            fs::create_dir_all(path.parent().expect("a folder")).expect("folder");
            fs::write(path, text).expect("file");
        };
        let root = Root::at(&base);
        write("proc/sys/kernel/numa_balancing", "1\n");
        write("proc/sys/vm/swappiness", "60\n");
        write("proc/irq/24/smp_affinity_list", "0-1\n");
        let governor = "sys/devices/system/cpu/cpu1/cpufreq/scaling_governor";
        write(governor, "schedutil\n");
        let before = HostSettings::read(&root);
        assert_eq!(before.changes(&HostSettings::read(&root)), []);
        write("proc/sys/kernel/numa_balancing", "0\n");
        write("proc/irq/24/smp_affinity_list", "1\n");
        write(governor, "performance\n");
        let changes = before.changes(&HostSettings::read(&root));
        fs::remove_dir_all(&base).expect("remove");
        let told: Vec<String> = changes.iter().map(ToString::to_string).collect();
        assert_eq!(
            told,
            [
                "affinity of IRQ 24 from 0-1 to 1",
                "governor of CPU 1 from schedutil to performance",
                "kernel.numa_balancing from 1 to 0"
            ]
        );
    }
}
