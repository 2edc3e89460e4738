//! What the active profile of tuned sets: units of tuned.conf(5), by their plugins.

use super::boot_files::options;
use super::link_files::{LinkFiles, feature};
use crate::facts::Root;
use mpps_linux::setting::{Kind, Setting};

/// Folders of profiles.
const FOLDERS: [&str; 4] = [
    "/etc/tuned",
    "/etc/tuned/profiles",
    "/usr/lib/tuned",
    "/usr/lib/tuned/profiles",
];
/// A profile may include another; so deep is looked.
const INCLUDES_MAX: usize = 8;
/// Options that say of which devices or machines a unit is, by what nobody here can tell.
const CONDITIONS: [&str; 3] = ["devices_udev_regex", "uname_regex", "cpuinfo_regex"];
/// Options of the plugin `net` that hold pairs of a name and a value, and the beginnings of the settings' names.
const PAIRS: [(&str, &str); 5] = [
    ("features", "features/"),
    ("coalesce", "coalescing/"),
    ("pause", "pause/"),
    ("ring", "rings/"),
    ("channels", "channels/"),
];
/// Options of the plugin `cpu` that may name several values, and the files with those that this machine has. All CPUs have
/// one driver, so those of the first hold for all.
const CHOICES: [(&str, &str); 2] = [
    (
        "governor",
        "/sys/devices/system/cpu/cpu0/cpufreq/scaling_available_governors",
    ),
    (
        "energy_performance_preference",
        "/sys/devices/system/cpu/cpu0/cpufreq/energy_performance_available_preferences",
    ),
];
/// Options of the plugins `cpu` and `vm`, and the files that they write.
const FILES: [(&str, &str); 6] = [
    (
        "governor",
        "devices/system/cpu/cpu*/cpufreq/scaling_governor",
    ),
    (
        "energy_performance_preference",
        "devices/system/cpu/cpu*/cpufreq/energy_performance_preference",
    ),
    ("no_turbo", "devices/system/cpu/intel_pstate/no_turbo"),
    ("boost", "devices/system/cpu/cpufreq/boost"),
    (
        "transparent_hugepages",
        "kernel/mm/transparent_hugepage/enabled",
    ),
    (
        "transparent_hugepage",
        "kernel/mm/transparent_hugepage/enabled",
    ),
];

/// A unit: a section of one or more files.
struct Unit {
    name: String,
    /// Name, value and file of each, once: the last one of a name holds.
    options: Vec<(String, String, String)>,
}

/// What units set that are no sysctls.
#[derive(Debug, Default)]
pub(super) struct Tuned {
    /// Sysctls, each with its value and file, in their order.
    pub(super) sysctls: Vec<(String, String, String)>,
    /// Patterns of paths below /sys.
    files: Vec<(String, String, String)>,
    services: Vec<(String, String, String)>,
}

impl Tuned {
    /// Those of the active profile. What it sets of links goes to those of other files, because tuned starts after them.
    pub(super) fn read(root: &Root, links: &mut LinkFiles) -> Self {
        let mut units = Vec::new();
        let active = root.text("/etc/tuned/active_profile");
        for profile in active.text().split_whitespace() {
            add_profile(&mut units, root, profile, INCLUDES_MAX);
        }
        let names = root.names("/sys/class/net");
        let names = names.known().cloned().unwrap_or_default();
        let mut all = Self::default();
        for unit in units.iter().filter(|unit| unit.holds()) {
            let of_unit = names.iter().filter(|name| unit.is_of(name));
            let of_unit: Vec<&str> = of_unit.map(String::as_str).collect();
            for (key, value, file) in &unit.options {
                // Its value is computed when tuned starts.
                let value = (!value.contains("${")).then_some(&**value);
                if let Some(value) = value.and_then(|value| chosen(root, key, value)) {
                    all.add(unit.plugin(), (key, value, file), (links, &of_unit));
                }
            }
        }
        all
    }

