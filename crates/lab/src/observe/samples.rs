//! Whose work the samples of a CPU are, and what they tell of time that the ledger counts as others'.

use crate::jobs::explain::split::names;
use crate::profile::{Profile, Sample, SamplingClock};
use mpps_method::stage::{self, Router, Stage};
use mpps_record::{Watched, WatchedCpu, WatchedTask};
use std::collections::BTreeMap;

/// Shares of a CPU's time that are further apart disagree.
const APART: f64 = 0.1;
/// A part of a CPU that is told: of hard interrupts, or idle time that may be theirs.
const TOLD: f64 = 0.05;
/// So many hard interrupts a second may take much of a CPU: 2 us each on a virtual machine.
const MANY: f64 = 20_000.0;
/// Where fewer of the samples came, they do not tell what interrupts take.
const ENOUGH_CAME: f64 = 0.8;
/// Tasks that are named.
const TASKS_MAX: usize = 8;
/// A task with less of a CPU is not named.
const TASK_MIN: f64 = 0.001;
/// The network's work begins here, whatever it interrupted.
const NETWORK: [&str; 6] = [
    "net_rx_action",
    "net_tx_action",
    "napi_threaded_poll",
    "napi_threaded_poll_loop",
    "run_backlog_napi",
    "cpu_map_kthread_run",
];
/// Kernel workers that work for the network: the ledger counts them as other tasks.
const WORKERS: [&str; 8] = [
    "wg_packet_encrypt_worker",
    "wg_packet_decrypt_worker",
    "wg_packet_tx_worker",
    "padata_parallel_worker",
    "padata_serial_worker",
    "cryptd_queue_worker",
    "vhost_run_work_list",
    "vhost_worker",
];
/// The stack's work in other soft interrupts: an ifb's, in a tasklet.
const STACK: [&str; 2] = ["__netif_receive_skb_core", "__dev_queue_xmit"];
/// Hard interrupts. A sample by cycles falls into them.
const HARD: [&str; 3] = ["common_interrupt", "gic_handle_irq", "handle_irq_event"];
/// In the names of those of timers and other CPUs.
const HARD_OF_SYSTEM: &str = "sysvec_";
/// Soft interrupts.
const SOFT: [&str; 2] = ["handle_softirqs", "__do_softirq"];

/// The samples of the network's work; those of other tasks are noted by name, and how many of them came.
pub fn note_samples<'p>(watched: &mut Watched, profile: &'p Profile) -> Vec<&'p Sample> {
    let mut tasks: BTreeMap<&str, f64> = BTreeMap::new();
    let mut network = Vec::new();
    let time_ns = (profile.to_ns - profile.from_ns) as f64;
    for cpu in &mut watched.cpus {
        let Some(found) = profile.cpus.iter().find(|found| found.cpu == cpu.cpu) else {
            continue;
        };
        let seen = found.seen(profile.from_ns, profile.to_ns);
        (cpu.samples_due, cpu.samples) = (Some(seen.expected), seen.got);
        let sorted = Sorted::new(profile, &found.samples, &mut network);
        let share = match profile.clock {
            // An idle CPU counts no cycles unless it polls, so the other samples are of the rest.
            SamplingClock::Cycles => {
                (1.0 - cpu.idle_share())
                    / (seen.expected - (sorted.idle + sorted.idle_hard) as f64).max(1.0)
            }
            SamplingClock::Timer => 1.0 / seen.expected.max(1.0),
        };
        let others = sorted.tasks.values().sum::<u64>() as f64 * share;
        for (name, samples) in sorted.tasks {
            *tasks.entry(name).or_default() += samples as f64 * share;
        }
        let [soft, of_stack, hard, workers] =
            [sorted.soft, sorted.of_stack, sorted.hard, sorted.workers]
                .map(|samples| samples as f64 * share);
        cpu.interrupt_share = match profile.clock {
            SamplingClock::Timer => interrupt_share(cpu, soft),
            // Where interrupts mask the counter's own, there is none.
            SamplingClock::Cycles => Some(hard).filter(|share| *share > 0.0),
        };
        cpu.worker_share = (workers >= TASK_MIN).then_some(workers);
        watched.lacks.extend(elsewhere(cpu, of_stack));
        let interrupts = interrupts_in_words(cpu, watched.time_ns);
        watched.lacks.extend(interrupts);
        watched.lacks.extend(disagreement(cpu, others));
        let sampled_ns = sorted.stages.values().sum::<u64>() as f64;
        let most = sorted.stages.into_iter().max_by_key(|(_, weight)| *weight);
        cpu.top_stage = most.map(|(stage, _)| stage.to_string());
        let spent_ns = cpu.network_share() * time_ns;
        let is_known = spent_ns > 0.0 && profile.clock == SamplingClock::Timer;
        cpu.seen_share = is_known.then(|| sampled_ns / spent_ns);
    }
    tasks.retain(|_, share| *share >= TASK_MIN);
    let task = |(name, cpu_share): (&str, f64)| WatchedTask {
        name: name.to_owned(),
        cpu_share,
    };
    watched.tasks = tasks.into_iter().map(task).collect();
    watched
        .tasks
        .sort_by(|one, other| other.cpu_share.total_cmp(&one.cpu_share));
    watched.tasks.truncate(TASKS_MAX);
    network
}

