//! The receiver: at one of the tester's ports, or at the DUT's exit.

use super::TrafficReceiver;
use crate::bed::{Bed, Port};
use crate::tester::dut_path::InPath;
use crate::tester::error::{NoExit, TesterError};
use crate::tester::programs::{self, attach_in, maps};
use libbpf_rs::{MapCore, MapFlags, MapHandle};
use mpps_ebpf::instruments::receiver::{
    Looked, Received, ReceiverSkel, ReceiverSkelBuilder, WINDOW_SHIFT, WINDOWS_MAX, WindowMark,
};
use mpps_linux::bpf::{self, LinkKind, ProgramRuns};
use mpps_linux::netns::NetNs;
use mpps_linux::tc::{Hook, Turn};
use mpps_method::FlowOrder;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;

const KEY: [u8; 4] = [0; 4];
const ARM: &str = "arm the receiver";
const READ: &str = "read the receiver";

/// What the receiver has to know of the traffic.
#[derive(Clone, Debug)]
pub struct ReceiverPlan {
    /// Which flow each frame belongs to.
    pub order: FlowOrder,
    /// Which flow is at each place, if destinations repeat (see [`FlowOrder::place`]).
    pub place_flow: Option<Arc<Vec<u32>>>,
    /// TCP instead of UDP.
    pub tcp: bool,
    /// Most frames one trial sends in this direction.
    pub sequences_max: u64,
    /// Whether to time every frame, which costs 20 to 30 ns a frame, or one frame in 16.
    pub all_timed: bool,
    /// Whether the kernel gets frames that are not the tester's, such as a device's ARP requests.
    pub pass_foreign: bool,
}

/// An attached receiver. It is detached when this is dropped.
pub struct Receiver {
    skel: ReceiverSkel<'static>,
    plan: ReceiverPlan,
    attached: Attached,
}

/// Where the program is attached, and what keeps it there.
enum Attached {
    Port { _link: OwnedFd },
    Exit { _in_path: InPath },
}

/// A kernel without the hook has no exit.
pub(in crate::tester) fn no_exit(error: TesterError) -> TesterError {
    match error {
        TesterError::NoHook => TesterError::NoExit(NoExit::Kernel),
        other => other,
    }
}

impl Receiver {
    /// Receives at port `ifindex` of the namespace.
    pub fn attach(plan: ReceiverPlan, netns: &NetNs, ifindex: u32) -> Result<Self, TesterError> {
        let skel = load(&plan)?;
        let link = attach_in(netns, skel.progs.receive.as_fd(), ifindex, LinkKind::Xdp)?;
        let attached = Attached::Port { _link: link };
        Ok(Self::attached(skel, plan, attached))
    }

    /// Receives at the egress of one of the DUT's ports, behind all other programs there.
    pub fn attach_at_exit(plan: ReceiverPlan, bed: &Bed, port: &Port) -> Result<Self, TesterError> {
        let skel = load(&plan)?;
        let program = skel.progs.leave.as_fd();
        let in_path = InPath::put(bed, port, (Hook::Egress, Turn::Last), "mpps_exit", program)
            .map_err(no_exit)?;
        let attached = Attached::Exit { _in_path: in_path };
        Ok(Self::attached(skel, plan, attached))
    }

    fn attached(skel: ReceiverSkel<'static>, plan: ReceiverPlan, attached: Attached) -> Self {
        Self {
            skel,
            plan,
            attached,
        }
    }
}

/// Says when a receiver looks for its longest gap. Another thread may say it while the receiver counts.
pub struct GapFinder(MapHandle);

impl GapFinder {
    /// From now on this counts.
    ///
    /// # Errors
    /// The kernel refused to write the map.
    pub fn look(&self, looked: &Looked) -> Result<(), TesterError> {
        maps::write(&self.0, 0, looked, "look for a gap")
    }
}

impl TrafficReceiver for Receiver {
    fn arm(
        &self,
        id: u16,
        canary_id: u16,
        sequences: u64,
        lengths: &[u16],
    ) -> Result<(), TesterError> {
        let fail = |e: libbpf_rs::Error| TesterError::bpf(ARM, &e);
        let maps = &self.skel.maps;
        maps::write(&maps.trial, 0, &u64::from(id), ARM)?;
        maps::write(&maps.trial, 1, &u64::from(canary_id), ARM)?;
        maps::write(&maps.gaps, 0, &Looked::NEVER, ARM)?;
        let cpus = maps::possible_cpus()?;
        let empty = vec![vec![0; maps.counts.value_size() as usize]; cpus];
        maps.counts
            .update_percpu(&KEY, &empty, MapFlags::ANY)
            .map_err(fail)?;
        for length in lengths {
            let key = u32::from(*length).to_ne_bytes();
            maps.received_by_length
                .update_percpu(&key, &vec![vec![0; 8]; cpus], MapFlags::ANY)
                .map_err(fail)?;
        }
        let words = sequences.min(self.plan.sequences_max).div_ceil(64);
        maps::fill(&maps.seen, &vec![0_u64; words as usize])
    }

