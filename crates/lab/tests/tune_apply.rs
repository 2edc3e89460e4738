//! Settings applied in a namespace and put back: each alone, all together, killed at any entry, with a journal cut short,
//! and with values that somebody else changed meanwhile.

use crate::host::{again, alone, is_killed};
use crate::support;
use mpps_lab::journal::{self, fault};
use mpps_lab::recover::recover;
use mpps_lab::tune::{self, Applied, Applying, Choice, Plan, Planned, Site, TuneError};
use mpps_linux::netns::NetNs;
use mpps_linux::setting::{Kind as Reached, Setting};
use mpps_linux::{ethtool, links};
use mpps_method::random::Random;
use mpps_method::tune::{CATALOGUE, Kind, Profile, Scope};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::net::UdpSocket;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

const LIFE: &str = "a_value_somebody_else_set_is_kept";
const APPLY: &str = "MPPS_TEST_APPLY";
const REVERT: &str = "MPPS_TEST_REVERT";
pub const NETNS: &str = "settings";
/// Files of each interface in sysfs that settings are in.
const FILES: [&str; 5] = [
    "mtu",
    "tx_queue_len",
    "threaded",
    "gro_flush_timeout",
    "napi_defer_hard_irqs",
];
/// Files of each queue.
const QUEUE_FILES: [&str; 4] = ["rps_cpus", "rps_flow_cnt", "xps_cpus", "xps_rxqs"];
/// Random plans that are tried.
const SEEDS: u64 = 3;

pub fn ip(words: &str) {
    let status = Command::new("ip").args(words.split(' ')).status();
    assert!(status.expect("iproute2").success(), "ip {words}");
}

/// A namespace with a pair of interfaces, of this test's own /run.
pub fn raise() -> Site {
    ip("netns add settings");
    let queues = "numrxqueues 2 numtxqueues 2";
    ip(&format!(
        "-n settings link add v0 {queues} type veth peer name v1 {queues}"
    ));
    ip("-n settings link set v0 up");
    ip("-n settings link set v1 up");
    let site = Site::new(Some(NETNS)).expect("a namespace");
    assert!(!site.is_host);
    site
}

/// These count, or name each algorithm whose module a setting has loaded.
const NO_SETTINGS: [&str; 3] = [
    "_count",
    "/tcp_allowed_congestion_control",
    "/tcp_available_congestion_control",
];

fn walk(folder: &Path, held: &mut BTreeMap<String, String>) {
    for entry in fs::read_dir(folder).expect("folder").flatten() {
        let path = entry.path();
        let name = path.display().to_string();
        if path.is_dir() {
            walk(&path, held);
        } else if let Ok(text) = fs::read_to_string(&path)
            && !NO_SETTINGS.iter().any(|end| name.ends_with(end))
        {
            held.insert(name, text);
        }
    }
}

/// Every file, feature and parameter of the namespace.
pub fn everything() -> BTreeMap<String, String> {
    let netns = NetNs::open(NETNS).expect("a namespace");
    let read = |sysfs: &Path| {
        let mut held = BTreeMap::new();
        walk(Path::new("/proc/sys/net"), &mut held);
        for link in links::list().expect("links") {
            for feature in ethtool::features(&link.name).expect("features") {
                held.insert(
                    format!("{} {}", link.name, feature.name),
                    format!("{feature:?}"),
                );
            }
            let parameters = CATALOGUE.iter().flat_map(|row| &row.places);
            for place in parameters.filter(|place| place.kind == Kind::Ethtool) {
                if let Ok(value) = ethtool::parameter(&link.name, place.text) {
                    held.insert(format!("{} {}", link.name, place.text), value);
                }
            }
            let folder = sysfs.join("class/net").join(&link.name);
            let queues = fs::read_dir(folder.join("queues")).expect("queues");
            let queues: Vec<String> = queues
                .flatten()
                .flat_map(|queue| {
                    let queue = queue.file_name().to_string_lossy().into_owned();
                    QUEUE_FILES.map(|file| format!("queues/{queue}/{file}"))
                })
                .collect();
            for file in FILES.into_iter().chain(queues.iter().map(String::as_str)) {
                let text = fs::read_to_string(folder.join(file)).unwrap_or_default();
                held.insert(format!("{} {file}", link.name), text);
            }
        }
        held
    };
    let held = netns.with_sysfs(read).expect("a sysfs");
    assert!(held.len() > 300, "{}", held.len());
    held
}

pub fn differing(before: &BTreeMap<String, String>) -> Vec<String> {
    let now = everything();
    let names = before.keys().chain(now.keys());
    let other = names.filter(|name| before.get(*name) != now.get(*name));
    other
        .map(|name| format!("{name}: {:?} -> {:?}", before.get(name), now.get(name)))
        .collect()
}

