//! What a frame costs the CPUs that are watched: busy time of the network by frames, split by samples.

use crate::jobs::explain::split::{Divided, Stacks, fill_with, names};
use crate::profile::{Profile, Sample, SamplingClock};
use mpps_method::stage::{self, Router, Stage};
use mpps_record::{FoldedStack, ProfiledLoad, Watched, WatchedCpu, WatchedTask};
use std::collections::BTreeMap;

/// Fewer frames tell no cost.
const FRAMES_MIN: f64 = 100.0;
/// A smaller part of the packets may come from readings that are not of one moment.
const FOREIGN_MIN: f64 = 0.05;
/// Fewer samples do not tell where the time goes.
const SAMPLES_MIN: usize = 20;
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
/// Soft interrupts.
const SOFT: [&str; 2] = ["handle_softirqs", "__do_softirq"];

/// What a frame costs.
#[derive(Clone, Debug)]
pub struct Cost {
    /// As the record has it: the whole, and its parts where samples tell them.
    pub load: ProfiledLoad,
    /// Call stacks.
    pub stacks: Vec<FoldedStack>,
    /// What decided when a sample was taken; `None` without samples.
    pub clock: Option<&'static str>,
}

/// Also notes in `watched` what samples tell of CPUs and tasks.
pub fn frame_cost(watched: &mut Watched, profile: Option<&Profile>) -> Result<Cost, String> {
    let samples = profile.map(|profile| (profile, sort(watched, profile)));
    count_frames(watched);
    let frames = watched.frames as f64;
    if frames < FRAMES_MIN {
        return Err(few_frames(watched));
    }
    if watched.cpus.iter().all(|cpu| cpu.ledger.is_none()) {
        return Err("nothing tells the network's busy time".to_owned());
    }
    let shares = || watched.cpus.iter().map(WatchedCpu::network_share);
    let frame_ns = shares().sum::<f64>() * watched.time_ns as f64 / frames;
    let per_second = |count: u64| count as f64 * 1e9 / watched.time_ns as f64;
    let mut load = ProfiledLoad {
        offered_fps: per_second(watched.rx_frames),
        forwarding_fps: [per_second(watched.tx_frames); 3].into(),
        busy_share: shares().fold(0.0, f64::max),
        frame_ns: [frame_ns; 3].into(),
        router_ns: frame_ns,
        polls_per_frame: polls(watched),
        ..ProfiledLoad::default()
    };
    let mut stacks = Stacks::default();
    let enough = samples.filter(|(_, samples)| samples.len() >= SAMPLES_MIN);
    if let Some((profile, samples)) = enough {
        load.lost_samples = profile.cpus.iter().map(|cpu| cpu.lost).sum();
        let divided = Divided::new(profile, &samples, Router::OfHost, frame_ns);
        if let Some(split) = &divided.split {
            fill_with(&mut load, split);
            stacks = divided.stacks;
        }
        load.seen_share = seen(watched);
    }
    Ok(Cost {
        load,
        stacks: stacks.folded(),
        clock: profile.map(|profile| match profile.clock {
            SamplingClock::Cycles => "cycles",
            SamplingClock::Timer => "cpu-clock",
        }),
    })
}

/// The stack takes a frame once for each interface that it comes up through, a VLAN's port for one. What it took beside
/// that is of other namespaces.
fn count_frames(watched: &mut Watched) {
    let share = watched.share_of_stack;
    let taken: u64 = watched.cpus.iter().map(|cpu| cpu.packets).sum();
    let through: u64 = watched.links.iter().map(|link| link.rx_frames).sum();
    let foreign = taken as f64 - through as f64 * share;
    let foreign = if foreign > taken as f64 * FOREIGN_MIN {
        foreign
    } else {
        0.0
    };
    watched.foreign_packets = foreign as u64;
    watched.frames = (watched.rx_frames as f64 * share + foreign) as u64;
}

fn few_frames(watched: &Watched) -> String {
    let (passed, seconds) = (watched.rx_frames, watched.time_ns as f64 / 1e9);
    if passed as f64 >= FRAMES_MIN {
        format!("{passed} frames came in {seconds:.1} s, and other CPUs took them: name those")
    } else {
        format!("there was no traffic: {passed} frames came in {seconds:.1} s")
    }
}

fn polls(watched: &Watched) -> Option<f64> {
    let ledgers = || watched.cpus.iter().filter_map(|cpu| cpu.ledger.as_ref());
    let polls: u64 = ledgers().map(|ledger| ledger.polls).sum();
    let frames: u64 = ledgers().map(|ledger| ledger.polled_frames).sum();
    (frames > 0).then(|| polls as f64 / frames as f64)
}

