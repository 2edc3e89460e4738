//! How the receiving ports are polled: in a thread of their own at real-time priority. Otherwise their 256 slots overflow
//! whenever the sender has the CPU, and that looks like loss in the DUT.

use super::napi_threads;
use crate::bed::{Bed, Front, Port};
use crate::clock::wait_for;
use crate::tester::error::TesterError;
use crate::tester::kernel_interfaces::KernelInterfaces;
use crate::tester::ways::Way;
use crate::traffic::PortKind;
use mpps_linux::cpu;
use mpps_linux::setting::Setting;

/// SCHED_FIFO priority of the receiving threads.
const PRIORITY: u8 = 60;
/// A NAPI thread appears within milliseconds, ns.
const THREAD_LIMIT_NS: u64 = 2_000_000_000;

/// When the receiving thread looks at its ring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReceiverMode {
    /// Every 50 microseconds, by a timer. The DUT spends no time on wake-ups. For throughput.
    Polled,
    /// At once, because the DUT's transmission wakes the thread. For latency.
    Interrupt,
}

/// From one look at a polled port to the next, ns.
const POLL_NS: u64 = 50_000;

impl ReceiverMode {
    /// gro_flush_timeout (ns) and napi_defer_hard_irqs: deferred for ever, only the timer polls.
    fn settings(self) -> [(&'static str, String); 2] {
        let (timeout_ns, deferred) = match self {
            Self::Polled => (POLL_NS, 2_000_000_000),
            Self::Interrupt => (0, 0),
        };
        [
            ("gro_flush_timeout", timeout_ns.to_string()),
            ("napi_defer_hard_irqs", deferred.to_string()),
        ]
    }
}

/// How a port's NAPI is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Served {
    /// In a thread of its own, on the tester's CPUs.
    Thread,
    /// In softirq, in the context of whatever task runs.
    Softirq,
}

/// Serves the receiving ports of these ways so and returns the threads that do it; their receivers must be
/// attached (a veth has no NAPI before). How an adopted port is polled is its driver's business and the host's.
///
/// # Errors
/// What the kernel said; a thread that did not appear.
pub fn serve(bed: &Bed, ways: &[Way<'_>], mode: ReceiverMode) -> Result<Vec<i32>, TesterError> {
    let mut threads = Vec::new();
    for way in ways.iter().filter(|way| !way.to.is_adopted()) {
        threads.extend(serve_port(bed, way.to, mode, Served::Thread)?);
    }
    Ok(threads)
}

/// Serves the ports before the DUT as far as that is the tester's doing, and returns the tester's threads
/// that do it; their NICs must be attached.
///
/// Live frames come in bulks that are polled within the sender's call. Single frames of packet sockets would each cause
/// an interrupt and a wake-up of the DUT. No NIC does this at such rates, so a timer replaces its interrupt moderation.
/// The poll has a thread, because in softirq it would run in the context of any task of the machine. Some kernels (6.18)
/// call no tracepoint there, and the ledger would miss those frames. With the front napi the DUT's own thread polls, and
/// nothing is moderated: the busier it is, the more frames it finds.
///
/// # Errors
/// As [`serve`].
pub fn serve_nics(
    bed: &Bed,
    ways: &[Way<'_>],
    port: PortKind,
    mode: ReceiverMode,
) -> Result<Vec<i32>, TesterError> {
    let (mode, served) = match (port, bed.plan().nic) {
        (_, Front::Napi) => return Ok(Vec::new()),
        (PortKind::Xdp, _) => (ReceiverMode::Interrupt, Served::Softirq),
        (PortKind::AfPacket, Front::Cpumap) => (mode, Served::Thread),
        (PortKind::AfPacket, Front::Softirq) => (mode, Served::Softirq),
    };
    let mut threads = Vec::new();
    for dut in ways.iter().filter_map(|way| way.dut) {
        threads.extend(serve_port(bed, dut.incoming, mode, served)?);
    }
    Ok(threads)
}

fn serve_port(
    bed: &Bed,
    port: &Port,
    mode: ReceiverMode,
    served: Served,
) -> Result<Vec<i32>, TesterError> {
    let threaded = match served {
        Served::Thread => "1",
        Served::Softirq => "0",
    };
    port.netns.run(|| {
        let threaded = ("threaded", threaded.to_owned());
        for (file, value) in mode.settings().into_iter().chain([threaded]) {
            // A port that is down refuses any write, even of the value it has. The probe reports such a port later.
            Setting::device_file(&port.name, file).ensure(&value)?;
        }
        Ok::<_, mpps_linux::Error>(())
    })??;
    if served == Served::Softirq {
        return Ok(Vec::new());
    }
    let threads = wait_for_threads(bed, port, 1)?;
    for &tid in &threads {
        cpu::pin_task(tid, &bed.plan().cpus.receivers())?;
        cpu::set_fifo(tid, PRIORITY)?;
    }
    Ok(threads)
}

/// The threads of a port's NAPI, at least so many, in the order of its queues.
pub fn wait_for_threads(bed: &Bed, port: &Port, least: usize) -> Result<Vec<i32>, TesterError> {
    let list = KernelInterfaces::find(bed.plan().interfaces)?.napi_list;
    let mut threads: Vec<i32> = Vec::new();
    let all = wait_for(THREAD_LIMIT_NS, 1_000_000, || {
        threads = napi_threads::threads(port, list)?;
        Ok::<_, TesterError>(threads.len() >= least)
    })?;
    if all {
        Ok(threads)
    } else {
        Err(TesterError::NoKthread(format!("napi/{}-*", port.name)))
    }
}
