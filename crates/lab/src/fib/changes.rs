//! A recorded sequence of route changes, replayed into the router's FIB while frames flow (RFC 2544 section 11.3).
//!
//! The file names prefixes, not next hops. A prefix that is announced while the router has a route to it gets the other
//! of two next hops; both are the tester's port. So each announcement changes the FIB, and loses no frame by itself. A
//! withdrawal of what is not there is passed over. At the end of the file the replay begins again.

mod play;

pub use play::Replay;

use super::bed::{add_neighbours, next_hops};
use super::{Family, FibError, LoadPlan, load, ours, router};
use crate::bed::Bed;
use ipnet::IpNet;
use mpps_linux::routes::{Bulk, Request, Route, Via};
use mpps_method::ChangeSpeed;
use mpps_tables::{Changes, Table};
use play::Player;
use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Route changes of a measurement, and how far they have come.
pub struct ReplayedChanges {
    /// The file's name.
    pub from: String,
    /// Hash of the file as it lies there.
    pub sha256: String,
    /// How fast.
    pub speed: ChangeSpeed,
    /// What is replayed.
    pub changes: Changes,
    /// There from the time the table is loaded.
    player: Mutex<Option<Player>>,
}

impl fmt::Debug for ReplayedChanges {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ReplayedChanges({}, {})", self.from, self.speed)
    }
}

/// The FIB after the changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CountedBack {
    /// Routes there: exactly those of the table and the changes, each with the next hop that it was given last.
    pub routes: u64,
    /// How often the file was begun.
    pub rounds: u32,
}

impl ReplayedChanges {
    /// Changes that were read from a file.
    #[must_use]
    pub fn new(from: String, sha256: String, speed: ChangeSpeed, changes: Changes) -> Self {
        Self {
            from,
            sha256,
            speed,
            changes,
            player: Mutex::new(None),
        }
    }

    /// The changes of this table's own prefixes; `None`: there are none.
    #[must_use]
    pub fn within(&self, table: &Table) -> Option<Self> {
        let changes = self.changes.within(table);
        let (from, sha256) = (self.from.clone(), self.sha256.clone());
        (!changes.list.is_empty()).then(|| Self::new(from, sha256, self.speed, changes))
    }

    /// Makes ready to change the routes of a bed's router, into which this table was loaded. Changes nothing yet.
    ///
    /// # Errors
    /// The kernel refused a next hop.
    pub fn begin(&self, bed: &Bed, table: &Table) -> Result<(), FibError> {
        let prefixes: Vec<IpNet> = self.changes.prefixes.iter().collect();
        let family = match prefixes.first() {
            Some(IpNet::V6(_)) => Family::V6,
            _ => Family::V4,
        };
        let plan = LoadPlan::new(next_hops(bed, 2));
        let (stamp, via, bulk) = router(bed)?.run(|| {
            add_neighbours(bed, &plan.via)?;
            let (stamp, via) = load::pointing(family, &plan)?;
            Ok::<_, FibError>((stamp, via, Bulk::open()?))
        })??;
        let via: [Via; 2] = via.try_into().map_err(|_| FibError::NoNexthopLeft)?;
        let there = |prefix: &IpNet| match prefix {
            IpNet::V4(v4) => table.v4.binary_search(v4).is_ok(),
            IpNet::V6(v6) => table.v6.binary_search(v6).is_ok(),
        };
        // The first sends; another one is free for this, where there is another.
        let cpu = bed.plan().cpus.tester.last().copied().unwrap_or(0);
        *self.player() = Some(Player {
            cpu,
            bulk,
            family,
            via,
            replace: via.map(|via| Request::replace(family, &stamp, via)),
            remove: Request::remove(family, &stamp),
            hop: prefixes.iter().map(|p| there(p).then_some(0)).collect(),
            prefixes,
            next: 0,
            rounds: 1,
            sequence: 0,
        });
        Ok(())
    }

    /// Begins to make changes, where the replay before it ended. `None`: the table was not loaded.
    ///
    /// # Errors
    /// No thread was to be had.
    pub fn start(self: &Arc<Self>) -> Result<Option<Replay>, mpps_linux::Error> {
        match self.player().is_some() {
            true => Replay::start(self).map(Some),
            false => Ok(None),
        }
    }

    /// Compares the router's FIB with the table and the changes that were made. Ends the replay.
    ///
    /// # Errors
    /// They differ.
    pub fn count_back(&self, bed: &Bed, table: &Table) -> Result<Option<CountedBack>, FibError> {
        let Some(player) = self.player().take() else {
            return Ok(None);
        };
        let mut expected: HashMap<IpNet, Via> =
            table.iter().map(|prefix| (prefix, player.via[0])).collect();
        for (prefix, hop) in player.prefixes.iter().zip(&player.hop) {
            match hop {
                Some(hop) => drop(expected.insert(*prefix, player.via[*hop])),
                None => drop(expected.remove(prefix)),
            }
        }
        let found = router(bed)?.run(|| ours(player.family))??;
        let routes = found.len() as u64;
        let wrong = |route: &&Route| {
            expected.remove(&route.prefix).is_none_or(|via| match via {
                Via::Nexthop(id) => route.nexthop != Some(id),
                Via::Gateway(address, _) => route.gateway != Some(address),
            })
        };
        let mut differ: Vec<IpNet> = found.iter().filter(wrong).map(|r| r.prefix).collect();
        differ.extend(expected.into_keys());
        match differ.iter().min() {
            Some(&first) => Err(FibError::Changed(differ.len(), first, player.refusal())),
            None => Ok(Some(CountedBack {
                routes,
                rounds: player.rounds,
            })),
        }
    }

    fn player(&self) -> MutexGuard<'_, Option<Player>> {
        self.player.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
