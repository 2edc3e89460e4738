//! What dead runs may leave in our folders, laid there by hand, and what is none of ours.

mod host;
mod support;

use host::{Host, alone};
use mpps_lab::bed::{Bed, BedPlan};
use mpps_lab::recover::{Recovery, recover};
use mpps_linux::netns::NetNs;
use std::fs;
use std::path::Path;

/// Whatever lies in our folders, what is a dead run's goes, and the rest stays.
#[test]
fn wreckage_of_every_kind_is_cleared() {
    if !support::can_run() || !alone("wreckage_of_every_kind_is_cleared") {
        return;
    }
    let before = Host::now();
    let root = Path::new("/run/mpps");
    let write = |bed: &str, text: &str| {
        fs::create_dir_all(root.join(bed)).expect("folder");
        fs::write(root.join(bed).join("journal.jsonl"), text).expect("journal");
    };
    let run = "{\"entry\":\"run\",\"pid\":1,\"started\":1,\"version\":\"0\",\"boot_id\":\"x\"}\n";
    // The last line was never synced; the namespace of the line before was made.
    fs::create_dir_all("/run/netns").expect("folder");
    let folder = "{\"entry\":\"folder\",\"path\":\"/run/netns\"}\n";
    let netns = "{\"entry\":\"net_ns\",\"name\":\"mpps-torn-out\"}\n";
    write(
        "torn",
        &format!("{run}{folder}{netns}{{\"entry\":\"net_ns\",\"na"),
    );
    NetNs::create("mpps-torn-out").expect("namespace");
    // A name without a namespace: its maker died between file and mount.
    write("stale", &format!("{run}{}", netns.replace("torn", "stale")));
    fs::write("/run/netns/mpps-stale-out", "").expect("stale name");
    // Announced, never made.
    write("never", &format!("{run}{}", netns.replace("torn", "never")));
    write("empty", "");
    // Makers died before the name, and after its loss. Process 1 started at another time.
    write(".new-1-1-0", run);
    write(".old-1-1-0", run);
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
    fs::write(folder.join("note"), "keep").expect("note");
    let before = Host::now();
    assert_eq!(recover().expect("recover"), Recovery::default());
    let plan = BedPlan {
        name: Some("stranger".to_owned()),
        ..support::plan()
    };
    assert!(Bed::raise(&plan).is_err());
    assert_eq!(Host::now(), before);
    // An empty one is no obstacle.
    fs::remove_file(folder.join("note")).expect("note");
    let bed = Bed::raise(&plan).unwrap_or_else(|error| panic!("raise: {error}"));
    bed.lower().unwrap_or_else(|error| panic!("lower: {error}"));
    assert!(!folder.exists());
}
