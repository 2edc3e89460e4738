//! The sender: one live-frames call for each trial, in a thread of its own on the tester's CPU.

use super::template::Template;
use super::wait::{Due, Progress, wait_for_end};
use super::{Asked, TrafficSender};
use crate::clock::wait_until;
use crate::destinations::{DestinationList, Destinations};
use crate::tester::LedgerProbe;
use crate::tester::error::TesterError;
use crate::tester::programs::{self, attach_in, maps};
use libbpf_rs::ProgramInput;
use mpps_ebpf::Plain;
use mpps_ebpf::instruments::sender::{
    BATCH_WAIT_NS, FRAME_OCTETS_MAX, Mark, Order, Outcome, PACE_SHIFT, SIZES_MAX, SenderSkel,
    SenderSkelBuilder, types,
};
use mpps_linux::bpf::LinkKind;
use mpps_linux::links::{self, VethSpec};
use mpps_linux::netns::NetNs;
use mpps_linux::task::{self, Signal};
use mpps_linux::{bpf, clock, cpu};
use mpps_method::Transport;
use mpps_wire::template::FrameLength;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};

/// Ethernet's shortest frame without FCS, octets (IEEE 802.3).
const SHORTEST: u16 = 60;
/// Ends a live-frames call; its handler does nothing.
const WAKE: Signal = Signal::SIGUSR1;
/// Most pages handed on at once with a pace: more do not make the router faster. A sender that backs off loses up to a batch.
const PACED_BATCH: u64 = 32;
/// Pages handed on at once where paces take turns: few, because at a slow pace most of a batch are left.
const TURNS_BATCH: u64 = 8;
/// A live-frames call needs up to 20 ms to set up.
const SET_UP_NS: u64 = 100_000_000;

/// What is the same for all trials of one sender.
#[derive(Clone, Debug)]
pub struct SenderPlan {
    /// Headers, by direction.
    pub templates: Vec<Template>,
    /// IPv6 instead of IPv4.
    pub ipv6: bool,
    /// What the frames look like behind their IP header.
    pub transport: Transport,
    /// Flows, which take turns.
    pub flows: u32,
    /// Frames of a flow before a new one takes its place.
    pub flow_length: Option<u32>,
    /// Destinations that take turns. `None`: only the template's.
    pub destinations: Option<Destinations>,
    /// Seed of the order of addresses within blocks.
    pub seed: u64,
    /// Frame lengths without FCS, in the order they are sent. One entry: all frames have this length.
    pub lengths: Vec<u16>,
    /// Most pages handed on at once, 1 to 256. Few are better for latency, many for rate.
    pub batch: u32,
    /// Most frames that are sent on one reading of the clock, if all of them are due. It is 1 for latency.
    pub clock_frames: u32,
    /// The sender's CPU.
    pub cpu: usize,
}

/// A loaded sender.
pub struct Sender<'a> {
    skel: SenderSkel<'static>,
    /// Of the first direction's port.
    netns: Option<&'a NetNs>,
    plan: SenderPlan,
    first_content: Vec<u8>,
    _dispatched: Dispatched,
}

/// Keeps the sender in the kernel's XDP dispatcher, as a program attached to a link is. Otherwise each live-frames call
/// enters it there and takes it out, and waits for RCU both times: 20 ms in all, three times a trial. The link gets no
/// frames: it is down, in a namespace of its own.
struct Dispatched {
    _link: OwnedFd,
    _netns: NetNs,
}

impl Dispatched {
    fn new(program: BorrowedFd<'_>) -> Result<Self, TesterError> {
        let netns = NetNs::anonymous()?;
        let spec = VethSpec {
            name: "unused0",
            mac: [2, 0, 0, 0, 0, 1],
            peer_name: "unused1",
            peer_mac: [2, 0, 0, 0, 0, 2],
            peer_netns: &netns,
            rx_queues: 1,
            tx_queues: 1,
        };
        let ifindex = netns.run(|| {
            links::create_veth(&spec)?;
            links::index(spec.name)
        })??;
        Ok(Self {
            _link: attach_in(&netns, program, ifindex, LinkKind::Xdp)?,
            _netns: netns,
        })
    }
}

