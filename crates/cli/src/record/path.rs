//! Where records go when nobody says, and what a run is called.

use anyhow::{Context, Result};
use std::ffi::OsString;
use std::fs::{self, DirBuilder};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

/// A moment in UTC.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    seconds: u64,
}

impl Clock {
    /// Now. A clock before 1970 counts as 1970.
    #[must_use]
    pub fn now() -> Self {
        let since = SystemTime::now().duration_since(UNIX_EPOCH);
        Self {
            seconds: since.map_or(0, |since| since.as_secs()),
        }
    }

    /// As ISO 8601 has it: 2026-01-31T12:00:00Z.
    #[must_use]
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
    #[must_use]
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

/// Mode of new folders; a stricter umask takes away from it.
const FOLDER_MODE: u32 = 0o755;

/// The folder of records: `$XDG_STATE_HOME/mpps/records`, else below `~/.local/state`.
pub struct Folder(PathBuf);

impl Folder {
    /// The usual one. Where root would write below a folder of another user it is root's own, and a line says so.
    ///
    /// # Errors
    /// There is no home, or it is another user's.
    pub fn of_this_user() -> Result<Self> {
        let state = state_folder(std::env::var_os("XDG_STATE_HOME"), std::env::var_os("HOME"));
        let state = state
            .context("no place for the record ($HOME is not set): name one with --record FILE")?;
        let user = mpps_lab::effective_uid();
        let folder = state.join("mpps/records");
        let Some(foreign) = foreign(&folder, user) else {
            return Ok(Self(folder));
        };
        let foreign = foreign.display();
        let own = mpps_lab::home_of(user).filter(|_| user == 0);
        let own = own.with_context(|| {
            format!(
                "no place for the record ({foreign} belongs to another user): name one with --record FILE"
            )
        })?;
        let own = own.join(".local/state/mpps/records");
        if own != folder {
            crate::print::note(&format!(
                "mpps: {foreign} belongs to another user: the record goes to {}",
                own.display()
            ));
        }
        Ok(Self(own))
    }

    /// Makes it where it is missing.
    ///
    /// # Errors
    /// It cannot be made.
    pub fn make(self) -> Result<PathBuf> {
        let made = DirBuilder::new()
            .recursive(true)
            .mode(FOLDER_MODE)
            .create(&self.0);
        made.with_context(|| {
            let path = self.0.display();
            format!("make folder {path} for the record (name another place with --record FILE)")
        })?;
        Ok(self.0)
    }
}

/// This folder, or the nearest folder or link above it, that belongs neither to this user nor to root.
fn foreign(folder: &Path, user: u32) -> Option<PathBuf> {
    let is_foreign = |path: &&Path| {
        let owners = [fs::symlink_metadata(path), fs::metadata(path)];
        let mut owners = owners.iter().flatten().map(MetadataExt::uid);
        owners.any(|owner| owner != 0 && owner != user)
    };
    folder.ancestors().find(is_foreign).map(Path::to_owned)
}

/// The XDG rule: a relative or empty path counts as not set.
fn state_folder(state: Option<OsString>, home: Option<OsString>) -> Option<PathBuf> {
    let absolute = |text: OsString| Some(PathBuf::from(text)).filter(|path| path.is_absolute());
    state
        .and_then(absolute)
        .or_else(|| Some(home.and_then(absolute)?.join(".local/state")))
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

    #[test]
    fn folders_of_others_are_seen_on_the_way() {
        let user = mpps_lab::effective_uid();
        assert_eq!(foreign(Path::new("/usr/none/such"), user), None);
        // The temporary folder is root's or this user's; to another user a folder in it is foreign.
        let folder = std::env::temp_dir().join(format!("mpps-foreign-{}", std::process::id()));
        fs::create_dir(&folder).expect("make folder");
        let deep = folder.join("mpps/records");
        assert_eq!(foreign(&deep, user), None);
        if user != 0 {
            assert_eq!(foreign(&deep, user + 1), Some(folder.clone()));
        }
        fs::remove_dir(&folder).expect("tidy up");
    }

    #[test]
    fn records_lie_where_xdg_says() {
        let os = |text: &str| Some(OsString::from(text));
        assert_eq!(state_folder(os("/s"), os("/h")), Some(PathBuf::from("/s")));
        assert_eq!(
            state_folder(os("relative"), os("/h")),
            Some(PathBuf::from("/h/.local/state"))
        );
        assert_eq!(
            state_folder(None, os("/h")),
            Some(PathBuf::from("/h/.local/state"))
        );
        assert_eq!(state_folder(os(""), None), None);
    }
}
