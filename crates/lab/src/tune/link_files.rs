//! What files of this machine set for its links at boot: systemd.link(5), and the options of ethtool in interfaces(5).

use super::boot_files::options;
use crate::facts::Root;
use mpps_linux::setting::Setting;
use std::collections::BTreeMap;

/// Options of systemd.link(5) and the settings that they set. An option for a group of features stands here with one of them.
const SYSTEMD: [(&str, &str); 21] = [
    ("MTUBytes", "class/net/*/mtu"),
    ("CombinedChannels", "channels/combined"),
    ("RxBufferSize", "rings/rx"),
    ("TxBufferSize", "rings/tx"),
    ("RxFlowControl", "pause/rx"),
    ("TxFlowControl", "pause/tx"),
    ("AutoNegotiationFlowControl", "pause/autoneg"),
    ("RxCoalesceSec", "coalescing/rx-usecs"),
    ("TxCoalesceSec", "coalescing/tx-usecs"),
    ("TxMaxCoalescedFrames", "coalescing/tx-frames"),
    ("UseAdaptiveRxCoalesce", "coalescing/adaptive-rx"),
    ("UseAdaptiveTxCoalesce", "coalescing/adaptive-tx"),
    ("GenericReceiveOffload", "features/rx-gro"),
    ("GenericReceiveOffloadHardware", "features/rx-gro-hw"),
    ("LargeReceiveOffload", "features/rx-lro"),
    (
        "GenericSegmentationOffload",
        "features/tx-generic-segmentation",
    ),
    ("TCPSegmentationOffload", "features/tx-tcp-segmentation"),
    ("ReceiveChecksumOffload", "features/rx-checksum"),
    ("TransmitChecksumOffload", "features/tx-checksum-ip-generic"),
    (
        "ReceiveVLANCTAGHardwareAcceleration",
        "features/rx-vlan-hw-parse",
    ),
    (
        "TransmitVLANCTAGHardwareAcceleration",
        "features/tx-vlan-hw-insert",
    ),
];
/// Beginnings of the options that ethtool's script for interfaces(5) takes, and of the settings' names.
const INTERFACES: [(&str, &str); 4] = [
    ("ethernet-pause-", "pause/"),
    ("hardware-dma-ring-", "rings/"),
    ("hardware-irq-coalesce-", "coalescing/"),
    ("offload-", "features/"),
];
/// Features by the names that `ethtool -K` has for them.
const SHORT: [(&str, &str); 11] = [
    ("gro", "rx-gro"),
    ("lro", "rx-lro"),
    ("gso", "tx-generic-segmentation"),
    ("tso", "tx-tcp-segmentation"),
    ("rx", "rx-checksum"),
    ("tx", "tx-checksum-ip-generic"),
    ("sg", "tx-scatter-gather"),
    ("ntuple", "rx-ntuple-filter"),
    ("rxvlan", "rx-vlan-hw-parse"),
    ("txvlan", "tx-vlan-hw-insert"),
    ("rxhash", "rx-hashing"),
];

/// Beginnings of the names of settings that are on or off.
const SWITCHES: [&str; 4] = ["features/", "pause/", "coalescing/adaptive-", "eee/"];

/// Each setting of a link by the link's name and its own, with its value and the file that sets it last.
#[derive(Debug, Default)]
pub(super) struct LinkFiles(BTreeMap<(String, String), (String, String)>);

impl LinkFiles {
    /// Those of the machine's links.
    pub(super) fn read(root: &Root) -> Self {
        let mut all = Self::default();
        for link in root.names("/sys/class/net").known().into_iter().flatten() {
            all.add_link(root, link);
        }
        // ifupdown configures a link after udev.
        const MAIN: &str = "/etc/network/interfaces";
        let main = root.text(MAIN);
        let main = main.known().map_or("", String::as_str);
        let folder = "/etc/network/interfaces.d";
        let names = root.names(folder);
        let sourced = |line: &str| line.starts_with("source") && line.contains(folder);
        if main.lines().any(sourced) {
            for name in names.known().into_iter().flatten() {
                let file = format!("{folder}/{name}");
                let text = root.text(&file);
                all.add_interfaces(text.known().map_or("", String::as_str), &file);
            }
        }
        all.add_interfaces(main, MAIN);
        all
    }

    /// What a setting gets at boot, and from which file.
    pub(super) fn value(&self, setting: &Setting) -> Option<(&str, &str)> {
        let key = (setting.interface.clone()?, setting.name.clone());
        let (value, file) = self.0.get(&key)?;
        Some((value, file))
    }

