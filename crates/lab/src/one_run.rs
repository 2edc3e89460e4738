//! One measurement at a time on a host: a lock that a measuring run holds for as long as it lives.
//!
//! The lock is on a file of its own: the journals' folder is removed with the last journal. The file says who holds the
//! lock. The file stays when unlocked. If it were removed, two runs could lock two files.

use crate::clock::wait_until;
use crate::interrupt;
use mpps_linux::clock::monotonic_ns;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// The file that is locked.
pub const LOCK: &str = "/run/mpps.lock";
/// From one try to the next, ns.
const STEP_NS: u64 = 100_000_000;
/// Longest part of the file that is shown.
const HOLDER_OCTETS: u64 = 200;

/// The right to measure. It ends when this is dropped, or with the process.
#[derive(Debug)]
pub struct OnlyRun(File);

/// The run that measures, as the lock's file describes it: `pid 4711 (mpps throughput), since 2026-01-02T03:04:05Z`.
pub type Holder = String;

impl OnlyRun {
    /// Waits until no other run measures. Returns `None` after Ctrl-C. `own` describes this run. `waiting` is called
    /// once with the run that it waits for.
    ///
    /// # Errors
    /// The file could not be opened or locked.
    pub fn wait(own: &str, waiting: impl FnOnce(&Holder)) -> io::Result<Option<Self>> {
        Self::wait_at(Path::new(LOCK), own, waiting)
    }

    fn wait_at(path: &Path, own: &str, waiting: impl FnOnce(&Holder)) -> io::Result<Option<Self>> {
        let mut file = open(path)?;
        let mut waiting = Some(waiting);
        loop {
            match file.try_lock() {
                Ok(()) => break,
                Err(TryLockError::Error(error)) => return Err(error),
                Err(TryLockError::WouldBlock) => {}
            }
            if interrupt::requested() {
                return Ok(None);
            }
            if let Some(waiting) = waiting.take() {
                waiting(&holder(&mut file)?);
            }
            wait_until(monotonic_ns() + STEP_NS);
        }
        file.set_len(0)?;
        file.rewind()?;
        file.write_all(own.as_bytes())?;
        Ok(Some(Self(file)))
    }

    /// The run that measures now, if there is one.
    ///
    /// # Errors
    /// The file could not be opened or read.
    pub fn other() -> io::Result<Option<Holder>> {
        Self::other_at(Path::new(LOCK))
    }

    fn other_at(path: &Path) -> io::Result<Option<Holder>> {
        let mut file = open(path)?;
        match file.try_lock() {
            Ok(()) => Ok(None),
            Err(TryLockError::WouldBlock) => holder(&mut file).map(Some),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }
}

impl Drop for OnlyRun {
    fn drop(&mut self) {
        // Another run may read the empty file before the lock is gone. It then shows no name, which does no harm.
        let _emptied = self.0.set_len(0);
    }
}

/// Opens the file. Only root may read or write it, whatever the umask. /run belongs to root, so no other user can put a
/// file or link there.
fn open(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    options.mode(0o600).open(path)
}

fn holder(file: &mut File) -> io::Result<Holder> {
    let mut text = Vec::new();
    file.rewind()?;
    file.take(HOLDER_OCTETS).read_to_end(&mut text)?;
    let text = String::from_utf8_lossy(&text);
    let line = text.lines().next().unwrap_or_default().trim();
    let known = !line.is_empty();
    Ok(if known { line } else { "another run of mpps" }.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_run_waits_and_says_for_whom() {
        let path = std::env::temp_dir().join(format!("mpps-lock-{}", std::process::id()));
        let nobody = |_: &Holder| panic!("nobody holds it");
        let first = OnlyRun::wait_at(&path, "pid 1 (mpps throughput)", nobody).expect("lock");
        let first = first.expect("not interrupted");
        let other = OnlyRun::other_at(&path).expect("look");
        assert_eq!(other.as_deref(), Some("pid 1 (mpps throughput)"));
        let (mut told, mut first) = (None, Some(first));
        let second = OnlyRun::wait_at(&path, "pid 2", |holder| {
            told = Some(holder.clone());
            drop(first.take());
        });
        assert!(second.expect("lock").is_some());
        assert_eq!(told.as_deref(), Some("pid 1 (mpps throughput)"));
        assert_eq!(OnlyRun::other_at(&path).expect("look"), None);
        std::fs::remove_file(&path).expect("remove");
    }
}
