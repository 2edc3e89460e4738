//! Figures of a trial over its directions, by the rules that its verdict stands on (docs/method.md).

use mpps_record::{Direction, Disturbance, Phase, TrialLine};

/// A larger share of overdue frames counts as lost.
const OVERDUE_MAX: f64 = 0.01;

/// Figures of one trial.
#[derive(Clone, Copy, Debug)]
pub struct Figures {
    /// Slots of the schedule.
    pub intended: u64,
    /// Handed to the sender's port.
    pub sent: u64,
    /// Slots without a frame.
    pub unsent: u64,
    /// Came back in time.
    pub received: u64,
    /// Lost at the DUT outside disturbances: those that the verdict counts.
    pub lost: u64,
    /// Lost in disturbances; `None` where nobody knows.
    pub lost_disturbed: Option<u64>,
    /// Lost by the tester itself.
    pub lost_by_tester: u64,
    /// Arrived too late; `None` where nobody counted them. Where they are many, `lost` has them.
    pub overdue: Option<u64>,
    /// The offered load, frames/s. Schema 2 wrote 0 where there was no pace: then it is the load really sent.
    pub offered_fps: f64,
    /// The load really sent.
    pub sent_fps: f64,
    /// The forwarding rate.
    pub forwarded_fps: f64,
    /// Frames that reached the DUT outside disturbances.
    pub reached: u64,
    /// Those of them that were lost there, as a share.
    pub loss: f64,
    /// Busy share of the DUT's busiest CPU; `None` where nobody read it, or the time it was read over is not the trial's.
    pub busy: Option<f64>,
    /// Longest time that a CPU of the bed stood still, ns.
    pub gap_ns: Option<u64>,
}

impl Figures {
    /// Sums up a trial's line.
    #[must_use]
    pub fn new(trial: &TrialLine) -> Self {
        let sum = |count: fn(&Direction) -> u64| {
            let counts = trial.directions.iter().map(count);
            counts.fold(0_u64, u64::saturating_add)
        };
        let sent = sum(|way| way.sent_frames);
        let disturbed = trial.disturbed.unwrap_or_default();
        let many = |overdue: &u64| *overdue as f64 > OVERDUE_MAX * sent as f64;
        let overdue_lost = trial.overdue_frames.filter(many).unwrap_or(0);
        let received = sum(|way| way.received_frames).saturating_sub(overdue_lost);
        let before_nic = sum(|way| way.ledger.lost_before_nic_frames);
        let at_receiver = sum(|way| way.ledger.lost_receiver_ring_frames);
        let lost_by_tester = before_nic.saturating_add(at_receiver);
        let lost = sum(|way| way.lost_frames)
            .saturating_add(overdue_lost)
            .saturating_sub(disturbed.lost_frames.unwrap_or(0))
            .saturating_sub(lost_by_tester);
        let reached = sent
            .saturating_sub(disturbed.sent_frames)
            .saturating_sub(before_nic);
        let per_second = |frames: u64| frames as f64 * 1e9 / trial.duration_ns.max(1) as f64;
        Self {
            intended: sum(|way| way.intended_frames),
            sent,
            unsent: sum(|way| way.unsent_frames),
            received,
            lost,
            lost_disturbed: trial.disturbed.and_then(|disturbed| disturbed.lost_frames),
            lost_by_tester,
            overdue: trial.overdue_frames,
            offered_fps: if trial.offered_fps > 0.0 {
                trial.offered_fps
            } else {
                per_second(sent)
            },
            sent_fps: per_second(sent),
            forwarded_fps: per_second(received),
            reached,
            loss: lost as f64 / reached.max(1) as f64,
            busy: busy(trial),
            gap_ns: trial.gaps.iter().map(|gap| gap.longest_ns).max(),
        }
    }
}

