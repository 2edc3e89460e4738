//! What is seen of the machine by looking: files and facts, no rights needed, nothing touched.

use super::{Check, State, Subject};
use crate::bed::{self, CpuSplit};
use crate::facts::{KERNEL_MIN, Root, core_shared, nic};
use mpps_linux::{cpu, kernel, task};
use mpps_record::facts::{Facts, Reading};

/// Memory that a bed, its maps and a record take at ease, octets.
const MEMORY_MIN: u64 = 512 << 20;

pub(super) fn all(root: &Root, facts: &Facts) -> Vec<Check> {
    vec![
        rights(root),
        kernel_version(facts),
        types(root),
        kernel_threads(),
        ipv6(root),
        clang(root),
        nics(root),
        cpus(facts),
        siblings(root),
        memory(facts),
        leftovers(),
    ]
}

/// Capabilities a bed needs, by their bit (`include/uapi/linux/capability.h`).
const CAPABILITIES: [(u32, &str); 7] = [
    (1, "CAP_DAC_OVERRIDE"),
    (5, "CAP_KILL"),
    (12, "CAP_NET_ADMIN"),
    (21, "CAP_SYS_ADMIN"),
    (23, "CAP_SYS_NICE"),
    (38, "CAP_PERFMON"),
    (39, "CAP_BPF"),
];

fn rights(root: &Root) -> Check {
    let missing = root.text("/proc/self/status").map(|status| {
        let held = capabilities(&status).unwrap_or(0);
        let lacks = |(bit, name): &(u32, &'static str)| (held >> bit & 1 == 0).then_some(*name);
        CAPABILITIES.iter().filter_map(lacks).collect::<Vec<_>>()
    });
    let missing = missing.known().cloned().unwrap_or_default();
    if kernel::effective_uid() != 0 {
        return Check::lacks(Subject::RIGHTS, "not root");
    }
    if missing.is_empty() {
        Check::good(Subject::RIGHTS, "root, with every capability needed")
    } else {
        let seen = format!("root without {}", missing.join(", "));
        Check::lacks(Subject::RIGHTS, seen)
    }
}

/// `CapEff: 000001ffffffffff`
fn capabilities(status: &str) -> Option<u64> {
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("CapEff:"))?;
    u64::from_str_radix(line.trim(), 16).ok()
}

fn kernel_version(facts: &Facts) -> Check {
    let (major, minor) = KERNEL_MIN;
    match kernel::release() {
        Ok(release) if release.at_least(major, minor) => {
            let seen = format!(
                "Linux {} ({major}.{minor} or newer is needed)",
                release.text
            );
            Check::good(Subject::KERNEL, seen)
        }
        Ok(release) => {
            let seen = format!("Linux {}, older than {major}.{minor}", release.text);
            Check::lacks(Subject::KERNEL, seen)
        }
        Err(error) => {
            let why = facts
                .kernel_release
                .why()
                .map_or_else(|| error.to_string(), str::to_owned);
            Check::untried(Subject::KERNEL, &why)
        }
    }
}

fn types(root: &Root) -> Check {
    const BTF: &str = "/sys/kernel/btf/vmlinux";
    if root.path(BTF).exists() {
        Check::good(Subject::BTF, BTF)
    } else {
        Check::lacks(Subject::BTF, format!("{BTF} is not there"))
    }
}

fn kernel_threads() -> Check {
    let seen = task::find_kthreads(|name| name.starts_with("ksoftirqd/"));
    match seen {
        Ok(threads) if !threads.is_empty() => {
            let seen = format!("visible ({} of ksoftirqd)", threads.len());
            Check::good(Subject::KERNEL_THREADS, seen)
        }
        Ok(_) => Check::lacks(
            Subject::KERNEL_THREADS,
            "none visible: mpps runs in a process namespace of its own",
        ),
        Err(error) => Check::untried(Subject::KERNEL_THREADS, &error.to_string()),
    }
}

