//! What the CPUs are: model, caches, clock, idle states, siblings, memory nodes.

use super::root::{Root, first_value};
use mpps_linux::cpu::CpuSet;
use mpps_record::facts::{Cache, Cpu, Idle, IdleState, Node, Reading};
use std::collections::BTreeMap;

const CPUS: &str = "/sys/devices/system/cpu";
const NODES: &str = "/sys/devices/system/node";

/// A CPU of the DUT's and one of the tester's that are threads of one core, if any are.
#[must_use]
pub fn core_shared(
    root: &Root,
    dut_cpus: &[usize],
    tester_cpus: &[usize],
) -> Reading<Option<(usize, usize)>> {
    for &dut in dut_cpus {
        let list = root.text(&format!("{CPUS}/cpu{dut}/topology/thread_siblings_list"));
        let threads: CpuSet = match list.and_then(|list| list.parse().into()) {
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

/// The CPUs; where they could differ from each other, CPU 0.
pub(super) fn read(root: &Root, cpuinfo: &Reading<String>) -> Cpu {
    let first = |name: &str| format!("{CPUS}/cpu0/{name}");
    let said = |keys: &[&str]| {
        cpuinfo.clone().and_then(|text| {
            Reading::from_option(first_value(&text, keys), || {
                format!("/proc/cpuinfo: no line \"{}\"", keys.join("\" or \""))
            })
        })
    };
    let clock = said(&["cpu MHz"]).and_then(|text| {
        text.parse().map_or_else(
            |_| Reading::unreadable("/proc/cpuinfo: \"cpu MHz\" is no number"),
            Reading::Known,
        )
    });
    Cpu {
        microcode: said(&["microcode", "CPU revision"]),
        clock_mhz: clock,
        frequency_max_khz: root.number(&first("cpufreq/cpuinfo_max_freq")),
        frequency_driver: root.text(&first("cpufreq/scaling_driver")),
        governors: governors(root),
        turbo: turbo(root),
        idle: idle(root),
        caches: caches(root),
        threads_per_core: root
            .text(&first("topology/thread_siblings_list"))
            .and_then(|list| list.parse::<CpuSet>().into())
            .map(|siblings| siblings.len()),
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
                size_octets: root.text(&path("size")).and_then(|text| {
                    Reading::from_option(octets(&text), || {
                        format!("{}: \"{text}\" is no size", path("size"))
                    })
                }),
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
    root.numbered(CPUS, "cpu").and_then(|cpus| {
        let mut ids = Vec::new();
        for cpu in cpus {
            match root.text(&format!("{CPUS}/cpu{cpu}/topology/physical_package_id")) {
                Reading::Known(id) => ids.push(id),
                // A CPU that is offline has none.
                Reading::Unreadable { .. } => {}
            }
        }
        ids.sort();
        ids.dedup();
        if ids.is_empty() {
            Reading::unreadable(format!(
                "{CPUS}/cpu*/topology/physical_package_id: not there"
            ))
        } else {
            Reading::Known(ids.len())
        }
    })
}

fn nodes(root: &Root) -> Reading<Vec<Node>> {
    root.numbered(NODES, "node").map(|numbers| {
        let node = |number: usize| {
            let path = |name: &str| format!("{NODES}/node{number}/{name}");
            Node {
                node: number,
                cpus: root.text(&path("cpulist")),
                memory_octets: root.text(&path("meminfo")).and_then(|text| {
                    Reading::from_option(node_memory(&text), || {
                        format!("{}: no MemTotal", path("meminfo"))
                    })
                }),
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
    use proptest::prelude::*;

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