/// What a profile's advice changes there; only these settings, if any is named.
pub fn plan(site: &Site, profile: Profile, only: &[&str]) -> Plan {
    let only = only.iter().map(|&id| id.to_owned()).collect();
    let choice = Choice {
        only,
        include_risky: true,
        ..Choice::default()
    };
    let planned = site.run(|root| {
        let machine = site.machine(root, &[]).expect("a machine");
        Plan::new(&machine.standings(profile), profile, &choice, site.is_host)
    });
    planned.expect("the namespace")
}

/// A part of all settings of the namespace and its interfaces. Each gets a value that a profile advises, one of its levels,
/// or the other of two.
fn random_plan(site: &Site, seed: u64) -> Plan {
    let standings = site.run(|root| {
        let machine = site.machine(root, &[]).expect("a machine");
        [Profile::Router, Profile::Endpoint].map(|profile| machine.standings(profile))
    });
    let [router, endpoint] = standings.expect("the namespace");
    let mut random = Random::from_seed(seed);
    let mut changes = Vec::new();
    for (one, other) in router.iter().zip(&endpoint) {
        let is_ours = matches!(one.row.scope, Scope::Namespace | Scope::Interface);
        for (seen, other) in one.seen.iter().zip(&other.seen).filter(|_| is_ours) {
            let (Some(setting), Some(now), None) =
                (seen.place.setting(), seen.now.known(), seen.fixed)
            else {
                continue;
            };
            let flipped = match now.as_str() {
                "0" => "1",
                "1" => "0",
                "on" => "off",
                "off" => "on",
                _ => "",
            };
            let advised = [&seen.advised, &other.advised].into_iter().flatten();
            let advised = advised.map(|value| value.trim_start_matches(">="));
            let mut values = one.row.levels();
            values.retain(|value| !value.contains(' '));
            let values: Vec<&str> = values.into_iter().chain(advised).chain([flipped]).collect();
            let value = values[random.below(values.len() as u64) as usize];
            if random.chance(0.5) && !value.is_empty() && !setting.is_same(value, now) {
                changes.push(Planned {
                    id: one.row.id,
                    setting,
                    now: now.clone(),
                    value: value.to_owned(),
                });
            }
        }
    }
    Plan {
        changes,
        ..Plan::default()
    }
}

/// Makes these changes; kept ones need no confirmation.
pub fn apply(site: &Site, plan: &Plan, is_kept: bool) -> Result<Applied, TuneError> {
    let applied = site.run(|root| {
        let machine = site.machine(root, &[])?;
        Applying::begin(site, &machine, plan)?.make(plan, is_kept, |_| Ok(Vec::new()))
    });
    applied.expect("the namespace")
}

fn recovered() {
    let recovery = recover().expect("recover");
    assert_eq!((recovery.failed, recovery.kept), (vec![], vec![]));
    assert!(!Path::new(journal::ROOT).exists());
}

/// Who applies in it without a confirmation could cut the way to the machine.
#[test]
fn a_name_of_the_own_namespace_sets_none_apart() {
    if !support::can_run() || !alone("a_name_of_the_own_namespace_sets_none_apart") {
        return;
    }
    ip(&format!("netns attach own {}", std::process::id()));
    let [unnamed, own] = [None, Some("own")].map(|name| Site::new(name).expect("a namespace"));
    if !unnamed.is_host {
        support::skip!("the machine's own namespace");
    }
    assert!(!unnamed.is_apart() && !own.is_apart() && raise().is_apart());
}

/// What the whole router's advice changes, and settings that move others.
const SOME: [&str; 5] = [
    "ip_forward",
    "ip6_forwarding",
    "send_redirects",
    "gro",
    "mtu",
];

