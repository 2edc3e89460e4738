//! Each trial is numbered, judged and handed to an observer, whichever job runs it.

use super::JobError;
use mpps_method::{FrameSpec, Offer, Rules, Span, Trial, Verdict};
use std::io;

/// What a trial was for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Through a wire in place of the router.
    Wire,
    /// At the highest load, or little more than the DUT forwards.
    Overload,
    /// Through the DUT, far below any load to be searched: does it lose frames for no load?
    Gate,
    /// Through the DUT.
    Search,
    /// A burst through the DUT.
    Burst,
    /// Through the DUT, at a load that was asked for.
    Fixed,
    /// Through the DUT, at a load of a series that goes down.
    Loss,
    /// Through the DUT, every frame timed.
    Latency,
    /// Through the DUT, at overload and then far below.
    Recovery,
    /// Through the DUT with a planted fault.
    Calibration,
}

impl Phase {
    /// The word in records.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Wire => "wire",
            Self::Overload => "overload",
            Self::Gate => "gate",
            Self::Search => "search",
            Self::Burst => "burst",
            Self::Fixed => "fixed",
            Self::Loss => "loss",
            Self::Latency => "latency",
            Self::Recovery => "recovery",
            Self::Calibration => "calibration",
        }
    }
}

/// One trial as an observer gets it.
pub struct Report<'a> {
    /// Its number among the trials of the job, from 1.
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

    /// A frame size begins, for which there is so much time.
    fn size_begins(&mut self, _budget: Option<Span>) {}
}

/// A trial with its number and its verdict.
#[derive(Clone, Debug)]
pub struct Judged {
    /// Its number among the trials of the job, from 1.
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
