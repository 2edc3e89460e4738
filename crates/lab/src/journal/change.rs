//! What a journal announces: changes that know their own way back.

use super::{Entry, Journal, JournalError, RevertError, is_kept};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// A kind of change of the host, as one line of a journal tells it.
///
/// The journal knows no port, route or namespace: whoever makes a change implements its way back.
pub trait Change: Serialize + DeserializeOwned {
    /// Refuses a change that no mpps announces in the journal of this name.
    ///
    /// # Errors
    /// One line that says why.
    fn check(&self, journal: &str) -> Result<(), JournalError>;

    /// Takes the change back. A second call does no harm, nor does a change that was announced and not made.
    ///
    /// # Errors
    /// The reason why it could not be taken back; the journal stays then.
    fn revert(&self, journal: &str, reverted: &mut Reverted) -> Result<(), RevertError>;

    /// Whether recovery leaves what these entries announce as it is.
    fn stays(entries: &[Entry<Self>]) -> bool {
        is_kept(entries)
    }

    /// Puts everything back that a journal announces and ends it. A second call does no harm.
    ///
    /// # Errors
    /// As [`super::revert`].
    fn put_back(journal: Journal) -> Result<Reverted, JournalError> {
        super::revert::<Self>(journal)
    }
}

/// What was put back.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reverted {
    /// Namespaces removed.
    pub netns: Vec<String>,
    /// Processes killed in them.
    pub processes: usize,
    /// Routes taken out of namespaces that mpps did not make.
    pub routes: u64,
    /// Ports given back to the host; those that were unplugged meanwhile are not among them.
    pub ports: Vec<String>,
    /// Settings of the kernel that have their value before again.
    pub settings: usize,
    /// Files that keep settings across boots, as they were before again.
    pub files: usize,
    /// Settings and files that somebody else changed meanwhile and that stay so, a line each.
    pub foreign: Vec<String>,
    /// Settings that went with their interface or namespace, a line each.
    pub gone: Vec<String>,
}
