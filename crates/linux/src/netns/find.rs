//! Namespaces by their identity, whoever made them.

use std::fs::File;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use super::{DIRECTORY, NetNs};
use crate::error::{Error, Result};

const OWN: &str = "/proc/thread-self/ns/net";

/// Inode number of the calling thread's namespace, as [`NetNs::inode`].
///
/// # Errors
/// /proc is not mounted.
pub fn own_inode() -> Result<u64> {
    std::fs::metadata(OWN)
        .map(|about| about.ino())
        .map_err(|e| Error::from_io("examine", OWN, &e))
}

impl NetNs {
    /// The namespace with this inode number: the calling thread's own, a process's, or one with a name.
    /// `None` where there is no such namespace, or only somebody's open handle keeps it.
    ///
    /// # Errors
    /// /proc cannot be read.
    pub fn find(inode: u64) -> Result<Option<Self>> {
        if let Some(own) = at(Path::new(OWN), inode) {
            return Ok(Some(own));
        }
        for name in Self::list()? {
            if let Some(named) = at(&Path::new(DIRECTORY).join(name), inode) {
                return Ok(Some(named));
            }
        }
        let processes = crate::task::all_pids()?;
        Ok(processes
            .into_iter()
            .find_map(|pid| at(Path::new(&format!("/proc/{pid}/ns/net")), inode)))
    }
}

/// The namespace at this path, if it is the one. What has gone meanwhile, or may not be looked at, is
/// not.
fn at(path: &Path, inode: u64) -> Option<NetNs> {
    let file = File::open(path).ok()?;
    // A stale name is a file of another file system, with a number of its own.
    let kind = nix::sys::statfs::fstatfs(&file).ok()?.filesystem_type().0;
    if kind != libc::NSFS_MAGIC {
        return None;
    }
    (file.metadata().ok()?.ino() == inode).then(|| NetNs {
        name: format!("net:[{inode}]"),
        file,
        inode,
    })
}
