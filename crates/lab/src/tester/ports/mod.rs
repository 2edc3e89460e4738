//! The seam between a trial and the ports that carry it: a trial arms, sends, waits and reads, and does not
//! know what stands behind. Called a few times a trial, never once a frame.

pub mod exit_place;
pub mod link_state;
pub mod mtu;
pub mod open;
pub mod packet;
pub mod plans;
pub mod receiver;
pub mod sender;
pub mod template;
mod wait;

use crate::tester::error::TesterError;
use mpps_ebpf::instruments::receiver::{Received, WindowMark};
use mpps_ebpf::instruments::sender::{DIRECTIONS, Mark, Order, Outcome, Stopped};
use mpps_linux::bpf::ProgramRuns;
use mpps_linux::netns::NetNs;

/// The longest time between two looks at a running sender, ns. A look asks whether it is to go on, and whether Ctrl-C
/// came. It costs time on the tester's CPU.
const LOOK_NS_MAX: u64 = 50_000_000;

/// What a receiver's own ring took, as the kernel counted it, since the receiver was attached.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RingCount {
    /// Frames that came to the ring.
    pub seen: u64,
    /// Of these, frames it had no room for.
    pub dropped: u64,
}

/// What a sender is told when it asks whether to go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GoOn {
    /// Yes, and it may ask again after so many ns.
    For(u64),
    /// No.
    Stop(Stopped),
}

/// What a sender asks meanwhile, a few times a second: each answer costs the tester's CPU some microseconds.
#[derive(Clone, Copy)]
pub struct WhileSending<'a> {
    /// Whether to go on, the first slot having been due at a moment (monotonic ns, 0: not yet) and so many slots having
    /// passed unsent, by direction.
    pub go_on: &'a dyn Fn(u64, [u64; DIRECTIONS]) -> Result<GoOn, TesterError>,
}

impl WhileSending<'_> {
    /// Sends all there is to send, and waits as long as it may.
    pub const NOBODY: Self = Self {
        go_on: &|_, _| Ok(GoOn::For(LOOK_NS_MAX)),
    };
}

/// Sends what a trial orders, in all directions.
pub trait TrafficSender {
    /// Carries out the order from `netns`, the namespace of the first direction's port, and returns what
    /// became of it.
    ///
    /// # Errors
    /// The kernel refused to send at all, or Ctrl-C. A sender that did not end in time is an outcome with
    /// `ended_ns` 0, not an error.
    fn send(
        &self,
        order: Order,
        netns: &NetNs,
        minding: &WhileSending<'_>,
    ) -> Result<Outcome, TesterError>;

    /// Frames handed over in the last trial by length without FCS, all directions.
    fn by_length(&self) -> Result<Vec<(u16, u64)>, TesterError>;

    /// How far it was at moments of the last trial, in their order.
    fn marks(&self) -> Result<Vec<Mark>, TesterError>;

    /// Lengths this sender sends, each once, without FCS.
    fn distinct_lengths(&self) -> Vec<u16>;
}

/// Counts what reaches one of the tester's ports.
pub trait TrafficReceiver {
    /// Forgets the trial before and waits for frames with this id; `sequences` of them at most.
    fn arm(
        &self,
        id: u16,
        canary_id: u16,
        sequences: u64,
        lengths: &[u16],
    ) -> Result<(), TesterError>;

    /// What arrived since the receiver was armed.
    fn read(&self) -> Result<Received, TesterError>;

    /// Unique frames of the trial by length without FCS.
    fn by_length(&self, length: u16) -> Result<u64, TesterError>;

    /// A bit for each of the trial's first `sequences` sequences, lowest first: set when it arrived.
    fn seen(&self, sequences: u64) -> Result<Vec<u64>, TesterError>;

    /// What each CPU had counted at the beginning of each window of time between two moments, monotonic ns. Empty
    /// from a receiver that does not keep them.
    fn windows(&self, _from_ns: u64, _to_ns: u64) -> Result<Vec<Vec<WindowMark>>, TesterError> {
        Ok(Vec::new())
    }

    /// How often its program ran and for how long, while runs were timed ([`mpps_linux::bpf::time_runs`]); `None`
    /// from a receiver that is no program.
    fn program_runs(&self) -> Result<Option<ProgramRuns>, TesterError> {
        Ok(None)
    }

    /// What the receiver's own ring took; `None` for one that has no ring beside the port's.
    fn ring(&self) -> Result<Option<RingCount>, TesterError> {
        Ok(None)
    }
}
