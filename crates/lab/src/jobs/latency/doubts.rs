//! Doubts about latency: whether the times are the router's at the load they stand at.

use super::{LoadLatency, PathLatency, TURNS_MIN};
use crate::doubt::{Doubt, Weight, frame_doubts, machine, table, tester, work_doubts};
use crate::search::measurer::Surroundings;
use mpps_method::{Histogram, Span, Trial, Verdict};

/// The worst case is the longest time but for this share of the frames (RFC 8219 section 7.2).
const WORST: f64 = 0.001;

/// What to doubt about the latency at these loads, and why CPUs may have slept that were to stay awake.
pub(super) fn doubts(
    around: &Surroundings,
    loads: &[LoadLatency],
    asleep: Option<String>,
) -> Vec<Doubt> {
    let trials = loads.iter().flat_map(|load| &load.router.trials);
    let trials = trials.map(|judged| (judged.trial.clone(), judged.verdict));
    let trials: Vec<(Trial, Verdict)> = trials.collect();
    let one_each = [
        tail_disturbed(loads),
        lossy(loads),
        not_measured(loads),
        asleep.map(cpus_asleep),
        not_apart(loads),
        in_batches(loads),
        few_trials(loads),
        tester::not_offered(&trials),
    ];
    let mut doubts: Vec<Doubt> = one_each.into_iter().flatten().collect();
    doubts.extend(machine::trial_doubts(around, &trials, &trials));
    doubts.extend(work_doubts(&trials, around.cpus_shared));
    doubts.extend(table::doubts(around.table));
    doubts.extend(frame_doubts(&trials, around.ring_frames));
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
            "at {} the machine disturbed {:.2} % of the frames; a CPU stood still or was slow for up to {}",
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

fn cpus_asleep(why: String) -> Doubt {
    Doubt {
        name: "cpus-asleep",
        weight: Weight::Shifted(16),
        seen: why,
        why: "These times may contain the wake-up of an idle CPU, which takes longer than many a router.",
        next: "Run where the kernel's own /dev/cpu_dma_latency can be written and cpuidle has a state POLL, or ask for sleep (--sleep).",
    }
}

/// At a load where the router's median is no higher than that of the wire, beyond what trials of the wire differ by.
fn not_apart(loads: &[LoadLatency]) -> Option<Doubt> {
    loads.iter().find_map(|load| {
        let median = |latency: &Histogram| latency.quantile(0.5);
        let (router, wire) = (median(&load.router.latency())?, load.bed.as_ref()?);
        let bed = median(&wire.latency())?;
        let spread = |path: &PathLatency| {
            let medians = (path.counted()).filter_map(|judged| median(&judged.trial.latency));
            let medians: Vec<u64> = medians.map(Span::as_nanos).collect();
            let are_few = medians.len() < TURNS_MIN as usize;
            // The beds of two runs differ by so much where nothing shows it; a bucket of the histogram is so wide.
            let least = bed.as_nanos() / if are_few { 2 } else { 32 };
            let range = medians.iter().max()? - medians.iter().min()?;
            // A range is some 4 standard deviations, and the median of more trials is known better.
            let trials = (medians.len() as f64).max(3.0) / 3.0;
            Some(least.max((range as f64 / trials.sqrt()) as u64))
        };
        let noise: u64 = [&load.router, wire].into_iter().filter_map(spread).max()?;
        (router.as_nanos() <= bed.as_nanos() + noise).then(|| Doubt {
            name: "bed-as-slow",
            weight: Weight::Unsure(7),
            seen: format!(
                "at {} half of the frames took up to {router} through the router, up to {bed} through the bed alone",
                load.load
            ),
            why: "The router's part is smaller than the bed's noise.",
            next: "Take the bed's time as a bound of the router's, or measure at a higher load or for longer (--time).",
        })
    })
}

/// Loads whose frames did not leave one at a time.
fn in_batches(loads: &[LoadLatency]) -> Option<Doubt> {
    let counts = |load: &&LoadLatency| load.batch > 1 && load.router.counted().next().is_some();
    let loads = loads.iter().filter(counts);
    let told = loads.map(|load| format!("at {} in batches of up to {}", load.load, load.batch));
    let told: Vec<String> = told.collect();
    (!told.is_empty()).then(|| Doubt {
        name: "sent-in-batches",
        weight: Weight::Shifted(17),
        seen: format!("frames left {}", told.join(", ")),
        why: "The tester could not offer the load asked for one frame at a time. All frames of a batch wait until its last one is written.",
        next: "Read these times beside the bed's, or give the tester CPUs of its own (--tester-cpus).",
    })
}

/// A load for which so few trials count that they do not show by how much equal trials differ.
fn few_trials(loads: &[LoadLatency]) -> Option<Doubt> {
    let counted = |load: &LoadLatency| load.router.counted().count();
    let few = loads.iter().filter(|load| counted(load) > 0);
    let few = few.min_by_key(|load| counted(load))?;
    let (counted, all) = (counted(few), few.router.trials.len());
    (counted < TURNS_MIN as usize && counted < all).then(|| Doubt {
        name: "few-latency-trials",
        weight: Weight::Unsure(8),
        seen: format!("at {} only {counted} of {all} trials count", few.load),
        why: "The others were disturbed, or the tester could not offer their load. So few do not show by how much trials differ.",
        next: "Run again when the machine is quieter, or for longer (--time).",
    })
}

fn not_measured(loads: &[LoadLatency]) -> Option<Doubt> {
    let load = loads
        .iter()
        .find(|load| load.router.counted().next().is_none())?;
    let last = load.router.trials.last()?;
    let (why, next) = match last.verdict {
        Verdict::NotOffered(_) => (
            "Every frame is timed. That costs the tester more than the sampled frames of a search, so it may not reach the throughput.",
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
    use crate::jobs::latency::LatencyLoad;
    use mpps_method::{Counts, Direction, Disturbed, Rate, Shortfall};

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
            batch: 1,
            router: PathLatency {
                trials: vec![Judged {
                    number: 1,
                    trial,
                    verdict,
                }],
                ..PathLatency::default()
            },
            bed: None,
        }
    }

    fn names(load: LoadLatency) -> Vec<&'static str> {
        let doubts = doubts(&Surroundings::default(), &[load], None);
        doubts.iter().map(|doubt| doubt.name).collect()
    }

    #[test]
    fn asleep_cpus_are_doubted() {
        let why = "CPU 1 slept 9000 times in these trials";
        let doubts = doubts(&Surroundings::default(), &[], Some(why.to_owned()));
        assert_eq!((doubts[0].name, &*doubts[0].seen), ("cpus-asleep", why));
    }

    /// A path whose trials have these medians, us.
    fn timed(medians: &[u64]) -> PathLatency {
        let trials = medians.iter().map(|us| {
            let mut judged = load(0, 0, Verdict::Lossless).router.trials.remove(0);
            judged.trial.latency.add(Span::from_nanos(us * 1_000));
            judged
        });
        PathLatency {
            trials: trials.collect(),
            ..PathLatency::default()
        }
    }

    #[test]
    fn a_router_as_fast_as_the_bed_is_doubted() {
        let doubts = |router: &[u64], bed: &[u64]| {
            names(LoadLatency {
                router: timed(router),
                bed: Some(timed(bed)),
                ..load(0, 0, Verdict::Lossless)
            })
        };
        assert_eq!(doubts(&[6], &[7]), ["bed-as-slow"]);
        assert_eq!(doubts(&[100], &[98]), ["bed-as-slow"]);
        assert!(doubts(&[9; 3], &[7; 3]).is_empty());
        // Trials of the wire, or of the router, differ by more than that.
        assert_eq!(doubts(&[9; 3], &[6, 7, 9]), ["bed-as-slow"]);
        assert_eq!(doubts(&[7, 9, 12], &[7; 3]), ["bed-as-slow"]);
        // One trial of each does not show by how much they differ.
        assert_eq!(doubts(&[9], &[7]), ["bed-as-slow"]);
        assert!(doubts(&[12], &[7]).is_empty());
        assert!(doubts(&[10; 3], &[6, 7, 8]).is_empty());
        assert!(doubts(&[6], &[]).is_empty());
    }

    #[test]
    fn latency_is_doubted_for_what_it_is_not() {
        assert!(names(load(0, 10, Verdict::Lossless)).is_empty());
        assert_eq!(names(load(0, 11, Verdict::Lossless)), ["tail-disturbed"]);
        let lossy = load(3, 0, Verdict::Lossy { lost: 3 });
        assert_eq!(names(lossy), ["latency-with-loss"]);
        let short = Verdict::NotOffered(Shortfall::LostAtReceiver(1));
        let in_batches = |verdict| LoadLatency {
            batch: 4,
            ..load(0, 0, verdict)
        };
        assert_eq!(names(in_batches(short)), ["latency-not-measured"]);
        assert_eq!(names(in_batches(Verdict::Lossless)), ["sent-in-batches"]);
        assert_eq!(names(load(0, 5_000, short)), ["latency-not-measured"]);
    }

    #[test]
    fn a_load_with_few_trials_is_doubted() {
        let doubts = |counted: usize, left_out: usize| {
            let short = Verdict::NotOffered(Shortfall::LostAtReceiver(1));
            let verdicts = [vec![Verdict::Lossless; counted], vec![short; left_out]].concat();
            let trials = verdicts.into_iter();
            let trials = trials.flat_map(|verdict| load(0, 0, verdict).router.trials);
            let mut all = load(0, 0, Verdict::Lossless);
            all.router.trials = trials.collect();
            let found = few_trials(&[all]);
            found.map(|doubt| doubt.seen)
        };
        let seen = "at 10.0 kfps only 2 of 7 trials count";
        assert_eq!(doubts(2, 5).as_deref(), Some(seen));
        assert_eq!(
            (doubts(3, 5), doubts(2, 0), doubts(0, 3)),
            (None, None, None)
        );
    }
}
