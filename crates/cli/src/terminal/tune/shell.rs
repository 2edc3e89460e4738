//! Changes of settings as commands of a shell.

use mpps_lab::tune::persist::{SCRIPT, STARTER, SYSCTLS, UNIT};
use mpps_lab::tune::{Layout, Planned, Reached, Setting, shown};
use mpps_method::tune::{Profile, in_order};
use std::fmt::Write;

/// The command that writes a value.
pub fn command(setting: &Setting, value: &str) -> String {
    let file = |path: String| format!("echo {} > {}", quoted(value), quoted(&path));
    match setting.kind {
        Reached::Sysctl => format!("sysctl -w {}={}", quoted(&shown(setting)), quoted(value)),
        Reached::Sysfs => file(shown(setting)),
        Reached::Irq => file(format!("/proc/irq/{}/smp_affinity_list", setting.name)),
        Reached::Service => {
            let verb = if value == "running" { "start" } else { "stop" };
            format!("systemctl {verb} {}", quoted(&setting.name))
        }
        Reached::Ethtool => {
            let (group, name) = setting.name.split_once('/').unwrap_or_default();
            let interface = quoted(setting.interface.as_deref().unwrap_or_default());
            if group == "rss" {
                return rss(&interface, name, value);
            }
            let (flag, is_switch) = match group {
                "rings" => ("-G", name == "tx-push"),
                "channels" => ("-L", false),
                "coalescing" => (
                    "-C",
                    name.starts_with("adaptive") || name.starts_with("cqe"),
                ),
                "pause" => ("-A", true),
                "eee" => ("--set-eee", true),
                "tunables" => ("--set-tunable", false),
                "private-flags" => ("--set-priv-flags", false),
                _ => ("-K", false),
            };
            let value = match (is_switch, value) {
                _ if name == "tcp-data-split" => split(value),
                (true, "0") => "off",
                (true, _) => "on",
                (false, value) => value,
            };
            format!("ethtool {flag} {interface} {name} {}", quoted(value))
        }
    }
}

/// Words of ethtool for `ETHTOOL_TCP_DATA_SPLIT_UNKNOWN` and so on.
fn split(value: &str) -> &str {
    match value {
        "0" => "auto",
        "1" => "off",
        _ => "on",
    }
}

/// The command for a part of RSS.
fn rss(interface: &str, part: &str, value: &str) -> String {
    match (part, value) {
        ("table", "equal") => format!("ethtool -X {interface} default"),
        // A value is what was read: numbers, and words of ethtool but this one.
        ("table", table) if table.starts_with("table") => {
            format!("echo {interface}: ethtool cannot write the RSS {table} >&2")
        }
        ("table", table) => format!("ethtool -X {interface} {table}"),
        ("key", key) => format!("ethtool -X {interface} hkey {key}"),
        ("symxor", "on") => format!("ethtool -X {interface} xfrm symmetric-xor"),
        ("symxor", _) => format!("ethtool -X {interface} xfrm none"),
        (flow, fields) => format!("ethtool -N {interface} rx-flow-hash {flow} {fields}"),
    }
}

/// The same, in a network namespace of a name.
pub(super) fn command_in(netns: Option<&str>, setting: &Setting, value: &str) -> String {
    let command = command(setting, value);
    let Some(netns) = netns else {
        return command;
    };
    let command = match setting.kind {
        Reached::Sysfs | Reached::Irq => format!("sh -c {}", quoted(&command)),
        Reached::Sysctl | Reached::Ethtool | Reached::Service => command,
    };
    format!("ip netns exec {} {command}", quoted(netns))
}

fn quoted(word: &str) -> String {
    shlex::try_quote(word).map_or_else(|_| String::new(), String::from)
}

