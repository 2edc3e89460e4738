//! Where a table comes from.

use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::path::PathBuf;

/// A file, or standard input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// This file.
    File(PathBuf),
    /// Standard input.
    Stdin,
}

impl Source {
    /// As typed: `-` is standard input.
    #[must_use]
    pub fn from_argument(argument: PathBuf) -> Self {
        if argument.as_os_str() == "-" {
            Self::Stdin
        } else {
            Self::File(argument)
        }
    }

    /// Opens it; its length in octets where that is known.
    pub(super) fn open(&self) -> io::Result<(Box<dyn Read + Send>, Option<u64>)> {
        match self {
            Self::Stdin => Ok((Box::new(io::stdin()), None)),
            Self::File(path) => {
                let file = File::open(path)?;
                let about = file.metadata()?;
                if about.is_dir() {
                    return Err(io::ErrorKind::IsADirectory.into());
                }
                // A pipe or a device has no length to tell.
                let octets = about.is_file().then_some(about.len());
                Ok((Box::new(file), octets))
            }
        }
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stdin => f.write_str("standard input"),
            Self::File(path) => path.display().fmt(f),
        }
    }
}
