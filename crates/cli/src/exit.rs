//! How the program ends.

use std::process::ExitCode;

/// What the exit code says; the graver the later.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Exit {
    /// Measured (0).
    Measured,
    /// Measured, but what was expected was not met (1): every load from the lowest on lost frames.
    NotMet,
    /// The machine disturbed every try (4): the same command may well succeed later.
    Disturbed,
    /// Could not measure, or bad input (2).
    CouldNotMeasure,
    /// The host could not be put back as it was (3); `mpps recover` tries again.
    NotRestored,
}

impl Exit {
    /// The number: 0 to 4.
    #[must_use]
    pub const fn code(self) -> u8 {
        match self {
            Self::Measured => 0,
            Self::NotMet => 1,
            Self::CouldNotMeasure => 2,
            Self::NotRestored => 3,
            Self::Disturbed => 4,
        }
    }

    /// The graver of two: whoever ends badly twice says the worse.
    #[must_use]
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
        assert_eq!(
            Exit::CouldNotMeasure.worse(Exit::NotRestored),
            Exit::NotRestored
        );
        assert_eq!(Exit::NotRestored.worse(Exit::Measured), Exit::NotRestored);
        assert_eq!(Exit::NotMet.worse(Exit::CouldNotMeasure).code(), 2);
        assert_eq!(Exit::NotMet.worse(Exit::Disturbed).code(), 4);
        assert_eq!(Exit::NotRestored.worse(Exit::Disturbed).code(), 3);
    }
}
