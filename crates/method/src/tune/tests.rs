mod check;

use super::*;
use check::{WrongRow, rows};
use std::collections::BTreeSet;

/// A block that is right, with every key.
const RIGHT: &str = r#"[rp_filter]
group = "ip"
name = "Reverse path filter"
what = "The kernel looks up each frame's source as well."
kind = "sysctl"
where = "net.ipv4.conf.all.rp_filter; net.ipv4.conf.{if}.rp_filter"
scope = "namespace"
default = "0"
router = "0 on trusted ports"
router_set = "0"
endpoint = "-"
source = "ip-sysctl.rst"
effects = "None."
risk = "Low."
order = "40"
acts = "forward"
bed = "cpumap, napi"
"#;

/// How it is reached, and where.
const PLACES: &str = "kind = \"sysctl\"\n\
                      where = \"net.ipv4.conf.all.rp_filter; net.ipv4.conf.{if}.rp_filter\"";

fn parse(text: String) -> Result<Vec<Row>, WrongRow> {
    rows(Box::leak(text.into_boxed_str()))
}

/// The right block with one line put in another's place.
fn planted(line: &str, instead: &str) -> String {
    assert!(RIGHT.contains(line), "{line}");
    match parse(RIGHT.replacen(line, instead, 1)) {
        Err(error) => error.why,
        Ok(_) => panic!("{instead} was taken"),
    }
}

#[test]
fn the_catalogue_is_right() {
    let rows = rows(BLOCKS).unwrap_or_else(|error| panic!("{error}"));
    assert!(rows.len() >= 162, "{}", rows.len());
    assert_eq!(CATALOGUE.len(), rows.len());
    let groups: BTreeSet<&str> = rows.iter().map(|row| row.group).collect();
    let all: BTreeSet<&str> = GROUPS.iter().map(|(group, _)| *group).collect();
    assert_eq!(groups, all, "a group without settings");
}

#[test]
fn a_right_block_is_read() {
    let rows = parse(RIGHT.to_owned()).expect("right");
    let row = rows.first().expect("a row");
    assert_eq!(
        (row.id, row.order, row.scope),
        ("rp_filter", 40, Scope::Namespace)
    );
    assert_eq!(row.fronts, ["cpumap", "napi"]);
    assert_eq!(row.places.len(), 2);
    assert_eq!(row.advice(Profile::Router).values, ["0"]);
    assert_eq!(row.advice(Profile::Endpoint).words, None);
}

