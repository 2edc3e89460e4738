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

pub use change::{Change, Spent, changes, paired_changes};
pub use place::{Placed, Router, UNCLASSIFIED, place};
pub use shadow::{Lateness, enables_interrupts, place_late};
pub use split::{Cost, Sample, Split, by_cost, combine, split, student};

crate::named! {
    /// Stage of a frame's way, in the order in which a frame meets them.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum Stage {
        /// The bed's own: rings, CPUMAP thread and programs in place of a NIC.
        VirtualNic = "virtual NIC",
        /// Reception: driver, NAPI, GRO, protocol demultiplexing.
        Rx = "RX",
        /// Allocation of buffers.
        Alloc = "allocation",
        /// Checks, firewall and NAT before the routing decision.
        Prerouting = "prerouting",
        /// The routing decision.
        Routing = "routing",
        /// Everything after the decision and before transmission.
        Postrouting = "postrouting",
        /// Transmission: queueing discipline, driver.
        Tx = "TX",
        /// Release of buffers.
        Free = "free",
        /// The bed's own: the program at the router's outgoing port, in place of a NIC.
        Exit = "exit",
        /// Interrupts, scheduler, timers, and what no rule places.
        Other = "other",
    }
}

impl Stage {
    /// Whether the time is the router's, not the bed's.
    #[must_use]
    pub fn is_routers(self) -> bool {
        !matches!(self, Self::VirtualNic | Self::Exit)
    }
}

crate::named! {
    /// What a piece of time was spent on, across the stages.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum Cause {
        /// Taking, holding up and releasing locks.
        Locks = "locks",
        /// Connection tracking.
        ConnTrack = "connection tracking",
        /// Address translation.
        Nat = "NAT",
        /// Rules of a firewall, and the hooks that call them.
        Rules = "rules",
        /// Look-up of routes.
        LookUp = "route look-up",
        /// Copies and fills of memory.
        MemoryCopies = "memory copies",
        /// Thunks against speculative execution.
        Mitigations = "mitigations",
        /// The scheduler.
        Scheduler = "scheduler",
        /// None of these.
        None = "none of these",
    }
}

impl Cause {
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
