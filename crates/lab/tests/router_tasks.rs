//! Tasks in the router's namespace are the router's own: they are named and void nothing. The same outside is another program.
//! Time of the DUT's CPU beyond the threads that forward is a doubt.

use crate::support;
use crate::support::trials::{self, WHOLE_TRIES};
use mpps_lab::bed::{Bed, BedPlan, CpuSplit, Front};
use mpps_lab::doubt::work_doubts;
use mpps_linux::cpu::CpuSet;
use mpps_linux::kernel;
use mpps_method::{CpuTasks, Rules, Trial, Verdict};
use std::process::{Child, Command};

/// Works for 50 ms, sleeps for 60 ms, for as long as it may; with the highest real-time priority, so that nothing cuts its
/// stretches. No other program is to have a longer one. The task that works is ended within its stretch, by one of a higher
/// priority.
const BUSY: &str = "chrt -f 99 sh -c 'while :; do timeout 0.05 chrt -f 98 sh -c \"while :; do :; done\"; sleep 0.06; done'";

/// Some trials; what another program or the hypervisor does meanwhile is not the question here.
fn some_trials(bed: &Bed) -> impl Iterator<Item = Trial> {
    let mut tester = trials::tester(bed, &support::traffic(), 1 << 20);
    (0..WHOLE_TRIES).map(move |_| trials::run(&mut tester, 20_000.0, 400))
}

fn of_sh(tasks: &[CpuTasks], cpu: usize) -> Option<u64> {
    let tasks = tasks.iter().find(|tasks| tasks.cpu == cpu)?;
    (tasks.culprit.to_string() == "sh").then(|| tasks.longest.as_nanos() / 1_000_000)
}

#[test]
fn a_task_of_the_router_is_named_and_voids_nothing() {
    if !support::can_run_on_two_cpus() {
        return;
    }
    let bed = support::bed_set_up(&support::plan(), &format!("{BUSY} &\n"));
    let cpu = bed.plan().cpus.dut[0];
    let named = some_trials(&bed).any(|trial| {
        assert_eq!(
            of_sh(&trial.other_tasks, cpu),
            None,
            "{:?}",
            trial.other_tasks
        );
        println!("{:?}", trial.dut_tasks);
        let verdict = trial.judge(&Rules::default());
        assert!(!verdict.to_string().contains("(sh)"), "{verdict}");
        of_sh(&trial.dut_tasks, cpu).is_some_and(|millis| (25..=100).contains(&millis))
    });
    assert!(named, "not named in any of {WHOLE_TRIES} trials");
}

/// Each change of these thresholds has a kernel worker sort all of the router's IPsec policies again, for some ms with soft
/// interrupts off. The policies are for frames to the router itself, so no frame of the tester's meets one.
const SORTING: &str = "set -e
    i=0
    while [ $i -lt 5000 ]; do
        echo xfrm policy add src 10.0.$((i / 250)).$((i % 250))/32 dst 10.9.0.0/16 dir in priority $i
        i=$((i + 1))
    done | ip -batch -
    (while :; do echo xfrm policy set hthresh4 32 32; sleep 0.05; done | ip -batch -) &\n";

#[test]
fn a_kernel_worker_of_the_router_is_named() {
    if !support::can_run_on_two_cpus() {
        return;
    }
    let sort = ["-n", "ip", "xfrm", "policy", "set", "hthresh4", "32", "32"];
    let sorted = Command::new("unshare")
        .args(sort)
        .output()
        .expect("unshare");
    if !sorted.status.success() {
        support::skip!("a kernel with IPsec policies (CONFIG_XFRM_USER)");
    }
    let bed = support::bed_set_up(&support::plan(), SORTING);
    let cpu = bed.plan().cpus.dut[0];
    // The watch of an older kernel is a thread, and the worker keeps it from its CPU.
    let by_timers = kernel::release().expect("a kernel").at_least(6, 7);
    let is_worker =
        |tasks: &&CpuTasks| tasks.cpu == cpu && tasks.culprit.to_string().starts_with("kworker/");
    let named = some_trials(&bed).any(|trial| {
        let (own, others) = (&trial.dut_tasks, &trial.other_tasks);
        println!("{own:?} {:?}", trial.stalls);
        assert_eq!(others.iter().find(is_worker), None);
        let verdict = trial.judge(&Rules::default());
        assert!(!verdict.to_string().contains("kworker"), "{verdict}");
        // The worker's time is no time in which the CPU stood still.
        let stalls = trial.stalls.iter().filter(|stall| stall.cpu == cpu);
        let still: u64 = stalls.map(|stall| stall.length().as_nanos()).sum();
        own.iter().find(is_worker).is_some_and(|tasks| {
            let is_long = tasks.longest.as_nanos() > 1_500_000;
            is_long && (!by_timers || 2 * still < tasks.total.as_nanos())
        })
    });
    assert!(named, "not named in any of {WHOLE_TRIES} trials");
}

