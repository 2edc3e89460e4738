//! What the CPUs are: model, caches, clock, idle states, siblings, memory nodes.

use super::root::{Root, first_value};
use super::topology::{self, CPUS, NODES};
use mpps_linux::cpu::CpuSet;
use mpps_record::facts::{Cache, Cpu, Idle, IdleState, Node, Reading};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Display;

/// A CPU of the DUT's and one of the tester's that are threads of one core, if any are.
#[must_use]
pub fn core_shared(
    root: &Root,
    dut_cpus: &[usize],
    tester_cpus: &[usize],
) -> Reading<Option<(usize, usize)>> {
    for &dut in dut_cpus {
        let threads = match topology::threads_of_core(root, dut) {
            Reading::Unreadable { unreadable } => return Reading::unreadable(unreadable),
            Reading::Known(threads) => threads,
        };
        let sibling = |&&other: &&usize| other != dut && threads.contains(other);
        if let Some(&tester) = tester_cpus.iter().find(sibling) {
            return Reading::Known(Some((dut, tester)));
        }
    }
    Reading::Known(None)
}

/// A core this much slower than the fastest one is another kind of core. Cores that may turbo differ by less.
const ALIKE: f64 = 0.9;

/// One CPU of each core among these, of the fastest kind and of the first one's memory node. Whatever is not known is the same
/// for all.
#[must_use]
pub fn cores_alike(root: &Root, available: &CpuSet) -> Vec<usize> {
    let speed = |cpu: usize| {
        let files = ["cpu_capacity", "cpufreq/cpuinfo_max_freq"];
        let mut numbers = files
            .iter()
            .map(|file| root.number(&format!("{CPUS}/cpu{cpu}/{file}")));
        numbers.find_map(|number: Reading<f64>| number.known().copied())
    };
    let fastest = available.iter().filter_map(speed).fold(0.0, f64::max);
    let mut cores: Vec<usize> = Vec::new();
    for cpu in available.iter() {
        let is_fast = speed(cpu).is_none_or(|speed| speed >= ALIKE * fastest);
        let threads = topology::threads_of_core(root, cpu);
        let threads = threads.known();
        let is_taken =
            threads.is_some_and(|threads| cores.iter().any(|&one| threads.contains(one)));
        if is_fast && !is_taken {
            cores.push(cpu);
        }
    }
    let nodes = topology::nodes(root);
    let is_first_ones = |(_, cpus): &&(usize, CpuSet)| {
        let first = cores.first();
        first.is_some_and(|&first| cpus.contains(first))
    };
    if let Some((_, node)) = nodes.iter().find(is_first_ones) {
        cores.retain(|&cpu| node.contains(cpu));
    }
    cores
}

/// The CPUs; where they could differ from each other, CPU 0.
pub(super) fn read(root: &Root, cpuinfo: &Reading<String>) -> Cpu {
    let first = |name: &str| format!("{CPUS}/cpu0/{name}");
    let said = |keys: &[&str]| {
        let why = |_: &_| format!("/proc/cpuinfo: no line \"{}\"", keys.join("\" or \""));
        cpuinfo.find(|text| first_value(text, keys), why)
    };
    let clock = said(&["cpu MHz"]).find(
        |text| text.parse().ok(),
        |_| "/proc/cpuinfo: \"cpu MHz\" is no number".to_owned(),
    );
    Cpu {
        microcode: said(&["microcode", "CPU revision"]),
        clock_mhz: clock,
        frequency_max_khz: root.number(&first("cpufreq/cpuinfo_max_freq")),
        frequency_driver: root.text(&first("cpufreq/scaling_driver")),
        governors: governors(root),
        turbo: turbo(root),
        idle: idle(root),
        caches: caches(root),
        threads_per_core: topology::threads_of_core(root, 0).map(|threads| threads.len()),
        smt: root.text(&format!("{CPUS}/smt/control")),
        packages: packages(root),
        isolated: root.text(&format!("{CPUS}/isolated")),
        numa_nodes: nodes(root),
    }
}

fn governors(root: &Root) -> Reading<BTreeMap<String, String>> {
    root.numbered(CPUS, "cpu").and_then(|cpus| {
        let mut by_name: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        let mut why = String::new();
        for cpu in cpus {
            match root.text(&format!("{CPUS}/cpu{cpu}/cpufreq/scaling_governor")) {
                Reading::Known(name) => by_name.entry(name).or_default().push(cpu),
                Reading::Unreadable { unreadable } => why = unreadable,
            }
        }
        if by_name.is_empty() {
            return Reading::unreadable(why);
        }
        let listed = by_name.into_iter().map(|(name, cpus)| {
            let set: CpuSet = cpus.into_iter().collect();
            (name, set.to_string())
        });
        Reading::Known(listed.collect())
    })
}

/// Two drivers say it in two ways.
fn turbo(root: &Root) -> Reading<bool> {
    let off = root.number::<u8>(&format!("{CPUS}/intel_pstate/no_turbo"));
    let on = root.number::<u8>(&format!("{CPUS}/cpufreq/boost"));
    match (off, on) {
        (Reading::Known(off), _) => Reading::Known(off == 0),
        (_, Reading::Known(on)) => Reading::Known(on != 0),
        (Reading::Unreadable { unreadable: a }, Reading::Unreadable { unreadable: b }) => {
            Reading::unreadable(format!("{a}; {b}"))
        }
    }
}

