//! Settings put back where namespaces, interfaces and routes are not what they were.

use crate::host::alone;
use crate::support;
use crate::tune_apply::{NETNS, apply, copy, differing, everything, ip, plan, raise};
use mpps_lab::clock::wait_for;
use mpps_lab::journal::{self, Reverted};
use mpps_lab::recover::recover;
use mpps_lab::tune::{self, Site, TuneError};
use mpps_linux::netns::{self, NetNs};
use mpps_linux::packet::{Filter, PacketSocket};
use mpps_linux::routes::{self, Family};
use mpps_linux::setting::Setting;
use mpps_method::tune::Profile;
use mpps_wire::checksum;
use std::fs;
use std::net::{IpAddr, Ipv6Addr};
use std::path::{Path, PathBuf};

fn inside<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    let netns = NetNs::open(NETNS).expect("a namespace");
    netns.run(work).expect("entered")
}

fn read(setting: &Setting) -> String {
    inside(|| setting.read()).expect("read")
}

fn folder_of(site: &Site) -> PathBuf {
    Path::new(journal::ROOT).join(site.journal())
}

/// The kernel gives the number of a namespace that is gone to the next one. This does so whatever number that got.
#[test]
fn a_deleted_namespaces_settings_stay_away() {
    if !support::can_run() || !alone("a_deleted_namespaces_settings_stay_away") {
        return;
    }
    let first = raise();
    let Some(cookie) = inside(netns::own_cookie) else {
        support::skip!("cookies of namespaces (Linux 5.14)");
    };
    let all = plan(&first, Profile::Router, &["ip_forward", "send_redirects"]);
    apply(&first, &all, true).expect("applied");
    let whole = Path::new("/run/whole");
    copy(&folder_of(&first), whole);
    let then = first.journal().replace("tune_", "");
    drop(first);
    fs::remove_dir_all(journal::ROOT).expect("removed");
    ip("netns del settings");
    let site = raise();
    let now = site.journal().replace("tune_", "");
    let inherit = |cookie: &str| {
        copy(whole, &folder_of(&site));
        for file in ["journal.jsonl", "before.json"].map(|file| folder_of(&site).join(file)) {
            let text = fs::read_to_string(&file)
                .expect("text")
                .replace(&then, &now);
            assert!(text.contains("\"cookie\":"), "{text}");
            fs::write(&file, text.replace(cookie, "")).expect("written");
        }
    };
    let forward = Setting::sysctl("net.ipv4.ip_forward");
    inside(|| forward.write("1")).expect("written");
    let before = everything();
    let gone = Reverted {
        gone: vec!["they were settings of a network namespace that is gone".to_owned()],
        ..Reverted::default()
    };
    inherit("none");
    let reverted = tune::revert(&site).expect("reverted");
    assert_eq!(reverted.as_ref(), Some(&gone));
    inherit("none");
    let recovery = recover().expect("recover");
    assert_eq!(recovery.reverted, [(site.journal(), gone)]);
    inherit("none");
    let confirmed = tune::confirm(&site);
    assert!(
        matches!(confirmed, Err(TuneError::NothingApplied)),
        "{confirmed:?}"
    );
    inherit("none");
    site.check_free().expect("nothing is applied here");
    assert!(!Path::new(journal::ROOT).exists());
    assert_eq!(differing(&before), [""; 0]);

    // A journal from before cookies is believed.
    inherit(&format!(",\"cookie\":{cookie}"));
    assert!(matches!(site.check_free(), Err(TuneError::Applied(_))));
    tune::revert(&site).expect("reverted").expect("settings");
    assert_eq!(read(&forward), "0");
}

/// A router advertisement of fe80::1, with a lifetime.
fn advertisement() -> Vec<u8> {
    let (source, destination) = ("fe80::1", "ff02::1");
    let [source, destination]: [Ipv6Addr; 2] =
        [source, destination].map(|text| text.parse().expect("an address"));
    let mut message = [134, 0, 0, 0, 0, 0, 7, 8, 0, 0, 0, 0, 0, 0, 0, 0];
    let [from, to] = [source, destination].map(IpAddr::V6);
    let sum = checksum::pseudo_header(from, to, 58, 16) + checksum::sum(&message);
    message[2..4].copy_from_slice(&checksum::finish(sum).to_be_bytes());
    let ethernet = [0x33, 0x33, 0, 0, 0, 1, 2, 0, 0, 0, 0, 1, 0x86, 0xdd];
    let ip = [0x60, 0, 0, 0, 0, 16, 58, 255];
    let addresses = [source.octets(), destination.octets()].concat();
    [&ethernet[..], &ip, &addresses, &message].concat()
}

