//! After settings are applied: they are confirmed, put back by hand, or put back by a helper when nobody confirms them.
//!
//! The helper has the journal as its standard input, so that it owns it too. Whoever confirms or puts back ends it first.

use super::apply::{Site, TuneError, is_applied, keep};
use super::undo::{Change, files, is_gone, runs};
use crate::clock::wait_for;
use crate::journal::{self, Change as _, Claim, Entry, Journal, JournalError, Mark, Reverted};
use mpps_linux::clock::monotonic_ns;
use mpps_linux::task::{self, Signal};
use mpps_method::Span;

/// A process that was killed has ended within this time, ns.
const END_LIMIT_NS: u64 = 5_000_000_000;
/// How often the helper looks, ns.
const STEP_NS: u64 = 20_000_000;
/// Longer than any machine runs, ns.
const NEVER_NS: u64 = u64::MAX / 2;

fn lives(run: Option<&(i32, u64)>) -> bool {
    run.is_some_and(|&(pid, started)| task::lives(pid, started))
}

/// The helper: puts everything back when the process that applies has died before its end, or when so much time has
/// passed since its end.
///
/// # Errors
/// Its standard input is not the journal of this name, or something could not be put back.
pub fn guard(name: &str, within: Span) -> Result<(), TuneError> {
    task::begin_session()?;
    task::leave_control_groups();
    let mut journal = Journal::inherit(name)?;
    journal.mark(&Mark::run())?;
    let mut end = None;
    let died = || -> Result<bool, JournalError> {
        let entries = journal::peek::<Change>(name)?;
        if is_applied(&entries) {
            let end = *end.get_or_insert_with(|| monotonic_ns() + within.as_nanos());
            return Ok(monotonic_ns() >= end);
        }
        Ok(!lives(runs(&entries).first()))
    };
    match wait_for(NEVER_NS, STEP_NS, died) {
        // It ended without a change.
        Err(error) if error.is_missing() => return Ok(()),
        other => other?,
    };
    Change::put_back(journal)?;
    Ok(())
}

/// A journal and what it says.
type Taken = (Journal, Vec<Entry<Change>>);

/// Owns the journal of applied settings: a helper that waits is ended.
fn take(site: &Site) -> Result<Option<Taken>, TuneError> {
    let name = site.journal();
    let entries = match journal::peek::<Change>(&name) {
        Err(error) if error.is_missing() => return Ok(None),
        entries => entries?,
    };
    let runs = runs(&entries);
    if journal::is_of_this_boot(&entries) {
        let works = lives(runs.first()) && !is_applied(&entries);
        if works && journal::is_in_use(&name)? {
            return Err(TuneError::UnderWay);
        }
        for &(pid, started) in runs.iter().skip(1) {
            task::kill_exact(pid, started, Signal::SIGKILL)?;
        }
    }
    let mut owned = None;
    let claim = || match Journal::claim(&name) {
        Ok(Claim::Ours(journal)) => {
            owned = Some(journal);
            Ok(true)
        }
        Ok(Claim::InUse) => Ok(false),
        Err(error) if error.is_missing() => Ok(true),
        Err(error) => Err(error),
    };
    if !wait_for(END_LIMIT_NS, STEP_NS, claim)? {
        return Err(TuneError::UnderWay);
    }
    let Some(mut journal) = owned else {
        return Ok(None);
    };
    let entries = journal.entries::<Change>()?;
    Ok(Some((journal, entries)))
}

/// Settings stay applied until [`revert`], and across boots where that was asked for.
///
/// # Errors
/// None are applied, or not all of them any more. A file could not be written: everything is put back then.
pub fn confirm(site: &Site) -> Result<(), TuneError> {
    let Some((mut journal, entries)) = take(site)? else {
        return Err(TuneError::NothingApplied);
    };
    if is_gone(&entries) {
        Change::put_back(journal).map_err(TuneError::NotRestored)?;
        return Err(TuneError::NothingApplied);
    }
    if !is_applied(&entries) {
        return Err(TuneError::Incomplete(site.argument()));
    }
    if !journal::is_kept(&entries) {
        let all: Vec<_> = files(&entries).cloned().collect();
        if let Err(error) = keep(&mut journal, &all) {
            Change::put_back(journal).map_err(TuneError::NotRestored)?;
            return Err(error);
        }
    }
    Ok(())
}

/// Puts all settings back; `None` where there are none.
///
/// # Errors
/// Some could not be put back: the journal stays then.
pub fn revert(site: &Site) -> Result<Option<Reverted>, TuneError> {
    let Some((journal, _)) = take(site)? else {
        return Ok(None);
    };
    let reverted = Change::put_back(journal).map_err(TuneError::NotRestored)?;
    Ok(Some(reverted))
}
