//! Doubts about what the router's own tasks and the machine did besides forwarding frames.

use super::Words;
use crate::facts::Change;
use crate::one_run::Holder;
use mpps_method::saturation::{Distance, is_same_distance};
use mpps_method::{CpuBusy, CpuTasks, CpuWork, Disturbed, Rate, Rules, Span, Trial, Verdict};

/// Busy times are compared over trials of this length: the kernel counts in ticks of 10 ms.
const COMPARABLE: Span = Span::from_millis(500);
/// Work that nobody counts may be so large a share of a trial, or of its frames.
const UNCOUNTED: f64 = 0.10;
/// A stretch of the router's own tasks that is worth naming.
const LONG: Span = Span::from_millis(2);
const ELSEWHERE: &str = "that CPU's time is not in DUT busy and ns per frame, and the rate is of more CPUs than the DUT has";

/// So many changed settings are named.
const CHANGES_SHOWN: usize = 4;

/// What the router's own tasks or the machine did that the rate and the busy time do not show.
#[derive(Clone, Debug, PartialEq)]
pub enum HostDoubt {
    /// Tasks of the router's own had a CPU of the bed. They disturb nothing.
    RouterTasks {
        /// Whose was the longest stretch, where, and how long they had the CPU.
        tasks: CpuTasks,
        /// Length of that trial.
        trial: Span,
    },
    /// Frames were lost, or left unsent, while the machine disturbed the trials that the result stands on. They count for
    /// nothing.
    LostDisturbed {
        /// What fell into the disturbances of all of them.
        disturbed: Disturbed,
        /// Their length together.
        length: Span,
    },
    /// Tester's and DUT's CPU were at another distance at overload than in the trial that the result stands on.
    DistanceChanged {
        /// Round trip of a cache line at overload, ns.
        overload_ns: f64,
        /// In that trial, ns.
        trial_ns: f64,
    },
    /// A CPU of the DUT's was busy for longer than the threads whose time is told as its busy time.
    BusyUncounted {
        /// The CPU.
        cpu: usize,
        /// Its busy share of a trial by the kernel's count, 0 to 1.
        busy: f64,
        /// The share of the threads.
        counted: f64,
    },
    /// The DUT's frames were worked on by a CPU that is not its own.
    WorkElsewhere {
        /// The CPU.
        cpu: usize,
        /// Packets that its network stack took.
        packets: u64,
        /// Frames received in the same trials.
        frames: u64,
    },
    /// A CPU of the DUT's and one of the tester's are threads of one core (SMT).
    CoreShared {
        /// The DUT's.
        dut: usize,
        /// The tester's.
        tester: usize,
    },
    /// Settings of the whole machine changed between the bed's raising and the result.
    HostChanged(Vec<Change>),
    /// Another run of mpps measured on this host.
    OtherRun(Holder),
    /// A CPU outside the bed was busy with soft interrupts.
    SoftirqElsewhere {
        /// The CPU.
        cpu: usize,
        /// Share of a trial, 0 to 1.
        share: f64,
    },
}

impl HostDoubt {
    /// The doubts that a search's trials raise. Where tester and DUT share a CPU nobody knows whose its time was.
    #[must_use]
    pub fn from_trials(trials: &[(Trial, Verdict)], cpus_shared: bool) -> Vec<Self> {
        let uncounted = || busy_uncounted(trials).filter(|_| !cpus_shared);
        let doubts = [
            router_tasks(trials),
            uncounted(),
            work_elsewhere(trials),
            softirq_elsewhere(trials),
        ];
        doubts.into_iter().flatten().collect()
    }

