//! Which CPUs are threads of one core, and which belong to a memory node.

use super::Root;
use mpps_linux::cpu::CpuSet;
use mpps_record::facts::Reading;

/// The kernel's folder of CPUs.
pub const CPUS: &str = "/sys/devices/system/cpu";
/// The kernel's folder of memory nodes.
pub const NODES: &str = "/sys/devices/system/node";

/// A file's list of CPUs.
fn list(root: &Root, file: &str) -> Reading<CpuSet> {
    root.text(file).and_then(|list| list.parse().into())
}

/// The CPUs that are online.
pub fn online(root: &Root) -> Reading<CpuSet> {
    list(root, &format!("{CPUS}/online"))
}

/// The CPU and those that share its core.
pub fn threads_of_core(root: &Root, cpu: usize) -> Reading<CpuSet> {
    let file = format!("{CPUS}/cpu{cpu}/topology/thread_siblings_list");
    list(root, &file)
}

/// The memory nodes that are known, with their CPUs.
pub fn nodes(root: &Root) -> Vec<(usize, CpuSet)> {
    let numbers = root.numbered(NODES, "node").known().cloned();
    let of_node = |node| {
        let cpus = list(root, &format!("{NODES}/node{node}/cpulist"));
        Some((node, cpus.known()?.clone()))
    };
    numbers
        .unwrap_or_default()
        .into_iter()
        .filter_map(of_node)
        .collect()
}
