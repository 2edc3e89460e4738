//! The budgets of wire, bus and memory as tables.

mod document;

pub use document::limits_json;

use super::columns::names;
use super::{columns, grouped, headed};
use crate::limits_plan::LimitsPlan;
use mpps_method::Rate;
use mpps_method::limits::{Budget, MemoryMeasured, octet_ns};
use std::fmt::Write;

/// A share of time taken by others from which on the measured memory is to be doubted.
const DISTURBED_SHARE: f64 = 0.01;

/// What was assumed, then a table for each link.
pub fn limits(plan: &LimitsPlan) -> String {
    let measured = plan.measured.as_ref();
    let mut text = assumptions(plan);
    text.extend(measured.map(by_working_set));
    let latency_ns = measured
        .and_then(MemoryMeasured::memory)
        .map(|point| point.latency_ns);
    for &link in &plan.links {
        let _ = writeln!(
            text,
            "\n{link} one way: {} ns an octet",
            digits(octet_ns(link), 3)
        );
        table(&mut text, &plan.budgets(link), latency_ns);
    }
    text.push_str(
        "\nRates are frames/s of a port in each direction. \"bus, one way\" holds when it only receives or only \
         transmits,\n\"both\" when it does both equally. Memory writes and reads every forwarded frame once.\nThe \
         limit is the lowest of wire, bus (both) and memory. All are upper bounds (docs/method.md).\n",
    );
    text
}

fn assumptions(plan: &LimitsPlan) -> String {
    let (bus, packets) = (plan.bus, plan.packets);
    let gbit = |bits: f64| digits(bits / 1e9, 2);
    let mut text = format!(
        "bus     {bus}: {} Gbit/s one way, {} after {}, {} in full packets\n        \
         (payload of {} octets at most, {} around each; descriptors of {})\n",
        gbit(bus.raw_bits_per_s()),
        gbit(bus.bits_per_s()),
        bus.generation().coding_name(),
        gbit(bus.bits_per_s() * packets.payload_share()),
        packets.max_payload(),
        packets.overhead(),
        packets.descriptor(),
    );
    let _ = match plan.memory {
        Some(memory) => writeln!(
            text,
            "memory  {} GB/s ({} Gbit/s), {}",
            digits(memory.octets_per_s / 1e9, 2),
            gbit(memory.bits_per_s()),
            match &plan.measured {
                Some(measured) => format!("copied by {} CPUs at once", measured.together_cpus),
                None => "as given".to_owned(),
            }
        ),
        None => writeln!(text, "memory  not known (--measure, or --memory 25.6G)"),
    };
    text
}

fn by_working_set(measured: &MemoryMeasured) -> String {
    let rows = measured.points.iter().map(|point| {
        [
            binary(point.working_set_octets),
            format!("{:.1}", point.latency_ns),
            format!("{:.1}", point.copy_octets_per_s / 1e9),
        ]
    });
    let mut text = format!(
        "\nmemory by working set (CPU {}; ordinary pages, TLB misses included)\n{}* read and written together\n",
        measured.cpu,
        headed("working set;ns an access;copy GB/s*", rows, &[])
    );
    for (who, share) in [
        ("the hypervisor took", measured.steal_share.unwrap_or(0.0)),
        ("other programs had", measured.others_share),
    ] {
        if share > DISTURBED_SHARE {
            let _ = writeln!(
                text,
                "{who} {:.1} % of the CPU meanwhile, and its caches: run it again when it is quieter",
                share * 100.0
            );
        }
    }
    text
}

fn table(text: &mut String, budgets: &[Budget], latency_ns: Option<f64>) {
    let head = "frame size;on wire;wire;ns/frame;MB/s to host;bus, one way;bus, both;memory;binds";
    let mut rows = vec![names(head)];
    rows[0].extend(latency_ns.map(|_| "misses/frame**".to_owned()));
    for budget in budgets {
        let mut row = vec![
            budget.frames.to_string(),
            digits(budget.on_wire_octets, 1),
            whole(budget.wire),
            digits(budget.frame_ns(), 2),
            format!("{:.0}", budget.host_octets_per_s() / 1e6),
            whole(budget.bus_one_way),
            whole(budget.bus_both_ways),
            budget.memory.map_or("-".to_owned(), whole),
            budget.binding().0.name().to_owned(),
        ];
        row.extend(latency_ns.map(|latency| format!("{:.2}", budget.frame_ns() / latency)));
        rows.push(row);
    }
    text.push_str(&columns(&rows, &[0]));
    if latency_ns.is_some() {
        text.push_str(
            "** accesses to memory, one after the other, for which one CPU has time at the wire's rate\n",
        );
    }
}

