//! Changes of settings, each written down before it is made.

use super::guard::revert;
use super::persist::File;
use super::plan::{LeftOut, Plan, Planned, may_change};
use super::undo::{Before, Change, Held, MOVED, changes, is_gone, journal_of, runs, shown};
use super::{Machine, NoInterface, Place, places};
use crate::clock::wait_for;
use crate::facts::Root;
use crate::journal::{self, Change as _, Journal, JournalError, Mark, fault};
use mpps_linux::error::Error;
use mpps_linux::netns::{self, NetNs};
use mpps_linux::setting::{Kind as Reached, Setting, SettingChange};
use mpps_linux::{ethtool, interrupt, links};
use mpps_method::tune::CATALOGUE;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The guard has begun to watch within this time, ns.
const GUARD_LIMIT_NS: u64 = 10_000_000_000;
const STEP_NS: u64 = 5_000_000;

/// Settings could not be applied, confirmed or put back.
#[derive(Debug, thiserror::Error)]
pub enum TuneError {
    /// The journal could not be kept, believed or put back.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// The kernel refused something that concerns more than one setting.
    #[error(transparent)]
    Linux(#[from] Error),
    /// No such interface.
    #[error(transparent)]
    Interface(#[from] NoInterface),
    /// There are applied settings already.
    #[error("settings are applied here already (mpps tune revert{0} puts them back)")]
    Applied(String),
    /// Another process applies settings now.
    #[error("another process applies settings here now (wait for its end)")]
    UnderWay,
    /// Nothing to confirm.
    #[error(
        "no settings are applied here: none was applied, or all were put back (mpps tune apply)"
    )]
    NothingApplied,
    /// An apply was killed, or putting back has begun.
    #[error("these settings are not all applied any more (mpps tune revert{0} puts back the rest)")]
    Incomplete(String),
    /// The helper that is to put settings back did not start.
    #[error(
        "the helper that puts settings back without a confirmation did not start (--no-confirm does without it)"
    )]
    NoGuard,
    /// A file of the name of one that keeps settings across boots.
    #[error("{} is not as mpps wrote it (look at it, then move it away)", .0.display())]
    NotOurs(PathBuf),
    /// Some setting could not be put back.
    #[error("{0} (the journal stays: mpps tune revert tries again)")]
    NotRestored(JournalError),
    /// The user wishes to stop.
    #[error("interrupted; everything is put back")]
    Interrupted,
}

/// A network namespace whose settings are changed.
#[derive(Debug)]
pub struct Site {
    named: Option<NetNs>,
    netns: u64,
    /// Whether it is the machine's own, which has the settings of the whole machine.
    pub is_host: bool,
}

impl Site {
    /// The namespace of this name; without one, that of the calling thread.
    ///
    /// # Errors
    /// No such namespace.
    pub fn new(name: Option<&str>) -> Result<Self, TuneError> {
        let named = name.map(NetNs::open).transpose()?;
        let netns = match &named {
            Some(netns) => netns.inode(),
            None => netns::own_inode()?,
        };
        // Only the machine's own namespace has this file.
        let is_own = || Path::new("/proc/sys/net/core/dev_weight").exists();
        let is_host = match &named {
            Some(netns) => netns.run(is_own)?,
            None => is_own(),
        };
        Ok(Self {
            named,
            netns,
            is_host,
        })
    }

    /// Name of its journal.
    #[must_use]
    pub fn journal(&self) -> String {
        journal_of(self.netns)
    }

    /// What names it on the command line: ` --netns dut`.
    #[must_use]
    pub fn argument(&self) -> String {
        let name = self.named.as_ref().map(NetNs::name);
        name.map_or_else(String::new, |name| format!(" --netns {name}"))
    }

