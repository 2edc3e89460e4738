//! Loading: checked, sent, counted back.

mod count;
mod nexthop;
mod send;

use super::gateway::interface_of;
use super::{Family, FibError, Gateway, Refusal, Spread, order, room};
use ipnet::IpNet;
use mpps_linux::clock::monotonic_ns;
use mpps_linux::routes::{Refusals, Stamp, Via, nexthops};
use mpps_linux::task;
use mpps_tables::Table;
use std::sync::atomic::AtomicU64;

/// How routes name their next hop.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Pointing {
    /// By nexthop objects where the kernel has them (Linux 5.3).
    #[default]
    Best,
    /// By nexthop objects.
    Objects,
    /// Each by a gateway of its own.
    Plain,
}

/// How to load a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoadPlan {
    /// Next hops, of each family that the table has.
    pub via: Vec<Gateway>,
    /// How prefixes are spread over them.
    pub spread: Spread,
    /// How routes name them.
    pub pointing: Pointing,
    /// Routing table, 1 to 2^32-1; 254 is main.
    pub table: u32,
    /// Metric; without one the kernel's: 0 for IPv4, 1024 for IPv6.
    pub metric: Option<u32>,
}

impl LoadPlan {
    /// The usual one of a measurement: into the main table, where a prefix has the same next hop whatever else the table
    /// holds.
    #[must_use]
    pub const fn new(via: Vec<Gateway>) -> Self {
        Self {
            via,
            spread: Spread::Hash,
            pointing: Pointing::Best,
            table: super::MAIN_TABLE,
            metric: None,
        }
    }
}

/// What became of a table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Loaded {
    /// IPv4, where the table has any.
    pub v4: Option<FamilyLoad>,
    /// IPv6, where the table has any.
    pub v6: Option<FamilyLoad>,
    /// Whether routes point to nexthop objects.
    pub objects: bool,
    /// How long loading took, ns, both families at once: from the first request to the last answer.
    pub loading_ns: u64,
    /// How long counting back took, ns.
    pub counting_ns: u64,
    /// Kernel memory that was in use after it and not before, octets; others' too.
    pub memory_octets: Option<u64>,
    /// Size of the IPv4 trie with them, octets; `None` where no IPv4 was loaded.
    pub fib_octets: Option<u64>,
}

/// What became of a family.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FamilyLoad {
    /// Routes to load.
    pub asked: u64,
    /// Routes found in the FIB afterwards, of those to load.
    pub counted: u64,
    /// Routes the kernel refused, each with the place of its cause in `causes`.
    pub refused: Vec<(IpNet, usize)>,
    /// Why.
    pub causes: Vec<Refusal>,
    /// Routes that were not refused and are not in the FIB.
    pub missing: Vec<IpNet>,
    /// Routes by gateway: address, routes meant to go by it.
    pub by_gateway: Vec<(Gateway, u64)>,
    /// Different next hops of the routes found in the FIB.
    pub next_hops: u64,
    /// How long this family took, ns.
    pub loading_ns: u64,
}

impl Loaded {
    /// The families there are.
    pub fn families(&self) -> impl Iterator<Item = (Family, &FamilyLoad)> {
        let v4 = self.v4.as_ref().map(|load| (Family::V4, load));
        v4.into_iter()
            .chain(self.v6.as_ref().map(|load| (Family::V6, load)))
    }

    /// Routes found in the FIB, of those to load.
    #[must_use]
    pub fn counted(&self) -> u64 {
        self.families().map(|(_, load)| load.counted).sum()
    }

    /// Different next hops of the routes found in the FIB, over both families.
    #[must_use]
    pub fn next_hops(&self) -> u64 {
        self.families().map(|(_, load)| load.next_hops).sum()
    }

    /// Whether every route is there.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.families().all(|(_, load)| load.counted == load.asked)
    }
}

/// A family on its way into the FIB.
struct Job<'a> {
    family: Family,
    plan: &'a LoadPlan,
    /// The gateways of the family, with the interface each is behind.
    gateways: Vec<(&'a Gateway, u32)>,
    via: Vec<Via>,
    stamp: Stamp,
}

