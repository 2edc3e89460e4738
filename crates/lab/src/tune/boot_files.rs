//! Settings that files of this machine set at boot: sysctl.d(5), the active profile of tuned, profiles of NetworkManager, and
//! those of links.

use super::link_files::LinkFiles;
use super::network_manager::Profiles;
use super::tuned::Tuned;
use crate::facts::Root;
use mpps_linux::setting::{Kind, Setting};
use std::collections::BTreeMap;

/// Folders of sysctl.d, the strongest first: a file hides others of its name.
const FOLDERS: [&str; 4] = ["/etc", "/run", "/usr/local/lib", "/usr/lib"];

/// Settings that files set.
#[derive(Debug, Default)]
pub(super) struct BootFiles {
    /// Each by its path below /proc/sys, with its value and the file that sets it last.
    sysctls: BTreeMap<String, (String, String)>,
    links: LinkFiles,
    tuned: Tuned,
    /// Whether profiles of NetworkManager could not be read.
    pub(super) are_hidden: bool,
}

impl BootFiles {
    /// Those of the machine; nothing where these are not the machine's own settings.
    pub(super) fn read(root: &Root) -> Self {
        let mut all = Self::default();
        if !root.path("/proc/sys/net/core/dev_weight").exists() {
            return all;
        }
        all.links = LinkFiles::read(root);
        // tuned lets sysctl.d have the last word, unless it is told otherwise.
        all.tuned = Tuned::read(root, &mut all.links);
        for (key, value, file) in std::mem::take(&mut all.tuned.sysctls) {
            all.add(&file, &format!("{key}={value}"));
        }
        let mut files: BTreeMap<String, String> = BTreeMap::new();
        for folder in FOLDERS {
            let names = root.names(&format!("{folder}/sysctl.d"));
            for name in names.known().into_iter().flatten() {
                let file = format!("{folder}/sysctl.d/{name}");
                files.entry(name.clone()).or_insert(file);
            }
        }
        files.retain(|name, _| name.ends_with(".conf"));
        for file in files.into_values().chain(["/etc/sysctl.conf".to_owned()]) {
            let text = root.text(&file);
            let lines = text.known().into_iter().flat_map(|text| text.lines());
            lines.for_each(|line| all.add(&file, line));
        }
        // NetworkManager sets an interface whenever it comes up.
        let profiles = Profiles::read(root, &mut all.links);
        for (path, value, file) in profiles.sysctls {
            all.sysctls.insert(path, (value, file));
        }
        all.are_hidden = profiles.are_hidden;
        all
    }

    /// Adds a line such as `-net.ipv4.ip_forward = 1`.
    fn add(&mut self, file: &str, line: &str) {
        let Some((key, value)) = line
            .split_once('=')
            .filter(|_| !line.trim().starts_with(['#', ';']))
        else {
            return;
        };
        let key = key.trim().trim_start_matches('-');
        let swapped = |letter| match letter {
            '.' => '/',
            '/' => '.',
            other => other,
        };
        // Where the first step ends with a slash, dots belong to names.
        let path = match key.find(['/', '.']).map(|at| key[at..].starts_with('/')) {
            Some(true) => key.to_owned(),
            _ => key.chars().map(swapped).collect(),
        };
        self.sysctls
            .insert(path, (value.trim().to_owned(), file.to_owned()));
    }

    /// What a setting gets at boot, and from which file. A name counts more than a pattern.
    pub(super) fn value(&self, setting: &Setting) -> Option<(&str, &str)> {
        if setting.kind != Kind::Sysctl {
            let of_tuned = self.tuned.value(setting);
            return of_tuned.or_else(|| self.links.value(setting));
        }
        let name = setting.full_name();
        let fits = |pattern: &str| {
            let steps = pattern.split('/').zip(name.split('/'));
            let is_as_deep = pattern.split('/').count() == name.split('/').count();
            is_as_deep
                && steps
                    .into_iter()
                    .all(|(one, other)| one == "*" || one == other)
        };
        let of_pattern = || Some(self.sysctls.iter().rfind(|(key, _)| fits(key))?.1);
        let (value, file) = self.sysctls.get(&name).or_else(of_pattern)?;
        Some((value, file))
    }
}