    /// udev says which file of systemd it used for a link.
    fn add_link(&mut self, root: &Root, link: &str) {
        let index = root.text(&format!("/sys/class/net/{link}/ifindex"));
        let Some(index) = index.known() else {
            return;
        };
        let known = root.text(&format!("/run/udev/data/n{index}"));
        let known = known.known().map_or("", String::as_str);
        let named = |key| known.lines().find_map(|line| line.strip_prefix(key));
        let file = named("E:ID_NET_LINK_FILE=").into_iter();
        let more = named("E:ID_NET_LINK_FILE_DROPINS=").into_iter();
        for file in file.chain(more.flat_map(|files| files.split(':'))) {
            let text = root.text(file);
            let all = options(text.known().map_or("", String::as_str));
            for (_, key, value) in all.filter(|(section, ..)| *section == "Link") {
                let option = SYSTEMD.iter().find(|(option, _)| *option == key);
                let set = option.and_then(|(_, name)| Some((name, as_kernel(name, value)?)));
                if let Some((name, value)) = set {
                    self.set(link, name, value, file);
                }
            }
        }
    }

    /// Options of a stanza `iface LINK ...`.
    fn add_interfaces(&mut self, text: &str, file: &str) {
        let mut link = None;
        for line in text.lines() {
            let mut words = line.split_whitespace();
            match (words.next(), words.next(), link) {
                (Some("iface"), name, _) => link = name,
                (Some("mtu"), Some(value), Some(link)) => {
                    self.set(link, "class/net/*/mtu", value.to_owned(), file);
                }
                (Some(option), Some(value), Some(link)) => {
                    if let Some(name) = of_interfaces(option) {
                        self.set(link, &name, value.to_owned(), file);
                    }
                }
                _ => {}
            }
        }
    }

    /// Sets one, whatever set it before. A switch gets the kernel's word for it.
    pub(super) fn set(&mut self, link: &str, name: &str, value: String, file: &str) {
        let key = (link.to_owned(), name.to_owned());
        let value = switched(name, &value).map_or(value, str::to_owned);
        self.0.insert(key, (value, file.to_owned()));
    }
}

/// `offload-gro` is `features/rx-gro`.
fn of_interfaces(option: &str) -> Option<String> {
    let mut beginnings = INTERFACES.iter();
    let (rest, name) = beginnings.find_map(|(of, name)| Some((option.strip_prefix(of)?, name)))?;
    let rest = if *name == "features/" {
        feature(rest)
    } else {
        rest
    };
    Some(format!("{name}{rest}"))
}

/// The kernel's name of a feature, which ethtool may call by a shorter one: `gro` is `rx-gro`.
pub(super) fn feature(name: &str) -> &str {
    let long = SHORT.iter().find(|(short, _)| *short == name);
    long.map_or(name, |(_, long)| long)
}

/// A switch as the kernel has it: `yes` is `on` for a feature, and 1 elsewhere. `None`: it is none, or no value of one.
fn switched(name: &str, value: &str) -> Option<&'static str> {
    let words = match SWITCHES.iter().find(|of| name.starts_with(*of))? {
        &"features/" => ["off", "on"],
        _ => ["0", "1"],
    };
    match &*value.to_ascii_lowercase() {
        "yes" | "y" | "true" | "t" | "on" | "1" => Some(words[1]),
        "no" | "n" | "false" | "f" | "off" | "0" => Some(words[0]),
        _ => None,
    }
}