#[test]
fn wrong_blocks_are_refused() {
    for (line, instead, why) in [
        (
            "bed = \"cpumap, napi\"",
            "bed = \"cpumap\"\nbed_on = \"nft -f -\"",
            "has bed_on or bed_off, and not both",
        ),
        (
            "bed = \"cpumap, napi\"",
            "bed = \"cpumap\"\nbed_on = \"nft -f -\"\nbed_off = \"nft -f -\"",
            "has bed_on and not 2 levels",
        ),
        (
            "bed = \"cpumap, napi\"",
            "bed = \"cpumap\"\nbed_with = \"tracking\"",
            "acts with tracking, which no block describes",
        ),
        (
            "bed = \"cpumap, napi\"",
            "bed = \"cpumap\"\nbed_not_with = \"tracking\"",
            "stands not with tracking, which no block describes",
        ),
        (
            "bed = \"cpumap, napi\"",
            "bed = \"cpumap\"\nbed_flags = \"--nic napi; --nic cpumap\"",
            "has bed_flags and not 2 levels with flags for each",
        ),
        (
            "bed = \"cpumap, napi\"",
            "bed = \"cpumap\"\nlevels = \"off; on\"\nbed_flags = \"--nic napi\"",
            "has bed_flags and not 2 levels with flags for each",
        ),
        (
            "bed = \"cpumap, napi\"",
            "bed = \"cpumap\"\nlevels = \"off; on\"\nbed_flags = \"none; nic napi\"",
            "has bed_flags that are no flags: nic napi",
        ),
        (
            "bed = \"cpumap, napi\"",
            "bed = \"cpumap\"\nlevels = \"off; on\"\nbed_flags = \"--ipv6; --ipv6\"",
            "has the same bed_flags for both levels",
        ),
        (
            "bed = \"cpumap, napi\"",
            "bed = \"cpumap\"\nlevels = \"off; on\"\nbed_flags = \"none; --ipv6\"\nbed_with = \"rp_filter\"",
            "has bed_flags, and is switched on one bed as well",
        ),
        (
            "bed = \"cpumap, napi\"",
            "bed = \"cpumap\"\nlevels = \"0; strict\"",
            "has the level strict, which nobody can write to net.ipv4.conf.all.rp_filter",
        ),
        (
            "bed = \"cpumap, napi\"",
            "bed = \"cpumap\"\nlevels = \"0; {dut}\"",
            "has the level {dut}, which nobody can write to net.ipv4.conf.all.rp_filter",
        ),
        (
            PLACES,
            "kind = \"sysfs\"\nwhere = \"/sys/{if}/rps_cpus\"\nlevels = \"{dut}; all\"",
            "has the level all, which nobody can write to /sys/{if}/rps_cpus",
        ),
        (
            PLACES,
            "kind = \"procfs\"\nwhere = \"/proc/a\"\nlevels = \"1 2; 1..2\"",
            "has the level 1..2, which nobody can write to /proc/a",
        ),
        (
            PLACES,
            "kind = \"ethtool\"\nwhere = \"features/rx-gro\"\nlevels = \"off; 1\"",
            "has the level 1, which nobody can write to features/rx-gro",
        ),
        (
            PLACES,
            "kind = \"ethtool\"\nwhere = \"pause/rx\"\nlevels = \"0; on\"",
            "has the level on, which nobody can write to pause/rx",
        ),
        (
            PLACES,
            "kind = \"object\"\nwhere = \"nft/log|lgo\"",
            "a place that is none of its kind: nft/log|lgo (known names: OBJECTS and RULES",
        ),
        (
            PLACES,
            "kind = \"object\"\nwhere = \"link/{if}/speed\"",
            "a place that is none of its kind: link/{if}/speed",
        ),
        (
            PLACES,
            "kind = \"command\"\nwhere = \"ip route show\"",
            "is a command without `unread`: say why",
        ),
        (
            "risk = \"Low.\"",
            "risk = \"Low.\"\nunread = \"Nobody knows it.\"",
            "has `unread`, but is no command",
        ),
        (
            "kind = \"sysctl\"",
            "kind = \"registry\"",
            "unknown variant `registry`",
        ),
        (
            "scope = \"namespace\"",
            "scope = \"galaxy\"",
            "unknown variant `galaxy`",
        ),
        ("group = \"ip\"", "group = \"pi\"", "unknown group pi"),
        (
            "router = \"0 on trusted ports\"\n",
            "",
            "missing field `router`",
        ),
        (
            "router = \"0 on trusted ports\"\nrouter_set = \"0\"",
            "router = \"-\"",
            "no advice for any profile",
        ),
        (
            "router = \"0 on trusted ports\"",
            "router = \"-\"",
            "sets a value without advice",
        ),
        ("source = \"ip-sysctl.rst\"\n", "", "missing field `source`"),
        (
            "source = \"ip-sysctl.rst\"",
            "source = \"\"",
            "has nothing as source",
        ),
        (
            "order = \"40\"",
            "order = \"early\"",
            "no number from 0 to 99",
        ),
        (
            "order = \"40\"",
            "order = \"100\"",
            "no number from 0 to 99",
        ),
        ("{if}", "{card}", "unknown placeholder {card}"),
        (
            "net.ipv4.conf.{if}",
            "net/{if}",
            "a place that is none of its kind",
        ),
        (
            "net.ipv4.conf.{if}.rp_filter",
            "/sys/{rxq}",
            "a queue of no interface",
        ),
        (
            "router_set = \"0\"",
            "router_set = \"0; 1; 2\"",
            "sets 3 values in 2 places",
        ),
        (
            "acts = \"forward\"",
            "acts = \"forwards\"",
            "unknown acts forwards",
        ),
        (
            "bed = \"cpumap, napi\"",
            "bed = \"dpdk\"",
            "unknown bed dpdk",
        ),
        (
            "bed = \"cpumap, napi\"",
            "bed = \"none\"\ninteracts = \"nobody\"",
            "interacts with nobody",
        ),
        (
            "risk = \"Low.\"",
            "risk = \"Low.\"\ncolour = \"red\"",
            "unknown field `colour`",
        ),
        (
            "risk = \"Low.\"",
            "risk = \"Low.\"\nrisk = \"High.\"",
            "duplicate key",
        ),
        (
            "risk = \"Low.\"",
            "risk = \"Low.\"\nfirmware = \"Turbo\"",
            "one of firmware and firmware_set",
        ),
        ("risk = \"Low.\"", "risk: Low.", "expected `=`"),
        ("[rp_filter]", "[RP_filter]", "is no id"),
        ("[rp_filter]", "[RP filter]", "unclosed table"),
        ("[rp_filter]\n", "", "expected a map"),
        (
            "Reverse path filter",
            "A name that is so long that a list of it would not fit",
            "more than 38",
        ),
    ] {
        let said = planted(line, instead);
        assert!(said.contains(why), "{instead}: {said}");
    }
    let twice = parse(RIGHT.repeat(2)).expect_err("twice");
    assert_eq!(twice.why, "duplicate key");
    assert_eq!(
        twice.to_string(),
        "tune/settings.toml, line 18: duplicate key"
    );
    assert_eq!(twice.line, RIGHT.lines().count() + 1);
    let second = RIGHT.replace("rp_filter]", "second]");
    let second = second.replace("\"forward\"", "\"forwards\"");
    let second = parse(format!("{RIGHT}\n{second}")).expect_err("wrong");
    assert_eq!(
        (second.line, second.why.as_str()),
        (
            RIGHT.lines().count() + 2,
            "[second] has the unknown acts forwards"
        )
    );
    assert_eq!(
        parse("# nothing\n".to_owned()).expect_err("empty").why,
        "no setting"
    );
}

