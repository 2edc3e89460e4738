//! Which part of the kernel receives at the DUT's port, and which threads do its work there.
//!
//! - cpumap: the virtual NIC's rings and their kthreads (see [`Nic`]).
//! - napi: the veth's own ring of 256 and its NAPI, polled by a thread on the DUT's CPU.
//! - softirq: the veth's NAPI runs on the tester's CPU as the hardware would, and RPS hands the packets
//!   to the backlog of the DUT's CPU: here netdev_budget, dev_weight and netdev_max_backlog act.

use super::polling::wait_for_threads;
use super::virtual_nic::Nic;
use crate::bed::{Bed, Front, Port};
use crate::tester::error::TesterError;
use crate::tester::ways::Way;
use mpps_linux::cpu::{self, CpuSet};
use mpps_linux::setting::Setting;

/// Sets the front up behind the attached NICs; returns the DUT's threads with their CPUs.
pub fn set_up(bed: &Bed, ways: &[Way<'_>], nics: &[Nic]) -> Result<Vec<(i32, usize)>, TesterError> {
    let incoming = ways
        .iter()
        .filter_map(|way| way.dut)
        .map(|dut| dut.incoming);
    match bed.plan().nic {
        Front::Cpumap => Ok(nics
            .iter()
            .flat_map(|nic| nic.kthreads().to_vec())
            .collect()),
        Front::Napi => {
            let mut threads = Vec::new();
            for port in incoming {
                threads.extend(thread_napi(bed, port)?);
            }
            Ok(threads)
        }
        Front::Softirq => {
            for port in incoming {
                steer_packets(bed, port)?;
            }
            Ok(Vec::new())
        }
    }
}

fn thread_napi(bed: &Bed, port: &Port) -> Result<Vec<(i32, usize)>, TesterError> {
    write_sysfs(port, "threaded", "1")?;
    let found = wait_for_threads(bed, port, usize::from(bed.plan().queues))?;
    let cpus = bed.plan().cpus.dut.iter().copied().cycle();
    found
        .into_iter()
        .zip(cpus)
        .map(|(tid, on)| {
            cpu::pin_task(tid, &CpuSet::single(on))?;
            Ok((tid, on))
        })
        .collect()
}

fn steer_packets(bed: &Bed, port: &Port) -> Result<(), TesterError> {
    let mask = bed.plan().cpus.dut_set().mask();
    for queue in 0..bed.plan().queues {
        write_sysfs(port, &format!("queues/rx-{queue}/rps_cpus"), &mask)?;
    }
    Ok(())
}

fn write_sysfs(port: &Port, file: &str, value: &str) -> Result<(), TesterError> {
    let setting = Setting::device_file(&port.name, file);
    Ok(port.netns.run(|| setting.write(value))??)
}
