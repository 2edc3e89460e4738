//! Whose FIB: a kept bed's router, or the namespace we run in.

use crate::args::FibArgs;
use crate::plan::bed_name;
use anyhow::{Result, bail};
use mpps_lab::bed::{self, Bed};
use mpps_lab::{facts, fib};

/// Whose FIB it is.
pub enum FibOwner {
    /// In the router of a kept bed; nobody else uses it meanwhile.
    Bed(Box<Bed>),
    /// In this process's own network namespace.
    Host,
}

impl FibOwner {
    /// To change: a kept bed, or here with the user's word for it.
    pub fn to_change(args: &FibArgs) -> Result<Self> {
        match (&args.kept_bed, args.allow_system_changes) {
            (None, false) => bail!(
                "no router named: give --bed NAME for the router of a kept bed, or --allow-system-changes for this \
                 machine's own"
            ),
            (None, true) => Ok(Self::Host),
            (Some(name), _) => Self::bed(name),
        }
    }

    /// To look at: a kept bed, or here.
    pub fn to_look_at(kept_bed: Option<&str>) -> Result<Self> {
        kept_bed.map_or(Ok(Self::Host), Self::bed)
    }

    fn bed(name: &str) -> Result<Self> {
        let name = bed_name(name)?;
        facts::check()?;
        Ok(Self::Bed(Box::new(bed::open(&name)?)))
    }

    /// Runs the closure where the routes are.
    ///
    /// # Errors
    /// The namespace could not be entered, or the closure's own.
    pub fn run<T: Send, E: Send>(&self, work: impl FnOnce() -> Result<T, E> + Send) -> Result<T>
    where
        anyhow::Error: From<E>,
    {
        Ok(match self {
            Self::Bed(bed) => fib::router(bed)?.run(work)??,
            Self::Host => work()?,
        })
    }

    /// In words: `bed lab1`, `this machine`.
    pub fn name(&self) -> String {
        match self {
            Self::Bed(bed) => format!("bed {}", bed.name()),
            Self::Host => "this machine".to_owned(),
        }
    }

    /// The command that clears what was loaded here.
    pub fn clearing(&self) -> String {
        match self {
            Self::Bed(bed) => format!("mpps table clear --bed {}", bed.name()),
            Self::Host => "mpps table clear --allow-system-changes".to_owned(),
        }
    }
}
