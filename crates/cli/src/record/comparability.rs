//! What two results must have in common to be compared, of this bed and machine.

use super::bed::{front_name, ring_frames, tester_interfaces};
use super::job::Job;
use mpps_lab::bed::Bed;
use mpps_lab::line::traffic;
use mpps_lab::tester::ReceiverPlace;
use mpps_method::METHOD_VERSION;
use mpps_method::simulate::Properties;
use mpps_record::Comparability;
use mpps_record::facts::Facts;

/// Of results on this bed of this machine.
pub fn conditions(bed: &Bed, job: &Job<'_>, facts: &Facts) -> Comparability {
    let plan = bed.plan();
    let sent = traffic(job.traffic);
    let script = bed.set_up_script();
    let receiver = job.receiver_on(bed).map(ReceiverPlace::name);
    let interfaces = tester_interfaces(bed);
    Comparability {
        bed: plan.dut.planned().bed_name().to_owned(),
        nic: front_name(bed).to_owned(),
        port: job.traffic.port.name().to_owned(),
        receiver: receiver.map(str::to_owned),
        rx_ring_frames: ring_frames(bed),
        queues: plan.queues,
        stall_watch: interfaces.map(|known| known.stall_watch.name().to_owned()),
        cpus_shared: Some(plan.cpus.shared()),
        dut_cpus: Some(plan.cpus.dut.clone()),
        tester_cpus: Some(plan.cpus.tester.len()),
        search: Some(job.rule.clone()),
        // All of it is numbers and words.
        traffic: serde_json::to_string(&sent).ok(),
        filters: plan.filters,
        dut_setup: script.map(|script| script.sha256),
        ..on_machine(facts, this_version())
    }
    .keyed()
}

/// Of results of a simulated pair, whatever machine it ran on.
pub fn simulated_conditions(pair: &Properties) -> Comparability {
    let simulated = || "simulated".to_owned();
    Comparability {
        bed: simulated(),
        nic: simulated(),
        port: simulated(),
        rx_ring_frames: u32::try_from(pair.ring).unwrap_or(u32::MAX),
        queues: 1,
        simulated: Some(pair.to_string()),
        ..this_version()
    }
    .keyed()
}

/// Of looks at a host: the traffic is whatever others send.
pub fn host_conditions(cpus: &[usize], facts: &Facts) -> Comparability {
    Comparability {
        bed: "host".to_owned(),
        nic: "its own".to_owned(),
        port: "none".to_owned(),
        dut_cpus: Some(cpus.to_vec()),
        ..on_machine(facts, this_version())
    }
    .keyed()
}

/// What an earlier run's conditions would be if this program repeated it on this machine.
pub fn repeated(before: &Comparability, facts: &Facts) -> Comparability {
    let now = Comparability {
        tool_version: this_version().tool_version,
        method_version: METHOD_VERSION,
        ..before.clone()
    };
    match before.simulated {
        Some(_) => now,
        None => on_machine(facts, now),
    }
}

/// The same on the machine of these facts.
fn on_machine(facts: &Facts, rest: Comparability) -> Comparability {
    Comparability {
        kernel_release: facts.kernel_release.text().to_owned(),
        mitigations: facts.mitigations_text(),
        clocksource: facts.kernel.clocksource.known().cloned(),
        cpu_model: Some(facts.cpu_model.text().to_owned()),
        hypervisor: facts.hypervisor.known().copied(),
        ..rest
    }
}

fn this_version() -> Comparability {
    Comparability {
        tool_version: env!("CARGO_PKG_VERSION").to_owned(),
        method_version: METHOD_VERSION,
        ..Comparability::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_differs_has_another_key() {
        let pair = Properties::ideal(mpps_method::Rate::from_fps(1e6));
        let one = simulated_conditions(&pair);
        let other = simulated_conditions(&Properties { ring: 8, ..pair });
        assert_eq!(one.key, simulated_conditions(&pair).key);
        assert_ne!(one.key, other.key);
        assert!(other.to_string().contains("ring=8"), "{other}");
    }
}
