//! System recovery (RFC 2544 section 26.5): for how long the DUT goes on losing frames after an overload has ended.
//!
//! One trial has both loads: 110 % of the throughput, then half of that, without a break. The recovery time is from the drop
//! to the departure of the last frame that was lost before a tenth of the time without loss, by the sender's marks and the receiver's bit for each frame.

use super::sizes::{self, SearchedRate};
use super::throughput::{self, ThroughputPlan};
use super::{JobError, Judged, Phase, ResultObserver, Trials};
use crate::bed::Bed;
use crate::clock::Deadline;
use crate::doubt::{self, Doubt, Weight};
use crate::line::{self, whole_fps};
use crate::search::measurer::Measurer;
use crate::tester::{PortKind, Tester};
use crate::traffic::Traffic;
use crate::trial::{self, Stepped};
use mpps_method::pattern::Ending;
use mpps_method::{FrameSpec, Offer, Rate, Span, statistics};
use mpps_record::RecoveryLine;
use mpps_record::doubts::LOST_LATER;

/// Overload, as a share of the throughput (RFC 2544 section 26.5).
const OVERLOAD: f64 = 1.1;
/// The load after the drop, as a share of the overload.
const DROP: f64 = 0.5;
/// A router that forwards nothing in the last tenth has not recovered.
pub(super) const END: f64 = 0.1;

/// What to measure; the bed is raised by then.
#[derive(Clone, Debug)]
pub struct RecoveryPlan {
    /// Everything but the trials. Its search finds the throughput, in its budget.
    pub measurement: ThroughputPlan,
    /// What a search found before: nothing is searched again. It stands for one size.
    pub searched: Option<SearchedRate>,
    /// Overload lasts so long (RFC 2544: 60 s at least).
    pub overload: Span,
    /// The lower load lasts so long.
    pub after: Span,
    /// Trials for each size.
    pub trials: u32,
}

/// One trial, repeated while it said nothing.
#[derive(Clone, Debug)]
pub struct RecoveryTrial {
    /// The last one.
    pub judged: Judged,
    /// Void ones before it.
    pub void: u32,
    /// What it says.
    pub recovery: Recovery,
    /// Frames lost after the recovery, disturbances aside.
    pub lost_later: u64,
}

/// What a trial says of the recovery.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Recovery {
    /// The last frame was lost so long after the drop; zero where it was before.
    After(Span),
    /// Frames were lost to the end.
    NotRecovered,
    /// No frame was lost: there was no overload.
    NotOverloaded,
    /// The trial does not count.
    #[default]
    NotMeasured,
}

impl Recovery {
    /// The word in records.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::After(_) => "recovered",
            Self::NotRecovered => "not-recovered",
            Self::NotOverloaded => "not-overloaded",
            Self::NotMeasured => "not-measured",
        }
    }

    /// The time of a DUT that recovered.
    #[must_use]
    pub const fn time(self) -> Option<Span> {
        match self {
            Self::After(time) => Some(time),
            _ => None,
        }
    }

    /// From when the load dropped, and how the loss ended.
    pub(super) fn new(dropped: Option<Span>, loss: &Ending<Span>) -> Self {
        let Some(dropped) = dropped else {
            return Self::NotMeasured;
        };
        let Some(last) = loss.last else {
            return Self::NotOverloaded;
        };
        if !loss.is_over {
            return Self::NotRecovered;
        }
        Self::After(Span::from_nanos(
            last.as_nanos().saturating_sub(dropped.as_nanos()),
        ))
    }
}

impl RecoveryTrial {
    /// From when the load dropped, and how the loss ended. A trial that does not count tells nothing of either.
    fn new(judged: Judged, void: u32, dropped: Option<Span>, loss: &Ending<Span>) -> Self {
        let (recovery, lost_later) = match judged.verdict.counts() {
            true => (Recovery::new(dropped, loss), loss.later),
            false => (Recovery::NotMeasured, 0),
        };
        Self {
            judged,
            void,
            recovery,
            lost_later,
        }
    }

    /// Its entry.
    pub(super) fn line(&self) -> mpps_record::RecoveryTrial {
        let judged = &self.judged;
        mpps_record::RecoveryTrial {
            trial: judged.number,
            void_trials: self.void,
            verdict: line::verdict(&judged.verdict),
            verdict_text: judged.verdict.to_string(),
            recovered: self.recovery.name().into(),
            recovery_ns: self.recovery.time().map(Span::as_nanos),
            lost_frames: judged.trial.lost_at_dut(),
        }
    }
}

