//! Doubts about other work: tasks that ran beside the forwarding, and work on frames that no busy time counts.

use super::machine::OTHERS_SHARE;
use super::{Doubt, Weight};
use mpps_method::{CpuTasks, CpuWork, RouteChanges, Span, Trial, Verdict};
use mpps_record::doubts::{BUSY_UNCOUNTED, WORK_ELSEWHERE};
use std::collections::BTreeMap;

/// Busy times are compared over trials of this length: the kernel counts in ticks of 10 ms.
const COMPARABLE: Span = Span::from_millis(500);
/// Uncounted work may be so large a share of a trial, or of its frames.
const UNCOUNTED: f64 = 0.10;
/// A stretch of the router's own tasks that is worth naming.
const LONG: Span = Span::from_millis(2);
const ELSEWHERE: &str = "DUT busy and ns per frame do not include that CPU's time. The rate comes from more CPUs than the DUT has.";

/// The doubts of these trials. Where tester and DUT share a CPU, its time cannot be told apart.
#[must_use]
pub fn work_doubts(trials: &[(Trial, Verdict)], cpus_shared: bool) -> Vec<Doubt> {
    let doubts = [
        router_tasks(trials),
        busy_uncounted(trials).filter(|_| !cpus_shared),
        work_elsewhere(trials),
        softirq_elsewhere(trials),
        few_route_changes(trials.iter().filter_map(|(trial, _)| trial.route_changes)),
    ];
    doubts.into_iter().flatten().collect()
}

/// The longest stretch, where it is over 2 ms or the router's tasks had that CPU for over 2 % of the trial.
fn router_tasks(trials: &[(Trial, Verdict)]) -> Option<Doubt> {
    let long_ones = |(trial, _): &(Trial, Verdict)| {
        let length = trial.duration;
        let is_long = move |tasks: &CpuTasks| {
            let share = tasks.total.as_nanos() as f64 / length.as_nanos().max(1) as f64;
            tasks.longest > LONG || share > OTHERS_SHARE
        };
        let tasks = trial.dut_tasks.iter().copied().filter(is_long);
        tasks.map(move |tasks| (tasks, length)).collect::<Vec<_>>()
    };
    let all = trials.iter().flat_map(long_ones);
    let (tasks, length) = all.max_by_key(|(tasks, _)| tasks.longest)?;
    Some(Doubt {
        name: "router-tasks",
        weight: Weight::Shifted(9),
        seen: format!(
            "the router's own {} had CPU {} for {} without a break; {} in all, in a trial of {length}",
            tasks.culprit, tasks.cpu, tasks.longest, tasks.total
        ),
        why: "Frames wait while it runs. It is part of the router, so the loss counts.",
        next: "Run again without that task. The difference is its cost.",
    })
}

/// Fewer route changes than this share of those that were due.
const CHANGES_ENOUGH: f64 = 0.95;

/// Whether the router had fewer changes than were asked for. Over all trials, because one that lasts some ms has few.
#[must_use]
pub fn few_route_changes(changes: impl IntoIterator<Item = RouteChanges>) -> Option<Doubt> {
    let all = changes.into_iter().reduce(|mut sum, more| {
        sum.add(&more);
        sum
    })?;
    let applied = all.applied();
    ((applied as f64) < CHANGES_ENOUGH * all.due as f64).then(|| Doubt {
        name: "few-route-changes",
        weight: Weight::Another(15),
        seen: format!(
            "{applied} of {} route changes that were due were made, {:.0} a second; the kernel refused {}",
            all.due,
            all.applied_per_s(),
            all.refused
        ),
        why: "The router had fewer changes than were asked for. The rate belongs to the lower speed.",
        next: "Use a lower speed in --route-changes, or give the tester another CPU (--tester-cpus).",
    })
}

/// Trials whose busy times can be compared: not cut short, and long enough for ticks of 10 ms.
fn comparable(trials: &[(Trial, Verdict)]) -> impl Iterator<Item = &Trial> {
    let trials = trials
        .iter()
        .filter(|(_, verdict)| !matches!(verdict, Verdict::Void(_)));
    let trials = trials.map(|(trial, _)| trial);
    trials.filter(|trial| trial.cut_short_from.is_none() && trial.duration >= COMPARABLE)
}

/// At most 1: the kernel's ticks may count more than the trial had.
fn share(trial: &Trial, ns: u64) -> f64 {
    (ns as f64 / trial.duration.as_nanos().max(1) as f64).min(1.0)
}

