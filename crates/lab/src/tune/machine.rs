//! This machine, read once, and what each place of a setting holds.

use super::boot_files::BootFiles;
use super::layout::Layout;
use super::objects::Objects;
use super::place::Place;
use super::{NoInterface, Seen, Standing, standing};
use crate::facts::{Root, config, nic};
use mpps_linux::ethtool::{self, Feature};
use mpps_linux::routes::{self, Family, Filter};
use mpps_linux::{links, setting};
use mpps_method::tune::{CATALOGUE, Kind, Profile, Row, in_order};
use mpps_record::facts::{Configuration, Facts, Reading};
use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::fs::PermissionsExt;

/// Where debugfs is mounted.
const DEBUGFS: &str = "/sys/kernel/debug/";
/// There where systemd runs.
const SYSTEMD: &str = "/run/systemd/system";
/// Where control groups are, of version 2 and of version 1.
const CONTROL_GROUPS: [&str; 2] = ["/sys/fs/cgroup", "/sys/fs/cgroup/systemd"];
/// Advice for the key of RSS; two octets in turn, as many as the device's key has.
const SYMMETRIC: (&str, &str) = ("symmetric", "6d:5a:");
/// Protocol of routes that a router announced (`RTPROT_RA`).
const ANNOUNCED: u8 = 9;
/// Longest name of a process that the kernel keeps.
const PROCESS_NAME_MAX: usize = 15;

/// What is read once for all settings.
#[derive(Debug)]
pub struct Machine {
    pub(super) root: Root,
    /// Interfaces that are looked at.
    pub interfaces: Vec<String>,
    /// Facts of the machine, for the head of a page.
    pub facts: Facts,
    drivers: BTreeMap<String, String>,
    features: BTreeMap<String, Vec<Feature>>,
    boot_words: Reading<Vec<String>>,
    configuration: Reading<Configuration>,
    processes: BTreeSet<String>,
    /// Where queues of the interfaces should go.
    pub layout: Layout,
    boot_files: BootFiles,
    objects: Objects,
}

