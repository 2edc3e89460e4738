//! Stages of a frame's way through the router: where the kernel spends the time of a frame.
//!
//! The stages are those of Emmerich, Raumer, Wohlfart, Carle, "Assessing soft- and hardware bottlenecks in PC-based
//! packet forwarding systems" (2015). Postrouting is everything after the routing decision: TTL, MTU, the FORWARD hook
//! and the neighbour's address. The bed has two stages of its own, its virtual NIC and its exit.
//!
//! ```
//! use mpps_method::stage::{Cause, Router, Stage, place};
//!
//! // Leaf first: a lock that connection tracking takes before the routing decision.
//! let stack = ["_raw_spin_lock", "nf_conntrack_tcp_packet", "nf_conntrack_in", "nf_hook_slow", "ip_rcv"];
//! let placed = place(&stack, Router::OnBed);
//! assert_eq!((placed.stage, placed.substage, placed.cause), (Stage::Prerouting, "pre.nf", Cause::Locks));
//! assert_eq!(placed.decided_by, "ip_rcv");
//! ```

mod catalogue;
mod change;
mod place;
mod shadow;
mod split;
#[cfg(test)]
mod tests;

pub use catalogue::{WrongRow, check};
pub use change::{Change, Spent, changes};
pub use place::{Placed, Router, UNCLASSIFIED, place};
pub use shadow::{Lateness, place_late};
pub use split::{Cost, Sample, Split, combine, split};

use std::fmt;

/// Stage of a frame's way, in the order in which a frame meets them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Stage {
    /// The bed's own: rings, CPUMAP thread and programs in place of a NIC.
    VirtualNic,
    /// Reception: driver, NAPI, GRO, protocol demultiplexing.
    Rx,
    /// Allocation of buffers.
    Alloc,
    /// Checks, firewall and NAT before the routing decision.
    Prerouting,
    /// The routing decision.
    Routing,
    /// Everything after the decision and before transmission.
    Postrouting,
    /// Transmission: queueing discipline, driver.
    Tx,
    /// Release of buffers.
    Free,
    /// The bed's own: the program at the router's outgoing port, in place of a NIC.
    Exit,
    /// Interrupts, scheduler, timers, and what no rule places.
    Other,
}

impl Stage {
    /// Every stage.
    pub const ALL: [Self; 10] = [
        Self::VirtualNic,
        Self::Rx,
        Self::Alloc,
        Self::Prerouting,
        Self::Routing,
        Self::Postrouting,
        Self::Tx,
        Self::Free,
        Self::Exit,
        Self::Other,
    ];

    /// Whether the time is the router's, not the bed's.
    #[must_use]
    pub fn is_routers(self) -> bool {
        !matches!(self, Self::VirtualNic | Self::Exit)
    }
}

impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::VirtualNic => "virtual NIC",
            Self::Rx => "RX",
            Self::Alloc => "allocation",
            Self::Prerouting => "prerouting",
            Self::Routing => "routing",
            Self::Postrouting => "postrouting",
            Self::Tx => "TX",
            Self::Free => "free",
            Self::Exit => "exit",
            Self::Other => "other",
        })
    }
}

/// What a piece of time was spent on, across the stages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Cause {
    /// Taking, holding up and releasing locks.
    Locks,
    /// Connection tracking.
    ConnTrack,
    /// Address translation.
    Nat,
    /// Rules of a firewall, and the hooks that call them.
    Rules,
    /// Look-up of routes.
    LookUp,
    /// Copies and fills of memory.
    MemoryCopies,
    /// Thunks against speculative execution.
    Mitigations,
    /// The scheduler.
    Scheduler,
    /// None of these.
    None,
}

impl Cause {
    /// Every cause.
    pub const ALL: [Self; 9] = [
        Self::Locks,
        Self::ConnTrack,
        Self::Nat,
        Self::Rules,
        Self::LookUp,
        Self::MemoryCopies,
        Self::Mitigations,
        Self::Scheduler,
        Self::None,
    ];

    /// The cause that a substage of the catalogue stands for.
    fn from_substage(substage: &str) -> Self {
        match substage {
            "lib.lock" | "lib.lockcontend" | "lib.irqon" => Self::Locks,
            "nf.conntrack" | "other.ctgc" => Self::ConnTrack,
            "nf.nat" => Self::Nat,
            "nf.rules" | "nf.hook" => Self::Rules,
            "route.fib" | "route.rpfilter" | "route.xdpfib" => Self::LookUp,
            "lib.copy" => Self::MemoryCopies,
            "lib.mitig" => Self::Mitigations,
            "other.sched" => Self::Scheduler,
            _ => Self::None,
        }
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Locks => "locks",
            Self::ConnTrack => "connection tracking",
            Self::Nat => "NAT",
            Self::Rules => "rules",
            Self::LookUp => "route look-up",
            Self::MemoryCopies => "memory copies",
            Self::Mitigations => "mitigations",
            Self::Scheduler => "scheduler",
            Self::None => "none of these",
        })
    }
}