/// Samples of a CPU, by what it did.
#[derive(Default)]
struct Sorted<'p> {
    /// Weights of the network's.
    stages: BTreeMap<Stage, u64>,
    tasks: BTreeMap<&'p str, u64>,
    soft: u64,
    /// Those among them that are in the stack.
    of_stack: u64,
    hard: u64,
    /// Those among them that the ledger counts as idle time.
    idle_hard: u64,
    workers: u64,
    idle: u64,
}

impl<'p> Sorted<'p> {
    fn new(profile: &'p Profile, samples: &'p [Sample], network: &mut Vec<&'p Sample>) -> Self {
        let mut sorted = Self::default();
        for sample in samples {
            let stack = names(profile, &sample.stack);
            match Work::of_sample(&stack, sample.task) {
                Work::Network => {
                    let stage = stage::place(&stack, Router::OfHost).stage;
                    *sorted.stages.entry(stage).or_default() += sample.weight;
                    network.push(sample);
                }
                Work::Soft => {
                    sorted.soft += 1;
                    sorted.of_stack += u64::from(calls(&stack, &STACK));
                }
                Work::Hard => {
                    sorted.hard += 1;
                    sorted.idle_hard += u64::from(sample.task == 0);
                }
                Work::Worker => sorted.workers += 1,
                Work::Idle => sorted.idle += 1,
                Work::Task => {
                    let name = profile.tasks.get(&sample.task);
                    let name = name.map_or("tasks that have ended", String::as_str);
                    *sorted.tasks.entry(name).or_default() += 1;
                }
            }
        }
        sorted
    }
}

/// What a CPU did when a sample was taken.
enum Work {
    Network,
    Soft,
    Hard,
    Worker,
    Idle,
    Task,
}

impl Work {
    fn of_sample(stack: &[&str], task: i32) -> Self {
        let is_system = |name: &&str| name.contains(HARD_OF_SYSTEM);
        if calls(stack, &NETWORK) {
            Self::Network
        } else if calls(stack, &SOFT) {
            Self::Soft
        } else if calls(stack, &HARD) || stack.iter().any(is_system) {
            Self::Hard
        } else if calls(stack, &WORKERS) {
            Self::Worker
        } else if task == 0 {
            Self::Idle
        } else {
            Self::Task
        }
    }
}

fn calls(stack: &[&str], any: &[&str]) -> bool {
    stack.iter().any(|name| any.contains(name))
}

/// The network's work that the ledger counts as others'.
fn elsewhere(cpu: &WatchedCpu, of_stack: f64) -> Vec<String> {
    let number = cpu.cpu;
    let mut told = Vec::new();
    if let Some(workers) = cpu.worker_share.filter(|share| *share > TOLD) {
        let percent = workers * 100.0;
        told.push(format!(
            "CPU {number}: workers of the network (WireGuard, IPsec, vhost) have {percent:.0} % of its time. The cost of a \
             frame does not contain that"
        ));
    }
    if of_stack > TOLD {
        let percent = of_stack * 100.0;
        told.push(format!(
            "CPU {number}: the stack's work in tasklets and timers (ifb, TCP) has {percent:.0} % of its time. The cost of a frame does not \
             contain that"
        ));
    }
    told
}

/// What hard interrupts take. A timer's sample that falls due in one comes where interrupts are enabled again: in the soft
/// interrupts that follow, before their work begins. The ledger tells how much of that is other soft interrupts.
fn interrupt_share(cpu: &WatchedCpu, soft: f64) -> Option<f64> {
    let ledger = cpu.ledger.as_ref()?;
    let came = cpu.samples as f64 / cpu.samples_due.filter(|due| *due > 0.0)?;
    (came >= ENOUGH_CAME).then(|| (soft - ledger.other_softirq_share).max(0.0))
}

