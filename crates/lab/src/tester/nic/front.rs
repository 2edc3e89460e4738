//! Which part of the kernel receives at the DUT's port, and which threads do its work there.
//!
//! - cpumap: the virtual NIC's rings and their kthreads (see [`Nic`]).
//! - napi: the veth's own ring of 256 and its NAPI, polled by a thread on the DUT's CPU.
//! - softirq: the veth's NAPI runs on the tester's CPU as the hardware would, and RPS hands the packets
//!   to the backlog of the DUT's CPU: here netdev_budget, dev_weight and netdev_max_backlog act.

use super::polling::wait_for_threads;
use super::virtual_nic::Nic;
use crate::bed::{Bed, Front};
use crate::tester::error::TesterError;
use crate::tester::ways::Way;
use mpps_linux::cpu::{self, CpuSet};
use mpps_linux::setting::Setting;

/// Sets the front up behind the attached NICs; returns the DUT's threads with their CPUs.
///
/// # Errors
/// What the kernel said.
pub fn set_up(bed: &Bed, ways: &[Way], nics: &[Nic]) -> Result<Vec<(i32, usize)>, TesterError> {
    match bed.plan().nic {
        Front::Cpumap => Ok(nics
            .iter()
            .flat_map(|nic| nic.kthreads().to_vec())
            .collect()),
        Front::Napi => {
            let mut threads = Vec::new();
            for way in ways {
                threads.extend(thread_napi(bed, *way)?);
            }
            Ok(threads)
        }
        Front::Softirq => {
            for way in ways {
                steer_packets(bed, *way)?;
            }
            Ok(Vec::new())
        }
    }
}

fn thread_napi(bed: &Bed, way: Way) -> Result<Vec<(i32, usize)>, TesterError> {
    write_sysfs(bed, way, "threaded", "1")?;
    let found = wait_for_threads(bed, way.dut_in, usize::from(bed.plan().queues))?;
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

fn steer_packets(bed: &Bed, way: Way) -> Result<(), TesterError> {
    let mask = bed.plan().cpus.dut_set().mask();
    for queue in 0..bed.plan().queues {
        write_sysfs(bed, way, &format!("queues/rx-{queue}/rps_cpus"), &mask)?;
    }
    Ok(())
}

fn write_sysfs(bed: &Bed, way: Way, file: &str, value: &str) -> Result<(), TesterError> {
    let port = &bed.port(way.dut_in).name;
    let setting = Setting::device_file(port, file);
    bed.netns(way.dut_in).run(|| setting.write(value))??;
    Ok(())
}