#[test]
fn each_setting_alone_and_all_come_back() {
    if !support::can_run() || !alone("each_setting_alone_and_all_come_back") {
        return;
    }
    let site = raise();
    let before = everything();
    for profile in [Profile::Router, Profile::Endpoint] {
        let all = plan(&site, profile, &[]);
        let mut ids: Vec<&str> = all.changes.iter().map(|one| one.id).collect();
        ids.dedup();
        assert!(ids.len() > 5, "{ids:?}");
        let alone = ids.iter().map(|id| plan(&site, profile, &[id]));
        for (place, plan) in alone.chain([all.clone()]).enumerate() {
            let applied = apply(&site, &plan, true).expect("applied");
            assert!(
                applied.refused.is_empty() && !applied.made.is_empty(),
                "{applied:?}"
            );
            assert_ne!(differing(&before), [""; 0], "{applied:?}");
            if place == ids.len() {
                let second = apply(&site, &plan, true);
                assert!(matches!(second, Err(TuneError::Applied(_))), "{second:?}");
            }
            let reverted = tune::revert(&site).expect("reverted").expect("settings");
            assert!(
                reverted.settings > 0 && reverted.foreign.is_empty(),
                "{reverted:?}"
            );
            assert_eq!(differing(&before), [""; 0], "{applied:?}");
        }
    }
    assert_eq!(tune::revert(&site).expect("nothing"), None);

    // What is kept stays, until its namespace goes.
    apply(&site, &plan(&site, Profile::Router, &SOME), true).expect("applied");
    assert_eq!(recover().expect("recover").kept, [site.journal()]);
    assert_ne!(differing(&before), [""; 0]);
    drop(site);
    ip("netns del settings");
    recovered();
}

/// Others start it in a process of its own, which applies or reverts and is killed.
#[test]
fn a_value_somebody_else_set_is_kept() {
    if !support::can_run() || !alone(LIFE) {
        return;
    }
    if let Ok(seed) = std::env::var(APPLY) {
        let site = Site::new(Some(NETNS)).expect("a namespace");
        let seed: u64 = seed.parse().expect("a seed");
        if seed > 0 {
            apply(&site, &random_plan(&site, seed), false).expect("applied");
            return;
        }
        let some = plan(&site, Profile::Endpoint, &SOME);
        let forward = plan(&site, Profile::Router, &SOME[..2]);
        let changes = forward.changes.into_iter().chain(some.changes).collect();
        let all = Plan {
            changes,
            ..Plan::default()
        };
        apply(&site, &all, false).expect("applied");
        return;
    }
    if std::env::var_os(REVERT).is_some() {
        let site = Site::new(Some(NETNS)).expect("a namespace");
        tune::revert(&site).expect("reverted");
        return;
    }
    let site = raise();
    let set = |name: &str, value: &str| {
        let setting = Setting::sysctl(name);
        let netns = NetNs::open(NETNS).expect("a namespace");
        netns
            .run(|| setting.write(value))
            .expect("a namespace")
            .expect("written");
    };
    // After a kill nobody knows all that the changes moved, but none of them moves this one.
    assert!(killed(APPLY, fault::KILL_AFTER_CHANGE, 3));
    set("net.ipv4.tcp_sack", "0");
    let reverted = tune::revert(&site).expect("reverted").expect("settings");
    let wanted = "net.ipv4.tcp_sack stays 0, because another program changed it (it was 1)";
    assert_eq!(reverted.foreign, [wanted]);
    set("net.ipv4.tcp_sack", "1");

    let router = plan(&site, Profile::Router, &[]);
    apply(&site, &router, true).expect("applied");
    // One that mpps changed, and one that it did not.
    set("net.ipv4.conf.v0.send_redirects", "2");
    set("net.ipv4.tcp_sack", "0");
    let applied = everything();
    let reverted = tune::revert(&site).expect("reverted").expect("settings");
    let [line] = reverted.foreign.as_slice() else {
        panic!("{reverted:?}");
    };
    let wanted =
        "net.ipv4.conf.v0.send_redirects stays 2, because another program changed it (it was 1)";
    assert_eq!(line, wanted);
    let now = everything();
    for (name, value) in [
        ("ipv4/conf/v0/send_redirects", "2\n"),
        ("ipv4/tcp_sack", "0\n"),
    ] {
        assert_eq!(now[&format!("/proc/sys/net/{name}")], value);
    }
    assert_ne!(
        now["/proc/sys/net/ipv4/ip_forward"],
        applied["/proc/sys/net/ipv4/ip_forward"]
    );
}

/// Runs this program again to apply or revert, to be killed at a step. Whether it was.
fn killed(what: &str, hook: &str, step: u64) -> bool {
    killed_with(0, what, hook, step)
}

/// The same with the random plan of a seed.
fn killed_with(seed: u64, what: &str, hook: &str, step: u64) -> bool {
    is_killed(
        again(LIFE)
            .env(what, seed.to_string())
            .env(hook, step.to_string()),
    )
}

