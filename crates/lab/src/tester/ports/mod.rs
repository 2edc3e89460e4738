//! The ports of the tester, behind two traits. A trial arms, sends, waits and reads, and does not know the kind of port.
//! The methods are called a few times a trial, never once a frame.

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

use self::receiver::GapFinder;
use crate::tester::error::TesterError;
use mpps_ebpf::instruments::receiver::{Received, WindowMark};
use mpps_ebpf::instruments::sender::{DIRECTIONS, Mark, Order, Outcome, Stopped};
use mpps_linux::bpf::ProgramRuns;

/// The longest time between two looks at a running sender, ns. A look asks whether it is to go on, and whether Ctrl-C
/// came. It costs time on the tester's CPU.
const LOOK_NS_MAX: u64 = 50_000_000;

/// What the kernel counted at a receiver's own ring since the receiver was attached.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RingCount {
    /// Frames that reached the ring.
    pub seen: u64,
    /// Of these, frames that found the ring full.
    pub dropped: u64,
}

/// The answer to a sender that asks whether to go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GoOn {
    /// Yes. It may ask again after this many ns.
    For(u64),
    /// No.
    Stop(Stopped),
}

/// Tells a sender a few times a second whether to go on. Each answer takes some microseconds of the tester's CPU.
/// Arguments: when the first slot was due (monotonic ns, 0: not yet), and how many slots passed unsent, by direction.
pub type Asked<'a> = dyn Fn(u64, [u64; DIRECTIONS]) -> Result<GoOn, TesterError> + 'a;

/// Always to go on, until all slots have passed.
///
/// # Errors
/// None.
pub fn until_ended(_started_ns: u64, _unsent: [u64; DIRECTIONS]) -> Result<GoOn, TesterError> {
    Ok(GoOn::For(LOOK_NS_MAX))
}

/// Sends what a trial orders, in all directions.
pub trait TrafficSender {
    /// Carries out the order, and asks meanwhile whether to go on.
    ///
    /// # Errors
    /// The kernel refused to send, or Ctrl-C. A sender that did not end in time is no error: `ended_ns` is 0 then.
    fn send(&self, order: Order, go_on: &Asked<'_>) -> Result<Outcome, TesterError>;

    /// Most frames that it hands on at once with this order.
    fn at_once(&self, order: &Order) -> u32;

    /// Frames handed over in the last trial by length without FCS, all directions.
    fn by_length(&self) -> Result<Vec<(u16, u64)>, TesterError>;

    /// How many frames it had sent at some moments of the last trial, in their order.
    fn marks(&self) -> Result<Vec<Mark>, TesterError>;

    /// Lengths this sender sends, each once, without FCS.
    fn distinct_lengths(&self) -> Vec<u16>;
}

/// Counts what reaches one of the tester's ports.
pub trait TrafficReceiver {
    /// Forgets the last trial and counts frames with this id, at most `sequences` of them.
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

    /// A bit for each of the first `sequences` sequence numbers, lowest first. It is set if that frame arrived.
    fn seen(&self, sequences: u64) -> Result<Vec<u64>, TesterError>;

    /// What each CPU had counted at the beginning of each window between two moments, monotonic ns. Empty from a
    /// receiver that keeps no windows.
    fn windows(&self, _from_ns: u64, _to_ns: u64) -> Result<Vec<Vec<WindowMark>>, TesterError> {
        Ok(Vec::new())
    }

    /// Says when the receiver looks for its longest gap: at no time, once it is armed. `None`: it notes none.
    fn gap_finder(&self) -> Result<Option<GapFinder>, TesterError> {
        Ok(None)
    }

    /// How often and how long its program ran while runs were timed ([`mpps_linux::bpf::time_runs`]). `None`: the
    /// receiver is no program.
    fn program_runs(&self) -> Result<Option<ProgramRuns>, TesterError> {
        Ok(None)
    }

    /// The count of the receiver's own ring. `None`: it has no ring beside the port's.
    fn ring(&self) -> Result<Option<RingCount>, TesterError> {
        Ok(None)
    }
}