#[test]
fn values_that_would_do_are_apart() {
    let line = "router_set = \"0\"";
    let rows = parse(RIGHT.replacen(line, "router_set = \"0|2..4\"", 1)).expect("right");
    let advice = &rows[0].router;
    assert_eq!(
        (advice.values.len(), advice.accepted.as_slice()),
        (0, ["0|2..4"].as_slice())
    );
    let same = parse(RIGHT.replacen("endpoint = \"-\"", "endpoint = \"As for a router.\"", 1));
    let same = same.expect("right").remove(0);
    assert_eq!(same.endpoint, same.router);
}

#[test]
fn settings_are_found_by_their_places() {
    let ids = |name| named(name).iter().map(|row| row.id).collect::<Vec<_>>();
    assert_eq!(ids("rp_filter"), ["rp_filter"]);
    assert_eq!(ids("net/ipv4/conf/eth0/rp_filter"), ["rp_filter"]);
    assert_eq!(ids("cpu3/cpufreq/scaling_governor"), ["governor"]);
    assert_eq!(ids("CONFIG_HZ"), ["cfg_hz"]);
    // Two settings may be one place, and what only stands for a word is none.
    assert_eq!(ids("channels/combined"), ["channels", "virtio_queues"]);
    assert_eq!(ids("24"), [""; 0]);
    assert_eq!(ids("/"), [""; 0]);
    assert_eq!(ids("irq_affinit"), [""; 0]);
}

/// First field of a CSV line; it is in quotes only where it holds a comma.
fn first_field(line: &str) -> &str {
    let quoted = line
        .strip_prefix('"')
        .and_then(|rest| rest.split('"').next());
    quoted.unwrap_or_else(|| line.split(',').next().unwrap_or_default())
}

#[test]
fn every_line_of_the_cookbook_is_covered() {
    let lines = include_str!("cookbook.csv").lines().skip(1);
    let cookbook: BTreeSet<&str> = lines.map(first_field).collect();
    let covered: BTreeSet<&str> = CATALOGUE
        .iter()
        .flat_map(|row| row.cookbook.iter().copied())
        .collect();
    assert!(cookbook.len() > 60, "{}", cookbook.len());
    assert_eq!(cookbook, covered);
}

#[test]
fn published_advice_that_looks_wrong_is_marked() {
    for id in ["file_max", "udp_mem", "tcp_keepalive", "cfg_dma_engine"] {
        let row = CATALOGUE.iter().find(|row| row.id == id).expect(id);
        assert!(!row.wrong.is_empty(), "{id}");
    }
}

/// The setting that has to be on can be switched on the same bed, too: by commands, or between two values.
#[test]
fn a_setting_that_needs_another_finds_its_switch() {
    for row in CATALOGUE.iter() {
        let with = row.bed_with;
        if with.is_empty() {
            continue;
        }
        let other = CATALOGUE.iter().find(|other| other.id == with);
        let has_values = |other: &Row| {
            !matches!(other.places[0].kind, Kind::Object | Kind::Command)
                && other.levels().len() == 2
        };
        let made = other.filter(|other| !other.bed_on.is_empty() || has_values(other));
        assert!(made.is_some(), "{} with {with}", row.id);
    }
}

/// A sentence of more words than this is hard to read.
const WORDS_MAX: usize = 25;

#[test]
fn the_document_counts_what_is_read() {
    let of_kind = |kind: Kind| {
        let rows = CATALOGUE.iter();
        rows.filter(|row| row.places[0].kind == kind).count()
    };
    let (all, unread) = (CATALOGUE.len(), of_kind(Kind::Command));
    let counts = format!(
        "The catalogue has {all} settings, and mpps reads {} of them. {} of these are objects of the \
         kernel, which `apply` never changes. A command shows the other {unread};",
        all - unread,
        of_kind(Kind::Object)
    );
    let document = include_str!("../../../../docs/tune.md");
    let words: Vec<&str> = document.split_whitespace().collect();
    assert!(words.join(" ").contains(&counts), "{counts}");
}

#[test]
fn texts_are_plain_sentences() {
    for row in CATALOGUE.iter() {
        // A command may have a pipe.
        let lines = (row.lines.iter()).filter(|(key, _)| !["bed_on", "bed_off"].contains(*key));
        for (key, text) in lines {
            for mark in ["[M]", "[R]", "[E]", "[S]", " | ", "  "] {
                assert!(!text.contains(mark), "{}: {key}: {mark}", row.id);
            }
        }
        for sentence in row.what.split(". ") {
            let words = sentence.split(' ').count();
            assert!(words <= WORDS_MAX, "{}: {words} words: {sentence}", row.id);
        }
        assert!(row.what.ends_with('.'), "{}", row.id);
    }
}

#[test]
fn settings_come_in_the_order_of_applying() {
    let orders: Vec<u8> = in_order().iter().map(|row| row.order).collect();
    assert!(orders.is_sorted());
    let place = |id: &str| {
        in_order()
            .iter()
            .position(|row| row.id == id)
            .expect("an id")
    };
    assert!(place("ip_forward") < place("lro"));
    assert!(place("channels") < place("irq_affinity") && place("irq_affinity") < place("xps_cpus"));
}
