//! A trial's line: every count it left behind.

use super::losses::LossesEntry;
use mpps_lab::jobs::Report;
use mpps_method::{
    Canaries, Counts, CpuSpeed, CpuTasks, CpuWork, Direction, Disturbance, Disturbed, Histogram,
    Ledger, Span, Trial, Verdict,
};
use serde::Serialize;

/// One trial.
#[derive(Serialize)]
pub struct TrialLine {
    /// From 1, in the order they were run; results refer to it.
    pub trial: u32,
    frame: String,
    phase: &'static str,
    offered_fps: f64,
    duration_ns: u64,
    /// What it was to last, where it was ended because it could not offer its load any more; else null.
    cut_short_from_ns: Option<u64>,
    verdict: &'static str,
    /// The verdict in words, with the numbers it stands on.
    verdict_text: String,
    sender_ended: bool,
    directions: Vec<DirectionEntry>,
    /// Received, but long after the trial; over 1 % of those sent count as lost.
    overdue_frames: u64,
    losses: Vec<LossesEntry>,
    busy: Vec<BusyEntry>,
    work: Vec<WorkEntry>,
    steal: Vec<StealEntry>,
    gaps: Vec<GapEntry>,
    /// When CPUs stood still, since the first slot.
    stalls: Vec<StallEntry>,
    /// When other programs had a CPU of the bed for long.
    others: Vec<StallEntry>,
    /// What fell into these times and the guards behind them: it counts for nothing.
    disturbed: DisturbedEntry,
    /// The round trip of a cache line between the tester's CPU and the DUT's; null where nobody timed it.
    exchange_before_ns: Option<u64>,
    exchange_after_ns: Option<u64>,
    other_tasks: Vec<TasksEntry>,
    /// The same of the router's own tasks, which void nothing.
    dut_tasks: Vec<TasksEntry>,
    speeds: Vec<SpeedEntry>,
    lateness: Quantiles,
    latency: Quantiles,
    largest_burst_frames: u64,
    per_size: Vec<SizeEntry>,
    per_queue_frames: Vec<u64>,
    /// Counted by the DUT's own IP layer, canaries included; null where it does not tell.
    dut_forwarded_packets: Option<u64>,
    dut_no_route_packets: Option<u64>,
}

#[derive(Serialize)]
struct DirectionEntry {
    intended_frames: u64,
    sent_frames: u64,
    unsent_frames: u64,
    received_frames: u64,
    /// To where the DUT has no route on purpose: dropped by it for that, and no loss.
    unrouted_frames: u64,
    lost_frames: u64,
    duplicated_frames: u64,
    reordered_frames: u64,
    foreign_frames: u64,
    late_frames: u64,
    beyond_frames: u64,
    /// Of those timed, frames whose TTL or hop limit was not lowered.
    not_lowered_frames: u64,
    /// At the DUT's exit, merged into larger ones.
    merged_frames: u64,
    ledger: LedgerEntry,
}

#[derive(Serialize)]
struct LedgerEntry {
    sent_frames: u64,
    lost_before_nic_frames: u64,
    nic_received_frames: Option<u64>,
    lost_nic_ring_frames: u64,
    nic_accepted_frames: Option<u64>,
    lost_in_dut_frames: u64,
    dut_transmitted_frames: Option<u64>,
    lost_receiver_ring_frames: u64,
    /// Past the receiver at the DUT's exit.
    passed_exit_frames: u64,
    receiver_total_frames: u64,
    opening: CanaryEntry,
    closing: CanaryEntry,
}

#[derive(Serialize)]
struct CanaryEntry {
    sent_frames: u64,
    received_frames: u64,
}

#[derive(Serialize)]
struct BusyEntry {
    cpu: usize,
    run_ns: u64,
    wait_ns: u64,
}

/// A CPU of the machine, whoever had it.
#[derive(Serialize)]
struct WorkEntry {
    cpu: usize,
    busy_ns: u64,
    softirq_ns: u64,
    /// Null where the tester's own frames are among them.
    stack_packets: Option<u64>,
}

impl WorkEntry {
    /// Of the trial's CPUs, those that did anything.
    fn from_trial(trial: &Trial) -> Vec<Self> {
        let worked = trial
            .work
            .iter()
            .filter(|cpu| cpu.busy_ns > 0 || cpu.stack_packets != Some(0));
        let entry = |work: &CpuWork| Self {
            cpu: work.cpu,
            busy_ns: work.busy_ns,
            softirq_ns: work.softirq_ns,
            stack_packets: work.stack_packets,
        };
        worked.map(entry).collect()
    }
}

#[derive(Serialize)]
struct StealEntry {
    cpu: usize,
    steal_ns: u64,
}

#[derive(Serialize)]
struct GapEntry {
    cpu: usize,
    longest_ns: u64,
}

#[derive(Serialize)]
struct StallEntry {
    cpu: usize,
    from_ns: u64,
    to_ns: u64,
}