    /// The doubt that the lossless trials of this load raise: those on which a result stands.
    #[must_use]
    pub fn from_lossless(trials: &[(Trial, Verdict)], load: Rate) -> Option<Self> {
        let stands = |(trial, verdict): &&(Trial, Verdict)| {
            trial.offered == load && *verdict == Verdict::Lossless
        };
        let trials = trials.iter().filter(stands).map(|(trial, _)| trial);
        let (mut disturbed, mut length, mut slots) = (Disturbed::default(), Span::ZERO, 0);
        for trial in trials {
            slots += trial.counts().intended;
            let Disturbed { times, time, .. } = trial.disturbed;
            disturbed.times += times;
            disturbed.time = disturbed.time.plus(time);
            disturbed.unsent += trial.disturbed.unsent;
            disturbed.lost = Some(disturbed.lost.unwrap_or(0) + trial.lost_disturbed());
            length = length.plus(trial.duration);
        }
        // So many may stay unsent in any trial.
        let allowed = Rules::default().unsent_max * slots as f64;
        let spoilt = disturbed.lost.unwrap_or(0) > 0 || disturbed.unsent as f64 > allowed;
        spoilt.then_some(Self::LostDisturbed { disturbed, length })
    }

    /// Whether the rate at overload and the one without loss are of two CPU distances.
    pub fn of_distance(overload_ns: Option<f64>, trial: Option<&Trial>) -> Option<Self> {
        let (overload_ns, distance) = overload_ns.zip(trial.map(Distance::from_trial))?;
        match distance {
            Distance::Steady(trial_ns) if !is_same_distance(overload_ns, trial_ns) => {
                Some(Self::DistanceChanged {
                    overload_ns,
                    trial_ns,
                })
            }
            _ => None,
        }
    }

    pub(super) fn words(&self) -> Words {
        match self {
            Self::DistanceChanged {
                overload_ns,
                trial_ns,
            } => distance_changed(*overload_ns, *trial_ns),
            Self::RouterTasks { tasks, trial } => Words {
                name: "router-tasks",
                seen: format!(
                    "the router's own {} had CPU {} for {} in one stretch, {} in all, in a trial of {trial}",
                    tasks.culprit, tasks.cpu, tasks.longest, tasks.total
                ),
                why: "frames wait while it runs; the router does that itself, so the loss counts",
                next: "run again without that task: the difference is its cost",
            },
            Self::LostDisturbed { disturbed, length } => lost_disturbed(disturbed, *length),
            Self::BusyUncounted { cpu, busy, counted } => Words {
                name: "busy-uncounted",
                seen: format!(
                    "CPU {cpu} of the DUT was {:.0} % busy, the threads that are told as DUT busy {:.0} %",
                    busy.min(1.0) * 100.0,
                    counted.min(1.0) * 100.0
                ),
                why: "a part of the router's work is not in DUT busy, ns per frame and what follows from them",
                next: "`work` and `dut_tasks` of the trials in the record; top -H while it runs",
            },
            Self::WorkElsewhere {
                cpu,
                packets,
                frames,
            } => Words {
                name: "work-elsewhere",
                seen: format!(
                    "CPU {cpu}, which is none of the DUT's, took {packets} packets while {frames} frames came back"
                ),
                why: ELSEWHERE,
                next: "no RPS (rps_cpus) and no queue of user space to that CPU, or --dut-cpus with it",
            },
            Self::CoreShared { dut, tester } => Words {
                name: "core-shared",
                seen: format!("CPU {dut} (DUT) and CPU {tester} (tester) are threads of one core"),
                why: "each takes a third or more of the core's speed from the other: alone the DUT does more",
                next: "--dut-cpus and --tester-cpus on cores of their own (lscpu -e), or SMT off",
            },
            Self::HostChanged(changes) => Words {
                name: "host-changed",
                seen: host_changed(changes),
                why: "the set-up script or another program did it: the facts in the record are not what was measured on",
                next: "put it back yourself where it is not wanted: it does not go with the bed",
            },
            Self::OtherRun(holder) => Words {
                name: "other-run",
                seen: format!("another run measured on this host: {holder}"),
                why: "each takes CPU time, caches and memory from the other",
                next: "the same without --share, which waits until the other has ended",
            },
            Self::SoftirqElsewhere { cpu, share } => Words {
                name: "softirq-elsewhere",
                seen: format!(
                    "CPU {cpu}, outside the bed, spent {:.0} % of a trial in soft interrupts",
                    share * 100.0
                ),
                why: ELSEWHERE,
                next: "look who works there (top -H, /proc/softirqs), or --dut-cpus with it",
            },
        }
    }
}

