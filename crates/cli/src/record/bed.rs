//! The bed of a run as its first line has it.

use super::comparability::sha256;
use mpps_lab::bed::{Bed, BedPlan, Side};
use mpps_lab::facts::Nic;
use mpps_lab::rules;
use mpps_lab::tester::KernelInterfaces;
use serde::Serialize;

/// So much of a set-up script stands in the record, octets.
const SCRIPT_OCTETS: usize = 64 << 10;

/// Where it ran.
#[derive(Serialize)]
pub(super) struct BedEntry {
    kind: &'static str,
    name: String,
    nic: &'static str,
    queues: u16,
    rx_ring_frames: u32,
    rings_together_frames: u32,
    rss: &'static str,
    /// As asked for: newest, or oldest.
    kernel_interfaces: &'static str,
    /// What that came to; null where it could not be tried.
    tester_means: Option<MeansEntry>,
    dut_cpus: Vec<usize>,
    tester_cpus: Vec<usize>,
    cpus_shared: bool,
    dut_setup: Option<String>,
    /// What that script was, and what it said.
    dut_setup_script: Option<ScriptEntry>,
    /// Where the tester sends and receives around a device of somebody else's.
    external_ports: Option<Vec<String>>,
    /// Their NICs and links.
    external_nics: Vec<Nic>,
}

/// A set-up script.
#[derive(Serialize)]
struct ScriptEntry {
    /// SHA-256 of the text.
    sha256: String,
    /// Its first 64 KiB; null where it cannot be read any more.
    text: Option<String>,
    /// The end of what it wrote to its output and its errors, 4 KiB of each; null where that is gone.
    output: Option<String>,
}

/// Which of the kernel's interfaces the tester works with.
#[derive(Serialize)]
struct MeansEntry {
    traffic_control: &'static str,
    stall_watch: &'static str,
    napi_list: &'static str,
}

/// Three network namespaces joined by veth, or real ports around a device of somebody else's.
pub(super) fn bed_kind(plan: &BedPlan) -> &'static str {
    if plan.is_external() {
        "external"
    } else {
        "namespaces"
    }
}

/// The front's name; a device of somebody else's has none that we know.
pub(super) fn front_name(plan: &BedPlan) -> &'static str {
    if plan.is_external() {
        "unknown"
    } else {
        plan.nic.name()
    }
}

/// Frames of one receive ring; 0 where nobody knows.
pub(super) fn ring_frames(bed: &Bed) -> u32 {
    if bed.plan().is_external() {
        0
    } else {
        rules::one_ring(bed)
    }
}

/// A tester that cannot be told its means here says so itself when it is raised.
pub(super) fn means(bed: &Bed) -> Option<KernelInterfaces> {
    KernelInterfaces::of(bed.plan().interfaces).ok()
}

impl BedEntry {
    /// The entry of a bed.
    pub(super) fn of(bed: &Bed) -> Self {
        let plan = bed.plan();
        Self {
            kind: bed_kind(plan),
            name: bed.name().to_owned(),
            nic: front_name(plan),
            queues: plan.queues,
            rx_ring_frames: ring_frames(bed),
            rings_together_frames: ring_frames(bed) * u32::from(plan.queues),
            rss: plan.rss.name(),
            kernel_interfaces: plan.interfaces.name(),
            tester_means: means(bed).map(|means| MeansEntry {
                traffic_control: means.traffic_control.name(),
                stall_watch: means.stall_watch.name(),
                napi_list: means.napi_list.name(),
            }),
            dut_cpus: plan.cpus.dut.clone(),
            tester_cpus: plan.cpus.tester.clone(),
            cpus_shared: plan.cpus.shared(),
            dut_setup: plan
                .dut_setup
                .as_ref()
                .map(|path| path.to_string_lossy().into_owned()),
            dut_setup_script: plan.dut_setup.as_ref().map(|path| {
                let text = std::fs::read(path).ok();
                ScriptEntry {
                    sha256: sha256(text.as_deref().unwrap_or_default()),
                    text: text.map(|text| {
                        String::from_utf8_lossy(&text[..text.len().min(SCRIPT_OCTETS)]).into_owned()
                    }),
                    output: bed
                        .set_up_output()
                        .ok()
                        .map(|said| said.stdout + &said.stderr),
                }
            }),
            external_ports: plan
                .external
                .as_ref()
                .map(|pair| vec![pair.out.port.clone(), pair.back.port.clone()]),
            external_nics: [Side::A, Side::D]
                .into_iter()
                .filter_map(|side| Some(bed.cable(side)?.nic.clone()))
                .collect(),
        }
    }
}
