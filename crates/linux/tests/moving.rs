//! A link goes to another namespace and comes back as it was, seen by another implementation (iproute2).

use crate::scratch::{Scratch, joined, privileged, wait_for};
use mpps_linux::links::{self, Configuration};
use mpps_linux::netns::NetNs;
use mpps_linux::setting::Setting;
use std::process::Command;

/// What iproute2 says in the namespace.
fn ip(netns: &Scratch, words: &str) -> String {
    let output = netns.run(|| Command::new("ip").args(words.split(' ')).output());
    let output = output.expect("ip (iproute2)");
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "ip {words}: {error}");
    String::from_utf8(output.stdout).expect("text")
}

fn look(netns: &Scratch) -> Vec<String> {
    let setting = |name: &str| {
        netns
            .run(|| Setting::sysctl(name).read())
            .expect("a setting")
    };
    [
        ip(netns, "-4 addr show dev mC"),
        ip(netns, "-6 addr show dev mC"),
        ip(netns, "-4 route show dev mC"),
        ip(netns, "-6 route show dev mC"),
        ip(netns, "route show table 77 dev mC"),
        setting("net.ipv4.conf.mC.rp_filter"),
        setting("net.ipv6.conf.mC.accept_ra"),
        setting("net.ipv4.neigh.mC.base_reachable_time_ms"),
    ]
    .into_iter()
    .map(|text| without_states(&text))
    .collect()
}

/// Indexes and states that come and go by themselves.
fn without_states(text: &str) -> String {
    let lines = text.lines().map(|line| {
        let line = line.split(" linkdown").collect::<String>();
        line.split(" tentative").collect::<String>()
    });
    let lines: Vec<String> = lines
        .map(|line| {
            line.split("ms)")
                .next()
                .unwrap_or_default()
                .trim()
                .to_owned()
        })
        .collect();
    lines.join("\n")
}

fn configure(home: &Scratch) {
    home.run(|| {
        Setting::sysctl("net.ipv6.conf.mC.disable_ipv6")
            .write("0")
            .expect("IPv6");
        Setting::sysctl("net.ipv4.conf.mC.rp_filter")
            .write("2")
            .expect("rp_filter");
        Setting::sysctl("net.ipv6.conf.mC.accept_ra")
            .write("0")
            .expect("accept_ra");
        Setting::sysctl("net.ipv4.neigh.mC.base_reachable_time_ms")
            .write("12000")
            .expect("neigh");
        links::set_mtu("mC", 1400).expect("MTU");
        links::set_promiscuous("mC", true).expect("promiscuous");
    });
    for words in [
        "addr add 192.0.2.1/24 broadcast 192.0.2.255 label mC:one dev mC",
        "addr add 192.0.2.7/24 dev mC",
        "addr add 198.51.100.1 peer 198.51.100.2 dev mC",
        "-6 addr add 2001:db8::1/64 nodad dev mC",
        "route add 203.0.113.0/24 via 192.0.2.9 metric 50 dev mC",
        "route add 10.9.0.0/16 dev mC src 192.0.2.7 mtu 1200",
        "route add 10.8.0.0/16 via 192.0.2.9 table 77 dev mC",
        "route add 10.7.0.0/16 via 10.255.0.1 onlink dev mC",
        "-6 route add 2001:db8:9::/48 via 2001:db8::9 metric 77 dev mC",
    ] {
        ip(home, words);
    }
}

#[test]
fn a_link_comes_back_with_its_layer_3() {
    if !privileged() {
        return;
    }
    let (home, _peer) = joined(1);
    let away = Scratch::new();
    configure(&home);
    let settled = || !ip(&home, "-6 addr show dev mC").contains("tentative");
    wait_for("duplicate address detection", || settled().then_some(()));
    let (before, about) = (look(&home), home.run(|| links::get("mC")).expect("mC"));
    assert!(about.promiscuous && about.mtu == 1400 && about.kind.as_deref() == Some("veth"));
    let kept = home
        .run(|| Configuration::read("mC"))
        .expect("configuration");
    assert_eq!(
        (kept.addresses.len(), kept.routes.len()),
        (5, 5),
        "{kept:?}"
    );
    let back = home
        .run(|| NetNs::find(home.0.inode()))
        .expect("look")
        .expect("home");
    home.run(|| links::move_to("mC", &away.0)).expect("move");
    assert!(!home.run(|| links::exists("mC")).expect("look"));
    let there = away.run(|| links::get("mC")).expect("mC there");
    assert!(!there.up, "it arrives down");
    away.run(|| {
        links::set_mtu("mC", 9000).expect("MTU");
        links::set_up("mC").expect("up");
        links::move_to("mC", &back).expect("move back");
    });
    home.run(|| {
        links::set_mtu("mC", about.mtu).expect("MTU");
        kept.put_settings("mC").expect("settings");
        links::set_up("mC").expect("up");
        kept.put_on("mC").expect("put on");
    });
    wait_for("duplicate address detection", || settled().then_some(()));
    wait_for("carrier", || {
        home.run(|| links::get("mC"))
            .expect("mC")
            .carrier
            .then_some(())
    });
    assert_eq!(look(&home), before);
    let after = home.run(|| links::get("mC")).expect("mC");
    assert_eq!((after.mtu, after.promiscuous, after.up), (1400, true, true));
    // Again: nothing is there twice, nothing is refused.
    home.run(|| kept.put_on("mC")).expect("put on again");
    assert_eq!(look(&home), before);
}

#[test]
fn what_cannot_be_put_on_again_is_refused_and_named() {
    if !privileged() {
        return;
    }
    let (home, _peer) = joined(1);
    ip(&home, "addr add 192.0.2.1/24 dev mC");
    ip(
        &home,
        "route add 203.0.113.0/24 nexthop via 192.0.2.8 dev mC nexthop via 192.0.2.9 dev mC",
    );
    let error = home
        .run(|| Configuration::read("mC"))
        .expect_err("two ways");
    assert!(error.to_string().contains("multipath route"), "{error}");
    assert!(
        home.run(|| Configuration::read("none"))
            .expect_err("none")
            .is_missing()
    );
}

#[test]
fn a_link_that_cannot_move_says_so() {
    if !privileged() {
        return;
    }
    let (here, there) = (Scratch::new(), Scratch::new());
    let error = here.run(|| links::move_to("lo", &there.0)).expect_err("lo");
    assert!(error.to_string().contains("move to netns"), "{error}");
    assert!(here.run(|| links::get("lo")).expect("lo").loopback);
}
