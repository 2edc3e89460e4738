//! Facts of the machine: what a reader needs to believe the numbers. `mpps doctor --json` shows the same.

pub use crate::reading::Reading;

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A machine. Texts are as the kernel writes them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Facts {
    /// As `uname -r`.
    pub kernel_release: Reading<String>,
    /// Boot parameters that bear on packet rates. The others stay out: a command line may hold secrets.
    pub kernel_parameters: Reading<Vec<String>>,
    /// Model of the first CPU.
    pub cpu_model: Reading<String>,
    /// CPUs that the kernel schedules on.
    pub cpus_online: Reading<usize>,
    /// CPUs that the program may use.
    pub cpus_available: Reading<usize>,
    /// Whether the CPU says that a hypervisor runs below.
    pub hypervisor: Reading<bool>,
    /// Each CPU fault that concerns this machine, with what the kernel does against it; in order.
    pub mitigations: Reading<Vec<Mitigation>>,
    /// Share of all CPUs' time since boot that the hypervisor gave to others.
    pub steal_share_since_boot: Reading<f64>,
    /// The CPUs, in full.
    pub cpu: Cpu,
    /// The kernel, in full.
    pub kernel: Kernel,
    /// Memory.
    pub memory: Memory,
    /// Make and hypervisor.
    pub platform: Platform,
}

impl Facts {
    /// The mitigations as one text, for comparing two machines: `name: state; ...`.
    #[must_use]
    pub fn mitigations_text(&self) -> String {
        match &self.mitigations {
            Reading::Known(all) => {
                let each = all
                    .iter()
                    .map(|one| format!("{}: {}", one.fault, one.state));
                each.collect::<Vec<_>>().join("; ")
            }
            Reading::Unreadable { unreadable } => format!("unreadable: {unreadable}"),
        }
    }
}

/// A CPU fault and what is done against it, as the kernel writes it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Mitigation {
    /// `spectre_v2`.
    pub fault: String,
    /// `Mitigation: ...` or `Vulnerable...`.
    pub state: String,
}

/// The CPUs; where they could differ from each other, CPU 0.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Cpu {
    /// Microcode revision.
    pub microcode: Reading<String>,
    /// Clock as the kernel sees it when read (x86: /proc/cpuinfo). A guest sees the nominal one.
    pub clock_mhz: Reading<f64>,
    /// Highest clock that its frequency driver sets.
    pub frequency_max_khz: Reading<u64>,
    /// What sets its clock, as cpufreq names it.
    pub frequency_driver: Reading<String>,
    /// Governor, with the CPUs that have it ("0-3,5").
    pub governors: Reading<BTreeMap<String, String>>,
    /// Whether it may go above its nominal clock.
    pub turbo: Reading<bool>,
    /// How it idles.
    pub idle: Idle,
    /// Its caches, level 1 first.
    pub caches: Reading<Vec<Cache>>,
    /// Threads of a core that share it, itself included.
    pub threads_per_core: Reading<usize>,
    /// Simultaneous multithreading as the kernel controls it: `on`, `off`, `notsupported`...
    pub smt: Reading<String>,
    /// Sockets.
    pub packages: Reading<usize>,
    /// CPUs taken from the scheduler (`isolcpus`); empty where none is.
    pub isolated: Reading<String>,
    /// Memory nodes.
    pub numa_nodes: Reading<Vec<Node>>,
}

impl Cpu {
    /// Size of the largest cache.
    #[must_use]
    pub fn last_cache_octets(&self) -> Option<u64> {
        let caches = self.caches.known()?;
        caches
            .iter()
            .filter_map(|cache| cache.size_octets.known().copied())
            .max()
    }
}

/// Idle states.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Idle {
    /// `intel_idle`, `acpi_idle`, `haltpoll`, `none`.
    pub driver: Reading<String>,
    /// What chooses the idle state, as cpuidle names it.
    pub governor: Reading<String>,
    /// Shallow ones first.
    pub states: Reading<Vec<IdleState>>,
}

/// One idle state.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct IdleState {
    /// `C1E`.
    pub name: String,
    /// Time to leave it.
    pub exit_latency_us: Reading<u64>,
    /// Whether it is switched off.
    pub disabled: Reading<bool>,
}

/// One cache.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Cache {
    /// 1, 2, 3.
    pub level: Reading<u32>,
    /// `Data`, `Instruction`, `Unified`.
    pub kind: Reading<String>,
    /// How much it holds.
    pub size_octets: Reading<u64>,
    /// Octets that move together.
    pub line_octets: Reading<u64>,
    /// CPUs that share it ("0-3").
    pub shared_cpus: Reading<String>,
}

/// One memory node.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Node {
    /// Its number.
    pub node: usize,
    /// Its CPUs ("0-3").
    pub cpus: Reading<String>,
    /// How much it has on board.
    pub memory_octets: Reading<u64>,
}

/// The running kernel.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Kernel {
    /// Its build, as `uname -v`: number, SMP, preemption, date.
    pub version: Reading<String>,
    /// Compiler and linker.
    pub compiler: Reading<String>,
    /// Options that bear on forwarding.
    pub configuration: Reading<Configuration>,
    /// How it preempts now, where that can be switched: `none`, `voluntary`, `full`, `lazy`.
    pub preemption: Reading<String>,
    /// What it tells the time by.
    pub clocksource: Reading<String>,
    /// Settings of the whole machine, by their dotted names (sysctl(8)).
    pub settings: BTreeMap<String, Reading<String>>,
    /// Transparent huge pages: `always`, `madvise`, `never`.
    pub transparent_hugepages: Reading<String>,
}

impl Kernel {
    /// A setting of the machine as a number.
    #[must_use]
    pub fn setting(&self, name: &str) -> Option<i64> {
        self.settings.get(name)?.known()?.parse().ok()
    }
}

/// The kernel's configuration.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Configuration {
    /// The file it was read from.
    pub source: String,
    /// Options without `CONFIG_`: `y`, `m`, a value, or `n`. Those that the file does not name are `-`: this kernel has
    /// no such option, or one that it depends on is off.
    pub options: BTreeMap<String, String>,
}

impl Configuration {
    /// Whether an option is built in or a module; `None` where the file does not name it.
    #[must_use]
    pub fn has(&self, option: &str) -> Option<bool> {
        match self.options.get(option).map(String::as_str) {
            Some("-") | None => None,
            Some(value) => Some(value != "n"),
        }
    }
}

/// Memory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Memory {
    /// What the kernel manages.
    pub total_octets: Reading<u64>,
    /// What programs could have.
    pub available_octets: Reading<u64>,
    /// Size of a huge page.
    pub hugepage_octets: Reading<u64>,
    /// Huge pages.
    pub hugepages: Reading<u64>,
    /// Free ones.
    pub hugepages_free: Reading<u64>,
}

/// Make and hypervisor. No serial numbers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Platform {
    /// The hypervisor, by the CPU's own word (`KVMKVMKVM`) or the kernel's (`xen`).
    pub hypervisor: Reading<String>,
    /// Who made the machine.
    pub vendor: Reading<String>,
    /// Its model.
    pub product: Reading<String>,
    /// Version of its BIOS.
    pub firmware: Reading<String>,
}
