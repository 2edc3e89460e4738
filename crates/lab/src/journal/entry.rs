//! What a journal line says.

use mpps_linux::{kernel, task};
use serde::{Deserialize, Serialize};

/// One line of a journal.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub enum Entry<C> {
    /// A state reached.
    Mark(Mark),
    /// A change announced.
    Change(C),
}

/// A state that a run has reached.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "entry", rename_all = "snake_case")]
pub enum Mark {
    /// A process begins.
    Run {
        /// Process id.
        pid: i32,
        /// When that process started, clock ticks since boot.
        started: u64,
        /// Version of mpps.
        version: String,
        /// Kernel's boot id.
        boot_id: String,
    },
    /// The bed stands and shall stay when its maker ends.
    Kept,
    /// The bed is being taken down: no longer kept.
    Lowering,
}

impl Mark {
    /// This process begins.
    pub(crate) fn run() -> Self {
        let pid = task::current_pid();
        Self::Run {
            pid,
            started: task::start_time(pid).unwrap_or(0),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            boot_id: kernel::boot_id().unwrap_or_default(),
        }
    }
}

fn marks<C>(entries: &[Entry<C>]) -> impl DoubleEndedIterator<Item = &Mark> {
    entries.iter().filter_map(|entry| match entry {
        Entry::Mark(mark) => Some(mark),
        Entry::Change(_) => None,
    })
}

/// Whether the bed was raised to stay, has not begun to be lowered, and the machine has not been rebooted since. No
/// namespace outlives a reboot, but a journal does if /run is on a disk.
#[must_use]
pub fn is_kept<C>(entries: &[Entry<C>]) -> bool {
    let mut states = marks(entries).rev();
    let last = states.find(|mark| matches!(mark, Mark::Kept | Mark::Lowering));
    last == Some(&Mark::Kept) && is_of_this_boot(entries)
}

/// Whether the machine has not been rebooted since.
pub(crate) fn is_of_this_boot<C>(entries: &[Entry<C>]) -> bool {
    let now = kernel::boot_id().unwrap_or_default();
    marks(entries).all(|mark| !matches!(mark, Mark::Run { boot_id, .. } if *boot_id != now))
}

/// Whether the process that raised the bed still lives.
pub(crate) fn maker_lives<C>(entries: &[Entry<C>]) -> bool {
    marks(entries).any(|mark| match mark {
        Mark::Run { pid, started, .. } => task::lives(*pid, *started) && is_of_this_boot(entries),
        _ => false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entries(marks: &[Mark]) -> Vec<Entry<()>> {
        marks.iter().cloned().map(Entry::Mark).collect()
    }

    /// A run of this process, but with this start and on this boot.
    fn run_with(begun: Option<u64>, boot: Option<&str>) -> Mark {
        let Mark::Run {
            pid,
            started,
            version,
            boot_id,
        } = Mark::run()
        else {
            panic!("not a run");
        };
        Mark::Run {
            pid,
            started: begun.unwrap_or(started),
            version,
            boot_id: boot.map_or(boot_id, str::to_owned),
        }
    }

    #[test]
    fn a_bed_is_kept_until_lowering_or_reboot() {
        assert!(!is_kept(&entries(&[Mark::run()])));
        assert!(is_kept(&entries(&[Mark::run(), Mark::Kept])));
        let lowering = [Mark::run(), Mark::Kept, Mark::Lowering];
        assert!(!is_kept(&entries(&lowering)));
        let before = run_with(None, Some("another boot"));
        assert!(!is_kept(&entries(&[before.clone(), Mark::Kept])));
        assert!(!maker_lives(&entries(&[before])));
    }

    #[test]
    fn a_maker_is_its_number_and_its_start() {
        assert!(maker_lives(&entries(&[Mark::run()])));
        assert!(!maker_lives(&entries(&[run_with(Some(1), None)])));
        assert!(!maker_lives(&entries(&[])));
    }
}