/// The samples of the network's work; those of other tasks are noted by name, and how many of them came.
fn sort<'p>(watched: &mut Watched, profile: &'p Profile) -> Vec<&'p Sample> {
    let mut tasks: BTreeMap<&str, f64> = BTreeMap::new();
    let mut network = Vec::new();
    let time_ns = (profile.to_ns - profile.from_ns) as f64;
    for cpu in &mut watched.cpus {
        let Some(found) = profile.cpus.iter().find(|found| found.cpu == cpu.cpu) else {
            continue;
        };
        let seen = found.seen(profile.from_ns, profile.to_ns);
        (cpu.samples_due, cpu.samples) = (Some(seen.expected), seen.got);
        let mut stages: BTreeMap<Stage, u64> = BTreeMap::new();
        let (mut soft, mut idle) = (0_u64, 0_u64);
        let mut by_task: BTreeMap<&str, u64> = BTreeMap::new();
        for sample in &found.samples {
            let stack = names(profile, &sample.stack);
            let calls = |any: &[&str]| stack.iter().any(|name| any.contains(name));
            if calls(&NETWORK) {
                let stage = stage::place(&stack, Router::OfHost).stage;
                *stages.entry(stage).or_default() += sample.weight;
                network.push(sample);
            } else if calls(&SOFT) {
                soft += 1;
            } else if sample.task == 0 {
                idle += 1;
            } else {
                let name = profile.tasks.get(&sample.task);
                let name = name.map_or("tasks that have ended", String::as_str);
                *by_task.entry(name).or_default() += 1;
            }
        }
        let share = match profile.clock {
            // An idle CPU counts no cycles unless it polls, so the other samples are of the rest.
            SamplingClock::Cycles => {
                (1.0 - cpu.idle_share()) / (seen.expected - idle as f64).max(1.0)
            }
            SamplingClock::Timer => 1.0 / seen.expected.max(1.0),
        };
        let others = by_task.values().sum::<u64>() as f64 * share;
        for (name, samples) in by_task {
            *tasks.entry(name).or_default() += samples as f64 * share;
        }
        cpu.interrupt_share = (profile.clock == SamplingClock::Timer)
            .then(|| interrupt_share(cpu, soft as f64 * share))
            .flatten();
        let interrupts = interrupts_in_words(cpu, watched.time_ns);
        watched.lacks.extend(interrupts);
        watched.lacks.extend(disagreement(cpu, others));
        let sampled_ns = stages.values().sum::<u64>() as f64;
        let most = stages.into_iter().max_by_key(|(_, weight)| *weight);
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
    let nearest = sampled.clamp(cpu.least_task_share(), counted);
    ((nearest - sampled).abs() > APART).then(|| {
        format!(
            "CPU {}: other tasks have {counted_percent:.0} % of its time by task switches, and {sampled_percent:.0} % by samples; do not trust its shares",
            cpu.cpu
        )
    })
}

/// Over all CPUs, each by its network's time.
fn seen(watched: &Watched) -> Option<f64> {
    let known = || watched.cpus.iter().filter(|cpu| cpu.seen_share.is_some());
    let seen = |cpu: &WatchedCpu| cpu.network_share() * cpu.seen_share.unwrap_or(0.0);
    let whole: f64 = known().map(WatchedCpu::network_share).sum();
    (whole > 0.0).then(|| known().map(seen).sum::<f64>() / whole)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::{CpuProfile, Segment, SymbolId};

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
        assert!(sort(&mut watched, &profile).is_empty());
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
        sort(&mut watched, &profile(SamplingClock::Cycles));
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
        sort(&mut watched, &profile);
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
        sort(&mut watched, &profile);
        assert_eq!(watched.cpus[0].interrupt_share, None, "too few samples");
        let told = &watched.lacks[0];
        assert!(told.contains("its idle time contains"), "{told}");
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

    use mpps_record::{CpuLedger, WatchedLink};

    fn watched(packets: u64, links: &[(u64, bool)]) -> Watched {
        let link = |&(rx_frames, counted): &(u64, bool)| WatchedLink {
            rx_frames,
            counted,
            ..WatchedLink::default()
        };
        Watched {
            time_ns: 1_000_000_000,
            rx_frames: links.iter().filter(|link| link.1).map(|link| link.0).sum(),
            share_of_stack: 1.0,
            links: links.iter().map(link).collect(),
            cpus: vec![WatchedCpu {
                packets,
                ledger: Some(CpuLedger {
                    idle_share: 0.5,
                    net_softirq_share: 0.5,
                    ..CpuLedger::default()
                }),
                ..WatchedCpu::default()
            }],
            ..Watched::default()
        }
    }

    fn cost_ns(mut watched: Watched) -> Result<(f64, u64), String> {
        let cost = frame_cost(&mut watched, None)?;
        Ok((cost.load.frame_ns.median, watched.foreign_packets))
    }

    #[test]
    fn a_frame_costs_the_networks_time_by_frames() {
        // A VLAN on the port: the stack takes each frame twice.
        let vlan = watched(2_000_000, &[(1_000_000, true), (1_000_000, false)]);
        assert_eq!(cost_ns(vlan), Ok((500.0, 0)));
        // GRO: the stack takes fewer packets than frames came.
        assert_eq!(
            cost_ns(watched(50_000, &[(1_000_000, true)])),
            Ok((500.0, 0))
        );
        // Another namespace has three of four packets.
        let other = watched(4_000_000, &[(1_000_000, true)]);
        assert_eq!(cost_ns(other), Ok((125.0, 3_000_000)));
    }

    #[test]
    fn no_traffic_has_no_cost() {
        let why = cost_ns(watched(40, &[(42, true)])).expect_err("no cost");
        assert_eq!(why, "there was no traffic: 42 frames came in 1.0 s");
        let mut elsewhere = watched(0, &[(1_000_000, true)]);
        elsewhere.share_of_stack = 0.0;
        assert!(
            cost_ns(elsewhere)
                .expect_err("no cost")
                .contains("other CPUs")
        );
        let mut unknown = watched(1_000, &[(1_000, true)]);
        unknown.cpus[0].ledger = None;
        assert!(cost_ns(unknown).is_err());
    }
}
