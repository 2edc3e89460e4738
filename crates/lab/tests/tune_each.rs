//! Each setting of the catalogue alone: set, read back and put back. Those of a namespace are the kernel's own. Those of the
//! whole machine are planted files, because no test changes a machine.

use crate::host::alone;
use crate::support;
use crate::support::values::others;
use crate::tune_apply::{NETNS, apply, differing, everything, ip, raise};
use mpps_lab::facts::Root;
use mpps_lab::tune::{self, Applying, Machine, Place, Plan, Planned, Site, places};
use mpps_linux::setting::{Kind as Reached, Setting};
use mpps_method::tune::{CATALOGUE, Kind, Profile, Row, Scope};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::Command;

/// Whether a row's settings are of a network namespace or of its interfaces.
fn is_of_namespace(row: &Row) -> bool {
    matches!(row.scope, Scope::Namespace | Scope::Interface)
}

/// What the profiles advise for a place of a row.
fn advised(row: &Row, place: usize) -> impl Iterator<Item = &'static str> {
    let profiles = [Profile::Router, Profile::Endpoint].into_iter();
    profiles.flat_map(move |profile| {
        let values = &row.advice(profile).values;
        values.get(place).or(values.first()).copied()
    })
}

/// Of a row of whose places none has another value that this test knows.
const NO_VALUE: &str = "no other value is known";

/// Why rows were not tried, by their ids.
type Untried = BTreeMap<&'static str, String>;

fn plan_of(row: &'static Row, changes: &[(Setting, String, String)]) -> Plan {
    let change = |(setting, now, value): &(Setting, String, String)| Planned {
        id: row.id,
        setting: setting.clone(),
        now: now.clone(),
        value: value.clone(),
    };
    Plan {
        changes: changes.iter().map(change).collect(),
        ..Plan::default()
    }
}

/// Why nothing is written there.
fn why_not(row: &Row) -> String {
    let kinds = row.places.iter().map(|place| place.kind);
    match kinds.into_iter().next() {
        Some(Kind::Boot) => "a word of the boot line".to_owned(),
        Some(Kind::Config) => "an option of the kernel".to_owned(),
        Some(Kind::Service) => "a service, which systemd stops".to_owned(),
        _ => "a command, which nobody reads back".to_owned(),
    }
}

/// A place of a row that can be read and written here.
struct Writable {
    template: usize,
    setting: Setting,
    now: String,
}

/// Those of a row, or why there are none.
fn writable(row: &'static Row, root: &Root, machine: &Machine) -> Result<Vec<Writable>, String> {
    let places = places(row, machine)?;
    let of = |place: &Place| {
        let mode = place.file().map(|file| root.path(&file).metadata());
        let is_read_only =
            mode.is_some_and(|mode| mode.is_ok_and(|about| about.permissions().readonly()));
        let setting = place.setting().filter(|_| !is_read_only)?;
        let now = setting.read().ok()?;
        let template = place.template;
        Some(Writable {
            template,
            setting,
            now,
        })
    };
    let found: Vec<Writable> = places.iter().filter_map(of).collect();
    let is_command = row.places.iter().all(|place| {
        matches!(
            place.kind,
            Kind::Object | Kind::Command | Kind::Boot | Kind::Config
        )
    });
    match (found.is_empty(), is_command) {
        (false, _) => Ok(found),
        (true, true) => Err(why_not(row)),
        (true, false) => Err(format!(
            "none of {} places can be read and written here",
            places.len()
        )),
    }
}

/// Sets all places of a row to other values, and puts them back. A place that refuses a value gets the next one. How many
/// places were set, and why others were not.
fn there_and_back(
    (site, machine): (&Site, &Machine),
    row: &'static Row,
    mut open: Vec<Writable>,
    before: &BTreeMap<String, String>,
) -> (usize, Option<String>) {
    let (mut set, mut refused) = (0, None);
    for turn in 0.. {
        let value = |one: &Writable| {
            let values = others(row, &one.setting, &one.now, advised(row, one.template));
            values.into_iter().nth(turn)
        };
        let with = open.into_iter().filter_map(|one| Some((value(&one)?, one)));
        let with: Vec<(String, Writable)> = with.collect();
        if with.is_empty() {
            break;
        }
        let changes = with
            .iter()
            .map(|(value, one)| (one.setting.clone(), one.now.clone(), value.clone()));
        let plan = plan_of(row, &changes.collect::<Vec<_>>());
        let begun = Applying::begin(site, machine, &plan).expect("begun");
        let applied = begun
            .make(&plan, true, |_| Ok(Vec::new()))
            .expect("applied");
        for one in &applied.made {
            let read = one.setting.read().expect("read back");
            assert!(one.setting.is_same(&one.value, &read), "{one:?}: {read}");
        }
        let reverted = tune::revert(site).expect("reverted").expect("settings");
        assert_eq!(reverted.foreign, [""; 0], "{applied:?}");
        assert_eq!(differing(before), [""; 0], "{}: {applied:?}", row.id);
        set += applied.made.len();
        refused = refused.or(applied.refused.into_iter().map(|one| one.why).next());
        let is_made = |setting: &Setting| applied.made.iter().any(|one| one.setting == *setting);
        open = with
            .into_iter()
            .map(|(_, one)| one)
            .filter(|one| !is_made(&one.setting))
            .collect();
    }
    (set, refused)
}

