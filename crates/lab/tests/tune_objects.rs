//! Objects of the catalogue, counted while a bed's router has them.

use crate::support;
use mpps_lab::bed::Bed;
use mpps_lab::tester::Wire;
use mpps_lab::tune::Site;
use mpps_lab::tune::measurable::kernel_lacks;
use mpps_lab::tune::toggle::Toggle;
use mpps_method::tune::{CATALOGUE, Kind, Profile, Row};
use mpps_record::facts::Reading;
use std::collections::BTreeMap;

/// What each place of each object holds at the bed's router.
fn objects(bed: &Bed) -> BTreeMap<String, Reading<String>> {
    let netns = bed.dut().netns().expect("a router's").name().to_owned();
    let site = Site::new(Some(&netns)).expect("a namespace");
    let read = |root: &_| {
        let machine = site.machine(root, &[]).expect("a machine");
        machine.standings(Profile::Router)
    };
    let standings = site.run(read).expect("read");
    let seen = standings.into_iter().flat_map(|one| one.seen);
    let objects = seen.filter(|one| one.place.kind == Kind::Object);
    objects.map(|one| (one.place.name(), one.now)).collect()
}

/// Places of a row that hold something else.
fn moved(
    row: &Row,
    before: &BTreeMap<String, Reading<String>>,
    after: &BTreeMap<String, Reading<String>>,
) -> Vec<String> {
    let is_of = |name: &str| {
        row.places.iter().any(|place| {
            let (begin, end) = place.text.split_once("{if}").unwrap_or((place.text, ""));
            name.starts_with(begin) && name.ends_with(end)
        })
    };
    let moved = before
        .iter()
        .filter(|(name, now)| is_of(name) && after.get(*name) != Some(*now));
    moved
        .map(|(name, now)| format!("{name} {now:?} {:?}", after.get(name)))
        .collect()
}

/// Traffic control does not list the programs of tcx. On older kernels the program is a filter.
#[test]
fn a_program_at_ingress_is_counted() {
    if !support::can_run() {
        return;
    }
    let bed = support::bed();
    let counted = || {
        let objects = objects(&bed);
        ["tc/mB/filters", "tc/mB/bpf"].map(|name| objects[name].text().to_owned())
    };
    assert_eq!(counted(), ["none", "none"]);
    let ways = mpps_lab::tester::ways(&bed, false);
    let wire = Wire::lay(&bed, &ways).expect("laid").expect("a wire");
    assert_eq!(counted(), ["1", "1"]);
    drop(wire);
    assert_eq!(counted(), ["none", "none"]);
}

/// What makes the second level of a setting is seen by its reader, and gone when it is taken back.
#[test]
fn what_a_level_makes_is_counted() {
    if !support::can_run() || !support::has("nft") || !support::has("tc") {
        return;
    }
    let bed = support::bed();
    let (mut seen, mut faults) = (0, Vec::new());
    let rows = CATALOGUE
        .iter()
        .filter(|row| row.places[0].kind == Kind::Object);
    for row in rows.filter(|row| !row.bed_on.is_empty()) {
        let mut toggle = match Toggle::new(row, &bed) {
            Ok(toggle) => toggle,
            // Only a part that a kernel may lack is no fault.
            Err(why) if kernel_lacks(row).is_some() => {
                println!("SKIP {}: {why:?}", row.id);
                continue;
            }
            Err(why) => panic!("{}: {why:?}", row.id),
        };
        let first = objects(&bed);
        toggle.begin().expect(row.id);
        let before = objects(&bed);
        toggle.set(!toggle.bed_has_second()).expect(row.id);
        let made = moved(row, &before, &objects(&bed));
        toggle.leave().expect(row.id);
        let left = moved(row, &first, &objects(&bed));
        println!("{}: {made:?}", row.id);
        if made.is_empty() || !left.is_empty() {
            faults.push((row.id, made, left));
        }
        seen += 1;
    }
    assert!(faults.is_empty(), "{faults:?}");
    assert!(seen > 20, "{seen}");
}