fn ipv6(root: &Root) -> Check {
    const SETTING: &str = "/proc/sys/net/ipv6/conf/all/forwarding";
    match root.text(SETTING) {
        Reading::Known(_) => Check::good(Subject::IPV6, "forwarding can be set"),
        Reading::Unreadable { unreadable } => Check::lacks(Subject::IPV6, unreadable),
    }
}

fn clang(root: &Root) -> Check {
    let path = std::env::var("PATH").unwrap_or_default();
    let mut folders: Vec<&str> = path.split(':').collect();
    folders.extend(["/usr/bin", "/usr/local/bin"]);
    let found = folders
        .iter()
        .map(|folder| format!("{folder}/clang"))
        .find(|program| root.path(program).is_file());
    match found {
        Some(program) => Check::good(Subject::CLANG, program),
        None => Check::lacks(Subject::CLANG, "no clang on PATH"),
    }
}

fn nics(root: &Root) -> Check {
    match nic::names(root) {
        Reading::Known(names) if names.len() >= 2 => Check::good(Subject::NICS, names.join(", ")),
        Reading::Known(names) if names.is_empty() => {
            Check::lacks(Subject::NICS, "none in this namespace")
        }
        Reading::Known(names) => {
            let seen = format!("{} alone; a pair is needed", names.join(", "));
            Check::lacks(Subject::NICS, seen)
        }
        Reading::Unreadable { unreadable } => Check::untried(Subject::NICS, &unreadable),
    }
}

fn cpus(facts: &Facts) -> Check {
    let Some(&available) = facts.cpus_available.known() else {
        return Check::untried(
            Subject::CPUS,
            facts.cpus_available.why().unwrap_or_default(),
        );
    };
    let seen = match available {
        1 => "1: tester and DUT share it".to_owned(),
        2 => "2: one for the DUT, one for sender and receiver together".to_owned(),
        more => format!("{more}: sender, receiver and DUT have one each"),
    };
    Check::good_if(Subject::CPUS, available > 2, seen)
}

/// Whether a core of the DUT's runs the tester as well, in its other thread.
fn siblings(root: &Root) -> Check {
    let split = cpu::available()
        .ok()
        .and_then(|all| CpuSplit::choose(&all, None, None).ok());
    let Some(split) = split else {
        return Check::untried(Subject::SIBLINGS, "the CPUs could not be read");
    };
    match core_shared(root, &split.dut, &split.tester) {
        Reading::Unreadable { unreadable } => {
            return Check::untried(Subject::SIBLINGS, &unreadable);
        }
        Reading::Known(Some((dut, tester))) => {
            let seen = format!("CPU {dut} (DUT) and CPU {tester} (tester) are one core");
            return Check::new(Subject::SIBLINGS, State::Costs, seen);
        }
        Reading::Known(None) => {}
    }
    Check::good(Subject::SIBLINGS, "tester and DUT have cores of their own")
}

fn memory(facts: &Facts) -> Check {
    match &facts.memory.available_octets {
        Reading::Known(octets) => Check::good_if(
            Subject::MEMORY,
            *octets >= MEMORY_MIN,
            format!("{} MiB available", octets >> 20),
        ),
        Reading::Unreadable { unreadable } => Check::untried(Subject::MEMORY, unreadable),
    }
}

fn leftovers() -> Check {
    match bed::list() {
        Ok(beds) => {
            let dead: Vec<&str> = beds
                .iter()
                .filter(|bed| !bed.kept && !bed.in_use)
                .map(|bed| bed.name.as_str())
                .collect();
            let seen = if dead.is_empty() {
                format!("none ({} beds stand)", beds.len())
            } else {
                format!("of {}", dead.join(", "))
            };
            Check::good_if(Subject::LEFTOVERS, dead.is_empty(), seen)
        }
        Err(error) => Check::untried(Subject::LEFTOVERS, &error.to_string()),
    }
}

#[cfg(test)]
mod tests;