fn has_default_route() -> bool {
    let mut found = false;
    let each = |route: &routes::Route| {
        found |= route.prefix.prefix_len() == 0 && route.gateway.is_some();
    };
    routes::dump(Family::V6, &routes::Filter::default(), || {}, each).expect("routes");
    found
}

#[test]
fn an_announced_default_route_stays() {
    if !support::can_run() || !alone("an_announced_default_route_stays") {
        return;
    }
    let site = raise();
    let hear = || {
        let router = PacketSocket::open("v1", &Filter::first_octets(0), &[]).expect("a socket");
        wait_for(10_000_000_000, 10_000_000, || {
            router.send(&advertisement()).map(|()| has_default_route())
        })
    };
    assert_eq!(inside(hear), Ok(true));
    let before = everything();
    let all = plan(&site, Profile::Router, &["ip6_forwarding"]);
    let changes = all.changes.iter();
    let changes: Vec<String> = changes
        .map(|one| format!("{} {}", tune::shown(&one.setting), one.value))
        .collect();
    let wanted = [
        "net.ipv6.conf.v0.accept_ra 2",
        "net.ipv6.conf.all.forwarding 1",
    ];
    assert_eq!(changes, wanted);
    apply(&site, &all, true).expect("applied");
    assert!(inside(has_default_route), "while it forwards");
    // What is met stays in files for each boot.
    let again = plan(&site, Profile::Router, &["ip6_forwarding"]);
    assert_eq!((again.changes.len(), again.met.len()), (0, 2), "{again:?}");
    tune::revert(&site).expect("reverted").expect("settings");
    assert!(inside(has_default_route), "put back");
    assert_eq!(differing(&before), [""; 0]);
    // Another program, which set 0, adds such routes itself.
    inside(|| Setting::sysctl("net.ipv6.conf.v0.accept_ra").write("0")).expect("written");
    let other = plan(&site, Profile::Router, &["ip6_forwarding"]);
    assert_eq!(other.changes.len(), 1, "{other:?}");
}

#[test]
fn a_renamed_interface_gets_its_values_back() {
    if !support::can_run() || !alone("a_renamed_interface_gets_its_values_back") {
        return;
    }
    let site = raise();
    // The kernel renames an interface that is up only since Linux 6.2.
    ip("-n settings link set v0 down");
    let length = |name: &str| Setting::device_file(name, "tx_queue_len");
    let before = read(&length("v0"));
    let all = plan(&site, Profile::Endpoint, &["txqueuelen"]);
    assert_eq!(all.changes.len(), 2, "{all:?}");
    apply(&site, &all, true).expect("applied");
    ip("-n settings link set v0 name w0");
    let reverted = tune::revert(&site).expect("reverted").expect("settings");
    let wanted = Reverted {
        settings: 2,
        ..Reverted::default()
    };
    assert_eq!(reverted, wanted);
    assert_eq!(read(&length("w0")), before);

    // Somebody else's value is told by the new name, and an interface that went by its old one.
    apply(
        &site,
        &plan(&site, Profile::Endpoint, &["txqueuelen"]),
        true,
    )
    .expect("applied");
    ip("-n settings link set w0 name v0");
    inside(|| length("v0").write("77")).expect("written");
    let reverted = tune::revert(&site).expect("reverted").expect("settings");
    let path = |name: &str| format!("/sys/class/net/{name}/tx_queue_len");
    let wanted = format!(
        "{} stays 77, because another program changed it (it was {before})",
        path("v0")
    );
    assert_eq!((reverted.settings, reverted.foreign), (1, vec![wanted]));

    apply(
        &site,
        &plan(&site, Profile::Endpoint, &["txqueuelen"]),
        true,
    )
    .expect("applied");
    ip("-n settings link del v0");
    let mut reverted = tune::revert(&site).expect("reverted").expect("settings");
    let gone = ["v0", "v1"].map(|name| {
        format!(
            "{} is not put back, because its interface is gone",
            path(name)
        )
    });
    reverted.gone.sort();
    assert_eq!((reverted.settings, reverted.gone), (0, gone.to_vec()));
}
