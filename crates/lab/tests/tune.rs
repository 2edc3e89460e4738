//! Settings of the catalogue that are switched on a bed while it is measured.

use crate::support;
use mpps_lab::bed::{Bed, BedPlan, Change, Front};
use mpps_lab::clock::{Deadline, monotonic_ns};
use mpps_lab::jobs::compare::{ComparePlan, Variant};
use mpps_lab::jobs::settings::{self, Earlier, PROFILES, Recorded, SettingsPlan, beds};
use mpps_lab::jobs::{Observer, Report};
use mpps_lab::journal::{self, Entry};
use mpps_lab::traffic::{ReceiverPlace, Traffic};
use mpps_lab::tune::measurable::{Ground, Reach, Unmeasured, check};
use mpps_lab::tune::toggle::{Level, PLACEBO, Toggle};
use mpps_linux::setting::{Kind, Setting};
use mpps_linux::spawn::{self, Terms};
use mpps_method::saturation::{Block, Window};
use mpps_method::statistics::median;
use mpps_method::tune::{CATALOGUE, Row};
use mpps_method::{FrameSpec, Rate, Span, Transport};
use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

fn row(id: &str) -> &'static Row {
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
fn settings_of(bed: &Bed) -> String {
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
        let other: BTreeSet<&str> = other.lines().collect();
        let lines = one.lines().filter(|line| !other.contains(line));
        lines.take(5).map(str::to_owned).collect::<Vec<_>>()
    };
    [only(before, after), only(after, before)].concat()
}

/// Costs of a frame by the level that was on.
#[derive(Default)]
struct Seen {
    turn: String,
    costs: BTreeMap<String, Vec<f64>>,
}

impl Observer for Seen {
    fn trial(&mut self, report: &Report<'_>) -> std::io::Result<()> {
        let costs = self.costs.entry(self.turn.clone()).or_default();
        costs.extend(report.trial.ns_per_frame());
        Ok(())
    }

    fn turn_begins(&mut self, variant: &str) {
        variant.clone_into(&mut self.turn);
    }
}

#[test]
fn rules_are_switched_and_taken_back() {
    if !support::can_run() {
        return;
    }
    if Command::new("nft").arg("--version").output().is_err() {
        support::skip!("nft");
    }
    let bed = support::bed();
    let before = settings_of(&bed);
    let mut filter = Toggle::new(row("rp_filter"), &bed).expect("a switch");
    // The bed has what is advised, so the other level is the one to go away from.
    assert_eq!((filter.from.as_str(), filter.to.as_str()), ("1", "0"));
    assert_eq!(settings_of(&bed), before);
    filter.set(Level::From).expect("set");
    assert!(settings_of(&bed).contains("ipv4/conf/mB/rp_filter:1"));
    filter.leave().expect("left");
    let plan = SettingsPlan {
        rows: vec![row("forward_rules"), row("lro")],
        ..plan()
    };
    let mut seen = Seen::default();
    let outcome = settings::measure(&bed, &plan, Earlier::default(), &mut seen);
    let outcome = outcome.unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(settings_of(&bed), before, "all is as it was");
    assert!(
        outcome.error.is_none() && outcome.line.tests == 2,
        "{outcome:?}"
    );
    let effects = &outcome.line.effects;
    let ids: Vec<&str> = effects
        .iter()
        .map(|effect| effect.setting.as_str())
        .collect();
    assert!(
        ids.contains(&PLACEBO) && ids.contains(&"forward_rules"),
        "{ids:?}"
    );
    let inert = effects.iter().find(|effect| effect.setting == "lro");
    let why = inert.and_then(|effect| effect.inert.as_ref());
    assert!(why.is_some(), "{inert:?}");
    let cost = |turn: &str| median(&seen.costs[turn]).expect("a trial");
    let (none, rules) = (
        cost("forward_rules none, first trials"),
        cost("forward_rules 100 in a list, first trials"),
    );
    assert!(rules > none + 200.0, "{none} {rules}");
    screen_without_time(&bed, plan, &before);
}

