use super::machine::{boot_word, is_met};
use super::*;
use crate::facts::tests::planted::{Planted, ROUTER};
use mpps_linux::setting::{Kind as Reached, Setting};
use mpps_method::tune::CATALOGUE;
use std::os::unix::fs::PermissionsExt;

/// A machine with one interface of two queues that no real machine has.
fn router(name: &str) -> (Planted, Machine) {
    let planted = Planted::new(name, ROUTER);
    for (path, text) in [
        ("/proc/sys/net/core/dev_weight", "64\n"),
        ("/proc/sys/net/ipv4/ip_forward", "1\n"),
        ("/proc/sys/net/ipv4/conf/all/rp_filter", "0\n"),
        ("/proc/sys/net/ipv4/conf/default/rp_filter", "0\n"),
        ("/proc/sys/net/ipv4/conf/planted0.7/rp_filter", "1\n"),
        ("/sys/class/net/planted0.7/device/msi_irqs/24", "msix\n"),
        ("/sys/class/net/planted0.7/queues/rx-0/rps_cpus", "00\n"),
        ("/sys/class/net/planted0.7/queues/rx-1/rps_cpus", "03\n"),
        ("/sys/class/net/planted0.7/queues/tx-0/xps_cpus", "1\n"),
        ("/proc/irq/24/smp_affinity_list", "0-3\n"),
        ("/proc/77/comm", "power-profiles-\n"),
        ("/proc/78/comm", "irqbalance\n"),
    ] {
        planted.put(path, text.as_bytes());
    }
    let root = planted.root();
    let facts = facts::read(&root, Reading::Known(4), None);
    let machine = Machine::new(root, facts, &[]).expect("a machine");
    assert_eq!(machine.interfaces, ["planted0.7"]);
    (planted, machine)
}

fn standing(machine: &Machine, id: &str, profile: Profile) -> Standing {
    let row = CATALOGUE.iter().find(|row| row.id == id).expect(id);
    super::standing(row, machine, profile)
}

#[test]
fn settings_stand_as_the_files_say() {
    let (planted, machine) = router("standings");
    let state = |id: &str| standing(&machine, id, Profile::Router).state;
    assert_eq!(state("ip_forward"), State::AsAdvised);
    // One of three places holds another value.
    assert_eq!(state("rp_filter"), State::Differs);
    assert_eq!(state("rps_cpus"), State::InWords);
    let by_hand = State::Fixed("by hand, because systemd does not run here");
    assert_eq!(state("irqbalance"), by_hand.clone());
    // The kernel keeps 15 characters of a process' name.
    assert_eq!(state("services"), by_hand);
    assert_eq!(state("cfg_preempt_rt"), State::AsAdvised);
    assert_eq!(state("threadirqs"), State::AsAdvised);
    assert_eq!(state("gateway_route"), State::Unread);
    assert_eq!(state("tcp_sack"), State::NoAdvice);
    assert_eq!(state("thp_ksm"), State::Differs);
    let missing = |id: &str, why: &str| {
        assert_eq!(state(id), State::NotHere(why.to_owned()), "{id}");
    };
    missing("ct_acct", "connection tracking is not loaded");
    missing("netdev_budget", "this kernel has no such file");
    let debugfs = "debugfs is not mounted (mount -t debugfs none /sys/kernel/debug)";
    missing("preempt_mode", debugfs);
    planted.put("/sys/kernel/debug/sched/features", b"");
    missing("preempt_mode", "this kernel has no such file");
    missing("gro", "no such interface feature");
    missing("i40e_atr", "no interface of driver i40e");
    // Nothing is as advised while a place of it is hidden.
    let (see, hide) = (
        Reading::Known("1".to_owned()),
        Reading::unreadable(NEEDS_ROOT),
    );
    let mut jit = standing(&machine, "bpf_jit", Profile::Router).seen;
    (jit[0].now, jit[0].is_met, jit[1].now) = (see, Some(true), hide);
    assert_eq!(super::state(&jit), State::NotHere(NEEDS_ROOT.to_owned()));
    let end_host = standing(&machine, "ip_forward", Profile::Endpoint);
    assert_eq!(end_host.state, State::Differs);
}

