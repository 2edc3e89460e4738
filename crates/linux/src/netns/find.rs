//! Namespaces by their identity, whoever made them.

use std::fs::File;
use std::os::unix::fs::MetadataExt;
use std::os::unix::net::UnixDatagram;
use std::path::Path;

use super::{DIRECTORY, NetNs};
use crate::error::{Error, Result};
use crate::socket_option;

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

/// Cookie of the calling thread's namespace: no other one gets it before the next boot, but an inode number may soon be
/// another one's. `None` where the kernel has none (before Linux 5.14).
#[must_use]
pub fn own_cookie() -> Option<u64> {
    let socket = UnixDatagram::unbound().ok()?;
    let cookie = socket_option::get(&socket, libc::SOL_SOCKET, libc::SO_NETNS_COOKIE);
    cookie.map(u64::from_ne_bytes).ok()
}

impl NetNs {
    /// The namespace with this inode number, unless it has another cookie than this one.
    ///
    /// # Errors
    /// /proc cannot be read, or no right to look (EPERM).
    pub fn find_exact(inode: u64, cookie: Option<u64>) -> Result<Option<Self>> {
        let Some(found) = Self::find(inode)? else {
            return Ok(None);
        };
        let cookies = cookie.zip(found.run(own_cookie)?);
        let is_other = cookies.is_some_and(|(then, now)| then != now);
        Ok((!is_other).then_some(found))
    }

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
