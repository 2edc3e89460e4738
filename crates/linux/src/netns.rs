//! Named network namespaces, compatible with `ip netns`.
//!
//! A name is a bind mount of `/proc/.../ns/net` at `/run/netns/NAME`. Unlike `ip netns add` we do
//! not turn /run/netns into a shared mount point of its own: that would stay behind on the host.
//! Unlike `ip netns exec` we never remount /sys for the caller, because that hides /sys/fs/bpf
//! and every pinned object; see [`NetNs::with_sysfs`] and [`crate::spawn`].

mod find;

pub use find::{own_cookie, own_inode};

use std::cell::RefCell;
use std::fs::File;
use std::io::ErrorKind;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use nix::errno::Errno;
use nix::mount::{MntFlags, MsFlags, mount, umount2};
use nix::sched::{CloneFlags, setns, unshare};

use crate::error::{Error, Result};
use crate::sysfs::Sysfs;

/// Where names live; the place `ip netns` uses.
pub const DIRECTORY: &str = "/run/netns";

thread_local! {
    /// Name of the namespace this thread entered, for error messages only.
    static ENTERED: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// " in netns NAME" if the calling thread entered a namespace through this module, else nothing.
pub(crate) fn place() -> String {
    ENTERED.with_borrow(|name| match name {
        Some(name) => format!(" in netns {name}"),
        None => String::new(),
    })
}

/// An open, named network namespace. Dropping it closes the handle and leaves the namespace and
/// its name alone; [`NetNs::delete`] removes them.
#[derive(Debug)]
pub struct NetNs {
    name: String,
    file: File,
    inode: u64,
}

impl NetNs {
    /// Makes a new, empty namespace with this name (its loopback is down). Makes [`DIRECTORY`]
    /// if it is missing.
    ///
    /// # Errors
    /// The name is taken (EEXIST) or not a file name, or no right (EPERM).
    pub fn create(name: &str) -> Result<Self> {
        let path = path(name)?;
        let fail =
            |step: &str, number: i32| Error::from_errno(step, format!("netns {name}"), number);
        make_directory()?;
        // The mount needs a file to sit on; create_new makes the name ours or nobody's.
        std::fs::OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o444)
            .open(&path)
            .map_err(|e| match e.kind() {
                ErrorKind::AlreadyExists => fail("create", libc::EEXIST)
                    .with_remedy("choose another name or delete the old namespace"),
                _ => Error::from_io("create", path.display().to_string(), &e),
            })?;
        let made = in_new_thread(|| {
            unshare(CloneFlags::CLONE_NEWNET).map_err(|e| fail("create", e as i32))?;
            mount(
                Some("/proc/thread-self/ns/net"),
                &path,
                Some("none"),
                MsFlags::MS_BIND,
                None::<&str>,
            )
            .map_err(|e| fail("mount name of", e as i32))
        });
        if let Err(error) = made {
            // Best effort: the first error is the one to tell.
            let _ = std::fs::remove_file(&path);
            return Err(error);
        }
        Self::open(name)
    }

    /// Makes a new, empty namespace without a name: the kernel frees it with the last handle.
    ///
    /// # Errors
    /// No right (EPERM).
    pub fn anonymous() -> Result<Self> {
        let fail = |number: i32| Error::from_errno("create", "netns without a name", number);
        let file = in_new_thread(|| {
            unshare(CloneFlags::CLONE_NEWNET).map_err(|e| fail(e as i32))?;
            File::open("/proc/thread-self/ns/net")
                .map_err(|e| Error::from_io("open", "a thread's netns", &e))
        })?;
        Self::from_file(file, "without a name")
    }

    /// Opens the namespace of this name.
    ///
    /// # Errors
    /// No such name (ENOENT), or the name holds no namespace (left by a process that died while
    /// making it).
    pub fn open(name: &str) -> Result<Self> {
        let path = path(name)?;
        let object = || format!("netns {name}");
        let file = File::open(&path).map_err(|e| {
            let error = Error::from_io("open", object(), &e);
            match e.kind() {
                ErrorKind::NotFound => error.with_remedy("`ip netns list` shows those there are"),
                _ => error,
            }
        })?;
        let stat = nix::sys::statfs::fstatfs(&file)
            .map_err(|e| Error::from_errno("examine", object(), e as i32))?;
        if stat.filesystem_type().0 != libc::NSFS_MAGIC {
            return Err(
                Error::from_text("open", object(), "the name holds no namespace")
                    .with_remedy(format!("a stale name; remove {}", path.display())),
            );
        }
        Self::from_file(file, name)
    }

    fn from_file(file: File, name: &str) -> Result<Self> {
        let examined = file.metadata();
        let examined =
            examined.map_err(|e| Error::from_io("examine", format!("netns {name}"), &e))?;
        Ok(Self {
            name: name.to_owned(),
            inode: examined.ino(),
            file,
        })
    }

    /// Removes the name, also a stale one; the kernel frees the namespace when the last process,
    /// socket and handle in it are gone. A name that does not exist is success: what was asked
    /// for holds.
    ///
    /// # Errors
    /// No right (EPERM), or not a file name.
    pub fn delete(name: &str) -> Result<()> {
        let path = path(name)?;
        match umount2(&path, MntFlags::MNT_DETACH) {
            // EINVAL: a stale name, nothing mounted there.
            Ok(()) | Err(Errno::EINVAL | Errno::ENOENT) => {}
            Err(e) => {
                return Err(Error::from_errno(
                    "unmount name of",
                    format!("netns {name}"),
                    e as i32,
                ));
            }
        }
        match std::fs::remove_file(&path) {
            Err(e) if e.kind() == ErrorKind::ResourceBusy => remove_covered(&path),
            other => other,
        }
        .or_else(|e| match e.kind() {
            ErrorKind::NotFound => Ok(()),
            _ => Err(Error::from_io("delete", format!("netns {name}"), &e)),
        })
    }

    /// Whether the name exists (a stale one too).
    #[must_use]
    pub fn exists(name: &str) -> bool {
        path(name).is_ok_and(|p| p.symlink_metadata().is_ok())
    }

    /// All names, stale ones too, in alphabetical order; empty where nobody made any.
    ///
    /// # Errors
    /// [`DIRECTORY`] cannot be read.
    pub fn list() -> Result<Vec<String>> {
        let fail = |e: std::io::Error| Error::from_io("list", DIRECTORY, &e);
        let entries = match std::fs::read_dir(DIRECTORY) {
            Err(e) if e.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            other => other.map_err(fail)?,
        };
        let mut names = Vec::new();
        for entry in entries {
            // A name that is not UTF-8 is not one of ours, nor of anybody's tool.
            if let Ok(name) = entry.map_err(fail)?.file_name().into_string() {
                names.push(name);
            }
        }
        names.sort_unstable();
        Ok(names)
    }

    /// The name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The namespace's inode number on nsfs: its identity while it lives (as in
    /// `net:[4026531840]`).
    #[must_use]
    pub fn inode(&self) -> u64 {
        self.inode
    }

    /// Runs the closure in a thread of its own inside this namespace and waits for it. The calling
    /// thread stays where it is. A panic of the closure goes on in the caller.
    ///
    /// # Errors
    /// The namespace could not be entered (EPERM); the closure has then not run.
    pub fn run<T: Send>(&self, work: impl FnOnce() -> T + Send) -> Result<T> {
        in_new_thread(|| {
            self.enter_thread()?;
            Ok(work())
        })
    }

    /// Moves the calling thread into this namespace for good. Threads and processes it makes later
    /// begin there too; sockets it has keep their old namespace.
    ///
    /// # Errors
    /// No right (EPERM).
    pub fn enter_thread(&self) -> Result<()> {
        setns(&self.file, CloneFlags::CLONE_NEWNET)
            .map_err(|e| Error::from_errno("enter", format!("netns {}", self.name), e as i32))?;
        ENTERED.set(Some(self.name.clone()));
        Ok(())
    }

    /// Runs the closure in a thread inside this namespace, with the path of a sysfs that shows this
    /// namespace's devices: `<path>/class/net/mB/...`.
    ///
    /// The sysfs is a detached mount, reached through its file descriptor (`fsmount(2)`). So no mount point changes,
    /// /sys/fs/bpf stays visible to the closure, and nothing is left behind. The path is valid in every thread of this
    /// process, during the call.
    ///
    /// # Errors
    /// The namespace could not be entered or the sysfs not be made (EPERM); the closure has then
    /// not run.
    pub fn with_sysfs<T: Send>(&self, work: impl FnOnce(&Path) -> T + Send) -> Result<T> {
        self.run(|| {
            let sysfs = Sysfs::open()?;
            Ok(work(&sysfs.path()))
        })?
    }

    /// Processes that live in this namespace, by process id: those whose main thread does. A
    /// process that only has a helper thread here (like ours during [`NetNs::run`]) is not among
    /// them, nor is one that merely holds a handle.
    ///
    /// # Errors
    /// /proc cannot be read.
    pub fn pids(&self) -> Result<Vec<i32>> {
        let mut pids = crate::task::all_pids()?;
        // A process that ends meanwhile, or that we may not look at, is not one we put there.
        pids.retain(|pid| {
            std::fs::metadata(format!("/proc/{pid}/ns/net")).is_ok_and(|m| m.ino() == self.inode)
        });
        Ok(pids)
    }
}

