//! What a frame costs the CPUs that are watched: busy time of the network by frames, split by samples.

use super::note_samples;
use crate::jobs::explain::split::{Divided, Stacks, fill_with, names};
use crate::profile::{Profile, Sample, SamplingClock};
use mpps_method::stage::{self, Router, Stage};
use mpps_record::{CpuLedger, FoldedStack, Interval, ProfiledLoad, Watched, WatchedTask};
use std::collections::BTreeMap;

/// Fewer frames tell no cost.
const FRAMES_MIN: f64 = 100.0;
/// A smaller part of the packets may come from readings that are not of one moment.
const FOREIGN_MIN: f64 = 0.05;
/// Fewer samples do not tell where the time goes.
const SAMPLES_MIN: usize = 20;
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
pub fn of_a_frame(watched: &mut Watched, profile: Option<&Profile>) -> Result<Cost, String> {
    let found = profile.map(|profile| {
        note_samples(watched, profile);
        sort(watched, profile)
    });
    let seconds = watched.time_ns as f64 / 1e9;
    count_frames(watched);
    let frames = watched.frames as f64;
    if frames < FRAMES_MIN {
        return Err(few_frames(watched));
    }
    let shares = shares(watched, profile.zip(found.as_deref()));
    if shares.is_empty() {
        return Err("nothing tells the network's busy time".to_owned());
    }
    let network = shares.iter().sum::<f64>() * watched.time_ns as f64;
    let busiest = shares.into_iter().fold(0.0, f64::max);
    let exact = |median| Interval {
        low: median,
        median,
        high: median,
    };
    let mut load = ProfiledLoad {
        offered_fps: watched.rx_frames as f64 / seconds,
        forwarding_fps: exact(watched.tx_frames as f64 / seconds),
        busy_share: busiest,
        frame_ns: exact(network / frames),
        router_ns: network / frames,
        polls_per_frame: polls(watched),
        ..ProfiledLoad::default()
    };
    let mut stacks = Stacks::default();
    let enough = found.filter(|samples| samples.len() >= SAMPLES_MIN);
    if let Some((profile, samples)) = profile.zip(enough) {
        load.lost_samples = profile.cpus.iter().map(|cpu| cpu.lost).sum();
        let divided = Divided::new(profile, &samples, Router::OfHost, load.frame_ns.median);
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

/// The network's share of each CPU's time; by samples where no ledger was kept.
fn shares(watched: &Watched, sampled: Option<(&Profile, &[&Sample])>) -> Vec<f64> {
    let ledgers = watched.cpus.iter().filter_map(|cpu| cpu.ledger.as_ref());
    let shares: Vec<f64> = ledgers.map(CpuLedger::network_share).collect();
    let timed = sampled.filter(|(profile, _)| profile.clock == SamplingClock::Timer);
    match timed {
        Some((profile, samples)) if shares.is_empty() => {
            let time = (profile.to_ns - profile.from_ns).max(1) as f64;
            let sampled: u64 = samples.iter().map(|sample| sample.weight).sum();
            vec![sampled as f64 / time]
        }
        _ => shares,
    }
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

/// The samples of the network's work; those of other tasks are noted by name.
fn sort<'p>(watched: &mut Watched, profile: &'p Profile) -> Vec<&'p Sample> {
    let mut tasks: BTreeMap<String, f64> = BTreeMap::new();
    let mut network = Vec::new();
    for cpu in &mut watched.cpus {
        let Some(found) = profile.cpus.iter().find(|found| found.cpu == cpu.cpu) else {
            continue;
        };
        let whole = cpu.samples_due.unwrap_or(0.0).max(1.0);
        let mut sampled_ns = 0.0;
        let mut stages: BTreeMap<Stage, u64> = BTreeMap::new();
        for sample in &found.samples {
            let stack = names(profile, &sample.stack);
            let calls = |any: &[&str]| stack.iter().any(|name| any.contains(name));
            if calls(&NETWORK) {
                sampled_ns += sample.weight as f64;
                let stage = stage::place(&stack, Router::OfHost).stage;
                *stages.entry(stage).or_default() += sample.weight;
                network.push(sample);
            } else if sample.task != 0 && !calls(&SOFT) {
                let name = profile
                    .tasks
                    .get(&sample.task)
                    .map_or("tasks that have ended", String::as_str);
                *tasks.entry(name.to_owned()).or_default() += 1.0 / whole;
            }
        }
        let most = stages.into_iter().max_by_key(|(_, weight)| *weight);
        cpu.top_stage = most.map(|(stage, _)| stage.to_string());
        let ledger = cpu.ledger.as_ref().map(|ledger| ledger.network_share());
        let spent = ledger.map(|share| share * (profile.to_ns - profile.from_ns) as f64);
        let spent = spent.filter(|&ns| ns > 0.0 && profile.clock == SamplingClock::Timer);
        cpu.seen_share = spent.map(|ns| sampled_ns / ns);
    }
    let mut tasks: Vec<WatchedTask> = tasks
        .into_iter()
        .map(|(name, cpu_share)| WatchedTask { name, cpu_share })
        .filter(|task| task.cpu_share >= TASK_MIN)
        .collect();
    tasks.sort_by(|one, other| other.cpu_share.total_cmp(&one.cpu_share));
    tasks.truncate(TASKS_MAX);
    watched.tasks = tasks;
    network
}

/// Over all CPUs, each by its network's time.
fn seen(watched: &Watched) -> Option<f64> {
    let (mut seen, mut whole) = (0.0, 0.0);
    for cpu in &watched.cpus {
        if let (Some(ledger), Some(share)) = (&cpu.ledger, cpu.seen_share) {
            seen += ledger.network_share() * share;
            whole += ledger.network_share();
        }
    }
    (whole > 0.0).then(|| (seen / whole).min(1.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use mpps_record::{WatchedCpu, WatchedLink};

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
        let cost = of_a_frame(&mut watched, None)?;
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