/// Of the DUT's CPUs that the tester has no part in, over all trials: the kernel counts who runs at a tick, and one trial has
/// some hundred ticks.
fn busy_uncounted(trials: &[(Trial, Verdict)]) -> Option<Doubt> {
    let mut by_cpu: BTreeMap<usize, [u64; 4]> = BTreeMap::new();
    for trial in comparable(trials) {
        for counted in &trial.busy {
            let Some(work) = trial.work.iter().find(|work| work.cpu == counted.cpu) else {
                continue;
            };
            // Other programs have doubts of their own, and the router's CPU less time.
            let others = trial.other_tasks.iter().filter(|one| one.cpu == work.cpu);
            let others: u64 = others.map(|one| one.total.as_nanos()).sum();
            let busy_ns = work.busy_ns.saturating_sub(others);
            let all = by_cpu.entry(counted.cpu).or_default();
            let of_trial = [
                trial.duration.as_nanos(),
                busy_ns,
                counted.run_ns,
                counted.tasks_ns,
            ];
            for (sum, ns) in all.iter_mut().zip(of_trial) {
                *sum += ns;
            }
        }
    }
    let shares = |(cpu, [time, busy, threads, tasks]): (usize, [u64; 4])| {
        let share = |ns: u64| (ns as f64 / time.max(1) as f64).min(1.0);
        (cpu, share(busy), share(threads), share(tasks))
    };
    let all = by_cpu.into_iter().map(shares);
    let (cpu, busy, threads, tasks) = all.max_by(|a, b| (a.1 - a.2).total_cmp(&(b.1 - b.2)))?;
    (busy - threads > UNCOUNTED).then(|| Doubt {
        name: BUSY_UNCOUNTED,
        weight: Weight::Another(10),
        seen: format!(
            "CPU {cpu} of the DUT was {:.0} % busy: the threads that forward {:.0} %, the router's own tasks {:.0} %",
            busy * 100.0,
            threads * 100.0,
            tasks * 100.0
        ),
        why: "The cost of a frame counts the threads alone. If others handle frames too, it is higher.",
        next: "Check `work` and `dut_tasks` of the trials in the record, and run top -H during a run.",
    })
}

/// By the sums over all trials.
fn work_elsewhere(trials: &[(Trial, Verdict)]) -> Option<Doubt> {
    let (mut frames, mut packets) = (0, BTreeMap::new());
    // An external device works on no CPU of this machine.
    let trials = trials.iter().map(|(trial, _)| trial);
    for trial in trials.filter(|trial| !trial.busy.is_empty()) {
        frames += trial.counts().received;
        let elsewhere = |work: &&CpuWork| trial.busy.iter().all(|dut| dut.cpu != work.cpu);
        for work in trial.work.iter().filter(elsewhere) {
            *packets.entry(work.cpu).or_insert(0) += work.stack_packets.unwrap_or(0);
        }
    }
    let (cpu, packets) = packets.into_iter().max_by_key(|(_, packets)| *packets)?;
    let many = frames > 0 && packets as f64 > UNCOUNTED * frames as f64;
    many.then(|| Doubt {
        name: WORK_ELSEWHERE,
        weight: Weight::Another(11),
        seen: format!(
            "CPU {cpu} is not a CPU of the DUT, and took {packets} packets while {frames} frames came back"
        ),
        why: ELSEWHERE,
        next: "Steer no RPS (rps_cpus) and no queue of user space to that CPU, or add it to --dut-cpus.",
    })
}

fn softirq_elsewhere(trials: &[(Trial, Verdict)]) -> Option<Doubt> {
    let shares = |trial: &Trial| {
        let outside = |work: &&CpuWork| trial.steal.iter().all(|bed| bed.cpu != work.cpu);
        let work = trial.work.iter().filter(outside);
        work.map(|work| (work.cpu, share(trial, work.softirq_ns)))
            .collect::<Vec<_>>()
    };
    let all = comparable(trials).flat_map(shares);
    let (cpu, share) = all.max_by(|a, b| a.1.total_cmp(&b.1))?;
    (share > UNCOUNTED).then(|| Doubt {
        name: "softirq-elsewhere",
        weight: Weight::Another(12),
        seen: format!(
            "CPU {cpu}, outside the bed, spent {:.0} % of a trial in soft interrupts",
            share * 100.0
        ),
        why: ELSEWHERE,
        next: "Find the work on that CPU (top -H, /proc/softirqs), or add the CPU to --dut-cpus.",
    })
}

#[cfg(test)]
mod tests;
