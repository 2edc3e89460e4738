//! Each trial is numbered, judged and handed to an observer, whichever job runs it.

pub use mpps_record::known::Phase;

use super::JobError;
use mpps_method::{FrameSpec, Offer, Rules, Span, Trial, Verdict};
use std::io;

/// One trial as an observer gets it.
pub struct Report<'a> {
    /// Its number among the trials of the run, from 1.
    pub number: u32,
    /// Frame sizes sent.
    pub frames: &'a FrameSpec,
    /// What the trial was for.
    pub phase: Phase,
    /// What was to be offered.
    pub offer: Offer,
    /// What came of it.
    pub trial: &'a Trial,
    /// What it says.
    pub verdict: &'a Verdict,
}

/// Gets each trial as soon as it is over: writes records, shows progress.
pub trait Observer {
    /// A trial has ended. The next begins when this returns.
    ///
    /// # Errors
    /// The record could not be written: the job stops.
    fn trial(&mut self, report: &Report<'_>) -> io::Result<()>;

    /// Trials that other jobs of the same run had before.
    fn told(&self) -> u32 {
        0
    }

    /// A frame size begins, for which there is so much time.
    fn size_begins(&mut self, _budget: Option<Span>) {}

    /// The next trials are of this variant of the DUT.
    fn turn_begins(&mut self, _variant: &str) {}
}

/// A trial with its number and its verdict.
#[derive(Clone, Debug)]
pub struct Judged {
    /// Its number among the trials of the run, from 1.
    pub number: u32,
    /// The trial.
    pub trial: Trial,
    /// What it says.
    pub verdict: Verdict,
}

/// Numbers a job's trials, judges them and hands them to its observer.
pub struct Trials<'a> {
    observer: &'a mut dyn Observer,
    told: u32,
    void: u32,
}

impl<'a> Trials<'a> {
    /// Begins with trial 1.
    pub fn new(observer: &'a mut dyn Observer) -> Self {
        Self::after(0, observer)
    }

    /// Goes on after a job's first `told` trials.
    pub fn after(told: u32, observer: &'a mut dyn Observer) -> Self {
        Self {
            observer,
            told,
            void: 0,
        }
    }

    /// The number of the last trial.
    #[must_use]
    pub const fn told(&self) -> u32 {
        self.told
    }

    /// How many of them were void.
    #[must_use]
    pub const fn void(&self) -> u32 {
        self.void
    }

    /// The next trials are of this variant of the DUT.
    pub(crate) fn turn_of(&mut self, variant: &str) {
        self.observer.turn_begins(variant);
    }

    /// Judges a trial by these rules and hands it to the observer.
    ///
    /// # Errors
    /// The record could not be written.
    pub fn judged(
        &mut self,
        phase: Phase,
        frames: &FrameSpec,
        offer: Offer,
        rules: &Rules,
        trial: Trial,
    ) -> Result<Judged, JobError> {
        self.told += 1;
        let judged = Judged {
            number: self.told,
            verdict: trial.judge(rules),
            trial,
        };
        self.void += u32::from(matches!(judged.verdict, Verdict::Void(_)));
        let report = Report {
            number: judged.number,
            frames,
            phase,
            offer,
            trial: &judged.trial,
            verdict: &judged.verdict,
        };
        self.observer.trial(&report).map_err(JobError::Record)?;
        Ok(judged)
    }
}
