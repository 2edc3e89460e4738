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
            Self::Journal(error) => {
                write!(
                    f,
                    "write the journal below {}: {error} (run as root)",
                    crate::journal::ROOT
                )
            }
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
}

impl std::error::Error for BedError {}

impl From<mpps_linux::Error> for BedError {
    fn from(error: mpps_linux::Error) -> Self {
        Self::Linux(error)
    }
}

impl From<io::Error> for BedError {
    fn from(error: io::Error) -> Self {
        Self::Journal(error)
    }
}
