//! kill -9 while the tester is attached and frames fly: not only the bed goes, but every program, map and
//! kernel thread that the run had.
//!
//! As in `recover`, each test has a /run of its own, and the run that is killed is this same program, asked
//! for the one test [`LIFE`]. Its eBPF objects are found by its file descriptors, for other runs on this
//! machine have theirs.

use crate::host::{Host, again, alone};
use crate::support;
use libbpf_rs::query::{MapInfoIter, ProgInfoIter};
use mpps_lab::bed::{Bed, BedPlan, Interfaces};
use mpps_lab::clock::{wait_for, wait_until};
use mpps_lab::recover::recover;
use mpps_lab::tester::{KernelInterfaces, NapiList, ReceiverMode, ReceiverPlace, Tester};
use mpps_lab::traffic::Traffic;
use mpps_lab::trial;
use mpps_linux::clock::monotonic_ns;
use mpps_linux::netns::NetNs;
use mpps_linux::{napi, task};
use mpps_method::random::Random;
use mpps_method::{Offer, Rate, Span};
use std::collections::BTreeSet;
use std::convert::Infallible;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Stdio};

const LIFE: &str = "a_run_with_a_trial_leaves_nothing";
const BED: &str = "MPPS_TEST_TRIAL_BED";
/// The receiver of the run that is killed.
const RECEIVER: &str = "MPPS_TEST_TRIAL_RECEIVER";
const BOTH: [ReceiverPlace; 2] = [ReceiverPlace::Port, ReceiverPlace::Exit];
/// What the run says before its trial begins.
const ATTACHED: &str = "mpps-test: attached";
/// The kernel frees programs and maps some grace periods after their last user, and ends their threads
/// after that; on a machine with other work it is done within this time, ns.
const FREED_NS: u64 = 30_000_000_000;
const MOMENTS: u64 = 12;
const TRIAL_MS: u64 = 150;

/// Leaves one child in the DUT's namespace, of a session of its own.
const SCRIPT: &str = "set -e\nsetsid tail -f /dev/null &\n";

/// What a run has in the kernel beyond its bed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Objects {
    programs: BTreeSet<u32>,
    maps: BTreeSet<u32>,
    /// Kernel threads: process id and start.
    threads: BTreeSet<(i32, u64)>,
}

impl Objects {
    /// Those that a living run has now: by its descriptors and by its ports.
    fn of(pid: u32, bed: &str) -> Self {
        let mut objects = Self::default();
        let folder = PathBuf::from(format!("/proc/{pid}/fdinfo"));
        // Of a run that has ended there is nothing to read any more.
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let text = fs::read_to_string(entry.path()).unwrap_or_default();
            objects.programs.extend(field(&text, "prog_id:"));
            objects.maps.extend(field(&text, "map_id:"));
        }
        let rings = task::find_kthreads(|comm| {
            let id = comm
                .strip_prefix("cpumap/")
                .and_then(|rest| rest.rsplit_once("map:"));
            id.and_then(|(_, id)| id.parse().ok())
                .is_some_and(|id: u32| objects.maps.contains(&id))
        });
        let mut threads: Vec<i32> = rings
            .expect("/proc")
            .into_iter()
            .map(|(tid, _)| tid)
            .collect();
        for (role, port) in [("out", "mA"), ("dut", "mB"), ("dut", "mC"), ("in", "mD")] {
            // Not raised so far yet.
            let Ok(netns) = NetNs::open(&format!("mpps-{bed}-{role}")) else {
                continue;
            };
            let listed = netns.run(|| napi::list(port)).expect("namespace");
            threads.extend(listed.into_iter().flatten().filter_map(|napi| napi.thread));
        }
        for tid in threads {
            objects
                .threads
                .extend(task::start_time(tid).ok().map(|start| (tid, start)));
        }
        objects
    }

    /// Those of them that still are.
    fn left(&self) -> Self {
        let programs: BTreeSet<u32> = ProgInfoIter::default().map(|program| program.id).collect();
        let maps: BTreeSet<u32> = MapInfoIter::default().map(|map| map.id).collect();
        Self {
            programs: self.programs.intersection(&programs).copied().collect(),
            maps: self.maps.intersection(&maps).copied().collect(),
            threads: self
                .threads
                .iter()
                .copied()
                .filter(|&(tid, start)| task::lives(tid, start))
                .collect(),
        }
    }

    fn assert_freed(&self, when: &str) {
        let mut left = self.clone();
        let freed = wait_for(FREED_NS, 5_000_000, || {
            left = left.left();
            Ok::<_, Infallible>(left == Self::default())
        });
        assert_eq!((freed, left), (Ok(true), Self::default()), "{when}");
    }
}

