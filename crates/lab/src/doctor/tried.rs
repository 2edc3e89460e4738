//! What is tried: the tester's own parts on beds of their own.

use super::subject::{good, lacks, tried};
use super::{Check, State, Subject};
use crate::bed::{Bed, BedError, BedPlan, CpuSplit, Front};
use crate::tester::{
    KernelInterfaces, LedgerProbe, OtherTasks, PortKind, Receiver, ReceiverMode, ReceiverPlan,
    RouterTasks, Sender, SenderPlan, StallWatch, Tester, TesterError, TrafficSender, Watch, Wire,
    until_ended, ways,
};
use crate::traffic::Traffic;
use crate::trial::probe::{ProbeError, probe};
use mpps_ebpf::instruments::sender::{Order, PACE_SHIFT};
use mpps_linux::{cpu, interrupt};

/// Frames that the sender tries itself with.
const FRAMES: u64 = 64;
/// Time between two of them, ns.
const GAP_NS: u64 = 10_000;
/// Frames a receiver has to be ready for.
const FRAMES_MAX: u64 = 1 << 16;

/// Tries everything; without a bed nothing else.
///
/// # Errors
/// A bed could not be lowered.
pub(super) fn all() -> Result<Vec<Check>, BedError> {
    let home = cpu::available()?;
    let mut checks = parts()?;
    let bed = checks.iter().find(|check| check.subject == Subject::BED);
    let stands = bed.is_some_and(|bed| bed.state == State::Good);
    if stands {
        for (subject, front, port) in [
            (Subject::CPUMAP, Front::Cpumap, PortKind::Xdp),
            (Subject::NAPI, Front::Napi, PortKind::Xdp),
            (Subject::SOFTIRQ, Front::Softirq, PortKind::Xdp),
            (Subject::PACKET_SOCKET, Front::Cpumap, PortKind::AfPacket),
        ] {
            checks.push(whole(subject, front, port)?);
        }
    }
    // The tester moved this thread to its own CPUs.
    cpu::pin_current_thread(&home)?;
    Ok(checks)
}

fn plan(nic: Front) -> Result<BedPlan, BedError> {
    Ok(BedPlan {
        nic,
        rx_ring: 1024,
        ..BedPlan::usual(CpuSplit::choose(&cpu::available()?, None, None)?)
    })
}

/// Each part alone, on one bed: which one it is that does not work.
fn parts() -> Result<Vec<Check>, BedError> {
    let bed = match plan(Front::Cpumap).and_then(|plan| Bed::raise(&plan)) {
        Ok(bed) => bed,
        Err(error @ BedError::NotRestored(..)) => return Err(error),
        Err(error) => {
            return Ok(vec![Check::new(Subject::BED, lacks(error.to_string()))]);
        }
    };
    let mut checks = vec![
        Check::new(Subject::NATIVE_XDP, tried(native_xdp(&bed))),
        Check::new(Subject::TRACEPOINTS, tried(tracepoints(&bed))),
        Check::new(Subject::STALL_WATCH, tried(timers(&bed))),
        Check::new(Subject::LIVE_FRAMES, tried(live_frames(&bed))),
        Check::new(Subject::PATH, tried(path(&bed))),
    ];
    bed.lower()?;
    let stood = good("three namespaces, two links, raised and lowered");
    checks.push(Check::new(Subject::BED, stood));
    Ok(checks)
}

/// The whole tester on a bed with this front, with these ports: frames come through.
fn whole(subject: Subject, front: Front, port: PortKind) -> Result<Check, BedError> {
    if interrupt::requested() {
        return Ok(Check::new(
            subject,
            Err("not tried: interrupted".to_owned()),
        ));
    }
    let bed = match plan(front).and_then(|plan| Bed::raise(&plan)) {
        Ok(bed) => bed,
        Err(error @ BedError::NotRestored(..)) => return Err(error),
        Err(error) => return Ok(Check::new(subject, lacks(error.to_string()))),
    };
    let traffic = Traffic {
        port,
        ..Traffic::default()
    };
    let came = || -> Result<String, ProbeError> {
        let mut tester = Tester::raise(&bed, &traffic, FRAMES_MAX, ReceiverMode::Polled)?;
        probe(&mut tester)?;
        Ok("frames come through the router".to_owned())
    };
    let check = Check::new(subject, tried(came()));
    bed.lower()?;
    Ok(check)
}

fn native_xdp(bed: &Bed) -> Result<String, TesterError> {
    let plan = ReceiverPlan::new(&Traffic::default(), FRAMES_MAX);
    let [_, port] = bed.tester();
    Receiver::attach(plan, &port.netns, port.ifindex).map(|_| "on veth, in its driver".to_owned())
}

fn tracepoints(bed: &Bed) -> Result<String, TesterError> {
    let [port, _] = bed.tester();
    LedgerProbe::attach(&[(port.netns.inode(), port.ifindex)])?;
    OtherTasks::watch(&bed.plan().cpus.all(), &[], &RouterTasks::default())?;
    Ok("ports, rings and task switches are watched".to_owned())
}

fn timers(bed: &Bed) -> Result<String, TesterError> {
    let by = KernelInterfaces::find(bed.plan().interfaces)?.stall_watch;
    let watch = Watch::start(&bed.plan().cpus.all(), None, by)?;
    watch.clear()?;
    let what = match by {
        StallWatch::Timers => "bound to their CPU",
        StallWatch::Threads => "not bound to their CPU (before Linux 6.7), so threads do it",
    };
    Ok(format!("{what}; tick on every CPU of the bed"))
}

fn path(bed: &Bed) -> Result<String, TesterError> {
    Wire::lay(bed, &ways(bed, false))?.ok_or(TesterError::NoHook)?;
    let by = KernelInterfaces::find(bed.plan().interfaces)?.traffic_control;
    Ok(format!(
        "programs run at the router's ports ({})",
        by.name()
    ))
}

fn live_frames(bed: &Bed) -> Result<String, TesterError> {
    let plan = SenderPlan::new(bed, &Traffic::default(), &ways(bed, false))?;
    let [port, _] = bed.tester();
    let sender = Sender::load(plan, &[(&port.netns, port.ifindex)], None)?;
    let order = Order {
        gap_fp: GAP_NS << PACE_SHIFT,
        slots: FRAMES,
        late_max_ns: u64::MAX,
        id: 1,
        ..Order::default()
    };
    let outcome = sender.send(order, &until_ended)?;
    match outcome.sent[0] {
        0 => Err(TesterError::Linux(mpps_linux::Error::from_text(
            "send live frames from",
            &port.name,
            format!("none of {FRAMES} was handed over"),
        ))),
        sent => Ok(format!("{sent} of {FRAMES} sent")),
    }
}
