//! `mpps table load`, `show`, `stats` and `clear`, as typed.

use crate::program::{Ended, Scratch, assert_gone, mpps, privileged, run, staged};
use serde_json::Value;
use std::process::Command;

/// Three to load; a default route, a martian and one of the bed's own networks to leave out.
const LIST: &str = "20.0.0.0/8\n20.1.0.0/16\n2a00::/16\n0.0.0.0/0\n10.0.0.0/8\n198.19.0.0/24\n";

/// A kept bed, lowered at the end even when the test panics.
struct Bed(String);

impl Bed {
    fn up(test: &str) -> Self {
        let name = format!("fib-{test}-{}", std::process::id());
        let up = run(&mut mpps(&["bed", "up", &name]));
        assert_eq!(up.code, Some(0), "{up:?}");
        Self(name)
    }

    fn table(&self, words: &[&str]) -> Ended {
        run(mpps(&["table"]).args(words).args(["--bed", &self.0]))
    }

    fn json(&self, words: &[&str]) -> (Option<i32>, Value) {
        let ended = self.table(&[words, &["--json"]].concat());
        let json = serde_json::from_str(&ended.stdout);
        (ended.code, json.unwrap_or_else(|_| panic!("{ended:?}")))
    }

    /// Routes of protocol 109 as iproute2 sees them, both families.
    fn by_iproute2(&self) -> Vec<String> {
        let netns = format!("mpps-{}-dut", self.0);
        let mut routes = Vec::new();
        for family in ["-4", "-6"] {
            let words = ["-n", &netns, family, "route", "show", "proto", "109"];
            let output = Command::new("ip").args(words).output().expect("iproute2");
            let text = String::from_utf8(output.stdout).expect("text");
            routes.extend(
                text.lines()
                    .map(|line| line.split(' ').next().expect("a destination").to_owned()),
            );
        }
        routes
    }
}

impl Drop for Bed {
    fn drop(&mut self) {
        let down = run(&mut mpps(&["bed", "down", &self.0]));
        if !std::thread::panicking() {
            assert_eq!(down.code, Some(0), "{down:?}");
            assert_gone(&self.0);
        }
    }
}

#[test]
fn a_table_is_loaded_shown_described_and_cleared() {
    if !privileged() {
        return;
    }
    let (bed, folder) = (Bed::up("all"), Scratch::new("fib-all"));
    let list = folder.path("list");
    std::fs::write(&list, LIST).expect("list");
    let list = list.to_str().expect("a path");

    let loaded = bed.table(&["load", list]);
    assert_eq!(
        (loaded.code, loaded.stderr.as_str()),
        (Some(0), ""),
        "{loaded:?}"
    );
    for wanted in [
        "5 IPv4 and 1 IPv6 prefixes, left out: 1 default route",
        "3 of 3 routes are in the FIB, all of them",
        "clear them: mpps table clear --bed",
    ] {
        assert!(
            loaded.stdout.contains(wanted),
            "{wanted}: {}",
            loaded.stdout
        );
    }
    assert_eq!(
        bed.by_iproute2(),
        ["20.0.0.0/8", "20.1.0.0/16", "2a00::/16"]
    );

    let (code, show) = bed.json(&["show"]);
    assert_eq!(
        (code, &show["ipv4_routes"], &show["ipv6_routes"]),
        (Some(0), &2.into(), &1.into())
    );
    assert_eq!(show["groups"][0]["gateway"], "198.19.0.2");
    assert!(bed.table(&["show"]).stdout.contains("198.19.0.2     mC"));
    let (_, stats) = bed.json(&["stats"]);
    assert_eq!(stats["ipv4_routes"]["8"], 1);
    assert!(
        stats["ipv4_trie"]["average_depth"]
            .as_f64()
            .expect("a depth")
            > 0.0
    );
    assert!(bed.table(&["stats"]).stdout.contains("null pointers"));

    let (code, cleared) = bed.json(&["clear"]);
    assert_eq!(
        (code, &cleared["ipv4_routes"], &cleared["left_routes"]),
        (Some(0), &2.into(), &0.into())
    );
    assert_eq!(bed.by_iproute2(), [""; 0]);
    assert!(
        bed.table(&["clear"])
            .stdout
            .contains("mpps had loaded no routes")
    );
}