#[test]
fn templates_name_each_place() {
    let (_planted, machine) = router("places");
    let seen = |id: &str| standing(&machine, id, Profile::Router).seen;
    let names: Vec<String> = seen("rps_cpus")
        .iter()
        .map(|one| one.place.name())
        .collect();
    let file = |queue| format!("/sys/class/net/planted0.7/queues/{queue}/rps_cpus");
    assert_eq!(names, [file("rx-0"), file("rx-1")]);
    let governors = seen("governor");
    assert_eq!(governors.len(), 4);
    assert_eq!(
        governors
            .iter()
            .filter(|one| one.is_met == Some(false))
            .count(),
        1
    );
    let interrupts = seen("irq_affinity");
    assert_eq!(interrupts.len(), 1);
    assert_eq!(interrupts[0].now, Reading::Known("0-3".to_owned()));
    let idle: Vec<String> = seen("cstate_disable")
        .iter()
        .map(|one| one.place.name())
        .collect();
    assert_eq!(idle.len(), 2, "{idle:?}");
}

/// An idle firewall tracks nothing until the first frame comes.
#[test]
fn a_count_of_none_is_not_as_advised() {
    let (planted, machine) = router("count");
    let state = || standing(&machine, "conntrack", Profile::Router).state;
    let missing = "connection tracking is not loaded".to_owned();
    assert_eq!(state(), State::NotHere(missing));
    let count = "/proc/sys/net/netfilter/nf_conntrack_count";
    for (now, wanted) in [("0\n", State::Unread), ("12\n", State::Differs)] {
        planted.put(count, now.as_bytes());
        assert_eq!(state(), wanted, "{now}");
    }
}

/// One of several values that would do is as advised; which one to set, only a person can say.
#[test]
fn ranges_are_met_but_never_set() {
    let (planted, machine) = router("ranges");
    for (now, state) in [("600", State::AsAdvised), ("601", State::InWords)] {
        planted.put("/proc/sys/net/core/netdev_budget", now.as_bytes());
        let budget = standing(&machine, "netdev_budget", Profile::Router);
        assert_eq!(
            (budget.state, budget.seen[0].advised.clone()),
            (state, None),
            "{now}"
        );
    }
}

/// What a change would be written by is what was read.
#[test]
fn places_are_settings() {
    let (_planted, machine) = router("settings");
    let setting = |id: &str| {
        let last = standing(&machine, id, Profile::Router).seen.pop();
        last.expect("a place").place.setting()
    };
    let device = |kind, name: &str| Setting {
        kind,
        name: name.to_owned(),
        interface: Some("planted0.7".to_owned()),
    };
    // The dot in the interface's name is no step of the path.
    let filter = device(Reached::Sysctl, "net/ipv4/conf/*/rp_filter");
    assert_eq!(setting("rp_filter"), Some(filter));
    let mask = device(Reached::Sysfs, "class/net/*/queues/rx-1/rps_cpus");
    assert_eq!(setting("rps_cpus"), Some(mask));
    let ring = device(Reached::Ethtool, "rings/rx");
    assert_eq!(setting("ring_rx"), Some(ring));
    let forward = Setting::sysctl("net/ipv4/ip_forward");
    assert_eq!(setting("ip_forward"), Some(forward));
    assert_eq!(setting("isolation"), None);
}

#[test]
fn host_settings_are_missed_in_a_namespace() {
    let planted = Planted::new("namespace", &[("/proc/sys/net/ipv4/ip_forward", "0\n")]);
    let root = planted.root();
    let facts = facts::read(&root, Reading::Known(1), None);
    let machine = Machine::new(root, facts, &[]).expect("a machine");
    let state = |id: &str| standing(&machine, id, Profile::Router).state;
    let hidden = "the host's, not in this network namespace";
    assert_eq!(state("netdev_budget"), State::NotHere(hidden.to_owned()));
    assert_eq!(state("gro"), State::NotHere("no interface".to_owned()));
    assert_eq!(state("ip_forward"), State::Differs);
}

#[test]
fn what_nobody_may_write_is_fixed() {
    let (planted, machine) = router("fixed");
    let forward = planted.root().path("/proc/sys/net/ipv4/ip_forward");
    let mut rights = forward.metadata().expect("a file").permissions();
    rights.set_mode(0o444);
    std::fs::set_permissions(&forward, rights).expect("rights");
    let fixed = standing(&machine, "ip_forward", Profile::Endpoint).state;
    assert_eq!(fixed, State::Fixed("read-only here"));
    let held = standing(&machine, "ip_forward", Profile::Router).state;
    assert_eq!(held, State::AsAdvised);
}

