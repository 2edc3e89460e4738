//! Routes in a namespace that we did not make: journalled, so that `mpps recover` takes away what a
//! killed load left.
//!
//! Such a journal is named by the namespace's number, `routes_4026531840`; a bed's name has no `_`. It
//! begins before the first route, says "kept" when a load is whole, and ends when the routes are cleared.

use super::{Cleared, FibError, LoadPlan, Loaded, clear, contents, load};
use crate::journal::{
    self, Claim, Entry, Journal, JournalError, Mark, RevertError, Reverted, is_kept,
};
use mpps_linux::netns::{NetNs, own_cookie, own_inode};
use mpps_tables::Table;
use serde::{Deserialize, Serialize};

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
        let Some(mut journal) = Journal::begin(&name)? else {
            return again(&name);
        };
        journal.announce(&HostChange::Routes {
            netns,
            cookie: own_cookie(),
        })?;
        Ok(Self { journal })
    }

    /// The load is over: what there is of it shall stay when this process ends. Where there is nothing the
    /// journal ends.
    ///
    /// # Errors
    /// It could not be written down.
    pub fn settle(mut self) -> Result<(), FibError> {
        if contents(None)?.total() == 0 {
            self.journal.end()?;
        } else {
            self.journal.mark(&Mark::Kept)?;
        }
        Ok(())
    }

    /// Takes everything of ours away again and ends the journal.
    ///
    /// # Errors
    /// Something could not be taken away; the journal stays then.
    pub fn clear(self) -> Result<Cleared, FibError> {
        let cleared = clear()?;
        self.journal.end()?;
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

/// One more load where one is kept: until it is whole, recovery takes away both. Routes of a namespace that is gone, whose
/// number this one has, went with it.
fn again(name: &str) -> Result<HostRoutes, FibError> {
    let Claim::Ours(mut journal) = Journal::claim(name)? else {
        return Err(FibError::InUse);
    };
    let entries = journal.entries::<HostChange>()?;
    let is_gone = |entry: &Entry<HostChange>| match entry {
        Entry::Change(HostChange::Routes { cookie, .. }) => {
            let cookies = cookie.zip(own_cookie());
            cookies.is_some_and(|(then, now)| then != now)
        }
        Entry::Mark(_) => false,
    };
    if entries.iter().any(is_gone) {
        journal.end()?;
        return HostRoutes::begin();
    }
    if !is_kept(&entries) {
        return Err(FibError::LeftBehind);
    }
    journal.mark(&Mark::run())?;
    journal.mark(&Mark::Lowering)?;
    Ok(HostRoutes { journal })
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
        Err(error) if error.is_missing() => clear(),
        Err(error) => Err(error.into()),
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
        /// Its cookie; `None` where the kernel has none.
        #[serde(default)]
        cookie: Option<u64>,
    },
}

impl journal::Change for HostChange {
    fn check(&self, journal: &str) -> Result<(), JournalError> {
        let Self::Routes { netns, .. } = self;
        if journal_of(*netns) == journal {
            return Ok(());
        }
        let named = format!("netns {netns}");
        Err(JournalError::names_foreign(journal, &named))
    }

    fn revert(&self, _: &str, reverted: &mut Reverted) -> Result<(), RevertError> {
        let Self::Routes { netns, cookie } = self;
        reverted.routes += put_back(*netns, *cookie)?;
        Ok(())
    }
}

/// Clears a namespace; how many routes that were. A namespace that is gone took its routes along.
fn put_back(netns: u64, cookie: Option<u64>) -> Result<u64, RevertError> {
    let Some(netns) = NetNs::find_exact(netns, cookie)? else {
        return Ok(0);
    };
    let cleared = netns.run(clear)??;
    Ok(cleared.v4 + cleared.v6)
}
