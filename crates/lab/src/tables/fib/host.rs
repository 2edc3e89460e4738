//! Routes in a namespace that is none of ours: journalled, so that `mpps recover` takes away what a
//! killed load left.
//!
//! Such a journal is named by the namespace's number, `routes_4026531840`; a bed's name has no `_`. It
//! begins before the first route, says "kept" when a load is whole, and ends when the routes are cleared.

use super::{Cleared, FibError, LoadPlan, Loaded, clear, contents, load};
use crate::journal::{self, Claim, Journal, Mark, Reverted, is_kept, not_of_this_journal};
use crate::tables::Table;
use mpps_linux::netns::{NetNs, own_inode};
use serde::{Deserialize, Serialize};
use std::io;

const PREFIX: &str = "routes_";

/// Whether a journal of this name is about routes, not a bed.
#[must_use]
pub fn is_journal(name: &str) -> bool {
    name.starts_with(PREFIX)
}

/// Name of the journal for routes in this namespace.
fn journal_of(netns: u64) -> String {
    format!("{PREFIX}{netns}")
}

/// The right to load routes into the calling thread's namespace. Dropped without [`HostRoutes::settle`] it
/// leaves the journal as a crash does: for `mpps recover` to put back.
#[derive(Debug)]
pub struct HostRoutes {
    journal: Journal,
}

impl HostRoutes {
    /// Announces routes in the calling thread's namespace.
    ///
    /// # Errors
    /// Another load or clearing is under way there, a killed one left routes, or the journal cannot be
    /// kept: nothing is changed then.
    pub fn begin() -> Result<Self, FibError> {
        let netns = own_inode()?;
        let name = journal_of(netns);
        let journal = match Journal::begin(&name).map_err(FibError::Journal)? {
            Some(mut journal) => {
                let announced = journal.announce(&HostChange::Routes { netns });
                announced.map_err(FibError::Journal)?;
                journal
            }
            None => again(&name)?,
        };
        Ok(Self { journal })
    }

    /// The load is over: what there is of it shall stay when this process ends. Where there is nothing the
    /// journal ends.
    ///
    /// # Errors
    /// It could not be written down.
    pub fn settle(mut self) -> Result<(), FibError> {
        if contents(None)?.total() == 0 {
            return self.journal.end().map_err(FibError::Journal);
        }
        let kept = self.journal.mark(&Mark::Kept);
        kept.map_err(FibError::Journal)
    }

    /// Takes everything of ours away again and ends the journal.
    ///
    /// # Errors
    /// Something could not be taken away; the journal stays then.
    pub fn clear(self) -> Result<Cleared, FibError> {
        let cleared = clear()?;
        self.journal.end().map_err(FibError::Journal)?;
        Ok(cleared)
    }
}

/// Loads the table into the calling thread's namespace, as [`load`], announced in a journal: killed before
/// its end, `mpps recover` takes it back.
///
/// # Errors
/// As [`load`] and [`HostRoutes::begin`].
pub fn load_host(
    table: &Table,
    plan: &LoadPlan,
    progress: &(dyn Fn(u64) + Sync),
) -> Result<Loaded, FibError> {
    let announced = HostRoutes::begin()?;
    let loaded = load(table, plan, progress);
    // A load that failed was taken back by itself; the first error is the one to tell.
    let settled = announced.settle();
    let loaded = loaded?;
    settled?;
    Ok(loaded)
}

/// One more load where one is kept: until it is whole, recovery takes away both.
fn again(name: &str) -> Result<Journal, FibError> {
    let Claim::Ours(mut journal) = Journal::claim(name).map_err(FibError::Journal)? else {
        return Err(FibError::InUse);
    };
    let entries = journal.entries::<HostChange>();
    if !is_kept(&entries.map_err(FibError::Journal)?) {
        return Err(FibError::LeftBehind);
    }
    let recorded = journal.mark(&Mark::run());
    recorded
        .and_then(|()| journal.mark(&Mark::Lowering))
        .map_err(FibError::Journal)?;
    Ok(journal)
}

/// Clears the calling thread's namespace, and ends the journal of its loads where there is one.
///
/// # Errors
/// As [`clear`]; another load is under way there.
pub fn clear_host() -> Result<Cleared, FibError> {
    match Journal::claim(&journal_of(own_inode()?)) {
        Ok(Claim::Ours(mut journal)) => {
            // On a full disk it goes all the same; only a crash meanwhile would leave it named "kept".
            let _noted = journal.mark(&Mark::Lowering);
            HostRoutes { journal }.clear()
        }
        Ok(Claim::InUse) => Err(FibError::InUse),
        // Nothing announced: what is ours all the same, of a journal that was lost, goes too.
        Err(error) if error.kind() == io::ErrorKind::NotFound => clear(),
        Err(error) => Err(FibError::Journal(error)),
    }
}

/// A change that such a journal announces.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "entry", rename_all = "snake_case")]
pub enum HostChange {
    /// Routes are loaded into a network namespace that mpps did not make.
    Routes {
        /// Its inode number.
        netns: u64,
    },
}

impl journal::Change for HostChange {
    fn check(&self, journal: &str) -> io::Result<()> {
        let Self::Routes { netns } = self;
        if journal_of(*netns) == journal {
            return Ok(());
        }
        Err(not_of_this_journal(journal, &format!("netns {netns}")))
    }

    fn revert(&self, _: &str, reverted: &mut Reverted) -> io::Result<()> {
        let Self::Routes { netns } = self;
        reverted.routes += put_back(*netns)?;
        Ok(())
    }
}

/// Clears a namespace; how many routes that were. A namespace that is gone took its routes along.
fn put_back(netns: u64) -> io::Result<u64> {
    let Some(netns) = NetNs::find(netns).map_err(io::Error::other)? else {
        return Ok(0);
    };
    let cleared = netns.run(clear).map_err(io::Error::other)?;
    let cleared = cleared.map_err(io::Error::other)?;
    Ok(cleared.v4 + cleared.v6)
}