impl AsFd for NetNs {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

/// Makes [`DIRECTORY`] if it is missing; only its owner may write to it, whatever the umask.
///
/// # Errors
/// No right (EACCES), or no room.
pub fn make_directory() -> Result<()> {
    std::fs::DirBuilder::new()
        .recursive(true)
        .mode(0o755)
        .create(DIRECTORY)
        .map_err(|e| Error::from_io("create directory", DIRECTORY, &e))
}

fn path(name: &str) -> Result<PathBuf> {
    if name.is_empty() || name.contains('/') || name.contains('\0') || name == "." || name == ".." {
        return Err(
            Error::from_text("name netns", format!("`{name}`"), "not a file name")
                .with_remedy("use letters, digits and dashes"),
        );
    }
    Ok(Path::new(DIRECTORY).join(name))
}

/// Removes a name whose mount is covered by another mount on [`DIRECTORY`], where no path leads.
///
/// That is so when iproute2 ran for the first time after us: it mounts the directory onto itself
/// and covers what was mounted in it. Unlinking a file takes all mounts on it away, in every mount
/// namespace (`fs/namespace.c`, `__detach_mounts`), but is refused where one is mounted in our
/// own. So a thread with mounts of its own takes the covers off its copy and unlinks there; the
/// host's covering mount stays as it is.
fn remove_covered(path: &Path) -> std::io::Result<()> {
    std::thread::scope(|scope| {
        let thread = scope.spawn(|| {
            let nothing = None::<&str>;
            unshare(CloneFlags::CLONE_NEWNS)?;
            let private = MsFlags::MS_PRIVATE | MsFlags::MS_REC;
            mount(nothing, "/", nothing, private, nothing)?;
            loop {
                while umount2(path, MntFlags::MNT_DETACH).is_ok() {}
                match std::fs::remove_file(path) {
                    Err(e) if e.kind() == ErrorKind::ResourceBusy => {}
                    other => return other,
                }
                umount2(DIRECTORY, MntFlags::MNT_DETACH).map_err(|_| Errno::EBUSY)?;
            }
        });
        thread
            .join()
            .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

/// Runs the closure in a scoped thread, because what it changes (namespaces) must not stay with the
/// caller's thread. A panic goes on in the caller.
fn in_new_thread<T: Send>(work: impl FnOnce() -> Result<T> + Send) -> Result<T> {
    std::thread::scope(|scope| {
        std::thread::Builder::new()
            .name("mpps-netns".into())
            .spawn_scoped(scope, work)
            .map_err(|e| Error::from_io("start thread", "mpps-netns", &e))?
            .join()
            .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_one_file_name() {
        assert_eq!(
            path("mpps-3f2a-dut").unwrap(),
            PathBuf::from("/run/netns/mpps-3f2a-dut")
        );
        for bad in ["", ".", "..", "a/b", "/run", "a\0b"] {
            assert!(NetNs::open(bad).is_err(), "{bad:?}");
            assert!(NetNs::delete(bad).is_err(), "{bad:?}");
            assert!(!NetNs::exists(bad), "{bad:?}");
        }
    }

    #[test]
    fn opening_what_is_not_there_names_it() {
        let error = NetNs::open("mpps-none-such").unwrap_err();
        assert_eq!(
            error.to_string(),
            "open netns mpps-none-such: ENOENT (`ip netns list` shows those there are)"
        );
    }

    #[test]
    fn deleting_what_is_not_there_is_success() {
        NetNs::delete("mpps-none-such").unwrap();
    }

    #[test]
    #[should_panic(expected = "from inside")]
    fn a_panic_in_the_thread_is_the_callers() {
        let _ = in_new_thread(|| -> Result<()> { panic!("from inside") });
    }
}
