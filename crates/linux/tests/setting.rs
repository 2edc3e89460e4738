//! Settings of every kind: written, read back, and put back.

use crate::scratch::{joined, privileged};
use mpps_linux::setting::{Kind, Setting, SettingChange};
use mpps_linux::{ethtool, links};

fn parameter(name: &str) -> Setting {
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
        (parameter("channels/rx"), "1"),
        (parameter("features/rx-gro"), "on"),
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
    let error = c.run(|| parameter("rings/none").read()).unwrap_err();
    assert!(error.to_string().contains("no such parameter"), "{error}");
    let error = c
        .run(|| parameter("channels/rx").write("many"))
        .unwrap_err();
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

#[test]
fn a_link_without_a_setting_says_so() {
    if !privileged() {
        return;
    }
    let (c, _d) = joined(1);
    for (name, why) in [
        ("eee/eee", "the driver does not say"),
        ("tunables/rx-copybreak", "the driver does not say"),
        ("rings/tx-push", "the driver does not say"),
        ("private-flags/legacy-rx", "the driver has no such flag"),
    ] {
        let read = c.run(|| parameter(name).read()).unwrap_err();
        assert_eq!(read.cause.to_string(), why, "{name}");
        let value = if why.ends_with("flag") { "on" } else { "1" };
        let written = c.run(|| parameter(name).write(value)).unwrap_err();
        let cause = written.cause.to_string();
        assert!(
            cause == why || cause.starts_with("EOPNOTSUPP"),
            "{name}: {cause}"
        );
    }
}

/// This driver has a flag for all its NICs, which the emulated one cannot have on.
#[test]
fn private_flags_of_a_driver_are_switched() {
    let is_of_driver = |name: &String| ethtool::driver(name).is_ok_and(|one| one.name == "e1000e");
    let mut names = links::list().unwrap().into_iter().map(|link| link.name);
    let Some(link) = names.find(is_of_driver).filter(|_| privileged()) else {
        println!("SKIP: needs a NIC of e1000e; cargo xtask kernel debian13-amd64 has one");
        return;
    };
    let flag = Setting {
        interface: Some(link),
        ..parameter("private-flags/s0ix-enabled")
    };
    assert_eq!(flag.read().unwrap(), "off");
    flag.write("off").unwrap();
    let error = flag.write("on").unwrap_err().to_string();
    assert!(
        error.contains("EINVAL (the driver does not take"),
        "{error}"
    );
    assert_eq!(flag.read().unwrap(), "off");
}

/// A driver with rings says of each parameter of them whether it has it.
#[test]
fn a_ring_without_tx_push_refuses_it() {
    let mut names = links::list().unwrap().into_iter().map(|link| link.name);
    let has_rings = |name: &String| ethtool::parameter(name, "rings/rx").is_ok();
    let Some(link) = names.find(has_rings).filter(|_| privileged()) else {
        println!("SKIP: needs a NIC with rings");
        return;
    };
    let push = Setting {
        interface: Some(link),
        ..parameter("rings/tx-push")
    };
    let before = push.read().unwrap();
    match push.write(&before) {
        Ok(()) => assert_eq!(push.read().unwrap(), before),
        Err(error) => {
            let says = error.to_string();
            assert!(
                says.contains("EOPNOTSUPP") && says.contains("tx push"),
                "{says}"
            );
        }
    }
}
