//! Why a journal could not be kept, believed or put back.

use super::ROOT;
use std::io;
use std::path::{Path, PathBuf};

/// EMFILE (`errno(3)`), which the standard library has no kind for.
const TOO_MANY_OPEN_FILES: i32 = 24;

/// Why a change could not be taken back.
pub type RevertError = Box<dyn std::error::Error + Send + Sync>;

/// A journal could not be kept, believed or put back.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// The kernel refused something that was to be done with a file or folder.
    #[error("{tried} {path}: {error}{}", remedy(error), path = path.display())]
    Io {
        /// What was to be done: `sync`.
        tried: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// What the kernel said.
        error: io::Error,
    },
    /// A file or folder that another user could have written.
    #[error(
        "{path} {why}, so mpps does not trust it (look at it, then remove it, or: chown root {path}; chmod go-w {path})",
        path = path.display()
    )]
    NotBelieved {
        /// The file or folder.
        path: PathBuf,
        /// What it is like.
        why: String,
    },
    /// A journal that this version of mpps did not write so.
    #[error(
        "{why} (see {ROOT}/{name}/{file}: use the mpps that wrote it, or remove {ROOT}/{name} if nothing of it is left)",
        file = super::FILE
    )]
    NotOurs {
        /// Its name.
        name: String,
        /// What is in it.
        why: String,
    },
    /// Another process puts it back, and does not come to an end.
    #[error("another process holds its journal (end it, then run mpps recover again)")]
    Held,
    /// A change could not be taken back.
    #[error(transparent)]
    Change(RevertError),
}

impl JournalError {
    /// Makes an error from the attempt and the kernel's answer to it.
    pub(super) fn io(tried: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |error| Self::Io {
            tried,
            path: path.to_path_buf(),
            error,
        }
    }

    /// The refusal of a change that names something which the owner of this journal cannot have made.
    pub(crate) fn names_foreign(journal: &str, named: &str) -> Self {
        Self::NotOurs {
            name: journal.to_owned(),
            why: format!("it names {named}, which is not this bed's"),
        }
    }

    /// What kind of answer the kernel gave, where it gave one.
    pub(super) fn kind(&self) -> Option<io::ErrorKind> {
        match self {
            Self::Io { error, .. } => Some(error.kind()),
            _ => None,
        }
    }

    /// Whether there is no such journal, or no journal at all.
    #[must_use]
    pub fn is_missing(&self) -> bool {
        self.kind() == Some(io::ErrorKind::NotFound)
    }
}

fn remedy(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::PermissionDenied => " (run as root)",
        io::ErrorKind::ReadOnlyFilesystem => " (mount /run so that it can be written to)",
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => " (free some space in /run)",
        _ if error.raw_os_error() == Some(TOO_MANY_OPEN_FILES) => " (raise `ulimit -n`)",
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_names_attempt_file_and_remedy() {
        for (number, remedy) in [
            (1, "(run as root)"),
            (24, "(raise `ulimit -n`)"),
            (28, "(free some space in /run)"),
            (30, "(mount /run so that it can be written to)"),
        ] {
            let error = io::Error::from_raw_os_error(number);
            let error = JournalError::io("sync", Path::new("/run/mpps/x/journal.jsonl"))(error);
            let text = error.to_string();
            assert!(
                text.starts_with("sync /run/mpps/x/journal.jsonl: ") && text.ends_with(remedy),
                "{text}"
            );
        }
    }

    #[test]
    fn each_step_of_a_journal_names_itself() {
        let missing = super::super::read("no such journal", "plan.json").unwrap_err();
        assert!(missing.is_missing());
        assert!(
            missing.to_string().starts_with("examine /run/mpps"),
            "{missing}"
        );
    }
}
