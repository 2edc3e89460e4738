//! Route changes in the DUT's FIB during trials (RFC 2544 section 11.3): how fast they are made.

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
}
