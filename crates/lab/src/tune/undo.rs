//! The way back of settings: what a journal of them announces, and how all of it is put back.
//!
//! A journal begins with the values of all settings that may change, because a change may move others: IPv4 forwarding
//! sets `forwarding` of each interface, queues reset steering. After the last change it says which others moved. So a
//! value that is neither the one before nor one of ours is somebody else's, and stays.

use crate::journal::{self, Entry, Journal, JournalError, Mark, RevertError, Reverted, fault};
use mpps_linux::error::Error;
use mpps_linux::links;
use mpps_linux::netns::NetNs;
use mpps_linux::setting::{Kind, Setting, SettingChange};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap};

const PREFIX: &str = "tune_";
/// A setting put back may move another again; so often all of them are looked at.
const PASSES: usize = 4;

/// Whether a journal of this name is about settings, not a bed.
#[must_use]
pub fn is_journal(name: &str) -> bool {
    name.starts_with(PREFIX)
}

/// Name of the journal for settings applied in this network namespace.
#[must_use]
pub fn journal_of(netns: u64) -> String {
    format!("{PREFIX}{netns}")
}

/// A setting and what it holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Held {
    /// The setting.
    pub setting: Setting,
    /// Its value.
    pub value: String,
}

/// What a journal of settings announces.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "entry", rename_all = "snake_case")]
pub enum Change {
    /// Settings are going to be changed. All that may change hold this now.
    Before {
        /// Inode number of the network namespace.
        netns: u64,
        /// Its interfaces with their numbers: another interface of the same name is left alone.
        interfaces: BTreeMap<String, u32>,
        /// What settings hold.
        values: Vec<Held>,
    },
    /// A setting gets another value.
    Setting {
        /// The setting, and its value before.
        change: SettingChange,
    },
    /// All changes are made.
    Applied {
        /// Settings that these changes moved as well.
        moved: Vec<Held>,
    },
    /// Everything is going to be put back.
    Reverting {
        /// But these, which somebody else changed.
        foreign: Vec<Held>,
    },
}

impl journal::Change for Change {
    fn check(&self, journal: &str) -> Result<(), JournalError> {
        match self {
            Self::Before { netns, .. } if journal_of(*netns) != journal => {
                Err(names_foreign(journal, *netns))
            }
            Self::Setting { change } if journal_of(change.netns) != journal => {
                Err(names_foreign(journal, change.netns))
            }
            _ => Ok(()),
        }
    }

    /// One change alone; [`Change::put_back`] sees all of them.
    fn revert(&self, _: &str, reverted: &mut Reverted) -> Result<(), RevertError> {
        if let Self::Setting { change } = self {
            reverted.settings += usize::from(change.revert()?);
        }
        Ok(())
    }

    /// A namespace that is gone took its settings along.
    fn stays(entries: &[Entry<Self>]) -> bool {
        let netns = Undo::from_entries(entries).netns;
        let is_gone = netns.is_some_and(|netns| matches!(NetNs::find(netns), Ok(None)));
        journal::is_kept(entries) && !is_gone
    }

    fn put_back(mut journal: Journal) -> Result<Reverted, JournalError> {
        let entries = journal.entries::<Self>()?;
        let undo = Undo::from_entries(&entries);
        for change in changes(&entries) {
            change.check(journal.name())?;
        }
        if journal::is_kept(&entries) {
            journal.mark(&Mark::Lowering)?;
        }
        // No setting outlives a boot, and none of a namespace outlives that.
        let netns = undo.netns.filter(|_| journal::is_of_this_boot(&entries));
        let netns = netns.map(NetNs::find).transpose().map_err(failed)?;
        let mut reverted = Reverted::default();
        if let Some(netns) = netns.flatten() {
            reverted = netns.run(|| undo.run(&mut journal)).map_err(failed)??;
        }
        journal.end()?;
        Ok(reverted)
    }
}

fn names_foreign(journal: &str, netns: u64) -> JournalError {
    JournalError::names_foreign(journal, &format!("netns {netns}"))
}

fn failed(error: Error) -> JournalError {
    JournalError::Change(error.into())
}

/// The changes among entries.
pub(super) fn changes(entries: &[Entry<Change>]) -> impl Iterator<Item = &Change> {
    entries.iter().filter_map(|entry| match entry {
        Entry::Change(change) => Some(change),
        Entry::Mark(_) => None,
    })
}

/// All that a journal tells.
#[derive(Default)]
struct Undo {
    netns: Option<u64>,
    interfaces: BTreeMap<String, u32>,
    before: Vec<Held>,
    changes: Vec<SettingChange>,
    /// What settings may hold because of us.
    ours: HashMap<Setting, Vec<String>>,
    is_applied: bool,
    /// `None` until putting back has begun.
    foreign: Option<Vec<Held>>,
}

