//! The bed of a run as its first line has it.

use mpps_lab::bed::{Bed, Front};
use mpps_lab::tester::KernelInterfaces;
use mpps_record::{self as record, RunBed};

/// The front's name; a device of somebody else's has none that we know.
pub(super) fn front_name(bed: &Bed) -> &'static str {
    bed.dut().front().map_or("unknown", Front::name)
}

/// Frames of one receive ring; 0 where nobody knows.
pub(super) fn ring_frames(bed: &Bed) -> u32 {
    bed.dut().ring_frames().unwrap_or(0)
}

/// The kernel's interfaces that the tester works with. Where they cannot be tried, the tester says so when it is raised.
pub(super) fn tester_interfaces(bed: &Bed) -> Option<KernelInterfaces> {
    KernelInterfaces::find(bed.plan().interfaces).ok()
}

/// The bed as the record has it.
pub(super) fn run_bed(bed: &Bed) -> RunBed {
    bed.plan().dut.planned().run_bed(Box::new(entry(bed)))
}

fn entry(bed: &Bed) -> record::Bed {
    let plan = bed.plan();
    let setup = plan.dut_setup.as_deref();
    let cables = bed.tester().iter().filter_map(|port| port.cable.as_ref());
    let nics = cables.map(|cable| cable.nic.clone());
    record::Bed {
        name: bed.name().to_owned(),
        kept: Some(bed.is_kept()),
        nic: front_name(bed).to_owned(),
        queues: plan.queues,
        rx_ring_frames: ring_frames(bed),
        rings_together_frames: ring_frames(bed) * u32::from(plan.queues),
        rss: plan.rss.name().to_owned(),
        kernel_interfaces: plan.interfaces.name().to_owned(),
        tester_interfaces: tester_interfaces(bed).map(|known| record::KernelInterfaces {
            traffic_control: known.traffic_control.name().to_owned(),
            stall_watch: known.stall_watch.name().to_owned(),
            napi_list: known.napi_list.name().to_owned(),
        }),
        dut_cpus: plan.cpus.dut.clone(),
        tester_cpus: plan.cpus.tester.clone(),
        cpus_shared: plan.cpus.shared(),
        filters: plan.filters,
        dut_setup: setup.map(|path| path.to_string_lossy().into_owned()),
        dut_setup_script: bed.set_up_script(),
        external_ports: (plan.dut.planned().host_ports())
            .map(|ports| ports.map(str::to_owned).to_vec()),
        external_nics: nics.collect(),
    }
}
