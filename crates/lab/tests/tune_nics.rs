//! Settings of NICs, set and put back: rings, channels, interrupt delays, pause frames, interrupts, steering, offloads. A veth
//! has few of them. Each row alone, all together, and killed on the way. Only on a machine of the tests' own, such as
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

const TEST: &str = "a_nics_settings_come_back";
const APPLY: &str = "MPPS_TEST_APPLY";
/// A driver that resets its link has it up again within this time.
const UP_LIMIT_NS: u64 = 60_000_000_000;
const STEP_NS: u64 = 50_000_000;
/// Values of each place that are tried.
const TURNS: usize = 2;
/// Every so many changes of all together there is a kill.
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
    names.filter(|name| ethtool::rings(name).is_ok()).collect()
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
            if is_of_nic && setting.kind != Reached::Sysctl && !values.is_empty() {
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
    matches!(level, "on" | "off") || level.starts_with(|first: char| first.is_ascii_digit())
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
        apply(&site, &plan(&choices(&site, &nic), 0), false).expect("applied");
        return;
    }
    for nic in &nics {
        links::set_up(nic).expect("up");
    }
    settle(&nics);
    for nic in &nics {
        each_row_and_all(&site, &nics, nic);
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

fn each_row_and_all(site: &Site, nics: &[String], nic: &str) {
    let before = steady();
    let all = choices(site, nic);
    let ids: BTreeSet<&str> = all.iter().map(|one| one.id).collect();
    let (mut made, mut rows, mut refused) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    for (place, id) in ids.iter().copied().enumerate() {
        progress(&format!(
            "{nic}: {id}, {place} of {} rows before it",
            ids.len()
        ));
        for turn in 0..TURNS {
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
    for step in (2..all.len() + 2).step_by(STRIDE) {
        kills += usize::from(killed(nic, step));
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
    assert!(rows.len() > 5 && kills > 1, "{counts:?}");
}

/// Runs this program again to apply all, to be killed after so many changes. Whether it was.
fn killed(nic: &str, step: usize) -> bool {
    is_killed(
        again(TEST)
            .env(APPLY, nic)
            .env(fault::KILL_AFTER_CHANGE, step.to_string()),
    )
}
