//! Between the job and the outside: each trial goes into the record first, then to the terminal.

use crate::record::{Record, trial_line};
use crate::terminal::grouped;
use crate::terminal::progress::Progress;
use mpps_lab::jobs::fib_scale::{Point, PointResult, ScaleObserver};
use mpps_lab::jobs::{Observer, Phase, Report, ResultObserver};
use mpps_method::Span;
use mpps_record::{CalibrationLine, StandsOn};
use std::io;

/// Remembers which trials belong to the frame size under way.
pub struct Recorder {
    /// The record.
    pub record: Record,
    progress: Progress,
    trials: u32,
    stands: StandsOn,
}

impl Recorder {
    /// Before the first trial.
    #[must_use]
    pub fn new(record: Record, progress: Progress) -> Self {
        Self {
            record,
            progress,
            trials: 0,
            stands: StandsOn::default(),
        }
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
    pub fn take_stands(&mut self) -> StandsOn {
        std::mem::take(&mut self.stands)
    }

    fn remember(&mut self, report: &Report<'_>) {
        match report.phase {
            Phase::Wire | Phase::Overload => self.stands.overload_trials.push(report.number),
            Phase::Gate => self.stands.gate_trials.push(report.number),
            _ => self.stands.search_trials.push(report.number),
        }
    }
}

impl Observer for Recorder {
    fn trial(&mut self, report: &Report<'_>) -> io::Result<()> {
        self.trials = report.number;
        self.record.append(&trial_line(self.trials, report))?;
        self.remember(report);
        self.progress.trial(self.trials, report);
        Ok(())
    }

    fn size_begins(&mut self, budget: Option<Span>) {
        self.progress.begin(budget);
    }
}

impl ResultObserver<CalibrationLine> for Recorder {
    fn result(&mut self, row: &CalibrationLine) -> io::Result<()> {
        self.record.append(row)
    }
}

/// A recorder that hands each result of a job to a closure as well.
pub struct Keeping<'a, F> {
    /// Gets the trials.
    pub recorder: &'a mut Recorder,
    /// Gets the results.
    pub keep: F,
}

impl<F> Observer for Keeping<'_, F> {
    fn trial(&mut self, report: &Report<'_>) -> io::Result<()> {
        self.recorder.trial(report)
    }

    fn size_begins(&mut self, budget: Option<Span>) {
        self.recorder.size_begins(budget);
    }
}

impl<R, F: FnMut(&mut Recorder, &R) -> io::Result<()>> ResultObserver<R> for Keeping<'_, F> {
    fn result(&mut self, result: &R) -> io::Result<()> {
        (self.keep)(self.recorder, result)
    }
}

impl<F: FnMut(&mut Recorder, &PointResult) -> io::Result<()>> ScaleObserver for Keeping<'_, F> {
    fn point_begins(&mut self, point: Point) {
        self.recorder.step(&format!(
            "{}: {} routes, up to {} destinations",
            point.series.name(),
            grouped(point.routes as u64),
            grouped(point.destinations)
        ));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mpps_method::{FrameSpec, Offer, Rate, Trial, Verdict};

    #[test]
    fn trials_are_kept_by_their_phase() {
        let path = std::env::temp_dir().join(format!("mpps-recorder-{}.jsonl", std::process::id()));
        let record = Record::open(&path, "run").expect("open");
        let mut recorder = Recorder::new(record, Progress::new(true, false));
        let frames = FrameSpec::parse_list("64").expect("a size").remove(0);
        let phases = [Phase::Wire, Phase::Search, Phase::Search, Phase::Gate];
        for (number, phase) in (1..).zip(phases) {
            let report = Report {
                number,
                frames: &frames,
                phase,
                offer: Offer {
                    rate: Rate::from_fps(1e6),
                    duration: Span::from_millis(1),
                },
                trial: &Trial::default(),
                verdict: &Verdict::Lossless,
            };
            recorder.trial(&report).expect("recorded");
        }
        let stands = recorder.take_stands();
        assert_eq!(stands.gate_trials, [4]);
        assert_eq!(stands.overload_trials, [1]);
        assert_eq!(stands.search_trials, [2, 3]);
        assert_eq!(recorder.trials(), 4);
        assert_eq!(
            recorder.take_stands(),
            StandsOn::default(),
            "the next size begins with none"
        );
        let text = std::fs::read_to_string(&path).expect("read back");
        assert_eq!(text.lines().count(), 4);
        std::fs::remove_file(path).expect("tidy up");
    }
}
