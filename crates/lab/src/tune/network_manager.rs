//! What NetworkManager sets when an interface comes up: its profiles, as nm-settings-keyfile(5) has them.

use super::boot_files::options;
use super::link_files::{LinkFiles, feature};
use crate::facts::Root;
use std::collections::BTreeSet;

/// End of the names of its profiles (keyfiles), which set an interface whenever it comes up.
pub const KEYFILE_END: &str = ".nmconnection";
/// There as soon as it was started.
const RUNS: &str = "/run/NetworkManager";
/// Folders of profiles, the strongest first: of two with one UUID the first counts.
const FOLDERS: [&str; 3] = ["/run", "/etc", "/usr/lib"];
/// Beginnings of the names in the section `ethtool`, and of the settings' names.
const ETHTOOL: [(&str, &str); 5] = [
    ("feature-", "features/"),
    ("coalesce-", "coalescing/"),
    ("ring-", "rings/"),
    ("pause-", "pause/"),
    ("channels-", "channels/"),
];

/// An interface and the profile that it has now.
struct Device {
    name: String,
    uuid: Option<String>,
    is_managed: bool,
}

/// What profiles set beside links.
#[derive(Debug, Default)]
pub(super) struct Profiles {
    /// Sysctls, each with its value and file.
    pub(super) sysctls: Vec<(String, String, String)>,
    /// Whether some profile could not be read.
    pub(super) are_hidden: bool,
}

impl Profiles {
    /// Those of a machine on which it runs. What they set of links goes to `links`.
    pub(super) fn read(root: &Root, links: &mut LinkFiles) -> Self {
        let mut all = Self::default();
        if !root.path(RUNS).exists() {
            return all;
        }
        let names = root.names("/sys/class/net");
        let names = names.known().into_iter().flatten();
        let devices: Vec<Device> = names.map(|name| Device::read(root, name)).collect();
        let mut seen = BTreeSet::new();
        for folder in FOLDERS {
            let folder = format!("{folder}/NetworkManager/system-connections");
            let names = root.names(&folder);
            let hides = |why: &str| !why.ends_with("not there");
            all.are_hidden |= names.why().is_some_and(hides);
            let mut names = names.known().cloned().unwrap_or_default();
            names.retain(|name| name.ends_with(KEYFILE_END));
            for file in names.iter().map(|name| format!("{folder}/{name}")) {
                let text = root.text(&file);
                all.are_hidden |= text.known().is_none();
                let profile: Vec<_> = options(text.known().map_or("", String::as_str)).collect();
                if of_connection(&profile, "uuid").is_some_and(|uuid| !seen.insert(uuid.to_owned()))
                {
                    continue;
                }
                for device in devices.iter().filter(|device| device.has(&profile)) {
                    all.add(&device.name, &profile, &file, links);
                }
            }
        }
        all
    }

    fn add(
        &mut self,
        link: &str,
        profile: &[(&str, &str, &str)],
        file: &str,
        links: &mut LinkFiles,
    ) {
        let mut sysctl = |name: String, value: &str| {
            let told = (name, value.to_owned(), file.to_owned());
            self.sysctls.push(told);
        };
        for &(section, key, value) in profile {
            let name = match (section, key) {
                ("ethtool", "eee-enabled") => Some("eee/eee".to_owned()),
                ("ethtool", key) => of_ethtool(key),
                // 0 leaves it to the driver.
                ("ethernet" | "802-3-ethernet", "mtu") if value != "0" => {
                    Some("class/net/*/mtu".to_owned())
                }
                ("link", "tx-queue-length") => Some("class/net/*/tx_queue_len".to_owned()),
                // Other numbers leave it as it is.
                ("ipv4", "forwarding") if ["0", "1"].contains(&value) => {
                    sysctl(format!("net/ipv4/conf/{link}/forwarding"), value);
                    None
                }
                // It hears announcements of routers itself.
                ("ipv6", "method") if !["ignore", "disabled"].contains(&value) => {
                    sysctl(format!("net/ipv6/conf/{link}/accept_ra"), "0");
                    None
                }
                _ => None,
            };
            if let Some(name) = name {
                links.set(link, &name, value.to_owned(), file);
            }
        }
    }
}