/// What the ledger cannot tell of hard interrupts.
fn interrupts_in_words(cpu: &WatchedCpu, time_ns: u64) -> Option<String> {
    let a_second = cpu.interrupts as f64 * 1e9 / time_ns as f64;
    let thousands = a_second / 1e3;
    let has_idle = cpu.idle_share() > TOLD;
    match cpu.interrupt_share.map(|share| share * 100.0) {
        Some(percent) if percent > TOLD * 100.0 => Some(format!(
            "CPU {}: hard interrupts take {percent:.0} % of its time by samples ({thousands:.0} thousand a second). The table \
             counts that as the task or the idle time that they interrupt",
            cpu.cpu
        )),
        None if has_idle && a_second > MANY => Some(format!(
            "CPU {}: its idle time contains {thousands:.0} thousand hard interrupts a second, and these samples cannot tell \
             what they take",
            cpu.cpu
        )),
        _ => None,
    }
}

/// Ledger and samples count the time of other tasks apart. Where they are far apart, neither is to be trusted; what hard
/// interrupts have of it is known.
fn disagreement(cpu: &WatchedCpu, sampled: f64) -> Option<String> {
    let counted = cpu.ledger.as_ref()?.other_task_share;
    let [counted_percent, sampled_percent] = [counted, sampled].map(|share| share * 100.0);
    let sampled = sampled + cpu.worker_share.unwrap_or(0.0);
    let least = (counted - cpu.interrupt_share.unwrap_or(0.0)).max(0.0);
    let nearest = sampled.clamp(least, counted);
    ((nearest - sampled).abs() > APART).then(|| {
        format!(
            "CPU {}: other tasks have {counted_percent:.0} % of its time by task switches, and {sampled_percent:.0} % by samples; do not trust its shares",
            cpu.cpu
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::{CpuProfile, Segment, SymbolId};
    use mpps_record::CpuLedger;

    /// CPU 1 with three samples, of all that were due.
    fn profile(clock: SamplingClock) -> Profile {
        let sample = |task| Sample {
            time_ns: 1_500,
            weight: 100,
            lateness_ns: None,
            task,
            ip: 0,
            stack: [SymbolId::USER].into(),
        };
        Profile {
            clock,
            from_ns: 1_000,
            to_ns: 2_000,
            cpus: vec![CpuProfile {
                cpu: 1,
                samples: vec![sample(7), sample(8), sample(8)],
                lost: 0,
                throttled: 0,
                segments: vec![Segment {
                    asked_ns: 1_000,
                    set_ns: 1_000,
                    to_ns: 2_000,
                    period: 100,
                    counted: Some(350),
                }],
            }],
            names: vec!["[unknown]".into(), "[user]".into()],
            tasks: BTreeMap::from([(7, "lives".to_owned())]),
        }
    }

    #[test]
    fn a_process_that_has_ended_is_told() {
        let profile = profile(SamplingClock::Timer);
        let mut watched = Watched {
            cpus: vec![WatchedCpu {
                cpu: 1,
                ..WatchedCpu::default()
            }],
            ..Watched::default()
        };
        assert!(note_samples(&mut watched, &profile).is_empty());
        let names = watched.tasks.iter().map(|task| task.name.as_str());
        assert_eq!(
            names.collect::<Vec<_>>(),
            ["tasks that have ended", "lives"]
        );
    }

    #[test]
    fn samples_of_cycles_are_of_busy_time() {
        let mut watched = Watched {
            cpus: vec![WatchedCpu {
                cpu: 1,
                ledger: Some(CpuLedger {
                    idle_share: 0.7,
                    other_task_share: 0.3,
                    ..CpuLedger::default()
                }),
                ..WatchedCpu::default()
            }],
            ..Watched::default()
        };
        note_samples(&mut watched, &profile(SamplingClock::Cycles));
        let shares = watched.tasks.iter().map(|task| task.cpu_share);
        assert!((shares.sum::<f64>() - 0.3).abs() < 1e-9);
        assert!(watched.lacks.is_empty(), "{:?}", watched.lacks);
    }

    #[test]
    fn hard_interrupts_are_told_by_samples() {
        let mut profile = profile(SamplingClock::Timer);
        profile.names.push("handle_softirqs".into());
        let cpu = &mut profile.cpus[0];
        // At the edge of a soft interrupt, whatever task it interrupts.
        cpu.samples[0].stack = [SymbolId(2)].into();
        let mut watched = Watched {
            time_ns: 1_000,
            cpus: vec![WatchedCpu {
                cpu: 1,
                interrupts: 1,
                ledger: Some(CpuLedger {
                    net_softirq_share: 0.37,
                    other_softirq_share: 0.03,
                    other_task_share: 0.6,
                    ..CpuLedger::default()
                }),
                ..WatchedCpu::default()
            }],
            ..Watched::default()
        };
        note_samples(&mut watched, &profile);
        let found = watched.cpus[0].interrupt_share.expect("a share");
        assert!((found - (1.0 / 3.0 - 0.03)).abs() < 1e-9, "{found}");
        let told = "CPU 1: hard interrupts take 30 % of its time by samples (1000 thousand a second). The table counts \
                    that as the task or the idle time that they interrupt";
        assert_eq!(watched.lacks, [told]);
        profile.cpus[0].samples.truncate(1);
        watched.lacks.clear();
        watched.cpus[0]
            .ledger
            .as_mut()
            .expect("a ledger")
            .idle_share = 0.4;
        note_samples(&mut watched, &profile);
        assert_eq!(watched.cpus[0].interrupt_share, None, "too few samples");
        let told = &watched.lacks[0];
        assert!(told.contains("its idle time contains"), "{told}");
    }

    #[test]
    fn work_that_the_ledger_counts_as_others_is_told() {
        let mut profile = profile(SamplingClock::Timer);
        for name in ["wg_packet_tx_worker", "handle_softirqs", "__dev_queue_xmit"] {
            profile.names.push(name.into());
        }
        let samples = &mut profile.cpus[0].samples;
        samples[0].stack = [SymbolId(2)].into();
        samples[1].stack = [SymbolId(4), SymbolId(3)].into();
        let mut watched = Watched {
            time_ns: 1_000,
            cpus: vec![WatchedCpu {
                cpu: 1,
                ledger: Some(CpuLedger {
                    net_softirq_share: 0.01,
                    other_softirq_share: 0.33,
                    other_task_share: 0.66,
                    ..CpuLedger::default()
                }),
                ..WatchedCpu::default()
            }],
            ..Watched::default()
        };
        note_samples(&mut watched, &profile);
        let cpu = &watched.cpus[0];
        assert!((cpu.worker_share.expect("a share") - 1.0 / 3.0).abs() < 1e-9);
        assert!((cpu.least_task_share() - 0.33).abs() < 0.01, "{cpu:?}");
        let told = watched.lacks.join("\n");
        for wanted in [
            "workers of the network (WireGuard, IPsec, vhost) have 33 % of its time",
            "the stack's work in tasklets and timers (ifb, TCP) has 33 % of its time",
        ] {
            assert!(told.contains(wanted), "{told}");
        }
        assert_eq!(watched.lacks.len(), 2, "{told}");
    }

    #[test]
    fn a_sample_by_cycles_falls_into_an_interrupt() {
        let mut profile = profile(SamplingClock::Cycles);
        profile.names.push("asm_sysvec_apic_timer_interrupt".into());
        profile.cpus[0].samples[0].stack = [SymbolId(2)].into();
        let mut watched = Watched {
            cpus: vec![WatchedCpu {
                cpu: 1,
                ledger: Some(CpuLedger {
                    other_task_share: 1.0,
                    ..CpuLedger::default()
                }),
                ..WatchedCpu::default()
            }],
            ..Watched::default()
        };
        note_samples(&mut watched, &profile);
        let found = watched.cpus[0].interrupt_share.expect("a share");
        assert!((found - 1.0 / 3.0).abs() < 1e-9, "{found}");
        let tasks = watched.tasks.iter().map(|task| task.cpu_share);
        assert!((tasks.sum::<f64>() - 2.0 / 3.0).abs() < 1e-9);
        // One in idle time: half of the other time is the ledger's task.
        profile.cpus[0].samples[1].stack = [SymbolId(2)].into();
        profile.cpus[0].samples[1].task = 0;
        let ledger = watched.cpus[0].ledger.as_mut().expect("a ledger");
        (ledger.other_task_share, ledger.idle_share) = (0.6, 0.4);
        note_samples(&mut watched, &profile);
        let tasks = watched.tasks.iter().map(|task| task.cpu_share);
        assert!((tasks.sum::<f64>() - 0.3).abs() < 1e-9, "{watched:?}");
        assert!((watched.cpus[0].interrupt_share.expect("a share") - 0.6).abs() < 1e-9);
    }

    #[test]
    fn two_counts_of_other_tasks_must_agree() {
        let cpu = WatchedCpu {
            cpu: 1,
            ledger: Some(CpuLedger {
                other_task_share: 0.46,
                ..CpuLedger::default()
            }),
            ..WatchedCpu::default()
        };
        assert_eq!(disagreement(&cpu, 0.40), None);
        let interrupted = WatchedCpu {
            interrupt_share: Some(0.33),
            ..cpu.clone()
        };
        assert_eq!(disagreement(&interrupted, 0.11), None);
        assert_eq!(
            disagreement(&interrupted, 0.46),
            None,
            "they interrupt idle time"
        );
        assert_eq!(disagreement(&interrupted, 0.3), None, "they interrupt both");
        assert!(disagreement(&interrupted, 0.01).is_some());
        let told = disagreement(&cpu, 0.11).expect("a disagreement");
        assert!(
            told.contains("46 %") && told.contains("11 % by samples"),
            "{told}"
        );
    }
}
