//! The bed as it stands: what is in it, what it does not do of its own accord, who may have it.

use crate::host::{Host, alone, left_of};
use crate::support;
use crate::support::PortsOfBed as _;
use mpps_lab::bed::{self, Bed, BedError, BedPlan, BedState, Front, RssKey, Side};
use mpps_lab::clock::wait_for;
use mpps_lab::facts::nic;
use mpps_linux::links::{self, LinkStats};
use mpps_linux::netns::NetNs;
use mpps_linux::{setting::Setting, task};
use std::convert::Infallible;
use std::fs;
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

/// A router solicits its neighbours, reports its groups and probes its addresses within this time, ns
/// (RFC 4861 section 10: 3 solicitations, 4 s apart, the first within 1 s).
const TALK_NS: u64 = 5_000_000_000;
/// A frame passes within this time, ns.
const LIMIT_NS: u64 = 10_000_000_000;

fn unique(what: &str) -> String {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    format!("t{}-{count}{what}", std::process::id())
}

fn named(name: &str) -> BedPlan {
    BedPlan {
        name: Some(name.to_owned()),
        ..support::plan()
    }
}

fn raise(plan: &BedPlan) -> Bed {
    Bed::raise(plan).unwrap_or_else(|error| panic!("raise: {error}"))
}

fn stats(bed: &Bed, side: Side) -> LinkStats {
    let port = bed.port(side);
    bed.netns(side)
        .run(|| links::stats(&port.name))
        .expect("namespace")
        .expect("counters")
}

fn frames(bed: &Bed) -> Vec<(Side, u64, u64)> {
    Side::ALL
        .into_iter()
        .map(|side| {
            let stats = stats(bed, side);
            (side, stats.rx_packets, stats.tx_packets)
        })
        .collect()
}

/// No solicitation, no ARP, and of MLD one report a port before the bed counts as raised; then nothing.
#[test]
fn no_frame_is_on_the_bed_that_nobody_sent() {
    if !support::can_run() {
        return;
    }
    let bed = raise(&support::plan());
    let raised = frames(&bed);
    assert!(
        raised
            .iter()
            .all(|&(_, received, sent)| received + sent <= 1),
        "{raised:?}"
    );
    let mut seen = raised.clone();
    let spoke = wait_for(TALK_NS, 20_000_000, || {
        seen = frames(&bed);
        Ok::<_, Infallible>(seen != raised)
    });
    assert_eq!((spoke, seen), (Ok(false), raised));
}

/// A datagram of the DUT's own, and one through it, each arrive as one frame: addresses, routes,
/// forwarding and static neighbours stand, and nobody had to ask.
#[test]
fn a_datagram_leaves_the_dut_as_one_frame() {
    if !support::can_run() {
        return;
    }
    let bed = raise(&support::plan());
    for (from, to) in [(Side::B, Side::A), (Side::C, Side::D)] {
        let (own, tester) = (bed.port(from), bed.port(to));
        for (own, tester) in [
            (IpAddr::V4(own.v4), IpAddr::V4(tester.v4)),
            (IpAddr::V6(own.v6), IpAddr::V6(tester.v6)),
        ] {
            let before = stats(&bed, to).rx_packets;
            bed.netns(from)
                .run(|| {
                    let socket = UdpSocket::bind(SocketAddr::new(own, 0)).expect("own address");
                    socket
                        .send_to(b"x", SocketAddr::new(tester, 9))
                        .expect("route");
                })
                .expect("namespace");
            let arrived = wait_for(LIMIT_NS, 1_000_000, || {
                Ok::<_, Infallible>(stats(&bed, to).rx_packets > before)
            });
            assert_eq!(arrived, Ok(true), "{own} to {tester}");
            assert_eq!(stats(&bed, to).rx_packets, before + 1, "{own} to {tester}");
        }
    }
}