    /// Its name, where it was given one.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        self.named.as_ref().map(NetNs::name)
    }

    /// Whether it was named and is not the machine's own: then no change cuts the way to the machine.
    #[must_use]
    pub fn is_apart(&self) -> bool {
        self.named.is_some() && !self.is_host
    }

    /// Refuses a namespace in which settings are applied. A journal of another one that is gone is ended.
    ///
    /// # Errors
    /// They are.
    pub fn check_free(&self) -> Result<(), TuneError> {
        let entries = match journal::peek::<Change>(&self.journal()) {
            Err(error) if error.is_missing() => return Ok(()),
            entries => entries?,
        };
        if !is_gone(&entries) {
            return Err(TuneError::Applied(self.argument()));
        }
        revert(self).map(drop)
    }

    /// Runs the closure there, with the files of its machine.
    ///
    /// # Errors
    /// The namespace could not be entered.
    pub fn run<T: Send>(&self, work: impl FnOnce(&Root) -> T + Send) -> Result<T, TuneError> {
        Ok(match &self.named {
            Some(netns) => netns.with_sysfs(|sysfs| work(&Root::with_sysfs(sysfs)))?,
            None => work(&Root::here()),
        })
    }

    /// The machine as it is there. With no interface given: those that have a device, and in a named namespace all but
    /// the loopback.
    ///
    /// # Errors
    /// No such interface.
    pub fn machine(&self, root: &Root, interfaces: &[String]) -> Result<Machine, TuneError> {
        let all: Vec<String> = match (&self.named, interfaces) {
            (Some(_), []) => {
                let names = links::list()?.into_iter().map(|link| link.name);
                names.filter(|name| name != "lo").collect()
            }
            (_, some) => some.to_vec(),
        };
        Ok(Machine::new(root.clone(), crate::facts::gather(), &all)?)
    }
}

/// Settings whose changes have begun: they are put back by this value, or by its journal.
#[derive(Debug)]
pub struct Applying {
    journal: Journal,
    before: Vec<Held>,
}

/// What became of a plan.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Applied {
    /// Changes made, with the value before.
    pub made: Vec<Planned>,
    /// Changes that the kernel refused; the settings are as they were.
    pub refused: Vec<LeftOut>,
    /// Other settings that these changes moved: name, value before, value now.
    pub moved: Vec<(String, String, String)>,
    /// Files that keep these changes across boots.
    pub files: Vec<File>,
}

impl Applying {
    /// Writes down all settings of the calling thread's namespace, and what they are to be. Nothing is changed yet.
    ///
    /// # Errors
    /// Settings are applied there already, or the journal cannot be kept.
    pub fn begin(site: &Site, machine: &Machine, plan: &Plan) -> Result<Self, TuneError> {
        let links = links::list()?;
        let names: Vec<String> = links.into_iter().map(|link| link.name).collect();
        let wide = Machine::new(machine.root.clone(), machine.facts.clone(), &names)?;
        let planned = plan.changes.iter().map(|planned| Held {
            setting: planned.setting.clone(),
            value: planned.value.clone(),
        });
        let values = read_all(&wide, site.is_host);
        let before = Before::new(site.netns, values, planned.collect())?;
        let Some(journal) = Journal::begin(&site.journal())? else {
            return Err(TuneError::Applied(site.argument()));
        };
        match before.write(&journal) {
            Ok(()) => Ok(Self {
                journal,
                before: before.values,
            }),
            Err(error) => {
                journal.end()?;
                Err(error.into())
            }
        }
    }

    /// Starts the helper that puts settings back when nobody confirms them, and waits until it watches.
    ///
    /// # Errors
    /// It did not start; nothing was changed then, and the journal is ended.
    pub fn guard(self, mut helper: Command) -> Result<Self, TuneError> {
        let lent = self.journal.lend()?;
        helper
            .stdin(Stdio::from(lent))
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let watches = || -> Result<bool, JournalError> {
            let entries = journal::peek::<Change>(self.journal.name())?;
            Ok(runs(&entries).len() > 1)
        };
        let started = helper.spawn().is_ok();
        match started && wait_for(GUARD_LIMIT_NS, STEP_NS, watches)? {
            true => Ok(self),
            false => {
                self.journal.end()?;
                Err(TuneError::NoGuard)
            }
        }
    }

    /// Makes all changes. What the kernel refuses stays as it was. `files` tells which files keep those made across boots:
    /// they are written when the settings are kept.
    ///
    /// # Errors
    /// The journal could not be kept, a file not be written, or the user wishes to stop. Everything is put back then.
    pub fn make(
        mut self,
        plan: &Plan,
        is_kept: bool,
        files: impl FnOnce(&[Planned]) -> Result<Vec<File>, TuneError>,
    ) -> Result<Applied, TuneError> {
        let made = self.try_to_make(plan, files).and_then(|applied| {
            if is_kept {
                keep(&mut self.journal, &applied.files)?;
            }
            Ok(applied)
        });
        if made.is_err() {
            Change::put_back(self.journal).map_err(TuneError::NotRestored)?;
        }
        made
    }

