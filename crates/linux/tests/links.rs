//! Links, addresses, neighbours, routes and counters in namespaces. Needs root.

use std::net::{IpAddr, UdpSocket};
use std::process::Command;
use std::time::Duration;

use crate::scratch::{MAC_C, MAC_D, Scratch, joined, privileged, skip, wait_for};
use mpps_linux::links::{self, VethSpec};
use mpps_linux::{ethtool, setting::Setting, xdp};

fn ip(text: &str) -> IpAddr {
    text.parse().unwrap()
}

#[test]
fn a_veth_has_names_addresses_and_queues_asked_for() {
    if !privileged() {
        return;
    }
    let (c, d) = joined(2);
    let mc = c.run(|| links::get("mC").unwrap());
    let md = d.run(|| links::get("mD").unwrap());
    assert_eq!(
        (mc.mac.as_slice(), md.mac.as_slice()),
        (&MAC_C[..], &MAC_D[..])
    );
    assert_eq!((mc.rx_queues, mc.tx_queues), (2, 2));
    assert_eq!((md.rx_queues, md.tx_queues), (2, 2));
    assert!(mc.up && md.up);
    wait_for("carrier", || {
        c.run(|| links::get("mC").unwrap().carrier).then_some(())
    });
    assert_eq!(c.run(|| links::index("mC").unwrap()), mc.index);
}

#[test]
fn a_link_is_changed_and_read_back() {
    if !privileged() {
        return;
    }
    let (c, _d) = joined(1);
    c.run(|| {
        links::set_mtu("mC", 9000).unwrap();
        links::set_multicast("mC", false).unwrap();
        let link = links::get("mC").unwrap();
        assert_eq!((link.mtu, link.multicast, link.up), (9000, false, true));
        links::set_down("mC").unwrap();
        links::set_multicast("mC", true).unwrap();
        let link = links::get("mC").unwrap();
        assert_eq!(
            (link.multicast, link.up, link.carrier),
            (true, false, false)
        );
        links::delete("mC").unwrap();
        assert!(!links::exists("mC").unwrap());
    });
}

#[test]
fn refusals_name_the_link_and_its_namespace() {
    if !privileged() {
        return;
    }
    let (c, d) = joined(1);
    let missing = c.run(|| links::set_up("mX").unwrap_err().to_string());
    assert_eq!(
        missing,
        format!("set link up mX in netns {}: ENODEV", c.0.name())
    );
    let taken = c.run(|| {
        let spec = VethSpec {
            name: "mC",
            mac: MAC_C,
            peer_name: "mE",
            peer_mac: MAC_D,
            peer_netns: &d.0,
            rx_queues: 1,
            tx_queues: 1,
        };
        links::create_veth(&spec).unwrap_err()
    });
    assert_eq!(taken.errno(), Some(libc::EEXIST), "{taken}");
    assert!(
        !d.run(|| links::exists("mE").unwrap()),
        "half a pair was left"
    );
    let mtu = c.run(|| links::set_mtu("mC", 1).unwrap_err().to_string());
    assert!(
        mtu.contains("EINVAL, the kernel says: mtu less than device minimum"),
        "{mtu}"
    );
}

#[test]
fn a_name_the_kernel_cannot_hold_is_refused() {
    if !privileged() {
        return;
    }
    let scratch = Scratch::new();
    let error = scratch.run(|| links::set_up("sixteen-letters-").unwrap_err());
    assert!(error.errno().is_some(), "{error}");
    assert!(
        scratch
            .run(|| ethtool::features("sixteen-letters-").unwrap_err())
            .is_missing()
    );
}