fn field(text: &str, name: &str) -> Option<u32> {
    let value = text.lines().find_map(|line| line.strip_prefix(name))?;
    value.trim().parse().ok()
}

/// All network settings of the host; those that count what is going on are not settings.
fn network_settings() -> Vec<(PathBuf, String)> {
    let mut settings = Vec::new();
    read_settings(Path::new("/proc/sys/net"), &mut settings);
    settings.retain(|(path, _)| !path.to_string_lossy().ends_with("_count"));
    settings.sort();
    settings
}

fn read_settings(folder: &Path, settings: &mut Vec<(PathBuf, String)>) {
    // A folder of an interface may go while we look.
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            read_settings(&path, settings);
        } else if let Ok(value) = fs::read_to_string(&path) {
            settings.push((path, value));
        }
    }
}

fn life(name: &str) {
    let script = script();
    let bed = Bed::raise(&BedPlan {
        name: Some(name.to_owned()),
        dut_setup: Some(script),
        ..support::plan()
    })
    .unwrap_or_else(|error| panic!("raise: {error}"));
    let at_exit = std::env::var(RECEIVER).as_deref() == Ok(ReceiverPlace::Exit.name());
    let traffic = traffic(BOTH[usize::from(at_exit)]);
    let mut tester = Tester::raise(&bed, &traffic, 1 << 20, ReceiverMode::Polled)
        .unwrap_or_else(|error| panic!("tester: {error}"));
    println!("\n{ATTACHED}");
    let offer = Offer::new(Rate::from_fps(200_000.0), Span::from_millis(TRIAL_MS));
    let trial = trial::run(&mut tester, &offer).unwrap_or_else(|error| panic!("trial: {error}"));
    assert!(trial.counts().sent > 0);
    drop(tester);
    bed.lower().unwrap_or_else(|error| panic!("lower: {error}"));
}

fn traffic(receiver: ReceiverPlace) -> Traffic {
    Traffic {
        receiver,
        ..support::traffic()
    }
}

/// Lies where it is gone with the test: in its own /run.
fn script() -> PathBuf {
    let script = PathBuf::from("/run/mpps-test-setup");
    if !script.exists() {
        fs::write(&script, SCRIPT).expect("script");
    }
    script
}

/// Raised, attached, a trial, lowered. Others start it in a process of its own and kill that.
#[test]
fn a_run_with_a_trial_leaves_nothing() {
    if !support::can_run() || !alone(LIFE) {
        return;
    }
    if let Ok(name) = std::env::var(BED) {
        return life(&name);
    }
    script();
    let (before, settings) = (Host::now(), network_settings());
    assert!(settings.len() > 100, "only {} settings", settings.len());
    for receiver in BOTH {
        let (mut run, mut said) = start("life", receiver);
        assert!(has_attached(&mut said));
        let objects = Objects::of(run.id(), "life");
        // Sender, virtual NIC, receiver, ledger, watch; a ring's thread and, at the port, a receiver's that the kernel lists.
        assert!(objects.programs.len() >= 5, "{objects:?}");
        assert!(objects.maps.len() >= 5, "{objects:?}");
        let lists = KernelInterfaces::find(Interfaces::Newest)
            .expect("interfaces")
            .napi_list;
        let threads = match (receiver, lists) {
            (ReceiverPlace::Port, NapiList::Netlink) => 2,
            _ => 1,
        };
        assert!(objects.threads.len() >= threads, "{objects:?}");
        assert_eq!(objects.left(), objects);
        assert!(run.wait().expect("its end").success());
        assert_eq!(Host::now(), before);
        assert_eq!(network_settings(), settings);
        objects.assert_freed(&format!("after its end, {receiver:?}"));
    }
}

fn start(bed: &str, receiver: ReceiverPlace) -> (Child, BufReader<ChildStdout>) {
    let mut run = again(LIFE)
        .arg("--nocapture")
        .env(BED, bed)
        .env(RECEIVER, receiver.name())
        .stdout(Stdio::piped())
        .spawn()
        .expect("this program again");
    let said = BufReader::new(run.stdout.take().expect("its stdout"));
    (run, said)
}