    fn add(
        &mut self,
        plugin: &str,
        (key, value, file): (&str, &str, &str),
        (links, names): (&mut LinkFiles, &[&str]),
    ) {
        let told = |name: &str, value: &str| (name.to_owned(), value.to_owned(), file.to_owned());
        let mut set = |name: &str, value: &str| {
            for link in names {
                links.set(link, name, value.to_owned(), file);
            }
        };
        let pairs = PAIRS.iter().find(|(option, _)| *option == key);
        match (plugin, key, pairs) {
            ("sysctl", ..) => self.sysctls.push(told(key, value)),
            ("net", "mtu", _) => set("class/net/*/mtu", value),
            ("net", "txqueuelen", _) => set("class/net/*/tx_queue_len", value),
            ("net", "nf_conntrack_hashsize", _) => {
                let name = "net/netfilter/nf_conntrack_buckets";
                self.sysctls.push(told(name, value));
            }
            ("net", _, Some((_, begin))) => {
                let words: Vec<&str> = value.split_whitespace().collect();
                for pair in words.chunks_exact(2) {
                    let name = match *begin {
                        "features/" => feature(pair[0]),
                        _ => pair[0],
                    };
                    set(&format!("{begin}{name}"), pair[1]);
                }
            }
            ("cpu" | "vm", ..) => {
                let file = FILES.iter().find(|(option, _)| *option == key);
                self.files.extend(file.map(|(_, path)| told(path, value)));
            }
            ("sysfs", ..) => {
                let path = key.strip_prefix("/sys/");
                self.files.extend(path.map(|path| told(path, value)));
            }
            ("service", ..) => {
                let state = value.split(',').find_map(|word| match word.trim() {
                    "start" => Some("running"),
                    "stop" => Some("stopped"),
                    _ => None,
                });
                let service = key.strip_prefix("service.").zip(state);
                (self.services).extend(service.map(|(name, state)| told(name, state)));
            }
            _ => {}
        }
    }

    /// What it sets a file or a service to, and where that stands.
    pub(super) fn value(&self, setting: &Setting) -> Option<(&str, &str)> {
        let name = setting.full_name();
        let found = match setting.kind {
            Kind::Sysfs => self
                .files
                .iter()
                .rfind(|(pattern, ..)| fits(pattern, &name)),
            Kind::Service => self.services.iter().rfind(|(service, ..)| *service == name),
            _ => None,
        };
        found.map(|(_, value, file)| (value.as_str(), file.as_str()))
    }
}

impl Unit {
    fn option(&self, name: &str) -> Option<&str> {
        let found = self.options.iter().rfind(|(key, ..)| key == name);
        found.map(|(_, value, _)| value.as_str())
    }

    fn plugin(&self) -> &str {
        self.option("type").unwrap_or(&self.name)
    }

    /// Whether it is in force on this machine, as far as its file tells. Of some CPUs alone it is no setting of all.
    fn holds(&self) -> bool {
        let is_off = |value: &str| ["0", "false", "no", "off"].contains(&value);
        let has_condition = CONDITIONS.iter().any(|name| self.option(name).is_some());
        let names_cpus = self.plugin() == "cpu" && self.option("devices").is_some();
        !has_condition && !names_cpus && !self.option("enabled").is_some_and(is_off)
    }

    /// Whether it is about this interface: of all that have a device, unless it names some.
    fn is_of(&self, interface: &str) -> bool {
        let devices = self.option("devices").unwrap_or("*");
        let words = devices.split([',', ' ']).filter(|word| !word.is_empty());
        let (not, named): (Vec<&str>, Vec<&str>) = words.partition(|word| word.starts_with('!'));
        let is_named = named.is_empty() || named.iter().any(|word| fits(word, interface));
        let is_left_out = not.iter().any(|word| fits(&word[1..], interface));
        interface != "lo" && is_named && !is_left_out
    }
}

/// Of several values the first that the machine has; `None` where it has none of them, or does not tell.
fn chosen<'v>(root: &Root, key: &str, value: &'v str) -> Option<&'v str> {
    let Some((_, file)) = CHOICES.iter().find(|(option, _)| *option == key) else {
        return Some(value);
    };
    let available = root.text(file);
    let has = |value: &&str| (available.text().split_whitespace()).any(|one| one == *value);
    value.split('|').map(str::trim).find(has)
}

/// Adds the units of a profile behind those of the profiles that it includes.
fn add_profile(units: &mut Vec<Unit>, root: &Root, profile: &str, depth: usize) {
    let files = FOLDERS.map(|folder| format!("{folder}/{profile}/tuned.conf"));
    let read = |file: String| Some((root.text(&file).known()?.clone(), file));
    let Some((text, file)) = files.into_iter().find_map(read) else {
        return;
    };
    for (section, key, value) in options(&text) {
        if section == "main" {
            let names = value
                .split([',', ' '])
                .filter(|_| key == "include" && depth > 0);
            names.for_each(|name| add_profile(units, root, name, depth - 1));
            continue;
        }
        if key == "replace" && ["1", "true"].contains(&value) {
            units.retain(|unit| unit.name != section);
        }
        let option = (key.to_owned(), value.to_owned(), file.clone());
        match units.iter_mut().find(|unit| unit.name == section) {
            Some(unit) => {
                unit.options.retain(|(name, ..)| *name != option.0);
                unit.options.push(option);
            }
            None => units.push(Unit {
                name: section.to_owned(),
                options: vec![option],
            }),
        }
    }
}

