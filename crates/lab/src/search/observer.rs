//! Each trial is numbered, judged and handed to an observer, whichever job runs it.

pub use mpps_record::known::Phase;

use super::JobError;
use mpps_method::{FrameSpec, Offer, Rules, Span, Trial, Verdict};
use mpps_record::StandsOn;
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

    /// The number of the last trial that it got: the next one has the next number, whichever job of the run it is of.
    fn last_number(&self) -> u32;

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
    last_number: u32,
    void: u32,
    stands: StandsOn,
}

impl<'a> Trials<'a> {
    /// Goes on after the observer's last trial.
    pub fn new(observer: &'a mut dyn Observer) -> Self {
        Self::after(observer.last_number(), observer)
    }

    /// Goes on after this number.
    pub fn after(last_number: u32, observer: &'a mut dyn Observer) -> Self {
        Self {
            observer,
            last_number,
            void: 0,
            stands: StandsOn::default(),
        }
    }

    /// The number of the last trial.
    #[must_use]
    pub const fn last_number(&self) -> u32 {
        self.last_number
    }

    /// How many of them were void.
    #[must_use]
    pub const fn void(&self) -> u32 {
        self.void
    }

    /// The numbers of these trials, by what they were for.
    #[must_use]
    pub const fn numbers_by_phase(&self) -> &StandsOn {
        &self.stands
    }

    /// Runs trials on which nothing stands that these tell. Returns what came of it.
    pub(crate) fn apart<T>(&mut self, run: impl FnOnce(&mut Trials<'_>) -> T) -> T {
        let mut apart = Trials::after(self.last_number, &mut *self.observer);
        let done = run(&mut apart);
        self.last_number = apart.last_number;
        done
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
        self.last_number += 1;
        let judged = Judged {
            number: self.last_number,
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
        let numbers = match phase {
            Phase::Wire | Phase::Overload => &mut self.stands.overload_trials,
            Phase::Gate => &mut self.stands.gate_trials,
            _ => &mut self.stands.search_trials,
        };
        numbers.push(judged.number);
        Ok(judged)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mpps_method::Rate;

    struct Nobody;

    impl Observer for Nobody {
        fn trial(&mut self, _: &Report<'_>) -> io::Result<()> {
            Ok(())
        }

        fn last_number(&self) -> u32 {
            7
        }
    }

    #[test]
    fn trials_are_kept_by_their_phase() {
        let (mut nobody, frames) = (Nobody, FrameSpec::parse_list("64").expect("a size"));
        let mut trials = Trials::new(&mut nobody);
        let offer = Offer::new(Rate::from_fps(1e6), Span::from_millis(1));
        for phase in [Phase::Wire, Phase::Search, Phase::Search, Phase::Gate] {
            let (rules, trial) = Default::default();
            let judged = trials.judged(phase, &frames[0], offer, &rules, trial);
            judged.expect("an observer that takes all");
        }
        let stands = trials.numbers_by_phase();
        assert_eq!(stands.overload_trials, [8]);
        assert_eq!(stands.search_trials, [9, 10]);
        assert_eq!(stands.gate_trials, [11]);
    }

    #[test]
    fn trials_apart_are_numbered_and_no_evidence() {
        let (mut nobody, frames) = (Nobody, FrameSpec::parse_list("64").expect("a size"));
        let mut trials = Trials::new(&mut nobody);
        let offer = Offer::new(Rate::from_fps(1e6), Span::from_millis(1));
        let judged = |trials: &mut Trials<'_>| {
            let (rules, trial) = Default::default();
            let judged = trials.judged(Phase::Wire, &frames[0], offer, &rules, trial);
            judged.expect("an observer that takes all").number
        };
        let numbers = [
            judged(&mut trials),
            trials.apart(judged),
            judged(&mut trials),
        ];
        assert_eq!(numbers, [8, 9, 10]);
        assert_eq!(trials.numbers_by_phase().overload_trials, [8, 10]);
    }
}
