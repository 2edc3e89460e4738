//! Doubts about where the time of a frame goes.

use super::{Doubt, Surroundings, Weight, frame_doubts, overload_doubts, search, work_doubts};
use crate::profile::Completeness;
use mpps_linux::perf::NO_PMU;
use mpps_method::stage::enables_interrupts;
use mpps_method::{CpuSteal, Trial, Verdict, statistics};
use mpps_record::{FoldedStack, ProfileLine, ProfiledLoad, ProfiledWire};

/// Samples that cover less of the busy time leave the split unsure.
const COVERED_MIN: f64 = 0.99;
/// The self-test has some 300 samples, too few for that: chance alone moves its share by a percent.
const SEEN_MIN: f64 = 0.98;
/// More of the time without a place is too much.
const UNCLASSIFIED_MAX: f64 = 0.01;
/// More of the cycles than this in functions that enable interrupts is too much.
const ENABLING_MAX: f64 = 0.03;
/// Looking may lower the rate by this.
const LOOKING_MAX: f64 = 0.02;
/// The router's CPU is slowed down if fixed work takes more than this multiple of its time at full speed.
const SLOWED: f64 = 1.1;
/// Full speed is this quantile of its time over all windows.
const FULL_SPEED: f64 = 0.03;
/// As many pairs as trials by default: all of them lie below by chance once in 32 times. Fewer say less.
const LOOKING_PAIRS: u32 = 5;

/// What the rules look at.
pub struct ProfileDoubts<'a> {
    /// The tester's surroundings.
    pub around: &'a Surroundings,
    /// The profile.
    pub line: &'a ProfileLine,
    /// The self-test of each CPU.
    pub tested: &'a [Completeness],
    /// Whether its CPU keeps the router from forwarding more.
    pub is_cpu: bool,
    /// How often the kernel stopped the sampling.
    pub throttled: u64,
    /// Why samples come by a timer; `None` where they come by cycles.
    pub why_timer: Option<&'a str>,
    /// Trials that were void, and all.
    pub void: (u32, u32),
    /// What a frame cost in the saturated trials at another CPU distance, which are left out, ns.
    pub elsewhere: &'a [f64],
    /// Those that count.
    pub trials: &'a [(Trial, Verdict)],
}

/// Every doubt about a profile.
#[must_use]
pub fn profile_doubts(weighed: &ProfileDoubts<'_>) -> Vec<Doubt> {
    let saturated = weighed.line.loads.first();
    let one_each = [
        saturated.and_then(|load| missing(load, weighed.line.clock.as_deref(), weighed.trials)),
        saturated.and_then(unclassified),
        (weighed.line.clock.as_deref() == Some("cycles"))
            .then(|| late_cycles(&weighed.line.stacks))
            .flatten(),
        throttled(weighed.throttled),
        (!weighed.is_cpu).then(not_saturated),
        self_test(weighed.tested),
        idle(weighed.tested, weighed.line),
        looking(weighed.line),
        saturated.and_then(few_trials),
        saturated.and_then(|load| elsewhere(load, weighed.elsewhere)),
        saturated.and_then(|load| slowed(load, weighed.trials)),
        weighed.line.wire.as_deref().and_then(parts_apart),
        search::voided(
            weighed.void.0,
            weighed.void.1,
            weighed.trials.iter().map(|(_, verdict)| verdict),
        ),
        (weighed.line.clock.as_deref() == Some("cpu-clock")).then(|| by_timer(weighed.why_timer)),
    ];
    let mut doubts: Vec<Doubt> = one_each.into_iter().flatten().collect();
    doubts.extend(overload_doubts(weighed.around));
    doubts.extend(work_doubts(weighed.trials, weighed.around.cpus_shared));
    doubts.extend(frame_doubts(weighed.trials, weighed.around.ring_frames));
    doubts
}

fn missing(load: &ProfiledLoad, clock: Option<&str>, trials: &[(Trial, Verdict)]) -> Option<Doubt> {
    let share = load.seen_share.filter(|share| *share < COVERED_MIN)?;
    let was_stolen = |(trial, _): &(Trial, Verdict)| {
        let is_duts = |steal: &CpuSteal| trial.busy.iter().any(|busy| busy.cpu == steal.cpu);
        (trial.steal.iter()).any(|steal| steal.steal_ns > 0 && is_duts(steal))
    };
    let percent = share * 100.0;
    Some(Doubt {
        name: "samples-missing",
        weight: Weight::Unsure(1),
        seen: match clock {
            Some("cycles") => format!("{percent:.1} % of the samples due at saturation came"),
            _ => format!(
                "samples cover {percent:.1} % of the time that the router was busy at saturation"
            ),
        },
        why: match trials.iter().any(was_stolen) {
            true => {
                "Code that ran in the rest of the time may be split in another way. The hypervisor took the router's CPU \
                 away meanwhile, which leaves such gaps."
            }
            false => "Code that ran in the rest of the time may be split in another way.",
        },
        next: "Run again when the machine is quieter.",
    })
}

