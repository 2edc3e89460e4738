//! After a crash: puts the host back for every bed whose owner is dead.

use crate::bed;
use crate::clock::wait_for;
use crate::fib;
use crate::journal::{self, Change, Claim, Journal, JournalError, Reverted, maker_lives};
use crate::tune;

/// Another recovery is done within this time, ns: a bed goes in well under a second.
const OTHERS_LIMIT_NS: u64 = 30_000_000_000;
/// How often to look whether it is, ns.
const OTHERS_STEP_NS: u64 = 5_000_000;

/// What recovery found and did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recovery {
    /// Beds put back, with what was removed.
    pub reverted: Vec<(String, Reverted)>,
    /// Beds left alone because a living process uses them.
    pub in_use: Vec<String>,
    /// Beds left alone because they were kept on purpose.
    pub kept: Vec<String>,
    /// Beds that could not be put back, with the reason and what to do; the root of all journals where another
    /// user may write to it.
    pub failed: Vec<(String, String)>,
}

/// Puts back what dead runs left. Two recoveries at once, or one after the other, do no harm; each
/// returns when all is put back, whoever did it.
///
/// # Errors
/// The journals could not be listed.
pub fn recover() -> Result<Recovery, JournalError> {
    let mut recovery = Recovery::default();
    match journal::check_root() {
        Err(error) if !error.is_missing() => {
            // Any journal in it may be another user's, so none is put back.
            let refused = (journal::ROOT.to_owned(), error.to_string());
            recovery.failed.push(refused);
            return Ok(recovery);
        }
        _ => {}
    }
    for name in journal::names()? {
        let recovered = if fib::is_journal(&name) {
            recover_one::<fib::HostChange>(&name)
        } else if tune::is_journal(&name) {
            recover_one::<tune::Change>(&name)
        } else {
            recover_one::<bed::Change>(&name)
        };
        match recovered {
            Ok(One::Reverted(reverted)) => recovery.reverted.push((name, reverted)),
            Ok(One::InUse) => recovery.in_use.push(name),
            Ok(One::Kept) => recovery.kept.push(name),
            Ok(One::Gone) => {}
            Err(error) => recovery.failed.push((name, error.to_string())),
        }
    }
    journal::sweep()?;
    Ok(recovery)
}

enum One {
    Reverted(Reverted),
    InUse,
    Kept,
    Gone,
}

fn recover_one<C: Change>(name: &str) -> Result<One, JournalError> {
    let mut outcome = One::Gone;
    let settled = wait_for(OTHERS_LIMIT_NS, OTHERS_STEP_NS, || {
        match attempt::<C>(name) {
            Ok(Some(one)) => {
                outcome = one;
                Ok(true)
            }
            Ok(None) => Ok(false),
            Err(error) if error.is_missing() => Ok(true),
            Err(error) => Err(error),
        }
    })?;
    if settled {
        return Ok(outcome);
    }
    Err(JournalError::Held)
}

/// What there is to do for one bed, done; `None` while another process puts it back.
fn attempt<C: Change>(name: &str) -> Result<Option<One>, JournalError> {
    // The first look makes no claim, because a claim would make a kept bed seem in use.
    let entries = journal::peek::<C>(name)?;
    if C::stays(&entries) {
        return Ok(Some(One::Kept));
    }
    let mut journal = match Journal::claim(name)? {
        Claim::Ours(journal) => journal,
        Claim::InUse if maker_lives(&entries) => return Ok(Some(One::InUse)),
        Claim::InUse => return Ok(None),
    };
    if C::stays(&journal.entries::<C>()?) {
        return Ok(Some(One::Kept));
    }
    C::put_back(journal).map(|reverted| Some(One::Reverted(reverted)))
}
