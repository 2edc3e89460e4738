//! The time of day, and what a run is called.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::time::{SystemTime, UNIX_EPOCH};

/// A moment in UTC.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    seconds: u64,
}

impl Clock {
    /// Now. A clock before 1970 counts as 1970.
    pub fn now() -> Self {
        let since = SystemTime::now().duration_since(UNIX_EPOCH);
        Self {
            seconds: since.map_or(0, |since| since.as_secs()),
        }
    }

    /// As ISO 8601 has it: 2026-01-31T12:00:00Z.
    pub fn utc(self) -> String {
        let (year, month, day) = civil(self.seconds / 86_400);
        let (hour, minute, second) = (
            self.seconds / 3600 % 24,
            self.seconds / 60 % 60,
            self.seconds % 60,
        );
        format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
    }

    /// A name for a run that begins now: `20260131T120000Z-3f2a`. The end is drawn, so that two runs
    /// of one second differ.
    pub fn run_name(self) -> String {
        let drawn = RandomState::new().build_hasher().finish() & 0xffff;
        let compact: String = self
            .utc()
            .chars()
            .filter(|c| *c != '-' && *c != ':')
            .collect();
        format!("{compact}-{drawn:04x}")
    }
}

/// Year, month and day of the n-th day after 1970-01-01 (proleptic Gregorian; Hinnant's algorithm).
fn civil(days: u64) -> (u64, u64, u64) {
    let shifted = days + 719_468;
    let era = shifted / 146_097;
    let of_era = shifted % 146_097;
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 {
        month_from_march + 3
    } else {
        month_from_march - 9
    };
    (year_of_era + era * 400 + u64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_written_as_the_calendar_has_them() {
        for (seconds, text) in [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_399, "2000-02-28T23:59:59Z"),
            (951_782_400, "2000-02-29T00:00:00Z"),
            (1_704_067_199, "2023-12-31T23:59:59Z"),
            (4_107_542_400, "2100-03-01T00:00:00Z"),
        ] {
            assert_eq!(Clock { seconds }.utc(), text);
        }
        let run = Clock { seconds: 0 }.run_name();
        assert!(
            run.starts_with("19700101T000000Z-") && run.len() == 21,
            "{run}"
        );
    }
}
