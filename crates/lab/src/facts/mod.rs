//! What is true of this machine whatever is measured: CPUs, kernel and its configuration, memory,
//! hypervisor, mitigations, network interfaces; and whether a bed can be raised at all.
//!
//! Facts are read from files below a root, so that a planted tree has facts too. What cannot be read
//! says why; nothing is guessed. A missing fact is no reason not to measure.

mod config;
mod cpu;
mod host;
mod kernel;
mod lack;
mod nic;
mod platform;
mod reading;

pub use config::Configuration;
pub use cpu::{Cache, Cpu, Idle, IdleState, Node, core_shared};
pub use host::{Change, HostSettings};
pub use kernel::{Kernel, Mitigation};
pub(crate) use lack::KERNEL_MIN;
pub use lack::{Lack, check};
pub use nic::{ChannelFacts, CoalescingFacts, DriverFacts, Nic, PcieLink, RingFacts};
pub use platform::{Memory, Platform};
pub use reading::{Reading, Root};

use mpps_linux::cpu as linux_cpu;
use mpps_linux::cpu::CpuSet;
use reading::first_value;
use serde::Serialize;

/// Facts of a machine. Texts as the kernel writes them.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Facts {
    /// Kernel release, as `uname -r`.
    pub kernel_release: Reading<String>,
    /// Parameters the kernel was booted with, as far as they bear on packet rates.
    pub kernel_parameters: Reading<Vec<String>>,
    /// Model of the first CPU.
    pub cpu_model: Reading<String>,
    /// CPUs online.
    pub cpus_online: Reading<usize>,
    /// CPUs this process may use.
    pub cpus_available: Reading<usize>,
    /// Whether the CPU says that a hypervisor runs below.
    pub hypervisor: Reading<bool>,
    /// Each CPU fault that concerns this machine, with what the kernel does against it; in order.
    pub mitigations: Reading<Vec<Mitigation>>,
    /// Share of all CPUs' time since the machine started that the hypervisor gave to others.
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
    /// This machine's.
    #[must_use]
    pub fn gather() -> Self {
        let available = linux_cpu::available().map(|cpus| cpus.len());
        Self::read(&Root::here(), available.into(), Platform::signature())
    }

    /// Those of a machine whose files are below `root`; what only the machine itself can say is given.
    #[must_use]
    pub fn read(root: &Root, available: Reading<usize>, signature: Option<String>) -> Self {
        let cpuinfo = root.text("/proc/cpuinfo");
        let kernel_release = root.text("/proc/sys/kernel/osrelease");
        Self {
            kernel_parameters: root
                .text("/proc/cmdline")
                .map(|line| kernel::parameters(&line)),
            cpu_model: model(&cpuinfo),
            cpus_online: root
                .text("/sys/devices/system/cpu/online")
                .and_then(|list| list.parse::<CpuSet>().into())
                .map(|cpus| cpus.len()),
            cpus_available: available,
            hypervisor: cpuinfo
                .clone()
                .and_then(|text| has_flag(&text, "hypervisor")),
            mitigations: kernel::mitigations(root),
            steal_share_since_boot: platform::steal_share(root),
            cpu: Cpu::read(root, &cpuinfo),
            kernel: Kernel::read(root, kernel_release.text()),
            memory: Memory::read(root),
            platform: Platform::read(root, signature),
            kernel_release,
        }
    }

    /// The mitigations as one text, for comparing two machines: `name: state; ...`.
    #[must_use]
    pub fn mitigations_text(&self) -> String {
        match &self.mitigations {
            Reading::Read(all) => {
                let each = all
                    .iter()
                    .map(|one| format!("{}: {}", one.fault, one.state));
                each.collect::<Vec<_>>().join("; ")
            }
            Reading::Unreadable { unreadable } => format!("unreadable: {unreadable}"),
        }
    }
}

/// Each architecture names its CPU in another line.
fn model(cpuinfo: &Reading<String>) -> Reading<String> {
    const KEYS: [&str; 5] = ["model name", "cpu model", "uarch", "cpu", "CPU part"];
    cpuinfo.clone().and_then(|text| {
        Reading::of(first_value(&text, &KEYS), || {
            "/proc/cpuinfo: no line names the CPU".to_owned()
        })
    })
}

/// Only x86 lists a flag for it.
fn has_flag(cpuinfo: &str, flag: &str) -> Reading<bool> {
    match first_value(cpuinfo, &["flags"]) {
        Some(flags) => Reading::Read(flags.split(' ').any(|one| one == flag)),
        None => Reading::unreadable("/proc/cpuinfo: this architecture lists no flags"),
    }
}

#[cfg(test)]
pub(crate) mod planted;
#[cfg(test)]
mod tests;