struct Outside(Child);

impl Drop for Outside {
    fn drop(&mut self) {
        let _killed = self.0.kill();
        let _waited = self.0.wait();
    }
}

#[test]
fn the_same_task_outside_the_router_disturbs() {
    if !support::can_run_on_two_cpus() {
        return;
    }
    let bed = support::bed();
    let cpu = bed.plan().cpus.dut[0].to_string();
    let busy = Command::new("taskset")
        .args(["-c", &cpu, "sh", "-c", &format!("exec {BUSY}")])
        .spawn();
    let _outside = Outside(busy.expect("sh"));
    let disturbed = some_trials(&bed).any(|trial| {
        let cpu = bed.plan().cpus.dut[0];
        assert_eq!(of_sh(&trial.dut_tasks, cpu), None);
        println!("{:?} {:?}", trial.other_tasks, trial.disturbed);
        of_sh(&trial.other_tasks, cpu).is_some_and(|millis| {
            let time = trial.disturbed.time.as_nanos() / 1_000_000;
            millis >= 25 && time >= millis
        })
    });
    assert!(disturbed, "not seen in any of {WHOLE_TRIES} trials");
}

/// Bed and trials with this set-up; whether any of a few trials raises this doubt about this CPU. The machine may add
/// others.
fn doubted(setup: &str, tries: u32, name: &str, cpu: usize) -> bool {
    doubted_on(&support::plan(), 50_000.0, setup, tries, name, cpu)
}

fn doubted_on(plan: &BedPlan, fps: f64, setup: &str, tries: u32, name: &str, cpu: usize) -> bool {
    let cpu = cpu.to_string();
    let bed = support::bed_set_up(plan, setup);
    let mut tester = trials::tester(&bed, &support::traffic(), 1 << 20);
    (0..tries).any(|_| {
        let trial = trials::run(&mut tester, fps, 500);
        let doubts = work_doubts(&[(trial, Verdict::Lossless)], false);
        println!("{doubts:?}");
        let is_wanted = |words: &str| words.split([',', ' ']).take(2).eq(["CPU", &cpu]);
        (doubts.iter()).any(|doubt| doubt.name == name && is_wanted(&doubt.seen))
    })
}

#[test]
fn time_beyond_the_forwarding_threads_is_named() {
    if !support::can_run_on_two_cpus() {
        return;
    }
    let dut = support::plan().cpus.dut[0];
    let spinning = "sh -c 'while :; do :; done' &\n";
    assert!(doubted(spinning, WHOLE_TRIES, "busy-uncounted", dut));
}

/// Netfilter hands each frame to a program of the router's.
#[test]
fn a_program_that_takes_frames_keeps_the_dut_busy() {
    if !support::can_run_on_two_cpus() {
        return;
    }
    let handler = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/support/nfqueue.py");
    let runs = |command: &str| {
        let run = Command::new("sh").args(["-c", command]).output();
        run.is_ok_and(|run| run.status.success())
    };
    if !runs("iptables --version && python3 --version") {
        support::skip!("iptables and python3 in PATH");
    }
    let script = format!(
        "set -eu
         iptables -A FORWARD -j NFQUEUE --queue-num 0
         python3 '{handler}' &
         until grep -q . /proc/net/netfilter/nfnetlink_queue; do kill -0 $!; sleep 0.02; done"
    );
    // Several times what such a program can take.
    assert_uncounted(&support::plan(), &script, 100_000.0, "python3");
}

/// The share of the router's only CPU, with what other programs had of it for less than a disturbance. The router's share is
/// of the time outside of disturbances.
fn busy_share(trial: &Trial, cpu: usize) -> f64 {
    let long = trial.others.iter().filter(|time| time.cpu == cpu);
    let long_ns: u64 = long.map(|time| time.length().as_nanos()).sum();
    let tasks = trial.other_tasks.iter().find(|tasks| tasks.cpu == cpu);
    let short_ns = tasks.map_or(0, |tasks| tasks.total.as_nanos().saturating_sub(long_ns));
    let outside_ns = trial.duration.as_nanos().saturating_sub(long_ns);
    let others = short_ns as f64 / outside_ns as f64;
    trial.busiest_share().map_or(0.0, |router| router + others)
}