fn has_attached(said: &mut BufReader<ChildStdout>) -> bool {
    said.lines()
        .any(|line| line.is_ok_and(|line| line == ATTACHED))
}

/// In the middle of the load: the kernel is in the sender's one long call then.
#[test]
fn killed_while_it_sends_nothing_of_it_stays() {
    if !support::can_run() || !alone("killed_while_it_sends_nothing_of_it_stays") {
        return;
    }
    script();
    let before = Host::now();
    let moments = [2, 40, 80].map(|after_ms| BOTH.map(|receiver| (after_ms, receiver)));
    for (after_ms, receiver) in moments.into_iter().flatten() {
        let name = format!("send{after_ms}");
        let (mut run, mut said) = start(&name, receiver);
        assert!(has_attached(&mut said));
        wait_until(monotonic_ns() + after_ms * 1_000_000);
        let objects = Objects::of(run.id(), &name);
        assert!(objects.programs.len() >= 5, "{objects:?}");
        run.kill().expect("kill");
        run.wait().expect("its end");
        let when = format!("{after_ms} ms, {receiver:?}");
        assert_eq!(put_back(), 1, "{when}");
        assert_eq!(Host::now(), before, "{when}");
        objects.assert_freed(&when);
    }
}

/// Recovers; says how many beds there were to put back.
fn put_back() -> usize {
    let recovery = recover().unwrap_or_else(|error| panic!("recover: {error}"));
    assert_eq!(recovery.failed, []);
    recovery.reverted.len()
}

/// A random moment in each part of the whole life, from the start of the process to its end.
#[test]
fn a_tester_killed_at_random_leaves_nothing() {
    let test = "a_tester_killed_at_random_leaves_nothing";
    if !support::can_run() || !alone(test) {
        return;
    }
    script();
    let (before, settings) = (Host::now(), network_settings());
    let begin = monotonic_ns();
    let (mut whole, said) = start("whole", ReceiverPlace::Port);
    assert!(whole.wait().expect("its end").success());
    drop(said);
    let life_ns = monotonic_ns() - begin;
    let part_ns = life_ns / MOMENTS;
    let seed = 1242;
    let mut random = Random::from_seed(seed);
    let (mut reverted, mut attached) = (0, 0);
    for (moment, receiver) in (0..MOMENTS).zip(BOTH.into_iter().cycle()) {
        let name = format!("moment{moment}");
        let (mut run, said) = start(&name, receiver);
        let after_ns = moment * part_ns + random.below(part_ns);
        wait_until(monotonic_ns() + after_ns);
        let objects = Objects::of(run.id(), &name);
        run.kill().expect("kill");
        run.wait().expect("its end");
        drop(said);
        reverted += put_back();
        attached += u64::from(objects != Objects::default());
        let when =
            format!("seed {seed}, moment {moment}, {receiver:?}: {after_ns} of {life_ns} ns");
        assert_eq!(Host::now(), before, "{when}");
        assert_eq!(put_back(), 0, "{when}");
        objects.assert_freed(&when);
    }
    assert_eq!(network_settings(), settings);
    assert!(reverted > 2, "only {reverted} of {MOMENTS} left a bed");
    assert!(attached > 1, "only {attached} of {MOMENTS} had a tester");
}

/// A panic anywhere takes tester and bed down on its way out.
#[test]
fn a_panic_in_a_run_takes_everything_down() {
    if !support::can_run() || !alone("a_panic_in_a_run_takes_everything_down") {
        return;
    }
    script();
    let before = Host::now();
    for receiver in BOTH {
        let mut objects = Objects::default();
        let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            let bed = Bed::raise(&BedPlan {
                name: Some("panic".to_owned()),
                dut_setup: Some(script()),
                ..support::plan()
            })
            .expect("raise");
            let _tester = Tester::raise(&bed, &traffic(receiver), 1 << 20, ReceiverMode::Polled)
                .expect("tester");
            objects = Objects::of(std::process::id(), "panic");
            panic!("planted");
        }));
        let payload = panicked.expect_err("it panics");
        assert_eq!(payload.downcast_ref::<&str>(), Some(&"planted"));
        assert!(
            objects.programs.len() >= 5 && !objects.threads.is_empty(),
            "{objects:?}"
        );
        assert_eq!(Host::now(), before);
        objects.assert_freed(&format!("after the panic, {receiver:?}"));
    }
}
