//! Why a table is not in the FIB.

use super::{Family, PROTOCOL};
use crate::journal::JournalError;
use thiserror::Error;

const MIB: u64 = 1 << 20;

/// A table could not be loaded, counted or cleared.
#[derive(Debug, Error)]
pub enum FibError {
    /// The kernel refused something that concerns more than one route.
    #[error(transparent)]
    Linux(#[from] mpps_linux::Error),
    /// Not a gateway.
    #[error(
        "gateway `{0}`: give an address, such as 198.19.0.2, or one with its interface, such as fe80::1%eth0"
    )]
    BadGateway(String),
    /// A plan that makes no sense.
    #[error("{0}")]
    BadPlan(String),
    /// Prefixes of a family that no gateway was given for.
    #[error(
        "{1} {0} prefixes and no {0} gateway for them: give one more with --via, or leave the prefixes out"
    )]
    NoGateway(Family, usize),
    /// A gateway that is not on a link of this router.
    #[error(
        "gateway {0} is not a neighbour of this router: {1} (give an address of a network on one of its links)"
    )]
    NotOnLink(String, String),
    /// Not enough memory.
    #[error(
        "{routes} routes need about {} MiB of kernel memory and {} MiB are free: load fewer (--max), or on a larger \
         machine",
        need_octets.div_ceil(MIB),
        free_octets / MIB
    )]
    NoMemory {
        /// Routes to load, both families.
        routes: usize,
        /// Memory they need.
        need_octets: u64,
        /// Memory there is.
        free_octets: u64,
    },
    /// Each nexthop object we may make exists.
    #[error(
        "no number is left for a nexthop object: clear the routes loaded before (mpps table clear)"
    )]
    NoNexthopLeft,
    /// This many routes of ours are left after clearing.
    #[error(
        "{0} routes are left after clearing: another program adds routes of protocol {PROTOCOL}, which mpps uses; stop it and clear again"
    )]
    Left(usize),
    /// The FIB is not what table and changes make of it: prefixes, the first of them, what the kernel refused.
    #[error(
        "after the route changes the router's FIB differs in {0} prefixes from table and changes, the first is {1}; \
        {2}. Measure on a bed whose routes no other program changes"
    )]
    Changed(usize, ipnet::IpNet, String),
    /// Another program loads or clears here now.
    #[error("another mpps loads or clears routes in this namespace: wait for it")]
    InUse,
    /// A load was killed here and left routes.
    #[error("a load that was killed left routes here: run `mpps recover` first")]
    LeftBehind,
    /// The journal could not be kept: nothing was changed without it.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// Ctrl-C or SIGTERM; this many requests had been handled.
    #[error("interrupted after {0} routes")]
    Interrupted(u64),
}
