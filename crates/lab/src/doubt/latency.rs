//! Doubts about latency: whether the times are the router's at the load they stand at.

use super::{Doubt, Surroundings, Weight, frame_doubts, machine, table, tester, work_doubts};
use crate::jobs::latency::LoadLatency;
use mpps_method::{Trial, Verdict};

/// The worst case is the longest time but for this share of the frames (RFC 8219 section 7.2).
const WORST: f64 = 0.001;

/// What to doubt about the latency at these loads.
#[must_use]
pub fn latency_doubts(around: &Surroundings, loads: &[LoadLatency]) -> Vec<Doubt> {
    let trials = loads.iter().flat_map(|load| &load.router.trials);
    let trials = trials.map(|judged| (judged.trial.clone(), judged.verdict));
    let trials: Vec<(Trial, Verdict)> = trials.collect();
    let one_each = [
        tail_disturbed(loads),
        lossy(loads),
        not_measured(loads),
        tester::not_offered(&trials),
    ];
    let mut doubts: Vec<Doubt> = one_each.into_iter().flatten().collect();
    doubts.extend(machine::trial_doubts(around, &trials, &trials));
    doubts.extend(work_doubts(&trials, around.cpus_shared));
    doubts.extend(table::doubts(around.table));
    doubts.extend(frame_doubts(&trials));
    doubts
}

/// At the load where the machine disturbed the largest share of the frames.
fn tail_disturbed(loads: &[LoadLatency]) -> Option<Doubt> {
    let share = |load: &LoadLatency| {
        let sent = load.router.counts().sent;
        load.router.disturbed_frames() as f64 / sent.max(1) as f64
    };
    let most = loads.iter().max_by(|a, b| share(a).total_cmp(&share(b)))?;
    (share(most) > WORST).then(|| Doubt {
        name: "tail-disturbed",
        weight: Weight::Shifted(15),
        seen: format!(
            "at {} the machine disturbed {:.2} % of the frames; a CPU stood still for up to {}",
            most.load,
            share(most) * 100.0,
            most.router.longest_stall()
        ),
        why: "More frames than the worst case leaves out waited for the machine. p99.9 and above may be the machine's, not the router's.",
        next: "Compare p99.9 with that of the wire, and run again when the machine is quieter.",
    })
}

/// Lost frames have no time, and queues were full.
fn lossy(loads: &[LoadLatency]) -> Option<Doubt> {
    let lost_at_dut = |load: &LoadLatency| {
        let trials = load.router.counted();
        trials.map(|judged| judged.trial.lost_at_dut()).sum::<u64>()
    };
    let lossy = loads.iter().find(|load| lost_at_dut(load) > 0)?;
    Some(Doubt {
        name: "latency-with-loss",
        weight: Weight::Another(14),
        seen: format!(
            "at {} the DUT lost {} of {} frames",
            lossy.load,
            lost_at_dut(lossy),
            lossy.router.counts().sent
        ),
        why: "Frames that were lost have no latency, and those that came waited in a full queue. RFC 2544 measures at loads without loss.",
        next: "Give a lower load, or a throughput that holds for longer (--throughput).",
    })
}

fn not_measured(loads: &[LoadLatency]) -> Option<Doubt> {
    let load = loads
        .iter()
        .find(|load| load.router.counted().next().is_none())?;
    let last = load.router.trials.last()?;
    let (why, next) = match last.verdict {
        Verdict::NotOffered(_) => (
            "Frames are sent one at a time, which costs the tester more than the batches of a search. It may not reach the throughput.",
            "Give lower loads, or give the tester CPUs of its own (--tester-cpus).",
        ),
        _ => (
            "These trials say nothing of the router.",
            "Stop other programs, and run again when the machine is quieter.",
        ),
    };
    Some(Doubt {
        name: "latency-not-measured",
        weight: Weight::Another(0),
        seen: format!(
            "at {} no trial counts; the last: {}",
            load.load, last.verdict
        ),
        why,
        next,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jobs::Judged;
    use crate::jobs::latency::{LatencyLoad, PathLatency};
    use mpps_method::{Counts, Direction, Disturbed, Rate, Shortfall, Span};

    fn load(lost: u64, disturbed: u64, verdict: Verdict) -> LoadLatency {
        let counts = Counts {
            intended: 10_000,
            sent: 10_000,
            received: 10_000 - lost,
            lost,
            ..Counts::default()
        };
        let trial = Trial {
            duration: Span::from_millis(1_000),
            directions: vec![Direction {
                counts,
                ..Direction::default()
            }],
            disturbed: Disturbed {
                sent: disturbed,
                ..Disturbed::default()
            },
            ..Trial::default()
        };
        let rate = Rate::from_fps(10_000.0);
        LoadLatency {
            asked: LatencyLoad::At(rate),
            load: rate,
            instead_of: None,
            router: PathLatency {
                trials: vec![Judged {
                    number: 1,
                    trial,
                    verdict,
                }],
            },
            bed: None,
        }
    }

    fn names(load: LoadLatency) -> Vec<&'static str> {
        let doubts = latency_doubts(&Surroundings::default(), &[load]);
        doubts.iter().map(|doubt| doubt.name).collect()
    }

    #[test]
    fn latency_is_doubted_for_what_it_is_not() {
        assert!(names(load(0, 10, Verdict::Lossless)).is_empty());
        assert_eq!(names(load(0, 11, Verdict::Lossless)), ["tail-disturbed"]);
        let lossy = load(3, 0, Verdict::Lossy { lost: 3 });
        assert_eq!(names(lossy), ["latency-with-loss"]);
        let short = Verdict::NotOffered(Shortfall::LostAtReceiver(1));
        assert_eq!(names(load(0, 5_000, short)), ["latency-not-measured"]);
    }
}