fn unclassified(load: &ProfiledLoad) -> Option<Doubt> {
    let names: Vec<&str> = load
        .unplaced
        .iter()
        .map(|one| one.function.as_str())
        .collect();
    (load.unclassified_share > UNCLASSIFIED_MAX).then(|| Doubt {
        name: "unclassified",
        weight: Weight::Unsure(2),
        seen: format!(
            "no rule places {:.1} % of the time: {}",
            load.unclassified_share * 100.0,
            names
                .get(..names.len().min(3))
                .unwrap_or_default()
                .join(", ")
        ),
        why: "This time is counted as other, although it may be of another stage.",
        next: "Read the flame graph for the callers of these functions.",
    })
}

/// Functions that enable interrupts take next to no time. Samples that no NMI takes fire there, late.
fn late_cycles(stacks: &[FoldedStack]) -> Option<Doubt> {
    let is_there = |stack: &&FoldedStack| {
        let ran = stack.frames.rsplit(';').next();
        ran.is_some_and(enables_interrupts)
    };
    let whole: f64 = stacks.iter().map(|stack| stack.ns).sum();
    let there: f64 = stacks.iter().filter(is_there).map(|stack| stack.ns).sum();
    (there > ENABLING_MAX * whole).then(|| Doubt {
        name: "samples-late",
        weight: Weight::Unsure(1),
        seen: format!(
            "{:.1} % of the cycles are in functions that enable interrupts",
            there / whole * 100.0
        ),
        why: "The PMU's samples seem to be no NMIs. Then code that turned interrupts off has its time in these functions.",
        next: "Read the flame graph: the time belongs to the callers of these functions.",
    })
}

fn throttled(times: u64) -> Option<Doubt> {
    (times > 0).then(|| Doubt {
        name: "sampling-throttled",
        weight: Weight::Unsure(0),
        seen: format!(
            "the kernel stopped the sampling {times} times, because samples took too long"
        ),
        why: "Code that ran until it sampled again is missing from the split.",
        next: "Run `sysctl kernel.perf_event_max_sample_rate=100000 kernel.perf_cpu_time_max_percent=0` and measure again.",
    })
}

fn not_saturated() -> Doubt {
    Doubt {
        name: "not-saturated",
        weight: Weight::Another(3),
        seen: "the router's CPU was not the limit".to_owned(),
        why: "A frame costs more at loads below saturation, because fewer frames share a wake-up.",
        next: "Give the router fewer CPUs (--dut-cpus), or receive at its exit (--receiver exit).",
    }
}

fn self_test(tested: &[Completeness]) -> Option<Doubt> {
    let share = |cpu: &Completeness| cpu.busy.share();
    let worst = tested.iter().filter_map(share).min_by(f64::total_cmp)?;
    (worst < SEEN_MIN).then(|| Doubt {
        name: "samples-lost",
        weight: Weight::Unsure(4),
        seen: format!(
            "a CPU that only spun gave {:.1} % of its samples before the measurement",
            worst * 100.0
        ),
        why: "The machine takes the CPU away, or stops its timer.",
        next: "Run again when the machine is quieter.",
    })
}

/// Only of loads below saturation: nothing else is measured while a CPU idles.
fn idle(tested: &[Completeness], line: &ProfileLine) -> Option<Doubt> {
    let shares = tested.iter().filter_map(|cpu| cpu.idle.share());
    let worst = shares.min_by(f64::total_cmp)?;
    let has_lower = line.loads.len() > 1 && line.clock.as_deref() == Some("cpu-clock");
    (has_lower && worst < SEEN_MIN).then(|| Doubt {
        name: "idle-samples-lost",
        weight: Weight::Footnote(2, "samples see less at lower loads, where a CPU idles"),
        seen: format!(
            "before the trials an idle CPU gave only {:.1} % of the samples expected",
            worst * 100.0
        ),
        why: "The timer of an idle CPU is late, so at loads below saturation samples miss work after a wake-up.",
        next: "Read the stages of the saturated load. The last column of the loads says how much was seen at each.",
    })
}