fn lost_disturbed(disturbed: &Disturbed, length: Span) -> Words {
    let times = match disturbed.times {
        1 => "1 disturbance".to_owned(),
        times => format!("{times} disturbances"),
    };
    let (lost, unsent, time) = (
        disturbed.lost.unwrap_or(0),
        disturbed.unsent,
        disturbed.time,
    );
    Words {
        name: "lost-disturbed",
        seen: format!(
            "{lost} frames lost and {unsent} left unsent in {times} do not count, {time} of {length} without loss else"
        ),
        why: "the machine had taken a CPU from the router or the tester then, so these frames say nothing of the router",
        next: "a quieter machine; `stalls`, `others` and `disturbed` of the trials in the record tell more",
    }
}

fn distance_changed(overload_ns: f64, trial_ns: f64) -> Words {
    Words {
        name: "distance-changed",
        seen: format!(
            "tester's and router's CPU were {overload_ns:.0} ns apart at overload and {trial_ns:.0} ns in the trial without loss"
        ),
        why: "a frame costs a quarter more at the longer distance: the two rates do not compare",
        next: "run again; the record has the distance beside each trial",
    }
}

fn host_changed(changes: &[Change]) -> String {
    let shown: Vec<String> = changes
        .iter()
        .take(CHANGES_SHOWN)
        .map(Change::to_string)
        .collect();
    let more = changes.len().saturating_sub(CHANGES_SHOWN);
    let more = if more > 0 {
        format!(" and {more} more")
    } else {
        String::new()
    };
    format!("the host was changed meanwhile: {}{more}", shown.join(", "))
}

/// The longest stretch, where it is over 2 ms or the router's tasks had that CPU for over 2 % of the trial.
fn router_tasks(trials: &[(Trial, Verdict)]) -> Option<HostDoubt> {
    let others_max = Rules::default().others_max;
    let of_trial = |trial: &Trial| {
        let length = trial.duration;
        let share =
            move |tasks: &CpuTasks| tasks.total.as_nanos() as f64 / length.as_nanos().max(1) as f64;
        let long = move |tasks: &CpuTasks| tasks.longest > LONG || share(tasks) > others_max;
        let tasks = trial.dut_tasks.iter().copied().filter(long);
        tasks.map(move |tasks| (tasks, length)).collect::<Vec<_>>()
    };
    let all = trials.iter().flat_map(|(trial, _)| of_trial(trial));
    let (tasks, trial) = all.max_by_key(|(tasks, _)| tasks.longest)?;
    Some(HostDoubt::RouterTasks { tasks, trial })
}

/// Trials whose busy times can be compared: not cut short, and long enough for ticks of 10 ms.
fn comparable(trials: &[(Trial, Verdict)]) -> impl Iterator<Item = &Trial> {
    let trials = trials
        .iter()
        .filter(|(_, verdict)| !matches!(verdict, Verdict::Void(_)));
    let trials = trials.map(|(trial, _)| trial);
    trials.filter(|trial| trial.cut_short_from.is_none() && trial.duration >= COMPARABLE)
}

fn share(trial: &Trial, ns: u64) -> f64 {
    ns as f64 / trial.duration.as_nanos().max(1) as f64
}

/// Of the DUT's CPUs that the tester has no part in.
fn busy_uncounted(trials: &[(Trial, Verdict)]) -> Option<HostDoubt> {
    let of_trial = |trial: &Trial| {
        let worked = |cpu| trial.work.iter().find(move |work| work.cpu == cpu);
        let of_cpu = |counted: &CpuBusy| {
            let (busy, counted_by) = (worked(counted.cpu)?.busy_ns, counted.run_ns);
            let (busy, counted_by) = (share(trial, busy), share(trial, counted_by));
            Some((counted.cpu, busy, counted_by))
        };
        trial.busy.iter().filter_map(of_cpu).collect::<Vec<_>>()
    };
    let all = comparable(trials).flat_map(of_trial);
    let (cpu, busy, counted) = all.max_by(|a, b| (a.1 - a.2).total_cmp(&(b.1 - b.2)))?;
    (busy - counted > UNCOUNTED).then_some(HostDoubt::BusyUncounted { cpu, busy, counted })
}

