//! What can go wrong with a bed.

use crate::journal::{JournalError, RevertError};
use std::io;

/// A bed could not be raised, found or lowered.
#[derive(Debug, thiserror::Error)]
pub enum BedError {
    /// The kernel refused something.
    #[error(transparent)]
    Linux(#[from] mpps_linux::Error),
    /// The journal could not be kept: nothing was changed without it.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// Another file or process of ours failed.
    #[error("{tried}: {error}")]
    Io {
        /// What was tried, and with what: `wait for set-up script x`.
        tried: String,
        /// What the kernel said.
        error: io::Error,
    },
    /// Not a name for a bed.
    #[error("bed name `{0}`: use up to 24 of a-z, 0-9 and -, beginning with a letter or digit")]
    BadName(String),
    /// A plan that no bed can fulfil.
    #[error("{0}")]
    BadPlan(String),
    /// A port that cannot be adopted, or does not do what a port does.
    #[error("port {name}: {why}")]
    Port {
        /// Its name.
        name: String,
        /// Why, and what to do.
        why: String,
    },
    /// A bed of this name exists.
    #[error(
        "bed `{0}` exists: use another name, or `mpps bed down {0}`, or `mpps recover` after a crash"
    )]
    NameInUse(String),
    /// A network namespace has a name that the bed needs, and no bed of ours made it.
    #[error(
        "network namespace `{0}` exists, and mpps did not make it: use another bed name, or remove it \
         (ip netns delete {0})"
    )]
    NetNsExists(String),
    /// Somebody uses this bed now.
    #[error("bed `{0}` is in use by another run: wait for it, or raise a bed of another name")]
    InUse(String),
    /// No bed of this name.
    #[error("no bed `{0}`: `mpps bed list` shows those there are")]
    NoSuchBed(String),
    /// A script of the user's failed.
    #[error("{script} {ended}{}", after_colon(said))]
    Setup {
        /// Which, and its path.
        script: String,
        /// How it ended.
        ended: String,
        /// The last lines it wrote to stderr.
        said: String,
    },
    /// Ctrl-C or SIGTERM while the bed was raised.
    #[error("interrupted while the bed was raised")]
    Interrupted,
    /// The host is not as it was.
    #[error("bed `{0}` was not taken down completely: {1} (try `mpps recover`)")]
    NotRestored(String, RevertError),
}

impl BedError {
    pub(super) fn port(name: &str, why: impl Into<String>) -> Self {
        Self::Port {
            name: name.to_owned(),
            why: why.into(),
        }
    }

    /// Makes an error from the attempt and the kernel's answer to it.
    pub(super) fn io(tried: impl Into<String>) -> impl FnOnce(io::Error) -> Self {
        let tried = tried.into();
        |error| Self::Io { tried, error }
    }
}

fn after_colon(said: &str) -> String {
    if said.is_empty() {
        String::new()
    } else {
        format!(": {said}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_errors_of_the_journal_name_it() {
        let error = BedError::io("wait for set-up script x")(io::Error::from_raw_os_error(5));
        let text = error.to_string();
        assert!(text.starts_with("wait for set-up script x: "), "{text}");
        assert!(
            !text.contains("journal") && !text.contains("root"),
            "{text}"
        );
        let error = BedError::from(JournalError::Held);
        assert!(error.to_string().contains("holds its journal"), "{error}");
    }
}
