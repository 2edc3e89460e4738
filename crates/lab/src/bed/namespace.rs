//! A bed's network namespaces: which of them a bed can have made, and how one is removed.

use super::names;
use crate::clock::wait_for;
use crate::journal::{JournalError, RevertError, Reverted};
use mpps_linux::netns::{self, NetNs};
use mpps_linux::task::{self, Signal};

/// A killed process is gone within milliseconds; one in the kernel may take longer, ns.
const DEATH_LIMIT_NS: u64 = 5_000_000_000;
/// Looks in a row that must find no process. One look is not enough: a daemon starts a child and ends. While /proc is
/// read, the parent may be gone already and the child not yet be listed.
const EMPTY_LOOKS: u32 = 3;

/// Refuses a namespace that is not this bed's, and the one in which this process runs.
pub(super) fn check(name: &str, bed: &str) -> Result<(), JournalError> {
    if !names::netns(bed).iter().any(|ours| ours == name) {
        return Err(JournalError::names_foreign(bed, name));
    }
    let own = netns::own_inode().map_err(|error| JournalError::Change(error.into()))?;
    if NetNs::open(name).is_ok_and(|netns| netns.inode() == own) {
        let why = format!("mpps itself runs in netns {name} (leave its shell, then try again)");
        return Err(JournalError::Change(why.into()));
    }
    Ok(())
}

/// Ends the processes of a namespace and removes it. One that is not there is removed already.
pub(super) fn remove(name: &str, reverted: &mut Reverted) -> Result<(), RevertError> {
    if !NetNs::exists(name) {
        return Ok(());
    }
    // A name without a namespace is left by a maker that died in between: nobody can live in it.
    if let Ok(netns) = NetNs::open(name) {
        reverted.processes += kill_all(&netns)?;
    }
    NetNs::delete(name)?;
    reverted.netns.push(name.to_owned());
    Ok(())
}

/// Kills every process in the namespace, and those that are started meanwhile. It spares this process, which a user may
/// have started in there.
fn kill_all(netns: &NetNs) -> Result<usize, RevertError> {
    let mut killed = std::collections::BTreeSet::new();
    let mut empty_looks = 0;
    let gone = wait_for(DEATH_LIMIT_NS, 1_000_000, || {
        let mut pids = netns.pids()?;
        pids.retain(|&pid| pid != task::current_pid());
        for &pid in &pids {
            let started = task::start_time(pid).unwrap_or(0);
            if task::kill_exact(pid, started, Signal::SIGKILL)? {
                killed.insert((pid, started));
            }
        }
        empty_looks = if pids.is_empty() { empty_looks + 1 } else { 0 };
        Ok::<_, mpps_linux::Error>(empty_looks == EMPTY_LOOKS)
    })?;
    if gone {
        return Ok(killed.len());
    }
    Err(format!(
        "processes in netns {} do not die (end them, then run mpps recover again)",
        netns.name()
    )
    .into())
}