impl Machine {
    pub(super) fn new(
        root: Root,
        facts: Facts,
        interfaces: &[String],
    ) -> Result<Self, NoInterface> {
        let known = root.names("/sys/class/net");
        let known = known.known().cloned().unwrap_or_default();
        if let Some(name) = interfaces.iter().find(|name| !known.contains(name)) {
            let name = name.clone();
            return Err(NoInterface::Unknown { name, known });
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
        let mut machine = Self {
            drivers: interfaces.iter().filter_map(of_each).collect(),
            features: interfaces.iter().filter_map(features).collect(),
            boot_words: command_line
                .map(|line| line.split_whitespace().map(str::to_owned).collect()),
            configuration: config::read_options(&root, &release, &options),
            processes: processes(&root),
            boot_files: BootFiles::read(&root),
            objects: Objects::read(),
            layout: Layout::default(),
            interfaces,
            facts,
            root,
        };
        machine.layout = Layout::read(&machine);
        Ok(machine)
    }

    /// Every setting of the catalogue, in the order in which settings are applied.
    #[must_use]
    pub fn standings(&self, profile: Profile) -> Vec<Standing> {
        let rows = in_order().into_iter();
        rows.map(|row| standing(row, self, profile)).collect()
    }

    /// Whether some profile of NetworkManager could not be read.
    pub(super) fn hides_profiles(&self) -> bool {
        self.boot_files.are_hidden
    }

    /// Whether one of these drives the interface.
    pub(super) fn has_driver(&self, interface: &str, drivers: &[&str]) -> bool {
        let driver = self.drivers.get(interface);
        driver.is_some_and(|driver| drivers.contains(&driver.as_str()))
    }

    /// A place as it stands, beside what is advised for it.
    pub(super) fn see(&self, place: Place, row: &Row, profile: Profile) -> Seen {
        let advice = row.advice(profile);
        let of_place = |values: &[&'static str]| match values {
            [one] => Some(*one),
            some => some.get(place.template).copied(),
        };
        let setting = place.setting();
        let laid_out = setting
            .as_ref()
            .filter(|_| profile == Profile::Router && advice.values.is_empty())
            .and_then(|setting| self.layout.value(setting));
        let (now, fixed) = self.look(&place);
        let here = |value: &str| match (value, now.known()) {
            (value, Some(now)) if value == SYMMETRIC.0 => {
                SYMMETRIC.1.chars().cycle().take(now.len()).collect()
            }
            (value, _) => value.to_owned(),
        };
        // Which of them a network needs, only a person can say.
        let is_object = place.kind == Kind::Object;
        let advised = of_place(&advice.values).or(laid_out).map(here);
        let advised = advised.filter(|_| !is_object);
        let accepted = of_place(&advice.accepted).or(laid_out).map(here);
        self.beside(place, (now, fixed), advised, accepted.as_deref())
    }

    fn beside(
        &self,
        place: Place,
        (now, fixed): (Reading<String>, Option<&'static str>),
        advised: Option<String>,
        accepted: Option<&str>,
    ) -> Seen {
        // A count of 0 is of now: rules that count may wait for the first frame.
        let is_idle = |now: &str, accepted: &str| (now, accepted) == ("0", "none");
        let is_met = (now.known().zip(accepted))
            .filter(|(now, accepted)| !is_idle(now, accepted))
            .map(|(now, accepted)| is_met(&place, accepted, now));
        let at_boot = place.setting().and_then(|setting| {
            let (value, file) = self.boot_files.value(&setting)?;
            let is_other = accepted.is_some_and(|accepted| !self::is_met(&place, accepted, value));
            is_other.then(|| (file.to_owned(), value.to_owned()))
        });
        Seen {
            place,
            now,
            fixed,
            advised,
            is_met,
            at_boot,
        }
    }

    /// What has to be changed before a row's own places. Where IPv6 forwarding begins, the kernel drops default routes that
    /// a router announced (`rt6_purge_dflt_routers`), unless `accept_ra` of their interface is 2.
    pub(super) fn before(&self, row: &Row, profile: Profile) -> Vec<Seen> {
        if (row.id, profile) != ("ip6_forwarding", Profile::Router) {
            return Vec::new();
        }
        let see = |interface: String| {
            let place = Place {
                kind: Kind::Sysctl,
                template: row.places.len(),
                interface: Some(interface),
                text: "net.ipv6.conf.{if}.accept_ra".to_owned(),
            };
            let (now, fixed) = self.look(&place);
            // With 0 another program adds these routes, and the kernel keeps them.
            let is_heard = now.known().is_some_and(|now| now != "0");
            let kept = "2";
            is_heard.then(|| self.beside(place, (now, fixed), Some(kept.to_owned()), Some(kept)))
        };
        announced().into_iter().filter_map(see).collect()
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
                let now = if self.runs(&name) {
                    "running"
                } else {
                    "stopped"
                };
                let fixed =
                    (!self.is_managed()).then_some("by hand, because systemd does not run here");
                (Reading::Known(now.to_owned()), fixed)
            }
            Kind::Ethtool => self.look_at_parameter(place, &name),
            Kind::Object => (self.objects.value(place, &self.root), None),
            _ => (Reading::unreadable(format!("`{name}` shows it")), None),
        }
    }

    fn is_managed(&self) -> bool {
        self.root.path(SYSTEMD).exists()
    }

