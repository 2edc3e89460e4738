//! The receiver's bell. Where sender and receiver share a CPU, a timer that has the receiver's ring looked at costs
//! a third of it on a virtual machine: setting it is an exit to the hypervisor, twice a look, and its interrupt
//! is another. But the sender runs on this CPU all the time and looks at the clock anyway: every so often it redirects
//! a page to an AF_XDP socket, which wakes a thread here without any interrupt, and the thread has the
//! receiving port polled in its own context (busy polling). The timer stays behind, at a distance at
//! which it rarely fires, for what comes when no sender runs.

use super::polling;
use super::port_up::down_on;
use super::real_time::RealTime;
use super::sender::{Rope, Sender};
use super::{Means, PortKind, Receiver, ReceiverMode, ReceiverPoll, TesterError, Way};
use crate::bed::{Bed, BedPlan, Side};
use crate::clock::wait_for;
use mpps_linux::busy_poll::Poller;
use mpps_linux::cpu::CpuSet;
use mpps_linux::links;
use mpps_linux::packet::{Filter, PacketSocket};
use mpps_linux::xsk::Socket;
use mpps_wire::template::{Addresses, Transport};
use mpps_wire::{FrameTemplate, MacAddr, Tag};
use std::net::Ipv4Addr;
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicBool, Ordering};

/// From one ring to the next, ns.
const GAP_NS: u64 = 40_000;
/// The timer that stays, ns: behind the ticks of the machine watch on the same CPU, so that setting it anew
/// at every look is no exit.
const FALLBACK_NS: u64 = 2_000_000;
/// SCHED_FIFO priority of the thread: the polled port's own.
const PRIORITY: u8 = polling::PRIORITY;
/// How soon the thread sees that it shall end, ms.
const WAIT_MS: i32 = 20;
/// Where the polling sockets are; no flow has this port.
const PORT: u16 = 1023;
/// A frame takes microseconds to the socket, ns.
const FRAME_LIMIT_NS: u64 = 1_000_000_000;
/// How long another tester's socket may take to go, ns.
const RELEASE_LIMIT_NS: u64 = 2_000_000_000;
/// A DUT slower than this does not fill the 256 slots of a veth between two ticks of the timer that stays.
const SLOW_FPS: u64 = 100_000;

/// What has the tester's receiving ports polled in throughput trials: the bell on a bed of ours whose tester has one
/// CPU that the DUT does not use, with live frames and one queue a port; `None` around a device of somebody else's, where
/// that is the driver's business.
#[must_use]
pub fn receiver_poll(plan: &BedPlan, port: PortKind, means: Means) -> Option<ReceiverPoll> {
    if plan.is_external() {
        return None;
    }
    let alone = plan.cpus.tester.len() == 1 && !plan.cpus.shared() && plan.port_queues() == 1;
    Some(if alone && port == PortKind::Xdp {
        means.receiver_poll
    } else {
        ReceiverPoll::Timer
    })
}

/// How often a port's timer has it looked at, ns.
#[must_use]
pub fn timer_ns(bell: Option<&Bell>) -> u64 {
    match bell {
        Some(_) => FALLBACK_NS,
        None => polling::POLL_NS,
    }
}

/// A bell that nobody answers yet.
pub struct Bell {
    socket: Socket,
    ports: Vec<Poller>,
}

/// A bell, where one is used. At the sender's loopback, where live frames seem to come from; it must be up, for a link that
/// is down wakes nobody.
///
/// # Errors
/// What the kernel said.
pub fn cast(
    bed: &Bed,
    port: PortKind,
    mode: ReceiverMode,
    means: Means,
) -> Result<Option<Bell>, TesterError> {
    let poll = receiver_poll(bed.plan(), port, means);
    if mode != ReceiverMode::Polled || poll != Some(ReceiverPoll::Bell) {
        return Ok(None);
    }
    let mut socket = bed.netns(Side::A).run(|| {
        links::set_up("lo")?;
        bind("lo")
    })??;
    socket.fill();
    Ok(Some(Bell {
        socket,
        ports: Vec::new(),
    }))
}

impl Bell {
    /// Adds the port at the end of this way to those that are polled when the bell rings. One frame goes from the DUT's
    /// port straight into the cable, by which the polling socket knows whose it is. Where a port of the way is down none
    /// would come, nor any other: the probe tells by its hop.
    ///
    /// # Errors
    /// What the kernel said; a frame that did not arrive.
    pub fn hang(&mut self, bed: &Bed, way: Way, receiver: &Receiver) -> Result<(), TesterError> {
        if !down_on(bed, way)?.is_empty() {
            return Ok(());
        }
        let (from, to) = (bed.port(way.dut_out), bed.port(way.to));
        let address = (Ipv4Addr::UNSPECIFIED, PORT).into();
        let poller = bed.netns(way.to).run(|| Poller::open(address))??;
        let frame = frame(from.mac, to.mac, from.v4)?;
        receiver.let_in(true)?;
        let sent = bed.netns(way.dut_out).run(|| send(&from.name, &frame));
        let arrived = match sent.and_then(|sent| sent) {
            Err(error) if error.is_refused() => Ok(false),
            sent => {
                sent.and_then(|()| wait_for(FRAME_LIMIT_NS, 100_000, || poller.knows_its_napi()))
            }
        };
        receiver.let_in(false)?;
        if !arrived? {
            return Err(TesterError::NoNapi {
                from: from.name.clone(),
                to: to.name.clone(),
            });
        }
        self.ports.push(poller);
        Ok(())
    }