#[test]
fn an_unknown_interface_is_refused() {
    let (planted, machine) = router("interface");
    let wanted = ["planted9".to_owned()];
    let refused = Machine::new(planted.root(), machine.facts.clone(), &wanted);
    assert_eq!(
        refused.expect_err("refused").to_string(),
        "no interface planted9 in this network namespace (give one of: planted0.7)"
    );
}

#[test]
fn advice_is_compared_by_its_kind() {
    let (_planted, machine) = router("compare");
    let place = |id: &str| standing(&machine, id, Profile::Router).seen.remove(0).place;
    assert!(is_met(&place("rps_cpus"), "3", "00000000,00000003"));
    assert!(is_met(&place("ip6_route_max"), ">=1000000", "2147483647"));
    assert!(!is_met(&place("ip6_route_max"), ">=1000000", "4096"));
    assert!(!is_met(&place("ip6_route_max"), ">=1000000", "many"));
    let backlog = |now| is_met(&place("ip6_route_max"), "1000|5000..30000", now);
    assert!(backlog("1000") && backlog("5000") && backlog("30000"));
    assert!(!backlog("1001") && !backlog("4999") && !backlog("30001"));
    assert!(is_met(&place("ip6_route_max"), "0|>=100", "100"));
    assert!(!is_met(&place("conntrack"), "none", "12"));
    assert!(is_met(&place("preempt_mode"), "none|lazy", "none"));
    assert!(is_met(&place("cfg_debug"), "n", "absent"));
    assert!(!is_met(&place("cfg_debug"), "n", "y"));
    let words = ["quiet", "nosmt=force", "idle=halt", "idle=poll"].map(str::to_owned);
    assert_eq!(boot_word(&words, "idle"), "poll");
    assert_eq!(boot_word(&words, "quiet"), "given");
    assert_eq!(boot_word(&words, "nosm"), "absent");
}

fn plan(machine: &Machine, choice: &Choice, is_host: bool) -> Plan {
    let standings = machine.standings(Profile::Router);
    Plan::new(&standings, Profile::Router, choice, is_host)
}

fn ids(plan: &Plan) -> Vec<&str> {
    plan.changes.iter().map(|one| one.id).collect()
}

#[test]
fn a_plan_has_what_differs_in_order() {
    let (planted, machine) = router("plan");
    planted.put("/proc/sys/net/ipv4/ip_forward", b"0\n");
    planted.put("/proc/sys/net/core/netdev_budget_usecs", b"2000\n");
    let all = plan(&machine, &Choice::default(), true);
    let place = |id: &str| ids(&all).iter().position(|one| *one == id).expect(id);
    assert!(place("ip_forward") < place("governor"));
    assert!(place("governor") < place("rp_filter"));
    assert!(place("governor") < place("netdev_budget_usecs"));
    let why = |plan: &Plan, id: &str| {
        let found = plan.left_out.iter().find(|one| one.id == id);
        found.map(|one| one.why.clone()).expect(id)
    };
    assert_eq!(
        why(&all, "irqbalance"),
        "by hand, because systemd does not run here"
    );
    // Systemd stops it, and one of the services that a machine may need only on demand.
    planted.put("/run/systemd/system/x", b"");
    let stopped = plan(&machine, &Choice::default(), true);
    assert!(!ids(&stopped).contains(&"irqbalance"));
    for name in ["irqbalance", "rsyslog"] {
        let group = format!("/sys/fs/cgroup/system.slice/{name}.service/cgroup.procs");
        planted.put(&group, b"78\n");
    }
    let managed = plan(&machine, &Choice::default(), true);
    assert!(ids(&managed).contains(&"irqbalance"));
    assert!(why(&managed, "services").contains("--only services"));

    // In a namespace nothing of the whole machine is changed.
    let inside = plan(&machine, &Choice::default(), false);
    assert_eq!(ids(&inside), ["ip_forward", "rp_filter"]);
    assert_eq!(
        why(&inside, "netdev_budget_usecs"),
        "holds for the whole machine"
    );
    assert_eq!(
        inside.changes[1].setting.interface.as_deref(),
        Some("planted0.7")
    );
}

