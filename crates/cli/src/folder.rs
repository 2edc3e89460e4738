//! Where records go when nobody says.

use crate::host;
use anyhow::{Context, Result};
use std::ffi::OsString;
use std::path::PathBuf;

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
    pub fn find() -> Result<Self> {
        let state = state_folder(std::env::var_os("XDG_STATE_HOME"), std::env::var_os("HOME"));
        let state = state
            .context("no place for the record ($HOME is not set): name one with --record FILE")?;
        let path = state.join("mpps/records");
        let Some((foreign, own)) = host::foreign_folder(&path) else {
            let avoided = None;
            return Ok(Self { path, avoided });
        };
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
