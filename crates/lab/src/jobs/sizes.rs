//! What jobs of several frame sizes share: a failed size does not stop the others, and a void trial is repeated.

use super::throughput::{self, Overloaded, ThroughputPlan, saturate};
use super::{JobError, Judged, ResultObserver, Trials, UnderTest, keep};
use crate::bed::Bed;
use crate::doubt::{Finding, Reading};
use crate::tester::ReceiverPlace;
use mpps_method::{FrameSpec, Irregular, Outcome, Rate, Span, Verdict};

/// A trial that says nothing is repeated so often at most.
pub(super) const REPEATS: u32 = 3;

/// Measures one frame size after the other and tells the lines of each, as far as it came; all of them, even if one cannot
/// be written. Returns what ended the run, or else a size.
pub(super) fn each_size<L, M: IntoIterator<Item = L>>(
    sizes: &[FrameSpec],
    budget: Option<Span>,
    observer: &mut dyn ResultObserver<L>,
    mut measure: impl FnMut(&FrameSpec, &mut Trials<'_>) -> (M, Option<JobError>),
) -> Option<JobError> {
    let mut kept = None;
    for frames in sizes {
        observer.size_begins(budget);
        let (lines, error) = measure(frames, &mut Trials::new(&mut *observer));
        let written = lines.into_iter().map(|line| observer.result(&line));
        let unwritten = written
            .fold(Ok(()), Result::and)
            .err()
            .map(JobError::Record);
        for error in error.into_iter().chain(unwritten) {
            if keep(&mut kept, error).is_break() {
                return kept;
            }
        }
    }
    kept
}

/// The line of a frame size, which a job fills in as far as it comes.
pub(super) trait SizeLine: Default {
    /// The frames sent, and what cut it short.
    fn frame_and_why(&mut self) -> (&mut String, &mut Option<String>);
}

macro_rules! size_lines {
    ($($line:ident)*) => {$(
        impl SizeLine for mpps_record::$line {
            fn frame_and_why(&mut self) -> (&mut String, &mut Option<String>) {
                (&mut self.frame, &mut self.why)
            }
        }
    )*};
}
size_lines! { BurstLine CurveLine LatencyLine OverloadLine RecoveryLine }

/// As [`each_size`]: `measure` fills in what it finds, and what ends it early cuts the size short.
pub(super) fn fill_each<L: SizeLine>(
    plan: &ThroughputPlan,
    observer: &mut dyn ResultObserver<L>,
    mut measure: impl FnMut(&FrameSpec, &mut L, &mut Trials<'_>) -> Result<(), JobError>,
) -> Option<JobError> {
    each_size(&plan.sizes, plan.budget, observer, |frames, trials| {
        let mut line = L::default();
        *line.frame_and_why().0 = frames.to_string();
        let error = measure(frames, &mut line, trials).err();
        let (_, why) = line.frame_and_why();
        *why = error.as_ref().map(ToString::to_string).or(why.take());
        (Some(line), error)
    })
}

/// A trial, again while the machine disturbs it, so often at most. Loss is no reason to repeat. Also how many void ones
/// came before it.
pub(super) fn repeat_void(
    mut trial: impl FnMut() -> Result<Judged, JobError>,
) -> Result<(Judged, u32), JobError> {
    let mut void = 0;
    loop {
        let judged = trial()?;
        if !matches!(judged.verdict, Verdict::Void(_)) || void == REPEATS {
            return Ok((judged, void));
        }
        void += 1;
    }
}

/// What a search found before the job's own trials.
#[derive(Clone, Copy, Debug)]
pub struct SearchedRate {
    /// The first goal's rate without loss.
    pub rate: Rate,
    /// Whether the router may carry more: something else ended the search, or the rate is not confirmed.
    pub may_be_higher: bool,
    /// Where the tester received.
    pub receiver: Option<ReceiverPlace>,
    /// The most that the DUT was seen to forward.
    pub forwards_at_most: Option<Rate>,
    /// The highest load that the tester can offer.
    pub ceiling: Rate,
    /// The forwarding rate at that load (RFC 2285 3.6.2); `None` where it was not measured.
    pub forwards_at_ceiling: Option<Rate>,
}

impl SearchedRate {
    /// From a search's findings, one a goal.
    ///
    /// # Errors
    /// It found no rate without loss.
    pub(super) fn from_findings(findings: &[Finding]) -> Result<Self, JobError> {
        let first = findings.first().ok_or(JobError::NoThroughput)?;
        let rate = match first.outcome {
            Outcome::Found { lossless, .. } => lossless,
            Outcome::CouldNotMeasure { why, .. } => return Err(JobError::CouldNotMeasure(why)),
            Outcome::NoneLossless { .. } => {
                let is_open =
                    first.gate_passed.is_some() || first.irregular == Some(Irregular::EndedEarly);
                return Err(match is_open {
                    true => JobError::NoThroughputYet,
                    false => JobError::NoThroughput,
                });
            }
        };
        Ok(Self {
            rate,
            may_be_higher: matches!(first.rate, Reading::AtLeast(_) | Reading::Unconfirmed(_)),
            receiver: first.receiver,
            forwards_at_most: first.saturated.undisturbed_maximum(),
            ceiling: first.ceiling,
            forwards_at_ceiling: first.saturated.forwards_at_ceiling(),
        })
    }
}

/// The throughput as `mpps throughput` finds it, within the plan's budget.
pub(super) fn search_rate(
    bed: &Bed,
    plan: &ThroughputPlan,
    frames: &FrameSpec,
    trials: &mut Trials<'_>,
) -> Result<SearchedRate, JobError> {
    let search = |at: Overloaded<'_, '_>| {
        throughput::find(at.measurer, plan, at.saturated, at.deadline, at.trials)
    };
    let on = UnderTest::Bed(bed);
    let findings = throughput::after_overload(on, plan, frames, trials, search)?;
    SearchedRate::from_findings(&findings)
}

/// The maximum forwarding rate, by overloads as `mpps throughput` measures them first.
pub(super) fn search_maximum(
    bed: &Bed,
    plan: &ThroughputPlan,
    frames: &FrameSpec,
    trials: &mut Trials<'_>,
) -> Result<SearchedRate, JobError> {
    let (tester, saturated) = saturate(bed, plan, frames, |_| Ok(()), trials)?;
    let void = trials.void();
    let most = saturated.at_overload();
    let most = most.ok_or(JobError::AllVoid { trials: void })?;
    Ok(SearchedRate {
        rate: Rate::from_fps(most.forwarding.middle),
        may_be_higher: false,
        receiver: Some(tester.traffic.receiver),
        forwards_at_most: tester.forwards_at_most,
        ceiling: saturated.ceiling,
        forwards_at_ceiling: saturated.forwards_at_ceiling(),
    })
}

/// As [`search_maximum`], again while the machine leaves too few undisturbed windows: half of a rate that is too low
/// is no load that was asked for.
///
/// # Errors
/// It never stood on undisturbed windows.
pub(super) fn undisturbed_maximum(
    mut search: impl FnMut() -> Result<SearchedRate, JobError>,
) -> Result<SearchedRate, JobError> {
    for _ in 0..=REPEATS {
        let found = search()?;
        if let Some(rate) = found.forwards_at_most {
            return Ok(SearchedRate { rate, ..found });
        }
    }
    Err(JobError::OnlyDisturbed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jobs::{Observer, Report};
    use std::io;

    /// Its disk is full: it takes each line, and writes none.
    #[derive(Default)]
    struct Full(Vec<u32>);

    impl Observer for Full {
        fn trial(&mut self, _: &Report<'_>) -> io::Result<()> {
            Ok(())
        }

        fn last_number(&self) -> u32 {
            0
        }
    }

    impl ResultObserver<u32> for Full {
        fn result(&mut self, line: &u32) -> io::Result<()> {
            self.0.push(*line);
            Err(io::ErrorKind::StorageFull.into())
        }
    }

    #[test]
    fn each_line_of_a_size_is_told_on_a_full_disk() {
        let sizes = FrameSpec::parse_list("64,128").expect("sizes");
        let mut full = Full::default();
        let ended = each_size(&sizes, None, &mut full, |_, _| (vec![1, 2, 3], None));
        assert!(matches!(ended, Some(JobError::Record(_))), "{ended:?}");
        assert_eq!(full.0, [1, 2, 3], "and no further size");
    }

    #[test]
    fn a_disturbed_maximum_is_measured_again() {
        let found = |undisturbed: Option<f64>| SearchedRate {
            rate: Rate::from_fps(400.0),
            may_be_higher: false,
            receiver: None,
            forwards_at_most: undisturbed.map(Rate::from_fps),
            ceiling: Rate::from_fps(2_000.0),
            forwards_at_ceiling: None,
        };
        let mut answers = [None, None, Some(1_000.0)].into_iter();
        let second = undisturbed_maximum(|| Ok(found(answers.next().flatten())));
        assert_eq!(second.expect("a rate").rate, Rate::from_fps(1_000.0));
        let mut searches = 0;
        let never = undisturbed_maximum(|| {
            searches += 1;
            Ok(found(None))
        });
        let error = never.expect_err("no rate");
        assert!(matches!(error, JobError::OnlyDisturbed) && error.is_disturbance());
        assert_eq!(searches, 1 + REPEATS);
    }
}
