//! What is seen of the machine by looking: files and facts, no rights needed, nothing touched.

use super::subject::{Seen, good, good_if, lacks, tried};
use super::{Check, Subject};
use crate::bed::{self, CpuSplit};
use crate::facts::{KERNEL_MIN, Root, core_shared, nic};
use mpps_linux::{cpu, kernel, task};
use mpps_record::facts::Facts;

/// Memory that a bed, its maps and a record take at ease, octets.
const MEMORY_MIN: u64 = 512 << 20;

pub(super) fn all(root: &Root, facts: &Facts) -> Vec<Check> {
    let seen = [
        (Subject::RIGHTS, rights(root)),
        (Subject::KERNEL, kernel_version(facts)),
        (Subject::BTF, types(root)),
        (Subject::KERNEL_THREADS, kernel_threads()),
        (Subject::IPV6, ipv6(root)),
        (Subject::CLANG, clang(root)),
        (Subject::NICS, nics(root)),
        (Subject::CPUS, cpus(facts)),
        (Subject::SIBLINGS, siblings(root)),
        (Subject::MEMORY, memory(facts)),
        (Subject::LEFTOVERS, leftovers()),
    ];
    seen.map(|(subject, seen)| Check::new(subject, seen)).into()
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

fn rights(root: &Root) -> Seen {
    if kernel::effective_uid() != 0 {
        return lacks("not root");
    }
    let status = root.text("/proc/self/status");
    let missing: Vec<&str> = status.known().map_or_else(Vec::new, |status| {
        let held = capabilities(status).unwrap_or(0);
        let lacking = CAPABILITIES.iter().filter(|(bit, _)| held >> bit & 1 == 0);
        lacking.map(|(_, name)| *name).collect()
    });
    if missing.is_empty() {
        good("root, with every capability needed")
    } else {
        lacks(format!("root without {}", missing.join(", ")))
    }
}

/// `CapEff: 000001ffffffffff`
fn capabilities(status: &str) -> Option<u64> {
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("CapEff:"))?;
    u64::from_str_radix(line.trim(), 16).ok()
}

fn kernel_version(facts: &Facts) -> Seen {
    let (major, minor) = KERNEL_MIN;
    let release = kernel::release().map_err(|error| {
        let why = facts.kernel_release.why();
        why.map_or_else(|| error.to_string(), str::to_owned)
    })?;
    let text = &release.text;
    if release.at_least(major, minor) {
        good(format!("Linux {text} ({major}.{minor} or newer is needed)"))
    } else {
        lacks(format!("Linux {text}, older than {major}.{minor}"))
    }
}

fn types(root: &Root) -> Seen {
    const BTF: &str = "/sys/kernel/btf/vmlinux";
    if root.path(BTF).exists() {
        good(BTF)
    } else {
        lacks(format!("{BTF} is not there"))
    }
}

fn kernel_threads() -> Seen {
    let seen = task::find_kthreads(|name| name.starts_with("ksoftirqd/"));
    match seen.map_err(|error| error.to_string())?.len() {
        0 => lacks("none visible: mpps runs in a process namespace of its own"),
        threads => good(format!("visible ({threads} of ksoftirqd)")),
    }
}

fn ipv6(root: &Root) -> Seen {
    let setting = root.text("/proc/sys/net/ipv6/conf/all/forwarding");
    tried(setting.get().map(|_| "forwarding can be set".to_owned()))
}

fn clang(root: &Root) -> Seen {
    let path = std::env::var("PATH").unwrap_or_default();
    let found = path
        .split(':')
        .chain(["/usr/bin", "/usr/local/bin"])
        .map(|folder| format!("{folder}/clang"))
        .find(|program| root.path(program).is_file());
    tried(found.ok_or("no clang on PATH"))
}

fn nics(root: &Root) -> Seen {
    let names = nic::names(root);
    let names = names.get()?;
    match names.len() {
        0 => lacks("none in this namespace"),
        1 => lacks(format!("{} alone; a pair is needed", names[0])),
        _ => good(names.join(", ")),
    }
}

fn cpus(facts: &Facts) -> Seen {
    let available = *facts.cpus_available.get()?;
    let seen = match available {
        1 => "1: tester and DUT share it".to_owned(),
        2 => "2: one for the DUT, one for sender and receiver together".to_owned(),
        more => format!("{more}: sender, receiver and DUT have one each"),
    };
    good_if(available > 2, seen)
}

/// Whether a core of the DUT's runs the tester as well, in its other thread.
fn siblings(root: &Root) -> Seen {
    let split = cpu::available()
        .ok()
        .and_then(|all| CpuSplit::choose(&all, None, None).ok())
        .ok_or("the CPUs could not be read")?;
    match core_shared(root, &split.dut, &split.tester).get()? {
        Some((dut, tester)) => {
            let seen = format!("CPU {dut} (DUT) and CPU {tester} (tester) are one core");
            good_if(false, seen)
        }
        None => good("tester and DUT have cores of their own"),
    }
}

fn memory(facts: &Facts) -> Seen {
    let octets = *facts.memory.available_octets.get()?;
    good_if(
        octets >= MEMORY_MIN,
        format!("{} MiB available", octets >> 20),
    )
}

fn leftovers() -> Seen {
    let beds = bed::list().map_err(|error| error.to_string())?;
    let dead = beds.iter().filter(|bed| !bed.kept && !bed.in_use);
    let dead: Vec<&str> = dead.map(|bed| bed.name.as_str()).collect();
    if dead.is_empty() {
        good(format!("none ({} beds stand)", beds.len()))
    } else {
        good_if(false, format!("of {}", dead.join(", ")))
    }
}

#[cfg(test)]
mod tests;
