//! Settings of the catalogue are switched on a bed and taken back. No frame is sent.

use crate::support;
use mpps_lab::bed::{Bed, BedPlan, Change, Front};
use mpps_lab::journal::{self, Entry};
use mpps_lab::traffic::{ReceiverPlace, Traffic};
use mpps_lab::tune::measurable::{Ground, Unmeasured, check};
use mpps_lab::tune::toggle::{NoToggle, Toggle};
use mpps_linux::setting::{Kind, Setting};
use mpps_linux::spawn::{self, Terms};
use mpps_method::Transport;
use mpps_method::tune::{CATALOGUE, Row};
use std::collections::BTreeSet;
use std::process::Command;

/// A setting of the catalogue.
pub fn row(id: &str) -> &'static Row {
    CATALOGUE.iter().find(|row| row.id == id).expect(id)
}

/// All that a switch may change at the router: rules, links, routes, policies, queues, sockets and sysctls.
const LOOK: &str = "
nft -s list ruleset; cat /proc/net/packet | wc -l; tc qdisc; tc class show dev mC; tc filter show dev mB ingress
printf '%s\n' 'link' 'address' 'route show table all' 'rule' 'nexthop' 'xfrm policy' | ip -d -batch -
printf '%s\n' 'route show table all' 'rule' | ip -6 -batch -
cd /proc/sys/net
grep -rs . ipv4/conf ipv4/fib* ipv4/ip_* ipv4/*demux ipv6/conf ipv6/fib* ipv4/neigh/lo netfilter | grep -v _count:
for port in mB mC; do cat /sys/class/net/$port/queues/*/*ps_cpus; done";

const GRO: [&str; 3] = ["rx-gro", "rx-gro-list", "rx-udp-gro-forwarding"];

/// How the router stands.
pub fn settings_of(bed: &Bed) -> String {
    let netns = bed.dut().netns().expect("a router");
    let mut look = Command::new("sh");
    look.args(["-c", LOOK]);
    let seen = spawn::output(look, netns, Terms::default()).expect("sh");
    let ports = ["mB", "mC"].into_iter();
    let features = ports.flat_map(|port| GRO.map(|feature| (port, feature)));
    let features = features.map(|(port, feature)| Setting {
        kind: Kind::Ethtool,
        name: format!("features/{feature}"),
        interface: Some(port.to_owned()),
    });
    let read = |setting: Setting| setting.read().expect("a feature");
    let gro = netns.run(|| features.map(read).collect::<Vec<String>>());
    let text = String::from_utf8_lossy(&seen.stdout);
    format!("{text}{:?}", gro.expect("the namespace"))
}

/// What one of them says and the other does not.
fn differences(before: &str, after: &str) -> Vec<String> {
    let only = |one: &str, other: &str| {
        // A module that a rule has loaded brings settings of its own, and stays.
        let is_of_module = |line: &&str| {
            let name = line.split_once(':').map(|(name, _)| format!("\n{name}:"));
            line.starts_with("netfilter/") && !name.is_some_and(|name| other.contains(&name))
        };
        let same: BTreeSet<&str> = other.lines().collect();
        let lines = one.lines().filter(|line| !same.contains(line));
        let lines = lines.filter(|line| !is_of_module(line));
        lines.take(5).map(str::to_owned).collect::<Vec<_>>()
    };
    [only(before, after), only(after, before)].concat()
}

/// A command that undoes fails once it was made, and until somebody mends that.
#[test]
fn a_failed_undo_is_told_until_it_succeeds() {
    if !support::can_run() {
        return;
    }
    let bed = support::bed();
    let broken = std::env::temp_dir().join(format!("mpps-broken-{}", bed.name()));
    let off = format!("test ! -e '{}'", broken.display());
    let mut stays = row("forward_rules").clone();
    (stays.bed_on, stays.bed_off) = ("true", Box::leak(off.into_boxed_str()));
    let mut toggle = Toggle::new(Box::leak(Box::new(stays)), &bed).expect("a switch");
    let back = toggle.bed_has_second();
    toggle.set(!back).expect("switched");
    std::fs::write(&broken, "").expect("a file");
    let told = [toggle.set(back), toggle.leave()].map(|undone| undone.is_err());
    std::fs::remove_file(&broken).expect("removed");
    assert_eq!((told, toggle.leave()), ([true; 2], Ok(())));
}

