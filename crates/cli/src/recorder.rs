//! Between the job and the outside: each trial goes into the record first, then to the terminal.

use crate::record::{Record, Stands, calibration_line, trial_line};
use crate::terminal::progress::Progress;
use mpps_lab::jobs::calibrate::Row;
use mpps_lab::jobs::{Observer, Phase, Report};
use mpps_method::{Span, Verdict};
use std::io;

/// Numbers the trials, and remembers which belong to the frame size under way.
pub struct Recorder {
    /// The record.
    pub record: Record,
    progress: Progress,
    trials: u32,
    stands: Stands,
}

impl Recorder {
    /// Begins with trial 1.
    #[must_use]
    pub fn new(record: Record, progress: Progress) -> Self {
        Self {
            record,
            progress,
            trials: 0,
            stands: Stands::default(),
        }
    }

    /// A frame size begins, for which there is so much time.
    pub fn begin_size(&mut self, budget: Option<Span>) {
        self.progress.begin(budget);
    }

    /// Nothing more is measured; what follows on the terminal is the result.
    pub fn end_progress(&mut self) {
        self.progress.end();
    }

    /// Shows a step that is no trial.
    pub fn step(&self, what: &str) {
        self.progress.step(what);
    }

    /// Trials so far.
    #[must_use]
    pub fn trials(&self) -> u32 {
        self.trials
    }

    /// The trials of the frame size that has ended; the next one begins with none.
    pub fn take_stands(&mut self) -> Stands {
        std::mem::take(&mut self.stands)
    }

    fn remember(&mut self, report: &Report<'_>) {
        match report.phase {
            Phase::Wire | Phase::Overload => self.stands.on.overload_trials.push(self.trials),
            Phase::Gate => self.stands.on.gate_trials.push(self.trials),
            _ => {
                self.stands.on.search_trials.push(self.trials);
                if matches!(report.verdict, Verdict::Lossless | Verdict::Lossy { .. }) {
                    let (trial, lost) = (report.trial, report.trial.counts().lost);
                    let judged = (self.trials, trial.offered, trial.duration, lost);
                    self.stands.judged.push(judged);
                }
            }
        }
    }
}

impl Observer for Recorder {
    fn trial(&mut self, report: &Report<'_>) -> io::Result<()> {
        self.trials += 1;
        self.record.append(&trial_line(self.trials, report))?;
        self.remember(report);
        self.progress.trial(self.trials, report);
        Ok(())
    }

    fn row(&mut self, row: &Row) -> io::Result<()> {
        self.record.append(&calibration_line(row))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mpps_method::{FrameSpec, Offer, Rate, Span, Trial};

    #[test]
    fn a_result_stands_on_the_last_trial_like_its_own() {
        let path = std::env::temp_dir().join(format!("mpps-recorder-{}.jsonl", std::process::id()));
        let record = Record::open(&path, "run").expect("open");
        let mut recorder = Recorder::new(record, Progress::new(true, false));
        let frames = FrameSpec::parse_list("64").expect("a size").remove(0);
        let mut run = |phase, fps, verdict: Verdict| {
            let trial = Trial {
                offered: Rate::from_fps(fps),
                duration: Span::from_millis(1),
                ..Trial::default()
            };
            let offer = Offer {
                rate: trial.offered,
                duration: trial.duration,
            };
            let report = Report {
                frames: &frames,
                phase,
                offer,
                trial: &trial,
                verdict: &verdict,
            };
            recorder.trial(&report).expect("recorded");
        };
        run(Phase::Wire, 9e6, Verdict::Lossless);
        run(Phase::Search, 2e6, Verdict::Lossy { lost: 1 });
        run(Phase::Search, 1e6, Verdict::Lossless);
        run(Phase::Search, 1e6, Verdict::Lossless);
        run(Phase::Search, 5e5, Verdict::Lossless);
        run(Phase::Gate, 5e4, Verdict::Lossless);
        let stands = recorder.take_stands();
        assert_eq!(stands.on.gate_trials, [6]);
        assert_eq!(stands.on.overload_trials, [1]);
        assert_eq!(stands.on.search_trials, [2, 3, 4, 5]);
        let trial = |fps, millis| Trial {
            offered: Rate::from_fps(fps),
            duration: Span::from_millis(millis),
            ..Trial::default()
        };
        assert_eq!(stands.number_of(&trial(1e6, 1)), Some(4));
        assert_eq!(stands.number_of(&trial(1e6, 2)), None, "another length");
        assert_eq!(stands.number_of(&trial(3e6, 1)), None);
        assert_eq!(
            recorder.take_stands(),
            Stands::default(),
            "the next size begins with none"
        );
        let text = std::fs::read_to_string(&path).expect("read back");
        assert_eq!(text.lines().count(), 6);
        std::fs::remove_file(path).expect("tidy up");
    }
}
