//! Raising: every step in order, each announced in the journal before it is made.

use super::{Bed, BedError, BedPlan, Change, Ground, Standing, filters, setup};
use crate::journal::{self, Entry, Journal};
use mpps_linux::netns::{self, NetNs};
use mpps_linux::task;
use std::path::Path;

/// A run's id is drawn at most this often. It has 16 bits, and few beds stand at a time.
const DRAWS: u32 = 64;
/// A namespace is tried at most this often, because another bed may remove the folder of names.
const CREATE_TRIES: u32 = 8;

pub(super) fn raise(plan: &BedPlan) -> Result<Bed, BedError> {
    plan.check()?;
    let (name, mut journal) = begin(plan)?;
    match build(&name, plan, &mut journal) {
        Ok(built) => {
            let mut bed = Bed {
                name,
                plan: plan.clone(),
                tester: built.tester,
                dut: built.dut,
                script: None,
                journal: Some(journal),
                kept: false,
            };
            let set_up = || {
                filters::set(&bed)?;
                setup::run(&bed)?;
                setup::noted(&bed)
            };
            match set_up() {
                Ok(script) => {
                    bed.script = script;
                    Ok(bed)
                }
                Err(error) => Err(in_spite_of(error, bed.lower())),
            }
        }
        Err(error) => {
            let reverted = super::revert(&name, journal);
            Err(in_spite_of(error, reverted))
        }
    }
}

/// The first error, unless the host could not be put back after it.
fn in_spite_of(first: BedError, put_back: Result<(), BedError>) -> BedError {
    match put_back {
        Err(BedError::NotRestored(name, why)) => {
            BedError::NotRestored(name, format!("{why}; before that: {first}").into())
        }
        _ => first,
    }
}

/// Begins a journal with the user's name, or with an unused id.
fn begin(plan: &BedPlan) -> Result<(String, Journal), BedError> {
    match &plan.name {
        Some(name) => match Journal::begin(name)? {
            Some(journal) => Ok((name.clone(), journal)),
            None => Err(BedError::NameInUse(name.clone())),
        },
        None => drawn(),
    }
}

fn drawn() -> Result<(String, Journal), BedError> {
    let start =
        mpps_linux::clock::monotonic_ns() ^ u64::from(task::current_pid().unsigned_abs()) << 7;
    let mut random = mpps_method::random::Random::from_seed(start);
    for _ in 0..DRAWS {
        let name = format!("{:04x}", random.next_u64() & 0xffff);
        if let Some(journal) = Journal::begin(&name)? {
            return Ok((name, journal));
        }
    }
    Err(BedError::NameInUse("(a drawn id)".to_owned()))
}

fn build(name: &str, plan: &BedPlan, journal: &mut Journal) -> Result<Standing, BedError> {
    if is_ours_to_remove(netns::DIRECTORY)? {
        let path = netns::DIRECTORY.to_owned();
        let made = journal.change(&Change::Folder { path }, netns::make_directory);
        made??;
    }
    plan.dut
        .planned()
        .raise(plan, &mut Ground { name, journal })
}

/// Makes a network namespace of this name.
pub(super) fn make_netns(journal: &mut Journal, name: String) -> Result<NetNs, BedError> {
    if NetNs::exists(&name) {
        return Err(BedError::NetNsExists(name));
    }
    let made = journal.change(&Change::NetNs { name: name.clone() }, || create(&name));
    made?
}

/// Whether this bed has to remove the folder: it does not exist yet, or another bed made it. The last bed removes it.
fn is_ours_to_remove(folder: &str) -> Result<bool, BedError> {
    if !Path::new(folder).exists() {
        return Ok(true);
    }
    let makes = |entry: &Entry<Change>| matches!(entry, Entry::Change(Change::Folder { path }) if path == folder);
    // A bed that is lowered meanwhile removes the folder, or leaves it to others.
    let names = journal::names()?;
    Ok(names
        .iter()
        .filter_map(|name| journal::peek(name).ok())
        .any(|entries| entries.iter().any(makes)))
}

/// Makes the namespace. Another bed may remove the folder of names meanwhile.
fn create(name: &str) -> Result<NetNs, BedError> {
    let mut made = NetNs::create(name);
    for _ in 1..CREATE_TRIES {
        match &made {
            Err(error) if error.is_missing() => made = NetNs::create(name),
            _ => break,
        }
    }
    Ok(made?)
}