impl<'a> Sender<'a> {
    /// Loads the sender. `ports` are namespace and interface, by direction. The `ledger` tells it what was refused.
    ///
    /// # Errors
    /// The kernel refused the program or a port, or the schedule of sizes does not fit.
    pub fn load(
        plan: SenderPlan,
        ports: &[(&'a NetNs, u32)],
        ledger: Option<&LedgerProbe>,
    ) -> Result<Self, TesterError> {
        let largest = largest(&plan.lengths)?;
        let mut open = programs::open(SenderSkelBuilder::default(), "open the sender")?;
        let rodata = programs::constants(&mut open.maps.rodata_data, "sender rodata")?;
        rodata.directions = u32::try_from(plan.templates.len()).unwrap_or(1);
        rodata.ipv6 = u32::from(plan.ipv6);
        rodata.flows = plan.flows;
        rodata.sizes_count = u32::try_from(plan.lengths.len()).unwrap_or(1);
        rodata.size_largest = u32::from(largest);
        rodata.tcp = u32::from(plan.transport != Transport::Udp);
        rodata.tcp_stream = u32::from(plan.transport == Transport::TcpStream);
        rodata.flow_length = plan.flow_length.unwrap_or(0);
        rodata.clock_frames = plan.clock_frames;
        rodata.sizes[..plan.lengths.len()].copy_from_slice(&plan.lengths);
        for (to, from) in rodata.templates.iter_mut().zip(&plan.templates) {
            to.header = from.header;
            to.source = from.source;
            to.ip_sum = from.ip_sum;
            to.l4_sum = from.l4_sum;
            to.dest_sum = from.dest_sum;
        }
        if let Some(destinations) = &plan.destinations {
            let entries = u32::try_from(destinations.list.len()).unwrap_or(u32::MAX);
            rodata.dest_count = entries;
            rodata.dest_bits = destinations.block_bits;
            rodata.dest_seed = plan.seed as u32;
            let sized = match destinations.list.as_ref() {
                DestinationList::V4(_) => open.maps.dest_ipv4.set_max_entries(entries),
                DestinationList::V6(_) => open.maps.dest_ipv6.set_max_entries(entries),
            };
            sized.map_err(|e| TesterError::bpf("size the list of destinations", &e))?;
        }
        if let Some(ledger) = ledger {
            let shared = open.maps.counts.reuse_fd(ledger.counts());
            shared.map_err(|e| TesterError::bpf("share the ledger's counts", &e))?;
        }
        let skel = programs::load(open, "load the sender")?;
        match plan.destinations.as_ref().map(|all| all.list.as_ref()) {
            None => {}
            Some(DestinationList::V4(list)) => maps::fill(&skel.maps.dest_ipv4, list)?,
            Some(DestinationList::V6(list)) => {
                let list: Vec<types::dest_address> = list.iter().map(dest_ipv6).collect();
                maps::fill(&skel.maps.dest_ipv6, &list)?;
            }
        }
        for (way, (netns, ifindex)) in ports.iter().enumerate() {
            // A DEVMAP takes the interface from the namespace of the thread that writes it.
            let map = skel.maps.ports.as_fd();
            let key = u32::try_from(way).unwrap_or(0).to_ne_bytes();
            netns.run(|| bpf::update_map(map, &key, &ifindex.to_ne_bytes()))??;
        }
        task::on_signal_do_nothing(WAKE)?;
        Ok(Self {
            _dispatched: Dispatched::new(skel.progs.send.as_fd())?,
            skel,
            netns: ports.first().map(|(netns, _)| *netns),
            plan,
            first_content: vec![0; usize::from(largest)],
        })
    }

    /// The first frames of a trial as the program writes them, in order and without FCS. None is sent, because
    /// BPF_PROG_TEST_RUN does not carry out redirects.
    pub fn preview(&self, order: Order, frames: usize) -> Result<Vec<Vec<u8>>, TesterError> {
        let order = Order {
            gap_fp: 0,
            slots: u64::MAX,
            late_max_ns: u64::MAX,
            ..order
        };
        self.order(order)?;
        let one = || {
            let mut written = vec![0; FRAME_OCTETS_MAX];
            let input = ProgramInput {
                data_in: Some(&self.first_content),
                data_out: Some(&mut written),
                repeat: 1,
                ..ProgramInput::default()
            };
            let run = self.skel.progs.send.test_run(input);
            let run = run.map_err(|e| TesterError::bpf("preview frames", &e))?;
            let length = run.data.map_or(0, |data| data.len());
            written.truncate(length);
            Ok(written)
        };
        (0..frames).map(|_| one()).collect()
    }

    fn order(&self, order: Order) -> Result<(), TesterError> {
        let order = Order {
            batch: batch(&order, self.plan.batch),
            ..order
        };
        maps::write(
            &self.skel.maps.data_state,
            0,
            &order.to_state(),
            "order a trial",
        )
    }

    fn outcome(&self) -> Result<Outcome, TesterError> {
        let mapped = self.skel.maps.data_state_data.as_deref();
        let mapped = mapped.ok_or(TesterError::Layout("sender state"))?;
        // The program writes to it while it sends.
        Ok(Outcome::from(&mapped.state.read_volatile()))
    }

    fn progress(&self) -> Result<Progress, TesterError> {
        let outcome = self.outcome()?;
        Ok(Progress {
            started_ns: outcome.started_ns,
            unsent: outcome.unsent,
            slots: outcome.slots,
            ended: outcome.ended_ns > 0,
        })
    }
}

impl TrafficSender for Sender<'_> {
    fn send(&self, order: Order, go_on: &Asked<'_>) -> Result<Outcome, TesterError> {
        self.order(order)?;
        let due = Due {
            ns: (clock::monotonic_ns() + order.delay_ns).saturating_add(order.length_ns()),
            set_up_ns: SET_UP_NS,
            paced: order.length_ns() > 0,
        };
        let (tid, stop) = (AtomicI32::new(0), AtomicBool::new(false));
        let (program, batch) = (self.skel.progs.send.as_fd(), batch(&order, self.plan.batch));
        let (stopped, ran) = std::thread::scope(|scope| {
            let thread = scope.spawn(|| {
                self.netns.map_or(Ok(()), NetNs::enter_thread)?;
                cpu::pin_current_thread(&cpu::CpuSet::single(self.plan.cpu))?;
                tid.store(task::current_tid(), Ordering::Release);
                // A stray signal or 2^32 turns end a call early. It is then begun again, and the slots between are
                // counted as unsent.
                while !stop.load(Ordering::Acquire) {
                    bpf::run_live_frames(program, &self.first_content, batch)?;
                }
                Ok::<_, TesterError>(())
            });
            let stopped = wait_for_end(&due, go_on, || self.progress(), || thread.is_finished());
            stop.store(true, Ordering::Release);
            while !thread.is_finished() {
                wake(tid.load(Ordering::Acquire));
                wait_until(clock::monotonic_ns() + 200_000);
            }
            (stopped, thread.join())
        });
        let stopped = stopped?;
        task::joined(ran, "the sender's thread")??;
        Ok(Outcome {
            stopped,
            ..self.outcome()?
        })
    }

    fn at_once(&self, order: &Order) -> u32 {
        batch(order, self.plan.batch)
    }

    // Each frame takes the next place of the schedule. So the frames of a length follow from the frames sent.
    fn by_length(&self) -> Result<Vec<(u16, u64)>, TesterError> {
        let sent = self.outcome()?.sent;
        let schedule = &self.plan.lengths;
        let mut sums = std::collections::BTreeMap::new();
        for (place, length) in (0..).zip(schedule) {
            let passed =
                |sent: &u64| (sent + schedule.len() as u64 - 1 - place) / schedule.len() as u64;
            *sums.entry(*length).or_insert(0) += sent.iter().map(passed).sum::<u64>();
        }
        Ok(sums.into_iter().collect())
    }
    fn marks(&self) -> Result<Vec<Mark>, TesterError> {
        let made = self.outcome()?.marks as usize;
        maps::read_first(&self.skel.maps.marks, made, "read the sender's marks")
    }

    fn distinct_lengths(&self) -> Vec<u16> {
        self.plan.distinct_lengths()
    }
}

/// Most pages handed on at once, by the order and by the sender's plan.
pub(super) fn most(order: &Order, of_plan: u32) -> u32 {
    match order.batch {
        0 => of_plan,
        of_order => of_order.min(of_plan),
    }
}

/// Pages of a batch, of at most so many by the sender's plan. With a pace it holds the frames of one window: pages left at
/// its end are dropped, which costs the DUT time.
fn batch(order: &Order, of_plan: u32) -> u32 {
    let at_most = most(order, of_plan);
    let gap_fp = order.slow.map_or(order.gap_fp, |slow| slow.gap_fp);
    let pages = match gap_fp {
        _ if order.turns.is_some() => TURNS_BATCH,
        0 if order.back_off_frames == 0 => at_most.into(),
        0 => PACED_BATCH,
        gap_fp => ((BATCH_WAIT_NS << PACE_SHIFT) / gap_fp).clamp(1, PACED_BATCH),
    };
    u32::try_from(pages).map_or(at_most, |pages| pages.min(at_most))
}

fn dest_ipv6(address: &u128) -> types::dest_address {
    types::dest_address {
        high: (address >> 64) as u64,
        low: *address as u64,
    }
}

/// Ends the live-frames call of a thread. 0: the thread has not begun.
fn wake(tid: i32) {
    if tid != 0 {
        // The thread may just have ended. Then there is nothing to wake.
        let _gone = task::tgkill(tid, WAKE);
    }
}

/// Length of the longest frame, where the sender has room for all of them.
fn largest(lengths: &[u16]) -> Result<u16, TesterError> {
    let largest = lengths.iter().copied().max().unwrap_or(SHORTEST);
    if lengths.len() > SIZES_MAX {
        return Err(TesterError::TooManySizes(lengths.len(), SIZES_MAX));
    }
    if usize::from(largest) > FRAME_OCTETS_MAX {
        return Err(TesterError::Frame(FrameLength {
            length: largest.into(),
            min: SHORTEST.into(),
            max: FRAME_OCTETS_MAX,
        }));
    }
    Ok(largest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use mpps_ebpf::instruments::sender::{Slow, TURNS_MAX, Turns};

    #[test]
    fn a_batch_has_the_frames_of_its_window() {
        let burst = Order::default();
        let paced = |fps: u64| Order {
            gap_fp: (1_000_000_000 << PACE_SHIFT) / fps,
            ..burst
        };
        let of = |order: Order| batch(&order, 60);
        assert_eq!(of(burst), 60);
        assert_eq!(
            [10_000, 100_000, 1_300_000].map(|fps| of(paced(fps))),
            [1, 1, 13]
        );
        assert_eq!(of(paced(5_000_000)), 32);
        let backing_off = Order {
            back_off_frames: 128,
            ..burst
        };
        assert_eq!(of(backing_off), 32);
        // After a recovery's overload the slower pace is the one that is timed.
        let slow = Order {
            slow: Some(Slow {
                after_ns: 1,
                gap_fp: paced(400_000).gap_fp,
            }),
            ..paced(2_000_000)
        };
        assert_eq!(of(slow), 4);
        let turns = Order {
            turns: Some(Turns {
                count: 1,
                gap_fp: [0; TURNS_MAX],
            }),
            ..paced(2_000_000)
        };
        assert_eq!(of(turns), 8);
        assert_eq!(
            [burst, paced(5_000_000), turns].map(|order| batch(&order, 1)),
            [1; 3]
        );
        assert_eq!(
            [0, 4, 80].map(|batch| of(Order { batch, ..burst })),
            [60, 4, 60]
        );
    }
}