    fn read(&self) -> Result<Received, TesterError> {
        let counts = maps::read_per_cpu(&self.skel.maps.counts, 0, READ)?;
        Ok(Received::from_cpus(&counts))
    }

    fn gap_finder(&self) -> Result<Option<GapFinder>, TesterError> {
        let handle = MapHandle::try_from(&self.skel.maps.gaps);
        let handle = handle.map_err(|e| TesterError::bpf("share the receiver's map", &e))?;
        Ok(Some(GapFinder(handle)))
    }

    fn windows(&self, from_ns: u64, to_ns: u64) -> Result<Vec<Vec<WindowMark>>, TesterError> {
        let (first, last) = (from_ns >> WINDOW_SHIFT, to_ns >> WINDOW_SHIFT);
        let mut cpus = vec![Vec::new(); maps::possible_cpus()?];
        for window in first.max(last.saturating_sub(WINDOWS_MAX - 1))..=last {
            let key = (window % WINDOWS_MAX) as u32;
            let windows: Vec<WindowMark> = maps::read_per_cpu(&self.skel.maps.windows, key, READ)?;
            for (marks, mark) in cpus.iter_mut().zip(windows) {
                // Older marks are from an earlier trial.
                marks.extend(Some(mark).filter(|mark| (from_ns..=to_ns).contains(&mark.ns)));
            }
        }
        cpus.retain(|marks| !marks.is_empty());
        Ok(cpus)
    }

    fn program_runs(&self) -> Result<Option<ProgramRuns>, TesterError> {
        let program = match self.attached {
            Attached::Port { .. } => &self.skel.progs.receive,
            Attached::Exit { .. } => &self.skel.progs.leave,
        };
        Ok(Some(bpf::program_runs(program.as_fd())?))
    }

    fn by_length(&self, length: u16) -> Result<u64, TesterError> {
        let map = &self.skel.maps.received_by_length;
        let cpus: Vec<u64> = maps::read_per_cpu(map, u32::from(length), READ)?;
        Ok(cpus.iter().sum())
    }

    fn seen(&self, sequences: u64) -> Result<Vec<u64>, TesterError> {
        let count = sequences.min(self.plan.sequences_max).div_ceil(64);
        maps::read_first(&self.skel.maps.seen, count as usize, "read the frames seen")
    }
}

/// Loads the programs, sized for this traffic.
fn load(plan: &ReceiverPlan) -> Result<ReceiverSkel<'static>, TesterError> {
    let mut open = programs::open(ReceiverSkelBuilder::default(), "open the receiver")?;
    let rodata = programs::constants(&mut open.maps.rodata_data, "receiver rodata")?;
    rodata.tcp = u32::from(plan.tcp);
    rodata.flows = plan.order.flows;
    rodata.flow_frames = plan.order.flow_frames();
    rodata.flow_places = plan.order.places();
    rodata.sequences_max = plan.sequences_max;
    rodata.pass_foreign = u32::from(plan.pass_foreign);
    rodata.untimed_bits = if plan.all_timed { 0 } else { 15 };
    let words =
        u32::try_from(plan.sequences_max.div_ceil(64)).map_err(|_| TesterError::TooManyFrames)?;
    rodata.places_repeat = u32::from(plan.place_flow.is_some());
    let places = u32::try_from(plan.order.places()).unwrap_or(u32::MAX);
    let repeated = plan.place_flow.as_ref().map_or(1, |_| places);
    let sized = open
        .maps
        .seen
        .set_max_entries(words.max(1))
        .and(open.maps.expected.set_max_entries(places))
        .and(open.maps.place_flow.set_max_entries(repeated));
    sized.map_err(|e| TesterError::bpf("size the receiver", &e))?;
    let skel = programs::load(open, "load the receiver")?;
    if let Some(flows) = &plan.place_flow {
        maps::fill(&skel.maps.place_flow, flows)?;
    }
    Ok(skel)
}
