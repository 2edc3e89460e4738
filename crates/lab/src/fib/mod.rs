//! Tables in the kernel's FIB: loaded, counted back, shown, cleared.
//!
//! Our routes carry our protocol number ([`PROTOCOL`]). Nexthop objects also have a number of our range
//! ([`NEXTHOPS`]). So a later run can count and clear them, also after a crash, and routes of others stay.
//! *Loaded* means counted: a dump of the FIB after loading has to hold every prefix that the kernel did not
//! refuse.
//!
//! All of it acts in the network namespace of the calling thread: `router(bed)?.run(...)`.

mod bed;
mod changes;
mod clear;
mod contents;
mod error;
mod gateway;
mod host;
mod load;
mod order;
mod room;
mod stats;

pub use bed::{NEXT_HOPS_MAX, bed_networks, clear_from, held, load_by, load_into, router};
pub use changes::{CountedBack, Replay, ReplayedChanges};
pub use clear::{Cleared, clear};
pub use contents::{Contents, Group, Length, contents};
pub use error::FibError;
pub use gateway::{Gateway, Spread};
pub use host::{HostChange, HostRoutes, clear_host, is_journal, load_host};
pub use load::{FamilyLoad, LoadPlan, Loaded, Pointing, load};
pub use stats::{FibStats, routes_in_fib, stats};

pub use mpps_linux::routes::{Family, LookupCounters, Refusal, Rt6Stats, TrieStats};

use mpps_linux::routes::{Filter, Route, dump};
use std::ops::RangeInclusive;

/// `rtm_protocol` of our routes and nexthop objects: 109, "m"; not assigned in /etc/iproute2/rt_protos.
pub const PROTOCOL: u8 = 109;
/// Ids of our nexthop objects: "mp" in the upper half.
pub const NEXTHOPS: RangeInclusive<u32> = 0x6d70_0000..=0x6d70_ffff;
/// The table that is looked into without a rule (`RT_TABLE_MAIN`).
pub const MAIN_TABLE: u32 = 254;

/// Our routes of a family, in all tables.
fn ours(family: Family) -> Result<Vec<Route>, FibError> {
    let filter = Filter {
        table: None,
        protocol: Some(PROTOCOL),
    };
    collect(family, &filter)
}

fn collect(family: Family, filter: &Filter) -> Result<Vec<Route>, FibError> {
    let found = std::cell::RefCell::new(Vec::new());
    dump(
        family,
        filter,
        || found.borrow_mut().clear(),
        |route| found.borrow_mut().push(*route),
    )?;
    Ok(found.into_inner())
}