impl Undo {
    fn from_entries(entries: &[Entry<Change>]) -> Self {
        let mut undo = Self::default();
        let mut ours = |setting: &Setting, value: &String| {
            let values: &mut Vec<String> = undo.ours.entry(setting.clone()).or_default();
            values.push(value.clone());
        };
        for change in changes(entries) {
            match change {
                Change::Before {
                    netns,
                    interfaces,
                    values,
                } => {
                    undo.netns = Some(*netns);
                    undo.interfaces.clone_from(interfaces);
                    undo.before.clone_from(values);
                }
                Change::Setting { change } => {
                    ours(&change.setting, &change.value);
                    undo.changes.push(change.clone());
                }
                Change::Applied { moved } => {
                    moved
                        .iter()
                        .for_each(|held| ours(&held.setting, &held.value));
                    undo.is_applied = true;
                }
                Change::Reverting { foreign } => undo.foreign = Some(foreign.clone()),
            }
        }
        undo
    }

    /// Puts everything back, in the namespace of the calling thread.
    fn run(mut self, journal: &mut Journal) -> Result<Reverted, JournalError> {
        self.forget_replaced()?;
        let foreign = match self.foreign.take() {
            Some(decided) => decided,
            None => {
                let foreign = self.foreign_now();
                let decided = Change::Reverting { foreign };
                journal.announce(&decided)?;
                let Change::Reverting { foreign } = decided else {
                    return Ok(Reverted::default());
                };
                foreign
            }
        };
        let stays: HashMap<&Setting, &String> = foreign
            .iter()
            .map(|held| (&held.setting, &held.value))
            .collect();
        let mut reverted = Reverted::default();
        let mut first_error = None;
        let mut put = |setting: &Setting, value: &String| {
            let value = stays.get(setting).copied().unwrap_or(value);
            match ensure(setting, value) {
                Ok(wrote) => wrote,
                Err(error) if error.is_missing() => false,
                Err(error) => {
                    first_error.get_or_insert(error);
                    false
                }
            }
        };
        let first: HashMap<&Setting, &String> = self
            .before
            .iter()
            .map(|held| (&held.setting, &held.value))
            .collect();
        for (change, step) in self.changes.iter().rev().zip(1..) {
            let value = first
                .get(&change.setting)
                .copied()
                .unwrap_or(&change.before);
            reverted.settings += usize::from(put(&change.setting, value));
            fault::kill_if(fault::KILL_AT_REVERT, step);
        }
        for _ in 0..PASSES {
            let wrote = self
                .before
                .iter()
                .map(|held| put(&held.setting, &held.value));
            if wrote.filter(|wrote| *wrote).count() == 0 {
                break;
            }
        }
        let told = foreign
            .iter()
            .filter(|held| self.ours.contains_key(&held.setting));
        reverted.foreign = told.map(|held| self.told(held)).collect();
        match first_error {
            Some(error) => Err(failed(error)),
            None => Ok(reverted),
        }
    }

    /// An interface that went and came again under its name is another one, with settings of its own.
    fn forget_replaced(&mut self) -> Result<(), JournalError> {
        let links = links::list().map_err(failed)?;
        let links = links.into_iter().map(|link| (link.name, link.index));
        let now: BTreeMap<String, u32> = links.collect();
        let interfaces = std::mem::take(&mut self.interfaces);
        let is_same = |setting: &Setting| {
            let name = setting.interface.as_ref();
            name.is_none_or(|name| interfaces.get(name) == now.get(name))
        };
        self.before.retain(|held| is_same(&held.setting));
        self.changes.retain(|change| is_same(&change.setting));
        Ok(())
    }

    /// Settings that hold what neither was there before nor came by us.
    fn foreign_now(&self) -> Vec<Held> {
        let foreign = |held: &Held| {
            let setting = &held.setting;
            let now = setting.read().ok()?;
            let ours = self.ours.get(setting);
            let is_ours = ours
                .into_iter()
                .flatten()
                .any(|value| setting.is_same(value, &now));
            // Before the last change was made nobody wrote down what it moved.
            let may_be_moved = !self.is_applied && ours.is_none();
            let stays = !is_ours && !may_be_moved && !setting.is_same(&held.value, &now);
            stays.then(|| Held {
                setting: setting.clone(),
                value: now,
            })
        };
        self.before.iter().filter_map(foreign).collect()
    }

    fn told(&self, held: &Held) -> String {
        let before = self.before.iter().find(|one| one.setting == held.setting);
        let before = before.map_or("", |one| one.value.as_str());
        let name = shown(&held.setting);
        // The kernel puts tabs between numbers.
        let [now, before] = [&held.value, before].map(|value| value.replace('\t', " "));
        format!("{name} stays {now}, because somebody else changed it (it was {before})")
    }
}

/// Writes a value unless the setting holds it. Whether it wrote.
fn ensure(setting: &Setting, value: &str) -> Result<bool, Error> {
    if setting.is_same(value, &setting.read()?) {
        return Ok(false);
    }
    setting.write(value)?;
    Ok(true)
}

/// A setting's name as people write it.
#[must_use]
pub fn shown(setting: &Setting) -> String {
    let name = setting.full_name();
    match (setting.kind, &setting.interface) {
        // A dot in an interface's name would look like a step.
        (Kind::Sysctl, Some(interface)) if interface.contains('.') => name,
        (Kind::Sysctl, _) => name.replace('/', "."),
        (Kind::Sysfs, _) => format!("/sys/{name}"),
        (Kind::Ethtool, Some(interface)) => format!("{interface} {name}"),
        (Kind::Ethtool, None) => name,
        (Kind::Irq, _) => format!("CPUs of interrupt {name}"),
    }
}