#[test]
fn neighbours_are_listed_by_who_added_them() {
    if !privileged() {
        return;
    }
    let (c, _d) = joined(1);
    c.run(|| {
        links::add_address("mC", ip("198.19.0.1"), 16).unwrap();
        links::add_neighbour("mC", ip("198.19.0.2"), MAC_D).unwrap();
        for ours in ["198.19.0.3", "198.19.0.4"] {
            links::add_neighbour_by("mC", ip(ours), MAC_D, 109).unwrap();
        }
        let of = |protocol| {
            let mut all = links::neighbours().unwrap();
            all.retain(|one| one.protocol == protocol);
            all
        };
        let ours = of(109);
        let link = links::index("mC").unwrap();
        assert!(
            ours.len() == 2 && ours.iter().all(|one| one.link == link),
            "{ours:?}"
        );
        for one in &ours {
            links::remove_neighbour(one).unwrap();
        }
        assert_eq!(of(109), []);
        let bare = of(0);
        assert!(
            bare.iter().any(|one| one.address == ip("198.19.0.2")),
            "{bare:?}"
        );
        let gone = links::remove_neighbour(&ours[0]).unwrap_err();
        assert_eq!(gone.errno(), Some(libc::ENOENT), "{gone}");
    });
}

#[test]
fn a_datagram_arrives_without_arp() {
    if !privileged() {
        return;
    }
    let (c, d) = joined(1);
    c.run(|| {
        links::add_address("mC", ip("198.19.0.1"), 16).unwrap();
        links::add_neighbour("mC", ip("198.19.0.2"), MAC_D).unwrap();
        links::add_route(ip("198.18.0.0"), 16, Some(ip("198.19.0.2")), "mC").unwrap();
        let again = links::add_route(ip("198.18.0.0"), 16, Some(ip("198.19.0.2")), "mC");
        assert_eq!(again.unwrap_err().errno(), Some(libc::EEXIST));
        let lost = links::add_route(ip("10.0.0.0"), 8, Some(ip("192.0.2.1")), "mC");
        let lost = lost.unwrap_err().to_string();
        assert!(
            lost.contains("the kernel says: Nexthop has invalid gateway"),
            "{lost}"
        );
    });
    d.run(|| {
        links::add_address("mD", ip("198.19.0.2"), 16).unwrap();
        links::add_address("mD", ip("198.18.0.1"), 32).unwrap();
    });
    let receiver = d.run(|| UdpSocket::bind("198.18.0.1:7000").unwrap());
    receiver
        .set_read_timeout(Some(Duration::from_secs(10)))
        .unwrap();
    let sender = c.run(|| UdpSocket::bind("198.19.0.1:0").unwrap());
    let before = c.run(|| links::stats("mC").unwrap());
    assert_eq!(before.tx_packets, 0, "somebody sent stray frames");
    for _ in 0..3 {
        sender.send_to(b"by the route", "198.18.0.1:7000").unwrap();
    }
    let mut buffer = [0; 64];
    for _ in 0..3 {
        let n = receiver.recv(&mut buffer).unwrap();
        assert_eq!(&buffer[..n], b"by the route");
    }
    // Three datagrams of 12 octets, and not one ARP frame.
    let sent = c.run(|| links::stats("mC").unwrap());
    let received = d.run(|| links::stats("mD").unwrap());
    assert_eq!(
        (sent.tx_packets, sent.tx_bytes),
        (3, 3 * (14 + 20 + 8 + 12))
    );
    assert_eq!((received.rx_packets, received.tx_packets), (3, 0));
    assert_eq!((sent.tx_dropped, received.rx_dropped), (0, 0));
}

/// ICMPv6 messages that this thread's namespace has sent: group reports (MLDv2), and all others.
fn icmp6_sent() -> (u64, u64) {
    let all = std::fs::read_to_string("/proc/thread-self/net/snmp6").unwrap();
    let (mut reports, mut others) = (0, 0);
    for line in all.lines() {
        let Some((kind, value)) = line
            .strip_prefix("Icmp6OutType")
            .and_then(|line| line.split_once(char::is_whitespace))
        else {
            continue;
        };
        let of_kind = if kind == "143" {
            &mut reports
        } else {
            &mut others
        };
        *of_kind += value.trim().parse::<u64>().unwrap();
    }
    (reports, others)
}

