//! Putting back what a journal announces, last change first.

use super::{Change, Entry, Journal, JournalError, Reverted, fault};

/// Puts everything back and ends the journal. A second call does no harm.
///
/// # Errors
/// A change that could not be taken back, or none that this journal can announce; the journal stays then.
pub fn revert<C: Change>(mut journal: Journal) -> Result<Reverted, JournalError> {
    let mut reverted = Reverted::default();
    let entries = journal.entries::<C>()?;
    // Nothing is touched unless all of it is believed.
    for entry in &entries {
        if let Entry::Change(change) = entry {
            change.check(journal.name())?;
        }
    }
    for (entry, step) in entries.iter().rev().zip(1..) {
        if let Entry::Change(change) = entry {
            let done = change.revert(journal.name(), &mut reverted);
            done.map_err(JournalError::Change)?;
        }
        fault::kill_if(fault::KILL_AT_REVERT, step);
    }
    journal.end()?;
    Ok(reverted)
}
