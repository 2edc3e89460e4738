//! What is watched for a second: what the hypervisor and other programs take, how long CPUs stand still or are slow.

use super::subject::{Seen, good_if};
use super::{Check, Subject};
use crate::bed::Interfaces;
use crate::clock::wait_until;
use crate::tester::watch::STALL_NS;
use crate::tester::{KernelInterfaces, TesterError, Watch};
use mpps_ebpf::instruments::watch::{Stall, Watched};
use mpps_linux::clock::monotonic_ns;
use mpps_linux::procstat::{self, CpuTimes};
use mpps_linux::{cpu, interrupt, task};
use std::collections::BTreeMap;

/// How long, ns.
const SECOND_NS: u64 = 1_000_000_000;
/// How often to look whether somebody wants us to stop, ns.
const STEP_NS: u64 = 50_000_000;
/// Steal above this share disturbs; a trial is voided from 2 % on.
const STEAL_SHARE: f64 = 0.005;
/// Other programs above this share of a CPU disturb.
const OTHERS_SHARE: f64 = 0.05;

/// Steal and other programs from /proc/stat; stalls by the tester's own watch.
pub(super) fn with_programs() -> Vec<Check> {
    let watch = watch();
    let mut checks = a_second();
    let seen = watch.and_then(|watch| Ok((watch.read()?, watch.slow()?)));
    let seen = seen.map_err(|error| error.to_string());
    let seen = seen.and_then(|(seen, slow)| stalls(&seen, &slow));
    checks.push(Check::new(Subject::STALLS, seen));
    checks
}

/// Without rights for the watch.
pub(super) fn without_programs() -> Vec<Check> {
    let mut checks = a_second();
    let why = "not tried: needs what a bed needs".to_owned();
    checks.push(Check::new(Subject::STALLS, Err(why)));
    checks
}

fn watch() -> Result<Watch, TesterError> {
    let cpus: Vec<usize> = cpu::available()?.iter().collect();
    let watch = Watch::start(
        &cpus,
        None,
        KernelInterfaces::find(Interfaces::Newest)?.stall_watch,
    )?;
    watch.clear()?;
    Ok(watch)
}

fn stalls(seen: &[(usize, Watched)], slow: &[(usize, Stall)]) -> Seen {
    let gaps = seen.iter().map(|(cpu, watched)| (watched.longest_ns, *cpu));
    let (longest_ns, cpu) = gaps.max().unwrap_or((0, 0));
    let slow_for = |cpu: usize| {
        let times = slow.iter().filter(|(on, _)| *on == cpu);
        times
            .map(|(_, time)| time.to_ns.saturating_sub(time.from_ns))
            .sum::<u64>()
    };
    let slowest = slow.iter().map(|(cpu, _)| (slow_for(*cpu), *cpu)).max();
    let millis = |ns: u64| ns as f64 / 1e6;
    let slow = slowest.map_or(String::new(), |(slow_ns, cpu)| {
        let slow_ms = millis(slow_ns);
        format!("; CPU {cpu} was slow for {slow_ms:.0} ms")
    });
    good_if(
        longest_ns <= STALL_NS && slowest.is_none(),
        format!(
            "longest stop within a second: {:.1} ms, of CPU {cpu}{slow}",
            millis(longest_ns)
        ),
    )
}

fn a_second() -> Vec<Check> {
    let programs = programs();
    let before = procstat::cpu_times();
    let end = monotonic_ns() + SECOND_NS;
    while monotonic_ns() < end && !interrupt::requested() {
        wait_until((monotonic_ns() + STEP_NS).min(end));
    }
    let [stolen, others] = match before.and_then(|before| Ok((before, procstat::cpu_times()?))) {
        Ok((before, after)) => weigh(&before, &after, SECOND_NS, busiest(&programs).as_deref()),
        Err(error) => [Err(error.to_string()), Err(error.to_string())],
    };
    vec![
        Check::new(Subject::STEAL, stolen),
        Check::new(Subject::OTHERS, others),
    ]
}

/// Every program with the time it has run, ticks.
fn programs() -> BTreeMap<i32, u64> {
    let pids = task::all_pids().unwrap_or_default();
    // One that is gone meanwhile takes nothing.
    let ran = pids
        .into_iter()
        .filter_map(|pid| Some((pid, task::run_ticks(pid).ok()?)));
    ran.collect()
}