#[test]
fn ports_and_settings_follow_the_plan() {
    if !support::can_run() {
        return;
    }
    let bed = raise(&BedPlan {
        queues: 3,
        ..support::plan()
    });
    for side in Side::ALL {
        let port = bed.port(side);
        let link = bed
            .netns(side)
            .run(|| links::list().map(|all| all.into_iter().find(|link| link.name == port.name)))
            .expect("namespace")
            .expect("links")
            .expect("the port");
        assert_eq!((link.index, &link.mac[..]), (port.ifindex, &port.mac[..]));
        assert!(link.up && link.carrier && !link.multicast, "{link:?}");
        assert_eq!((link.rx_queues, link.tx_queues), (3, 3));
    }
    let read = |side: Side, name: &str| {
        bed.netns(side)
            .run(|| Setting::sysctl(name).read().expect("setting"))
            .expect("namespace")
    };
    assert_eq!(read(Side::B, "net.ipv4.ip_forward"), "1");
    assert_eq!(read(Side::B, "net.ipv6.conf.mB.forwarding"), "1");
    assert_eq!(read(Side::C, "net.ipv6.conf.mC.accept_ra"), "0");
    assert_eq!(read(Side::A, "net.ipv6.conf.mA.disable_ipv6"), "1");
    assert_eq!(read(Side::D, "net.ipv6.conf.mD.disable_ipv6"), "1");
    assert_eq!(
        bed.netns(Side::B).name(),
        format!("mpps-{}-dut", bed.name())
    );
}

#[test]
fn a_port_has_facts_in_its_own_namespace() {
    if !support::can_run() {
        return;
    }
    let bed = raise(&support::plan());
    let facts = || nic::in_netns(bed.netns(Side::B), &bed.port(Side::B).name).expect("facts");
    // A worker of the kernel's sees that the cable is whole; until then nobody knows.
    let mut nic = facts();
    let up = wait_for(2_000_000_000, 1_000_000, || {
        nic = facts();
        Ok::<_, Infallible>(nic.state.text() == "up")
    });
    assert!(up.expect("facts"), "{nic:?}");
    assert_eq!(
        nic.driver.known().map(|driver| driver.name.as_str()),
        Some("veth"),
        "{nic:?}"
    );
    assert_eq!(nic.rx_queues.known(), Some(&1), "{nic:?}");
    assert!(
        nic.pcie.why().is_some_and(|why| why.contains("not on PCI")),
        "{nic:?}"
    );
    let can_redirect = (nic.xdp.known()).is_some_and(|can| can.iter().any(|one| one == "redirect"));
    // Older kernels do not tell (netdev generic netlink, 6.3).
    let tells = mpps_linux::kernel::release()
        .expect("a release")
        .at_least(6, 3);
    assert!(can_redirect || !tells, "{nic:?}");
    bed.lower().expect("lower");
}

#[test]
fn two_beds_exist_together_and_one_is_lowered() {
    if !support::can_run() {
        return;
    }
    let (one, other) = (raise(&support::plan()), raise(&support::plan()));
    assert_ne!(one.name(), other.name());
    assert_ne!(one.netns(Side::B).inode(), other.netns(Side::B).inode());
    let gone = one.name().to_owned();
    one.lower().expect("lower");
    assert_eq!(left_of(&gone), [""; 0]);
    assert_eq!(left_of(other.name()).len(), 4);
}

/// Raised by eight at once, a name is one's; the losers harm nobody and leave nothing.
#[test]
fn a_name_belongs_to_one_bed() {
    if !support::can_run() || !alone("a_name_belongs_to_one_bed") {
        return;
    }
    let before = Host::now();
    let name = unique("same");
    let mut raised: Vec<Result<Bed, BedError>> = std::thread::scope(|scope| {
        let all: Vec<_> = (0..8)
            .map(|_| scope.spawn(|| Bed::raise(&named(&name))))
            .collect();
        all.into_iter()
            .map(|t| t.join().expect("no panic"))
            .collect()
    });
    let winner = raised.iter().position(Result::is_ok).expect("a winner");
    let bed = raised.swap_remove(winner).expect("the winner");
    assert_eq!(raised.len(), 7);
    for lost in raised {
        let error = lost.expect_err("one winner").to_string();
        assert!(
            error.starts_with(&format!("bed `{name}` exists: use another name")),
            "{error}"
        );
    }
    assert_eq!(left_of(&name).len(), 4);
    bed.lower().expect("lower");
    assert_eq!(Host::now(), before);
}