/// `feature-gro` is `features/rx-gro`.
fn of_ethtool(key: &str) -> Option<String> {
    let mut beginnings = ETHTOOL.iter();
    let (rest, begin) = beginnings.find_map(|(of, begin)| Some((key.strip_prefix(of)?, begin)))?;
    let is_feature = *begin == "features/";
    Some(format!(
        "{begin}{}",
        if is_feature { feature(rest) } else { rest }
    ))
}

impl Device {
    /// What it says of an interface.
    fn read(root: &Root, name: &str) -> Self {
        let index = root.text(&format!("/sys/class/net/{name}/ifindex"));
        let state = root.text(&format!("{RUNS}/devices/{}", index.text()));
        let state = state.known().map_or("", String::as_str);
        let option = |wanted: &str| {
            let mut all = options(state);
            all.find_map(|(_, key, value)| (key == wanted).then(|| value.to_owned()))
        };
        Self {
            name: name.to_owned(),
            uuid: option("connection-uuid"),
            is_managed: !option("managed").is_some_and(|value| is_off(&value)),
        }
    }

    /// Whether it has this profile, or gets it because of its name.
    fn has(&self, profile: &[(&str, &str, &str)]) -> bool {
        let option = |wanted: &str| of_connection(profile, wanted);
        match &self.uuid {
            Some(uuid) => self.is_managed && option("uuid") == Some(uuid.as_str()),
            None => {
                let waits = option("autoconnect").is_some_and(is_off);
                self.is_managed && !waits && option("interface-name") == Some(self.name.as_str())
            }
        }
    }
}

/// The last value of this key of a profile's section `connection`.
fn of_connection<'p>(profile: &[(&str, &str, &'p str)], wanted: &str) -> Option<&'p str> {
    let of = |&&(section, key, _): &&(&str, &str, &str)| (section, key) == ("connection", wanted);
    profile.iter().rfind(of).map(|(_, _, value)| *value)
}

