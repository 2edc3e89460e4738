//! Kept beds: raised once, measured on many times, lowered by name.

use super::{Bed, BedError, BedPlan, Change, names, setup};
use crate::clock::wait_for;
use crate::journal::{self, Claim, Journal, JournalError, Mark, is_kept};
use std::io;

const PLAN_FILE: &str = "plan.json";
/// A process that only checks whether a bed is in use holds its lock no longer than this, ns.
const GLANCE_LIMIT_NS: u64 = 200_000_000;
/// How often to ask again, ns.
const GLANCE_STEP_NS: u64 = 2_000_000;

/// A bed as `mpps bed list` shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BedState {
    /// Its name.
    pub name: String,
    /// Raised to stay.
    pub kept: bool,
    /// Somebody uses it now.
    pub in_use: bool,
    /// What it was raised from, where that is on disk (kept beds).
    pub plan: Option<BedPlan>,
}

/// Lets a raised bed stay when this process ends.
///
/// # Errors
/// It could not be written down; the bed is lowered then.
pub fn keep(mut bed: Bed) -> Result<(), BedError> {
    if let Some(journal) = &mut bed.journal {
        let plan = serde_json::to_string(&bed.plan).map_err(io::Error::from);
        let plan = plan.map_err(BedError::io(format!("write {PLAN_FILE}")))?;
        journal.put(PLAN_FILE, &plan)?;
        journal.mark(&Mark::Kept)?;
        bed.kept = true;
    }
    Ok(())
}

/// Takes a kept bed into use; nobody else can until it is dropped.
///
/// # Errors
/// No such bed, in use, or not whole any more.
pub fn open(name: &str) -> Result<Bed, BedError> {
    let mut journal = claim(name)?;
    if !is_kept(&journal.entries::<Change>()?) {
        return Err(BedError::NoSuchBed(name.to_owned()));
    }
    let plan = read_plan(name)?;
    let stands = plan.dut.planned().find(&plan, name)?;
    let mut bed = Bed {
        name: name.to_owned(),
        plan,
        tester: stands.tester,
        dut: stands.dut,
        script: None,
        journal: Some(journal),
        kept: true,
    };
    bed.script = setup::noted(&bed)?;
    Ok(bed)
}

/// Takes a bed down by name.
///
/// # Errors
/// No such bed, in use, or something could not be put back.
pub fn down(name: &str) -> Result<(), BedError> {
    let mut journal = claim(name)?;
    // On a full disk the bed is lowered all the same. After a crash meanwhile the journal still says "kept".
    let _noted = journal.mark(&Mark::Lowering);
    super::revert(name, journal)
}

/// All beds there are.
///
/// # Errors
/// The journals could not be read.
pub fn list() -> Result<Vec<BedState>, BedError> {
    let mut beds = Vec::new();
    for name in journal::names()? {
        // A journal of routes has a "_" in its name, which no bed has.
        if names::check(&name).is_err() {
            continue;
        }
        let plan = read_plan(&name).ok();
        let kept = journal::peek::<Change>(&name).map(|entries| is_kept(&entries));
        let looked = kept.and_then(|kept| Ok((kept, journal::is_in_use(&name)?)));
        let (kept, in_use) = match looked {
            Ok(looked) => looked,
            // It was lowered meanwhile.
            Err(error) if error.is_missing() => continue,
            // Its journal is not understood or not trusted. The bed is listed, and `mpps recover` explains it.
            Err(_) => (false, false),
        };
        beds.push(BedState {
            name,
            kept,
            in_use,
            plan,
        });
    }
    Ok(beds)
}

fn claim(name: &str) -> Result<Journal, BedError> {
    names::check(name)?;
    let mut claimed = None;
    let asked = wait_for(GLANCE_LIMIT_NS, GLANCE_STEP_NS, || {
        if let Claim::Ours(journal) = Journal::claim(name)? {
            claimed = Some(journal);
        }
        Ok::<_, JournalError>(claimed.is_some())
    });
    match (asked, claimed) {
        (Ok(_), Some(journal)) => Ok(journal),
        (Ok(_), None) => Err(BedError::InUse(name.to_owned())),
        (Err(error), _) if error.is_missing() => Err(BedError::NoSuchBed(name.to_owned())),
        (Err(error), _) => Err(error.into()),
    }
}

fn read_plan(name: &str) -> Result<BedPlan, BedError> {
    let text = journal::read(name, PLAN_FILE)?;
    let plan = serde_json::from_slice(&text).map_err(io::Error::from);
    plan.map_err(BedError::io(format!("read {PLAN_FILE} of bed {name}")))
}
