//! What dead runs may leave in our folders, laid there by hand, and what is none of ours.

use crate::host::{Host, alone};
use crate::support;
use mpps_lab::bed::{self, Bed, BedPlan};
use mpps_lab::clock::wait_for;
use mpps_lab::recover::{Recovery, recover};
use mpps_linux::links;
use mpps_linux::netns::NetNs;
use mpps_linux::setting::Setting;
use std::fs::{self, Permissions};
use std::io::Read as _;
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, Stdio};

/// The user `nobody`.
const NOBODY: u32 = 65_534;

/// Lays a journal as a dead run leaves it: a line of who began, then these.
fn lay(bed: &str, lines: &str) {
    let folder = Path::new("/run/mpps").join(bed);
    fs::create_dir_all(&folder).expect("folder");
    let run = "{\"entry\":\"run\",\"pid\":1,\"started\":1,\"version\":\"0\",\"boot_id\":\"x\"}\n";
    fs::write(folder.join("journal.jsonl"), format!("{run}{lines}")).expect("journal");
    // Whatever the umask here.
    set_mode("/run/mpps", 0o755);
    set_mode(folder.to_str().expect("UTF-8"), 0o755);
    set_mode(&journal(bed), 0o600);
}

fn journal(bed: &str) -> String {
    format!("/run/mpps/{bed}/journal.jsonl")
}

fn set_mode(path: &str, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).expect("mode");
}

fn netns(name: &str) -> String {
    format!("{{\"entry\":\"net_ns\",\"name\":\"{name}\"}}\n")
}

/// Any user may open a namespace by its name. It outlives its bed then, but nothing that leads out of it does.
#[test]
fn a_held_namespace_does_not_keep_its_bed() {
    if !support::can_run() || !alone("a_held_namespace_does_not_keep_its_bed") {
        return;
    }
    let plan = BedPlan {
        name: Some("held".to_owned()),
        ..support::plan()
    };
    let raise = || Bed::raise(&plan).unwrap_or_else(|error| panic!("raise: {error}"));
    let before = Host::now();
    let bed = raise();
    let script = "exec 3</run/netns/mpps-held-dut && echo held && read end";
    let mut holder = Command::new("sh")
        .args(["-c", script])
        .uid(NOBODY)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("sh");
    let mut said = [0; 5];
    let stdout = holder.stdout.as_mut().expect("a pipe");
    stdout
        .read_exact(&mut said)
        .expect("it holds the namespace");
    let held = NetNs::open("mpps-held-dut").expect("namespace");
    let names = || {
        let links = held.run(links::list).expect("namespace").expect("links");
        links.into_iter().map(|link| link.name).collect::<Vec<_>>()
    };
    assert!(names().len() > 1, "{:?}", names());
    bed.lower().expect("lower");
    assert_eq!(NetNs::list().expect("names"), [""; 0]);
    assert_eq!(
        holder.try_wait().expect("state"),
        None,
        "it is no process of the bed's"
    );
    // The kernel takes the namespaces of the other ends down some time later, and their ports with them.
    let alone = wait_for(10_000_000_000, 1_000_000, || Ok::<_, ()>(names() == ["lo"]));
    assert_eq!(alone, Ok(true), "{:?}", names());
    // The name is free.
    raise().lower().expect("lower");
    drop(holder.stdin.take());
    holder.wait().expect("it ends");
    assert_eq!(Host::now(), before);
}

/// Whatever lies in our folders, what is a dead run's goes, and the rest stays.
#[test]
fn wreckage_of_every_kind_is_cleared() {
    if !support::can_run() || !alone("wreckage_of_every_kind_is_cleared") {
        return;
    }
    let before = Host::now();
    // The last line was never synced; the namespace of the line before was made.
    fs::create_dir_all("/run/netns").expect("folder");
    let folder = "{\"entry\":\"folder\",\"path\":\"/run/netns\"}\n";
    let torn = netns("mpps-torn-out");
    lay(
        "torn",
        &format!("{folder}{torn}{{\"entry\":\"net_ns\",\"na"),
    );
    NetNs::create("mpps-torn-out").expect("namespace");
    // A name without a namespace: its maker died between file and mount.
    lay("stale", &netns("mpps-stale-out"));
    fs::write("/run/netns/mpps-stale-out", "").expect("stale name");
    // Announced, never made.
    lay("never", &netns("mpps-never-out"));
    lay("empty", "");
    fs::write(journal("empty"), "").expect("journal");
    // Makers died before the name, and after its loss. Process 1 started at another time.
    lay(".new-1-1-0", "");
    lay(".old-1-1-0", "");
    let recovery = recover().expect("recover");
    assert_eq!(recovery.failed, []);
    let names: Vec<&str> = recovery
        .reverted
        .iter()
        .map(|(name, _)| name.as_str())
        .collect();
    assert_eq!(names, ["empty", "never", "stale", "torn"]);
    assert_eq!(Host::now(), before);
}

/// A folder without a journal in it announces nothing: it is none of ours, and no bed takes its name.
#[test]
fn a_folder_without_a_journal_is_left_alone() {
    if !support::can_run() || !alone("a_folder_without_a_journal_is_left_alone") {
        return;
    }
    let folder = Path::new("/run/mpps/stranger");
    fs::create_dir_all(folder).expect("folder");
    // A plain file is no bed either.
    fs::write("/run/mpps/note", "keep").expect("note");
    set_mode("/run/mpps", 0o755);
    set_mode("/run/mpps/stranger", 0o755);
    fs::write(folder.join("note"), "keep").expect("note");
    let before = Host::now();
    assert_eq!(recover().expect("recover"), Recovery::default());
    let plan = BedPlan {
        name: Some("stranger".to_owned()),
        ..support::plan()
    };
    assert!(Bed::raise(&plan).is_err());
    assert_eq!(bed::list().expect("beds"), []);
    assert_eq!(Host::now(), before);
    // An empty one is no obstacle.
    fs::remove_file(folder.join("note")).expect("note");
    let bed = Bed::raise(&plan).unwrap_or_else(|error| panic!("raise: {error}"));
    bed.lower().unwrap_or_else(|error| panic!("lower: {error}"));
    assert!(!folder.exists());
}

