//! Routes by the million. An encoder of our own puts many requests into a system call, and dumps need no allocation for
//! each route. Nexthop objects and the kernel's statistics of its tables are here too.
//!
//! [`crate::links`] sets up a bed with some dozens of requests, and awaits each. A full BGP table needs a million. Here
//! a batch of messages goes to the kernel in one `send(2)`, which handles them before it returns. Only refusals and the
//! last message of a batch are answered.
//!
//! All of it acts in the network namespace of the calling thread.

mod answer;
mod attributes;
mod bulk;
mod dump;
pub mod nexthops;
mod request;
mod rt6_stats;
mod socket;
mod trie_stats;

pub use answer::answer;
pub use bulk::{Bulk, Refusal, Refusals};
pub use dump::{Filter, Route, dump};
pub use request::{Request, Stamp, Via};
pub use rt6_stats::{Rt6Stats, rt6_stats};
pub use trie_stats::{LookupCounters, TrieStats, trie_stats};

use serde::Serialize;

/// Address family: a FIB of its own each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
pub enum Family {
    /// IPv4.
    #[serde(rename = "ipv4")]
    V4,
    /// IPv6.
    #[serde(rename = "ipv6")]
    V6,
}

impl Family {
    /// Both.
    pub const ALL: [Self; 2] = [Self::V4, Self::V6];

    pub(crate) fn number(self) -> u8 {
        match self {
            // AF_INET and AF_INET6 are 2 and 10 on every architecture.
            Self::V4 => 2,
            Self::V6 => 10,
        }
    }

    fn from_number(number: u8) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|family| family.number() == number)
    }
}

impl std::fmt::Display for Family {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::V4 => "IPv4",
            Self::V6 => "IPv6",
        })
    }
}