/// At overload the threads that forward are not the busy ones, and the router's task of this name is told of.
fn assert_uncounted(plan: &BedPlan, setup: &str, fps: f64, task: &str) {
    let bed = support::bed_set_up(plan, setup);
    let cpu = bed.plan().cpus.dut[0];
    let mut tester = trials::tester(&bed, &support::traffic(), 1 << 20);
    let told = (0..WHOLE_TRIES).any(|_| {
        let trial = trials::run(&mut tester, fps, 500);
        let threads_share = trial.busy[0].run_ns as f64 / trial.duration.as_nanos() as f64;
        let busy = busy_share(&trial, cpu);
        let doubts = work_doubts(&[(trial, Verdict::Lossless)], false);
        println!("threads {threads_share:.2}, busy {busy:.2}, {doubts:?}");
        let is_told = |name: &str, words: &str| {
            let mut doubts = doubts.iter().filter(|doubt| doubt.name == name);
            doubts.any(|doubt| doubt.seen.contains(words))
        };
        threads_share < 0.8
            && busy >= 0.95
            && is_told("busy-uncounted", &format!("CPU {cpu} of the DUT"))
            && is_told("router-tasks", &format!("the router's own {task}"))
    });
    assert!(told, "not in any of {WHOLE_TRIES} trials");
}

#[test]
fn frames_steered_to_another_cpu_are_named() {
    if !support::can_run_on_two_cpus() {
        return;
    }
    let sender = support::plan().cpus.sender();
    let mask = CpuSet::single(sender).mask();
    let steered = format!("echo {mask} > /sys/class/net/mB/queues/rx-0/rps_cpus\n");
    let elsewhere = "work-elsewhere";
    assert!(doubted(&steered, WHOLE_TRIES, elsewhere, sender));
    assert!(!doubted(":\n", 2, elsewhere, sender));
}

/// Each frame goes 50 times through a cable inside the router before it leaves. Soft interrupts do that. A poll of 64
/// frames is more than they may take at once, so ksoftirqd takes the rest. It is no thread of the NIC's.
#[test]
fn the_work_of_ksoftirqd_is_the_routers() {
    if !support::can_run_on_two_cpus() || !support::has("nft") {
        return;
    }
    let rounds = "set -e
        ip link add la address 02:00:00:00:09:01 type veth peer name lb address 02:00:00:00:09:02
        ip link set la up
        ip link set lb up
        sysctl -qw net.ipv4.conf.all.rp_filter=0 net.ipv4.conf.lb.rp_filter=0 net.ipv4.conf.lb.forwarding=1
        ip addr add 169.254.9.1/30 dev la
        ip neigh add 169.254.9.2 lladdr 02:00:00:00:09:02 dev la
        ip route add default via 169.254.9.2 dev la table 100
        ip rule add prio 1 fwmark 1 lookup main
        ip rule add prio 2 iif mB lookup 100
        ip rule add prio 2 iif lb lookup 100
        hook='type filter hook prerouting priority -150;'
        nft \"table ip rounds { chain last { $hook ip ttl < 14 meta mark set 1; }; }\"\n";
    let plan = BedPlan {
        nic: Front::Napi,
        ..support::plan()
    };
    let ksoftirqd = format!("ksoftirqd/{}", plan.cpus.dut[0]);
    assert_uncounted(&plan, rounds, 60_000.0, &ksoftirqd);
}

/// The bed has one CPU, so that the other is no part of it.
#[test]
fn soft_interrupts_outside_the_bed_are_named() {
    if !support::can_run() {
        return;
    }
    let CpuSplit { dut, tester } = support::plan().cpus;
    let Some(&outside) = tester.iter().find(|cpu| !dut.contains(cpu)) else {
        support::skip!("a second CPU");
    };
    let plan = BedPlan {
        cpus: CpuSplit {
            dut: vec![dut[0]],
            tester: vec![dut[0]],
        },
        ..support::plan()
    };
    // The kernel counts this time by ticks, and an idle CPU has none.
    let busy = Command::new("taskset")
        .args([
            "-c",
            &outside.to_string(),
            "sh",
            "-c",
            &format!("exec {BUSY}"),
        ])
        .spawn();
    let _awake = Outside(busy.expect("sh"));
    let mask = CpuSet::single(outside).mask();
    let steered = format!("echo {mask} > /sys/class/net/mB/queues/rx-0/rps_cpus\n");
    let elsewhere = "softirq-elsewhere";
    let is_named =
        |setup: &str, tries| doubted_on(&plan, 150_000.0, setup, tries, elsewhere, outside);
    assert!(is_named(&steered, WHOLE_TRIES));
    assert!(!is_named(":\n", 2));
}
