//! Doubts about the machine and its CPUs: whether they were the same for all trials, and the bed's alone.

use super::{Doubt, Surroundings, Weighed, Weight};
use crate::facts::Change;
use crate::one_run::Holder;
use crate::search::saturation::Saturated;
use crate::traffic::ReceiverPlace;
use mpps_method::distance::{At, is_same_distance};
use mpps_method::interval::Interval;
use mpps_method::saturation::{FrameCost, Saturation};
use mpps_method::{
    CpuTasks, Disturbed, Outcome, Rate, Rules, Span, Trial, Verdict, share_of_turns, speed,
};
use mpps_record::doubts::{DISTANCE_CHANGED, EXIT_UNTIMED, LOST_DISTURBED};

/// Steal above this share can move a result (the quiet machine's bound).
const STEAL_SHARE: f64 = 0.005;
/// Other programs that have more of a CPU in short turns can move a result.
pub(super) const OTHERS_SHARE: f64 = 0.02;
/// More of the time at overload than this in other states is told.
const OTHER_STATE_SHARE: f64 = 0.1;
/// Trials that were disturbed for more than this share may not stand for the rest.
const MUCH_DISTURBED: f64 = 0.1;
/// A router slows its CPU down if fixed work takes so many times as long with it as with the wire.
const SLOWER: f64 = 1.02;
/// So many changed settings are named.
const CHANGES_SHOWN: usize = 4;
pub(super) const QUIETER: &str = "Run again when the machine is quieter. Compare in pairs only.";

pub(super) fn doubts(weighed: &Weighed<'_>) -> Vec<Doubt> {
    let (around, searched) = (weighed.around, weighed.searched);
    // A search may be slow from its first trial on: the gate's trials tell.
    let all = weighed.gated.trials.iter().chain(searched.trials.iter());
    let mut doubts = trial_doubts(around, all, &searched.trials);
    // Of the lossless trials that the result stands on.
    if let Outcome::Found { lossless, .. } = searched.result.outcome {
        doubts.extend(lost_disturbed(&searched.trials, lossless));
    }
    let maximum = weighed.saturated.at_overload();
    let evidence = searched.evidence.as_ref().and_then(At::mostly);
    doubts.extend(distance_changed(
        maximum.and_then(Saturation::state),
        evidence,
    ));
    doubts.extend(maximum.and_then(other_state));
    let cost = weighed.saturated.cost.as_ref();
    doubts.extend(no_cost(weighed.saturated));
    doubts.extend(no_wire(around, weighed.saturated));
    doubts.extend(cost.and_then(few_pairs));
    doubts.extend(cost.and_then(idle_wire));
    doubts.extend(cost.and_then(slower_router));
    doubts.extend(exit_untimed(weighed.saturated, around.receiver));
    doubts
}

/// Whether these trials had the CPUs to themselves, and `all` of them the same speed.
pub(crate) fn trial_doubts<'a>(
    around: &Surroundings,
    all: impl IntoIterator<Item = &'a (Trial, Verdict), IntoIter: Clone>,
    trials: &[(Trial, Verdict)],
) -> Vec<Doubt> {
    let doubts = [
        slowed(all.into_iter().map(|(trial, _)| trial)),
        steal(trials),
        others(trials),
        cpu_shared(around),
        core_shared(around),
    ];
    doubts.into_iter().flatten().collect()
}

fn slowed<'a>(trials: impl Iterator<Item = &'a Trial> + Clone) -> Option<Doubt> {
    let found = speed::slowed(trials)?;
    Some(Doubt {
        name: "cpu-slowed",
        weight: Weight::Shifted(6),
        seen: found.to_string(),
        why: "Its clock was lowered or its core was shared. Stolen time does not show this. The rate and the tester's ceiling both fall.",
        next: QUIETER,
    })
}

fn steal(trials: &[(Trial, Verdict)]) -> Option<Doubt> {
    let shares = trials.iter().flat_map(|(trial, _)| {
        let share = |cpu| trial.stolen_share(cpu);
        trial.steal.iter().map(share)
    });
    let share = shares.fold(0.0, f64::max);
    (share > STEAL_SHARE).then(|| Doubt {
        name: "steal",
        weight: Weight::Shifted(7),
        seen: format!(
            "the hypervisor took {:.1} % of a CPU during a trial",
            share * 100.0
        ),
        why: "The DUT had less CPU time than on a machine of its own.",
        next: QUIETER,
    })
}

