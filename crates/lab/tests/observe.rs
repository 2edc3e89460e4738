//! `mpps explain --cpus` looks at a bed's router at work: its limit is what was planted. Needs root and perf events.

use crate::support;
use crate::support::PortsOfBed as _;
use crate::support::trials::{offer, tester};
use mpps_lab::bed::{Bed, Side};
use mpps_lab::observe::{CpuSet, Observer};
use mpps_lab::traffic::{ReceiverPlace, Traffic};
use mpps_lab::trial;
use mpps_linux::{cpu, task};
use mpps_method::Span;
use mpps_record::{ProfileLine, Watched};
use std::process::{Child, Command};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

const TRIES: u32 = 3;
/// A test fails after so long.
const DEADLINE: Duration = Duration::from_secs(30);
/// A task has a CPU for so long in a look.
const SPINS_NS: u64 = 100_000_000;

fn look(cpu: usize, time: Span, goes_on: &mut dyn FnMut() -> bool) -> ProfileLine {
    let observer = Observer::new(&CpuSet::single(cpu)).unwrap_or_else(|error| panic!("{error}"));
    let looked = observer.observe(time, goes_on);
    looked.unwrap_or_else(|error| panic!("{error}"))
}

fn watched(line: &ProfileLine) -> &Watched {
    line.watched.as_ref().expect("what was watched")
}

/// Frames that came in at `mB` of this thread's namespace so far.
fn came_in() -> u64 {
    let counts = std::fs::read_to_string("/proc/thread-self/net/dev").expect("/proc");
    let of_port = counts
        .lines()
        .find_map(|line| line.trim().strip_prefix("mB:"));
    let packets = of_port.and_then(|counts| counts.split_whitespace().nth(1)?.parse().ok());
    packets.expect("the port's count")
}

/// A look at the router's CPU, from its namespace, once frames come. Also whether they came until the end of the look.
fn look_at_router(bed: &Bed, fps: f64, time: Span) -> (ProfileLine, bool) {
    let traffic = Traffic {
        receiver: match bed.port(Side::C).queue() {
            Ok(None) => ReceiverPlace::Exit,
            // A shaper would come behind it.
            _ => ReceiverPlace::Port,
        },
        ..support::traffic()
    };
    let mut tester = tester(bed, &traffic, 8_000_000);
    let (router, cpu) = (
        bed.dut().netns().expect("a router of ours"),
        bed.plan().cpus.dut[0],
    );
    let has_ended = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let looking = scope.spawn(|| {
            let looked = router.run(|| {
                let (before, begun) = (came_in(), Instant::now());
                while came_in() < before + 1_000 {
                    assert!(begun.elapsed() < DEADLINE, "no frames come");
                    std::thread::yield_now();
                }
                let line = look(cpu, time, &mut || true);
                (line, !has_ended.load(Ordering::Acquire))
            });
            looked.expect("the namespace")
        });
        let ran = trial::run(&mut tester, &offer(fps, 1_500));
        has_ended.store(true, Ordering::Release);
        ran.unwrap_or_else(|error| panic!("trial: {error}"));
        looking.join().expect("a look")
    })
}

#[test]
fn a_look_finds_the_cpu_that_is_full() {
    if !support::can_run_on_two_cpus() {
        return;
    }
    let bed = support::bed();
    for _ in 0..TRIES {
        let (line, is_within) = look_at_router(&bed, 3e6, Span::from_millis(400));
        let cpu = &watched(&line).cpus[0];
        let text = line.limit_text.as_deref().expect("a sentence");
        println!("{text}\n{cpu:?}");
        let network = cpu.whole_network_share();
        if is_within && network > 0.95 && cpu.steal_share < 0.05 {
            assert!(text.contains(&format!("CPU {} is full", cpu.cpu)), "{text}");
            assert!(text.contains("of the network's work"), "{text}");
            return;
        }
    }
    support::skip!("a quieter machine");
}

