//! What is true of this machine whatever is measured: kernel, CPU, hypervisor, mitigations, and
//! whether a bed can be raised at all.

use crate::bed::{BedError, CpuSplit};
use mpps_linux::{cpu, kernel};
use std::fmt;
use std::fs;
use std::path::Path;

/// The kernel needed (docs/kernels.md): the youngest thing asked of it is the list of NAPI instances.
const KERNEL_MIN: (u32, u32) = (6, 8);
/// Where the kernel shows its own types.
const BTF: &str = "/sys/kernel/btf/vmlinux";
/// One file a CPU fault, with what is done against it.
const VULNERABILITIES: &str = "/sys/devices/system/cpu/vulnerabilities";

/// Kernel parameters that bear on packet rates: isolation, mitigations, timers, power, memory. The
/// others stay out of records: a command line may hold secrets.
const PARAMETERS: [&str; 22] = [
    "amd_pstate",
    "audit",
    "clocksource",
    "cpuidle.off",
    "hugepages",
    "idle",
    "intel_idle.max_cstate",
    "intel_iommu",
    "intel_pstate",
    "iommu",
    "irqaffinity",
    "isolcpus",
    "mitigations",
    "nohz",
    "nohz_full",
    "nosmt",
    "preempt",
    "processor.max_cstate",
    "rcu_nocbs",
    "skew_tick",
    "threadirqs",
    "transparent_hugepage",
];

/// Facts of a machine. Texts as the kernel writes them; empty where it does not say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    /// Kernel release, as `uname -r`.
    pub kernel_release: String,
    /// Parameters the kernel was booted with, as far as they bear on packet rates.
    pub kernel_parameters: Vec<String>,
    /// Model of the first CPU.
    pub cpu_model: String,
    /// CPUs online.
    pub cpus_online: usize,
    /// CPUs this process may use.
    pub cpus_available: usize,
    /// Whether the CPU says that a hypervisor runs below.
    pub hypervisor: bool,
    /// Each CPU fault that concerns this machine, with what the kernel does against it; in order.
    pub mitigations: Vec<(String, String)>,
}

impl Facts {
    /// Reads them. What cannot be read stays empty: a missing fact is no reason not to measure.
    #[must_use]
    pub fn gather() -> Self {
        let read = |path: &str| {
            fs::read_to_string(path)
                .unwrap_or_default()
                .trim()
                .to_owned()
        };
        let cpuinfo = read("/proc/cpuinfo");
        Self {
            kernel_release: read("/proc/sys/kernel/osrelease"),
            kernel_parameters: parameters(&read("/proc/cmdline")),
            cpu_model: first_value(&cpuinfo, &["model name", "cpu model", "CPU part"])
                .unwrap_or_default(),
            cpus_online: cpu::online().map_or(0, |cpus| cpus.len()),
            cpus_available: cpu::available().map_or(0, |cpus| cpus.len()),
            hypervisor: has_flag(&cpuinfo, "hypervisor"),
            mitigations: mitigations(Path::new(VULNERABILITIES)),
        }
    }

    /// The mitigations as one text, for comparing two machines: `name: state; ...`.
    #[must_use]
    pub fn mitigations_text(&self) -> String {
        let each: Vec<String> = self
            .mitigations
            .iter()
            .map(|(fault, state)| format!("{fault}: {state}"))
            .collect();
        each.join("; ")
    }
}

/// Shares the CPUs this process may use between DUT and tester; the user's lists ("0-3,5") win.
///
/// # Errors
/// A list that is no list, or names a CPU that is not available.
pub fn share_cpus(dut: Option<&str>, tester: Option<&str>) -> Result<CpuSplit, BedError> {
    CpuSplit::choose(&cpu::available()?, dut, tester)
}

/// What a machine lacks to raise a bed and send live frames.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Lack {
    /// Not root.
    Root,
    /// A newer kernel; the running one's release.
    Kernel(String),
    /// The kernel's types (CONFIG_DEBUG_INFO_BTF).
    Btf,
}

impl fmt::Display for Lack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (major, minor) = KERNEL_MIN;
        match self {
            Self::Root => f.write_str(
                "needs root for namespaces and eBPF: run it with sudo (see docs/privileges.md)",
            ),
            Self::Kernel(release) => write!(
                f,
                "Linux {release} cannot send live XDP frames: run Linux {major}.{minor} or newer (see docs/kernels.md)"
            ),
            Self::Btf => write!(
                f,
                "this kernel does not show its types ({BTF} is missing): run one with CONFIG_DEBUG_INFO_BTF, \
                 as distributions' are (see docs/kernels.md)"
            ),
        }
    }
}