#[test]
fn each_row_of_a_namespace_comes_back_alone() {
    if !support::can_run() || !alone("each_row_of_a_namespace_comes_back_alone") {
        return;
    }
    let site = raise();
    // Threads of NAPI need GRO, and settings of connections need one that is tracked.
    let gro = |interface: &str| Setting {
        kind: Reached::Ethtool,
        name: "features/rx-gro".to_owned(),
        interface: Some(interface.to_owned()),
    };
    let set = site.run(|_| ["v0", "v1"].map(|link| gro(link).write("on")));
    assert!(set.expect("the namespace").iter().all(Result::is_ok));
    if support::has("nft") {
        let tracks = "add table ip t; add chain ip t c { type filter hook output priority 0; }; add rule ip t c ct state new";
        let nft = ["netns", "exec", NETNS, "nft", tracks];
        let status = Command::new("ip").args(nft).status();
        assert!(status.expect("iproute2").success());
    }
    let before = everything();
    let tried = site.run(|root| {
        let machine = site.machine(root, &[]).expect("a machine");
        let (mut tried, mut untried) = (BTreeSet::new(), Untried::new());
        for row in CATALOGUE.iter().filter(|row| is_of_namespace(row)) {
            let found = writable(row, root, &machine);
            let found = found.map(|open| there_and_back((&site, &machine), row, open, &before));
            let found = found.and_then(|(set, refused)| match set {
                0 => Err(refused.unwrap_or(NO_VALUE.to_owned())),
                _ => Ok(()),
            });
            if let Err(why) = found {
                untried.insert(row.id, why);
            } else {
                tried.insert(row.id);
            }
        }
        (tried, untried)
    });
    let (tried, untried) = tried.expect("the namespace");
    println!("{} rows came back: {tried:?}", tried.len());
    for (id, why) in &untried {
        println!("not tried: {id}: {why}");
    }
    assert!(untried.values().all(|why| why != NO_VALUE), "{untried:?}");
    assert!(tried.len() > 60, "{}: {tried:?}", tried.len());
}

/// Plants a file of each setting of the whole machine in this process's own mounts.
fn plant() {
    for folder in ["/proc/sys", "/sys"] {
        let mounted = Command::new("mount")
            .args(["-t", "tmpfs", "tmpfs", folder])
            .status();
        assert!(mounted.expect("mount").success(), "{folder}");
    }
    let write = |path: &str, text: &str| {
        let path = Path::new(path);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(path, text).expect("a file");
    };
    // Of the machine's own namespace.
    write("/proc/sys/net/core/dev_weight", "64\n");
    let places = CATALOGUE.iter().flat_map(|row| &row.places);
    for place in places {
        let (folder, text) = match place.kind {
            Kind::Sysctl => ("/proc/sys/", place.text.replace('.', "/")),
            Kind::Sysfs => ("", place.text.to_owned()),
            _ => continue,
        };
        if !text.contains("{if}") {
            for cpu in ["0", "1"] {
                let text = text.replace("{cpu}", cpu).replace("{idle}", "0");
                // Some list their choices.
                let value = if place.kind == Kind::Sysfs {
                    "[0] 7\n"
                } else {
                    "0\n"
                };
                write(&format!("{folder}{text}"), value);
            }
        }
    }
}

#[test]
fn each_row_of_a_machine_comes_back_alone() {
    if !support::can_run() || !alone("each_row_of_a_machine_comes_back_alone") {
        return;
    }
    ip("netns add settings");
    plant();
    let site = Site::new(Some(NETNS)).expect("a namespace");
    assert!(site.is_host, "the planted files are a machine's");
    let rows = || CATALOGUE.iter().filter(|row| !is_of_namespace(row));
    let settings_of = |row: &'static Row| -> Result<Vec<Setting>, String> {
        let found = site.run(|root| {
            let machine = site.machine(root, &[]).expect("a machine");
            places(row, &machine)
        });
        let found = found.expect("the namespace")?.into_iter();
        let found = found.filter_map(|place: Place| place.setting());
        let is_file = |setting: &Setting| matches!(setting.kind, Reached::Sysctl | Reached::Sysfs);
        Ok(found.filter(is_file).collect())
    };
    let all: Vec<Setting> = rows()
        .filter_map(|row| settings_of(row).ok())
        .flatten()
        .collect();
    let held = || -> BTreeMap<String, String> {
        let read =
            |setting: &Setting| (setting.full_name(), setting.read().expect("a planted file"));
        all.iter().map(read).collect()
    };
    let before = held();
    assert!(before.len() > 50, "{}", before.len());
    let (mut tried, mut untried) = (0, Untried::new());
    for row in rows() {
        let settings = settings_of(row).unwrap_or_default();
        if settings.is_empty() {
            untried.insert(row.id, why_not(row));
            continue;
        }
        let change = |setting: &Setting| (setting.clone(), "0".to_owned(), "1".to_owned());
        let changes: Vec<_> = settings.iter().map(change).collect();
        let applied = apply(&site, &plan_of(row, &changes), true).expect("applied");
        assert_eq!(
            applied.made.len(),
            settings.len(),
            "{}: {applied:?}",
            row.id
        );
        let now = held();
        let changed = before
            .iter()
            .filter(|(name, value)| now.get(*name) != Some(value));
        assert_eq!(changed.count(), settings.len(), "{}", row.id);
        tune::revert(&site).expect("reverted").expect("settings");
        assert_eq!(held(), before, "{}", row.id);
        tried += 1;
    }
    println!("{tried} rows came back");
    for (id, why) in &untried {
        println!("not tried: {id}: {why}");
    }
    assert!(tried > 25, "{tried}");
}