#[test]
fn killed_at_any_entry_it_comes_back() {
    if !support::can_run() || !alone("killed_at_any_entry_it_comes_back") {
        return;
    }
    let site = raise();
    let before = everything();
    for hook in [fault::KILL_AT_JOURNAL, fault::KILL_AFTER_CHANGE] {
        // The first entry has no name yet; only entries from the second on announce writes.
        let first = if hook == fault::KILL_AT_JOURNAL { 1 } else { 2 };
        let mut step = first;
        while killed(APPLY, hook, step) {
            recovered();
            assert_eq!(differing(&before), [""; 0], "{hook} {step}");
            step += 1;
        }
        assert!(step - first > 3, "{hook}: {step}");
        recovered();
        assert_eq!(differing(&before), [""; 0]);
    }
    // Killed while it is put back, and put back by another.
    let mut step = 1;
    loop {
        assert!(!killed(APPLY, fault::KILL_AT_REVERT, 0));
        let was_killed = killed(REVERT, fault::KILL_AT_REVERT, step);
        recovered();
        assert_eq!(differing(&before), [""; 0], "reverting, step {step}");
        if !was_killed {
            break;
        }
        step += 1;
    }
    assert!(step > 3, "{step}");
    assert_eq!(tune::revert(&site).expect("nothing"), None);
}

/// The number of connections is among the places of settings, and nobody can write it.
#[test]
fn connections_opened_meanwhile_do_no_harm() {
    if !support::can_run() || !alone("connections_opened_meanwhile_do_no_harm") {
        return;
    }
    if !support::has("nft") {
        return;
    }
    let _site = raise();
    ip("-n settings link set lo up");
    let tracks = "add table ip t; add chain ip t c { type filter hook output priority 0; }; add rule ip t c ct state new";
    let nft = ["netns", "exec", NETNS, "nft", tracks];
    let status = Command::new("ip").args(nft).status();
    assert!(status.expect("iproute2").success());
    let netns = NetNs::open(NETNS).expect("a namespace");
    let opened = || {
        let socket = UdpSocket::bind("127.0.0.1:0").expect("a socket");
        socket.send_to(&[0], "127.0.0.1:9").expect("sent");
        let count = Setting::sysctl("net.netfilter.nf_conntrack_count").read();
        count.expect("a count").parse::<u32>().expect("a number")
    };
    let open = || netns.run(opened).expect("the namespace");
    let before = everything();
    assert_eq!(open(), 1);
    assert!(killed(APPLY, fault::KILL_AT_JOURNAL, 4));
    assert_eq!(open(), 2);
    recovered();
    assert_eq!(differing(&before), [""; 0]);
}

#[test]
fn random_plans_come_back() {
    if !support::can_run() || !alone("random_plans_come_back") {
        return;
    }
    let site = raise();
    let before = everything();
    let (mut made, mut kills) = (BTreeSet::new(), 0);
    for seed in 1..=SEEDS {
        let applied = apply(&site, &random_plan(&site, seed), true).expect("applied");
        assert_ne!(differing(&before), [""; 0], "seed {seed}");
        tune::revert(&site).expect("reverted").expect("settings");
        assert_eq!(differing(&before), [""; 0], "seed {seed}: {applied:?}");
        let steps = applied.made.len() as u64;
        made.extend(applied.made.into_iter().map(|one| one.id));

        let mut random = Random::from_seed(seed);
        let hook = [fault::KILL_AT_JOURNAL, fault::KILL_AFTER_CHANGE][random.below(2) as usize];
        let step = 2 + random.below(steps);
        kills += usize::from(killed_with(seed, APPLY, hook, step));
        recovered();
        assert_eq!(differing(&before), [""; 0], "seed {seed}, {hook} {step}");
    }
    assert!(made.len() > 20 && kills > 1, "{kills} kills, {made:?}");
}

fn journal_of(site: &Site) -> PathBuf {
    PathBuf::from(journal::ROOT)
        .join(site.journal())
        .join("journal.jsonl")
}

fn cut(file: &Path, at: usize) {
    let open = fs::OpenOptions::new().write(true).open(file);
    open.expect("journal").set_len(at as u64).expect("cut");
}

/// All files of a folder; the folder anew, as a journal's has to be.
pub fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("folder");
    for folder in [Path::new(journal::ROOT), to] {
        let set = fs::set_permissions(folder, fs::Permissions::from_mode(0o755));
        set.expect("mode");
    }
    for entry in fs::read_dir(from).expect("folder").flatten() {
        fs::copy(entry.path(), to.join(entry.file_name())).expect("a file");
    }
}

#[test]
fn a_journal_cut_all_along_is_put_back() {
    if !support::can_run() || !alone("a_journal_cut_all_along_is_put_back") {
        return;
    }
    let site = raise();
    let all = plan(&site, Profile::Endpoint, &[]).changes;
    let of_kind = |kind| all.iter().filter(move |one| one.setting.kind == kind);
    // A default moves the interfaces too.
    let sysctls = of_kind(Reached::Sysctl).filter(|one| !one.setting.name.contains("/default/"));
    let sysctls: Vec<Planned> = sysctls.take(2).cloned().collect();
    let feature = of_kind(Reached::Ethtool).take(1).cloned();
    let with_feature = feature.chain(sysctls.clone()).collect();
    // The kernel takes long to change a feature of an interface.
    cut_at_each(&site, sysctls, 7);
    cut_at_each(&site, with_feature, 48);
}

