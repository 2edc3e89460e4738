//! After a crash: puts the host back for every bed whose owner is dead.

use crate::journal::{self, Claim, Entry, Journal, Reverted};
use std::io;

/// What recovery found and did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recovery {
    /// Beds put back, with what was removed.
    pub reverted: Vec<(String, Reverted)>,
    /// Beds left alone, for somebody alive uses them.
    pub in_use: Vec<String>,
    /// Beds left alone, for they were kept on purpose.
    pub kept: Vec<String>,
    /// Beds that could not be put back, with the reason.
    pub failed: Vec<(String, String)>,
}

/// Puts back what dead runs left. Two recoveries at once, or one after the other, do no harm.
///
/// # Errors
/// The journals could not be listed.
pub fn recover() -> io::Result<Recovery> {
    let mut recovery = Recovery::default();
    journal::remove_unborn()?;
    for name in journal::names()? {
        match recover_one(&name) {
            Ok(One::Reverted(reverted)) => recovery.reverted.push((name, reverted)),
            Ok(One::InUse) => recovery.in_use.push(name),
            Ok(One::Kept) => recovery.kept.push(name),
            Ok(One::Gone) => {}
            Err(error) => recovery.failed.push((name, error.to_string())),
        }
    }
    Ok(recovery)
}

enum One {
    Reverted(Reverted),
    InUse,
    Kept,
    Gone,
}

fn recover_one(name: &str) -> io::Result<One> {
    let journal = match Journal::claim(name) {
        Ok(Claim::Ours(journal)) => journal,
        Ok(Claim::InUse) => return Ok(One::InUse),
        // Somebody else was faster.
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(One::Gone),
        Err(error) => return Err(error),
    };
    match journal.entries() {
        Ok(entries) if is_kept(&entries) => Ok(One::Kept),
        Ok(_) => journal::revert(journal).map(One::Reverted),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(One::Gone),
        Err(error) => Err(error),
    }
}

/// Whether the bed was raised to stay, and nobody has begun to lower it.
#[must_use]
pub fn is_kept(entries: &[Entry]) -> bool {
    matches!(
        entries
            .iter()
            .rev()
            .find(|e| matches!(e, Entry::Kept | Entry::Lowering)),
        Some(Entry::Kept)
    )
}
