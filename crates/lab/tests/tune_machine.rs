//! Settings of a whole machine, set and put back: each alone, all together, and killed after any change. Only on a machine of
//! the tests' own, such as `cargo xtask kernel` boots.

use crate::host::{again, alone, is_killed};
use crate::support;
use crate::tune_apply::{apply, plan};
use mpps_lab::journal::{self, fault};
use mpps_lab::recover::recover;
use mpps_lab::tune::{self, Site};
use mpps_linux::{ethtool, links};
use mpps_method::tune::{Profile, Scope};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

const TEST: &str = "a_machines_settings_come_back";
/// Set where the machine is the tests' own.
pub const OWN: &str = "MPPS_TEST_MACHINE";
const APPLY: &str = "MPPS_TEST_APPLY";
const PROFILES: [Profile; 2] = [Profile::Router, Profile::Endpoint];

pub type Values = BTreeMap<String, String>;

fn walk(folder: &Path, held: &mut Values) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() && !path.is_symlink() {
            walk(&path, held);
        } else if let Ok(text) = fs::read_to_string(&path) {
            held.insert(path.display().to_string(), text);
        }
    }
}

/// Every sysctl, the affinity of every IRQ, memory's settings, and files and features of every link.
fn everything() -> Values {
    let mut held = Values::new();
    for folder in [
        "/proc/sys",
        "/proc/irq",
        "/sys/kernel/mm/transparent_hugepage",
        "/sys/devices/system/cpu",
    ] {
        walk(Path::new(folder), &mut held);
    }
    for link in links::list().expect("links") {
        let folder = fs::canonicalize(Path::new("/sys/class/net").join(&link.name));
        walk(&folder.expect("a link"), &mut held);
        for feature in ethtool::features(&link.name).expect("features") {
            let name = format!("{} {}", link.name, feature.name);
            held.insert(name, format!("{feature:?}"));
        }
        held.extend(by_ethtool(&link.name));
    }
    held
}

/// What ethtool(8) shows of a link: pause frames, coalescing, rings, channels, features as they were asked for, RSS and its
/// fields, EEE.
fn by_ethtool(link: &str) -> Values {
    let options = ["-a", "-c", "-g", "-l", "-k", "-x", "--show-eee"].map(|option| vec![option]);
    let fields = ["udp4", "udp6"].map(|flow| vec!["-n", "rx-flow-hash", flow]);
    let shown = options.into_iter().chain(fields).map(|mut words| {
        words.insert(1, link);
        let output = Command::new("ethtool").args(&words).output();
        let text = output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned());
        (
            format!("ethtool {}", words.join(" ")),
            text.expect("ethtool"),
        )
    });
    shown.collect()
}

/// What counts or measures, and so moves by itself, though it may stand still for a while.
const MOVING: [&str; 12] = [
    "/stats/",
    "/khugepaged/",
    "/statistics/",
    "/spurious",
    "/ns_last_pid",
    "-nr",
    "-state",
    "/random/",
    "_cur_freq",
    "_count",
    "/carrier_changes",
    // Which of the CPUs that an interrupt may have.
    "/effective_affinity",
];

/// What is the same whenever it is read while nothing is set.
pub fn steady() -> Values {
    let mut held = everything();
    let later = everything();
    held.retain(|name, value| {
        let is_count = name.contains("/cpuidle/") && !name.ends_with("/disable");
        // The kernel moves the limit of a queue between those that are set.
        let is_limit = name.ends_with("/byte_queue_limits/limit") || name.ends_with("/inflight");
        let moves = is_count || is_limit || MOVING.iter().any(|part| name.contains(part));
        !moves && later.get(name) == Some(value)
    });
    held
}

pub fn differing(before: &Values) -> Vec<String> {
    let now = everything();
    let other = before
        .iter()
        .filter(|(name, value)| now.get(*name) != Some(value));
    other
        .map(|(name, value)| format!("{name}: {value:?} -> {:?}", now.get(name)))
        .collect()
}

/// Others start it in a process of its own, which applies and is killed.
#[test]
fn a_machines_settings_come_back() {
    if !support::can_run() {
        return;
    }
    if std::env::var_os(OWN).is_none() {
        support::skip!("a machine of the tests' own ({OWN}=1; cargo xtask kernel boots one)");
    }
    if !alone(TEST) {
        return;
    }
    let site = Site::new(None).expect("the machine's namespace");
    assert!(site.is_host);
    if let Ok(place) = std::env::var(APPLY) {
        let profile = PROFILES[place.parse::<usize>().expect("a place")];
        apply(&site, &plan(&site, profile, &[]), false).expect("applied");
        return;
    }
    let before = steady();
    let mut of_machine = 0;
    for (place, profile) in PROFILES.into_iter().enumerate() {
        let all = plan(&site, profile, &[]);
        let mut ids: Vec<&str> = all.changes.iter().map(|one| one.id).collect();
        ids.dedup();
        let singly = ids.iter().map(|id| plan(&site, profile, &[id]));
        let mut made = 0;
        for plan in singly.chain([all.clone()]) {
            let applied = apply(&site, &plan, true).expect("applied");
            // A kernel refuses what it was not built with.
            assert!(!applied.made.is_empty() || !applied.refused.is_empty());
            let is_changed = !differing(&before).is_empty();
            assert_eq!(is_changed, !applied.made.is_empty(), "{applied:?}");
            let reverted = tune::revert(&site).expect("reverted");
            assert!(reverted.is_none_or(|one| one.foreign.is_empty()));
            assert_eq!(differing(&before), [""; 0], "{applied:?}");
            // The last plan is that of all.
            made = applied.made.len();
            let of_part = |scope: Scope| matches!(scope, Scope::Namespace | Scope::Interface);
            let ids = applied.made.iter().map(|one| one.id);
            of_machine += ids.filter(|id| !of_part(scope(id))).count();
        }
        // A change that was refused has a step too, at which nothing is killed. The journal begins with two entries.
        let steps = 1..=all.changes.len() as u64 + 2;
        let mut kills = 0;
        for step in steps {
            kills += usize::from(killed(place, step));
            let recovery = recover().expect("recover");
            assert_eq!((recovery.failed, recovery.kept), (vec![], vec![]));
            assert!(!Path::new(journal::ROOT).exists());
            assert_eq!(differing(&before), [""; 0], "{profile:?} killed at {step}");
        }
        assert!(kills >= made, "{profile:?}: {kills} kills, {made} changes");
    }
    println!("{of_machine} changes of the whole machine came back");
    assert!(of_machine > 0);
}

fn scope(id: &str) -> Scope {
    let row = mpps_method::tune::CATALOGUE.iter().find(|row| row.id == id);
    row.expect("a row").scope
}

/// Runs this program again to apply, to be killed after so many changes. Whether it was.
fn killed(profile: usize, step: u64) -> bool {
    is_killed(
        again(TEST)
            .env(APPLY, profile.to_string())
            .env(fault::KILL_AFTER_CHANGE, step.to_string()),
    )
}