/// With a journal of these changes that is cut after so many bytes, as many more, and so on, and before and after the end of
/// each line. The journal's own tests read one that is cut at each byte.
fn cut_at_each(site: &Site, changes: Vec<Planned>, bytes: usize) {
    let before = everything();
    let file = journal_of(site);
    let (folder, whole) = (file.parent().expect("a folder"), Path::new("/run/whole"));
    // Applied once, because to look at the whole machine each time takes longest: then its journal and its values.
    let short = Plan {
        changes,
        ..Plan::default()
    };
    apply(site, &short, false).expect("applied");
    copy(folder, whole);
    let applied = everything();
    let name = |one: &Planned| {
        let name = one.setting.name.trim_start_matches("features/");
        name.replace('*', one.setting.interface.as_deref().unwrap_or_default())
    };
    let is_ours = |line: &String| short.changes.iter().any(|one| line.contains(&name(one)));
    let changed = differing(&before);
    // Nothing else moves with them: the next revert could hide what this one left.
    assert!(
        changed.len() >= short.changes.len() && changed.iter().all(is_ours),
        "{changed:?}"
    );
    let netns = NetNs::open(NETNS).expect("a namespace");
    let again = || {
        copy(whole, folder);
        for one in &short.changes {
            one.setting.ensure(&one.value).expect("written");
        }
    };
    let is_back = || {
        let mut each = short.changes.iter();
        each.all(|one| one.setting.read().ok().as_ref() == Some(&one.now))
    };
    let text = fs::read(&file).expect("journal");
    let length = text.len();
    assert!(length > 100, "{length}");
    let ends = (0..length).filter(|&at| text[at] == b'\n');
    let cuts = ends.flat_map(|end| [end, end + 1]);
    let cuts: BTreeSet<usize> = cuts.chain((0..length).step_by(bytes)).collect();
    for (turn, &at) in cuts.iter().enumerate() {
        netns.run(again).expect("the namespace");
        let is_looked_at = turn % 5 == 0 || at == length;
        if is_looked_at {
            assert_eq!(differing(&applied), [""; 0], "{at}");
        }
        cut(&file, at);
        tune::revert(site).expect("reverted");
        let back = netns.run(is_back).expect("the namespace");
        assert!(back, "cut at {at} of {length}");
        if is_looked_at {
            let left = differing(&before);
            assert_eq!(left, [""; 0], "cut at {at} of {length} or before");
        }
    }
    fs::remove_dir_all(whole).expect("tidy up");
}

#[test]
fn a_journal_cut_at_any_byte_is_put_back() {
    if !support::can_run() || !alone("a_journal_cut_at_any_byte_is_put_back") {
        return;
    }
    let site = raise();
    let before = everything();
    let file = journal_of(&site);
    let all = plan(&site, Profile::Endpoint, &[]);
    let seed = 11;
    let mut random = Random::from_seed(seed);
    let plans = [seed, seed + 1, seed + 2, seed + 3].map(|seed| random_plan(&site, seed));
    for round in 0..6 {
        // A random part of a random plan.
        let mut some = plans[round % plans.len()].clone();
        some.changes
            .retain(|_| !random.next_u64().is_multiple_of(3));
        apply(&site, &some, false).expect("applied");
        let length = fs::read(&file).expect("journal").len();
        // Every third cut is within the first line.
        let most = if round % 3 == 0 { 100 } else { length };
        let at = random.next_u64() as usize % (most + 1);
        cut(&file, at);
        tune::revert(&site).expect("reverted");
        assert_eq!(
            differing(&before),
            [""; 0],
            "seed {seed}, round {round}: cut at {at}"
        );
    }
    // Killed before the values before were on disk, nothing has been changed.
    for torn in ["", "{\"netns\":"] {
        let begun = site.run(|root| {
            let machine = site.machine(root, &[]).expect("a machine");
            drop(Applying::begin(&site, &machine, &all).expect("begun"));
        });
        begun.expect("the namespace");
        let held = file.with_file_name("before.json");
        match torn {
            "" => fs::remove_file(held).expect("removed"),
            torn => fs::write(held, torn).expect("torn"),
        }
        recovered();
    }
    assert_eq!(differing(&before), [""; 0]);
}
