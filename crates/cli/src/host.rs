//! What the whole program asks of the host it runs on. A build without the feature `measure` has `no_host` in its place.

use crate::args::LimitsArgs;
use crate::exit::Exit;
use anyhow::{Error, Result};
use mpps_lab::bed::{self, BedError};
use mpps_lab::fib::FibError;
use mpps_lab::jobs::JobError;
use mpps_lab::memory;
use mpps_lab::surroundings::Surroundings;
use mpps_lab::tester::TesterError;
use mpps_lab::{facts, interrupt};
use mpps_method::limits::MemoryMeasured;
use mpps_tables::ChooseOptions;
use std::fmt;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// A limit for files (`ulimit -f`) makes a write fail, so that the host is put back as after any other error.
pub fn survive_file_limit() {
    let _handled = interrupt::survive_file_limit();
}

/// A line for each bed that was dropped and could not be put back.
pub fn not_restored() -> Vec<String> {
    let errors = bed::not_restored().into_iter();
    errors.map(|error| error.to_string()).collect()
}

/// Has left out what a table must not take away from this machine.
///
/// # Errors
/// The kernel does not tell its addresses.
pub fn keep_clear(options: &mut ChooseOptions) -> Result<()> {
    Surroundings::here()?.keep_clear(options);
    Ok(())
}

/// The folder of another user that lies on the way to this path, and root's own home to use in its place.
pub fn foreign_folder(path: &Path) -> Option<(PathBuf, Option<PathBuf>)> {
    let user = mpps_lab::effective_uid();
    let own = || mpps_lab::home_of(user).filter(|_| user == 0);
    Some((foreign(path, user)?, own()))
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

/// Measures this machine's memory, where the arguments ask for it.
///
/// # Errors
/// A CPU could not be used.
pub fn memory(args: &LimitsArgs) -> Result<Option<MemoryMeasured>> {
    let measure = || memory::measure(memory::largest(&facts::gather()));
    Ok(args.measure.then(measure).transpose()?)
}

/// The user wished to stop before anything was measured, as these words tell it.
#[derive(Clone, Copy, Debug)]
pub struct Interrupted(pub &'static str);

impl fmt::Display for Interrupted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl std::error::Error for Interrupted {}

/// The exit code of an error: the gravest of all that led to it.
pub fn exit_of(error: &Error) -> Exit {
    let causes = error.chain().map(|cause| {
        match (
            cause.downcast_ref::<BedError>(),
            cause.downcast_ref::<JobError>(),
        ) {
            (Some(bed), _) => bed_exit(bed),
            (_, Some(job)) if job.is_interrupt() => Exit::Interrupted,
            (_, Some(job)) if job.is_disturbance() => Exit::Undecided,
            (_, Some(JobError::NoThroughput)) => Exit::NotMet,
            _ if is_interrupt(cause) => Exit::Interrupted,
            _ => Exit::Failed,
        }
    });
    let known = causes.filter(|&exit| exit != Exit::Failed);
    known.max().unwrap_or(Exit::Failed)
}

const fn bed_exit(error: &BedError) -> Exit {
    match error {
        BedError::NotRestored(..) => Exit::NotRestored,
        BedError::Interrupted => Exit::Interrupted,
        _ => Exit::Failed,
    }
}

fn is_interrupt(cause: &(dyn std::error::Error + 'static)) -> bool {
    let tester = cause.downcast_ref::<TesterError>();
    let fib = cause.downcast_ref::<FibError>();
    cause.is::<Interrupted>()
        || matches!(tester, Some(TesterError::Interrupted))
        || matches!(fib, Some(FibError::Interrupted(_)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_error_has_its_exit_code() {
        let not_restored = || BedError::NotRestored("x".to_owned(), "why".into());
        for (error, exit) in [
            (Error::from(not_restored()), Exit::NotRestored),
            (BedError::Interrupted.into(), Exit::Interrupted),
            (
                JobError::Tester(TesterError::Interrupted).into(),
                Exit::Interrupted,
            ),
            (FibError::Interrupted(7).into(), Exit::Interrupted),
            (Interrupted("early").into(), Exit::Interrupted),
            (JobError::AllVoid { trials: 9 }.into(), Exit::Undecided),
            (JobError::NoThroughput.into(), Exit::NotMet),
            (JobError::NoThroughputYet.into(), Exit::Undecided),
            (Error::msg("bad input"), Exit::Failed),
        ] {
            assert_eq!(exit_of(&error.context("while it ran")), exit);
        }
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
}