/// By the sums over all trials.
fn work_elsewhere(trials: &[(Trial, Verdict)]) -> Option<HostDoubt> {
    let (mut frames, mut packets) = (0, std::collections::BTreeMap::new());
    // A device of somebody else's works on no CPU of ours.
    let ours = trials
        .iter()
        .map(|(trial, _)| trial)
        .filter(|trial| !trial.busy.is_empty());
    for trial in ours {
        frames += trial.counts().received;
        let elsewhere = |work: &&CpuWork| trial.busy.iter().all(|dut| dut.cpu != work.cpu);
        for work in trial.work.iter().filter(elsewhere) {
            *packets.entry(work.cpu).or_insert(0) += work.stack_packets.unwrap_or(0);
        }
    }
    let (cpu, packets) = packets.into_iter().max_by_key(|(_, packets)| *packets)?;
    let many = frames > 0 && packets as f64 > UNCOUNTED * frames as f64;
    many.then_some(HostDoubt::WorkElsewhere {
        cpu,
        packets,
        frames,
    })
}

fn softirq_elsewhere(trials: &[(Trial, Verdict)]) -> Option<HostDoubt> {
    let of_trial = |trial: &Trial| {
        let outside = |work: &&CpuWork| trial.steal.iter().all(|bed| bed.cpu != work.cpu);
        let work = trial.work.iter().filter(outside);
        work.map(|work| (work.cpu, share(trial, work.softirq_ns)))
            .collect::<Vec<_>>()
    };
    let all = comparable(trials).flat_map(of_trial);
    let (cpu, share) = all.max_by(|a, b| a.1.total_cmp(&b.1))?;
    (share > UNCOUNTED).then_some(HostDoubt::SoftirqElsewhere { cpu, share })
}

#[cfg(test)]
mod tests {
    use super::*;
    use mpps_method::CpuExchange;
    use mpps_method::{CpuSteal, Direction, TaskName};

    fn named(text: &str) -> TaskName {
        let mut name = TaskName::default();
        for (place, octet) in name.0.iter_mut().zip(text.bytes()) {
            *place = octet;
        }
        name
    }

    #[test]
    fn rates_of_two_cpu_distances_are_a_doubt() {
        let apart = |before: u64, after: u64| Trial {
            exchange: Some(CpuExchange {
                before: Span::from_nanos(before),
                after: Span::from_nanos(after),
            }),
            ..Trial::default()
        };
        let raised = |overload: f64, trial: &Trial| {
            HostDoubt::of_distance(Some(overload), Some(trial)).is_some()
        };
        assert!(raised(330.0, &apart(60, 64)));
        assert!(raised(62.0, &apart(310, 330)));
        assert!(!raised(62.0, &apart(60, 80)));
        assert!(!raised(62.0, &apart(60, 330)), "on the way");
        assert_eq!(HostDoubt::of_distance(None, Some(&apart(60, 64))), None);
        assert_eq!(HostDoubt::of_distance(Some(60.0), None), None);
    }

    #[test]
    fn tasks_of_the_router_are_named_with_their_time() {
        let raised = |longest: u64, total: u64| {
            let tasks = CpuTasks {
                cpu: 1,
                longest: Span::from_millis(longest),
                total: Span::from_millis(total),
                culprit: named("bird"),
            };
            let trial = Trial {
                duration: Span::from_millis(1_000),
                dut_tasks: vec![CpuTasks::default(), tasks],
                ..Trial::default()
            };
            HostDoubt::from_trials(&[(trial, Verdict::Lossless)], false)
        };
        assert_eq!(raised(2, 20), [], "as little as another program may have");
        assert_eq!(
            raised(12, 40)[0].words().seen,
            "the router's own bird had CPU 1 for 12 ms in one stretch, 40 ms in all, in a trial of 1 s"
        );
        assert_eq!(raised(1, 40).len(), 1);
    }

