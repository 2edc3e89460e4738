//! How the receiving ports are served: always in a thread of its own at real-time priority, or their 256
//! slots overflow whenever the sender has the CPU, which looks like loss of the DUT's.

use super::{TesterError, Way};
use crate::bed::Bed;
use crate::clock::wait_for;
use mpps_linux::{cpu, napi};
use std::path::Path;

/// SCHED_FIFO priority of the receiving threads.
const PRIORITY: u8 = 60;
/// A NAPI thread appears within milliseconds, ns.
const THREAD_LIMIT_NS: u64 = 2_000_000_000;

/// When the receiving thread looks at its ring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReceiverMode {
    /// By a timer, every 50 microseconds: the DUT pays no wake-up. For throughput.
    Polled,
    /// Woken by the DUT's transmission: no wait. For latency.
    Interrupt,
}

impl ReceiverMode {
    /// gro_flush_timeout (ns) and napi_defer_hard_irqs: deferred for ever, only the timer polls.
    fn settings(self) -> [(&'static str, &'static str); 2] {
        match self {
            Self::Polled => [
                ("gro_flush_timeout", "50000"),
                ("napi_defer_hard_irqs", "2000000000"),
            ],
            Self::Interrupt => [("gro_flush_timeout", "0"), ("napi_defer_hard_irqs", "0")],
        }
    }
}

/// Serves the receiving ports of these ways so and returns the threads that do it; their receivers must be attached (a veth has no NAPI
/// before).
///
/// # Errors
/// What the kernel said; a thread that did not appear.
pub fn serve(bed: &Bed, ways: &[Way], mode: ReceiverMode) -> Result<Vec<i32>, TesterError> {
    let mut threads = Vec::new();
    for way in ways {
        let (port, netns) = (&bed.port(way.to).name, bed.netns(way.to));
        netns.with_sysfs(|sys: &Path| {
            let device = sys.join("class/net").join(port);
            for (file, value) in mode.settings().into_iter().chain([("threaded", "1")]) {
                std::fs::write(device.join(file), value).map_err(|e| {
                    mpps_linux::Error::from_io("write", format!("{file} of {port} in sysfs"), &e)
                })?;
            }
            Ok::<_, mpps_linux::Error>(())
        })??;
        for tid in napi_threads(bed, way.to, 1)? {
            cpu::pin_task(tid, &bed.plan().cpus.receivers())?;
            cpu::set_fifo(tid, PRIORITY)?;
            threads.push(tid);
        }
    }
    Ok(threads)
}

/// The threads of a port's NAPI, at least so many. By the device's own list: a thread's name (napi/mD-7)
/// does not say in which namespace mD is.
pub(super) fn napi_threads(
    bed: &Bed,
    side: crate::bed::Side,
    least: usize,
) -> Result<Vec<i32>, TesterError> {
    let port = &bed.port(side).name;
    let mut threads: Vec<i32> = Vec::new();
    let all = wait_for(THREAD_LIMIT_NS, 1_000_000, || {
        let listed = bed.netns(side).run(|| napi::list(port))??;
        threads = listed.into_iter().filter_map(|napi| napi.thread).collect();
        Ok::<_, TesterError>(threads.len() >= least)
    })?;
    if all {
        Ok(threads)
    } else {
        Err(TesterError::NoKthread(format!("napi/{port}-*")))
    }
}