/// In the trial that counts with the largest share, or in all of them: in a short one it would be a turn or two. Longer turns are
/// disturbances, which are left out.
fn others(trials: &[(Trial, Verdict)]) -> Option<Doubt> {
    let counting = trials.iter().filter(|(_, verdict)| verdict.counts());
    let each = counting.flat_map(|(trial, _)| {
        let turns = |tasks: &CpuTasks| (*tasks, trial.in_short_turns(tasks), trial.whole());
        trial.other_tasks.iter().map(turns)
    });
    let each: Vec<(CpuTasks, Span, Span)> = each.collect();
    let all_of = |tasks: &CpuTasks| {
        let of_cpu = each.iter().filter(|(other, ..)| other.cpu == tasks.cpu);
        of_cpu.fold(Default::default(), |(time, length): (Span, Span), turns| {
            (time.plus(turns.1), length.plus(turns.2))
        })
    };
    let shares = each.iter().flat_map(|(tasks, time, length)| {
        let all = all_of(tasks);
        let shares = [
            (share_of_turns(all.0, all.1), "all trials"),
            (share_of_turns(*time, *length), "a trial"),
        ];
        shares.map(|(share, during)| (share, during, tasks))
    });
    let (share, during, tasks) =
        shares.max_by(|a, b| a.0.total_cmp(&b.0).then(a.2.total.cmp(&b.2.total)))?;
    (share > OTHERS_SHARE).then(|| Doubt {
        name: "other-programs",
        weight: Weight::Shifted(7),
        seen: format!(
            "other programs ({}) had {:.1} % of CPU {} in short turns during {during}",
            tasks.culprit,
            share * 100.0,
            tasks.cpu
        ),
        why: "The router or the tester had less CPU time than on a machine of its own.",
        next: QUIETER,
    })
}

pub(super) fn cpu_shared(around: &Surroundings) -> Option<Doubt> {
    around.cpus_shared.then(|| Doubt {
        name: "cpu-shared",
        weight: Weight::Shifted(0),
        seen: "tester and DUT share a CPU".to_owned(),
        why: "The DUT gets the time that the tester leaves. The rate is that of router and tester together.",
        next: "Give --tester-cpus and --dut-cpus different CPUs, on a machine that has them.",
    })
}

fn core_shared(around: &Surroundings) -> Option<Doubt> {
    let (dut, tester) = around.core_shared?;
    Some(Doubt {
        name: "core-shared",
        weight: Weight::Shifted(8),
        seen: format!("CPU {dut} (DUT) and CPU {tester} (tester) are threads of one core"),
        why: "Each takes a third or more of the core's speed from the other. Alone the DUT does more.",
        next: "Give --dut-cpus and --tester-cpus cores of their own (lscpu -e), or switch SMT off.",
    })
}

/// Of the lossless trials at a load: frames that were lost, or left unsent, while the machine disturbed them count for
/// nothing.
pub(super) fn lost_disturbed(trials: &[(Trial, Verdict)], load: Rate) -> Option<Doubt> {
    let (disturbed, length) = spoilt_at(trials, load)?;
    let times = match disturbed.times {
        1 => "1 disturbance".to_owned(),
        times => format!("{times} disturbances"),
    };
    let (lost, unsent) = (disturbed.lost.unwrap_or(0), disturbed.unsent);
    let share = disturbed.time.as_secs_f64() / length.as_secs_f64();
    Some(Doubt {
        name: LOST_DISTURBED,
        weight: match lost > 0 || share > MUCH_DISTURBED {
            true => Weight::Shifted(1),
            false => Weight::Unsure(9),
        },
        seen: format!(
            "{lost} lost and {unsent} unsent frames in {times} do not count; the disturbances took {:.1} % of the time, and \
            lossless trials lost no other frame",
            100.0 * share
        ),
        why: "The machine took a CPU from the router or the tester at that time, or slowed it. These frames say nothing about the router.",
        next: "Run again when the machine is quieter. The trials in the record have details: `stalls`, `slow`, `others`, `disturbed`.",
    })
}

/// What fell into the disturbances of the lossless trials at this load, and the trials' length together; `None` where no
/// frame was lost in them, and no more left unsent than any trial may leave.
fn spoilt_at(trials: &[(Trial, Verdict)], load: Rate) -> Option<(Disturbed, Span)> {
    let (mut disturbed, mut length, mut slots) = (Disturbed::default(), Span::ZERO, 0);
    let stands = |(trial, verdict): &&(Trial, Verdict)| {
        trial.offered == load && *verdict == Verdict::Lossless
    };
    for (trial, _) in trials.iter().filter(stands) {
        slots += trial.counts().intended;
        disturbed.times += trial.disturbed.times;
        disturbed.time = disturbed.time.plus(trial.disturbed.time);
        disturbed.unsent += trial.disturbed.unsent;
        disturbed.lost = Some(disturbed.lost.unwrap_or(0) + trial.lost_disturbed());
        length = length.plus(trial.duration);
    }
    let unsent_max = Rules::default().unsent_max * slots as f64;
    let spoilt = disturbed.lost.unwrap_or(0) > 0 || disturbed.unsent as f64 > unsent_max;
    spoilt.then_some((disturbed, length))
}

