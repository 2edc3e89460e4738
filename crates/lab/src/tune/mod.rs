//! Settings of this machine beside the advice of the catalogue. It reads and changes nothing.
//!
//! Where a setting lives is [`Place`], and [`Place::setting`] is what a change of it would be written by.

mod place;
pub mod toggle;

pub use place::Place;

use place::places;

use crate::facts::{self, Root, config, nic};
use mpps_linux::ethtool::{self, Feature};
use mpps_linux::netns::{self, NetNs};
use mpps_linux::setting;
use mpps_method::tune::{CATALOGUE, Kind, Profile, Row, in_order};
use mpps_record::facts::{Configuration, Facts, Reading};
use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::fs::PermissionsExt;

/// Longest name of a process that the kernel keeps.
const PROCESS_NAME_MAX: usize = 15;

/// This machine's settings beside the advice for one profile.
#[derive(Debug)]
pub struct Survey {
    /// Whom the advice is for.
    pub profile: Profile,
    /// Interfaces that were looked at.
    pub interfaces: Vec<String>,
    /// Facts of the machine, for the head of a page.
    pub facts: Facts,
    /// Every setting of the catalogue, in the order in which settings are applied.
    pub standings: Vec<Standing>,
}

/// Reads them, of these interfaces; with none given, of those that have a device behind them.
///
/// # Errors
/// One of the interfaces is not there.
pub fn survey(profile: Profile, interfaces: &[String]) -> Result<Survey, NoInterface> {
    let read = |root: Root| {
        Machine::new(root, facts::gather(), interfaces).map(|machine| machine.survey(profile))
    };
    // The sysfs of /sys shows the interfaces of the namespace that it was mounted in. Only root can make another one.
    let netns = netns::own_inode().and_then(NetNs::find).ok().flatten();
    let shown = netns.map(|netns| netns.with_sysfs(|sys| read(Root::with_sysfs(sys))));
    match shown {
        Some(Ok(survey)) => survey,
        _ => read(Root::here()),
    }
}

/// What is read once for all settings.
#[derive(Debug)]
struct Machine {
    root: Root,
    interfaces: Vec<String>,
    facts: Facts,
    drivers: BTreeMap<String, String>,
    features: BTreeMap<String, Vec<Feature>>,
    boot_words: Reading<Vec<String>>,
    configuration: Reading<Configuration>,
    processes: BTreeSet<String>,
}

/// An interface that is not in this network namespace.
#[derive(Debug, thiserror::Error)]
#[error("no interface {name} in this network namespace (give one of: {})", known.join(", "))]
pub struct NoInterface {
    name: String,
    known: Vec<String>,
}

/// One place as it stands.
#[derive(Clone, Debug)]
pub struct Seen {
    /// Where.
    pub place: Place,
    /// What it holds, or why that is not known.
    pub now: Reading<String>,
    /// Why it cannot be changed here, where it cannot.
    pub fixed: Option<&'static str>,
    /// What it should hold; `None` where only words say it.
    pub advised: Option<&'static str>,
    /// Whether it holds that.
    pub is_met: Option<bool>,
}

/// How a setting stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum State {
    /// Every place holds what is advised.
    AsAdvised,
    /// Some place holds something else.
    Differs,
    /// Some place holds something else and cannot be changed here.
    Fixed(&'static str),
    /// The advice is in words.
    InWords,
    /// mpps does not read it.
    Unread,
    /// There is no advice for this profile.
    NoAdvice,
    /// It is not on this machine.
    NotHere(String),
}

impl State {
    /// Its name in JSON.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::AsAdvised => "as_advised",
            Self::Differs => "differs",
            Self::Fixed(_) => "cannot_be_changed",
            Self::InWords => "in_words",
            Self::Unread => "not_read",
            Self::NoAdvice => "no_advice",
            Self::NotHere(_) => "not_here",
        }
    }
}

/// A setting of the catalogue on this machine.
#[derive(Clone, Debug)]
pub struct Standing {
    /// Its row.
    pub row: &'static Row,
    /// Its places; empty where it has none here.
    pub seen: Vec<Seen>,
    /// What they come to.
    pub state: State,
}

