//! Settings of NICs, set and put back: rings, channels, interrupt delays, pause frames, interrupts, RSS, steering, offloads. A
//! veth has few of them. Each row alone, all together, and killed on the way. Only on a machine of the tests' own, such as
//! `cargo xtask kernel` boots.

use crate::host::{again, alone, is_killed};
use crate::support;
use crate::support::values::others;
use crate::tune_apply::apply;
use crate::tune_machine::{OWN, Values, differing, steady};
use mpps_lab::clock;
use mpps_lab::journal::{self, fault};
use mpps_lab::recover::recover;
use mpps_lab::tune::{self, Plan, Planned, Reached, Setting, Site};
use mpps_linux::{ethtool, links};
use mpps_method::tune::Profile;
use std::collections::BTreeSet;
use std::convert::Infallible;
use std::fs::File;
use std::io::Write as _;
use std::os::unix::process::parent_id;
use std::path::Path;
use std::process::Command;

const TEST: &str = "a_nics_settings_come_back";
const APPLY: &str = "MPPS_TEST_APPLY";
/// Set where only [`RSS`] is applied.
const RSS_ALONE: &str = "MPPS_TEST_RSS";
/// Rows of RSS, and those that make a driver reset its table.
const RSS: [&str; 6] = [
    "channels",
    "ring_rx",
    "rss_fields",
    "rss_indir",
    "rss_key",
    "rss_symxor",
];
/// What a user might set. Not every NIC has all of it.
const BY_USER: [&str; 3] = [
    "-X NIC weight 1 3",
    "-X NIC hkey KEY",
    "-N NIC rx-flow-hash udp4 sd",
];
/// A driver that resets its link has it up again within this time.
const UP_LIMIT_NS: u64 = 60_000_000_000;
const STEP_NS: u64 = 50_000_000;
/// Values of each place that are tried.
const TURNS: usize = 2;
/// And where only [`RSS`] is set.
const RSS_TURNS: usize = 1;
/// Every so many changes of all together there is a kill, and after each of [`RSS`].
const STRIDE: usize = 5;

/// A place of a NIC that can be written, and what it might hold besides what it holds.
struct Choice {
    id: &'static str,
    setting: Setting,
    now: String,
    values: Vec<String>,
}

/// Interfaces with a device and rings.
fn nics() -> Vec<String> {
    let has_device = |name: &String| {
        Path::new("/sys/class/net")
            .join(name)
            .join("device")
            .exists()
    };
    let names = links::list().expect("links").into_iter();
    let names = names.map(|link| link.name).filter(has_device);
    names
        .filter(|name| ethtool::parameter(name, "rings/rx").is_ok())
        .collect()
}

fn settle(nics: &[String]) {
    let is_up = |name: &String| links::get(name).is_ok_and(|link| link.carrier);
    let all_up = || Ok::<_, Infallible>(nics.iter().all(is_up));
    assert_eq!(
        clock::wait_for(UP_LIMIT_NS, STEP_NS, all_up),
        Ok(true),
        "{nics:?}"
    );
}

/// The places of a NIC that can be set. A driver refuses some of their values.
fn choices(site: &Site, nic: &str) -> Vec<Choice> {
    let standings = site.run(|root| {
        let machine = site.machine(root, &[nic.to_owned()]).expect("a machine");
        [Profile::Router, Profile::Endpoint].map(|profile| machine.standings(profile))
    });
    let [router, endpoint] = standings.expect("the namespace");
    let mut all = Vec::new();
    for (one, other) in router.iter().zip(&endpoint) {
        for (seen, other) in one.seen.iter().zip(&other.seen) {
            let (Some(setting), Some(now), None) =
                (seen.place.setting(), seen.now.known(), seen.fixed)
            else {
                continue;
            };
            let advised = [&seen.advised, &other.advised].into_iter().flatten();
            let mut values = others(one.row, &setting, now, advised.map(String::as_str));
            values.retain(|value| is_value(value));
            values.truncate(TURNS);
            // A veth has the sysctls too.
            let is_of_nic = seen.place.interface.as_deref() == Some(nic);
            // The kernel notes for good that somebody overrode a node (`TAINT_FIRMWARE_WORKAROUND`).
            let leaves_a_trace = one.row.id == "numa_of_irqs";
            let is_tried = is_of_nic && setting.kind != Reached::Sysctl && !leaves_a_trace;
            if is_tried && !values.is_empty() {
                let (id, now) = (one.row.id, now.clone());
                all.push(Choice {
                    id,
                    setting,
                    now,
                    values,
                });
            }
        }
    }
    all
}