/// Whole frames: a part of one is not sent.
fn whole(rate: Rate) -> String {
    grouped(rate.fps().floor() as u64)
}

/// At most so many digits behind the point, none that says nothing.
fn digits(value: f64, most: usize) -> String {
    let text = format!("{value:.most$}");
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        text
    }
}

/// Octets in KiB or MiB.
fn binary(octets: u64) -> String {
    if octets < 1 << 20 {
        format!("{} KiB", octets >> 10)
    } else {
        format!("{} MiB", octets >> 20)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mpps_method::limits::WorkingSet;
    use mpps_method::limits::{Bus, MemoryBandwidth, Packets};
    use mpps_method::{FrameSpec, LinkSpeed};

    fn plan() -> LimitsPlan {
        LimitsPlan {
            links: vec![LinkSpeed::from_bits_per_second(40_000_000_000)],
            sizes: FrameSpec::parse_list("64,1518").expect("sizes"),
            bus: Bus::pcie(3, 8).expect("a bus"),
            packets: Packets::default(),
            memory: None,
            measured: None,
        }
    }

    #[test]
    fn each_size_stands_against_every_budget() {
        let text = limits(&plan());
        for wanted in [
            "PCIe 3.0 x8: 64 Gbit/s one way, 63.02 after 128b/130b, 57.61 in full packets",
            "not known (--measure",
            "40 Gbit/s one way: 0.2 ns an octet",
        ] {
            assert!(text.contains(wanted), "{wanted}: {text}");
        }
        let words = |size: &str| {
            let line = text.lines().find(|line| line.starts_with(size));
            line.expect(size)
                .split("  ")
                .map(str::trim)
                .filter(|word| !word.is_empty())
                .map(str::to_owned)
                .collect::<Vec<_>>()
        };
        assert_eq!(
            words("64 "),
            [
                "64",
                "84",
                "59 523 809",
                "16.8",
                "3571",
                "74 310 595",
                "55 471 289",
                "-",
                "bus"
            ]
        );
        assert_eq!(words("1518")[2], "3 250 975");
        assert_eq!(words("1518")[8], "wire");
    }

    #[test]
    fn measured_memory_stands_beside_the_others() {
        let point = |working_set_octets, latency_ns, gigabytes: f64| WorkingSet {
            working_set_octets,
            latency_ns,
            copy_octets_per_s: gigabytes * 1e9,
        };
        let measured = MemoryMeasured {
            cpu: 1,
            points: vec![point(16 << 10, 1.5, 100.0), point(64 << 20, 84.0, 12.8)],
            together_octets_per_s: 1.28e9,
            together_cpus: 2,
            steal_share: Some(0.02),
            others_share: 0.001,
        };
        let memory = MemoryBandwidth {
            octets_per_s: 1.28e9,
        };
        let text = limits(&LimitsPlan {
            memory: Some(memory),
            measured: Some(measured),
            ..plan()
        });
        for wanted in [
            "16 KiB",
            "64 MiB",
            "2.0 % of the CPU",
            "1.28 GB/s (10.24 Gbit/s), copied by 2 CPUs",
        ] {
            assert!(text.contains(wanted), "{wanted}: {text}");
        }
        let line = text
            .lines()
            .find(|line| line.starts_with("64 "))
            .expect("64");
        // 128 octets of memory traffic a frame; 16.8 ns are a fifth of an access.
        assert!(
            line.ends_with("10 000 000  memory            0.20"),
            "{line}"
        );
    }

    #[test]
    fn digits_that_say_nothing_are_left_out() {
        for (value, most, text) in [
            (0.2, 3, "0.2"),
            (100.0, 2, "100"),
            (63.015, 2, "63.02"),
            (0.08, 3, "0.08"),
        ] {
            assert_eq!(digits(value, most), text);
        }
    }
}