fn is_off(value: &str) -> bool {
    ["false", "0", "no"].contains(&value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::tests::planted::Planted;
    use mpps_linux::setting::{Kind, Setting};

    const ETC: &str = "/etc/NetworkManager/system-connections/wan.nmconnection";
    const USR: &str = "/usr/lib/NetworkManager/system-connections/lan.nmconnection";
    const WAN: &str = "[connection]\nid=wan\nuuid=11\nautoconnect=false\n[ethernet]\nmtu=9000\n[ethtool]\n\
                       # nothing\nfeature-gro=false\nring-rx=512\ncoalesce-rx-usecs=8\ncoalesce-adaptive-rx=1\n\
                       pause-rx=true\neee-enabled=false\n[link]\ntx-queue-length=500\n[ipv4]\nforwarding=0\n\
                       [ipv6]\nmethod=auto\n";
    const LAN: &str = "[connection]\nuuid=22\ninterface-name=lan\n[802-3-ethernet]\nmtu=0\n\
                       [ethtool]\nfeature-tso=true\n[ipv6]\nmethod=ignore\n";

    fn planted(name: &str) -> Planted {
        Planted::new(
            name,
            &[
                ("/sys/class/net/wan/ifindex", "7\n"),
                ("/sys/class/net/lan/ifindex", "8\n"),
                (
                    "/run/NetworkManager/devices/7",
                    "[device]\nmanaged=1\nconnection-uuid=11\n",
                ),
                (ETC, WAN),
                (USR, LAN),
            ],
        )
    }

    fn value(links: &LinkFiles, link: &str, name: &str) -> Option<(String, String)> {
        let setting = Setting {
            kind: Kind::Ethtool,
            name: name.to_owned(),
            interface: Some(link.to_owned()),
        };
        links
            .value(&setting)
            .map(|(value, file)| (value.to_owned(), file.to_owned()))
    }

    #[test]
    fn a_profile_sets_its_interface() {
        let planted = planted("profiles");
        let mut links = LinkFiles::default();
        let profiles = Profiles::read(&planted.root(), &mut links);
        for (name, wanted) in [
            ("class/net/*/mtu", Some("9000")),
            ("class/net/*/tx_queue_len", Some("500")),
            ("features/rx-gro", Some("off")),
            ("rings/rx", Some("512")),
            ("coalescing/rx-usecs", Some("8")),
            ("coalescing/adaptive-rx", Some("1")),
            ("pause/rx", Some("1")),
            ("eee/eee", Some("0")),
            ("features/tx-tcp-segmentation", None),
        ] {
            let wanted = wanted.map(|wanted| (wanted.to_owned(), ETC.to_owned()));
            assert_eq!(value(&links, "wan", name), wanted, "{name}");
        }
        // One that is not in force yet is chosen by its name.
        let of_lan = value(&links, "lan", "features/tx-tcp-segmentation");
        assert_eq!(of_lan, Some(("on".to_owned(), USR.to_owned())));
        assert_eq!(value(&links, "lan", "class/net/*/mtu"), None);
        // A profile that is in force until the next boot hides the one that it was made from.
        let changed = ETC.replace("/etc/", "/run/");
        planted.put(&changed, b"[connection]\nuuid=11\n[ethernet]\nmtu=1400\n");
        let mut of_run = LinkFiles::default();
        assert_eq!(Profiles::read(&planted.root(), &mut of_run).sysctls, []);
        let mtu = value(&of_run, "wan", "class/net/*/mtu");
        assert_eq!(mtu, Some(("1400".to_owned(), changed)));
        assert_eq!(value(&of_run, "wan", "rings/rx"), None);
        let told = |name: &str, value: &str| (name.to_owned(), value.to_owned(), ETC.to_owned());
        let sysctls = [
            told("net/ipv4/conf/wan/forwarding", "0"),
            told("net/ipv6/conf/wan/accept_ra", "0"),
        ];
        assert_eq!(profiles.sysctls, sysctls);
        assert!(!profiles.are_hidden);
    }

    /// An interface that it leaves alone, a profile that waits for a hand, another interface's, and a machine without it.
    #[test]
    fn profiles_that_set_nothing() {
        let set = |name: &str, file: &str, text: &str| {
            let planted = planted(name);
            planted.put(file, text.as_bytes());
            let mut links = LinkFiles::default();
            Profiles::read(&planted.root(), &mut links);
            value(&links, "lan", "features/tx-tcp-segmentation").is_some()
        };
        let state = "/run/NetworkManager/devices/8";
        assert!(set("profile", state, "[device]\nmanaged=1\n"));
        assert!(!set("unmanaged", state, "[device]\nmanaged=0\n"));
        assert!(!set(
            "other-profile",
            state,
            "[device]\nconnection-uuid=33\n"
        ));
        assert!(!set(
            "by-hand",
            USR,
            &LAN.replace("uuid=22", "autoconnect=false")
        ));
        assert!(!set(
            "other-name",
            USR,
            &LAN.replace("name=lan", "name=eth0")
        ));
        let without = Planted::new(
            "no-manager",
            &[("/sys/class/net/lan/ifindex", "8\n"), (USR, LAN)],
        );
        let mut links = LinkFiles::default();
        Profiles::read(&without.root(), &mut links);
        assert_eq!(value(&links, "lan", "features/tx-tcp-segmentation"), None);
    }

    /// A file where the folder should be cannot be listed, whoever asks.
    #[test]
    fn a_folder_that_cannot_be_read_hides_profiles() {
        let folder = "/run/NetworkManager/system-connections";
        let planted = planted("hidden");
        let are_hidden = || Profiles::read(&planted.root(), &mut LinkFiles::default()).are_hidden;
        assert!(!are_hidden());
        planted.put(folder, b"");
        assert!(are_hidden());
    }

    #[test]
    fn a_profile_cut_anywhere_is_read() {
        for end in 0..WAN.len() {
            let known = options(WAN).collect::<Vec<_>>();
            let cut: Vec<_> = options(&WAN[..end]).collect();
            assert!(cut.len() <= known.len());
            let whole = cut.len().saturating_sub(1);
            assert_eq!(cut[..whole], known[..whole], "{end}");
        }
    }
}
