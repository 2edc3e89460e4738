//! The budgets as one JSON object.

use crate::plan::LimitsPlan;
use mpps_lab::memory::MemoryMeasured;
use mpps_method::limits::{Budget, MemoryBandwidth, octet_ns};
use mpps_record::SCHEMA;
use serde::Serialize;

#[derive(Serialize)]
struct Document {
    schema: u32,
    bus: BusEntry,
    /// Null where it is not known.
    memory: Option<MemoryEntry>,
    links: Vec<LinkEntry>,
}

#[derive(Serialize)]
struct BusEntry {
    pcie_generation: u8,
    lanes: u8,
    raw_bits_per_s: f64,
    coded_bits_per_s: f64,
    full_packets_bits_per_s: f64,
    max_payload_octets: u16,
    packet_overhead_octets: u16,
    descriptor_octets: u16,
}

#[derive(Serialize)]
struct MemoryEntry {
    octets_per_s: f64,
    measured: Option<MeasuredEntry>,
}

#[derive(Serialize)]
struct MeasuredEntry {
    cpu: usize,
    steal_share: Option<f64>,
    others_share: f64,
    together_cpus: usize,
    working_sets: Vec<PointEntry>,
}

#[derive(Serialize)]
struct PointEntry {
    working_set_octets: u64,
    latency_ns: f64,
    copy_octets_per_s: f64,
}

#[derive(Serialize)]
struct LinkEntry {
    link_bits_per_s: u64,
    octet_ns: f64,
    frames: Vec<FrameEntry>,
}

#[derive(Serialize)]
struct FrameEntry {
    frame: String,
    on_wire_octets: f64,
    frame_ns: f64,
    host_octets_per_s: f64,
    wire_fps: f64,
    bus_one_way_fps: f64,
    bus_both_ways_fps: f64,
    memory_fps: Option<f64>,
    binding: &'static str,
    binding_fps: f64,
}

/// What [`super::limits`] says, with every digit.
///
/// # Errors
/// None that can happen: all of it is text and numbers.
pub fn limits_json(
    plan: &LimitsPlan,
    memory: Option<MemoryBandwidth>,
    measured: Option<&MemoryMeasured>,
) -> serde_json::Result<String> {
    let (bus, packets) = (plan.bus, plan.packets);
    let document = Document {
        schema: SCHEMA,
        bus: BusEntry {
            pcie_generation: bus.generation().number(),
            lanes: bus.lanes(),
            raw_bits_per_s: bus.raw_bits_per_s(),
            coded_bits_per_s: bus.bits_per_s(),
            full_packets_bits_per_s: bus.bits_per_s() * packets.payload_share(),
            max_payload_octets: packets.max_payload(),
            packet_overhead_octets: packets.overhead(),
            descriptor_octets: packets.descriptor(),
        },
        memory: memory.map(|memory| MemoryEntry {
            octets_per_s: memory.octets_per_s,
            measured: measured.map(measured_entry),
        }),
        links: plan
            .links
            .iter()
            .map(|&link| LinkEntry {
                link_bits_per_s: link.bits_per_second(),
                octet_ns: octet_ns(link),
                frames: plan.budgets(link, memory).iter().map(frame_entry).collect(),
            })
            .collect(),
    };
    Ok(serde_json::to_string_pretty(&document)? + "\n")
}

fn measured_entry(measured: &MemoryMeasured) -> MeasuredEntry {
    MeasuredEntry {
        cpu: measured.cpu,
        steal_share: measured.steal_share,
        others_share: measured.others_share,
        together_cpus: measured.together_cpus,
        working_sets: measured
            .points
            .iter()
            .map(|point| PointEntry {
                working_set_octets: point.working_set_octets,
                latency_ns: point.latency_ns,
                copy_octets_per_s: point.copy_octets_per_s,
            })
            .collect(),
    }
}

fn frame_entry(budget: &Budget) -> FrameEntry {
    let (binding, rate) = budget.binding();
    FrameEntry {
        frame: budget.frames.to_string(),
        on_wire_octets: budget.on_wire_octets,
        frame_ns: budget.frame_ns(),
        host_octets_per_s: budget.host_octets_per_s(),
        wire_fps: budget.wire.fps(),
        bus_one_way_fps: budget.bus_one_way.fps(),
        bus_both_ways_fps: budget.bus_both_ways.fps(),
        memory_fps: budget.memory.map(mpps_method::Rate::fps),
        binding: binding.name(),
        binding_fps: rate.fps(),
    }
}
