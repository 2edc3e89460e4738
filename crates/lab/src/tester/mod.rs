//! The tester: sender, virtual NIC, receivers, the ledger's tracepoints and the machine watch, set up
//! for one kind of traffic on one bed. `trial` drives it; it judges nothing.
//!
//! By direction: 0 goes from port A through the DUT to D, 1 (bidirectional) from D to A.

mod dut_path;
mod error;
mod evidence;
mod fault;
mod kernel_interfaces;
mod ledger;
mod machine;
mod management;
mod nic;
mod ports;
pub(crate) mod programs;
mod ways;
mod wire;

pub(crate) use error::NO_HOOK;
pub use error::{NoExit, TesterError};
pub(crate) use evidence::EXIT;
pub use evidence::EvidenceProbe;
pub use fault::{Fault, PlantedFault};
pub use kernel_interfaces::{KernelInterfaces, NapiList, TrafficControl};
pub use ledger::LedgerProbe;
pub use machine::other_tasks::{OtherTasks, RouterTasks};
pub use machine::watch::{PERIOD_NS as WATCH_PERIOD_NS, StallWatch, Timed, Watch};
pub(crate) use machine::{real_time, watch};
pub use management::{Management, Question};
pub use nic::napi_threads::threads as napi_threads;
pub use nic::polling::ReceiverMode;
pub use nic::virtual_nic::{Nic, NicPlan, Swap};
pub(crate) use ports::exit_place::{at_egress, has_receiver};
pub use ports::exit_place::{planned_place, receiver_place, refuses as exit_refuses};
pub(crate) use ports::link_state::down_on;
pub(crate) use ports::open::is_veth;
pub use ports::packet::{OnRefusal, PacketReceiver, PacketSender, Tap};
pub use ports::plans::frame_template;
pub use ports::receiver::{Receiver, ReceiverPlan};
pub use ports::sender::{Sender, SenderPlan};
pub use ports::template::{Template, Varied};
pub use ports::{GoOn, RingCount, TrafficReceiver, TrafficSender, until_ended};
pub use ways::{DutPorts, Way, way_id, ways};
pub use wire::Wire;

pub use crate::traffic::{PortKind, QUERIES_MAX, ReceiverPlace};

use crate::bed::{Bed, CpuSplit, Front};
use crate::traffic::Traffic;
use mpps_ebpf::instruments::sender::Order;
use mpps_linux::netns::NetNs;
use mpps_method::flows::FLOWS_MAX;
use mpps_method::{Rate, Span};
use nic::{front, polling};
use ports::{exit_place, link_state, mtu, open};
use ways::WAY_BIT;

/// A tester in place: everything attached, nothing sent yet. Dropping it takes everything off.
pub struct Tester<'bed> {
    /// The bed it stands on.
    pub bed: &'bed Bed,
    /// What it sends.
    pub traffic: Traffic,
    /// The sender of all directions.
    pub sender: Box<dyn TrafficSender + 'bed>,
    /// Virtual NICs, by direction; none before somebody else's device.
    pub nics: Vec<Nic>,
    /// Receivers, by direction.
    pub receivers: Vec<Box<dyn TrafficReceiver>>,
    /// Asks the router in each trial; `None`: nobody does.
    pub management: Option<Management>,
    /// What ports and rings took.
    pub ledger: LedgerProbe,
    /// How long CPUs stood still or were slow.
    pub watch: Watch,
    /// Who else had the bed's CPUs.
    pub other_tasks: OtherTasks,
    /// How long frames are sent at a trial's load before its own, uncounted; usually not at all.
    pub warm_up: Span,
    /// The most that the DUT was seen to forward, by which its rings drain; `None` before anybody has seen it.
    pub forwards_at_most: Option<Rate>,
    /// What is in place of the router.
    pub(crate) wire: Option<Wire>,
    threads: Vec<(i32, usize)>,
    /// Places of the list of destinations that frames were sent to so far, in one direction. A trial goes on where the
    /// one before it ended, so that trials together pass all destinations. Where each has to begin at the first place,
    /// it is what the longest trial passed.
    pub places_passed: u64,
    next_id: u16,
    flow_next: u32,
}