/// With first trials of an earlier run, and no time for a turn: who stands in the screen is settled by switching.
fn screen_without_time(bed: &Bed, plan: SettingsPlan, before: &str) {
    let mut earlier = Earlier::default();
    for (turn, whole_fps) in [
        ("forward_rules none", 2.1e6),
        ("forward_rules 100 in a list", 1e6),
        ("rp_filter 1", 1.9e6),
        ("rp_filter 0", 2e6),
        ("placebo 60", 2e6),
        ("placebo 61", 2e6),
    ] {
        let trial = Recorded {
            whole_fps,
            ..Recorded::default()
        };
        for _ in 0..3 {
            earlier.add(format!("{turn}, first trials"), trial.clone());
        }
    }
    let plan = SettingsPlan {
        rows: vec![row("forward_rules"), row("rp_filter")],
        is_screen: true,
        ..plan
    };
    let mut seen = Seen::default();
    let outcome = settings::measure(bed, &plan, earlier, &mut seen);
    let outcome = outcome.unwrap_or_else(|error| panic!("{error}"));
    assert!(outcome.error.is_none(), "{outcome:?}");
    assert!(seen.costs.is_empty(), "{:?}", seen.costs.keys());
    let screen = outcome.line.screen.expect("a screen");
    assert_eq!(screen.settings, ["rp_filter", PLACEBO]);
    assert_eq!(screen.blocks, 0);
    let mut alone = (outcome.line.effects.iter()).filter_map(|effect| effect.alone.as_deref());
    assert_eq!(alone.next(), Some("it is worth more than twice"));
    assert_eq!(alone.next(), None);
    assert_eq!(settings_of(bed), before);
}

/// Settings on two beds get what the turns left of the budget, and profiles are beyond it. Earlier runs had all turns.
#[test]
fn the_time_of_turns_is_told_without_profiles() {
    if !support::can_run() {
        return;
    }
    let bed = support::bed();
    let mut earlier = Earlier::default();
    for (turn, fps) in [
        ("rp_filter 1", 1e6),
        ("rp_filter 0", 5e5),
        ("placebo 60", 1e6),
        ("placebo 61", 1e6),
    ] {
        let window = Window {
            duration: Span::from_millis(10),
            forwarded: (fps / 100.0) as u64,
            disturbed: false,
            ..Window::default()
        };
        let overload = Block {
            sent: Rate::from_fps(1.2 * fps),
            windows: vec![window; 30],
            ..Block::default()
        };
        let trial = Recorded {
            overload,
            whole_fps: fps,
            ..Recorded::default()
        };
        for _ in 0..3 {
            earlier.add(format!("{turn}, first trials"), trial.clone());
        }
        for _ in 0..20 {
            earlier.add(turn.to_owned(), trial.clone());
        }
    }
    let plan = SettingsPlan {
        rows: vec![row("rp_filter")],
        by_stage: true,
        ..plan()
    };
    let begun_ns = monotonic_ns();
    let mut seen = Seen::default();
    let outcome = settings::measure(&bed, &plan, earlier, &mut seen);
    let outcome = outcome.unwrap_or_else(|error| panic!("{error}"));
    let profiles = monotonic_ns() - begun_ns - outcome.turns.as_nanos();
    assert!(outcome.error.is_none(), "{outcome:?}");
    let turns: Vec<&str> = seen.costs.keys().map(String::as_str).collect();
    assert_eq!(turns, ["rp_filter 0, profiled", "rp_filter 1, profiled"]);
    // A trial may be cut short.
    assert!(profiles > PROFILES.as_nanos() / 2, "{profiles} ns");
}

/// Without rows, and without time.
fn plan() -> SettingsPlan {
    SettingsPlan {
        rows: Vec::new(),
        beds: 0,
        is_named: true,
        reach: Reach::Router,
        is_screen: false,
        by_stage: false,
        traffic: support::traffic(),
        how: ComparePlan {
            within: 0.02,
            budget: Span::from_millis(1),
            receiver: None,
        },
    }
}