impl Machine {
    fn new(root: Root, facts: Facts, interfaces: &[String]) -> Result<Self, NoInterface> {
        let known = root.names("/sys/class/net");
        let known = known.known().cloned().unwrap_or_default();
        if let Some(name) = interfaces.iter().find(|name| !known.contains(name)) {
            let name = name.clone();
            return Err(NoInterface { name, known });
        }
        let interfaces = match interfaces {
            [] => nic::names(&root).known().cloned().unwrap_or_default(),
            some => some.to_vec(),
        };
        let of_each = |name: &String| Some((name.clone(), ethtool::driver(name).ok()?.name));
        let features = |name: &String| Some((name.clone(), ethtool::features(name).ok()?));
        let options: Vec<&str> = CATALOGUE
            .iter()
            .flat_map(|row| &row.places)
            .filter_map(|place| place.text.strip_prefix("CONFIG_"))
            .collect();
        let release = facts.kernel_release.text().to_owned();
        let command_line = root.text("/proc/cmdline");
        Ok(Self {
            drivers: interfaces.iter().filter_map(of_each).collect(),
            features: interfaces.iter().filter_map(features).collect(),
            boot_words: command_line
                .map(|line| line.split_whitespace().map(str::to_owned).collect()),
            configuration: config::read_options(&root, &release, &options),
            processes: processes(&root),
            interfaces,
            facts,
            root,
        })
    }

    fn has_driver(&self, interface: &str, drivers: &[&str]) -> bool {
        let driver = self.drivers.get(interface);
        driver.is_some_and(|driver| drivers.contains(&driver.as_str()))
    }

    fn survey(self, profile: Profile) -> Survey {
        let rows = in_order().into_iter();
        Survey {
            standings: rows.map(|row| self.standing(row, profile)).collect(),
            profile,
            interfaces: self.interfaces,
            facts: self.facts,
        }
    }

    fn standing(&self, row: &'static Row, profile: Profile) -> Standing {
        let advice = row.advice(profile);
        let (seen, state) = match places(row, self) {
            Err(why) => (Vec::new(), State::NotHere(why)),
            Ok(places) => {
                let see = |place: Place| {
                    let number = if advice.values.len() == 1 {
                        0
                    } else {
                        place.template
                    };
                    self.see(place, advice.values.get(number).copied())
                };
                let seen: Vec<Seen> = places.into_iter().map(see).collect();
                let state = state(&seen);
                (seen, state)
            }
        };
        // What nobody advises is not missed either.
        let state = match advice.words {
            Some(_) => state,
            None => State::NoAdvice,
        };
        Standing { row, seen, state }
    }

    fn see(&self, place: Place, advised: Option<&'static str>) -> Seen {
        let (now, fixed) = self.look(&place);
        let is_met = now
            .known()
            .zip(advised)
            .map(|(now, advised)| is_met(&place, advised, now));
        Seen {
            place,
            now,
            fixed,
            advised,
            is_met,
        }
    }

    /// What a place holds, and why it cannot be changed where it cannot.
    fn look(&self, place: &Place) -> (Reading<String>, Option<&'static str>) {
        let name = place.name();
        if let Some(file) = place.file() {
            return self.look_at_file(place, &file);
        }
        match place.kind {
            Kind::Boot => (
                self.boot_words
                    .clone()
                    .map(|words| boot_word(&words, &name)),
                None,
            ),
            Kind::Config => {
                let option = name.trim_start_matches("CONFIG_");
                let value = |known: Configuration| match known.options.get(option) {
                    Some(value) if value != "-" => value.clone(),
                    _ => "absent".to_owned(),
                };
                (self.configuration.clone().map(value), None)
            }
            Kind::Service => {
                let kept: String = name.chars().take(PROCESS_NAME_MAX).collect();
                let runs = self.processes.contains(&kept);
                let now = if runs { "running" } else { "stopped" };
                (Reading::Known(now.to_owned()), None)
            }
            Kind::Ethtool => self.look_at_parameter(place, &name),
            _ => (Reading::unreadable(format!("`{name}` shows it")), None),
        }
    }

    fn look_at_file(&self, place: &Place, file: &str) -> (Reading<String>, Option<&'static str>) {
        let value = self.root.text(file).map(|text| match place.kind {
            Kind::Sysfs => chosen(&text).to_owned(),
            _ => text.split_whitespace().collect::<Vec<_>>().join(" "),
        });
        let now = match value {
            Reading::Known(text) if text.starts_with("not") => {
                Reading::unreadable(format!("the machine has none ({text})"))
            }
            Reading::Unreadable { unreadable } => {
                let why = unreadable.strip_prefix(&format!("{file}: "));
                Reading::unreadable(match why.unwrap_or(&unreadable) {
                    "not there" => self.why_missing(file),
                    other => other.to_owned(),
                })
            }
            known @ Reading::Known(_) => known,
        };
        let mode = self
            .root
            .path(file)
            .metadata()
            .map(|file| file.permissions().mode());
        let is_fixed = mode.is_ok_and(|mode| mode & 0o222 == 0);
        (now, is_fixed.then_some("read-only here"))
    }