impl StallEntry {
    fn new(stall: &Disturbance) -> Self {
        Self {
            cpu: stall.cpu,
            from_ns: stall.from.as_nanos(),
            to_ns: stall.to.as_nanos(),
        }
    }
}

#[derive(Serialize)]
struct DisturbedEntry {
    times: u32,
    time_ns: u64,
    sent_frames: u64,
    unsent_frames: u64,
    /// Lost of those sent then; null where nobody knows.
    lost_frames: Option<u64>,
}

impl DisturbedEntry {
    fn of(disturbed: &Disturbed) -> Self {
        Self {
            times: disturbed.times,
            time_ns: disturbed.time.as_nanos(),
            sent_frames: disturbed.sent,
            unsent_frames: disturbed.unsent,
            lost_frames: disturbed.lost,
        }
    }
}

#[derive(Serialize)]
struct TasksEntry {
    cpu: usize,
    longest_ns: u64,
    total_ns: u64,
    /// Whose the longest was.
    longest_by: String,
}

impl TasksEntry {
    fn from_tasks(tasks: &CpuTasks) -> Self {
        Self {
            cpu: tasks.cpu,
            longest_ns: tasks.longest.as_nanos(),
            total_ns: tasks.total.as_nanos(),
            longest_by: tasks.culprit.to_string(),
        }
    }
}

/// What the same piece of work took before and after the trial.
#[derive(Serialize)]
struct SpeedEntry {
    cpu: usize,
    before_ns: u64,
    after_ns: u64,
}

impl SpeedEntry {
    fn of(speed: &CpuSpeed) -> Self {
        Self {
            cpu: speed.cpu,
            before_ns: speed.before.as_nanos(),
            after_ns: speed.after.as_nanos(),
        }
    }
}

/// Upper ends of histogram buckets (at most 1/32 too high); null when nothing was timed.
#[derive(Serialize)]
struct Quantiles {
    timed_frames: u64,
    p50_ns: Option<u64>,
    p90_ns: Option<u64>,
    p99_ns: Option<u64>,
    p999_ns: Option<u64>,
    max_ns: Option<u64>,
}

#[derive(Serialize)]
struct SizeEntry {
    frame_octets: u16,
    sent_frames: u64,
    received_frames: u64,
}

impl TrialLine {
    /// The line of the `trial`-th trial.
    #[must_use]
    pub fn of(trial: u32, report: &Report<'_>) -> Self {
        let (raw, verdict) = (report.trial, report.verdict);
        Self {
            trial,
            frame: report.frames.to_string(),
            phase: report.phase.name(),
            offered_fps: raw.offered.fps(),
            duration_ns: raw.duration.as_nanos(),
            cut_short_from_ns: raw.cut_short_from.map(Span::as_nanos),
            verdict: verdict_name(verdict),
            verdict_text: verdict.to_string(),
            sender_ended: raw.sender_ended,
            directions: raw.directions.iter().map(direction).collect(),
            overdue_frames: raw.overdue,
            losses: raw.losses.iter().map(LossesEntry::of).collect(),
            busy: raw
                .busy
                .iter()
                .map(|busy| BusyEntry {
                    cpu: busy.cpu,
                    run_ns: busy.run_ns,
                    wait_ns: busy.wait_ns,
                })
                .collect(),
            work: WorkEntry::from_trial(raw),
            steal: raw
                .steal
                .iter()
                .map(|one| StealEntry {
                    cpu: one.cpu,
                    steal_ns: one.steal_ns,
                })
                .collect(),
            gaps: raw
                .gaps
                .iter()
                .map(|gap| GapEntry {
                    cpu: gap.cpu,
                    longest_ns: gap.longest.as_nanos(),
                })
                .collect(),
            stalls: raw.stalls.iter().map(StallEntry::new).collect(),
            others: raw.others.iter().map(StallEntry::new).collect(),
            disturbed: DisturbedEntry::of(&raw.disturbed),
            exchange_before_ns: raw.exchange.map(|exchange| exchange.before.as_nanos()),
            exchange_after_ns: raw.exchange.map(|exchange| exchange.after.as_nanos()),
            other_tasks: raw.other_tasks.iter().map(TasksEntry::from_tasks).collect(),
            dut_tasks: raw.dut_tasks.iter().map(TasksEntry::from_tasks).collect(),
            speeds: raw.speeds.iter().map(SpeedEntry::of).collect(),
            lateness: quantiles(&raw.lateness),
            latency: quantiles(&raw.latency),
            largest_burst_frames: raw.largest_burst,
            per_size: raw
                .per_size
                .iter()
                .map(|size| SizeEntry {
                    frame_octets: size.frame.octets(),
                    sent_frames: size.sent,
                    received_frames: size.received,
                })
                .collect(),
            per_queue_frames: raw.per_queue.clone(),
            dut_forwarded_packets: raw.stack.map(|stack| stack.forwarded),
            dut_no_route_packets: raw.stack.map(|stack| stack.no_route),
        }
    }
}