/// A script that makes all changes or undoes them.
pub fn script(profile: Profile, netns: Option<&str>, changes: &[Planned]) -> String {
    let mut text = format!(
        "#!/bin/sh\n# Settings for the profile {}, from mpps tune apply.\n",
        profile.name()
    );
    text += "# Each command that fails says so, and the others go on. \"revert\" writes the values of the machine \
             that\n# this script was made on. mpps tune revert also puts back what else a setting moved.\n\n";
    let mut function = |name: &str, lines: Vec<String>| {
        let lines = if lines.is_empty() {
            vec!["    :\n".to_owned()]
        } else {
            lines
        };
        let _ = write!(text, "{name}() {{\n{}}}\n\n", lines.concat());
    };
    let line = |one: &Planned, value: &str| {
        let command = command_in(netns, &one.setting, value);
        format!("    {command} # {}\n", one.id)
    };
    function(
        "apply",
        changes.iter().map(|one| line(one, &one.value)).collect(),
    );
    function(
        "revert",
        changes
            .iter()
            .rev()
            .map(|one| line(one, &one.now))
            .collect(),
    );
    text + "case \"${1-}\" in\napply | revert) \"$1\" ;;\n*)\n    echo \"usage: $0 apply|revert\" >&2\n    exit 2\n    ;;\nesac\n"
}

/// A command of the script that a service runs at boot: the number of an interrupt may be another after each boot.
const IRQ: &str = r#"irq() { # interface, place of the interrupt among those of the interface, CPUs
    for folder in "/sys/class/net/$1/device/msi_irqs" "/sys/class/net/$1/device/../msi_irqs"; do
        number=$(ls "$folder" 2>/dev/null | sort -n | sed -n "$2p")
        [ -z "$number" ] || break
    done
    echo "$3" > "/proc/irq/$number/smp_affinity_list"
}
"#;

/// Interfaces have their last names when the network is up.
const SERVICE: &str = "[Unit]
Description=Settings of mpps tune apply --persist
Wants=network-online.target
After=network-online.target systemd-sysctl.service

