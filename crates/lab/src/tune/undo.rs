//! The way back of settings: what a journal of them announces, and how all of it is put back.
//!
//! Beside a journal lie the values of all settings that may change, because a change may move others: IPv4 forwarding
//! sets `forwarding` of each interface, queues reset steering. They are a file of their own, on disk before the first
//! change, so a journal cut short loses none of them. After the last change the journal says which others moved. So a
//! value that is neither the one before nor one of ours is somebody else's, and stays.

use super::persist::File;
use crate::journal::{self, Entry, Journal, JournalError, Mark, RevertError, Reverted, fault};
use mpps_linux::error::Error;
use mpps_linux::netns::{self, NetNs};
use mpps_linux::setting::{Kind, Setting, SettingChange};
use mpps_linux::{kernel, links};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap};

const PREFIX: &str = "tune_";
/// File beside the journal.
const BEFORE: &str = "before.json";
/// A setting put back may move another again; so often all of them are looked at.
const PASSES: usize = 4;
/// Files of each interface that a change of another setting may move, and that no row names.
pub(super) const MOVED: [&str; 6] = [
    "net/ipv4/conf/*/forwarding",
    "net/ipv4/conf/*/accept_redirects",
    "net/ipv6/conf/*/forwarding",
    "net/ipv6/conf/*/accept_ra",
    "net/ipv6/conf/*/accept_redirects",
    "net/ipv6/conf/*/mtu",
];

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

/// What all settings that may change held before the first change.
#[derive(Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Before {
    /// Inode number of the network namespace; `None` where nothing was changed.
    netns: Option<u64>,
    /// Its cookie, where the kernel has them.
    #[serde(default)]
    cookie: Option<u64>,
    boot_id: String,
    /// Interfaces with their numbers, which tell them when their names have changed.
    interfaces: BTreeMap<String, u32>,
    pub(super) values: Vec<Held>,
    /// What settings are to be: a journal cut short does not tell all of it.
    #[serde(default)]
    planned: Vec<Held>,
}

impl Before {
    pub(super) fn new(netns: u64, values: Vec<Held>, planned: Vec<Held>) -> Result<Self, Error> {
        Ok(Self {
            netns: Some(netns),
            cookie: netns::own_cookie(),
            boot_id: kernel::boot_id().unwrap_or_default(),
            interfaces: interfaces()?,
            values,
            planned,
        })
    }

    /// Has it on disk beside the journal.
    pub(super) fn write(&self, journal: &Journal) -> Result<(), JournalError> {
        let text =
            serde_json::to_string(self).map_err(|error| JournalError::Change(error.into()))?;
        journal.put(BEFORE, &text)
    }

    /// Reads it. A file that is missing or incomplete announces nothing, as long as the journal announces nothing.
    fn read(name: &str, entries: &[Entry<Change>]) -> Result<Self, JournalError> {
        let read = journal::read(name, BEFORE).and_then(|text| {
            serde_json::from_slice::<Self>(&text).map_err(|_| JournalError::NotOurs {
                name: name.to_owned(),
                why: format!("{BEFORE} is not understood"),
            })
        });
        match read {
            Err(_) if changes(entries).next().is_none() => Ok(Self::default()),
            Ok(Self {
                netns: Some(netns), ..
            }) if journal_of(netns) != name => Err(names_foreign(name, netns)),
            read => read,
        }
    }
}

/// Interfaces of the calling thread's namespace with their numbers.
fn interfaces() -> Result<BTreeMap<String, u32>, Error> {
    let links = links::list()?.into_iter();
    Ok(links.map(|link| (link.name, link.index)).collect())
}