/// A namespace of the wanted name that is not ours is not touched.
#[test]
fn a_foreign_namespace_of_that_name_is_left_alone() {
    if !support::can_run() || !alone("a_foreign_namespace_of_that_name_is_left_alone") {
        return;
    }
    let foreign = NetNs::create("mpps-x-dut").expect("namespace");
    let before = Host::now();
    let error = Bed::raise(&named("x")).expect_err("taken").to_string();
    assert!(error.contains("mpps-x-dut"), "{error}");
    assert_eq!(Host::now(), before);
    drop(foreign);
    NetNs::delete("mpps-x-dut").expect("delete");
}

fn script(text: &str, executable: bool) -> PathBuf {
    use std::os::unix::fs::PermissionsExt;
    let path = std::env::temp_dir().join(format!("mpps-{}", unique("script")));
    fs::write(&path, text).expect("script");
    let mode = if executable { 0o755 } else { 0o644 };
    fs::set_permissions(&path, fs::Permissions::from_mode(mode)).expect("mode");
    path
}

fn raised_with(script: &PathBuf) -> Result<Bed, BedError> {
    let bed = Bed::raise(&BedPlan {
        dut_setup: Some(script.clone()),
        ..support::plan()
    });
    fs::remove_file(script).expect("script");
    bed
}

/// In the DUT's namespace, with the words it may need, on the DUT's CPUs; a daemon of its may go on.
#[test]
fn the_set_up_script_configures_the_dut() {
    if !support::can_run() {
        return;
    }
    for executable in [true, false] {
        let script = script(
            "#!/bin/sh\n\
             echo 1 >/proc/sys/net/ipv4/conf/$MPPS_DUT_IN/rp_filter\n\
             echo 2 >/proc/sys/net/ipv4/conf/$MPPS_DUT_OUT/rp_filter\n\
             test -e /sys/class/net/mB && test -e /run/netns/$MPPS_NETNS_DUT\n\
             grep Cpus_allowed_list /proc/self/status\n\
             tail -f /dev/null &\n",
            executable,
        );
        let bed = raised_with(&script).expect("raise");
        let value = |port: &str| {
            bed.netns(Side::B)
                .run(|| {
                    Setting::sysctl(format!("net.ipv4.conf.{port}.rp_filter"))
                        .read()
                        .expect("setting")
                })
                .expect("namespace")
        };
        assert_eq!((value("mB").as_str(), value("mC").as_str()), ("1", "2"));
        let said = fs::read_to_string(format!("/run/mpps/{}/dut-setup.out", bed.name()));
        let cpus = bed.plan().cpus.dut_set().to_string();
        assert_eq!(
            said.expect("output").trim(),
            format!("Cpus_allowed_list:\t{cpus}")
        );
        let pids = bed.netns(Side::B).pids().expect("processes");
        assert_eq!(pids.len(), 1, "the daemon");
        let started = task::start_time(pids[0]).expect("alive");
        let name = bed.name().to_owned();
        bed.lower().expect("lower");
        assert_eq!(left_of(&name), [""; 0]);
        assert!(!task::lives(pids[0], started));
    }
}

#[test]
fn a_failing_script_is_quoted_and_nothing_is_left() {
    if !support::can_run() || !alone("a_failing_script_is_quoted_and_nothing_is_left") {
        return;
    }
    let before = Host::now();
    let path = script(
        "tail -f /dev/null &\necho told >&1\nfor i in 1 2 3 4; do echo line $i >&2; done\nexit 7\n",
        false,
    );
    let error = raised_with(&path).expect_err("exit 7").to_string();
    assert_eq!(
        error,
        format!(
            "set-up script {} ended with exit code 7: line 2; line 3; line 4",
            path.display()
        )
    );
    assert_eq!(Host::now(), before);

    // Not executable: each command must succeed. Executable: its own interpreter says what is wrong.
    let error = raised_with(&script("false\ntrue\n", false)).expect_err("false");
    assert!(
        error.to_string().ends_with("ended with exit code 1"),
        "{error}"
    );
    let error = raised_with(&script("#!/no/such/interpreter\n", true)).expect_err("none");
    assert!(
        error.to_string().contains("interpreter is missing"),
        "{error}"
    );
    let error = raised_with(&script("kill -9 $$\n", false)).expect_err("killed");
    assert!(
        error.to_string().ends_with("was killed by a signal"),
        "{error}"
    );
    let missing = BedPlan {
        dut_setup: Some("/no/such/script".into()),
        ..support::plan()
    };
    let error = Bed::raise(&missing).expect_err("missing");
    assert_eq!(
        error.to_string(),
        "set-up script /no/such/script is not a file"
    );
    assert_eq!(Host::now(), before);
}

