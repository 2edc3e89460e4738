//! Settings of every kind: written, read back, and put back.

use crate::scratch::{joined, privileged};
use mpps_linux::links;
use mpps_linux::setting::{Kind, Setting, SettingChange};

fn ethtool(name: &str) -> Setting {
    Setting {
        kind: Kind::Ethtool,
        name: name.to_owned(),
        interface: Some("mC".to_owned()),
    }
}

#[test]
fn a_change_from_a_journal_is_put_back() {
    if !privileged() {
        return;
    }
    let (c, _d) = joined(2);
    let settings = [
        (Setting::sysctl("net.ipv4.conf.mC.rp_filter"), "2"),
        (Setting::device_file("mC", "gro_flush_timeout"), "20000"),
        (ethtool("channels/rx"), "1"),
        (ethtool("features/rx-gro"), "on"),
    ];
    for (setting, value) in settings {
        let before = c.run(|| setting.read()).unwrap();
        assert_ne!(before, value, "{setting:?}");
        let change = c.run(|| setting.clone().change_to(value)).unwrap();
        let line = serde_json::to_string(&change).unwrap();
        c.run(|| change.apply()).unwrap();
        assert_eq!(c.run(|| setting.read()).unwrap(), value);
        let change: SettingChange = serde_json::from_str(&line).unwrap();
        for _ in 0..2 {
            assert_eq!(change.revert(), Ok(true), "{line}");
            assert_eq!(c.run(|| setting.read()).unwrap(), before);
        }
    }
}

#[test]
fn what_is_gone_needs_no_putting_back() {
    if !privileged() {
        return;
    }
    let (c, d) = joined(1);
    let change_to = |value: &str| {
        let setting = Setting::sysctl("net.ipv4.conf.mC.rp_filter");
        c.run(|| setting.change_to(value)).unwrap()
    };
    let change = change_to("2");
    d.run(|| links::delete("mD")).unwrap();
    assert_eq!(change.revert(), Ok(false));
    let change = SettingChange { netns: 1, ..change };
    assert_eq!(change.revert(), Ok(false));
}

#[test]
fn a_value_that_the_kernel_changes_is_an_error() {
    if !privileged() {
        return;
    }
    let (c, _d) = joined(1);
    let setting = Setting::sysctl("net.ipv4.conf.mC.rp_filter");
    let error = c.run(|| setting.write("02")).unwrap_err().to_string();
    assert!(
        error.starts_with("write sysctl net.ipv4.conf.mC.rp_filter=02 in netns")
            && error.contains("the value is `2` now"),
        "{error}"
    );
    let error = c.run(|| setting.write("x")).unwrap_err().to_string();
    assert!(
        error.contains("EINVAL (the kernel does not take"),
        "{error}"
    );
    let error = c.run(|| ethtool("rings/none").read()).unwrap_err();
    assert!(error.to_string().contains("no such parameter"), "{error}");
    let error = c.run(|| ethtool("channels/rx").write("many")).unwrap_err();
    assert!(error.to_string().contains("give a number"), "{error}");
}

#[test]
fn a_namespace_takes_only_allowed_congestion_control() {
    if !privileged() {
        return;
    }
    let (c, _d) = joined(1);
    let read = |name: &str| {
        let setting = Setting::sysctl(format!("net.ipv4.tcp_{name}congestion_control"));
        c.run(|| setting.read()).unwrap()
    };
    let (available, allowed) = (read("available_"), read("allowed_"));
    let is_allowed = |name: &&str| allowed.split(' ').any(|one| one == *name);
    let setting = Setting::sysctl("net.ipv4.tcp_congestion_control");
    for name in available.split(' ') {
        let written = c.run(|| setting.write(name));
        match is_allowed(&name) {
            true => written.unwrap(),
            false => {
                let error = written.unwrap_err().to_string();
                assert!(
                    error.contains("EPERM (a network namespace takes only"),
                    "{error}"
                );
            }
        }
    }
}
