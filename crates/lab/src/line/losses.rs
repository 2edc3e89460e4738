//! Which frames a trial lost, as its line has them.

use mpps_method::pattern::Run;
use mpps_method::{LossPattern, Losses};
use mpps_record::{self as record, LostRun};

/// The entry of one direction.
pub(super) fn losses(losses: &Losses) -> record::Losses {
    let pattern = losses.pattern();
    let run = |run: &Run| LostRun {
        sequence: run.first,
        frames: run.frames,
        at_ns: losses.at(run.first).as_nanos(),
    };
    record::Losses {
        pattern: pattern.name().to_owned(),
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
        first_ns: losses
            .first_runs
            .first()
            .map(|run| losses.at(run.first).as_nanos()),
        longest: run(&losses.longest),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mpps_method::Span;

    #[test]
    fn a_loss_line_has_frames_times_and_pattern() {
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
        let entry = serde_json::to_value(super::losses(&losses)).expect("serialises");
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
            entry["longest"],
            serde_json::json!({ "sequence": 3, "frames": 1, "at_ns": 3_000 })
        );
    }
}
