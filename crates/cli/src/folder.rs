//! Where records go when nobody says.

use crate::host;
use anyhow::{Context, Result};
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// The folder of records: `$XDG_STATE_HOME/mpps/records`, else below `~/.local/state`.
pub struct Folder {
    /// Where it is, or would be.
    pub path: PathBuf,
    /// The folder of another user that it would else be in.
    pub avoided: Option<PathBuf>,
}

impl Folder {
    /// The usual one. Where root would write below a folder of another user it is root's own.
    ///
    /// # Errors
    /// There is no home, or it is another user's.
    pub fn of_this_user() -> Result<Self> {
        let state = state_folder(std::env::var_os("XDG_STATE_HOME"), std::env::var_os("HOME"));
        let state = state
            .context("no place for the record ($HOME is not set): name one with --record FILE")?;
        let path = state.join("mpps/records");
        let user = host::user();
        let Some(foreign) = user.and_then(|user| foreign(&path, user)) else {
            let avoided = None;
            return Ok(Self { path, avoided });
        };
        let own = user.filter(|&user| user == 0).and_then(host::home_of);
        let own = own.with_context(|| {
            let foreign = foreign.display();
            format!(
                "no place for the record ({foreign} belongs to another user): name one with --record FILE"
            )
        })?;
        let own = own.join(".local/state/mpps/records");
        Ok(Self {
            avoided: (own != path).then_some(foreign),
            path: own,
        })
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

    #[cfg(feature = "measure")]
    #[test]
    fn folders_of_others_are_seen_on_the_way() {
        let user = crate::host::user().expect("a user");
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