/// Loads the table into the FIB of the calling thread's namespace and counts it back. `progress` hears
/// now and then how many requests have been handled.
///
/// A refused route is no error here: it stands in the result.
///
/// # Errors
/// No gateway for a family, a gateway that is no neighbour, no room; or loading ended early, by the kernel
/// or by the user. Nothing stays loaded then, unless something of ours was there before.
pub fn load(
    table: &Table,
    plan: &LoadPlan,
    progress: &(dyn Fn(u64) + Sync),
) -> Result<Loaded, FibError> {
    if plan.table == 0 {
        return Err(FibError::BadPlan(
            "routing table 0: give 1 to 4294967295 (254 is main)".to_owned(),
        ));
    }
    let mut jobs = Vec::new();
    for (family, prefixes) in [(Family::V4, table.v4.len()), (Family::V6, table.v6.len())] {
        if prefixes > 0 {
            jobs.push(Job::new(family, prefixes, plan)?);
        }
    }
    room::check(table.v4.len(), table.v6.len())?;
    let objects = match plan.pointing {
        Pointing::Plain => false,
        Pointing::Best => nexthops::supported(),
        Pointing::Objects => true,
    };
    let none_before = is_empty()?;
    nexthop::point(&mut jobs, objects)?;
    let loaded = send_and_count(&jobs, table, progress);
    if loaded.is_err() && none_before {
        // The first error is the one to tell.
        let _cleared = super::clear();
    }
    loaded.map(|loaded| Loaded { objects, ..loaded })
}

/// How routes of a family are marked and where they point by this plan; nexthop objects are made where they are missing.
pub(super) fn pointing(family: Family, plan: &LoadPlan) -> Result<(Stamp, Vec<Via>), FibError> {
    let mut jobs = [Job::new(family, 0, plan)?];
    nexthop::point(&mut jobs, nexthops::supported())?;
    let [job] = jobs;
    Ok((job.stamp, job.via))
}

/// Whether nothing of ours is there.
fn is_empty() -> Result<bool, FibError> {
    Ok(super::clear::objects()?.is_empty()
        && super::ours(Family::V4)?.is_empty()
        && super::ours(Family::V6)?.is_empty())
}

