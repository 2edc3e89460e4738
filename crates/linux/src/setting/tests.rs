use super::*;

fn path(setting: &Setting) -> Result<PathBuf> {
    setting.file().map(|file| file.path)
}

#[test]
fn dots_are_slashes_unless_there_are_slashes() {
    for name in ["net.ipv4.conf.mB.forwarding", "net/ipv4/conf/mB/forwarding"] {
        assert_eq!(
            path(&Setting::sysctl(name)).unwrap(),
            PathBuf::from("/proc/sys/net/ipv4/conf/mB/forwarding")
        );
    }
}

#[test]
fn an_interface_may_hold_a_dot() {
    let mut setting = Setting::sysctl("net.ipv4.conf.*.forwarding");
    setting.interface = Some("eth0.5".to_owned());
    assert_eq!(
        path(&setting).unwrap(),
        PathBuf::from("/proc/sys/net/ipv4/conf/eth0.5/forwarding")
    );
}

#[test]
fn a_name_cannot_leave_its_folder() {
    for bad in [
        "",
        "/etc/passwd",
        "../etc/passwd",
        "net..ipv4",
        "net/../../etc",
    ] {
        assert!(path(&Setting::sysctl(bad)).is_err(), "{bad}");
    }
    let irq = Setting {
        kind: Kind::Irq,
        ..Setting::sysctl("../self")
    };
    assert!(path(&irq).is_err());
    for interface in ["a/b", "..", ""] {
        assert!(path(&Setting::device_file(interface, "threaded")).is_err());
    }
}

#[test]
fn a_missing_setting_is_named_with_its_errno() {
    assert_eq!(Setting::sysctl("kernel.ostype").read().unwrap(), "Linux");
    let error = Setting::sysctl("kernel.no_such_parameter").read();
    let error = error.unwrap_err();
    assert!(error.is_missing());
    assert_eq!(
        error.to_string(),
        "read sysctl kernel.no_such_parameter: ENOENT (this kernel has no such setting here)"
    );
    // Some settings take names, and the kernel may lack what has that name.
    let enoent = std::io::Error::from_raw_os_error(libc::ENOENT);
    let there = Setting::sysctl("kernel.ostype").refused("write", "a qdisc".to_owned(), &enoent);
    let wanted =
        "a qdisc: ENOENT (load the module of that name, or give a name that this kernel has)";
    assert!(there.to_string().ends_with(wanted), "{there}");
}

#[test]
fn a_restricted_value_needs_no_more_rights() {
    let refusal = |name: &str, number| {
        let error = std::io::Error::from_raw_os_error(number);
        let refused = Setting::sysctl(name).refused("write", "x".to_owned(), &error);
        refused.remedy.expect("a remedy")
    };
    for name in [CONGESTION_CONTROL, "net/ipv4/tcp_congestion_control"] {
        let remedy = refusal(name, libc::EPERM);
        assert!(
            remedy.contains("tcp_allowed_congestion_control"),
            "{remedy}"
        );
        let remedy = refusal(name, libc::EACCES);
        assert!(remedy.contains("run as root"), "{remedy}");
    }
    let remedy = refusal("net.ipv4.ip_forward", libc::EPERM);
    assert!(remedy.contains("run as root"), "{remedy}");
}

#[test]
fn an_ethtool_parameter_needs_an_interface() {
    let setting = Setting {
        kind: Kind::Ethtool,
        ..Setting::sysctl("rings/rx")
    };
    let error = setting.read().unwrap_err().to_string();
    assert!(
        error.starts_with("name ethtool parameter rings/rx: no interface"),
        "{error}"
    );
}

#[test]
fn the_kernels_spelling_is_the_same_value() {
    let mask = Setting::device_file("eth0", "queues/rx-0/rps_cpus");
    assert!(mask.is_same("5", "00000000,00000005"));
    assert!(mask.is_same("0", "000"));
    assert!(!mask.is_same("5", "00000000,00000015"));
    let irq = Setting {
        kind: Kind::Irq,
        ..Setting::sysctl("24")
    };
    assert!(irq.is_same("0,1,2", "0-2"));
    assert!(!irq.is_same("0", "0-2"));
    let triple = Setting::sysctl("net.ipv4.tcp_rmem");
    assert!(triple.is_same("4096 131072 6291456", "4096\t131072\t6291456"));
    assert!(!triple.is_same("4096 131072 6291456", "4096\t131072\t6291457"));
    assert_eq!(selected("always [madvise] never"), "madvise");
    assert_eq!(selected("none (lazy) full"), "lazy");
    assert_eq!(selected("1"), "1");
}

#[test]
fn a_row_of_data_names_a_setting() {
    let row = r#"{"kind":"ethtool","name":"rings/rx","interface":"eth0"}"#;
    let setting: Setting = serde_json::from_str(row).unwrap();
    assert_eq!(setting.kind, Kind::Ethtool);
    assert_eq!(serde_json::to_string(&setting).unwrap(), row);
    let row = r#"{"kind":"sysctl","name":"net.core.netdev_budget"}"#;
    let setting: Setting = serde_json::from_str(row).unwrap();
    assert_eq!(setting, Setting::sysctl("net.core.netdev_budget"));
    assert_eq!(serde_json::to_string(&setting).unwrap(), row);
}
