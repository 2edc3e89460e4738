//! Putting back what a journal announces, last change first.

use super::{Entry, Journal, fault, trust};
use crate::clock::wait_for;
use mpps_linux::netns::NetNs;
use mpps_linux::task::{self, Signal};
use std::io;

/// A killed process is gone within milliseconds; one in the kernel may take longer, ns.
const DEATH_LIMIT_NS: u64 = 5_000_000_000;
/// How often in a row nobody must be seen. One look is not enough: a process that hands over to its child
/// and ends while /proc is read (every daemon does) is no more there, and its child not yet.
const EMPTY_LOOKS: u32 = 3;

/// What was put back.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reverted {
    /// Namespaces removed.
    pub netns: Vec<String>,
    /// Processes killed in them.
    pub processes: usize,
    /// Routes taken out of namespaces that are none of ours.
    pub routes: u64,
    /// Ports given back to the host; those that were unplugged meanwhile are not among them.
    pub ports: Vec<String>,
}

/// Puts everything back and ends the journal. Done again it does no harm.
///
/// # Errors
/// What could not be put back; the journal stays then.
pub fn revert(mut journal: Journal) -> io::Result<Reverted> {
    let mut reverted = Reverted::default();
    let entries = journal.entries()?;
    trust::check_entries(journal.name(), &entries)?;
    let ours: Vec<String> = entries.iter().filter_map(netns_of).collect();
    for (entry, step) in entries.iter().rev().zip(1..) {
        match entry {
            Entry::NetNs { name } => remove_netns(name, &mut reverted)?,
            // Others may use it by now: only an empty one goes.
            Entry::Folder { path } => drop(std::fs::remove_dir(path)),
            Entry::Port { port } => {
                if port.give_back(&ours).map_err(io::Error::other)? {
                    reverted.ports.push(port.name.clone());
                }
            }
            Entry::Routes { netns } => reverted.routes += crate::fib::put_back(*netns)?,
            Entry::Run { .. } | Entry::Kept | Entry::Lowering => {}
        }
        fault::kill_if(fault::KILL_AT_REVERT, step);
    }
    journal.end()?;
    Ok(reverted)
}

fn netns_of(entry: &Entry) -> Option<String> {
    match entry {
        Entry::NetNs { name } => Some(name.clone()),
        _ => None,
    }
}

fn remove_netns(name: &str, reverted: &mut Reverted) -> io::Result<()> {
    if !NetNs::exists(name) {
        return Ok(());
    }
    // A name without a namespace is left by a maker that died in between: nobody can live in it.
    if let Ok(netns) = NetNs::open(name) {
        reverted.processes += kill_all(&netns)?;
    }
    NetNs::delete(name).map_err(io::Error::other)?;
    reverted.netns.push(name.to_owned());
    Ok(())
}

/// Kills every process living in the namespace, those that are born meanwhile too; not this one, which
/// a user may have started from in there.
fn kill_all(netns: &NetNs) -> io::Result<usize> {
    let mut killed = std::collections::BTreeSet::new();
    let mut empty_looks = 0;
    let gone = wait_for(DEATH_LIMIT_NS, 1_000_000, || {
        let mut pids = netns.pids().map_err(io::Error::other)?;
        pids.retain(|&pid| pid != task::current_pid());
        for &pid in &pids {
            let started = task::start_time(pid).unwrap_or(0);
            if task::kill_exact(pid, started, Signal::SIGKILL).map_err(io::Error::other)? {
                killed.insert((pid, started));
            }
        }
        empty_looks = if pids.is_empty() { empty_looks + 1 } else { 0 };
        Ok::<_, io::Error>(empty_looks == EMPTY_LOOKS)
    })?;
    if gone {
        return Ok(killed.len());
    }
    Err(io::Error::other(format!(
        "processes in netns {} do not die (end them, then run mpps recover again)",
        netns.name()
    )))
}
