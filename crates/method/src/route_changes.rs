//! Route changes in the DUT's FIB during trials (RFC 2544 section 11.3): how fast, and how many there were.

use crate::units::Span;
use std::fmt;
use std::str::FromStr;

/// How fast route changes are made.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ChangeSpeed {
    /// So many a second.
    PerSecond(f64),
    /// By the times of the file, so many times as fast.
    Times(f64),
    /// One after the other.
    Max,
}

impl FromStr for ChangeSpeed {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let number = |text: &str| {
            let (digits, unit) = match text.strip_suffix(['k', 'M']) {
                Some(digits) if text.ends_with('k') => (digits, 1e3),
                Some(digits) => (digits, 1e6),
                None => (text, 1.0),
            };
            let number = digits.parse::<f64>().ok().map(|number| number * unit);
            number.filter(|number| (1e-3..=1e9).contains(number))
        };
        let per_second = || number(text.strip_suffix("/s")?).map(Self::PerSecond);
        let times = || number(text.strip_suffix('x')?).map(Self::Times);
        match text {
            "max" => Ok(Self::Max),
            _ => per_second().or_else(times).ok_or_else(|| {
                format!(
                    "speed={text}: give changes a second (1000/s, 10k/s), a multiple of the file's own times (10x), or max"
                )
            }),
        }
    }
}

impl fmt::Display for ChangeSpeed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::PerSecond(changes) => write!(f, "{changes}/s"),
            Self::Times(times) => write!(f, "{times}x"),
            Self::Max => f.write_str("max"),
        }
    }
}

/// Route changes of one trial.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ChangesMade {
    /// Routes that were not there, and were added.
    pub added: u64,
    /// Routes that were there, and were replaced by one with another next hop.
    pub replaced: u64,
    /// Routes that were withdrawn.
    pub withdrawn: u64,
    /// Of all of these, changes that the kernel refused.
    pub refused: u64,
    /// Changes that were made over 10 ms after they were due.
    pub late: u64,
    /// Changes that were due until the end; where no pace was asked for, those that were made.
    pub due: u64,
    /// How long changes were made: a little longer than the trial.
    pub time: Span,
    /// CPU time of the thread that asked for them, the kernel's work in its system calls included.
    pub cpu_time: Span,
    /// The CPU it ran on.
    pub cpu: usize,
}

impl ChangesMade {
    /// Changes that the FIB took.
    #[must_use]
    pub const fn applied(&self) -> u64 {
        (self.added + self.replaced + self.withdrawn).saturating_sub(self.refused)
    }

    /// Both added up; the CPU is that of the first.
    #[must_use]
    pub fn plus(&self, other: &Self) -> Self {
        let spans = |one: Span, other: Span| Span::from_nanos(one.as_nanos() + other.as_nanos());
        Self {
            added: self.added + other.added,
            replaced: self.replaced + other.replaced,
            withdrawn: self.withdrawn + other.withdrawn,
            refused: self.refused + other.refused,
            late: self.late + other.late,
            due: self.due + other.due,
            time: spans(self.time, other.time),
            cpu_time: spans(self.cpu_time, other.cpu_time),
            cpu: self.cpu,
        }
    }

    /// Changes a second.
    #[must_use]
    pub fn per_second(&self, changes: u64) -> f64 {
        changes as f64 * 1e9 / (self.time.as_nanos().max(1)) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_speed_is_a_rate_a_multiple_or_max() {
        for (text, wanted) in [
            ("1000/s", ChangeSpeed::PerSecond(1_000.0)),
            ("12.5k/s", ChangeSpeed::PerSecond(12_500.0)),
            ("1M/s", ChangeSpeed::PerSecond(1e6)),
            ("10x", ChangeSpeed::Times(10.0)),
            ("max", ChangeSpeed::Max),
        ] {
            let speed: ChangeSpeed = text.parse().unwrap_or(ChangeSpeed::Times(0.0));
            assert_eq!(speed, wanted, "{text}");
            assert_eq!(speed.to_string().parse(), Ok(wanted), "{text}");
        }
        for text in [
            "", "1000", "0/s", "-1x", "nanx", "inf/s", "fast", "k/s", "x",
        ] {
            assert!(text.parse::<ChangeSpeed>().is_err(), "{text}");
        }
    }

    #[test]
    fn refused_changes_are_not_applied() {
        let changes = ChangesMade {
            added: 3,
            replaced: 4,
            withdrawn: 2,
            refused: 1,
            time: Span::from_millis(500),
            ..ChangesMade::default()
        };
        assert_eq!(changes.applied(), 8);
        let twice = changes.plus(&changes);
        assert_eq!((twice.applied(), twice.per_second(16)), (16, 16.0));
    }
}