/// Every setting that some traffic could measure here is switched and taken back. No frame is sent.
#[test]
fn each_switch_is_taken_back() {
    if !support::can_run() {
        return;
    }
    let bed = support::bed();
    let before = settings_of(&bed);
    let mut made = Vec::new();
    for row in measurable(bed.plan()) {
        let new = Toggle::new(row, &bed);
        let mut toggle = match new {
            Ok(toggle) => toggle,
            Err(why) => {
                println!("{}: {why:?}", row.id);
                let lacks = row.needs.contains("a kernel with ");
                let is_told = match &why {
                    NoToggle::Unmeasured(Unmeasured::Inert(why)) => {
                        lacks && why.starts_with("this kernel has no ")
                    }
                    NoToggle::Unmeasured(Unmeasured::NotSwitched(why)) => {
                        !lacks || why.starts_with("no ")
                    }
                    NoToggle::Stays(_) => false,
                };
                assert!(is_told, "{}: {why:?}", row.id);
                assert_eq!(
                    differences(&before, &settings_of(&bed)),
                    [""; 0],
                    "{}",
                    row.id
                );
                continue;
            }
        };
        toggle
            .begin()
            .unwrap_or_else(|why| panic!("{}: {why}", row.id));
        let bare = if toggle.with.is_some() {
            settings_of(&bed)
        } else {
            before.clone()
        };
        let mut is_other = |level| {
            toggle
                .set(level)
                .unwrap_or_else(|why| panic!("{}: {why}", row.id));
            !differences(&bare, &settings_of(&bed)).is_empty()
        };
        let others = [true, false].map(&mut is_other);
        assert!(others[0] != others[1], "{}: one level is the bed's", row.id);
        toggle
            .leave()
            .unwrap_or_else(|why| panic!("{}: {why}", row.id));
        assert_eq!(
            differences(&before, &settings_of(&bed)),
            [""; 0],
            "{}",
            row.id
        );
        made.push(row.id);
    }
    println!("{} switched: {made:?}", made.len());
    assert!(made.len() >= 10, "{made:?}");
}

/// What holds for the whole machine is switched where the user allows it. The journal has it before, and the bed takes it
/// back though nobody else does.
#[test]
fn a_machines_setting_goes_back_with_the_bed() {
    if !support::can_run() {
        return;
    }
    let plan = BedPlan {
        nic: Front::Softirq,
        ..support::plan()
    };
    let traffic = support::traffic();
    let can = |id: &str, allows_machine, is_named| {
        let at = Ground {
            bed: &plan,
            traffic: &traffic,
            receiver: None,
            is_named,
            allows_machine,
        };
        check(row(id), &at).is_ok()
    };
    assert!(!can("netdev_budget", false, true) && can("netdev_budget", true, false));
    assert!(!can("clocksource", true, false) && can("clocksource", true, true));
    assert!(!can("services", true, true), "nothing stops a service");
    let bed = Bed::raise(&plan).expect("a bed");
    let setting = Setting::sysctl("net.core.netdev_budget");
    let before = setting.read().expect("a number");
    let mut toggle = Toggle::new(row("netdev_budget"), &bed).expect("a switch");
    assert_eq!(setting.read().ok().as_ref(), Some(&before), "it was tried");
    toggle
        .set(!toggle.bed_has_second())
        .expect("its other level");
    assert_ne!(setting.read().ok().as_ref(), Some(&before));
    let entries = journal::peek::<Change>(bed.name()).expect("a journal");
    let has_it = |entry: &Entry<Change>| matches!(entry, Entry::Change(Change::Setting { change }) if change.setting.name.ends_with("netdev_budget") && change.before == before);
    assert!(entries.iter().any(has_it));
    drop(toggle);
    bed.lower().expect("lowered");
    assert_eq!(setting.read().ok(), Some(before));
}

