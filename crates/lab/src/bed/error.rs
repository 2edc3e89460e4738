//! What can go wrong with a bed.

use std::fmt;
use std::io;

/// A bed could not be raised, found or lowered.
#[derive(Debug)]
pub enum BedError {
    /// The kernel refused something.
    Linux(mpps_linux::Error),
    /// The journal could not be kept: nothing was changed without it.
    Journal(io::Error),
    /// Another file or process of ours failed.
    Io {
        /// What was tried, and with what: `wait for set-up script x`.
        tried: String,
        /// What the kernel said.
        error: io::Error,
    },
    /// Not a name for a bed.
    BadName(String),
    /// A plan that no bed can fulfil.
    BadPlan(String),
    /// A port that cannot be adopted, or does not do what a port does.
    Port {
        /// Its name.
        name: String,
        /// Why, and what to do.
        why: String,
    },
    /// A bed of this name exists.
    NameInUse(String),
    /// A network namespace has a name that the bed needs, and no bed of ours made it.
    NetNsExists(String),
    /// Somebody uses this bed now.
    InUse(String),
    /// No bed of this name.
    NoSuchBed(String),
    /// The set-up script failed.
    Setup {
        /// The script.
        script: String,
        /// How it ended.
        ended: String,
        /// The last lines it wrote to stderr.
        said: String,
    },
    /// Ctrl-C or SIGTERM while the bed was raised.
    Interrupted,
    /// The host is not as it was.
    NotRestored(String, io::Error),
}

impl fmt::Display for BedError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Linux(error) => error.fmt(f),
            Self::Journal(error) => f.write_str(&crate::journal::explain(error)),
            Self::Io { tried, error } => write!(f, "{tried}: {error}"),
            Self::BadName(name) => {
                write!(
                    f,
                    "bed name `{name}`: use up to 24 of a-z, 0-9 and -, beginning with a letter or digit"
                )
            }
            Self::BadPlan(why) => f.write_str(why),
            Self::Port { name, why } => write!(f, "port {name}: {why}"),
            Self::NameInUse(name) => {
                write!(
                    f,
                    "bed `{name}` exists: use another name, or `mpps bed down {name}`, or `mpps recover` after a crash"
                )
            }
            Self::NetNsExists(name) => {
                write!(
                    f,
                    "network namespace `{name}` exists and no bed of mpps made it: use another bed name, or remove it \
                     (ip netns delete {name})"
                )
            }
            Self::InUse(name) => write!(
                f,
                "bed `{name}` is in use by another run: wait for it, or raise a bed of another name"
            ),
            Self::NoSuchBed(name) => {
                write!(f, "no bed `{name}`: `mpps bed list` shows those there are")
            }
            Self::Setup {
                script,
                ended,
                said,
            } => {
                write!(f, "set-up script {script} {ended}")?;
                if said.is_empty() {
                    Ok(())
                } else {
                    write!(f, ": {said}")
                }
            }
            Self::Interrupted => f.write_str("interrupted while the bed was raised"),
            Self::NotRestored(name, error) => {
                write!(
                    f,
                    "bed `{name}` was not taken down completely: {error} (try `mpps recover`)"
                )
            }
        }
    }
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

impl std::error::Error for BedError {}

impl From<mpps_linux::Error> for BedError {
    fn from(error: mpps_linux::Error) -> Self {
        Self::Linux(error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_errors_of_the_journal_name_it() {
        let refused = |number| io::Error::from_raw_os_error(number);
        for (number, remedy) in [
            (1, "(run as root)"),
            (24, "(raise `ulimit -n`)"),
            (28, "(free some space in /run)"),
            (30, "(mount /run so that it can be written to)"),
        ] {
            let text = BedError::Journal(refused(number)).to_string();
            assert!(
                text.starts_with("journal below /run/mpps: ") && text.ends_with(remedy),
                "{text}"
            );
        }
        let error = BedError::io("wait for set-up script x")(refused(5));
        let text = error.to_string();
        assert!(text.starts_with("wait for set-up script x: "), "{text}");
        assert!(
            !text.contains("journal") && !text.contains("root"),
            "{text}"
        );
    }
}