#[test]
fn a_look_tells_a_policers_drops() {
    if !support::can_run_on_two_cpus() {
        return;
    }
    let bed = support::bed();
    let router = bed.dut().netns().expect("a router of ours");
    let script = support::forward_rule("numgen inc mod 3 != 0 drop");
    let sets = || Command::new("sh").args(["-ec", &script]).status();
    let set = router.run(sets).expect("the namespace");
    if !set.is_ok_and(|status| status.success()) {
        support::skip!("nft with numgen in the forward hook");
    }
    for _ in 0..TRIES {
        let (line, _) = look_at_router(&bed, 20_000.0, Span::from_millis(500));
        let text = line.limit_text.as_deref().expect("a sentence");
        let told = "most at mB for NETFILTER_DROP";
        assert!(text.contains(told), "{text}\n{:?}", watched(&line).drops);
        let most = &watched(&line).drops[0];
        // Two of three frames. The receiver at the exit takes the third one, which is no drop.
        let mut drops = watched(&line).drops.iter();
        assert!(drops.all(|drop| drop.reason != "TC_EGRESS"), "{line:?}");
        let share = most.frames as f64 / watched(&line).rx_frames as f64;
        if (0.56..0.76).contains(&share) {
            return;
        }
        println!("{share}: {most:?}");
        // A look that other programs interrupt reads its counts at different moments.
        assert!(
            watched(&line).cpus[0].least_task_share() > 0.02,
            "{share}: {most:?}"
        );
    }
    support::skip!("a quieter machine");
}

#[test]
fn a_look_tells_the_link_that_a_shaper_slows() {
    if !support::can_run_on_two_cpus() {
        return;
    }
    let bed = support::bed();
    let router = bed.dut().netns().expect("a router of ours");
    let port = bed.port(Side::C).name.clone();
    // 10 000 frames/s of 60 octets.
    let shaper = format!("tc qdisc add dev {port} root tbf rate 4800kbit burst 4k limit 8k");
    let sets = || Command::new("sh").args(["-ec", &shaper]).status();
    let set = router.run(sets).expect("the namespace");
    if !set.is_ok_and(|status| status.success()) {
        support::skip!("tc with tbf");
    }
    for _ in 0..TRIES {
        let (line, is_within) = look_at_router(&bed, 20_000.0, Span::from_millis(500));
        let text = line.limit_text.as_deref().expect("a sentence");
        println!("{text}\n{:?}", watched(&line).drops);
        let told = format!("The link {port}, or the queueing discipline before it, is the limit: ");
        if text.starts_with(&told) {
            return;
        }
        // A CPU that other programs fill is told first.
        assert!(
            !is_within || watched(&line).cpus[0].idle_share() < 0.05,
            "{text}"
        );
    }
    support::skip!("a quieter machine");
}

/// A program that keeps a CPU busy until this is dropped.
struct Spinning(Child);

impl Spinning {
    fn start(on: usize) -> Self {
        let child = Command::new("sh")
            .args(["-c", "while :; do :; done"])
            .spawn();
        let child = child.expect("sh");
        let pid = i32::try_from(child.id()).expect("a pid");
        cpu::pin_task(pid, &CpuSet::single(on)).expect("pin");
        Self(child)
    }

    /// Its time on a CPU so far.
    fn run_ns(&self) -> u64 {
        let pid = i32::try_from(self.0.id()).expect("a pid");
        task::schedstat(pid).expect("its run time").run_ns
    }
}

impl Drop for Spinning {
    fn drop(&mut self) {
        self.0.kill().expect("kill");
        self.0.wait().expect("wait");
    }
}

/// Nothing names its samples afterwards.
#[test]
fn a_task_that_ends_meanwhile_is_told() {
    if !support::can_run() {
        return;
    }
    let on = support::plan().cpus.dut[0];
    let mut spinning = Some(Spinning::start(on));
    let (mut before_ns, mut asked_after) = (None, 0);
    let at_most = Span::from_secs_f64(DEADLINE.as_secs_f64());
    let line = look(on, at_most, &mut || {
        if let Some(one) = &spinning {
            let run_ns = one.run_ns();
            if run_ns - *before_ns.get_or_insert(run_ns) > SPINS_NS {
                spinning = None;
            }
        }
        asked_after += u32::from(spinning.is_none());
        asked_after < 5
    });
    assert!(spinning.is_none(), "it never had the CPU");
    let (tasks, cpu) = (&watched(&line).tasks, &watched(&line).cpus[0]);
    let ended = tasks
        .iter()
        .find(|task| task.name == "tasks that have ended");
    let ended = ended.unwrap_or_else(|| panic!("{tasks:?}"));
    // Ledger and samples are of one time.
    let ledger = cpu.ledger.as_ref().expect("a ledger").other_task_share;
    assert!(ended.cpu_share < ledger + 0.1, "{ended:?} of {ledger}");
}