    /// Whether a service runs: as long as it has a process, systemd keeps a control group for it. A unit that systemd calls
    /// active without a process takes no CPU, so there is nothing to stop. Without systemd, a process of its name tells.
    pub(super) fn runs(&self, service: &str) -> bool {
        if self.is_managed() {
            let is_there = |folder: &&str| {
                let group = format!("{folder}/system.slice/{service}.service");
                self.root.path(&group).exists()
            };
            return CONTROL_GROUPS.iter().any(is_there);
        }
        // The process of rsyslog.service is rsyslogd.
        let names = [service.to_owned(), format!("{service}d")];
        let kept = names.map(|name| name.chars().take(PROCESS_NAME_MAX).collect::<String>());
        kept.iter().any(|name| self.processes.contains(name))
    }

    fn look_at_file(&self, place: &Place, file: &str) -> (Reading<String>, Option<&'static str>) {
        let value = self.root.text(file).map(|text| match place.kind {
            Kind::Sysfs => setting::selected(&text).to_owned(),
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
        (now, self.is_read_only(file).then_some("read-only here"))
    }

    /// Whether nobody may write this file.
    pub(super) fn is_read_only(&self, file: &str) -> bool {
        let about = self.root.path(file).metadata();
        about.is_ok_and(|about| about.permissions().mode() & 0o222 == 0)
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
        // Both halves of what is hashed are alike then, and such a key takes one from the other.
        let is_exchanged = || ethtool::parameter(interface, "rss/symxor").as_deref() == Ok("on");
        let fixed = (name == "rss/key" && is_exchanged())
            .then_some("with rss_symxor on, all flows would have one hash");
        (value.into(), fixed)
    }

    /// Why there is no such file, as far as its place tells.
    fn why_missing(&self, file: &str) -> String {
        const REASONS: [(&str, &str); 7] = [
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
            (
                DEBUGFS,
                "debugfs is not mounted (mount -t debugfs none /sys/kernel/debug)",
            ),
            ("/sys/class/net/", "the interface has no such file"),
        ];
        // Where debugfs is mounted, the kernel lacks the file.
        let is_mounted = |folder| {
            self.root
                .names(folder)
                .known()
                .is_some_and(|all| !all.is_empty())
        };
        let reason = REASONS.iter().find(|(start, _)| file.starts_with(start));
        let reason = reason.filter(|(start, _)| *start != DEBUGFS || !is_mounted(DEBUGFS));
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

/// Interfaces of the calling thread's namespace with a default route that a router announced.
fn announced() -> Vec<String> {
    let filter = Filter {
        protocol: Some(ANNOUNCED),
        ..Filter::default()
    };
    let mut found = BTreeSet::new();
    let add = |route: &routes::Route| {
        let is_default = route.prefix.prefix_len() == 0;
        found.extend(route.interface.filter(|_| is_default));
    };
    // A table that changes all the time was gone through several times by then, and one without IPv6 has none.
    let _tried = routes::dump(Family::V6, &filter, || {}, add);
    let links = links::list().unwrap_or_default().into_iter();
    let links = links.filter(|link| found.contains(&link.index));
    links.map(|link| link.name).collect()
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
pub(super) fn boot_word(words: &[String], name: &str) -> String {
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

/// Whether a place holds what is advised: one of several values, or a number of a range.
pub(super) fn is_met(place: &Place, advised: &str, now: &str) -> bool {
    advised.split('|').any(|one| holds(place, one, now))
}

fn holds(place: &Place, advised: &str, now: &str) -> bool {
    let number = |text: &str| text.trim().parse::<u64>().ok();
    let ends = match (advised.strip_prefix(">="), advised.split_once("..")) {
        (Some(least), _) => Some((number(least), Some(u64::MAX))),
        (None, Some((least, most))) => Some((number(least), number(most))),
        (None, None) => None,
    };
    if let Some(ends) = ends {
        return matches!((ends, number(now)), ((Some(least), Some(most)), Some(now)) if (least..=most).contains(&now));
    }
    match place.setting() {
        Some(setting) => setting.is_same(advised, now),
        // An option that a kernel does not know is not set in it. What is off has no object.
        None => advised == now || [("n", "absent"), ("off", "none")].contains(&(advised, now)),
    }
}