fn send_and_count(
    jobs: &[Job<'_>],
    table: &Table,
    progress: &(dyn Fn(u64) + Sync),
) -> Result<Loaded, FibError> {
    let before = room::kernel_octets();
    let begun = monotonic_ns();
    let mut loaded = Loaded::default();
    send_all(jobs, table, progress, &mut loaded)?;
    let ended = monotonic_ns();
    loaded.loading_ns = ended - begun;
    let grown = |after: u64| before.map(|before| after.saturating_sub(before));
    loaded.memory_octets = room::kernel_octets().and_then(grown);
    count::count_back(jobs, table, &mut loaded)?;
    loaded.counting_ns = monotonic_ns() - ended;
    loaded.fib_octets = loaded.v4.as_ref().and_then(|_| super::stats::trie_octets());
    Ok(loaded)
}

impl<'a> Job<'a> {
    fn new(family: Family, prefixes: usize, plan: &'a LoadPlan) -> Result<Self, FibError> {
        let given = plan.via.iter().filter(|gateway| gateway.family() == family);
        let found: Result<Vec<_>, FibError> = given
            .map(|gateway| Ok((gateway, interface_of(gateway)?)))
            .collect();
        let gateways = found?;
        if gateways.is_empty() {
            return Err(FibError::NoGateway(family, prefixes));
        }
        let stamp = Stamp {
            table: plan.table,
            protocol: super::PROTOCOL,
            metric: plan.metric,
        };
        Ok(Self {
            family,
            plan,
            gateways,
            via: Vec::new(),
            stamp,
        })
    }

    /// The metric routes will have.
    fn metric(&self) -> u32 {
        // net/ipv6/route.c, IP6_RT_PRIO_USER.
        let usual = if self.family == Family::V4 { 0 } else { 1024 };
        self.stamp
            .metric
            .filter(|&metric| metric != 0 || self.family == Family::V4)
            .unwrap_or(usual)
    }

    fn by_gateway(&self, prefixes: impl Iterator<Item = IpNet>) -> Vec<(Gateway, u64)> {
        let mut shares = vec![0; self.gateways.len()];
        for (place, prefix) in prefixes.enumerate() {
            shares[self.plan.spread.choose(place, prefix, self.gateways.len())] += 1;
        }
        let gateways = self.gateways.iter().map(|(gateway, _)| (*gateway).clone());
        gateways.zip(shares).collect()
    }
}

/// Both families at once: newer kernels (6.16) add IPv6 routes beside IPv4 ones.
fn send_all(
    jobs: &[Job<'_>],
    table: &Table,
    progress: &(dyn Fn(u64) + Sync),
    loaded: &mut Loaded,
) -> Result<(), FibError> {
    let done = AtomicU64::new(0);
    let report = |handled: u64| {
        let before = done.fetch_add(handled, std::sync::atomic::Ordering::Relaxed);
        progress(before + handled);
    };
    let sent: Vec<_> = std::thread::scope(|scope| {
        // A thread begins in the namespace of the one that made it.
        let threads: Vec<_> = jobs
            .iter()
            .map(|job| scope.spawn(|| send_family(job, table, &report)))
            .collect();
        threads.into_iter().map(|thread| thread.join()).collect()
    });
    for one in sent {
        match task::joined(one, "a thread that loads routes")?? {
            (Family::V4, load) => loaded.v4 = Some(load),
            (Family::V6, load) => loaded.v6 = Some(load),
        }
    }
    Ok(())
}

fn send_family(
    job: &Job<'_>,
    table: &Table,
    report: &(dyn Fn(u64) + Sync),
) -> Result<(Family, FamilyLoad), FibError> {
    let load = match job.family {
        Family::V4 => {
            let order = order::v4(&table.v4);
            let place = |place: u32| IpNet::V4(table.v4[place as usize]);
            let all = table.v4.iter().map(|prefix| IpNet::V4(*prefix));
            family_load(job, order.into_iter(), place, all, report)?
        }
        Family::V6 => {
            let order = 0..u32::try_from(table.v6.len()).unwrap_or(u32::MAX);
            let place = |place: u32| IpNet::V6(table.v6[place as usize]);
            let all = table.v6.iter().map(|prefix| IpNet::V6(*prefix));
            family_load(job, order, place, all, report)?
        }
    };
    Ok((job.family, load))
}

fn family_load(
    job: &Job<'_>,
    order: impl Iterator<Item = u32>,
    prefix: impl Fn(u32) -> IpNet,
    all: impl ExactSizeIterator<Item = IpNet>,
    report: &(dyn Fn(u64) + Sync),
) -> Result<FamilyLoad, FibError> {
    let asked = u64::try_from(all.len()).unwrap_or(u64::MAX);
    let by_gateway = job.by_gateway(all);
    let begun = monotonic_ns();
    let refusals = send::send(job, order, &prefix, report)?;
    Ok(FamilyLoad {
        asked,
        by_gateway,
        refused: refused(&refusals, prefix),
        causes: refusals.causes().to_vec(),
        loading_ns: monotonic_ns() - begun,
        ..FamilyLoad::default()
    })
}

/// Refused prefixes with the place of their cause; sequence numbers are places plus one.
fn refused(refusals: &Refusals, prefix: impl Fn(u32) -> IpNet) -> Vec<(IpNet, usize)> {
    let cause = |wanted: &Refusal| refusals.causes().iter().position(|cause| cause == wanted);
    let each = refusals.iter().filter_map(|(sequence, refusal)| {
        Some((prefix(sequence.checked_sub(1)?), cause(refusal)?))
    });
    let mut refused: Vec<(IpNet, usize)> = each.collect();
    refused.sort_unstable();
    refused
}