/// What a journal of settings announces.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "entry", rename_all = "snake_case")]
pub enum Change {
    /// A setting gets another value.
    Setting {
        /// The setting, and its value before.
        change: SettingChange,
    },
    /// All changes are made.
    Applied {
        /// Settings that these changes moved as well.
        moved: Vec<Held>,
        /// Files that are written when the settings are kept.
        #[serde(default)]
        files: Vec<File>,
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
            Self::Setting { change } if journal_of(change.netns) != journal => {
                Err(names_foreign(journal, change.netns))
            }
            _ => Ok(()),
        }
    }

    /// One change alone; `Change::put_back` sees all of them.
    fn revert(&self, _: &str, reverted: &mut Reverted) -> Result<(), RevertError> {
        if let Self::Setting { change } = self {
            reverted.settings += usize::from(change.revert()?);
        }
        Ok(())
    }

    fn stays(entries: &[Entry<Self>]) -> bool {
        journal::is_kept(entries) && !is_gone(entries)
    }

    fn put_back(mut journal: Journal) -> Result<Reverted, JournalError> {
        let entries = journal.entries::<Self>()?;
        let before = Before::read(journal.name(), &entries)?;
        for change in changes(&entries) {
            change.check(journal.name())?;
        }
        if journal::is_kept(&entries) {
            journal.mark(&Mark::Lowering)?;
        }
        let mut reverted = Reverted::default();
        // No setting outlives a boot, and none of a namespace outlives that. Files that were kept outlive both.
        let is_of_this_boot = before.boot_id == kernel::boot_id().unwrap_or_default();
        let was_kept = entries.contains(&Entry::Mark(Mark::Kept));
        for file in files(&entries).filter(|_| is_of_this_boot || !was_kept) {
            file.put_back(&mut reverted).map_err(failed)?;
        }
        let netns = before.netns.filter(|_| is_of_this_boot);
        let netns = netns.map(|netns| NetNs::find_exact(netns, before.cookie));
        match netns.transpose().map_err(failed)? {
            Some(Some(netns)) => {
                let undo = Undo::new(before, &entries);
                let run = || undo.run(&mut journal, &mut reverted);
                netns.run(run).map_err(failed)??;
            }
            Some(None) => {
                let line = "they were settings of a network namespace that is gone";
                reverted.gone.push(line.to_owned());
            }
            None => {}
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

/// Whether the namespace of these changes is gone, and its settings with it. Another one may have its number.
pub(super) fn is_gone(entries: &[Entry<Change>]) -> bool {
    let first = changes(entries).find_map(|change| match change {
        Change::Setting { change } => Some(change),
        _ => None,
    });
    first.is_some_and(|one| matches!(NetNs::find_exact(one.netns, one.cookie), Ok(None)))
}

/// Processes that a journal names: who applies, then the helper.
pub(super) fn runs(entries: &[Entry<Change>]) -> Vec<(i32, u64)> {
    let run = |entry: &Entry<Change>| match entry {
        Entry::Mark(Mark::Run { pid, started, .. }) => Some((*pid, *started)),
        _ => None,
    };
    entries.iter().filter_map(run).collect()
}

/// Files that are written when settings are kept.
pub(super) fn files(entries: &[Entry<Change>]) -> impl Iterator<Item = &File> {
    changes(entries).flat_map(|change| match change {
        Change::Applied { files, .. } => files.as_slice(),
        _ => &[],
    })
}

/// All that a journal tells.
struct Undo {
    before: Before,
    /// Interfaces by their names in the journal, with their names now. Those that are gone are missing.
    names: HashMap<String, String>,
    changes: Vec<SettingChange>,
    /// What settings may hold because of us.
    ours: HashMap<Setting, Vec<String>>,
    is_applied: bool,
    /// `None` until putting back has begun.
    foreign: Option<Vec<Held>>,
}

impl Undo {
    fn new(before: Before, entries: &[Entry<Change>]) -> Self {
        let mut undo = Self {
            before,
            names: HashMap::new(),
            changes: Vec::new(),
            ours: HashMap::new(),
            is_applied: false,
            foreign: None,
        };
        let mut ours = |setting: &Setting, value: &String| {
            let values: &mut Vec<String> = undo.ours.entry(setting.clone()).or_default();
            values.push(value.clone());
        };
        for held in &undo.before.planned {
            ours(&held.setting, &held.value);
        }
        for change in changes(entries) {
            match change {
                Change::Setting { change } => {
                    ours(&change.setting, &change.value);
                    undo.changes.push(change.clone());
                }
                Change::Applied { moved, .. } => {
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
    fn run(mut self, journal: &mut Journal, reverted: &mut Reverted) -> Result<(), JournalError> {
        self.find_interfaces(&mut reverted.gone)?;
        let foreign = match self.foreign.take() {
            Some(decided) => decided,
            None => {
                let foreign = self.foreign_now();
                journal.announce(&Change::Reverting {
                    foreign: foreign.clone(),
                })?;
                foreign
            }
        };
        let stays: HashMap<&Setting, &String> = by_setting(&foreign);
        // A value may be refused until another is back: segmentation needs scatter-gather.
        let mut refused: Vec<(Setting, Error)> = Vec::new();
        let mut put = |setting: &Setting, value: &String| {
            let value = stays.get(setting).copied().unwrap_or(value);
            refused.retain(|(of, _)| of != setting);
            let Some(here) = self.here(setting) else {
                return false;
            };
            match ensure(&here, value) {
                Ok(wrote) => wrote,
                Err(error) if error.is_missing() => false,
                Err(error) => {
                    refused.push((setting.clone(), error));
                    false
                }
            }
        };
        let before = &self.before.values;
        let first = by_setting(before);
        // A journal cut short lacks the last changes. They go first: without GRO a veth refuses `threaded`.
        let is_told = |held: &&Held| self.changes.iter().any(|one| one.setting == held.setting);
        let planned = self.before.planned.iter().rev();
        for held in planned.filter(|held| !is_told(held)) {
            if let Some(value) = first.get(&held.setting) {
                put(&held.setting, value);
            }
        }
        for (change, step) in self.changes.iter().rev().zip(1..) {
            let value = first.get(&change.setting).copied();
            let value = value.unwrap_or(&change.before);
            reverted.settings += usize::from(put(&change.setting, value));
            fault::kill_if(fault::KILL_AT_REVERT, step);
        }
        for _ in 0..PASSES {
            let wrote = before.iter().map(|held| put(&held.setting, &held.value));
            if wrote.filter(|wrote| *wrote).count() == 0 {
                break;
            }
        }
        let is_told = |held: &&Held| !self.is_applied || self.ours.contains_key(&held.setting);
        let told = foreign.iter().filter(is_told);
        let before = |held: &Held| first.get(&held.setting).map_or("", |value| value.as_str());
        let told = told.filter_map(|held| {
            let here = self.here(&held.setting)?;
            Some(told_of(&here, &held.value, before(held)))
        });
        reverted.foreign.extend(told);
        let refused = refused.into_iter().next();
        refused.map_or(Ok(()), |(_, error)| Err(failed(error)))
    }

    /// Learns the names that interfaces have now, and tells which of our settings went with theirs.
    fn find_interfaces(&mut self, gone: &mut Vec<String>) -> Result<(), JournalError> {
        let now = interfaces().map_err(failed)?.into_iter();
        let now: HashMap<u32, String> = now.map(|(name, index)| (index, name)).collect();
        let name = |(then, index): (&String, &u32)| Some((then.clone(), now.get(index)?.clone()));
        self.names = self.before.interfaces.iter().filter_map(name).collect();
        let settings = self.before.values.iter().map(|held| &held.setting);
        let ours = settings.filter(|setting| self.ours.contains_key(setting));
        gone.extend(
            ours.filter(|setting| self.here(setting).is_none())
                .map(|setting| {
                    let name = shown(setting);
                    format!("{name} is not put back, because its interface is gone")
                }),
        );
        Ok(())
    }

    /// A setting by the name that its interface has now; `None` where that is gone. An interface that went and came
    /// again under its name is another one, with settings of its own.
    fn here(&self, setting: &Setting) -> Option<Setting> {
        let mut here = setting.clone();
        if let Some(interface) = &mut here.interface {
            interface.clone_from(self.names.get(interface)?);
        }
        Some(here)
    }

    /// Whether one of our changes may have moved it: before the last of them nobody wrote down what they moved.
    fn may_be_moved(&self, setting: &Setting) -> bool {
        let name = setting.name.as_str();
        match setting.kind {
            Kind::Ethtool | Kind::Irq => true,
            Kind::Sysfs => name.contains("/queues/") || name.starts_with("devices/system/cpu/"),
            // No later change moves it.
            Kind::Sysctl if self.changes.iter().any(|one| one.setting == *setting) => false,
            Kind::Sysctl => {
                let is_it = |moved: &str| {
                    let ends = moved.split_once('*');
                    ends.is_some_and(|(one, end)| name.starts_with(one) && name.ends_with(end))
                };
                // One for all interfaces, or a default, sets that of each.
                let last = |setting: &Setting| setting.name.rsplit('/').next().map(str::to_owned);
                let others = self.ours.keys().filter(|one| *one != setting);
                let mut ours = others.map(last);
                MOVED.into_iter().any(is_it) || ours.any(|one| one == last(setting))
            }
            Kind::Service => false,
        }
    }

    /// Settings that hold what neither was there before nor came by us.
    fn foreign_now(&self) -> Vec<Held> {
        let foreign = |held: &Held| {
            let setting = &held.setting;
            let now = self.here(setting)?.read().ok()?;
            let ours = self.ours.get(setting);
            let is_ours = ours
                .into_iter()
                .flatten()
                .any(|value| setting.is_same(value, &now));
            let may_be_moved = !self.is_applied && self.may_be_moved(setting);
            let stays = !is_ours && !may_be_moved && !setting.is_same(&held.value, &now);
            stays.then(|| Held {
                setting: setting.clone(),
                value: now,
            })
        };
        self.before.values.iter().filter_map(foreign).collect()
    }
}

fn by_setting(held: &[Held]) -> HashMap<&Setting, &String> {
    let pairs = held.iter().map(|held| (&held.setting, &held.value));
    pairs.collect()
}

fn told_of(setting: &Setting, now: &str, before: &str) -> String {
    let name = shown(setting);
    // The kernel puts tabs between numbers.
    let [now, before] = [now, before].map(|value| value.replace('\t', " "));
    format!("{name} stays {now}, because another program changed it (it was {before})")
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
        (Kind::Service, _) => format!("service {name}"),
    }
}