/// Whether a name is of a pattern in which `*` stands for any letters of a step.
fn fits(pattern: &str, name: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == name,
        Some((begin, rest)) => name.strip_prefix(begin).is_some_and(|name| {
            let ends = name.char_indices().map(|(at, _)| at).chain([name.len()]);
            let mut ends = ends.take_while(|at| !name[..*at].contains('/'));
            ends.any(|at| fits(rest, &name[at..]))
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::tests::planted::Planted;

    const ACTIVE: (&str, &str) = ("/etc/tuned/active_profile", "mine\n");
    const MINE: &str = "/etc/tuned/profiles/mine/tuned.conf";
    const BASE: &str = "/usr/lib/tuned/base/tuned.conf";

    /// What a profile sets beside this one that it includes, on a machine with two governors.
    fn read(name: &str, mine: &str, base: &str) -> (Tuned, LinkFiles) {
        read_beside(name, mine, base, &[(CHOICES[0].1, "schedutil powersave\n")])
    }

    fn read_beside(
        name: &str,
        mine: &str,
        base: &str,
        others: &[(&str, &str)],
    ) -> (Tuned, LinkFiles) {
        let files = [
            ACTIVE,
            (MINE, mine),
            (BASE, base),
            ("/sys/class/net/lo/ifindex", "1\n"),
            ("/sys/class/net/wan/ifindex", "2\n"),
            ("/sys/class/net/lan0/ifindex", "3\n"),
        ];
        let planted = Planted::new(name, &[&files, others].concat());
        let mut links = LinkFiles::default();
        let tuned = Tuned::read(&planted.root(), &mut links);
        (tuned, links)
    }

    fn setting(kind: Kind, name: &str, interface: Option<&str>) -> Setting {
        Setting {
            kind,
            name: name.to_owned(),
            interface: interface.map(str::to_owned),
        }
    }

    fn owned((value, file): (&str, &str)) -> (String, String) {
        (value.to_owned(), file.to_owned())
    }

    #[test]
    fn each_plugin_sets_its_settings() {
        let mine = "[main]\nsummary=x\ninclude=base\n[cpu]\ngovernor=performance|schedutil\n\
                    [vm]\ntransparent_hugepages=never\n[sysfs]\n/sys/class/net/w*/threaded=1\n/proc/x=1\n\
                    [service]\nservice.irqbalance = stop,disable\n[sysctl]\nnet.core.rmem_max=${x}\n";
        let base = "[cpu]\ngovernor=powersave\nno_turbo=1\n[net]\nnf_conntrack_hashsize=1048576\n";
        let (tuned, _) = read("tuned-plugins", mine, base);
        let of = |kind, name, interface| {
            let found = setting(kind, name, interface);
            tuned.value(&found).map(owned)
        };
        let is = |value, file| Some(owned((value, file)));
        let governor = "devices/system/cpu/cpu3/cpufreq/scaling_governor";
        assert_eq!(of(Kind::Sysfs, governor, None), is("schedutil", MINE));
        let turbo = "devices/system/cpu/intel_pstate/no_turbo";
        assert_eq!(of(Kind::Sysfs, turbo, None), is("1", BASE));
        let huge = "kernel/mm/transparent_hugepage/enabled";
        assert_eq!(of(Kind::Sysfs, huge, None), is("never", MINE));
        let threaded = "class/net/*/threaded";
        assert_eq!(of(Kind::Sysfs, threaded, Some("wan")), is("1", MINE));
        assert_eq!(of(Kind::Sysfs, threaded, Some("lan0")), None);
        assert_eq!(of(Kind::Service, "irqbalance", None), is("stopped", MINE));
        assert_eq!(of(Kind::Service, "auditd", None), None);
        // A value that tuned computes is not known here.
        let buckets = "net/netfilter/nf_conntrack_buckets";
        let wanted = [buckets, "1048576", BASE].map(str::to_owned);
        assert_eq!(tuned.sysctls, [wanted.into()]);
    }

    #[test]
    fn of_several_values_the_machine_has_one() {
        let mine = "[cpu]\ngovernor=performance|schedutil\nenergy_performance_preference=balance_power|power\n";
        let of = |name, mine: &str, has: &[(&str, &str)]| {
            let (tuned, _) = read_beside(
                &format!("tuned-{name}"),
                mine,
                "[cpu]\ngovernor=schedutil\n",
                has,
            );
            FILES[..2]
                .iter()
                .map(|(_, path)| {
                    let found = setting(Kind::Sysfs, &path.replace("cpu*", "cpu3"), None);
                    tuned.value(&found).map(|(value, _)| value.to_owned())
                })
                .collect::<Vec<_>>()
        };
        let has = CHOICES.map(|(_, file)| (file, "default schedutil power"));
        let first = ["schedutil", "power"].map(|value| Some(value.to_owned()));
        assert_eq!(of("has", mine, &has), first);
        let others = CHOICES.map(|(_, file)| (file, "powersave default"));
        assert_eq!(of("others", mine, &others), [None, None]);
        assert_eq!(of("unread", mine, &[]), [None, None]);
        let none = "[main]\ninclude=base\n[cpu]\ngovernor=performance\n";
        assert_eq!(
            of("none", none, &has)[0],
            None,
            "not that of a profile included"
        );
        let some = format!("{mine}devices=cpu0,cpu1\n");
        assert_eq!(of("some-cpus", &some, &has), [None, None]);
    }

    #[test]
    fn links_are_set_by_what_names_them() {
        let mine = "[main]\ninclude=base\n[net]\nfeatures=gro on tso off\nring=rx 4096\ncoalesce=rx-usecs 8 adaptive-rx off\n\
                    pause=autoneg off\nchannels=combined 4\nmtu=9000\ntxqueuelen=5000\n\
                    [lans]\ntype=net\ndevices=lan*, !lan1\nmtu=1400\n";
        let (_, links) = read("tuned-links", mine, "[net]\nmtu=1280\n");
        let of = |interface, name| {
            let found = setting(Kind::Ethtool, name, Some(interface));
            links.value(&found).map(|(value, _)| value.to_owned())
        };
        for (name, wanted) in [
            ("features/rx-gro", Some("on")),
            ("features/tx-tcp-segmentation", Some("off")),
            ("rings/rx", Some("4096")),
            ("coalescing/rx-usecs", Some("8")),
            ("coalescing/adaptive-rx", Some("0")),
            ("pause/autoneg", Some("0")),
            ("channels/combined", Some("4")),
            ("class/net/*/mtu", Some("9000")),
            ("class/net/*/tx_queue_len", Some("5000")),
            ("rings/tx", None),
        ] {
            assert_eq!(of("wan", name).as_deref(), wanted, "{name}");
        }
        assert_eq!(of("lan0", "class/net/*/mtu").as_deref(), Some("1400"));
        assert_eq!(of("lo", "class/net/*/mtu"), None);
    }

    #[test]
    fn units_that_do_not_hold_here_set_nothing() {
        for (name, unit) in [
            ("off", "enabled=false\n"),
            ("regex", "devices_udev_regex=ID_BUS=pci\n"),
            ("kernel", "uname_regex=aarch64\n"),
        ] {
            let mine = format!("[net]\nmtu=9000\n{unit}");
            let (_, links) = read(&format!("tuned-{name}"), &mine, "");
            let mtu = setting(Kind::Sysfs, "class/net/*/mtu", Some("wan"));
            assert_eq!(links.value(&mtu), None, "{unit}");
        }
        let mine = "[main]\ninclude=base\n[net]\nreplace=1\nring=rx 64\n";
        let (_, links) = read("tuned-replace", mine, "[net]\nmtu=1280\n");
        let mtu = setting(Kind::Sysfs, "class/net/*/mtu", Some("wan"));
        assert_eq!(links.value(&mtu), None, "a unit replaced");
    }

    #[test]
    fn a_star_stays_within_a_step() {
        for (pattern, name, wanted) in [
            ("a/*/c", "a/b/c", true),
            ("a/b*/c", "a/b12/c", true),
            ("a/*", "a/b/c", false),
            ("a/*/c", "a/c", false),
            ("*", "", true),
            ("w*n", "wan", true),
            ("w*n", "wane", false),
        ] {
            assert_eq!(fits(pattern, name), wanted, "{pattern} {name}");
        }
    }
}