/// Levels of a bed, and of interrupts, are words for some values.
fn is_value(level: &str) -> bool {
    matches!(level, "on" | "off" | "sd" | "sdfn" | "equal" | "equal 1")
        || level.starts_with(|first: char| first.is_ascii_digit())
}

fn is_of_rss(choice: &Choice) -> bool {
    RSS.contains(&choice.id)
}

/// Each of these places with its value of this turn.
fn plan<'a>(choices: impl IntoIterator<Item = &'a Choice>, turn: usize) -> Plan {
    let planned = |choice: &Choice| Planned {
        id: choice.id,
        setting: choice.setting.clone(),
        now: choice.now.clone(),
        value: choice.values[turn].clone(),
    };
    let changes = choices.into_iter().map(planned).collect();
    Plan {
        changes,
        ..Plan::default()
    }
}

/// Applies, and puts back. Names of what was set, and of what was refused.
fn there_and_back(
    site: &Site,
    nics: &[String],
    plan: &Plan,
    before: &Values,
) -> (Vec<String>, Vec<String>) {
    let applied = apply(site, plan, true).expect("applied");
    settle(nics);
    let changed = differing(before);
    assert_eq!(
        changed.is_empty(),
        applied.made.is_empty(),
        "{applied:?} {changed:?}"
    );
    let reverted = tune::revert(site).expect("reverted");
    assert!(
        reverted.is_none_or(|one| one.foreign.is_empty()),
        "{applied:?}"
    );
    settle(nics);
    assert_eq!(differing(before), [""; 0], "{applied:?}");
    let made = applied.made.iter().map(|one| tune::shown(&one.setting));
    let refused = applied
        .refused
        .iter()
        .map(|one| format!("{}: {}", one.place, one.why));
    (made.collect(), refused.collect())
}

/// Others start it in a process of its own, which applies and is killed.
#[test]
fn a_nics_settings_come_back() {
    if !support::can_run() {
        return;
    }
    if std::env::var_os(OWN).is_none() {
        support::skip!("a machine of the tests' own ({OWN}=1; cargo xtask kernel boots one)");
    }
    let nics = nics();
    if nics.is_empty() {
        support::skip!("a NIC with rings");
    }
    if !alone(TEST) {
        return;
    }
    let site = Site::new(None).expect("the machine's namespace");
    if let Ok(nic) = std::env::var(APPLY) {
        let is_rss_alone = std::env::var_os(RSS_ALONE).is_some();
        let mut all = choices(&site, &nic);
        all.retain(|one| !is_rss_alone || is_of_rss(one));
        apply(&site, &plan(&all, 0), false).expect("applied");
        return;
    }
    for nic in &nics {
        links::set_up(nic).expect("up");
    }
    settle(&nics);
    for nic in &nics {
        rss(&site, &nics, nic);
    }
    for nic in &nics {
        let (rows, kills) = each_row_and_all(&site, &nics, nic, TURNS);
        assert!(rows.len() > 5 && kills > 1, "{rows:?} {kills}");
        has_own_table(nic);
    }
}

/// RSS from what a user set; all others begin with the driver's own table.
fn rss(site: &Site, nics: &[String], nic: &str) {
    let driver = ethtool::driver(nic).expect("a driver").name;
    // As `xtask/src/kernel/boot.rs` has them; with one queue there is no other table.
    let is_wide = Path::new("/sys/class/net").join(nic).join("queues/rx-1");
    let table = is_wide.exists().then_some("rss_indir");
    let wanted: BTreeSet<&str> = match driver.as_str() {
        "virtio_net" => table.into_iter().chain(["rss_fields", "rss_key"]).collect(),
        "vmxnet3" => table.into_iter().collect(),
        "e1000e" => {
            let error = ethtool::parameter(nic, "rss/udp4").expect_err("no RSS");
            assert!(error.errno().is_none(), "{error}");
            return;
        }
        _ => return,
    };
    let key = ethtool::parameter(nic, "rss/key").unwrap_or_default();
    let key: String = key.chars().rev().collect();
    let set = BY_USER.map(|line| {
        let line = line.replace("NIC", nic).replace("KEY", &key);
        let status = Command::new("ethtool").args(line.split(' ')).status();
        status.expect("ethtool").success()
    });
    assert_eq!(set[0], table.is_some(), "{driver}: {set:?}");
    let (rows, kills) = each_row_and_all(site, nics, nic, RSS_TURNS);
    assert!(rows.is_superset(&wanted), "{driver}: {rows:?}");
    assert!(kills >= wanted.len(), "{driver}: {kills}");
    ethtool::set_parameter(nic, "rss/table", "equal").expect("the driver's own table");
    has_own_table(nic);
}

