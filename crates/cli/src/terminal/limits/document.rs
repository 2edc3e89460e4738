//! The budgets as one JSON object.

use crate::limits_plan::LimitsPlan;
use crate::terminal::document::document;
use mpps_method::Rate;
use mpps_method::limits::{Budget, MemoryMeasured, octet_ns};
use serde_json::{Value, json};

/// What [`super::limits`] says, with every digit. Memory is null where it is not known.
pub fn limits_json(plan: &LimitsPlan) -> String {
    let (bus, packets) = (plan.bus, plan.packets);
    let links = plan.links.iter().map(|&link| {
        json!({
            "link_bits_per_s": link.bits_per_second(),
            "octet_ns": octet_ns(link),
            "frames": plan.budgets(link).iter().map(budget_json).collect::<Value>(),
        })
    });
    document(json!({
        "bus": {
            "pcie_generation": bus.generation().number(),
            "lanes": bus.lanes(),
            "raw_bits_per_s": bus.raw_bits_per_s(),
            "coded_bits_per_s": bus.bits_per_s(),
            "full_packets_bits_per_s": bus.bits_per_s() * packets.payload_share(),
            "max_payload_octets": packets.max_payload(),
            "packet_overhead_octets": packets.overhead(),
            "descriptor_octets": packets.descriptor(),
        },
        "memory": plan.memory.map(|memory| json!({
            "octets_per_s": memory.octets_per_s,
            "measured": plan.measured.as_ref().map(measured_json),
        })),
        "links": links.collect::<Value>(),
    }))
}

fn measured_json(measured: &MemoryMeasured) -> Value {
    json!({
        "cpu": measured.cpu,
        "steal_share": measured.steal_share,
        "others_share": measured.others_share,
        "together_cpus": measured.together_cpus,
        "working_sets": measured.points,
    })
}

fn budget_json(budget: &Budget) -> Value {
    let (binding, rate) = budget.binding();
    json!({
        "frame": budget.frames.to_string(),
        "on_wire_octets": budget.on_wire_octets,
        "frame_ns": budget.frame_ns(),
        "host_octets_per_s": budget.host_octets_per_s(),
        "wire_fps": budget.wire.fps(),
        "bus_one_way_fps": budget.bus_one_way.fps(),
        "bus_both_ways_fps": budget.bus_both_ways.fps(),
        "memory_fps": budget.memory.map(Rate::fps),
        "binding": binding.name(),
        "binding_fps": rate.fps(),
    })
}