impl std::error::Error for Lack {}

/// Checks what can be known without touching anything.
///
/// # Errors
/// The first thing that is missing.
pub fn check() -> Result<(), Lack> {
    // A kernel that does not say its release is let through: what it lacks it will say itself.
    let release = kernel::release().ok();
    lacking(
        kernel::effective_uid() == 0,
        release.as_ref(),
        Path::new(BTF).exists(),
    )
    .map_or(Ok(()), Err)
}

fn lacking(root: bool, release: Option<&kernel::Release>, btf: bool) -> Option<Lack> {
    if !root {
        return Some(Lack::Root);
    }
    if let Some(release) = release.filter(|release| !release.at_least(KERNEL_MIN.0, KERNEL_MIN.1)) {
        return Some(Lack::Kernel(release.text.clone()));
    }
    (!btf).then_some(Lack::Btf)
}

/// The value of the first of `keys` that a `key : value` text has.
fn first_value(text: &str, keys: &[&str]) -> Option<String> {
    let value_of = |key: &&str| {
        text.lines().find_map(|line| {
            let (name, value) = line.split_once(':')?;
            (name.trim() == *key).then(|| value.trim().to_owned())
        })
    };
    keys.iter().find_map(value_of)
}

fn parameters(command_line: &str) -> Vec<String> {
    let known = |word: &&str| PARAMETERS.contains(&word.split('=').next().unwrap_or_default());
    command_line
        .split_whitespace()
        .filter(known)
        .map(str::to_owned)
        .collect()
}

fn has_flag(cpuinfo: &str, flag: &str) -> bool {
    first_value(cpuinfo, &["flags"]).is_some_and(|flags| flags.split(' ').any(|one| one == flag))
}

fn mitigations(folder: &Path) -> Vec<(String, String)> {
    let Ok(entries) = fs::read_dir(folder) else {
        return Vec::new();
    };
    let mut found: Vec<(String, String)> = entries
        .flatten()
        .filter_map(|entry| {
            let state = fs::read_to_string(entry.path()).ok()?.trim().to_owned();
            Some((entry.file_name().to_string_lossy().into_owned(), state))
        })
        .filter(|(_, state)| state != "Not affected")
        .collect();
    found.sort();
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_machine_has_facts() {
        let facts = Facts::gather();
        assert!(facts.kernel_release.contains('.'), "{facts:?}");
        assert!(
            facts.cpus_available >= 1 && facts.cpus_online >= facts.cpus_available,
            "{facts:?}"
        );
        assert!(
            facts
                .mitigations
                .iter()
                .all(|(fault, state)| !fault.is_empty() && !state.contains('\n'))
        );
    }

    #[test]
    fn the_cpu_is_read_from_whatever_line_names_it() {
        let x86 = "processor\t: 0\nmodel name\t: Some CPU @ 2 GHz\nflags\t\t: fpu hypervisor lm\n";
        assert_eq!(
            first_value(x86, &["model name"]).as_deref(),
            Some("Some CPU @ 2 GHz")
        );
        assert!(has_flag(x86, "hypervisor") && !has_flag(x86, "hyper"));
        assert_eq!(
            first_value("CPU part : 0xd0c\n", &["model name", "CPU part"]).as_deref(),
            Some("0xd0c")
        );
        assert_eq!(first_value("", &["model name"]), None);
    }

    #[test]
    fn only_parameters_that_bear_on_rates_are_kept() {
        let line = "root=/dev/vda mitigations=off quiet secret=hunter2 isolcpus=2-3 threadirqs";
        assert_eq!(
            parameters(line),
            ["mitigations=off", "isolcpus=2-3", "threadirqs"]
        );
    }

    #[test]
    fn each_lack_names_its_remedy() {
        let release = |major, minor| kernel::Release {
            major,
            minor,
            text: format!("{major}.{minor}.0"),
        };
        let (old, new) = (release(6, 1), release(6, 8));
        assert_eq!(lacking(true, Some(&new), true), None);
        assert_eq!(lacking(true, None, true), None);
        for (lack, remedy) in [
            (lacking(false, Some(&new), true), "sudo"),
            (lacking(true, Some(&old), true), "6.8 or newer"),
            (lacking(true, Some(&new), false), "CONFIG_DEBUG_INFO_BTF"),
        ] {
            let line = lack.expect("something lacks").to_string();
            assert!(line.contains(remedy) && !line.contains('\n'), "{line}");
        }
    }
}
