//! Route changes that were replayed into the DUT's FIB (`--route-changes`).

use serde::{Deserialize, Serialize};

/// What was to be replayed during each trial.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ReplayedFile {
    /// The file.
    pub from: String,
    /// Its SHA-256, as it lies there.
    pub sha256: String,
    /// Changes of it that are replayed, one after the other; behind the last comes the first.
    pub changes: u64,
    /// Different prefixes of these.
    pub prefixes: u64,
    /// Changes that are not: of the other family, of default routes, martians and the bed's own networks.
    pub left_out_changes: u64,
    /// As asked for: so many a second (1000/s), by the file's times (10x), or max.
    pub speed: String,
}

/// Route changes of a trial, or of all trials.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RouteChanges {
    /// Routes that were not there, and were added.
    pub added: u64,
    /// Routes that got the other next hop.
    pub replaced: u64,
    /// Routes that were withdrawn.
    pub withdrawn: u64,
    /// Of all these, refused by the kernel.
    pub refused: u64,
    /// Made over 10 ms after they were due.
    pub late: u64,
    /// Due until the end, made or not.
    pub due: u64,
    /// How long changes were made: a little longer than the trial.
    pub time_ns: u64,
    /// CPU time of the thread that made them, its system calls included.
    pub cpu_ns: u64,
    /// Its CPU, one of the tester's.
    pub cpu: usize,
}

impl RouteChanges {
    /// Changes that the FIB took.
    #[must_use]
    pub const fn applied(&self) -> u64 {
        (self.added + self.replaced + self.withdrawn).saturating_sub(self.refused)
    }

    /// The same a second.
    #[must_use]
    pub fn applied_per_s(&self) -> f64 {
        self.per_s(self.applied())
    }

    /// Changes that were due, a second.
    #[must_use]
    pub fn due_per_s(&self) -> f64 {
        self.per_s(self.due)
    }

    /// Share of the CPU's time that the thread took.
    #[must_use]
    pub fn cpu_share(&self) -> f64 {
        self.per_s(self.cpu_ns) / 1e9
    }

    fn per_s(&self, count: u64) -> f64 {
        count as f64 * 1e9 / self.time_ns.max(1) as f64
    }

    /// Adds those of another trial.
    pub fn add(&mut self, other: &Self) {
        self.added += other.added;
        self.replaced += other.replaced;
        self.withdrawn += other.withdrawn;
        self.refused += other.refused;
        self.late += other.late;
        self.due += other.due;
        self.time_ns += other.time_ns;
        self.cpu_ns += other.cpu_ns;
        self.cpu = other.cpu;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refused_changes_are_not_applied() {
        let changes = RouteChanges {
            added: 3,
            replaced: 4,
            withdrawn: 2,
            refused: 1,
            time_ns: 500_000_000,
            ..RouteChanges::default()
        };
        let mut twice = changes;
        twice.add(&changes);
        assert_eq!((changes.applied(), twice.applied()), (8, 16));
        assert_eq!(twice.applied_per_s(), 16.0);
    }
}
