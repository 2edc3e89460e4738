//! What is true of this machine whatever is measured: CPUs, kernel and its configuration, memory,
//! hypervisor, mitigations, network interfaces; and whether a bed can be raised at all.
//!
//! The facts themselves are the record's ([`mpps_record::facts`]). They are read from files below a root, so that a planted
//! tree has facts too. What cannot be read says why; nothing is guessed. A missing fact is no reason not to measure.

pub(crate) mod config;
mod cpu;
mod host;
mod kernel;
mod lack;
pub mod nic;
mod platform;
mod root;
pub(crate) mod topology;

pub use cpu::{core_shared, cores_alike};
pub use host::{Change, HostSettings};
pub(crate) use lack::KERNEL_MIN;
pub use lack::{Lack, check};
pub use platform::memory;
pub use root::Root;

use mpps_linux::cpu as linux_cpu;
use mpps_linux::hypervisor;
use mpps_record::facts::{Facts, Reading};
use root::first_value;

/// This machine's.
#[must_use]
pub fn gather() -> Facts {
    let available = linux_cpu::available().map(|cpus| cpus.len());
    read(&Root::here(), available.into(), hypervisor::signature())
}

/// Those of a machine whose files are below `root`; what only the machine itself can say is given.
#[must_use]
pub fn read(root: &Root, available: Reading<usize>, signature: Option<String>) -> Facts {
    let cpuinfo = root.text("/proc/cpuinfo");
    let kernel_release = root.text("/proc/sys/kernel/osrelease");
    Facts {
        kernel_parameters: root
            .text("/proc/cmdline")
            .map(|line| kernel::parameters(&line)),
        cpu_model: model(&cpuinfo),
        cpus_online: topology::online(root).map(|cpus| cpus.len()),
        cpus_available: available,
        hypervisor: has_flag(&cpuinfo, "hypervisor"),
        mitigations: kernel::mitigations(root),
        steal_share_since_boot: platform::steal_share(root),
        cpu: cpu::read(root, &cpuinfo),
        kernel: kernel::read(root, kernel_release.text()),
        memory: memory(root),
        platform: platform::read(root, signature),
        kernel_release,
    }
}

/// Each architecture names its CPU in another line.
fn model(cpuinfo: &Reading<String>) -> Reading<String> {
    const KEYS: [&str; 5] = ["model name", "cpu model", "uarch", "cpu", "CPU part"];
    let why = |_: &_| "/proc/cpuinfo: no line names the CPU".to_owned();
    cpuinfo.find(|text| first_value(text, &KEYS), why)
}

/// Only x86 lists a flag for it.
fn has_flag(cpuinfo: &Reading<String>, flag: &str) -> Reading<bool> {
    let why = |_: &_| "/proc/cpuinfo: this architecture lists no flags".to_owned();
    let flags = cpuinfo.find(|text| first_value(text, &["flags"]), why);
    flags.map(|flags| flags.split(' ').any(|one| one == flag))
}

#[cfg(test)]
pub(crate) mod tests;