/// The mean time of the trials that tell one, which RFC 2544 asks for; `None` unless every trial that was overloaded
/// recovered.
fn average(trials: &[RecoveryTrial]) -> Option<Span> {
    let lasting = |trial: &RecoveryTrial| trial.recovery == Recovery::NotRecovered;
    let times = trials.iter().filter_map(|trial| trial.recovery.time());
    let times: Vec<f64> = times.map(|time| time.as_nanos() as f64).collect();
    let mean = statistics::mean(&times).filter(|_| !trials.iter().any(lasting))?;
    Some(Span::from_nanos(mean.round() as u64))
}

/// Measures one frame size after the other on the bed, and tells each; returns what ended the run, or a size.
pub fn measure(
    bed: &Bed,
    plan: &RecoveryPlan,
    observer: &mut dyn ResultObserver<RecoveryLine>,
) -> Option<JobError> {
    sizes::fill_each(&plan.measurement, observer, |frames, line, trials| {
        line.overload_ns = plan.overload.as_nanos();
        line.after_ns = plan.after.as_nanos();
        measure_size(bed, plan, frames, line, trials)
    })
}

/// Whether this traffic's sender can change its pace within a trial.
#[must_use]
pub fn can_step(traffic: &Traffic) -> bool {
    !traffic.bidirectional && traffic.port == PortKind::Xdp
}

fn measure_size(
    bed: &Bed,
    plan: &RecoveryPlan,
    frames: &FrameSpec,
    line: &mut RecoveryLine,
    trials: &mut Trials<'_>,
) -> Result<(), JobError> {
    let traffic = plan.measurement.traffic.with_frames(frames);
    if !can_step(&traffic) {
        return Err(JobError::NoStep);
    }
    let found = match plan.searched {
        Some(found) => found,
        None => sizes::search_rate(bed, &plan.measurement, frames, trials)?,
    };
    let high = Offer::new(overload(&found), plan.overload);
    let low = Offer::new(Rate::from_fps(high.rate.fps() * DROP), plan.after);
    line.throughput_fps = Some(whole_fps(found.rate));
    line.overload_fps = Some(whole_fps(high.rate));
    line.receiver = found.receiver.map(Into::into);
    // The drop may come a moment late.
    let frames_max = high.rate.frames_in(plan.overload) + high.rate.frames_in(plan.after);
    let place = found.receiver;
    let (mut tester, ()) = throughput::raise(bed, &traffic, frames_max, place, |_| Ok(()))?;
    tester.warm_up = plan.measurement.warm_up;
    tester.forwards_at_most = found.forwards_at_most;
    let deadline = Deadline::after(plan.measurement.budget);
    let mut tried = Vec::new();
    for _ in 0..plan.trials {
        if !tried.is_empty() && !deadline.leaves(plan.overload) {
            let (ended, asked) = (tried.len(), plan.trials);
            line.why = Some(format!(
                "the budget was spent after {ended} of {asked} trials"
            ));
            break;
        }
        let trial = one_trial(&mut tester, &high, &low, trials)?;
        line.trials.push(trial.line());
        tried.push(trial);
        line.average_ns = average(&tried).map(Span::as_nanos);
    }
    let judged = tried.iter().map(|trial| &trial.judged);
    let later = tried.iter().map(|trial| trial.lost_later);
    line.doubts = line::doubts(&doubts(&tester, judged, later));
    Ok(())
}

/// Of the throughput. Where the router may carry more, of what it forwards at most. No more than the tester can offer, which
/// RFC 2544 says of the media.
fn overload(found: &SearchedRate) -> Rate {
    let most = found.forwards_at_most.filter(|_| found.may_be_higher);
    let rate = most.map_or(found.rate, |most| most.max(found.rate));
    Rate::from_fps(rate.fps() * OVERLOAD).min(found.ceiling)
}

/// One trial, again while the machine disturbs it. Loss is no reason to repeat.
///
/// # Errors
/// The tester or the record failed.
pub fn one_trial(
    tester: &mut Tester<'_>,
    high: &Offer,
    low: &Offer,
    trials: &mut Trials<'_>,
) -> Result<RecoveryTrial, JobError> {
    let (mut dropped, mut loss) = (None, Ending::default());
    let (judged, void) = sizes::repeat_void(|| {
        let stepped = trial::run_stepped(tester, high, low)?;
        let Stepped { trial, .. } = stepped;
        (dropped, loss) = (stepped.dropped, stepped.loss);
        tester.judge(Phase::Recovery, *high, trial, trials)
    })?;
    Ok(RecoveryTrial::new(judged, void, dropped, &loss))
}

