//! Clearing: exactly what was loaded goes, and what is left is counted.

use super::{Family, FibError, NEXTHOPS, PROTOCOL, order, ours};
use ipnet::{IpNet, Ipv4Net};
use mpps_linux::clock::monotonic_ns;
use mpps_linux::routes::nexthops::{self, Nexthop};
use mpps_linux::routes::{Bulk, Request, Route, Stamp};

/// Another program may add a route of our protocol while we clear. We look again this many times.
const ROUNDS: u32 = 3;

/// What was cleared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cleared {
    /// IPv4 routes that were there before.
    pub v4: u64,
    /// IPv6 routes that were there before.
    pub v6: u64,
    /// Nexthop objects removed; their routes went with them.
    pub nexthops: u64,
    /// Routes removed one by one: those with a next hop of their own.
    pub one_by_one: u64,
    /// Routes of ours that a dump found afterwards: 0, or clearing has failed.
    pub left: u64,
    /// How long removing took, ns; counting before and after is not in it.
    pub removing_ns: u64,
}

/// Removes our routes and nexthop objects from every table, and counts that none is left.
///
/// Routes that others pointed at nexthop objects of ours go with those, as the kernel does it.
///
/// # Errors
/// The kernel refused, or routes are left.
pub fn clear() -> Result<Cleared, FibError> {
    let mut cleared = Cleared {
        v4: count(&ours(Family::V4)?),
        v6: count(&ours(Family::V6)?),
        ..Cleared::default()
    };
    let mut left = Vec::new();
    for _ in 0..ROUNDS {
        let begun = monotonic_ns();
        for object in objects()? {
            nexthops::delete(object.id)?;
            cleared.nexthops += 1;
        }
        cleared.removing_ns += monotonic_ns() - begun;
        left = Vec::new();
        for family in Family::ALL {
            let routes = ours(family)?;
            let begun = monotonic_ns();
            cleared.one_by_one += remove(family, &routes)?;
            cleared.removing_ns += monotonic_ns() - begun;
            if !routes.is_empty() {
                left.extend(ours(family)?);
            }
        }
        cleared.left = count(&left);
        if left.is_empty() {
            return Ok(cleared);
        }
    }
    Err(FibError::Left(left.len()))
}

/// Our nexthop objects; none on a kernel that has no such thing.
pub(super) fn objects() -> Result<Vec<Nexthop>, FibError> {
    let mut all = match nexthops::list() {
        Ok(all) => all,
        Err(error) if error.errno() == Some(NOT_SUPPORTED) => Vec::new(),
        Err(error) => return Err(error.into()),
    };
    all.retain(|object| object.protocol == PROTOCOL && NEXTHOPS.contains(&object.id));
    Ok(all)
}

/// EOPNOTSUPP on every architecture we know.
const NOT_SUPPORTED: i32 = 95;

/// Removes routes one by one; how many were really there.
fn remove(family: Family, routes: &[Route]) -> Result<u64, FibError> {
    let mut bulk = Bulk::open()?;
    let mut request: Option<(Stamp, Request)> = None;
    for (route, sequence) in last_loaded_first(family, routes).zip(1..) {
        let stamp = Stamp {
            table: route.table,
            protocol: PROTOCOL,
            metric: Some(route.metric),
        };
        let known = request.take().filter(|(known, _)| *known == stamp);
        let (_, request) =
            request.insert(known.unwrap_or_else(|| (stamp, Request::remove(family, &stamp))));
        bulk.push(request, route.prefix, sequence)?;
    }
    // A route that another program removed first is refused: it is gone all the same.
    let refused = bulk.finish()?.len();
    Ok(count(routes) - u64::try_from(refused).unwrap_or(0))
}

/// What makes the IPv4 trie grow least makes it shrink least backwards.
fn last_loaded_first(family: Family, routes: &[Route]) -> Box<dyn Iterator<Item = &Route> + '_> {
    let networks: Vec<Ipv4Net> = routes
        .iter()
        .filter_map(|route| match route.prefix {
            IpNet::V4(network) => Some(network),
            IpNet::V6(_) => None,
        })
        .collect();
    if family == Family::V6 || networks.len() != routes.len() {
        return Box::new(routes.iter());
    }
    let places = order::v4(&networks).into_iter().rev();
    Box::new(places.filter_map(|place| routes.get(usize::try_from(place).ok()?)))
}

fn count<T>(all: &[T]) -> u64 {
    u64::try_from(all.len()).unwrap_or(u64::MAX)
}