#[test]
fn ipv6_addresses_are_usable_at_once() {
    if !privileged() {
        return;
    }
    let (c, d) = (Scratch::new(), Scratch::new());
    if !c.run(|| Setting::sysctl("net.ipv6.conf.default.disable_ipv6").exists()) {
        skip("IPv6");
        return;
    }
    d.run(|| {
        Setting::sysctl("net.ipv6.conf.default.disable_ipv6")
            .write("1")
            .unwrap()
    });
    c.run(|| {
        // A group report (MLD) would go out even without any address of our own.
        Setting::sysctl("net.ipv6.conf.default.accept_ra")
            .write("0")
            .unwrap();
        links::create_veth(&VethSpec {
            name: "mC",
            mac: MAC_C,
            peer_name: "mD",
            peer_mac: MAC_D,
            peer_netns: &d.0,
            rx_queues: 1,
            tx_queues: 1,
        })
        .unwrap();
        links::set_multicast("mC", false).unwrap();
        links::set_addr_gen_mode_none("mC").unwrap();
        assert_eq!(
            Setting::sysctl("net.ipv6.conf.mC.addr_gen_mode")
                .read()
                .unwrap(),
            "1"
        );
        links::set_up("mC").unwrap();
    });
    d.run(|| links::set_up("mD").unwrap());
    c.run(|| {
        links::add_address("mC", ip("2001:2:0:2::1"), 64).unwrap();
        links::add_neighbour("mC", ip("2001:2:0:2::2"), MAC_D).unwrap();
        // Binding fails while an address is tentative: it is not.
        let socket = UdpSocket::bind("[2001:2:0:2::1]:0").unwrap();
        socket.send_to(b"x", "[2001:2:0:2::2]:7").unwrap();
        // A worker of the kernel's reports the address' group, sooner or later; nothing else of ICMPv6's goes out.
        let sent = links::stats("mC").unwrap().tx_packets;
        let (reports, others) = icmp6_sent();
        assert!(
            (1..=1 + reports).contains(&sent),
            "{sent} frames, {reports} reports"
        );
        assert_eq!(others, 0, "the router solicits");
    });
    let error = d.run(|| links::add_address("mD", ip("2001:2:0:2::2"), 64).unwrap_err());
    assert!(
        error.to_string().contains("IPv6 is disabled here"),
        "{error}"
    );
}

#[test]
fn a_feature_is_switched_unless_it_is_fixed() {
    if !privileged() {
        return;
    }
    let (_c, d) = joined(1);
    d.run(|| {
        for on in [true, false, true] {
            ethtool::set_feature("mD", "rx-gro", on).unwrap();
            let features = ethtool::features("mD").unwrap();
            let gro = features.iter().find(|f| f.name == "rx-gro").unwrap();
            assert_eq!((gro.on, gro.changeable), (on, true));
        }
        let unknown = ethtool::set_feature("mD", "rx-magic", true).unwrap_err();
        assert!(unknown.to_string().contains("no such feature"), "{unknown}");
        let fixed = ethtool::set_feature("mD", "rx-vlan-filter", true).unwrap_err();
        assert!(
            fixed.to_string().contains("the link cannot change it"),
            "{fixed}"
        );
    });
}

#[test]
fn driver_statistics_have_a_counter_for_each_name() {
    if !privileged() {
        return;
    }
    let (_c, d) = joined(2);
    let statistics = d.run(|| ethtool::statistics("mD").unwrap());
    let get = |name: &str| statistics.iter().find(|(n, _)| n == name).map(|(_, v)| *v);
    assert_eq!(get("rx_queue_0_xdp_packets"), Some(0), "{statistics:?}");
    assert_eq!(get("rx_queue_1_drops"), Some(0));
    assert!(get("peer_ifindex").unwrap() > 0);
    // The loopback driver has none.
    assert_eq!(d.run(|| ethtool::statistics("lo").unwrap()), []);
    assert!(
        d.run(|| ethtool::statistics("mX").unwrap_err())
            .is_missing()
    );
}