#[test]
fn a_refused_route_is_named_and_the_exit_code_says_so() {
    if !privileged() {
        return;
    }
    let (bed, folder) = (Bed::up("no"), Scratch::new("fib-no"));
    let list = folder.path("list");
    std::fs::write(&list, LIST).expect("list");
    let list = list.to_str().expect("a path");
    let netns = format!("mpps-{}-dut", bed.0);
    let theirs = [
        "-n",
        &netns,
        "route",
        "add",
        "20.1.0.0/16",
        "via",
        "198.19.0.9",
    ];
    assert!(
        Command::new("ip")
            .args(theirs)
            .status()
            .expect("iproute2")
            .success()
    );

    let loaded = bed.table(&["load", list, "-4"]);
    assert_eq!(loaded.code, Some(1), "{loaded:?}");
    for wanted in [
        "refused: EEXIST",
        "  20.1.0.0/16\n",
        "1 of 2 routes are in the FIB, NOT ALL",
    ] {
        assert!(
            loaded.stdout.contains(wanted),
            "{wanted}: {}",
            loaded.stdout
        );
    }
    let (code, again) = bed.json(&["load", list, "-4"]);
    assert_eq!((code, &again["counted_routes"]), (Some(2), &0.into()));
    assert_eq!(
        again["families"][0]["refused"]
            .as_array()
            .expect("a list")
            .len(),
        2
    );
    // With a metric of its own it stands beside theirs, and theirs stays when it goes.
    assert_eq!(
        bed.table(&["load", list, "-4", "--metric", "9", "--next-hops", "plain"])
            .code,
        Some(0)
    );
    assert_eq!(bed.table(&["clear"]).code, Some(0));
    let show = ["-n", &netns, "route", "show", "20.1.0.0/16"];
    let theirs = Command::new("ip").args(show).output().expect("iproute2");
    assert_eq!(String::from_utf8_lossy(&theirs.stdout).lines().count(), 1);
}

/// In a namespace that is none of ours, with a /run of its own: kept, left alone by recovery, cleared; and
/// without the user's word not touched.
#[test]
fn this_machines_own_fib_wants_the_users_word() {
    if !privileged() {
        return;
    }
    let folder = Scratch::new("fib-host");
    let list = folder.path("list");
    std::fs::write(&list, LIST).expect("list");
    let script = format!(
        "unshare --net --mount --propagation private sh -ec '
            mount -t tmpfs tmpfs /run
            ip link set lo up
            ip link add eth0 type veth peer name eth1
            ip address add 203.0.113.1/24 dev eth0
            ip link set eth0 up; ip link set eth1 up
            load() {{ \"$MPPS\" table load {list} -4 --via 203.0.113.2 \"$@\"; }}
            load && exit 9 || echo refused $?
            ip route show proto 109 | wc -l
            load --allow-system-changes | tail -2
            ls /run/mpps
            \"$MPPS\" recover
            \"$MPPS\" bed list
            \"$MPPS\" table show | head -1
            \"$MPPS\" table clear --allow-system-changes
            test ! -e /run/mpps
            ip route show proto 109 | wc -l
        '",
        list = list.display()
    );
    let ended = run(&mut staged(&script));
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert_eq!(
        ended.stderr,
        "mpps: no router named: give --bed NAME for the router of a kept bed, or --allow-system-changes for this \
         machine's own\n"
    );
    let lines: Vec<&str> = ended.stdout.lines().collect();
    let wanted = [
        "refused 2",
        "0",
        "2 of 2 routes are in the FIB",
        "clear them: mpps table clear --allow-system-changes",
        "routes_",
        "skipped, because it was kept on purpose (mpps table clear --allow-system-changes)",
        "there is no bed",
        "this machine: 2 routes loaded by mpps",
        "this machine: cleared 2 IPv4",
        "0",
    ];
    assert_eq!(lines.len(), wanted.len(), "{ended:?}");
    for (line, wanted) in lines.iter().zip(wanted) {
        assert!(line.contains(wanted), "{wanted}: {line}");
    }
}
