//! A trial as its line has it.

use super::losses::losses;
use super::windows;
use crate::search::saturation::block;
use crate::search::{Phase, Report};
use mpps_method::compare::rate;
use mpps_method::saturation::Window;
use mpps_method::statistics::quantile;
use mpps_method::{
    Counts, CpuTasks, CpuWork, Direction, Disturbance, Histogram, Ledger, Span, Trial,
};
use mpps_record::{self as record, Other, Quantiles, TrialLine};

/// The line of a trial.
#[must_use]
pub fn trial(report: &Report<'_>) -> TrialLine {
    let (raw, verdict) = (report.trial, report.verdict);
    TrialLine {
        trial: report.number,
        frame: report.frames.to_string(),
        phase: report.phase.into(),
        variant: None,
        offered_fps: report.offer.rate.fps(),
        begun_after_ns: None,
        duration_ns: raw.duration.as_nanos(),
        cut_short_from_ns: raw.cut_short_from.map(Span::as_nanos),
        forwarded_undisturbed_fps: (report.phase == Phase::Overload)
            .then(|| forwarded_undisturbed(raw))
            .flatten(),
        verdict: super::verdict(verdict),
        verdict_text: verdict.to_string(),
        sender_ended: raw.sender_ended,
        directions: raw.directions.iter().map(direction).collect(),
        overdue_frames: Some(raw.overdue),
        losses: raw.losses.iter().map(losses).collect(),
        busy: raw.busy.clone(),
        work: work(raw),
        steal: raw.steal.clone(),
        gaps: raw.gaps.clone(),
        stalls: each(&raw.stalls, disturbance),
        slow: each(&raw.slow, disturbance),
        others: each(&raw.others, disturbance),
        disturbed: Some(disturbed(raw)),
        exchange_before_ns: raw.exchange.map(|exchange| exchange.before.as_nanos()),
        exchange_after_ns: raw.exchange.map(|exchange| exchange.after.as_nanos()),
        round_trip_ns: spread(&raw.windows, |window| window.round_trip_ns),
        work_ns: spread(&raw.windows, |window| window.work_ns),
        windows: windows::entry(report.phase, raw).map(Box::new),
        other_tasks: each(&raw.other_tasks, tasks),
        dut_tasks: each(&raw.dut_tasks, tasks),
        speeds: raw.speeds.clone(),
        queries: raw.queries,
        lateness: quantiles(&raw.lateness),
        latency: quantiles(&raw.latency),
        largest_burst_frames: raw.largest_burst,
        per_size: raw.per_size.clone(),
        per_queue_frames: raw.per_queue.clone(),
        dut_forwarded_packets: raw.stack.map(|stack| stack.forwarded),
        dut_no_route_packets: raw.stack.map(|stack| stack.no_route),
        route_changes: raw.route_changes,
        other: Other::new(),
    }
}

/// What a trial forwarded in its undisturbed windows, frames/s; `None` where there are too few.
fn forwarded_undisturbed(trial: &Trial) -> Option<f64> {
    rate(&block(trial))
}

/// Of the trial's CPUs, those that did anything.
fn work(trial: &Trial) -> Vec<CpuWork> {
    let worked = |cpu: &&CpuWork| cpu.busy_ns > 0 || cpu.stack_packets != Some(0);
    trial.work.iter().filter(worked).copied().collect()
}

fn each<T, U>(all: &[T], entry: impl Fn(&T) -> U) -> Vec<U> {
    all.iter().map(entry).collect()
}

fn disturbance(disturbance: &Disturbance) -> record::Disturbance {
    record::Disturbance {
        cpu: disturbance.cpu,
        from_ns: disturbance.from.as_nanos(),
        to_ns: disturbance.to.as_nanos(),
    }
}

