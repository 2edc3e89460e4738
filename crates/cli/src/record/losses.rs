//! Which frames a trial lost: one entry for each direction that lost any.

use mpps_method::pattern::Run;
use mpps_method::{LossPattern, Losses};
use serde::Serialize;

/// What one direction lost. Times are since the trial's first frame, by the sender's schedule.
#[derive(Serialize)]
pub struct LossesEntry {
    pattern: &'static str,
    /// The pattern in words, with its numbers.
    pattern_text: String,
    /// Periodic: frames from one loss to the next. Random: lost one in so many.
    pattern_frames: Option<u64>,
    /// Stall: how often.
    pauses: Option<u64>,
    sent_frames: u64,
    lost_frames: u64,
    /// Of these, what the DUT's receive ring refused; null where nobody counts it.
    at_ring_frames: Option<u64>,
    runs: u64,
    episodes: u64,
    bunches: u64,
    bunched_frames: u64,
    lumped_frames: u64,
    first_ns: Option<u64>,
    last: RunEntry,
    longest: RunEntry,
    /// Runs by length; lengths without any are left out.
    run_lengths: Vec<LengthEntry>,
    spacing_mean_frames: f64,
    spacing_cv: f64,
    spacing_commonest_frames: u64,
    spacing_commonest_runs: u64,
    dispersion: f64,
    /// In each hundredth of the trial.
    lost_by_hundredth_frames: Vec<u64>,
    /// At most the first hundred.
    first_runs: Vec<RunEntry>,
}

#[derive(Serialize)]
struct RunEntry {
    sequence: u64,
    frames: u64,
    at_ns: u64,
}

#[derive(Serialize)]
struct LengthEntry {
    least_frames: u64,
    most_frames: u64,
    runs: u64,
}

impl LossesEntry {
    /// The entry of one direction.
    #[must_use]
    pub fn of(losses: &Losses) -> Self {
        let pattern = losses.pattern();
        let run = |run: &Run| RunEntry {
            sequence: run.first,
            frames: run.frames,
            at_ns: losses.at(run.first).as_nanos(),
        };
        Self {
            pattern: pattern.name(),
            pattern_text: pattern.to_string(),
            pattern_frames: match pattern {
                LossPattern::Periodic { every } => Some(every),
                LossPattern::Random { one_in } => Some(one_in),
                _ => None,
            },
            pauses: match pattern {
                LossPattern::Stall { pauses, .. } => Some(pauses),
                _ => None,
            },
            sent_frames: losses.sent,
            lost_frames: losses.lost,
            at_ring_frames: losses.at_ring,
            runs: losses.runs,
            episodes: losses.episodes,
            bunches: losses.bunches,
            bunched_frames: losses.lost_in_bunches,
            lumped_frames: losses.lost_in_lumps,
            first_ns: losses
                .first_runs
                .first()
                .map(|run| losses.at(run.first).as_nanos()),
            last: run(&losses.last),
            longest: run(&losses.longest),
            run_lengths: lengths(&losses.run_lengths),
            spacing_mean_frames: losses.spacing_mean,
            spacing_cv: losses.spacing_cv,
            spacing_commonest_frames: losses.spacing_commonest.0,
            spacing_commonest_runs: losses.spacing_commonest.1,
            dispersion: losses.dispersion,
            lost_by_hundredth_frames: losses.windows.clone(),
            first_runs: losses.first_runs.iter().map(run).collect(),
        }
    }
}

fn lengths(by_power: &[u64]) -> Vec<LengthEntry> {
    let entry = |(power, &runs): (u32, &u64)| LengthEntry {
        least_frames: 1 << power,
        most_frames: (1 << (power + 1)) - 1,
        runs,
    };
    let counted = (0..).zip(by_power).filter(|(_, runs)| **runs > 0);
    counted.map(entry).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use mpps_method::Span;

    #[test]
    fn a_loss_says_which_frames_when_and_what_it_looks_like() {
        // Each tenth of 640 frames in 640 microseconds, counted from the fourth.
        let mut words = vec![u64::MAX; 10];
        for sequence in (3..640).step_by(10) {
            words[sequence / 64] &= !(1 << (sequence % 64));
        }
        let losses =
            Losses::from_bitmap(&words, 640, Span::from_nanos(640_000), &[]).expect("loss");
        let losses = Losses {
            at_ring: Some(0),
            ..losses
        };
        let entry = serde_json::to_value(LossesEntry::of(&losses)).expect("serialises");
        assert_eq!(
            (
                &entry["pattern"],
                &entry["pattern_frames"],
                &entry["pauses"]
            ),
            (&"periodic".into(), &10.into(), &serde_json::Value::Null)
        );
        assert_eq!(
            (&entry["lost_frames"], &entry["runs"], &entry["first_ns"]),
            (&64.into(), &64.into(), &3_000.into())
        );
        assert_eq!(
            entry["first_runs"][1],
            serde_json::json!({ "sequence": 13, "frames": 1, "at_ns": 13_000 })
        );
        assert_eq!(
            entry["run_lengths"],
            serde_json::json!([{ "least_frames": 1, "most_frames": 1, "runs": 64 }])
        );
        let hundredths = entry["lost_by_hundredth_frames"]
            .as_array()
            .expect("windows");
        assert_eq!(hundredths.len(), 100);
    }
}