/// Section, name and value of each option of a file with sections. Comments are no options.
pub(super) fn options(text: &str) -> impl Iterator<Item = (&str, &str, &str)> {
    let mut section = "";
    text.lines().map(str::trim).filter_map(move |line| {
        if let Some(name) = line.strip_prefix('[') {
            section = name.trim_end_matches(']').trim();
            return None;
        }
        let (key, value) = line
            .split_once('=')
            .filter(|_| !line.starts_with(['#', ';']))?;
        Some((section, key.trim(), value.trim()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::tests::planted::Planted;

    fn read(name: &str, files: &[(&str, &str)]) -> BootFiles {
        let planted = Planted::new(name, files);
        BootFiles::read(&planted.root())
    }

    const HOST: (&str, &str) = ("/proc/sys/net/core/dev_weight", "64\n");

    #[test]
    fn the_last_file_wins_and_the_strongest_folder() {
        let files = read(
            "boot-files",
            &[
                HOST,
                (
                    "/usr/lib/sysctl.d/50-a.conf",
                    "net.ipv4.ip_forward = 0\nvm.swappiness=1\n",
                ),
                ("/etc/sysctl.d/50-a.conf", "# none\n; none\n"),
                (
                    "/etc/sysctl.d/20-b.conf",
                    "net.ipv4.ip_forward=0\nnet.ipv4.conf.*.rp_filter = 2\n",
                ),
                (
                    "/run/sysctl.d/99-c.conf",
                    "-net/ipv4/conf/eth0.7/rp_filter = 1\n",
                ),
                ("/etc/sysctl.d/99-d.conf~", "net.ipv4.ip_forward=7\n"),
                ("/etc/sysctl.conf", "net.ipv4.ip_forward\t=  1 \n"),
                ("/etc/tuned/active_profile", "mine\n"),
                (
                    "/etc/tuned/mine/tuned.conf",
                    "[main]\ninclude=throughput\n[sysctl]\nnet.ipv4.ip_forward=3\n",
                ),
                (
                    "/usr/lib/tuned/throughput/tuned.conf",
                    "[sysctl]\nvm.swappiness=10\n[vm]\nkernel.x=5\n",
                ),
            ],
        );
        let value = |name: &str| files.value(&Setting::sysctl(name));
        assert_eq!(
            value("net/ipv4/ip_forward"),
            Some(("1", "/etc/sysctl.conf"))
        );
        let throughput = "/usr/lib/tuned/throughput/tuned.conf";
        assert_eq!(value("vm/swappiness"), Some(("10", throughput)));
        assert_eq!(value("kernel/x"), None);
        let rp_filter = |interface: &str| {
            let interface = Some(interface.to_owned());
            let one = Setting {
                interface,
                ..Setting::sysctl("net/ipv4/conf/*/rp_filter")
            };
            files.value(&one).map(|(value, _)| value.to_owned())
        };
        assert_eq!(rp_filter("eth0.7").as_deref(), Some("1"));
        assert_eq!(rp_filter("eth1").as_deref(), Some("2"));
        let mtu = Setting {
            kind: Kind::Sysfs,
            ..Setting::sysctl("net/ipv4/ip_forward")
        };
        assert_eq!(files.value(&mtu), None);
    }

    #[test]
    fn a_profile_that_includes_itself_ends() {
        let own = "[main]\ninclude=a, b\n[sysctl]\nvm.swappiness = 4\n";
        let files = [
            HOST,
            ("/etc/tuned/active_profile", "a"),
            ("/etc/tuned/a/tuned.conf", own),
        ];
        let value = |files: &[(&str, &str)]| {
            let files = read("boot-loop", files);
            files.value(&Setting::sysctl("vm/swappiness")).is_some()
        };
        assert!(value(&files));
        // In a namespace none of these files sets anything.
        assert!(!value(&files[1..]));
    }
}
