//! Planted deaths: the tests kill a run at each journal entry, before and after its change, and at
//! each step of putting back.

use mpps_linux::task;

/// Kill this process right after entry number N (from 1) was written.
pub const KILL_AT_JOURNAL: &str = "MPPS_FAULT_KILL_AT_JOURNAL";
/// Kill this process right after the change of entry number N was made.
pub const KILL_AFTER_CHANGE: &str = "MPPS_FAULT_KILL_AFTER_CHANGE";
/// Kill this process right after step number N of putting back.
pub const KILL_AT_REVERT: &str = "MPPS_FAULT_KILL_AT_REVERT";
/// Kill this process right after file number N that keeps settings across boots was written.
pub const KILL_AT_FILE: &str = "MPPS_FAULT_KILL_AT_FILE";

/// Dies here if the environment says so.
pub(crate) fn kill_if(variable: &str, number: u64) {
    let wanted = std::env::var(variable)
        .ok()
        .and_then(|text| text.parse::<u64>().ok());
    if wanted == Some(number) {
        let _dead = task::kill(task::current_pid(), task::Signal::SIGKILL);
    }
}