fn tasks(tasks: &CpuTasks) -> record::CpuTasks {
    record::CpuTasks {
        cpu: tasks.cpu,
        longest_ns: tasks.longest.as_nanos(),
        total_ns: tasks.total.as_nanos(),
        longest_by: tasks.culprit.to_string(),
    }
}

// Both are taken apart in full, so that a count added to the method cannot be forgotten here.

fn direction(Direction { counts, ledger }: &Direction) -> record::Direction {
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
    record::Direction {
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
        not_lowered_frames: Some(not_lowered),
        merged_frames: Some(merged),
        ledger: ledger_entry(ledger),
    }
}

fn ledger_entry(ledger: &Ledger) -> record::Ledger {
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
    // What nobody counted stands as null, though the sums have a number for it.
    let counted = |frames: u64| (!device_unknown).then_some(frames);
    record::Ledger {
        sent_frames: sent,
        lost_before_nic_frames: lost_before_nic,
        nic_received_frames: counted(nic_received),
        lost_nic_ring_frames: lost_nic_ring,
        nic_accepted_frames: counted(nic_accepted),
        lost_in_dut_frames: lost_in_dut,
        dut_transmitted_frames: counted(dut_transmitted),
        lost_receiver_ring_frames: lost_receiver_ring,
        passed_exit_frames: Some(passed_exit),
        receiver_total_frames: receiver_total,
        opening,
        closing,
    }
}

fn quantiles(counted: &Histogram) -> Quantiles {
    super::buckets(counted).into()
}

fn disturbed(raw: &Trial) -> record::Disturbed {
    record::Disturbed {
        times: raw.disturbed.times,
        time_ns: raw.disturbed.time.as_nanos(),
        sent_frames: raw.disturbed.sent,
        unsent_frames: raw.disturbed.unsent,
        lost_frames: raw.disturbed.lost,
    }
}

/// Tenth, median and ninth tenth of what windows know.
fn spread(windows: &[Window], of: fn(&Window) -> Option<u64>) -> Option<record::Interval<u64>> {
    let known: Vec<f64> = (windows.iter())
        .filter_map(|window| Some(of(window)? as f64))
        .collect();
    let at = |share| Some(quantile(&known, share)?.round() as u64);
    Some(record::Interval {
        low: at(0.1)?,
        median: at(0.5)?,
        high: at(0.9)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use mpps_method::{FrameSpec, Offer, Rate, Span, Verdict, histogram};

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
            number: 4,
            frames: &frames,
            phase: Phase::Search,
            offer,
            trial: &trial,
            verdict: &verdict,
        };
        let line = serde_json::to_value(super::trial(&report)).expect("serialises");
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
        assert_eq!(
            line["lateness"]["histogram_ns"],
            serde_json::json!([[12, 1]])
        );
        assert!(line["latency"]["p50_ns"].is_null());
        assert_eq!(line["per_queue_frames"], serde_json::json!([5, 4]));
    }

    /// The reader's rule of buckets and quantiles is the method's.
    #[test]
    fn the_whole_histogram_is_in_the_line() {
        let mut counted = Histogram::default();
        for value in 0..5_000_u64 {
            counted.add_many(
                Span::from_nanos(value * value * value % 1_000_003),
                1 + value % 3,
            );
        }
        counted.add(Span::from_nanos(1 << 50));
        let recorded = quantiles(&counted);
        assert_eq!(recorded.timed_frames, counted.count());
        let kept = recorded.histogram_ns.as_ref().expect("a histogram");
        for part in [0.0, 0.1, 0.5, 0.9, 0.99, 0.999, 1.0] {
            let wanted = counted.quantile(part).map(Span::as_nanos);
            assert_eq!(kept.quantile_ns(part), wanted, "{part}");
        }
        for &(upper, frames) in &kept.0 {
            let bucket = histogram::index(upper);
            assert_eq!(counted.counts()[bucket], frames);
            assert_eq!(record::Histogram::lower_ns(upper), histogram::lower(bucket));
        }
    }
}