/// The driver spreads its own table anew. A user's would stand against fewer channels.
fn has_own_table(nic: &str) {
    let read = |name: &str| ethtool::parameter(nic, name);
    if ethtool::driver(nic).expect("a driver").name == "virtio_net" {
        let channels = read("channels/combined").expect("channels");
        for count in ["1", &channels] {
            ethtool::set_parameter(nic, "channels/combined", count).expect("channels");
            assert_eq!(read("rss/table").as_deref(), Ok("equal"));
        }
    }
}

/// Prints how far the test is. The process that runs it apart keeps its output until it ends, and shows it only if it failed.
/// The stderr of that process gets the line too, so that a run that is killed has shown it.
fn progress(line: &str) {
    println!("{line}");
    let above = File::options()
        .append(true)
        .open(format!("/proc/{}/fd/2", parent_id()));
    if let Ok(mut above) = above {
        writeln!(above, "{line}").expect("stderr");
    }
}

/// Rows that a NIC took, and how often the process was killed. With fewer turns those of RSS alone.
fn each_row_and_all(
    site: &Site,
    nics: &[String],
    nic: &str,
    turns: usize,
) -> (BTreeSet<&'static str>, usize) {
    let before = steady();
    let mut all = choices(site, nic);
    all.retain(|one| turns == TURNS || is_of_rss(one));
    let ids: BTreeSet<&str> = all.iter().map(|one| one.id).collect();
    let (mut made, mut rows, mut refused) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    for (place, id) in ids.iter().copied().enumerate() {
        progress(&format!(
            "{nic}: {id}, {place} of {} rows before it",
            ids.len()
        ));
        for turn in 0..turns {
            let of_turn = |one: &&Choice| one.id == id && turn < one.values.len();
            let plan = plan(all.iter().filter(of_turn), turn);
            if plan.changes.is_empty() {
                continue;
            }
            let (was_made, was_refused) = there_and_back(site, nics, &plan, &before);
            rows.extend((!was_made.is_empty()).then_some(id));
            made.extend(was_made);
            refused.extend(was_refused);
        }
    }
    progress(&format!("{nic}: all together, then killed"));
    let (together, _) = there_and_back(site, nics, &plan(&all, 0), &before);
    let mut kills = 0;
    let steps = all.iter().enumerate();
    let steps = steps.filter(|(step, one)| step % STRIDE == 0 || is_of_rss(one));
    for (step, _) in steps {
        // The journal begins with two entries.
        let step = step + 3;
        kills += usize::from(killed(nic, step, turns < TURNS));
        let recovery = recover().expect("recover");
        assert_eq!((recovery.failed, recovery.kept), (vec![], vec![]));
        assert!(!Path::new(journal::ROOT).exists());
        settle(nics);
        assert_eq!(differing(&before), [""; 0], "{nic} killed at {step}");
    }
    let driver = ethtool::driver(nic).expect("a driver").name;
    let counts = [made.len(), rows.len(), together.len(), kills];
    progress(&format!(
        "{driver}: settings, rows, settings together, kills: {counts:?}"
    ));
    println!("{driver} took {made:?}, refused {refused:?}");
    (rows, kills)
}

/// Runs this program again to apply all, to be killed after so many changes. Whether it was.
fn killed(nic: &str, step: usize, is_rss_alone: bool) -> bool {
    let mut command = again(TEST);
    command
        .env(APPLY, nic)
        .env(fault::KILL_AFTER_CHANGE, step.to_string());
    if is_rss_alone {
        command.env(RSS_ALONE, "1");
    }
    is_killed(&mut command)
}
