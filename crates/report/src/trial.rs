//! Figures of a trial: sums over its directions, and shares.

use mpps_record::{Direction, TrialLine};

/// Figures of one trial.
#[derive(Clone, Copy, Debug)]
pub struct Figures {
    /// Handed to the sender's port.
    pub sent: u64,
    /// Slots without a frame.
    pub unsent: u64,
    /// That did not, disturbed or not.
    pub lost: u64,
    /// Of these, lost while the machine disturbed the trial.
    pub lost_disturbed: Option<u64>,
    /// The offered load, frames/s. Schema 2 wrote 0 where there was no pace: then it is the load really sent.
    pub offered_fps: f64,
    /// The load really sent.
    pub sent_fps: f64,
    /// The forwarding rate.
    pub forwarded_fps: f64,
    /// Lost of sent.
    pub loss: f64,
    /// Busy share of the DUT's busiest CPU; `None` where nobody read it.
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
        let (sent, received) = (
            sum(|direction| direction.sent_frames),
            sum(|direction| direction.received_frames),
        );
        let lost = sum(|direction| direction.lost_frames);
        let per_second = |frames: u64| frames as f64 * 1e9 / trial.duration_ns.max(1) as f64;
        let busiest = trial.busy.iter().map(|cpu| cpu.run_ns).max();
        Self {
            sent,
            unsent: sum(|direction| direction.unsent_frames),
            lost,
            lost_disturbed: trial.disturbed.and_then(|disturbed| disturbed.lost_frames),
            offered_fps: if trial.offered_fps > 0.0 {
                trial.offered_fps
            } else {
                per_second(sent)
            },
            sent_fps: per_second(sent),
            forwarded_fps: per_second(received),
            loss: lost as f64 / sent.max(1) as f64,
            busy: busiest.map(|run_ns| run_ns as f64 / trial.duration_ns.max(1) as f64),
            gap_ns: trial.gaps.iter().map(|gap| gap.longest_ns).max(),
        }
    }
}