#[test]
fn a_kept_bed_has_one_user_and_can_be_lowered() {
    if !support::can_run() || !alone("a_kept_bed_has_one_user_and_can_be_lowered") {
        return;
    }
    let before = Host::now();
    let plan = BedPlan {
        nic: Front::Napi,
        queues: 1,
        rx_ring: 512,
        rss: RssKey::Symmetric,
        ..named("kept")
    };
    let bed = raise(&plan);
    let inode = bed.netns(Side::B).inode();
    bed::keep(bed).expect("keep");
    let state = |in_use: bool| BedState {
        name: "kept".to_owned(),
        kept: true,
        in_use,
        plan: Some(plan.clone()),
    };
    assert_eq!(bed::list().expect("list"), [state(false)]);

    let bed = bed::open("kept").expect("open");
    assert_eq!((bed.plan(), bed.netns(Side::B).inode()), (&plan, inode));
    assert_eq!(bed.port(Side::B).name, "mB");
    assert_eq!(bed::list().expect("list"), [state(true)]);
    let in_use = "bed `kept` is in use by another run: wait for it, or raise a bed of another name";
    assert_eq!(bed::open("kept").expect_err("in use").to_string(), in_use);
    assert_eq!(bed::down("kept").expect_err("in use").to_string(), in_use);
    drop(bed);

    // A shell of the bed's: its namespace and its words.
    let bed = bed::open("kept").expect("open again");
    let command = [
        "sh",
        "-c",
        "test -e /sys/class/net/mD && test $MPPS_BED = kept && exit 5",
    ];
    let mut shell = bed::shell(&bed, Side::D, &command.map(str::to_owned)).expect("shell");
    assert_eq!(shell.wait().expect("its end").code(), Some(5));
    drop(bed);

    bed::down("kept").expect("down");
    assert_eq!(bed::list().expect("list"), []);
    let none = "no bed `kept`: `mpps bed list` shows those there are";
    assert_eq!(bed::down("kept").expect_err("gone").to_string(), none);
    assert_eq!(bed::open("kept").expect_err("gone").to_string(), none);
    assert_eq!(Host::now(), before);
}

/// Who lists beds looks at their locks; nobody is turned away for that.
#[test]
fn listing_beds_turns_no_user_away() {
    if !support::can_run() || !alone("listing_beds_turns_no_user_away") {
        return;
    }
    bed::keep(raise(&named("glanced"))).expect("keep");
    let done = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while !done.load(Ordering::Relaxed) {
                    bed::list().expect("list");
                    mpps_lab::recover::recover().expect("recover");
                }
            });
        }
        let opened = (0..200).try_for_each(|_| bed::open("glanced").map(drop));
        done.store(true, Ordering::Relaxed);
        opened.unwrap_or_else(|error| panic!("open: {error}"));
    });
    bed::down("glanced").expect("down");
}

#[test]
fn a_panic_lowers_the_bed() {
    if !support::can_run() {
        return;
    }
    let name = unique("panic");
    let panicked = std::thread::scope(|scope| {
        let user = scope.spawn(|| {
            let _bed = raise(&named(&name));
            panic!("on purpose");
        });
        user.join().is_err()
    });
    assert!(panicked);
    assert_eq!(left_of(&name), [""; 0]);
}

#[test]
fn an_impossible_plan_is_refused_at_once() {
    let refused = |plan: BedPlan| Bed::raise(&plan).expect_err("refused").to_string();
    let plan = || support::plan();
    assert!(
        refused(BedPlan {
            queues: 0,
            ..plan()
        })
        .contains("give 1 to")
    );
    assert!(
        refused(BedPlan {
            queues: 65,
            ..plan()
        })
        .contains("give 1 to")
    );
    assert!(
        refused(BedPlan {
            queues: 2,
            nic: Front::Napi,
            ..plan()
        })
        .contains("take --nic cpumap")
    );
    assert!(
        refused(BedPlan {
            rx_ring: 4,
            ..plan()
        })
        .contains("give 8 to")
    );
    assert!(
        refused(BedPlan {
            rx_ring: 16_385,
            ..plan()
        })
        .contains("give 8 to")
    );
    assert!(refused(named("../etc")).contains("bed name `../etc`"));
}