    /// Has the sender ring.
    ///
    /// # Errors
    /// What the kernel said.
    pub fn give_rope(&self, bed: &Bed, sender: &mut Sender) -> Result<(), TesterError> {
        let rope = Rope {
            gap_ns: GAP_NS,
            linger_ns: linger_ns(bed.plan().rx_ring * u32::from(bed.plan().queues)),
        };
        sender.take_rope(rope, self.socket.as_fd())
    }

    /// Answers on these CPUs, for as long as what is returned lives.
    ///
    /// # Errors
    /// What the thread's placement said.
    pub fn answer(self, cpus: &CpuSet) -> Result<RealTime, TesterError> {
        RealTime::start("mpps-bell", cpus, PRIORITY, |stop| {
            self.keep_answering(stop);
        })
    }

    /// An error ends the thread: then the timer is left, trials find the ring too short, and say so.
    fn keep_answering(mut self, stop: &AtomicBool) {
        while !stop.load(Ordering::Acquire) && self.socket.wait(WAIT_MS).is_ok() {
            self.socket.take();
            self.ports.iter().for_each(Poller::poll);
        }
    }
}

/// Past the port's queueing discipline, which the user may have made a slow one.
fn send(link: &str, frame: &[u8]) -> Result<(), mpps_linux::Error> {
    let socket = PacketSocket::open(link, &Filter::first_octets(0), &[])?;
    socket.bypass_queues()?;
    socket.send(frame)
}

/// The kernel lets go of a queue some time after its last socket was closed, by another tester on this bed.
fn bind(link: &str) -> Result<Socket, mpps_linux::Error> {
    let mut bound = Socket::bind(link, 0);
    wait_for(RELEASE_LIMIT_NS, 1_000_000, || {
        let is_busy = mpps_linux::Error::is_busy;
        if bound.as_ref().is_err_and(is_busy) {
            bound = Socket::bind(link, 0);
        }
        Ok::<_, mpps_linux::Error>(!bound.as_ref().is_err_and(is_busy))
    })?;
    bound
}

/// Tag id of a frame that is of no trial: the receiver begins at 0, and late is what is less than a quarter behind.
const NO_TRIAL: u16 = 0x8000;

/// A datagram to whoever is there: the tester's port has no address of its own.
fn frame(from: [u8; 6], to: [u8; 6], source: Ipv4Addr) -> Result<Vec<u8>, TesterError> {
    let template = FrameTemplate {
        src_mac: MacAddr(from),
        dst_mac: MacAddr(to),
        addresses: Addresses::V4(source, Ipv4Addr::BROADCAST),
        transport: Transport::Udp,
        dscp: 0,
        ttl: 1,
    };
    let tag = Tag {
        id: NO_TRIAL,
        ..Tag::default()
    };
    Ok(template.frame(60, (PORT, PORT), &tag)?)
}

/// How long a faster DUT needs for what its rings hold.
fn linger_ns(ring_frames: u32) -> u64 {
    u64::from(ring_frames) * 1_000_000_000 / SLOW_FPS
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bed::CpuSplit;

    #[test]
    fn the_bell_is_for_live_frames_of_a_tester_with_one_cpu_of_its_own() {
        let newest = Means {
            receiver_poll: ReceiverPoll::Bell,
            ..Means::OLDEST
        };
        let plan = |dut: &[usize], tester: &[usize], queues| BedPlan {
            queues,
            ..BedPlan::usual(CpuSplit {
                dut: dut.to_vec(),
                tester: tester.to_vec(),
            })
        };
        let by = |plan: &BedPlan, port, means| receiver_poll(plan, port, means);
        let usual = plan(&[1], &[0], 1);
        assert_eq!(by(&usual, PortKind::Xdp, newest), Some(ReceiverPoll::Bell));
        let timer = Some(ReceiverPoll::Timer);
        assert_eq!(by(&usual, PortKind::Xdp, Means::OLDEST), timer);
        assert_eq!(by(&usual, PortKind::AfPacket, newest), timer);
        for other in [
            plan(&[1], &[0], 2),
            plan(&[1, 2], &[0], 1),
            plan(&[2], &[0, 1], 1),
            plan(&[0], &[0], 1),
        ] {
            assert_eq!(by(&other, PortKind::Xdp, newest), timer, "{other:?}");
        }
    }
}
