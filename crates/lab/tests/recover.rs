//! kill -9 at every moment of a bed's life, then recovery: the host is as it was.
//!
//! Each test has a /run of its own (see `host`), so what it finds there is its own doing. The run that is
//! killed is this same program, asked for the one test [`LIFE`] with a plan in its environment.

use crate::host::{Host, again, alone, left_of, started_in};
use crate::support;
use mpps_lab::bed::{self, Bed, BedPlan};
use mpps_lab::clock::{wait_for, wait_until};
use mpps_lab::journal::{self, fault};
use mpps_lab::recover::{Recovery, recover};
use mpps_linux::clock::monotonic_ns;
use mpps_linux::netns::NetNs;
use mpps_linux::task::{self, Signal};
use mpps_method::random::Random;
use std::convert::Infallible;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{Child, ExitStatus, Stdio};

const LIFE: &str = "a_whole_life_leaves_nothing";
const BED: &str = "MPPS_TEST_BED";
const KEEP: &str = "MPPS_TEST_KEEP";
const SLOW: &str = "MPPS_TEST_SLOW";
/// Nothing here takes longer, ns.
const LIMIT_NS: u64 = 20_000_000_000;
/// Random moments of a life, one in each part of it.
const MOMENTS: u64 = 20;

/// Leaves a child in the DUT's namespace, one in a session of its own, and one in the tester's.
const SCRIPT: &str = "#!/bin/sh
set -e
sysctl -q -w net.ipv4.conf.$MPPS_DUT_IN.rp_filter=1 || echo 1 >/proc/sys/net/ipv4/conf/$MPPS_DUT_IN/rp_filter
tail -f /dev/null &
setsid tail -f /dev/null &
nsenter --net=/run/netns/$MPPS_NETNS_OUT tail -f /dev/null &
[ -z \"$MPPS_TEST_SLOW\" ] || exec tail -f /dev/null
";

fn plan(name: &str) -> BedPlan {
    let script = std::env::temp_dir().join(format!("mpps-setup-{name}-{}", std::process::id()));
    fs::write(&script, SCRIPT).expect("script");
    BedPlan {
        name: Some(name.to_owned()),
        dut_setup: Some(script),
        ..support::plan()
    }
}

fn forget(plan: &BedPlan) {
    if let Some(script) = &plan.dut_setup {
        fs::remove_file::<&PathBuf>(script).expect("script");
    }
}

/// The life of a bed: raised with a set-up script that leaves children, used, lowered (or kept).
/// Others start it in a process of its own and kill that.
#[test]
fn a_whole_life_leaves_nothing() {
    if !support::can_run() || !alone(LIFE) {
        return;
    }
    let killed = std::env::var(BED).ok();
    let before = Host::now();
    let plan = plan(killed.as_deref().unwrap_or("life"));
    mpps_linux::interrupt::install().expect("handlers");
    let raised = Bed::raise(&plan);
    forget(&plan);
    let bed = raised.unwrap_or_else(|error| panic!("raise: {error}"));
    if killed.is_none() {
        await_children("life");
        assert_ne!(Host::now(), before);
    }
    if std::env::var_os(KEEP).is_some() {
        return bed::keep(bed).unwrap_or_else(|error| panic!("keep: {error}"));
    }
    bed.lower().unwrap_or_else(|error| panic!("lower: {error}"));
    if killed.is_none() {
        assert_eq!(Host::now(), before);
    }
}

/// Waits for the three children of a bed's script: they may still be on their way to their programs.
fn await_children(bed: &str) {
    let here = || Ok::<_, std::convert::Infallible>(started_in(Some(bed)).len() == 3);
    let all = mpps_lab::clock::wait_for(5_000_000_000, 1_000_000, here);
    assert!(all.expect("infallible"), "{:?}", started_in(Some(bed)));
}

fn start(bed: &str, settings: &[(&str, String)]) -> Child {
    again(LIFE)
        .env(BED, bed)
        .envs(settings.iter().cloned())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("this program again")
}

fn end(mut child: Child) -> ExitStatus {
    child.wait().expect("its end")
}

fn was_killed(status: ExitStatus) -> bool {
    status.signal() == Some(Signal::SIGKILL as i32)
}

fn wait(what: &str, mut ask: impl FnMut() -> bool) {
    let come = wait_for(LIMIT_NS, 1_000_000, || Ok::<_, Infallible>(ask()));
    assert_eq!(come, Ok(true), "waited for {what}");
}

fn recovered() -> Recovery {
    let recovery = recover().unwrap_or_else(|error| panic!("recover: {error}"));
    assert_eq!(recovery.failed, []);
    remove_scripts();
    recovery
}

/// A killed run does not remove its script; that is this test's own litter, not the product's.
fn remove_scripts() {
    for entry in fs::read_dir(std::env::temp_dir())
        .expect("folder")
        .flatten()
    {
        let name = entry.file_name().to_string_lossy().into_owned();
        let mark = format!("mpps-setup-{}", unique(""));
        if name.starts_with(&mark) {
            fs::remove_file(entry.path()).expect("script");
        }
    }
}

/// Bed names of this process: the scripts of all tests lie in one folder.
fn unique(what: &str) -> String {
    format!("{}x{what}", std::process::id())
}

/// Kills at step 1, 2, 3... of `hook` until a run lives through; after each kill recovers, compares, and
/// recovers again. Says how often it killed, and how often something was left to put back.
fn kill_at_each(hook: &str, settings: &[(&str, String)]) -> (u64, u64) {
    let before = Host::now();
    let (mut kills, mut leftovers) = (0, 0);
    for step in 1.. {
        let name = unique(&step.to_string());
        let mut settings = settings.to_vec();
        settings.push((hook, step.to_string()));
        let status = end(start(&name, &settings));
        if !was_killed(status) {
            assert!(status.success(), "step {step}: {status}");
            break;
        }
        kills += 1;
        leftovers += u64::from(!left_of(&name).is_empty());
        recovered();
        assert_eq!(Host::now(), before, "after a kill at step {step} of {hook}");
        assert_eq!(recovered(), Recovery::default());
        assert_eq!(Host::now(), before);
    }
    remove_scripts();
    (kills, leftovers)
}

/// Run, folder, three namespaces, lowering; the first dies before its journal has a name.
#[test]
fn killed_after_any_entry_it_is_put_back() {
    if support::can_run() && alone("killed_after_any_entry_it_is_put_back") {
        assert_eq!(kill_at_each(fault::KILL_AT_JOURNAL, &[]), (6, 5));
    }
}

/// Lowering, three namespaces, folder, run: the last ones leave only the journal.
#[test]
fn killed_while_it_is_lowered_it_is_put_back() {
    if support::can_run() && alone("killed_while_it_is_lowered_it_is_put_back") {
        assert_eq!(kill_at_each(fault::KILL_AT_REVERT, &[]), (6, 6));
    }
}

/// Entries 2 to 5 announce changes.
#[test]
fn killed_after_any_change_it_is_put_back() {
    if !support::can_run() || !alone("killed_after_any_change_it_is_put_back") {
        return;
    }
    let before = Host::now();
    for step in 2..=5 {
        let name = unique(&step.to_string());
        let settings = [(fault::KILL_AFTER_CHANGE, step.to_string())];
        assert!(was_killed(end(start(&name, &settings))), "at step {step}");
        // The folder, then the namespaces one by one.
        assert_eq!(NetNs::list().expect("namespaces").len(), step - 2);
        assert_eq!(recovered().reverted.len(), 1);
        assert_eq!(Host::now(), before, "after change {step}");
    }
}

/// A random moment in each part of the life. Every third time the run, every third time its children first, every third
/// time only its children: then it has to put the host back itself.
#[test]
fn killed_at_random_moments_it_is_put_back() {
    if !support::can_run() || !alone("killed_at_random_moments_it_is_put_back") {
        return;
    }
    let before = Host::now();
    let begin = monotonic_ns();
    assert!(end(start(&unique("whole"), &[])).success());
    let life_ns = monotonic_ns() - begin;
    let part_ns = life_ns / MOMENTS;
    let seed = 2544;
    let mut random = Random::from_seed(seed);
    let mut reverted = 0;
    for moment in 0..MOMENTS {
        let name = unique(&moment.to_string());
        let mut run = start(&name, &[]);
        let after_ns = moment * part_ns + random.below(part_ns);
        wait_until(monotonic_ns() + after_ns);
        if moment % 3 != 0 {
            for pid in started_in(Some(&name)) {
                // It may have ended by itself.
                let _gone = task::kill(pid, Signal::SIGKILL);
            }
        }
        if moment % 3 != 2 {
            run.kill().expect("kill");
        }
        end(run);
        reverted += recovered().reverted.len();
        assert_eq!(
            Host::now(),
            before,
            "seed {seed}, moment {moment}: {after_ns} ns"
        );
    }
    assert!(reverted > 2, "only {reverted} of {MOMENTS} left anything");
}

#[test]
fn many_recoveries_at_once_restore_everything() {
    if !support::can_run() || !alone("many_recoveries_at_once_restore_everything") {
        return;
    }
    let before = Host::now();
    for round in 0..5 {
        let name = unique(&round.to_string());
        let settings = [(fault::KILL_AT_JOURNAL, "6".to_owned())];
        assert!(was_killed(end(start(&name, &settings))));
        await_children(&name);
        remove_scripts();
        let reverted: usize = std::thread::scope(|scope| {
            let one = || {
                let recovery = recover().expect("recover");
                assert_eq!(recovery.failed, []);
                assert_eq!(recovery.in_use, [""; 0]);
                assert_eq!(left_of(&name), [""; 0]);
                recovery.reverted.len()
            };
            let all: Vec<_> = (0..4).map(|_| scope.spawn(one)).collect();
            all.into_iter().map(|t| t.join().expect("no panic")).sum()
        });
        assert_eq!(reverted, 1);
        assert_eq!(Host::now(), before);
    }
}

#[test]
fn a_living_runs_bed_and_a_kept_bed_are_left_alone() {
    if !support::can_run() || !alone("a_living_runs_bed_and_a_kept_bed_are_left_alone") {
        return;
    }
    let before = Host::now();
    let (living, kept) = (unique("living"), unique("kept"));
    let status = end(start(&kept, &[(KEEP, "1".to_owned())]));
    assert!(status.success(), "{status}");
    let bed = Bed::raise(&BedPlan {
        name: Some(living.clone()),
        ..support::plan()
    })
    .expect("raise");
    let raised = Host::now();
    let expected = Recovery {
        in_use: vec![living.clone()],
        kept: vec![kept.clone()],
        ..Recovery::default()
    };
    assert_eq!(recovered(), expected);
    assert_eq!(Host::now(), raised);
    assert_eq!(started_in(Some(&kept)).len(), 3);
    bed.lower().expect("lower");

    // Its user killed, a kept bed stays, and others may use it.
    drop(bed::open(&kept).expect("open"));
    assert_eq!(recovered().kept, [kept.as_str()]);
    bed::open(&kept).expect("open").lower().expect("lower");
    assert_eq!(Host::now(), before);
}

/// Entries 6 (kept) of its raising and 1 (lowering) of its end.
#[test]
fn a_kept_bed_is_kept_until_its_lowering_is_announced() {
    if !support::can_run() || !alone("a_kept_bed_is_kept_until_its_lowering_is_announced") {
        return;
    }
    let before = Host::now();
    let name = unique("kept");
    let kept = [
        (KEEP, "1".to_owned()),
        (fault::KILL_AT_JOURNAL, "6".to_owned()),
    ];
    assert!(was_killed(end(start(&name, &kept))));
    assert_eq!(recovered().kept, [name.as_str()]);
    assert_eq!(bed::open(&name).expect("open").name(), name);

    let mut journal = match journal::Journal::claim(&name).expect("journal") {
        journal::Claim::Ours(journal) => journal,
        journal::Claim::InUse => panic!("in use"),
    };
    journal.mark(&journal::Mark::Lowering).expect("record");
    drop(journal);
    let recovery = recovered();
    assert_eq!(recovery.kept, [""; 0]);
    let (reverted, what) = &recovery.reverted[0];
    assert_eq!(
        (reverted.as_str(), what.netns.len(), what.processes),
        (name.as_str(), 3, 3)
    );
    assert_eq!(Host::now(), before);
}

/// Told to stop while the set-up script runs, the run ends by itself and nothing is left. (Not by SIGINT: where the
/// tests run as a background job it is ignored from the start.)
#[test]
fn an_interrupt_during_set_up_leaves_nothing() {
    if !support::can_run() || !alone("an_interrupt_during_set_up_leaves_nothing") {
        return;
    }
    let before = Host::now();
    let name = unique("slow");
    let run = start(&name, &[(SLOW, "1".to_owned())]);
    wait("the script's four processes", || {
        started_in(Some(&name)).len() == 4
    });
    let pid = i32::try_from(run.id()).expect("pid");
    task::kill(pid, Signal::SIGTERM).expect("interrupt");
    // The test program reports the error as a failed test; it was not killed.
    assert_eq!(end(run).code(), Some(101));
    assert_eq!(Host::now(), before);
    remove_scripts();
}

/// A journal with a line of a later version may announce a change we know nothing of.
#[test]
fn what_is_not_understood_is_said_and_left() {
    if !support::can_run() || !alone("what_is_not_understood_is_said_and_left") {
        return;
    }
    let folder = PathBuf::from(journal::ROOT).join("future");
    fs::create_dir_all(&folder).expect("folder");
    fs::write(folder.join("journal.jsonl"), "{\"entry\":\"moon_moved\"}\n").expect("journal");
    // Whatever the umask here.
    for path in [
        "/run/mpps",
        "/run/mpps/future",
        "/run/mpps/future/journal.jsonl",
    ] {
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).expect("mode");
    }
    let recovery = recover().expect("recover");
    let (name, why) = &recovery.failed[0];
    assert_eq!(name, "future");
    assert!(
        why.contains("line 1 of journal.jsonl is not understood"),
        "{why}"
    );
    assert!(folder.exists());
}

/// Beds that come and go while others recover: no folder is taken from under anybody's feet.
#[test]
fn beds_come_and_go_while_others_recover() {
    if !support::can_run() || !alone("beds_come_and_go_while_others_recover") {
        return;
    }
    let before = Host::now();
    let done = std::sync::atomic::AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                for _ in 0..6 {
                    let bed = Bed::raise(&support::plan());
                    let lowered = bed.and_then(Bed::lower);
                    done.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                    lowered.unwrap_or_else(|error| panic!("{error}"));
                }
            });
        }
        wait("18 beds", || {
            let recovery = recover().unwrap_or_else(|error| panic!("recover: {error}"));
            assert_eq!((recovery.failed, recovery.reverted), (vec![], vec![]));
            done.load(std::sync::atomic::Ordering::Relaxed) == 18
        });
    });
    assert_eq!(Host::now(), before);
}