/// Without the time that other programs had of a CPU. The DUT works on when a burst or a trial cut short is over: then a
/// share of its length means nothing.
fn busy(trial: &TrialLine) -> Option<f64> {
    if trial.phase == Phase::Burst || trial.cut_short_from_ns.is_some() {
        return None;
    }
    let had = |cpu: usize| {
        let others = trial.others.iter().filter(|time| time.cpu == cpu);
        let time = |time: &Disturbance| time.to_ns.saturating_sub(time.from_ns);
        let others = others.map(time).fold(0, u64::saturating_add);
        trial.duration_ns.saturating_sub(others) as f64
    };
    let shares = trial.busy.iter().filter_map(|cpu| {
        let had = had(cpu.cpu);
        (had > 0.0).then(|| (cpu.run_ns.saturating_add(cpu.tasks_ns) as f64 / had).min(1.0))
    });
    shares.max_by(f64::total_cmp)
}

#[cfg(test)]
mod tests {
    use super::*;
    use mpps_record::{CpuBusy, Disturbed, Verdict, read, read_file};
    use std::path::Path;

    fn trial() -> TrialLine {
        let golden = include_bytes!("../../record/tests/golden/run.jsonl");
        let records = read(&golden[..]).expect("from memory");
        let of_search = |trial: &&TrialLine| trial.phase == Phase::Search;
        let mut trials = records.runs[0].trials.iter();
        let mut trial = trials.find(of_search).expect("a trial").clone();
        (trial.duration_ns, trial.offered_fps) = (1_000_000_000, 1_000.0);
        let way = &mut trial.directions[0];
        (way.sent_frames, way.received_frames, way.lost_frames) = (1_000, 900, 100);
        trial
    }

    #[test]
    fn many_overdue_frames_are_lost() {
        let mut trial = trial();
        trial.overdue_frames = Some(10);
        let few = Figures::new(&trial);
        assert_eq!((few.received, few.lost, few.overdue), (900, 100, Some(10)));
        trial.overdue_frames = Some(11);
        let many = Figures::new(&trial);
        assert_eq!((many.received, many.lost), (889, 111));
        assert!((many.loss - 0.111).abs() < 1e-12);
    }

    #[test]
    fn disturbances_and_the_tester_count_for_nothing() {
        let mut trial = trial();
        trial.disturbed = Some(Disturbed {
            sent_frames: 190,
            lost_frames: Some(60),
            ..Disturbed::default()
        });
        trial.directions[0].ledger.lost_before_nic_frames = 10;
        let figures = Figures::new(&trial);
        assert_eq!((figures.lost, figures.lost_by_tester), (30, 10));
        assert_eq!(figures.lost_disturbed, Some(60));
        assert!((figures.loss - 30.0 / 800.0).abs() < 1e-12, "{figures:?}");
    }

    #[test]
    fn busy_is_a_share_of_the_time_there_was() {
        let mut trial = trial();
        let cpu = |cpu, run_ns| CpuBusy {
            cpu,
            run_ns,
            ..CpuBusy::default()
        };
        trial.busy = vec![cpu(1, 400_000_000), cpu(2, 300_000_000)];
        assert_eq!(Figures::new(&trial).busy, Some(0.4));
        trial.others = vec![Disturbance {
            cpu: 2,
            from_ns: 0,
            to_ns: 500_000_000,
        }];
        assert_eq!(Figures::new(&trial).busy, Some(0.6));
        trial.cut_short_from_ns = Some(2_000_000_000);
        assert_eq!(Figures::new(&trial).busy, None);
    }

    #[test]
    fn losses_are_those_of_the_verdicts() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../bench/runs");
        let mut compared = 0;
        for path in [
            "main-job-house/raw.jsonl",
            "receivers/raw.jsonl",
            "overload/trials.jsonl",
        ] {
            let path = folder.join("2026-11-22-epyc-vm-2cpu").join(path);
            for trial in read_file(&path)
                .expect("a record")
                .runs
                .iter()
                .flat_map(|run| &run.trials)
            {
                if trial.verdict == Verdict::Lossy {
                    let said = format!("lossy: {} frames lost", Figures::new(trial).lost);
                    assert_eq!(
                        trial.verdict_text,
                        said,
                        "{} {}",
                        path.display(),
                        trial.trial
                    );
                    compared += 1;
                }
            }
        }
        assert!(compared > 50, "{compared}");
    }
}