#[test]
fn iproute2_agrees_with_what_we_made() {
    if !privileged() {
        return;
    }
    let (c, _d) = joined(1);
    let shown = c.run(|| {
        links::add_address("mC", ip("198.19.0.1"), 16).unwrap();
        links::add_neighbour("mC", ip("198.19.0.2"), MAC_D).unwrap();
        ["address", "neighbour"].map(|what| Command::new("ip").args([what, "show"]).output())
    });
    let [Ok(addresses), Ok(neighbours)] = shown else {
        return skip("iproute2");
    };
    let addresses = String::from_utf8_lossy(&addresses.stdout).into_owned();
    assert!(
        addresses.contains("inet 198.19.0.1/16 scope global mC"),
        "{addresses}"
    );
    let neighbours = String::from_utf8_lossy(&neighbours.stdout).into_owned();
    assert!(
        neighbours.contains("198.19.0.2 dev mC lladdr 02:6d:70:70:00:0d PERMANENT"),
        "{neighbours}"
    );
}

#[test]
fn a_driver_says_what_it_is_and_what_it_has() {
    if !privileged() {
        return;
    }
    let (_c, d) = joined(3);
    d.run(|| {
        // Whatever a veth carries, its driver says 10 Gbit/s.
        assert_eq!(ethtool::speed("mD").unwrap(), Some(10_000));
        assert!(ethtool::speed("lo").is_err());
        let driver = ethtool::driver("mD").unwrap();
        assert_eq!((driver.name.as_str(), driver.bus.as_str()), ("veth", ""));
        let channels = ethtool::numbers("mD", "channels", ["rx", "tx", "rx-max"]);
        let [rx, tx, most] = channels.unwrap();
        assert!((rx, tx) == (3, 3) && most >= 3, "{rx} {tx} {most}");
        // A veth has no rings that could be set.
        let rings = ethtool::numbers("mD", "rings", ["rx"]).unwrap_err();
        assert_eq!(rings.errno(), None, "{rings}");
        let features = xdp::features("mD");
        if mpps_linux::kernel::release().unwrap().at_least(6, 3) {
            let features = features.unwrap();
            assert!(features.basic && features.redirect, "{features:?}");
            assert!(!features.zero_copy, "{features:?}");
        }
        assert!(ethtool::driver("mX").unwrap_err().is_missing());
    });
}

#[test]
fn addresses_are_listed_with_their_networks() {
    if !privileged() {
        return;
    }
    let (c, _d) = joined(1);
    c.run(|| {
        Setting::sysctl("net.ipv6.conf.all.disable_ipv6")
            .write("0")
            .unwrap()
    });
    c.run(|| {
        links::add_address("mC", ip("192.0.2.1"), 24).unwrap();
        links::add_address("mC", ip("2001:db8::1"), 64).unwrap();
    });
    // A point-to-point address: the network is the peer's.
    c.run(|| {
        let words = [
            "addr",
            "add",
            "198.51.100.1",
            "peer",
            "203.0.113.0/30",
            "dev",
            "mC",
        ];
        assert!(Command::new("ip").args(words).status().unwrap().success());
    });
    let listed = c.run(|| links::addresses().unwrap());
    let index = c.run(|| links::index("mC").unwrap());
    for (own, network, prefix_len) in [
        ("192.0.2.1", "192.0.2.1", 24),
        ("2001:db8::1", "2001:db8::1", 64),
        ("198.51.100.1", "203.0.113.0", 30),
    ] {
        let wanted = links::Address {
            link: index,
            own: ip(own),
            network: ip(network),
            prefix_len,
        };
        assert!(listed.contains(&wanted), "{wanted:?} in {listed:?}");
    }
}
