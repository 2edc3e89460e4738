//! Why a table is not in the FIB.

use super::Family;
use std::fmt;

/// A table could not be loaded, counted or cleared.
#[derive(Debug)]
pub enum FibError {
    /// The kernel refused something that concerns more than one route.
    Linux(mpps_linux::Error),
    /// Not a gateway.
    BadGateway(String),
    /// A plan that makes no sense.
    BadPlan(String),
    /// Prefixes of a family that no gateway was given for.
    NoGateway(Family, usize),
    /// A gateway that is not on a link of this router.
    NotOnLink(String, String),
    /// Not enough memory: routes, octets needed, octets there are.
    NoMemory(usize, u64, u64),
    /// net.ipv6.route.max_size: IPv6 routes, the setting.
    MaxSize(usize, u64),
    /// Each nexthop object we may make exists.
    NoNexthopLeft,
    /// So many routes of ours are left after clearing.
    Left(usize),
    /// Somebody loads or clears here now.
    InUse,
    /// A load was killed here and left routes.
    LeftBehind,
    /// The journal could not be kept: nothing was changed without it.
    Journal(std::io::Error),
    /// Ctrl-C or SIGTERM; so many requests had been handled.
    Interrupted(u64),
}

impl fmt::Display for FibError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const MIB: u64 = 1 << 20;
        match self {
            Self::Linux(error) => error.fmt(f),
            Self::BadGateway(text) => write!(
                f,
                "gateway `{text}`: give an address, such as 198.19.0.2, or one with its interface, such as fe80::1%eth0"
            ),
            Self::BadPlan(why) => f.write_str(why),
            Self::NoGateway(family, prefixes) => write!(
                f,
                "{prefixes} {family} prefixes and no {family} gateway for them: give one more with --via, or leave \
                 the prefixes out"
            ),
            Self::NotOnLink(gateway, why) => write!(
                f,
                "gateway {gateway} is not a neighbour of this router: {why} (give an address of a network on one of \
                 its links)"
            ),
            Self::NoMemory(routes, need, have) => write!(
                f,
                "{routes} routes need about {} MiB of kernel memory and {} MiB are free: load fewer (--max), or on a \
                 larger machine",
                need.div_ceil(MIB),
                have / MIB
            ),
            Self::MaxSize(routes, setting) => write!(
                f,
                "{routes} IPv6 routes and net.ipv6.route.max_size is {setting}: raise it in the router's namespace \
                 (sysctl -w net.ipv6.route.max_size={})",
                (*routes).max(1).next_power_of_two().saturating_mul(2)
            ),
            Self::NoNexthopLeft => f.write_str(
                "all numbers of our nexthop objects are taken: clear what was loaded before (mpps table clear)",
            ),
            Self::Left(routes) => write!(
                f,
                "{routes} routes are left after clearing: something adds them while we remove them (protocol {} is \
                 ours); stop it and clear again",
                super::PROTOCOL
            ),
            Self::InUse => f.write_str(
                "another mpps loads or clears routes in this namespace: wait for it",
            ),
            Self::LeftBehind => f.write_str(
                "a load that was killed left routes here: run `mpps recover` first",
            ),
            Self::Journal(error) => f.write_str(&crate::journal::explain(error)),
            Self::Interrupted(done) => write!(f, "interrupted after {done} routes"),
        }
    }
}

impl std::error::Error for FibError {}

impl From<mpps_linux::Error> for FibError {
    fn from(error: mpps_linux::Error) -> Self {
        Self::Linux(error)
    }
}