/// Recovery does as root what a journal says. So it refuses one that another user could have written, and one that
/// names a thing its bed cannot have made.
#[test]
fn journals_of_others_are_refused() {
    if !support::can_run() || !alone("journals_of_others_are_refused") {
        return;
    }
    NetNs::create("victim").expect("namespace");
    NetNs::create("mpps-dead-out").expect("namespace");
    lay("dead", &netns("mpps-dead-out"));
    lay("foreign", "");
    chown(journal("foreign"), Some(NOBODY), None).expect("owner");
    lay("writable", "");
    set_mode(&journal("writable"), 0o620);
    lay("folder", "");
    set_mode("/run/mpps/folder", 0o707);
    lay("names", &netns("victim"));
    lay("rmdir", "{\"entry\":\"folder\",\"path\":\"/run/others\"}\n");
    lay("routes_1", "{\"entry\":\"routes\",\"netns\":2}\n");
    fs::create_dir("/run/others").expect("folder");
    let recovery = recover().expect("recover");
    let wanted = [
        ("folder", "may be written to by other users (mode 0707)"),
        ("foreign", "belongs to user 65534"),
        ("names", "it names victim"),
        ("rmdir", "it names /run/others"),
        ("routes_1", "it names netns 2"),
        ("writable", "may be written to by other users (mode 0620)"),
    ];
    assert_eq!(recovery.failed.len(), wanted.len(), "{recovery:?}");
    for ((bed, why), (name, wanted)) in recovery.failed.iter().zip(wanted) {
        assert_eq!(bed, name);
        assert!(why.contains(wanted) && !why.contains('\n'), "{why}");
    }
    // The others go on.
    assert_eq!(recovery.reverted.len(), 1, "{recovery:?}");
    assert!(!NetNs::exists("mpps-dead-out"));
    assert!(NetNs::exists("victim") && Path::new("/run/others").exists());
    let listed = bed::list().expect("beds");
    assert_eq!(listed.len(), 5, "{listed:?}");
    assert!(listed.iter().all(|bed| !bed.kept), "{listed:?}");
}

/// A run that was killed after it changed a setting of the host: recovery writes the value before.
#[test]
fn a_changed_setting_gets_its_value_back() {
    if !support::can_run() || !alone("a_changed_setting_gets_its_value_back") {
        return;
    }
    let host = NetNs::create("mpps-tuned").expect("namespace");
    let setting = Setting::sysctl("net.ipv4.conf.lo.rp_filter");
    let read = || host.run(|| setting.read()).expect("inside").expect("value");
    let change = || setting.clone().change_to("2");
    let change = host.run(change).expect("inside").expect("value before");
    assert_ne!(change.before, "2");
    let line = bed::Change::Setting {
        change: change.clone(),
    };
    let line = serde_json::to_string(&line).expect("a line");
    lay("tuned", &format!("{line}\n"));
    let applied = host.run(|| change.apply()).expect("inside");
    applied.expect("a new value");
    assert_eq!(read(), "2");
    let recovery = recover().expect("recover");
    assert_eq!(recovery.failed, []);
    assert_eq!(recovery.reverted[0].1.settings, 1);
    assert_eq!(read(), change.before);
    NetNs::delete("mpps-tuned").expect("namespace");
}

/// Where others may write to the root itself, anything in it may be theirs.
#[test]
fn a_root_that_others_may_write_to_is_refused() {
    if !support::can_run() || !alone("a_root_that_others_may_write_to_is_refused") {
        return;
    }
    lay("dead", "");
    set_mode("/run/mpps", 0o777);
    let recovery = recover().expect("recover");
    assert_eq!(recovery.reverted, []);
    let (root, why) = &recovery.failed[0];
    assert_eq!((root.as_str(), recovery.failed.len()), ("/run/mpps", 1));
    assert!(
        why.contains("(mode 0777)") && why.contains("chmod go-w /run/mpps"),
        "{why}"
    );
    let error = Bed::raise(&support::plan()).expect_err("no journal there");
    assert!(error.to_string().contains("(mode 0777)"), "{error}");
    set_mode("/run/mpps", 0o755);
    assert_eq!(recover().expect("recover").reverted.len(), 1);
}

/// Recovery from a bed's own shell would end that shell, and more where the name is another namespace's.
#[test]
fn the_namespace_of_mpps_itself_is_spared() {
    if !support::can_run() || !alone("the_namespace_of_mpps_itself_is_spared") {
        return;
    }
    let own = NetNs::create("mpps-host-dut").expect("namespace");
    lay("host", &netns("mpps-host-dut"));
    let shell = || Command::new("tail").args(["-f", "/dev/null"]).spawn();
    let mut shell = own.run(shell).expect("inside").expect("tail");
    let recovery = own.run(recover).expect("inside").expect("recover");
    let alive = shell.try_wait().expect("its state").is_none();
    let _dead = shell.kill();
    shell.wait().expect("its end");
    assert!(alive && NetNs::exists("mpps-host-dut"), "{recovery:?}");
    let (_, why) = &recovery.failed[0];
    assert!(
        why.contains("mpps itself runs in netns mpps-host-dut"),
        "{why}"
    );
    assert_eq!(recover().expect("recover").reverted.len(), 1);
}