/// The word for a verdict.
#[must_use]
pub fn verdict_name(verdict: &Verdict) -> &'static str {
    match verdict {
        Verdict::Lossless => "lossless",
        Verdict::Lossy { .. } => "lossy",
        Verdict::NotOffered(_) => "not-offered",
        Verdict::Invalid(_) => "invalid",
        Verdict::Void(_) => "void",
    }
}

// Both are taken apart in full, so that a count added to the method cannot be forgotten here.

fn direction(Direction { counts, ledger }: &Direction) -> DirectionEntry {
    let &Counts {
        intended,
        sent,
        unsent,
        received,
        unrouted,
        lost,
        duplicated,
        reordered,
        foreign,
        late,
        beyond,
        not_lowered,
        merged,
    } = counts;
    DirectionEntry {
        intended_frames: intended,
        sent_frames: sent,
        unsent_frames: unsent,
        received_frames: received,
        unrouted_frames: unrouted,
        lost_frames: lost,
        duplicated_frames: duplicated,
        reordered_frames: reordered,
        foreign_frames: foreign,
        late_frames: late,
        beyond_frames: beyond,
        not_lowered_frames: not_lowered,
        merged_frames: merged,
        ledger: ledger_entry(ledger),
    }
}

fn ledger_entry(ledger: &Ledger) -> LedgerEntry {
    let &Ledger {
        device_unknown,
        sent,
        lost_before_nic,
        nic_received,
        lost_nic_ring,
        nic_accepted,
        lost_in_dut,
        dut_transmitted,
        lost_receiver_ring,
        passed_exit,
        receiver_total,
        opening,
        closing,
    } = ledger;
    let canaries = |of: Canaries| CanaryEntry {
        sent_frames: of.sent,
        received_frames: of.received,
    };
    // What nobody counted stands as null, though the sums have a number for it.
    let counted = |frames: u64| (!device_unknown).then_some(frames);
    LedgerEntry {
        sent_frames: sent,
        lost_before_nic_frames: lost_before_nic,
        nic_received_frames: counted(nic_received),
        lost_nic_ring_frames: lost_nic_ring,
        nic_accepted_frames: counted(nic_accepted),
        lost_in_dut_frames: lost_in_dut,
        dut_transmitted_frames: counted(dut_transmitted),
        lost_receiver_ring_frames: lost_receiver_ring,
        passed_exit_frames: passed_exit,
        receiver_total_frames: receiver_total,
        opening: canaries(opening),
        closing: canaries(closing),
    }
}

fn quantiles(histogram: &Histogram) -> Quantiles {
    let at = |part: f64| histogram.quantile(part).map(|span| span.as_nanos());
    Quantiles {
        timed_frames: histogram.count(),
        p50_ns: at(0.5),
        p90_ns: at(0.9),
        p99_ns: at(0.99),
        p999_ns: at(0.999),
        max_ns: at(1.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mpps_lab::jobs::Phase;
    use mpps_method::{FrameSpec, Offer, Rate, Span, Trial};

    #[test]
    fn every_count_is_in_the_line() {
        let counts = Counts {
            intended: 10,
            sent: 9,
            unsent: 1,
            received: 7,
            lost: 2,
            ..Counts::default()
        };
        let ledger = Ledger {
            nic_accepted: 40,
            ..Ledger::default()
        };
        let mut lateness = Histogram::default();
        lateness.add(Span::from_nanos(12));
        let trial = Trial {
            offered: Rate::from_fps(10.0),
            duration: Span::from_millis(1000),
            directions: vec![Direction { counts, ledger }],
            lateness,
            per_queue: vec![5, 4],
            ..Trial::default()
        };
        let frames = FrameSpec::parse_list("imix").expect("a mix").remove(0);
        let verdict = Verdict::Lossy { lost: 2 };
        let offer = Offer {
            rate: trial.offered,
            duration: trial.duration,
        };
        let report = Report {
            number: 7,
            frames: &frames,
            phase: Phase::Search,
            offer,
            trial: &trial,
            verdict: &verdict,
        };
        let line = serde_json::to_value(TrialLine::of(4, &report)).expect("serialises");
        assert_eq!(line["trial"], 4);
        assert_eq!(
            (&line["frame"], &line["phase"]),
            (&"imix".into(), &"search".into())
        );
        assert_eq!(
            (&line["verdict"], &line["verdict_text"]),
            (&"lossy".into(), &"lossy: 2 frames lost".into())
        );
        assert_eq!(line["duration_ns"], 1_000_000_000u64);
        let way = &line["directions"][0];
        assert_eq!(
            (&way["sent_frames"], &way["lost_frames"]),
            (&9.into(), &2.into())
        );
        assert_eq!(way["ledger"]["nic_accepted_frames"], 40);
        assert_eq!(
            (
                &line["lateness"]["p50_ns"],
                &line["lateness"]["timed_frames"]
            ),
            (&12.into(), &1.into())
        );
        assert!(line["latency"]["p50_ns"].is_null());
        assert_eq!(line["per_queue_frames"], serde_json::json!([5, 4]));
    }
}
