//! What a journal line says.

use super::AdoptedPort;
use mpps_linux::{kernel, task};
use serde::{Deserialize, Serialize};

/// One line of a journal: a change announced, or a state reached.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "entry", rename_all = "snake_case")]
pub enum Entry {
    /// Who began.
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
    /// A folder of the host is made.
    Folder {
        /// Its path.
        path: String,
    },
    /// A network namespace is made.
    NetNs {
        /// Its name.
        name: String,
    },
    /// A port of the host is moved into one of our namespaces.
    Port {
        /// What it was like before.
        port: Box<AdoptedPort>,
    },
    /// Routes are loaded into a network namespace that is none of ours.
    Routes {
        /// Its inode number.
        netns: u64,
    },
    /// The bed stands and shall stay when its maker ends.
    Kept,
    /// The bed is being taken down: no longer kept.
    Lowering,
}

impl Entry {
    /// Who begins: this process.
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

/// Whether the bed was raised to stay, nobody has begun to lower it, and the machine runs since: no
/// namespace outlives a reboot, but a journal does where /run is on a disk.
#[must_use]
pub fn is_kept(entries: &[Entry]) -> bool {
    let last = entries
        .iter()
        .rev()
        .find(|entry| matches!(entry, Entry::Kept | Entry::Lowering));
    matches!(last, Some(Entry::Kept)) && is_of_this_boot(entries)
}

fn is_of_this_boot(entries: &[Entry]) -> bool {
    let now = kernel::boot_id().unwrap_or_default();
    entries
        .iter()
        .all(|entry| !matches!(entry, Entry::Run { boot_id, .. } if *boot_id != now))
}

/// Whether the process that raised the bed still lives.
pub(crate) fn maker_lives(entries: &[Entry]) -> bool {
    entries.iter().any(|entry| match entry {
        Entry::Run { pid, started, .. } => task::lives(*pid, *started) && is_of_this_boot(entries),
        _ => false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bed_is_kept_from_keeping_to_lowering_and_not_beyond_a_reboot() {
        let run = Entry::run();
        assert!(!is_kept(std::slice::from_ref(&run)));
        assert!(is_kept(&[run.clone(), Entry::Kept]));
        assert!(!is_kept(&[run, Entry::Kept, Entry::Lowering]));
        let Entry::Run {
            pid,
            started,
            version,
            ..
        } = Entry::run()
        else {
            panic!("not a run");
        };
        let before = Entry::Run {
            pid,
            started,
            version,
            boot_id: "another boot".to_owned(),
        };
        assert!(!is_kept(&[before.clone(), Entry::Kept]));
        assert!(!maker_lives(&[before]));
    }

    #[test]
    fn a_maker_is_its_number_and_its_start() {
        assert!(maker_lives(&[Entry::run()]));
        let Entry::Run {
            pid,
            version,
            boot_id,
            ..
        } = Entry::run()
        else {
            panic!("not a run");
        };
        let other = Entry::Run {
            pid,
            started: 1,
            version,
            boot_id,
        };
        assert!(!maker_lives(&[other]));
        assert!(!maker_lives(&[]));
    }
}