    #[test]
    fn loss_in_disturbances_is_told() {
        let load = Rate::from_fps(1e6);
        let trial = |times, lost, unsent| {
            let disturbed = Disturbed {
                times,
                time: Span::from_millis(20),
                sent: 20_000,
                unsent,
                lost: Some(lost),
            };
            let trial = Trial {
                offered: load,
                duration: Span::from_millis(1_020),
                disturbed,
                ..Trial::default()
            };
            (trial, Verdict::Lossless)
        };
        let seen = |trials: &[(Trial, Verdict)]| {
            let doubt = HostDoubt::from_lossless(trials, load)?;
            Some(doubt.words().seen)
        };
        assert_eq!(seen(&[trial(2, 0, 0)]), None);
        let lossy = (trial(1, 900, 0).0, Verdict::Lossy { lost: 1 });
        assert_eq!(seen(std::slice::from_ref(&lossy)), None);
        assert_eq!(
            seen(&[trial(3, 878, 0), lossy, trial(1, 0, 30)]).as_deref(),
            Some(
                "878 frames lost and 30 left unsent in 4 disturbances do not count, 40 ms of 2.04 s without loss else"
            )
        );
        let elsewhere = HostDoubt::from_lossless(&[trial(3, 878, 0)], Rate::from_fps(2e6));
        assert_eq!(elsewhere, None);
    }

    /// A trial of a second: the DUT's CPU 1 counted as half busy, CPU 0 the tester's, CPU 2 outside the bed.
    fn trial(work: [(u64, u64, u64); 3]) -> [(Trial, Verdict); 1] {
        let of_cpu = |(cpu, (busy, softirq, packets)): (usize, (u64, u64, u64))| CpuWork {
            cpu,
            busy_ns: busy * 1_000_000,
            softirq_ns: softirq * 1_000_000,
            stack_packets: Some(packets),
        };
        let mut way = Direction::default();
        way.counts.received = 100_000;
        let trial = Trial {
            duration: Span::from_millis(1_000),
            directions: vec![way],
            busy: vec![CpuBusy {
                cpu: 1,
                run_ns: 500_000_000,
                wait_ns: 0,
            }],
            work: (0..).zip(work).map(of_cpu).collect(),
            steal: [0, 1].map(|cpu| CpuSteal { cpu, steal_ns: 0 }).into(),
            ..Trial::default()
        };
        [(trial, Verdict::Lossless)]
    }

    #[test]
    fn work_that_no_busy_time_counts_is_named() {
        let raised = |work, shared| {
            let doubts = HostDoubt::from_trials(&trial(work), shared);
            let words = doubts.iter().map(HostDoubt::words);
            words
                .map(|words| (words.name, words.seen))
                .collect::<Vec<_>>()
        };
        // The tester's CPU is as busy as it likes; a tenth more is within the count.
        let quiet = [(990, 900, 9_000), (600, 0, 100_000), (400, 100, 9_000)];
        assert_eq!(raised(quiet, false), []);
        let own = [(990, 900, 0), (700, 0, 100_000), (0, 0, 0)];
        let seen = "CPU 1 of the DUT was 70 % busy, the threads that are told as DUT busy 50 %";
        assert_eq!(raised(own, false), [("busy-uncounted", seen.to_owned())]);
        assert_eq!(raised(own, true), []);
        let steered = [(990, 900, 100_000), (500, 0, 0), (0, 0, 0)];
        let seen =
            "CPU 0, which is none of the DUT's, took 100000 packets while 100000 frames came back";
        assert_eq!(
            raised(steered, false),
            [("work-elsewhere", seen.to_owned())]
        );
        let outside = [(990, 900, 0), (500, 0, 0), (400, 300, 0)];
        let seen = "CPU 2, outside the bed, spent 30 % of a trial in soft interrupts";
        assert_eq!(
            raised(outside, false),
            [("softirq-elsewhere", seen.to_owned())]
        );
    }
}