fn few_trials(load: &ProfiledLoad) -> Option<Doubt> {
    load.has_few_trials().then(|| Doubt {
        name: "few-trials",
        weight: Weight::Unsure(0),
        seen: format!(
            "the profile stands on {} saturated {}",
            load.trials.len(),
            match load.trials.len() {
                1 => "trial",
                _ => "trials",
            }
        ),
        why: "Intervals of stages come from its samples alone. They do not tell how far trials differ.",
        next: "Run again with more --trials, or when the machine is quieter.",
    })
}

fn looking(line: &ProfileLine) -> Option<Doubt> {
    let looking = line.looking.as_ref()?;
    let ratio = looking.ratio;
    (looking.pairs >= LOOKING_PAIRS && ratio.high < 1.0 - LOOKING_MAX).then(|| Doubt {
        name: "cost-of-looking",
        weight: Weight::Shifted(5),
        seen: format!(
            "the router forwarded {:.1} % less while it was sampled",
            (1.0 - ratio.median) * 100.0
        ),
        why: "The cost of a frame contains the samples' own.",
        next: "Compare profiles with each other, and rates of `mpps throughput` with each other.",
    })
}

fn elsewhere(load: &ProfiledLoad, frame_ns: &[f64]) -> Option<Doubt> {
    let (left_out, kept) = (frame_ns.len(), load.trials.len());
    let ns = statistics::mean(frame_ns)?;
    Some(Doubt {
        name: "trials-elsewhere",
        weight: Weight::Shifted(2),
        seen: format!(
            "{left_out} of {} saturated trials were at another CPU distance, or it changed in them: a frame cost {ns:.0} ns in place of {:.0} ns",
            left_out + kept,
            load.frame_ns.median
        ),
        why: "The costs are those of one distance. The hypervisor moves its CPUs, and then both costs occur.",
        next: "Run again. The record has the distance of each trial.",
    })
}

/// Whether the costs are those of a slow state of the machine.
fn slowed(load: &ProfiledLoad, trials: &[(Trial, Verdict)]) -> Option<Doubt> {
    let windows = trials.iter().flat_map(|(trial, _)| &trial.windows);
    let works = windows
        .filter(|window| !window.disturbed)
        .filter_map(|window| Some(window.work_ns? as f64));
    let works: Vec<f64> = works.collect();
    let fastest_ns = statistics::quantile(&works, FULL_SPEED).filter(|ns| *ns > 0.0)?;
    let work_ns = load.work_ns.filter(|ns| *ns > SLOWED * fastest_ns)?;
    Some(Doubt {
        name: "slow-state",
        weight: Weight::Shifted(2),
        seen: format!(
            "fixed work took {work_ns:.0} ns in the saturated trials, {fastest_ns:.0} ns at its fastest"
        ),
        why: "The CPU's clock was lowered, or its core was shared. A stage then costs more, by up to the square of the ratio of these two times.",
        next: "Compare only results in similar states. Dedicated cores keep one state.",
    })
}

fn parts_apart(wire: &ProfiledWire) -> Option<Doubt> {
    let (sampled, plain) = (wire.router_ns, wire.unsampled_router_ns?);
    let meets = sampled.low <= plain.high && plain.low <= sampled.high;
    (!meets).then(|| Doubt {
        name: "parts-apart",
        weight: Weight::Shifted(3),
        seen: format!(
            "the router's part by stages is {:.0} ns ({:.0} to {:.0}), and {:.0} ns ({:.0} to {:.0}) without samples",
            sampled.median, sampled.low, sampled.high, plain.median, plain.low, plain.high
        ),
        why: "The second is what `mpps throughput` calls the router's part. Both are of one bed, so the machine changed meanwhile, or sampling costs the router more than the wire.",
        next: "Run again with more --trials.",
    })
}

fn by_timer(why: Option<&str>) -> Doubt {
    let (footnote, told, next) = match why {
        Some(NO_PMU) => (
            "a timer samples, because there is no PMU",
            "this machine has no PMU".to_owned(),
            "Measure on a machine with a PMU to see this code itself.",
        ),
        Some(why) => (
            "a timer samples, because the PMU's cycles could not be sampled",
            format!("the PMU's cycles could not be sampled: {why}"),
            "Mend the error above, then run again.",
        ),
        None => (
            "a timer samples, because the PMU's cycles gave no samples",
            "cycles gave no samples in the trials, though they did before".to_owned(),
            "Run again.",
        ),
    };
    Doubt {
        name: "no-pmu",
        weight: Weight::Footnote(1, footnote),
        seen: format!("samples come from a timer (cpu-clock), because {told}"),
        why: "Code that runs with interrupts off is sampled where it enables them again; such samples are given to \
            the function that had turned them off.",
        next,
    }
}

#[cfg(test)]
mod tests;