/// Doubts effects if disturbed windows, which are left out, took much of the time of all windows.
pub(crate) fn much_disturbed(disturbed: Span, all: Span) -> Option<Doubt> {
    let share = disturbed.as_secs_f64() / all.as_secs_f64();
    (share > MUCH_DISTURBED).then(|| Doubt {
        name: "much-disturbed",
        weight: Weight::Unsure(9),
        seen: format!(
            "{:.0} % of the time at overload was left out beside disturbances",
            100.0 * share
        ),
        why: "The machine took or slowed a CPU of the router or the tester. The effects hold for the undisturbed time only.",
        next: QUIETER,
    })
}

/// Whether the rate at overload and the one without loss were measured in two states of the machine: at overload, and in
/// the trial that the result stands on.
fn distance_changed(overload: Option<At>, trial: Option<At>) -> Option<Doubt> {
    let (overload, trial) = overload.zip(trial)?;
    let are_apart = !is_same_distance(overload.round_trip_ns, trial.round_trip_ns);
    let (what, before, after) = match overload.work_ns.zip(trial.work_ns) {
        Some((before, after)) if !are_apart => {
            ("fixed work on the router's CPU took", before, after)
        }
        _ => (
            "the CPU distance was",
            overload.round_trip_ns,
            trial.round_trip_ns,
        ),
    };
    (!overload.is_same(&trial)).then(|| Doubt {
        name: DISTANCE_CHANGED,
        weight: Weight::Shifted(0),
        seen: format!(
            "{what} {before:.0} ns at overload, {after:.0} ns in the trial without loss"
        ),
        why: "A frame costs more where the round trip or the work takes longer. The two rates cannot be compared.",
        next: "Run again. The record has round_trip_ns and work_ns of each trial.",
    })
}

/// Whether the maximum forwarding rate leaves out much of the time, for the machine was in another state.
fn other_state(maximum: &Saturation) -> Option<Doubt> {
    let share = maximum.other_state_share;
    (share > OTHER_STATE_SHARE).then(|| Doubt {
        name: "other-state",
        weight: match is_within(maximum) {
            true => Weight::Unsure(8),
            false => Weight::Shifted(2),
        },
        seen: format!(
            "{:.0} % of the time at overload was in another state{}; it does not count",
            100.0 * share,
            forwarded_elsewhere(maximum)
        ),
        why: "Another guest on the core slows the router. So does a larger CPU distance. The maximum is that of one such state.",
        next: "Compare only results in similar states. Dedicated cores keep one state.",
    })
}

/// Whether the router forwarded nearly the same in the other states: no further off than half of what the result's own
/// interval allows.
fn is_within(maximum: &Saturation) -> bool {
    let Interval { low, middle, high } = maximum.forwarding;
    let apart = maximum.other_state_fps.map(|fps| (fps - middle).abs());
    apart.is_some_and(|apart| apart <= (high - low) / 4.0)
}

fn forwarded_elsewhere(maximum: &Saturation) -> String {
    let Some(fps) = maximum.other_state_fps else {
        return String::new();
    };
    let percent = 100.0 * (fps / maximum.forwarding.middle - 1.0);
    if percent.abs() < 0.5 {
        return " (as much forwarded)".to_owned();
    }
    let than = match percent.is_sign_negative() {
        true => "less",
        false => "more",
    };
    format!(" ({:.0} % {than} forwarded)", percent.abs())
}

fn no_cost(saturated: &Saturated) -> Option<Doubt> {
    let (wires, has_cost) = (saturated.wire_trials, saturated.cost.is_some());
    (wires > 0 && !has_cost && saturated.withheld_ns.is_none()).then(|| Doubt {
        name: "no-cost",
        weight: Weight::Unsure(1),
        seen: format!(
            "the cost of a frame is not known: of {wires} trials through a wire too few are undisturbed and match the router's"
        ),
        why: "The cost compares router and wire in like trials only.",
        next: QUIETER,
    })
}