/// Name of the program that has run longest since.
fn busiest(before: &BTreeMap<i32, u64>) -> Option<String> {
    let own = task::current_pid();
    let since = programs()
        .into_iter()
        .filter(|(pid, _)| *pid != own)
        .map(|(pid, ran)| {
            let then = before.get(&pid).copied().unwrap_or(0);
            (ran.saturating_sub(then), pid)
        });
    let (ran, pid) = since.max()?;
    (ran > 0).then(|| task::comm(pid).ok()).flatten()
}

/// What was taken of the CPUs between two looks.
fn weigh(
    before: &[CpuTimes],
    after: &[CpuTimes],
    span_ns: u64,
    busiest: Option<&str>,
) -> [Seen; 2] {
    let since: Vec<CpuTimes> = after
        .iter()
        .filter_map(|now| {
            let then = before.iter().find(|then| then.cpu == now.cpu)?;
            Some(now.since(then))
        })
        .collect();
    let most = |of: fn(&CpuTimes) -> u64| {
        let worst = since.iter().max_by_key(|times| of(times));
        worst.map_or((0, 0.0), |times| {
            (times.cpu, of(times) as f64 / span_ns as f64)
        })
    };
    let (stolen_from, stolen) = most(|times| times.steal_ns);
    let (busy, share) = most(CpuTimes::busy_ns);
    let percent = |share: f64| format!("{:.1} %", share * 100.0);
    [
        good_if(
            stolen <= STEAL_SHARE,
            format!("{} of a second, most of CPU {stolen_from}", percent(stolen)),
        ),
        good_if(
            share <= OTHERS_SHARE,
            format!(
                "CPU {busy} was {} busy within a second{}",
                percent(share.min(1.0)),
                busiest.map_or(String::new(), |name| format!(", most with {name}"))
            ),
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::super::State;
    use super::*;

    #[test]
    fn the_worst_cpu_is_told() {
        let times = |cpu, steal_ns, user_ns| CpuTimes {
            cpu,
            steal_ns,
            user_ns,
            ..CpuTimes::default()
        };
        let before = [times(0, 5, 5), times(1, 0, 0)];
        let [stolen, others] = weigh(&before, &before, 1000, None).map(Result::unwrap);
        assert_eq!((stolen.0, others.0), (State::Good, State::Good));
        let after = [times(0, 15, 5), times(1, 0, 300)];
        let costs = |seen: &str| Ok((State::Costs, seen.to_owned()));
        assert_eq!(
            weigh(&before, &after, 1000, Some("rustc")),
            [
                costs("1.0 % of a second, most of CPU 0"),
                costs("CPU 1 was 30.0 % busy within a second, most with rustc"),
            ]
        );
    }
    #[test]
    fn a_slow_cpu_is_told() {
        let watched = |longest_ns| Watched {
            longest_ns,
            ..Watched::default()
        };
        let slow = |cpu, from_ms: u64, to_ms: u64| {
            let (from_ns, to_ns) = (from_ms * 1_000_000, to_ms * 1_000_000);
            (cpu, Stall { from_ns, to_ns })
        };
        let stalls = |seen: &[_], slow: &[_]| super::stalls(seen, slow).unwrap();
        let still = stalls(&[(0, watched(1_100_000)), (1, watched(2_500_000))], &[]);
        assert_eq!(still.0, State::Costs);
        assert_eq!(still.1, "longest stop within a second: 2.5 ms, of CPU 1");
        let seen = [(0, watched(1_100_000)), (1, watched(1_000_000))];
        let slow = stalls(&seen, &[slow(0, 5, 8), slow(1, 5, 35), slow(1, 80, 105)]);
        assert_eq!(slow.0, State::Costs);
        assert_eq!(
            slow.1,
            "longest stop within a second: 1.1 ms, of CPU 0; CPU 1 was slow for 55 ms"
        );
        assert_eq!(stalls(&seen, &[]).0, State::Good);
        // What trials call a stall, to the ns.
        let longest = |ns| stalls(&[(0, watched(ns))], &[]).0;
        assert_eq!(longest(STALL_NS), State::Good);
        assert_eq!(longest(STALL_NS + 1), State::Costs);
    }
}