pub(super) fn doubts<'a>(
    tester: &Tester<'_>,
    trials: impl Iterator<Item = &'a Judged>,
    lost_later: impl Iterator<Item = u64>,
) -> Vec<Doubt> {
    let around = tester.surroundings();
    let tried: Vec<_> = trials
        .map(|judged| (judged.trial.clone(), judged.verdict))
        .collect();
    let mut doubts = doubt::overload_doubts(&around);
    let later: Vec<u64> = lost_later.filter(|&frames| frames > 0).collect();
    doubts.extend((!later.is_empty()).then(|| Doubt {
        name: LOST_LATER,
        weight: Weight::Unsure(1),
        seen: format!("trials that lost frames again after the recovery: {} ({} frames)", later.len(), later.iter().sum::<u64>()),
        why: "No frame was lost for a tenth of the time after the drop before that. The recovery time does not count them.",
        next: "Run mpps trial at half of the load: a router that loses frames there too has another cause of loss.",
    }));
    doubts.extend(doubt::work_doubts(&tried, around.cpus_shared));
    doubts.extend(doubt::frame_doubts(&tried, around.ring_frames));
    doubts
}

#[cfg(test)]
mod tests {
    use super::*;
    use mpps_method::{Trial, Verdict, Void};

    #[test]
    fn a_void_trial_tells_nothing_of_its_loss() {
        let loss = Ending {
            last: Some(Span::from_millis(9)),
            is_over: true,
            later: 40,
        };
        let told = |verdict| {
            let judged = Judged {
                number: 1,
                trial: Trial::default(),
                verdict,
            };
            let trial = RecoveryTrial::new(judged, 0, Some(Span::from_millis(5)), &loss);
            (trial.recovery, trial.lost_later)
        };
        let after = Recovery::After(Span::from_millis(4));
        assert_eq!(told(Verdict::Lossy { lost: 9 }), (after, 40));
        let void = Verdict::Void(Void::Steal {
            cpu: 0,
            share: 0.5,
            bound: 0.02,
        });
        assert_eq!(told(void), (Recovery::NotMeasured, 0));
    }

    #[test]
    fn a_bound_is_no_throughput_to_exceed() {
        let rate = Rate::from_fps;
        let found = |may_be_higher, most: Option<f64>| SearchedRate {
            rate: rate(1_000.0),
            may_be_higher,
            receiver: None,
            forwards_at_most: most.map(rate),
            ceiling: rate(2_000.0),
            forwards_at_ceiling: None,
        };
        for (may_be_higher, most, asked) in [
            (false, Some(1_500.0), 1_100.0),
            (true, Some(1_500.0), 1_650.0),
            (true, Some(900.0), 1_100.0),
            (true, Some(1_900.0), 2_000.0),
            (true, None, 1_100.0),
        ] {
            assert!((overload(&found(may_be_higher, most)).fps() - asked).abs() < 1e-6);
        }
    }

    #[test]
    fn the_time_is_from_the_drop_to_the_last_loss() {
        let ms = Span::from_millis;
        let loss = |last, is_over| Ending {
            last,
            is_over,
            later: 0,
        };
        let recovery = |last, is_over| Recovery::new(Some(ms(1_000)), &loss(last, is_over));
        assert_eq!(recovery(Some(ms(1_250)), true), Recovery::After(ms(250)));
        let before = recovery(Some(ms(999)), true);
        assert_eq!(before, Recovery::After(Span::ZERO));
        assert_eq!(recovery(Some(ms(1_250)), false), Recovery::NotRecovered);
        assert_eq!(recovery(None, true), Recovery::NotOverloaded);
        let never = Recovery::new(None, &loss(Some(ms(5)), true));
        assert_eq!(never, Recovery::NotMeasured);
    }

    #[test]
    fn one_trial_without_an_end_has_no_average() {
        let trial = |&recovery: &Recovery| RecoveryTrial {
            judged: Judged {
                number: 1,
                trial: Trial::default(),
                verdict: Verdict::Lossless,
            },
            void: 0,
            recovery,
            lost_later: 0,
        };
        let average = |each: &[Recovery]| {
            let trials: Vec<_> = each.iter().map(trial).collect();
            super::average(&trials)
        };
        let after = |ms| Recovery::After(Span::from_millis(ms));
        let two = average(&[after(100), Recovery::NotMeasured, after(300)]);
        assert_eq!(two, Some(Span::from_millis(200)));
        assert_eq!(average(&[after(100), Recovery::NotRecovered]), None);
        assert_eq!(average(&[Recovery::NotOverloaded]), None);
    }
}