fn idle(root: &Root) -> Idle {
    let folder = format!("{CPUS}/cpu0/cpuidle");
    let states = root.numbered(&folder, "state").map(|numbers| {
        let state = |number: usize| {
            let path = |name: &str| format!("{folder}/state{number}/{name}");
            IdleState {
                name: root.text(&path("name")).text().to_owned(),
                exit_latency_us: root.number(&path("latency")),
                disabled: root.number::<u64>(&path("disable")).map(|flags| flags != 0),
            }
        };
        numbers.into_iter().map(state).collect()
    });
    Idle {
        driver: root.text(&format!("{CPUS}/cpuidle/current_driver")),
        governor: root.text(&format!("{CPUS}/cpuidle/current_governor_ro")),
        states,
    }
}

fn caches(root: &Root) -> Reading<Vec<Cache>> {
    let folder = format!("{CPUS}/cpu0/cache");
    root.numbered(&folder, "index").map(|numbers| {
        let cache = |number: usize| {
            let path = |name: &str| format!("{folder}/index{number}/{name}");
            Cache {
                level: root.number(&path("level")),
                kind: root.text(&path("type")),
                size_octets: root.text(&path("size")).find(
                    |text| octets(text),
                    |text| format!("{}: \"{text}\" is no size", path("size")),
                ),
                line_octets: root.number(&path("coherency_line_size")),
                shared_cpus: root.text(&path("shared_cpu_list")),
            }
        };
        numbers.into_iter().map(cache).collect()
    })
}

/// `32K`, `1M`, `32768K` as sysfs writes a cache's size.
fn octets(text: &str) -> Option<u64> {
    let digits = text.trim_end_matches(|letter: char| letter.is_ascii_alphabetic());
    let times = match &text[digits.len()..] {
        "" => 1,
        "K" => 1 << 10,
        "M" => 1 << 20,
        "G" => 1 << 30,
        _ => return None,
    };
    digits.parse::<u64>().ok()?.checked_mul(times)
}

fn packages(root: &Root) -> Reading<usize> {
    let file = |cpu: &dyn Display| format!("{CPUS}/cpu{cpu}/topology/physical_package_id");
    // A CPU that is offline has none.
    let id = |cpu: &usize| root.text(&file(cpu)).known().cloned();
    root.numbered(CPUS, "cpu").find(
        |cpus| {
            let ids: BTreeSet<String> = cpus.iter().filter_map(id).collect();
            (!ids.is_empty()).then_some(ids.len())
        },
        |_| format!("{}: not there", file(&'*')),
    )
}

fn nodes(root: &Root) -> Reading<Vec<Node>> {
    root.numbered(NODES, "node").map(|numbers| {
        let node = |number: usize| {
            let path = |name: &str| format!("{NODES}/node{number}/{name}");
            Node {
                node: number,
                cpus: root.text(&path("cpulist")),
                memory_octets: root.text(&path("meminfo")).find(
                    |text| node_memory(text),
                    |_| format!("{}: no MemTotal", path("meminfo")),
                ),
            }
        };
        numbers.into_iter().map(node).collect()
    })
}

/// `Node 0 MemTotal:       24689064 kB`
fn node_memory(meminfo: &str) -> Option<u64> {
    let line = meminfo.lines().find(|line| line.contains("MemTotal:"))?;
    let kib: u64 = line.split_whitespace().rev().nth(1)?.parse().ok()?;
    kib.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::tests::planted::Planted;
    use proptest::prelude::*;

    #[test]
    fn of_each_fast_core_near_the_first_there_is_one_cpu() {
        let file = |cpu: usize, name: &str| format!("{CPUS}/cpu{cpu}/{name}");
        let planted = Planted::new("cores", &[]);
        let here = |available: &str| cores_alike(&planted.root(), &available.parse().unwrap());
        assert_eq!(here("0-3"), [0, 1, 2, 3], "nothing is known");
        for cpu in 0..8 {
            let threads = [cpu / 2 * 2, cpu / 2 * 2 + 1].map(|one| one.to_string());
            planted.put(
                &file(cpu, "topology/thread_siblings_list"),
                threads.join(",").as_bytes(),
            );
        }
        assert_eq!(here("0-7"), [0, 2, 4, 6]);
        assert_eq!(here("1-3"), [1, 2], "not all may be used");
        // A small favour by the turbo is none; the last core is of another kind.
        for cpu in 0..8 {
            let khz = [5_100_000, 5_100_000, 5_000_000, 3_900_000][cpu / 2].to_string();
            planted.put(&file(cpu, "cpufreq/cpuinfo_max_freq"), khz.as_bytes());
        }
        assert_eq!(here("0-7"), [0, 2, 4]);
        for (node, cpus) in [("node0", "0-3"), ("node1", "4-7")] {
            planted.put(&format!("{NODES}/{node}/cpulist"), cpus.as_bytes());
        }
        assert_eq!(here("0-7"), [0, 2]);
        assert_eq!(here("3-7"), [3], "the node of the first");
    }

    #[test]
    fn sizes_are_as_sysfs_writes_them() {
        for (text, wanted) in [
            ("32K", Some(32 << 10)),
            ("32768K", Some(32 << 20)),
            ("1M", Some(1 << 20)),
            ("64", Some(64)),
            ("", None),
            ("K", None),
            ("32k", None),
            ("-1K", None),
            ("99999999999999999999K", None),
            ("18446744073709551615G", None),
        ] {
            assert_eq!(octets(text), wanted, "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_read(text in ".{0,60}") {
            let _ = (octets(&text), node_memory(&text));
        }
    }
}