[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart=/bin/sh /etc/mpps/tune.sh
";

/// Sysctls of modules, which may be loaded only after the files of sysctl.d were read: the service sets them again.
const LATE: [&str; 2] = ["net/netfilter/", "net/bridge/"];

/// Paths and texts of files that make these changes at each boot. A setting that holds its value already is among them if
/// `written`, the text of such files from before, has it.
pub fn persisted(
    made: &[Planned],
    met: &[Planned],
    written: &str,
    layout: &Layout,
) -> Vec<(&'static str, String)> {
    let line = |one: &Planned| match (one.setting.kind, layout.place_of(&one.setting.name)) {
        (Reached::Sysctl, _) => format!("{} = {}\n", shown(&one.setting), one.value),
        (Reached::Irq, Some((interface, place))) => {
            format!(
                "irq {} {} {}\n",
                quoted(interface),
                place + 1,
                quoted(&one.value)
            )
        }
        _ => format!("{}\n", command(&one.setting, &one.value)),
    };
    let is_written = |one: &&Planned| written.contains(&format!("\n{}", line(one)));
    let mut all: Vec<&Planned> = made.iter().chain(met.iter().filter(is_written)).collect();
    let rows = in_order();
    all.sort_by_key(|one| rows.iter().position(|row| row.id == one.id));
    let is_sysctl = |one: &Planned| one.setting.kind == Reached::Sysctl;
    let is_late = |one: &Planned| LATE.iter().any(|part| one.setting.name.starts_with(part));
    let sysctls = all.iter().filter(|one| is_sysctl(one));
    let sysctls: String = sysctls.map(|one| line(one)).collect();
    let others = all.iter().filter(|one| !is_sysctl(one) || is_late(one));
    let commands = others.map(|one| match is_sysctl(one) {
        true => format!("{}\n", command(&one.setting, &one.value)),
        false => line(one),
    });
    let commands: String = commands.collect();
    let mut files = Vec::new();
    if !sysctls.is_empty() {
        files.push((SYSCTLS, sysctls));
    }
    if !commands.is_empty() {
        let has_irq = all.iter().any(|one| one.setting.kind == Reached::Irq);
        let begin = if has_irq { IRQ } else { "" };
        files.push((SCRIPT, format!("{begin}{commands}")));
        files.push((UNIT, SERVICE.to_owned()));
        files.push((STARTER, "[Unit]\nWants=mpps-tune.service\n".to_owned()));
    }
    files
}

#[cfg(test)]
mod tests {
    use super::*;

    fn setting(kind: Reached, name: &str, interface: &str) -> Setting {
        Setting {
            kind,
            name: name.to_owned(),
            interface: Some(interface.to_owned()),
        }
    }

    #[test]
    fn each_kind_has_its_command() {
        for (kind, name, interface, value, wanted) in [
            (
                Reached::Sysctl,
                "net/ipv4/conf/*/rp_filter",
                "eth0",
                "0",
                "sysctl -w net.ipv4.conf.eth0.rp_filter=0",
            ),
            (
                Reached::Sysctl,
                "net/ipv4/conf/*/rp_filter",
                "eth0.7",
                "0",
                "sysctl -w net/ipv4/conf/eth0.7/rp_filter=0",
            ),
            (
                Reached::Sysfs,
                "class/net/*/mtu",
                "eth0",
                "9000",
                "echo 9000 > /sys/class/net/eth0/mtu",
            ),
            (
                Reached::Ethtool,
                "features/rx-gro",
                "eth0",
                "on",
                "ethtool -K eth0 rx-gro on",
            ),
            (
                Reached::Ethtool,
                "rings/rx",
                "eth0",
                "4096",
                "ethtool -G eth0 rx 4096",
            ),
            (
                Reached::Ethtool,
                "coalescing/adaptive-rx",
                "eth0",
                "0",
                "ethtool -C eth0 adaptive-rx off",
            ),
            (
                Reached::Ethtool,
                "pause/autoneg",
                "eth0",
                "1",
                "ethtool -A eth0 autoneg on",
            ),
            (
                Reached::Ethtool,
                "rings/tx-push",
                "eth0",
                "1",
                "ethtool -G eth0 tx-push on",
            ),
            (
                Reached::Ethtool,
                "rings/tcp-data-split",
                "eth0",
                "0",
                "ethtool -G eth0 tcp-data-split auto",
            ),
            (
                Reached::Ethtool,
                "coalescing/cqe-mode-rx",
                "eth0",
                "0",
                "ethtool -C eth0 cqe-mode-rx off",
            ),
            (
                Reached::Ethtool,
                "eee/eee",
                "eth0",
                "0",
                "ethtool --set-eee eth0 eee off",
            ),
            (
                Reached::Ethtool,
                "tunables/rx-copybreak",
                "eth0",
                "0",
                "ethtool --set-tunable eth0 rx-copybreak 0",
            ),
            (
                Reached::Ethtool,
                "private-flags/legacy-rx",
                "eth0",
                "off",
                "ethtool --set-priv-flags eth0 legacy-rx off",
            ),
            (
                Reached::Irq,
                "24",
                "eth0",
                "0-3",
                "echo 0-3 > /proc/irq/24/smp_affinity_list",
            ),
        ] {
            assert_eq!(command(&setting(kind, name, interface), value), wanted);
        }
        for (part, value, wanted) in [
            ("table", "equal", "ethtool -X eth0 default"),
            ("table", "weight 3 1", "ethtool -X eth0 weight 3 1"),
            (
                "table",
                "table 1 0",
                "echo eth0: ethtool cannot write the RSS table 1 0 >&2",
            ),
            ("key", "6d:5a", "ethtool -X eth0 hkey 6d:5a"),
            ("symxor", "on", "ethtool -X eth0 xfrm symmetric-xor"),
            ("udp4", "sdfn", "ethtool -N eth0 rx-flow-hash udp4 sdfn"),
        ] {
            let part = setting(Reached::Ethtool, &format!("rss/{part}"), "eth0");
            assert_eq!(command(&part, value), wanted);
        }
        for (value, wanted) in [
            ("stopped", "systemctl stop irqbalance"),
            ("running", "systemctl start irqbalance"),
        ] {
            let service = setting(Reached::Service, "irqbalance", "eth0");
            assert_eq!(command(&service, value), wanted);
        }
        let range = Setting::sysctl("net/ipv4/ip_local_port_range");
        assert_eq!(
            command(&range, "1024 65000"),
            "sysctl -w net.ipv4.ip_local_port_range='1024 65000'"
        );
        let mtu = setting(Reached::Sysfs, "class/net/*/mtu", "v;0");
        assert_eq!(
            command_in(Some("dut"), &mtu, "1500"),
            "ip netns exec dut sh -c \"echo 1500 > '/sys/class/net/v;0/mtu'\""
        );
    }

    #[test]
    fn files_for_each_boot_keep_what_they_had() {
        let planned = |id, kind, name: &str, value: &str| Planned {
            id,
            setting: setting(kind, name, "eth0"),
            now: value.to_owned(),
            value: value.to_owned(),
        };
        let filter = planned(
            "rp_filter",
            Reached::Sysctl,
            "net/ipv4/conf/*/rp_filter",
            "0",
        );
        let steer = planned(
            "rps_cpus",
            Reached::Sysfs,
            "class/net/*/queues/rx-0/rps_cpus",
            "0",
        );
        let ring = planned("ring_rx", Reached::Ethtool, "rings/rx", "4096");
        let met = [filter.clone(), ring.clone()];
        let layout = Layout::default();
        let first = persisted(&[steer.clone(), ring], &[], "", &layout);
        let names: Vec<&str> = first.iter().map(|(name, _)| *name).collect();
        assert_eq!(names, [SCRIPT, UNIT, STARTER]);
        // In the order of the catalogue.
        let script = "ethtool -G eth0 rx 4096\necho 0 > /sys/class/net/eth0/queues/rx-0/rps_cpus\n";
        assert_eq!(first[0].1, script);
        let second = persisted(&[steer], &met, &format!("# mark\n{script}"), &layout);
        assert_eq!(second[0].1, script);
        let sysctls = persisted(&met[..1], &[], "", &layout);
        assert_eq!(
            sysctls,
            [(SYSCTLS, "net.ipv4.conf.eth0.rp_filter = 0\n".to_owned())]
        );
    }

    /// A module that is loaded after systemd-sysctl has the defaults then.
    #[test]
    fn sysctls_of_modules_are_set_by_the_service_too() {
        let planned = |name| Planned {
            id: "ct_acct",
            setting: Setting::sysctl(name),
            now: "0".to_owned(),
            value: "0".to_owned(),
        };
        let late = [
            "net/netfilter/nf_conntrack_acct",
            "net/bridge/bridge-nf-call-iptables",
        ];
        let made = [late[0], "net/ipv4/ip_forward", late[1]].map(planned);
        let files = persisted(&made, &[], "", &Layout::default());
        let names: Vec<&str> = files.iter().map(|(name, _)| *name).collect();
        assert_eq!(names, [SYSCTLS, SCRIPT, UNIT, STARTER]);
        assert_eq!(files[0].1.lines().count(), 3);
        let script = "sysctl -w net.netfilter.nf_conntrack_acct=0\nsysctl -w net.bridge.bridge-nf-call-iptables=0\n";
        assert_eq!(files[1].1, script);
    }

    #[test]
    fn a_script_undoes_in_reverse_order() {
        let planned = |id, name: &str| Planned {
            id,
            setting: Setting::sysctl(name),
            now: "0".to_owned(),
            value: "1".to_owned(),
        };
        let changes = [planned("a", "net/a"), planned("b", "net/b")];
        let text = script(Profile::Router, None, &changes);
        let order = ["net.a=1", "net.b=1", "net.b=0", "net.a=0"].map(|part| text.find(part));
        assert!(
            order.iter().all(Option::is_some) && order.is_sorted(),
            "{text}"
        );
    }
}