/// Levels that are the router's CPUs, and settings of the whole machine that disturb nobody: each kernel takes them.
#[test]
fn masks_and_machine_levels_are_taken() {
    if !support::can_run() {
        return;
    }
    let mut plan = support::plan();
    let all: BTreeSet<usize> = [&plan.cpus.dut, &plan.cpus.tester]
        .into_iter()
        .flatten()
        .copied()
        .collect();
    plan.cpus.dut = all.into_iter().collect();
    let mask = plan.cpus.dut_set().mask();
    let bed = Bed::raise(&plan).expect("a bed");
    let queue = |port| Setting::device_file(port, "queues/rx-0/rps_cpus");
    let netns = bed.dut().netns().expect("a router");
    for (id, setting, level) in [
        ("rps_cpus", queue("mB"), mask.as_str()),
        ("rps_cpus", queue("mC"), &mask),
        (
            "flow_limit_cpu_bitmap",
            Setting::sysctl("net.core.flow_limit_cpu_bitmap"),
            &mask,
        ),
        (
            "tracing_off",
            Setting::sysctl("kernel.bpf_stats_enabled"),
            "1",
        ),
    ] {
        let is_here = setting.interface.is_none();
        let read = || match is_here {
            true => setting.read(),
            false => netns.run(|| setting.read()).expect("the namespace"),
        };
        let before = read().unwrap_or_else(|error| panic!("{error}"));
        if !setting.is_same("0", &before) {
            println!("SKIP: needs a machine that has {id} at 0");
            continue;
        }
        let mut toggle = Toggle::new(row(id), &bed).unwrap_or_else(|why| panic!("{id}: {why:?}"));
        for at in [false, true] {
            toggle.set(at).unwrap_or_else(|why| panic!("{id}: {why}"));
            let wanted = if at == toggle.bed_has_second() {
                "0"
            } else {
                level
            };
            let now = read().expect("a value");
            assert!(setting.is_same(wanted, &now), "{id}: {wanted} {now}");
        }
        toggle.leave().unwrap_or_else(|why| panic!("{id}: {why}"));
        assert_eq!(read().ok(), Some(before), "{id}");
    }
}

/// Settings that can be switched on such a bed, whatever traffic they need.
fn measurable(bed: &BedPlan) -> Vec<&'static Row> {
    let six = Traffic {
        ipv6: true,
        transport: Transport::Tcp,
        ..support::traffic()
    };
    let at = |traffic, receiver, is_named| Ground {
        bed,
        traffic,
        receiver,
        is_named,
        allows_machine: false,
    };
    let four = support::traffic();
    let all = [
        at(&four, Some(ReceiverPlace::Port), false),
        at(&six, None, false),
    ];
    let can = |row: &&Row| {
        let own_run = row.needs.contains("a run of its own");
        let named = own_run && check(row, &at(&four, None, true)).is_ok();
        named || all.iter().any(|at| check(row, at).is_ok())
    };
    let on_one_bed = CATALOGUE.iter().filter(|row| row.beds().is_none());
    on_one_bed.filter(can).collect()
}

#[test]
fn what_cannot_act_is_inert() {
    let plan = support::plan();
    let (four, six) = (
        support::traffic(),
        Traffic {
            ipv6: true,
            ..support::traffic()
        },
    );
    let at = |traffic, is_named| Ground {
        bed: &plan,
        traffic,
        receiver: None,
        is_named,
        allows_machine: false,
    };
    let inert = |id: &str, at: &Ground<'_>| matches!(check(row(id), at), Err(Unmeasured::Inert(_)));
    let softirq = BedPlan {
        nic: Front::Softirq,
        ..plan.clone()
    };
    let soft = Ground {
        bed: &softirq,
        ..at(&four, false)
    };
    assert!(inert("netdev_budget", &at(&four, false)) && !inert("netdev_budget", &soft));
    assert!(inert("rx_gro_list", &at(&four, false)));
    assert!(
        check(row("rx_gro_list"), &at(&four, true)).is_ok(),
        "the user knows"
    );
    assert!(inert("rp_filter", &at(&six, true)), "mpps knows better");
    let has_one_cpu = plan.cpus.dut.len() == 1;
    assert_eq!(inert("veth_queues", &at(&four, true)), has_one_cpu);
    assert!(inert("ip6_proxy_ndp", &at(&four, true)) && !inert("ip6_proxy_ndp", &at(&six, false)));
    assert!(inert("root_qdisc", &at(&four, false)) && !inert("root_qdisc", &at(&four, true)));
    let not =
        |id: &str, at: &Ground<'_>| matches!(check(row(id), at), Err(Unmeasured::NotSwitched(_)));
    assert!(not("netdev_budget", &soft));
    assert!(not("policy_rules", &at(&four, false)));
    // What the issue asks for, with the plainest traffic.
    let all = CATALOGUE
        .iter()
        .filter(|row| check(row, &at(&four, false)).is_ok());
    assert!(all.count() >= 40);
}