#[test]
fn a_plan_keeps_to_the_settings_chosen() {
    let (_planted, machine) = router("choice");
    let words = |words: &[&str]| {
        words
            .iter()
            .map(|&word| word.to_owned())
            .collect::<Vec<_>>()
    };
    let only = Choice {
        only: words(&["rp_filter", "ip_forward", "rps_cpus"]),
        ..Choice::default()
    };
    let only = plan(&machine, &only, true);
    assert_eq!(ids(&only), ["rp_filter"]);
    let left: Vec<&str> = only.left_out.iter().map(|one| one.id).collect();
    assert_eq!(left, ["ip_forward", "rps_cpus"]);
    assert!(only.left_out[1].why.starts_with("the advice is in words: "));
    let except = Choice {
        except: words(&["rp_filter"]),
        ..Choice::default()
    };
    let except = plan(&machine, &except, true);
    assert!(!ids(&except).contains(&"rp_filter") && ids(&except).contains(&"governor"));
}

/// Settings that stop something while they change have to be asked for.
#[test]
fn a_plan_leaves_out_what_disrupts() {
    let (planted, machine) = router("risky");
    let files = "/etc/sysctl.d/99-x.conf";
    planted.put(
        files,
        b"net.ipv4.ip_forward = 0\nnet.ipv4.conf.all.rp_filter = 0\n",
    );
    // A second thread of a core with SMT off, memory of somebody's data plane, a service that the site may demand.
    planted.put("/sys/devices/system/cpu/cpu1/online", b"0\n");
    planted.put("/proc/sys/vm/nr_hugepages", b"8\n");
    planted.put("/run/systemd/system/x", b"");
    let group = "/sys/fs/cgroup/system.slice/auditd.service/cgroup.procs";
    planted.put(group, b"79\n");
    let machine = Machine::new(planted.root(), machine.facts, &[]).expect("a machine");
    let of = |choice: &Choice| plan(&machine, choice, true);
    let default = of(&Choice::default());
    let has = |plan: &Plan, id| ids(plan).contains(&id);
    assert!(!has(&default, "smt") && !has(&default, "auditd") && has(&default, "governor"));
    let left = default
        .left_out
        .iter()
        .find(|one| one.id == "smt")
        .expect("told");
    assert_eq!(left.why, "CPUs go offline (--include-risky, or --only smt)");
    let risky = Choice {
        include_risky: true,
        ..Choice::default()
    };
    let risky = of(&risky);
    assert!(has(&risky, "smt") && has(&risky, "auditd"));
    assert!(!has(&risky, "cpu_online") && !has(&risky, "hugepages"));
    let only = Choice {
        only: vec!["smt".to_owned()],
        ..Choice::default()
    };
    assert_eq!(ids(&of(&only)), ["smt"]);
    // A file that sets another value than advised at boot is told, one that sets the advised one is not.
    let at_boot: Vec<_> = default
        .at_boot
        .iter()
        .map(|one| (one.place.as_str(), one.file.as_str(), one.value.as_str()))
        .collect();
    assert_eq!(at_boot, [("net.ipv4.ip_forward", files, "0")]);
}

/// Files of links are read when a link comes: our service writes after them.
#[test]
fn only_files_of_sysctls_set_again_at_boot() {
    let (_planted, machine) = router("at-boot");
    let told = |id: &str, file: &str| {
        let mut standing = standing(&machine, id, Profile::Router);
        let other = (file.to_owned(), "0".to_owned());
        standing.seen[0].at_boot = Some(other);
        Plan::new(&[standing], Profile::Router, &Choice::default(), true)
            .at_boot
            .len()
    };
    let file = "/etc/x";
    assert_eq!((told("ip_forward", file), told("governor", file)), (1, 0));
    // NetworkManager sets an interface again later.
    assert_eq!(told("governor", "/etc/x.nmconnection"), 1);
}

#[test]
fn a_tool_that_is_missing_is_named() {
    assert_eq!(
        super::toggle::missing("/bin/sh: 1: tc: not found"),
        Some("tc")
    );
    assert_eq!(
        super::toggle::missing("sh: line 1: nft: command not found"),
        Some("nft")
    );
    assert_eq!(
        super::toggle::missing("Error: Specified class not found"),
        None
    );
}