    fn try_to_make(
        &mut self,
        plan: &Plan,
        files: impl FnOnce(&[Planned]) -> Result<Vec<File>, TuneError>,
    ) -> Result<Applied, TuneError> {
        let mut applied = Applied::default();
        // Those too that another change made already: at boot it may not.
        let mut held = Vec::new();
        for planned in &plan.changes {
            if interrupt::requested() {
                return Err(TuneError::Interrupted);
            }
            let changed = self.change(planned)?;
            held.extend(changed.is_ok().then(|| planned.clone()));
            match changed {
                Ok(None) => {}
                Ok(Some(now)) => applied.made.push(Planned {
                    now,
                    ..planned.clone()
                }),
                Err(error) => applied.refused.push(LeftOut {
                    id: planned.id,
                    place: shown(&planned.setting),
                    why: error.to_string(),
                }),
            }
        }
        let mut moved = Vec::new();
        for held in &self.before {
            let mut ours = applied.made.iter().rev();
            let ours = ours.find(|one| one.setting == held.setting);
            let expected = ours.map_or(&held.value, |one| &one.value);
            let Ok(now) = held.setting.read() else {
                continue;
            };
            if !held.setting.is_same(expected, &now) {
                let name = shown(&held.setting);
                applied.moved.push((name, expected.clone(), now.clone()));
                moved.push(Held {
                    setting: held.setting.clone(),
                    value: now,
                });
            }
        }
        applied.files = files(&held)?;
        self.journal.announce(&Change::Applied {
            moved,
            files: applied.files.clone(),
        })?;
        Ok(applied)
    }

    /// One change; the value before, or `None` where another change made it already.
    fn change(&mut self, planned: &Planned) -> Result<Result<Option<String>, Error>, JournalError> {
        let setting = planned.setting.clone();
        let change: SettingChange = match setting.change_to(&*planned.value) {
            Ok(change) => change,
            Err(error) => return Ok(Err(error)),
        };
        if change.setting.is_same(&change.value, &change.before) {
            return Ok(Ok(None));
        }
        let announced = Change::Setting {
            change: change.clone(),
        };
        let made = self.journal.change(&announced, || change.apply())?;
        if made.is_err() {
            // A value that the kernel took and changed. The first error is the one to tell.
            let _restored = change.setting.ensure(&change.before);
        }
        Ok(made.map(|()| Some(change.before)))
    }
}

/// Settings stay from now on, across boots too if there are files for that.
pub(super) fn keep(journal: &mut Journal, files: &[File]) -> Result<(), TuneError> {
    for (file, step) in files.iter().zip(1..) {
        file.write()?;
        fault::kill_if(fault::KILL_AT_FILE, step);
    }
    Ok(journal.mark(&Mark::Kept)?)
}

/// All settings that a change may move, as far as they can be read.
fn read_all(machine: &Machine, is_host: bool) -> Vec<Held> {
    let rows = CATALOGUE.iter().filter(|row| may_change(row, is_host));
    let places = rows.flat_map(|row| places(row, machine).unwrap_or_default());
    // A count changes by itself, and nobody can put it back.
    let is_fixed = |place: &Place| {
        let file = place.file();
        file.is_some_and(|file| machine.is_read_only(&file))
    };
    let places = places.filter(|place| !is_fixed(place));
    let mut settings: Vec<Setting> = places.filter_map(|place| place.setting()).collect();
    let device = |kind, name: &str, interface: &str| Setting {
        kind,
        name: name.to_owned(),
        interface: Some(interface.to_owned()),
    };
    for scope in ["all", "default"] {
        settings.extend(MOVED.map(|name| Setting::sysctl(name.replace('*', scope))));
    }
    for interface in &machine.interfaces {
        settings.extend(MOVED.map(|name| device(Reached::Sysctl, name, interface)));
        let features = ethtool::features(interface).unwrap_or_default();
        let features = features.iter().filter(|feature| feature.changeable);
        settings.extend(features.map(|feature| {
            let name = format!("features/{}", feature.name);
            device(Reached::Ethtool, &name, interface)
        }));
    }
    let mut values: Vec<Held> = Vec::new();
    let mut known = std::collections::HashSet::new();
    for setting in settings {
        if known.insert(setting.clone())
            && let Ok(value) = setting.read()
            // No change starts one.
            && (setting.kind, value.as_str()) != (Reached::Service, "stopped")
        {
            values.push(Held { setting, value });
        }
    }
    values
}

/// Whether all changes of a journal were made and none is being put back.
pub(super) fn is_applied(entries: &[journal::Entry<Change>]) -> bool {
    let mut all = changes(entries);
    matches!(all.by_ref().last(), Some(Change::Applied { .. }))
}
