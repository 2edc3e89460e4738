//! How the program ends.

use std::process::ExitCode;

/// What the exit code says; each variant is graver than the one before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Exit {
    /// Measured (0).
    Measured,
    /// A result is missing or decides nothing, mostly because of a disturbed machine (4): the same command may succeed later.
    Undecided,
    /// Measured, and an expectation was not met (1): to try again is no use.
    NotMet,
    /// Bad input, missing rights, or something that this machine lacks (2).
    Failed,
    /// Ctrl-C or SIGTERM (130).
    Interrupted,
    /// The host could not be put back as it was (3); `mpps recover` tries again.
    NotRestored,
}

impl Exit {
    /// The number.
    pub const fn code(self) -> u8 {
        match self {
            Self::Measured => 0,
            Self::NotMet => 1,
            Self::Failed => 2,
            Self::NotRestored => 3,
            Self::Undecided => 4,
            // As a shell reports a program that SIGINT ended: 128 and the signal's number.
            Self::Interrupted => 130,
        }
    }

    /// What the exit code of a run of this program says; `None` is that of a run that was killed.
    #[cfg(feature = "measure")]
    pub fn from_code(code: Option<u8>) -> Self {
        let all = [
            Self::Measured,
            Self::Undecided,
            Self::NotMet,
            Self::Interrupted,
            Self::NotRestored,
        ];
        let known = all.into_iter().find(|exit| Some(exit.code()) == code);
        known.unwrap_or(Self::Failed)
    }

    /// The graver of two.
    pub fn worse(self, other: Self) -> Self {
        self.max(other)
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_graver_end_wins() {
        assert_eq!(Exit::Failed.worse(Exit::NotRestored), Exit::NotRestored);
        assert_eq!(Exit::NotRestored.worse(Exit::Measured), Exit::NotRestored);
        assert_eq!(Exit::NotMet.worse(Exit::Undecided).code(), 1);
        assert_eq!(Exit::Undecided.worse(Exit::Measured).code(), 4);
        assert_eq!(Exit::Failed.worse(Exit::Interrupted).code(), 130);
    }
}