/// A value of systemd as the kernel has it: `50us` is 50. `None`: it has no number here, as `max`.
fn as_kernel(name: &str, value: &str) -> Option<String> {
    let value = value.to_ascii_lowercase();
    if let Some(switched) = switched(name, &value) {
        return Some(switched.to_owned());
    }
    let units: &[(&str, f64)] = match name.ends_with("-usecs") {
        true => &[("us", 1.0), ("ms", 1e3), ("s", 1e6), ("", 1e6)],
        false => &[("", 1.0)],
    };
    let number = |(unit, times): &(&str, f64)| {
        let number: f64 = value.strip_suffix(unit)?.trim().parse().ok()?;
        Some(format!("{:.0}", number * times))
    };
    units.iter().find_map(number)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::tests::planted::Planted;
    use mpps_linux::setting::Kind;

    const LINK: &str = "[Match]\nOriginalName=*\n[Link]\nRxBufferSize=4096\nGenericReceiveOffload=yes\n\
                        RxCoalesceSec=50us\nCombinedChannels=1\nMTUBytes=9000\n";

    fn value(files: &LinkFiles, link: &str, name: &str) -> Option<(String, String)> {
        let setting = Setting {
            kind: Kind::Ethtool,
            name: name.to_owned(),
            interface: Some(link.to_owned()),
        };
        let (value, file) = files.value(&setting)?;
        Some((value.to_owned(), file.to_owned()))
    }

    #[test]
    fn udev_names_the_file_of_a_link() {
        let file = "/etc/systemd/network/10-wan.link";
        let more = "/etc/systemd/network/10-wan.link.d/a.conf";
        let udev = format!("E:ID_NET_LINK_FILE={file}\nE:ID_NET_LINK_FILE_DROPINS={more}\n");
        let planted = Planted::new(
            "link-files",
            &[
                ("/sys/class/net/wan/ifindex", "7\n"),
                ("/sys/class/net/lan/ifindex", "8\n"),
                ("/run/udev/data/n7", &udev),
                (file, LINK),
                (more, "[Link]\nGenericReceiveOffload=0\n"),
            ],
        );
        let files = LinkFiles::read(&planted.root());
        let of_wan = |name| value(&files, "wan", name);
        let is = |value: &str, file: &str| Some((value.to_owned(), file.to_owned()));
        assert_eq!(of_wan("rings/rx"), is("4096", file));
        assert_eq!(of_wan("features/rx-gro"), is("off", more));
        assert_eq!(of_wan("coalescing/rx-usecs"), is("50", file));
        assert_eq!(of_wan("channels/combined"), is("1", file));
        assert_eq!(of_wan("class/net/*/mtu"), is("9000", file));
        assert_eq!(of_wan("rings/tx"), None);
        // Nothing says that a file is this link's.
        assert_eq!(value(&files, "lan", "rings/rx"), None);
    }

    #[test]
    fn interfaces_name_options_of_ethtool() {
        let text = "auto wan\niface wan inet static\n  address 192.0.2.1/24\n  mtu 9000\n  offload-gro off\n\
                    \thardware-dma-ring-rx 512\n  hardware-irq-coalesce-rx-usecs 8\n\niface lan inet dhcp\n";
        let file = "/etc/network/interfaces";
        let planted = Planted::new("interfaces", &[(file, text)]);
        let files = LinkFiles::read(&planted.root());
        for (name, wanted) in [
            ("class/net/*/mtu", Some("9000")),
            ("features/rx-gro", Some("off")),
            ("rings/rx", Some("512")),
            ("coalescing/rx-usecs", Some("8")),
            ("features/tx-tcp-segmentation", None),
        ] {
            let wanted = wanted.map(|wanted| (wanted.to_owned(), file.to_owned()));
            assert_eq!(value(&files, "wan", name), wanted, "{name}");
        }
        assert_eq!(value(&files, "lan", "rings/rx"), None);
    }

    #[test]
    fn a_folder_that_is_not_sourced_is_not_read() {
        let folder = "/etc/network/interfaces.d";
        let read = |name: &str, main: &str| {
            let more = format!("{folder}/wan");
            let text = "iface wan inet dhcp\n  offload-gro off\n";
            let planted = Planted::new(name, &[("/etc/network/interfaces", main), (&more, text)]);
            value(&LinkFiles::read(&planted.root()), "wan", "features/rx-gro")
        };
        let found = read("sourced", &format!("source {folder}/*\n"));
        assert_eq!(found, Some(("off".to_owned(), format!("{folder}/wan"))));
        assert_eq!(read("not-sourced", &format!("# source {folder}/*\n")), None);
    }

    #[test]
    fn times_of_systemd_become_microseconds() {
        for (value, wanted) in [
            ("50us", Some("50")),
            ("2ms", Some("2000")),
            ("0.5s", Some("500000")),
            ("1", Some("1000000")),
            ("1min", None),
        ] {
            assert_eq!(as_kernel("coalescing/rx-usecs", value).as_deref(), wanted);
        }
        assert_eq!(as_kernel("rings/rx", "max"), None);
        assert_eq!(as_kernel("features/rx-gro", "No").as_deref(), Some("off"));
        // These are numbers, as ethtool(8) does not have them.
        assert_eq!(as_kernel("pause/rx", "no").as_deref(), Some("0"));
        assert_eq!(switched("coalescing/adaptive-rx", "on"), Some("1"));
        assert_eq!(switched("rings/rx", "1"), None);
    }
}
