//! A folder of our own for files that a child reads; it goes at the end.

use anyhow::{Context, Result};
use std::fs::{self, DirBuilder};
use std::os::unix::fs::DirBuilderExt;
use std::path::PathBuf;

/// The folder.
pub struct Scratch(PathBuf);

impl Scratch {
    /// A new one of this name, which is unique. What a killed run of the same name left goes.
    ///
    /// # Errors
    /// It cannot be made.
    pub fn new(name: &str) -> Result<Self> {
        let path = std::env::temp_dir().join(format!("mpps-{name}"));
        let _none = fs::remove_dir_all(&path);
        let made = DirBuilder::new().mode(0o700).create(&path);
        made.with_context(|| format!("make folder {}", path.display()))?;
        Ok(Self(path))
    }

    /// A file in it.
    pub fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _left = fs::remove_dir_all(&self.0);
    }
}
