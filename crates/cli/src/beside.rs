//! The host and its other runs: what else may have had a part in a result.

use crate::host::Interrupted;
use crate::record::Clock;
use anyhow::{Context, Result, ensure};
use mpps_lab::doubt::{self, Doubt};
use mpps_lab::facts::{HostSettings, Root};
use mpps_lab::one_run::{self, Holder, OnlyRun};

/// The host and its other runs, beside this one.
pub struct Beside {
    before: HostSettings,
    other: Option<Holder>,
    /// Held to the end.
    _only: Option<OnlyRun>,
}

impl Beside {
    /// Waits until no other run measures, which `step` tells, or with `--share` looks whether one does.
    ///
    /// # Errors
    /// The lock cannot be had, or the user interrupted.
    pub fn wait(share: bool, begun: Clock, step: impl Fn(&str)) -> Result<Self> {
        let lock = || {
            format!(
                "lock {} (needs root, and a /run that can be written)",
                one_run::LOCK
            )
        };
        let (mut other, mut only) = (None, None);
        if share {
            other = OnlyRun::other().with_context(lock)?;
        } else {
            let words: Vec<_> = std::env::args_os().skip(1).collect();
            let words = words.join(" ".as_ref());
            let (pid, words, since) = (std::process::id(), words.to_string_lossy(), begun.utc());
            let own = format!("pid {pid}, mpps {words}, since {since}");
            let waiting = |holder: &Holder| {
                step(&format!(
                    "waiting for another run to end: {holder} (--share measures beside it)"
                ));
            };
            only = OnlyRun::wait(&own, waiting).with_context(lock)?;
            ensure!(
                only.is_some(),
                Interrupted("interrupted while another run measured")
            );
        }
        let before = HostSettings::read(&Root::here());
        Ok(Self {
            before,
            other,
            _only: only,
        })
    }

    /// The doubts that the host and its other runs raise.
    pub fn doubts(&self) -> Vec<Doubt> {
        let changes = self.before.changes(&HostSettings::read(&Root::here()));
        let changed = doubt::host_changed(&changes);
        let other = self.other.as_ref().map(doubt::other_run);
        changed.into_iter().chain(other).collect()
    }
}