    fn look_at_parameter(
        &self,
        place: &Place,
        name: &str,
    ) -> (Reading<String>, Option<&'static str>) {
        let interface = place.interface.as_deref().unwrap_or_default();
        if let Some(feature) = name.strip_prefix("features/") {
            let known = self.features.get(interface).map_or(&[][..], Vec::as_slice);
            let found = known.iter().find(|known| known.name == feature);
            let Some(found) = found else {
                return (Reading::unreadable("no such interface feature"), None);
            };
            let now = if found.on { "on" } else { "off" };
            let fixed = (!found.changeable).then_some("the interface cannot change it");
            return (Reading::Known(now.to_owned()), fixed);
        }
        let value = ethtool::parameter(interface, name);
        let value = value.map_err(|error| match error.errno() {
            Some(_) => error.to_string(),
            None => error.cause.to_string(),
        });
        (value.into(), None)
    }

    /// Why there is no such file, as far as its place tells.
    fn why_missing(&self, file: &str) -> String {
        const REASONS: [(&str, &str); 6] = [
            (
                "/proc/sys/net/netfilter/",
                "connection tracking is not loaded",
            ),
            ("/proc/sys/net/bridge/", "br_netfilter is not loaded"),
            (
                "/sys/devices/system/cpu/",
                "no frequencies or idle states to choose",
            ),
            ("/sys/module/", "the module is not loaded"),
            ("/sys/fs/selinux/", "no SELinux"),
            ("/sys/class/net/", "the interface has no such file"),
        ];
        let reason = REASONS.iter().find(|(start, _)| file.starts_with(start));
        let is_guest = self.facts.hypervisor.known() == Some(&true);
        match reason {
            Some((start, why)) if start.contains("cpu") && is_guest => {
                format!("{why} (a virtual machine)")
            }
            Some((_, why)) => (*why).to_owned(),
            None if file.starts_with("/proc/sys/net/") && self.is_below_the_host() => {
                "the host's, not in this network namespace".to_owned()
            }
            None => "this kernel has no such file".to_owned(),
        }
    }

    /// Settings of the whole host's network show only in its own namespace.
    fn is_below_the_host(&self) -> bool {
        !self.root.path("/proc/sys/net/core/dev_weight").exists()
    }
}

/// Names of all processes.
fn processes(root: &Root) -> BTreeSet<String> {
    let numbers = root.numbered("/proc", "").known().cloned();
    let name = |number: usize| root.text(&format!("/proc/{number}/comm")).known().cloned();
    numbers
        .unwrap_or_default()
        .into_iter()
        .filter_map(name)
        .collect()
}

/// The last of the words `NAME` or `NAME=VALUE`.
fn boot_word(words: &[String], name: &str) -> String {
    let value = |word: &String| {
        let rest = word.strip_prefix(name)?;
        match rest.strip_prefix('=') {
            Some(value) => Some(value.to_owned()),
            None => rest.is_empty().then(|| "given".to_owned()),
        }
    };
    let found = words.iter().rev().find_map(value);
    found.unwrap_or_else(|| "absent".to_owned())
}

/// The choice among several words; the scheduler's file has it in parentheses.
fn chosen(text: &str) -> &str {
    let inside = text
        .split_once('(')
        .and_then(|(_, rest)| rest.split_once(')'));
    match inside {
        Some((word, _)) if text.contains(' ') => word,
        _ => setting::selected(text),
    }
}

/// Whether a place holds what is advised.
fn is_met(place: &Place, advised: &str, now: &str) -> bool {
    if let Some(least) = advised.strip_prefix(">=") {
        let number = |text: &str| text.trim().parse::<u64>().ok();
        return number(now)
            .zip(number(least))
            .is_some_and(|(now, least)| now >= least);
    }
    match place.setting() {
        Some(setting) => setting.is_same(advised, now),
        // An option that a kernel does not know is not set in it.
        None => advised == now || (advised, now) == ("n", "absent"),
    }
}

fn state(seen: &[Seen]) -> State {
    if seen.iter().all(|one| one.place.kind == Kind::Command) {
        return State::Unread;
    }
    if seen.iter().all(|one| one.now.known().is_none()) {
        let why = seen.iter().find_map(|one| one.now.why());
        return State::NotHere(why.unwrap_or_default().to_owned());
    }
    if seen.iter().all(|one| one.advised.is_none()) {
        return State::InWords;
    }
    let unmet: Vec<&Seen> = seen
        .iter()
        .filter(|one| one.is_met == Some(false))
        .collect();
    match unmet.as_slice() {
        [] => State::AsAdvised,
        some if some.iter().all(|one| one.fixed.is_some()) => {
            State::Fixed(some.iter().find_map(|one| one.fixed).unwrap_or_default())
        }
        _ => State::Differs,
    }
}

#[cfg(test)]
mod tests;
