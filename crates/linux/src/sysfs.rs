//! A sysfs of the calling thread's network namespace that is mounted nowhere.

use std::ffi::CStr;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::path::PathBuf;

use crate::error::{Error, Result};
use crate::netns;

/// `FSCONFIG_CMD_CREATE` of `enum fsconfig_command` (`include/uapi/linux/mount.h`).
const FSCONFIG_CMD_CREATE: libc::c_uint = 6;
const FSOPEN_CLOEXEC: libc::c_uint = 1;
const FSMOUNT_CLOEXEC: libc::c_uint = 1;

/// A detached sysfs mount; gone when dropped.
///
/// sysfs shows the network devices of the namespace it was *made* in, whoever looks later
/// (`fs/sysfs/mount.c`, `sysfs_init_fs_context`).
pub(crate) struct Sysfs {
    root: OwnedFd,
}

impl Sysfs {
    /// A sysfs that shows the devices of the calling thread's network namespace.
    pub(crate) fn open() -> Result<Self> {
        let fail = |step: &str| Error::last(step, format!("sysfs{}", netns::place()));
        let context = open_filesystem(c"sysfs").ok_or_else(|| fail("open filesystem"))?;
        if !create_superblock(&context) {
            return Err(fail("make"));
        }
        let root = detached_mount(&context).ok_or_else(|| fail("mount"))?;
        Ok(Self { root })
    }

    /// A path to its root, valid in this process while `self` lives.
    pub(crate) fn path(&self) -> PathBuf {
        PathBuf::from(format!("/proc/self/fd/{}", self.root.as_raw_fd()))
    }
}

fn open_filesystem(name: &CStr) -> Option<OwnedFd> {
    // SAFETY: `name` is NUL-terminated and only read.
    let fd = unsafe { libc::syscall(libc::SYS_fsopen, name.as_ptr(), FSOPEN_CLOEXEC) };
    owned(fd)
}

fn create_superblock(context: &OwnedFd) -> bool {
    let nothing = std::ptr::null::<libc::c_char>();
    // SAFETY: CMD_CREATE takes no key, value or auxiliary number; null and 0 are what it demands.
    let rc = unsafe {
        libc::syscall(
            libc::SYS_fsconfig,
            context.as_raw_fd(),
            FSCONFIG_CMD_CREATE,
            nothing,
            nothing,
            0,
        )
    };
    rc == 0
}

fn detached_mount(context: &OwnedFd) -> Option<OwnedFd> {
    // SAFETY: plain integers; the mount attributes are none.
    let fd = unsafe {
        libc::syscall(
            libc::SYS_fsmount,
            context.as_raw_fd(),
            FSMOUNT_CLOEXEC,
            0 as libc::c_uint,
        )
    };
    owned(fd)
}

fn owned(fd: libc::c_long) -> Option<OwnedFd> {
    let fd = i32::try_from(fd).ok().filter(|&fd| fd >= 0)?;
    // SAFETY: a system call just returned this descriptor and nobody else knows it.
    Some(unsafe { OwnedFd::from_raw_fd(fd) })
}