impl<'bed> Tester<'bed> {
    /// Sets the tester up for trials of at most `frames_max` frames in one direction, and moves this
    /// process to the tester's CPUs.
    pub fn raise(
        bed: &'bed Bed,
        traffic: &Traffic,
        frames_max: u64,
        mode: ReceiverMode,
    ) -> Result<Self, TesterError> {
        mpps_linux::cpu::pin_current_thread(&bed.plan().cpus.tester_set())?;
        // What the loader has to say goes into our errors, not to stderr.
        libbpf_rs::set_print(None);
        let interfaces = KernelInterfaces::find(bed.plan().interfaces)?;
        dut_path::sweep(bed)?;
        management::sweep(bed)?;
        let ways = ways(bed, traffic.bidirectional);
        exit_place::check(bed, traffic, &ways)?;
        mtu::fit(bed, traffic.frames.max())?;
        link_state::check(&ways)?;
        let mut nics = Vec::new();
        let mut receivers = Vec::new();
        for way in &ways {
            receivers.push(open::receiver(bed, traffic, way, frames_max)?);
            if let Some(dut) = way.dut {
                let (netns, port) = (&dut.incoming.netns, dut.incoming.ifindex);
                nics.push(Nic::attach(&nic_plan(bed, traffic), netns, port)?);
            }
        }
        let sending = ways.iter().map(|way| way.from);
        let sending = sending.map(|port| (port.netns.inode(), port.ifindex));
        let ledger = LedgerProbe::attach(&sending.collect::<Vec<_>>())?;
        for (way, nic) in (0..).zip(&nics) {
            ledger.watch_rings(&nic.ring_ids()?, way)?;
        }
        let sender = open::sender(bed, traffic, &ways, &ledger)?;
        let mut polling = match traffic.receiver {
            ReceiverPlace::Port => polling::serve(bed, &ways, mode)?,
            // Nothing is received at the tester's ports.
            ReceiverPlace::Exit => Vec::new(),
        };
        polling.extend(polling::serve_nics(bed, &ways, traffic.port, mode)?);
        let threads = front::set_up(bed, &ways, &nics)?;
        let queries = traffic.queries_per_s;
        let management = queries.map(|per_s| Management::raise(bed, per_s));
        let cpus: Vec<usize> = bed.plan().cpus.all();
        let working: Vec<i32> = threads.iter().map(|(tid, _)| *tid).collect();
        let kernel_threads: Vec<i32> = polling.into_iter().chain(working.clone()).collect();
        let router = router_tasks(bed);
        let other_tasks = OtherTasks::watch(&cpus, &kernel_threads, &router)?;
        let timed = timed(&bed.plan().cpus).map(|between| Timed {
            between,
            threads: working.clone(),
            clock: other_tasks.clock(),
        });
        let mut watch = Watch::start(&cpus, timed.as_ref(), interfaces.stall_watch)?;
        watch.except(&working, router.netns)?;
        Ok(Self {
            bed,
            traffic: traffic.clone(),
            sender,
            nics,
            receivers,
            management: management.transpose()?,
            ledger,
            watch,
            other_tasks,
            warm_up: Span::ZERO,
            forwards_at_most: None,
            wire: None,
            threads,
            places_passed: 0,
            next_id: first_id(traffic.seed),
            flow_next: 0,
        })
    }

    /// The order as the traffic has it: its batch, and the flow and the destination that the next trial begins with. Flows
    /// that last begin with the first each time; where they have a length, flows of this trial must be as new to the DUT as
    /// those of the last.
    #[must_use]
    pub fn continued(&self, order: Order) -> Order {
        let destinations = self.traffic.destinations.as_ref();
        let destinations = destinations.filter(|_| self.traffic.destinations_continue());
        let (entry_first, lap_first) = destinations.map_or((0, 0), |destinations| {
            destinations.entry_and_lap(self.places_passed)
        });
        Order {
            flow_first: self.flow_next,
            entry_first,
            lap_first,
            batch: self.traffic.batch,
            ..order
        }
    }

    /// Notes that a trial has sent so many frames in its fuller direction.
    pub fn pass(&mut self, frames: u64) {
        let begun = self.traffic.flow_order().begun(frames);
        let with_length = self.traffic.flow_length.is_some();
        if with_length {
            let next = (u64::from(self.flow_next) + begun) % u64::from(FLOWS_MAX);
            self.flow_next = u32::try_from(next).unwrap_or(0);
        }
        if self.wire.is_some() {
            // The router met none of these destinations.
        } else if self.traffic.destinations_continue() {
            self.places_passed += frames;
        } else {
            let places = if with_length { begun } else { frames };
            self.places_passed = self.places_passed.max(places);
        }
    }

    /// Lays a wire in place of the router, until [`Tester::wire`] is `None` again. Whether one can be laid.
    pub(crate) fn lay_wire(&mut self) -> Result<bool, TesterError> {
        self.wire = Wire::lay(self.bed, &self.ways())?;
        Ok(self.wire.is_some())
    }

    /// The next trial's tag ids: its own and its canaries'.
    pub fn next_ids(&mut self) -> (u16, u16) {
        self.next_id = self.next_id.wrapping_add(2) & !WAY_BIT;
        (self.next_id, self.next_id.wrapping_add(1))
    }

    /// The ways, by direction.
    #[must_use]
    pub fn ways(&self) -> Vec<Way<'bed>> {
        ways(self.bed, self.traffic.bidirectional)
    }

    /// The kernel threads that do the DUT's work, with their CPUs; the softirq front has none.
    #[must_use]
    pub fn dut_threads(&self) -> &[(i32, usize)] {
        &self.threads
    }
}

/// The CPUs whose state each window of a trial tells. Of several that the DUT has, one would not speak for the others.
fn timed(cpus: &CpuSplit) -> Option<(usize, usize)> {
    cpus.ends().filter(|_| cpus.dut.len() == 1)
}

/// By what the router's tasks on this machine are known. Where its work is done in softirqs, ksoftirqd's time is its busy time.
fn router_tasks(bed: &Bed) -> RouterTasks {
    let plan = bed.plan();
    let alone = |cpu: &usize| plan.nic != Front::Softirq && !plan.cpus.tester.contains(cpu);
    RouterTasks {
        netns: bed.dut().netns().map_or(0, NetNs::inode),
        cpus: plan.cpus.dut.clone(),
        softirqs: plan.cpus.dut.iter().copied().filter(alone).collect(),
    }
}

fn nic_plan(bed: &Bed, traffic: &Traffic) -> NicPlan {
    let plan = bed.plan();
    let cpus = traffic.dut_cpus.unwrap_or(usize::MAX);
    NicPlan {
        front: plan.nic,
        queues: plan.queues_on(traffic.dut_cpus),
        rx_ring: plan.rx_ring,
        rss: plan.rss,
        dut_cpus: plan.cpus.dut.iter().copied().take(cpus).collect(),
    }
}

/// Ids begin somewhere else in each run, so that a frame left over from another run is foreign.
fn first_id(seed: u64) -> u16 {
    (mpps_linux::clock::monotonic_ns() ^ seed) as u16 & !1 & !WAY_BIT
}