/// Other doubts say so of a device and of a simulated pair.
fn no_wire(around: &Surroundings, saturated: &Saturated) -> Option<Doubt> {
    let is_told = around.closed || around.simulated.is_some();
    let is_laid = saturated.at_most.is_none() || saturated.wire_trials > 0;
    (!is_told && !is_laid).then(|| Doubt {
        name: "no-wire",
        weight: Weight::Unsure(0),
        seen: format!(
            "{}, so the parts of a frame's cost are unknown",
            around.why_no_wire()
        ),
        why: "Nothing tells what virtual NIC and cable cost. The tester's ceiling is its sender's alone.",
        next: match around.egress {
            Some(_) => "Measure without it, or let mpps compare tell what it costs.",
            None => "Load the modules or take a newer kernel.",
        },
    })
}

fn few_pairs(cost: &FrameCost) -> Option<Doubt> {
    cost.has_few_pairs().then(|| Doubt {
        name: "few-cost-pairs",
        weight: Weight::Unsure(1),
        seen: format!("the cost of a frame stands on {} pairs of trials", cost.pairs),
        why: "The other pairs do not count: the CPUs were in another state, or the machine disturbed them. The interval is the range of these pairs.",
        next: QUIETER,
    })
}

fn idle_wire(cost: &FrameCost) -> Option<Doubt> {
    (!cost.wire_overloaded).then(|| Doubt {
        name: "wire-not-overloaded",
        weight: Weight::Shifted(2),
        seen: "the wire in place of the router was not overloaded: the tester reached its limit first".to_owned(),
        why: "A CPU with time left sleeps and wakes up more often, so a frame costs it more. The bed's part of a frame's cost is too large, the router's too small.",
        next: "Use --receiver exit, where the wire is overloaded.",
    })
}

fn slower_router(cost: &FrameCost) -> Option<Doubt> {
    let slower = cost.slower.filter(|slower| *slower >= SLOWER)?;
    Some(Doubt {
        name: "router-slows-cpu",
        weight: Weight::Shifted(2),
        seen: format!(
            "the router's CPU took {:.0} % longer for a fixed piece of work with the router than with the wire",
            100.0 * (slower - 1.0)
        ),
        why: "A router that waits for memory, as with a full table, slows its CPU down. That cost is in the router's \
            part of a frame's cost. So is a change of the machine between the trials.",
        next: "Compare the costs of two tables only where this share is alike.",
    })
}

pub(crate) fn exit_untimed(
    saturated: &Saturated,
    receiver: Option<ReceiverPlace>,
) -> Option<Doubt> {
    let is_meant = receiver == Some(ReceiverPlace::Exit) && saturated.cost.is_some();
    (is_meant && saturated.exit_program.is_none()).then(|| Doubt {
        name: EXIT_UNTIMED,
        weight: Weight::Unsure(1),
        seen: "the receiver's program could not be timed; the router's part of a frame's cost may be too small"
            .to_owned(),
        why: "Through a wire that program is the first to read a frame's headers. The time that it waits for them is \
            then in the bed's part.",
        next: "Run again when the machine is quieter. The kernel has to time eBPF programs (BPF_ENABLE_STATS, Linux 5.8).",
    })
}

/// Settings of the whole machine that changed between the bed's raising and the result; `None` without any.
#[must_use]
pub fn host_changed(changes: &[Change]) -> Option<Doubt> {
    let shown: Vec<String> = changes
        .iter()
        .take(CHANGES_SHOWN)
        .map(Change::to_string)
        .collect();
    let more = match changes.len().saturating_sub(CHANGES_SHOWN) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    (!changes.is_empty()).then(|| Doubt {
        name: "host-changed",
        weight: Weight::Another(8),
        seen: format!("settings of the host changed during the run: {}{more}", shown.join(", ")),
        why: "The set-up script or another program changed them. The facts in the record may be wrong for some trials.",
        next: match changes.iter().all(Change::is_of_interrupt) {
            true => "Stop irqbalance, or whatever else moves interrupts, for as long as mpps measures.",
            false => "Undo unwanted changes yourself. Lowering the bed does not undo them.",
        },
    })
}

/// Another run of mpps measured on this host.
#[must_use]
pub fn other_run(holder: &Holder) -> Doubt {
    Doubt {
        name: "other-run",
        weight: Weight::Another(7),
        seen: format!("another run measured on this host: {holder}"),
        why: "Each run takes CPU time, caches and memory from the other.",
        next: "Run the same without --share. It then waits until the other run has ended.",
    }
}

#[cfg(test)]
mod tests;
