//! Dying on purpose: the tests kill a run at each journal entry, before and after its change.

use mpps_linux::task;
use std::sync::atomic::{AtomicU64, Ordering};

/// Kill this process right after entry number N was written.
pub const KILL_AT_JOURNAL: &str = "MPPS_FAULT_KILL_AT_JOURNAL";
/// Kill this process right after the change of entry number N was made.
pub const KILL_AFTER_CHANGE: &str = "MPPS_FAULT_KILL_AFTER_CHANGE";

/// An entry without a change of its own was written.
pub(crate) fn reached(number: u64) {
    after_entry(number);
}

pub(super) fn after_entry(number: u64) {
    kill_if(KILL_AT_JOURNAL, number);
}

pub(super) fn after_change(number: u64) {
    kill_if(KILL_AFTER_CHANGE, number);
}

fn kill_if(variable: &str, number: u64) {
    let wanted = std::env::var(variable)
        .ok()
        .and_then(|text| text.parse::<u64>().ok());
    if wanted == Some(number) {
        let _dead = task::kill(task::current_pid(), task::Signal::SIGKILL);
    }
}

/// A name no other process and no other call of this one has: pid, its start, a count.
pub(super) fn unique() -> String {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let pid = task::current_pid();
    let started = task::start_time(pid).unwrap_or(0);
    format!("{pid}-{started}-{}", COUNT.fetch_add(1, Ordering::Relaxed))
}

/// Whether the process that [`unique`] names still lives.
pub(super) fn maker_lives(unique: &str) -> bool {
    let mut parts = unique.split('-').map(str::parse::<u64>);
    match (parts.next(), parts.next()) {
        (Some(Ok(pid)), Some(Ok(started))) => {
            i32::try_from(pid).is_ok_and(|pid| task::lives(pid, started))
        }
        _ => false,
    }
}