/// An earlier run had the first trials and one turn of one level: it was cut before the other.
#[test]
fn a_turn_on_two_beds_is_repeated_if_cut() {
    if !support::can_run() {
        return;
    }
    let both = [support::bed(), support::bed()];
    let levels = ["IPv4", "IPv6"].into_iter().zip(&both);
    let beds = levels.map(|(name, bed)| Variant {
        name: name.to_owned(),
        bed,
        traffic: Traffic {
            frames: FrameSpec::parse_list("78").expect("a size").remove(0),
            ipv6: name == "IPv6",
            ..support::traffic()
        },
    });
    let beds: Vec<Variant<'_>> = beds.collect();
    let mut earlier = Earlier::default();
    earlier.told = 7;
    let trial = Recorded {
        whole_fps: 1e6,
        ..Recorded::default()
    };
    for turn in ["ipv6 IPv4, first trials", "ipv6 IPv6, first trials"].repeat(3) {
        earlier.add(turn.to_owned(), trial.clone());
    }
    earlier.add("ipv6 IPv4".to_owned(), trial);
    let plan = SettingsPlan { beds: 1, ..plan() };
    let (mut seen, end) = (Seen::default(), Deadline::after(Some(Span::ZERO)));
    let found = beds::measure(Some(row("ipv6")), &beds, &plan, 2, end, earlier, &mut seen);
    let (effect, error) = found.unwrap_or_else(|error| panic!("{error}"));
    assert!(error.is_none(), "{error:?}");
    let turns: Vec<&str> = seen.costs.keys().map(String::as_str).collect();
    assert_eq!(turns, ["ipv6 IPv4", "ipv6 IPv6"]);
    assert_eq!([&*effect.from, &*effect.to], ["IPv4", "IPv6"]);
    assert_eq!([effect.from_trials, effect.to_trials], [vec![8], vec![9]]);
    let difference = effect.difference.expect("a comparison");
    let pairs = difference.pairs.expect("pairs");
    let left_out = pairs.disturbed + pairs.distance + pairs.not_overloaded;
    assert_eq!(pairs.counted + left_out, 1, "{difference:?}");
    assert!(effect.two_beds && !effect.placebo);
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
                    Unmeasured::Inert(why) => lacks && why.starts_with("this kernel has no "),
                    Unmeasured::NotSwitched(why) => !lacks || why.starts_with("no "),
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
        let others = [Level::To, Level::From].map(&mut is_other);
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
    let can = |id: &str, reach, is_named| {
        let at = Ground {
            bed: &plan,
            traffic: &traffic,
            receiver: None,
            is_named,
            reach,
        };
        check(row(id), &at).is_ok()
    };
    let machine = Reach::Machine;
    assert!(!can("netdev_budget", Reach::Router, true) && can("netdev_budget", machine, false));
    assert!(!can("clocksource", machine, false) && can("clocksource", machine, true));
    assert!(!can("services", machine, true), "nothing stops a service");
    let bed = Bed::raise(&plan).expect("a bed");
    let setting = Setting::sysctl("net.core.netdev_budget");
    let before = setting.read().expect("a number");
    let mut toggle = Toggle::new(row("netdev_budget"), &bed).expect("a switch");
    assert_eq!(setting.read().ok().as_ref(), Some(&before), "it was tried");
    let other = match toggle.bed_level() {
        Level::From => Level::To,
        Level::To => Level::From,
    };
    toggle.set(other).expect("its other level");
    assert_ne!(setting.read().ok().as_ref(), Some(&before));
    let entries = journal::peek::<Change>(bed.name()).expect("a journal");
    let has_it = |entry: &Entry<Change>| matches!(entry, Entry::Change(Change::Setting { change }) if change.setting.name.ends_with("netdev_budget") && change.before == before);
    assert!(entries.iter().any(has_it));
    drop(toggle);
    bed.lower().expect("lowered");
    assert_eq!(setting.read().ok(), Some(before));
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
        reach: Reach::Router,
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
        reach: Reach::Router,
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
    assert!(inert("ip6_proxy_ndp", &at(&four, true)) && !inert("ip6_proxy_ndp", &at(&six, false)));
    assert!(inert("root_qdisc", &at(&four, false)) && !inert("root_qdisc", &at(&four, true)));
    let not =
        |id: &str, at: &Ground<'_>| matches!(check(row(id), at), Err(Unmeasured::NotSwitched(_)));
    assert!(not("governor", &at(&four, true)));
    assert!(not("policy_rules", &at(&four, false)));
    // What the issue asks for, with the plainest traffic.
    let all = CATALOGUE
        .iter()
        .filter(|row| check(row, &at(&four, false)).is_ok());
    assert!(all.count() >= 40);
}
