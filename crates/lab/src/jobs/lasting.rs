//! A lasting overload: whether the DUT holds its rate, whether its management path is alive meanwhile, and how long it takes
//! until it is as before.
//!
//! One trial has both loads: many times the maximum forwarding rate, then half of that rate, without a break. The maximum is
//! measured before and afterwards. Once a second the receiver's count is read. [`Management`](crate::tester::Management) asks the router's own address all the time.

use super::recovery::{self, Recovery};
use super::sizes;
use super::throughput::{self, ThroughputPlan};
use super::{JobError, Judged, Phase, ResultObserver, Trials};
use crate::bed::Bed;
use crate::clock::monotonic_ns;
use crate::facts::{self, Root};
use crate::line::{self, whole_fps};
use crate::search::measurer::Measurer;
use crate::tester::{Question, Tester, TesterError};
use crate::traffic::Traffic;
use crate::trial::{self, Passed};
use mpps_linux::clock::thread_ns;
use mpps_linux::procstat;
use mpps_method::{Disturbance, FrameSpec, Offer, Rate, Span};
use mpps_record::{ManagementPath, OverloadLine, OverloadSecond};
use std::cell::RefCell;
use std::fmt;

/// Questions to the management path each second, where nobody says how many.
const QUERIES_PER_S: u16 = 10;
/// From one reading to the next, ns.
const READING_NS: u64 = 1_000_000_000;
/// An answer later than this counts as none, ns.
const IN_TIME_NS: u64 = 1_000_000_000;
/// The load afterwards, as a share of the maximum forwarding rate.
const AFTERWARDS: f64 = 0.5;
/// It lasts as long as the overload, or this at most.
const AFTER_MAX: Span = Span::from_millis(30_000);
/// Of the free memory the frames' bits take at most one in so many octets: they are copied once.
const MEMORY_PART: u64 = 4;

/// How much is offered.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Overload {
    /// So many times the maximum forwarding rate, or what the tester can.
    Times(f64),
    /// What the tester can.
    Max,
}

impl fmt::Display for Overload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Times(factor) => write!(f, "{factor}x"),
            Self::Max => f.write_str("max"),
        }
    }
}

/// What to measure; the bed is raised by then.
#[derive(Clone, Debug)]
pub struct LastingPlan {
    /// Everything but the load.
    pub measurement: ThroughputPlan,
    /// The load.
    pub overload: Overload,
    /// For how long.
    pub lasts: Span,
}

impl LastingPlan {
    /// How long the load afterwards lasts.
    #[must_use]
    pub fn after(&self) -> Span {
        self.lasts.min(AFTER_MAX)
    }
}

/// A reading while the overload lasts.
#[derive(Clone, Debug, Default)]
struct Reading {
    ns: u64,
    /// Frames handed over and received by then.
    sent: u64,
    received: u64,
    /// Time stolen from each CPU of the bed by then.
    steal_ns: Vec<u64>,
}

/// How the management path answered in some time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Answers {
    /// Questions.
    asked: u64,
    /// Those answered in time.
    answered: u64,
    /// The longest time without an answer.
    longest: Span,
}

/// Measures one frame size after the other on the bed, and tells each; returns what ended the run, or a size.
pub fn measure(
    bed: &Bed,
    plan: &LastingPlan,
    observer: &mut dyn ResultObserver<OverloadLine>,
) -> Option<JobError> {
    // The budget is of the maxima alone.
    let sizes = ThroughputPlan {
        budget: None,
        ..plan.measurement.clone()
    };
    sizes::fill_each(&sizes, observer, |frames, line, trials| {
        line.load = plan.overload.to_string();
        line.asked_ns = plan.lasts.as_nanos();
        line.after_ns = plan.after().as_nanos();
        tell(line, Recovery::NotMeasured);
        measure_size(bed, plan, frames, line, trials)
    })
}

fn measure_size(
    bed: &Bed,
    plan: &LastingPlan,
    frames: &FrameSpec,
    line: &mut OverloadLine,
    trials: &mut Trials<'_>,
) -> Result<(), JobError> {
    let found = sizes::search_maximum(bed, &plan.measurement, frames, trials)?;
    let (maximum, ceiling) = (found.rate.fps(), found.ceiling);
    let rate = match plan.overload {
        Overload::Times(factor) => Rate::from_fps(maximum * factor).min(ceiling),
        Overload::Max => ceiling,
    };
    let [high, low] = [
        (rate, plan.lasts),
        (Rate::from_fps(maximum * AFTERWARDS), plan.after()),
    ]
    .map(|(rate, duration)| Offer { rate, duration });
    line.receiver = found.receiver.map(Into::into);
    line.max_forwarding_fps = Some(whole_fps(found.rate));
    line.forwarding_at_most_fps = found.forwards_at_ceiling.map(whole_fps);
    line.overload_fps = Some(whole_fps(high.rate));
    line.after_fps = Some(whole_fps(low.rate));
    let frames_max = high.rate.frames_in(high.duration) + low.rate.frames_in(low.duration);
    fits(frames_max, &high)?;
    let default = bed.dut().ports().map(|_| QUERIES_PER_S);
    let traffic = Traffic {
        frames: frames.clone(),
        queries_per_s: plan.measurement.traffic.queries_per_s.or(default),
        ..plan.measurement.traffic.clone()
    };
    let (mut tester, ()) =
        throughput::raise(bed, &traffic, frames_max, found.receiver, |_| Ok(()))?;
    // The rings are full all the time, so a pause has no effect after its end, as with a DUT that has time to spare.
    tester.forwards_at_most = Some(Rate::from_fps(high.rate.fps() * 2.0));
    // What is asked before the load tells a path that was dead all along.
    if let Some(path) = &tester.management {
        let _first = path.begin();
    }
    let (judged, later) = overload(&mut tester, line, [&high, &low], trials)?;
    let doubts = recovery::doubts(&tester, std::iter::once(&judged), std::iter::once(later));
    line.doubts = line::doubts(&doubts);
    drop(tester);
    let again = sizes::search_maximum(bed, &plan.measurement, frames, trials)?;
    line.max_forwarding_afterwards_fps = Some(whole_fps(again.rate));
    Ok(())
}

/// Whether there is memory for a bit for each frame.
fn fits(frames: u64, high: &Offer) -> Result<(), JobError> {
    let free = facts::memory(&Root::here()).available_octets;
    let most = free.known().map_or(u64::MAX, |free| free / MEMORY_PART) * 8;
    if frames <= most {
        return Ok(());
    }
    let share = most as f64 / frames as f64;
    Err(JobError::OverloadTooLong {
        frames,
        longest: Span::from_secs_f64((high.duration.as_secs_f64() * share).floor()),
    })
}

fn tell(line: &mut OverloadLine, recovery: Recovery) {
    line.recovered = recovery.name().into();
    line.recovery_ns = recovery.time().map(Span::as_nanos);
}

/// The trial, and the frames lost after the recovery. What was seen of it is kept, whatever ends it.
fn overload(
    tester: &mut Tester<'_>,
    line: &mut OverloadLine,
    [high, low]: [&Offer; 2],
    trials: &mut Trials<'_>,
) -> Result<(Judged, u64), JobError> {
    let seen = RefCell::new((Vec::<Reading>::new(), 0));
    let look = |tester: &Tester<'_>, passed: &Passed| {
        let (begun_ns, seen) = (thread_ns(), &mut *seen.borrow_mut());
        let next = read(tester, high, passed, &mut seen.0)?;
        seen.1 += thread_ns() - begun_ns;
        Ok(next)
    };
    let stepped = trial::run_stepped_watched(tester, high, low, &look);
    let (readings, mut watching_ns) = seen.into_inner();
    line.seconds = readings.windows(2).map(second).collect();
    let dropped = stepped.as_ref().ok().and_then(|stepped| stepped.dropped);
    if let Some(path) = tester.management.take() {
        let (questions, [answering_ns, asking_ns]) = path.end()?;
        watching_ns += asking_ns;
        line.management = Some(ManagementPath {
            answering_ns,
            ..managed(&questions, &readings, dropped)
        });
        for (second, two) in line.seconds.iter_mut().zip(readings.windows(2)) {
            let told = answers(&questions, two[0].ns, two[1].ns);
            (second.asked, second.answered) = (Some(told.asked), Some(told.answered));
        }
    }
    line.watching_ns = watching_ns;
    let stepped = stepped?;
    let loss = stepped.loss;
    let judged = tester.judge(Phase::Recovery, *high, stepped.trial, trials)?;
    line.trial = Some(judged.number);
    line.verdict = Some(line::verdict(&judged.verdict));
    line.verdict_text = Some(judged.verdict.to_string());
    let does_count = judged.verdict.counts();
    if does_count {
        tell(line, Recovery::new(dropped, &loss));
    }
    let trial = &judged.trial;
    // A slow CPU forwards on, so nothing was taken of it.
    let times: Vec<_> = trial.stalls.iter().chain(&trial.others).copied().collect();
    if let Some(begun) = trial.begun {
        let seconds = line.seconds.iter_mut().zip(readings.windows(2));
        seconds.for_each(|(second, two)| disturb(second, two, begun.as_nanos(), &times));
    }
    Ok((judged, if does_count { loss.later } else { 0 }))
}

/// Reads once a second while the overload lasts. Returns when the next reading is due.
fn read(
    tester: &Tester<'_>,
    high: &Offer,
    passed: &Passed,
    readings: &mut Vec<Reading>,
) -> Result<Span, TesterError> {
    let &Passed { started_ns, unsent } = passed;
    let end_ns = started_ns + high.duration.as_nanos();
    let due_ns = readings.last().map_or(started_ns, |last| {
        let passed = (last.ns - started_ns) / READING_NS;
        started_ns + (passed + 1) * READING_NS
    });
    let due_ns = due_ns.min(end_ns);
    if let left @ 1.. = due_ns.saturating_sub(monotonic_ns()) {
        return Ok(Span::from_nanos(left));
    }
    if started_ns == 0 || readings.last().is_some_and(|last| last.ns >= end_ns) {
        return Ok(Span::from_nanos(READING_NS));
    }
    let mut received = 0;
    for receiver in &tester.receivers {
        let counts = receiver.read()?;
        received += counts.tagged - counts.duplicated;
    }
    let ns = monotonic_ns();
    let cpus = tester.bed.plan().cpus.all();
    let times = procstat::cpu_times()?.into_iter();
    let due = high
        .rate
        .frames_in(Span::from_nanos(ns.min(end_ns) - started_ns));
    readings.push(Reading {
        ns,
        sent: due.saturating_sub(unsent),
        received,
        steal_ns: times
            .filter(|times| cpus.contains(&times.cpu))
            .map(|times| times.steal_ns)
            .collect(),
    });
    Ok(Span::from_nanos(READING_NS))
}

/// What lies between two readings.
fn second(readings: &[Reading]) -> OverloadSecond {
    let (from, to) = (&readings[0], &readings[1]);
    let length_ns = to.ns - from.ns;
    let stolen = from.steal_ns.iter().zip(&to.steal_ns);
    let stolen = stolen.map(|(before, after)| after.saturating_sub(*before));
    let fps = |frames| {
        let rate = Rate::from_frames(frames, Span::from_nanos(length_ns));
        whole_fps(rate.unwrap_or_default())
    };
    OverloadSecond {
        length_ns,
        offered_fps: fps(to.sent.saturating_sub(from.sent)),
        forwarding_fps: fps(to.received - from.received),
        disturbed_share: share(stolen.max().unwrap_or(0), length_ns),
        ..OverloadSecond::default()
    }
}

/// To 1 in 10 000.
fn share(part_ns: u64, length_ns: u64) -> f64 {
    (part_ns as f64 / length_ns.max(1) as f64 * 1e4).round() / 1e4
}

/// Adds the pauses and other programs of a trial that began then. What two CPUs had at once counts twice.
fn disturb(
    second: &mut OverloadSecond,
    readings: &[Reading],
    begun_ns: u64,
    times: &[Disturbance],
) {
    let (from_ns, to_ns) = (readings[0].ns, readings[1].ns);
    let part = |time: &Disturbance| {
        let from = (begun_ns + time.from.as_nanos()).max(from_ns);
        (begun_ns + time.to.as_nanos())
            .min(to_ns)
            .saturating_sub(from)
    };
    let share = share(times.iter().map(part).sum(), second.length_ns);
    second.disturbed_share = second.disturbed_share.max(share.min(1.0));
}

/// The path before the overload, during it, and after it.
fn managed(questions: &[Question], readings: &[Reading], dropped: Option<Span>) -> ManagementPath {
    let (Some(first), Some(last)) = (readings.first(), readings.last()) else {
        return ManagementPath::default();
    };
    let begun_ns = questions.first().map_or(first.ns, |first| first.asked_ns);
    let before = answers(questions, begun_ns, first.ns);
    let during = answers(questions, first.ns, last.ns);
    let back = dropped.and_then(|dropped| back(questions, first.ns + dropped.as_nanos()));
    ManagementPath {
        before_asked: before.asked,
        before_answered: before.answered,
        asked: during.asked,
        answered: during.answered,
        longest_silence_ns: during.longest.as_nanos(),
        back_ns: back.map(Span::as_nanos),
        answering_ns: 0,
    }
}

fn is_in_time(question: &Question) -> bool {
    let answered = question.answered_ns;
    answered.is_some_and(|at_ns| at_ns - question.asked_ns <= IN_TIME_NS)
}

fn answers(questions: &[Question], from_ns: u64, to_ns: u64) -> Answers {
    let is_within = |at_ns: &u64| (from_ns..to_ns).contains(at_ns);
    let asked = questions.iter().filter(|one| is_within(&one.asked_ns));
    let arrived = questions.iter().filter_map(|one| one.answered_ns);
    let mut arrived: Vec<u64> = arrived.filter(is_within).collect();
    arrived.extend([from_ns, to_ns]);
    arrived.sort_unstable();
    let longest = arrived.windows(2).map(|two| two[1] - two[0]).max();
    Answers {
        asked: asked.clone().count() as u64,
        answered: asked.filter(|question| is_in_time(question)).count() as u64,
        longest: Span::from_nanos(longest.unwrap_or(0)),
    }
}

/// From the end of the overload to the first answer after which every question was answered in time. The questions of the
/// last second do not count: they had no time for an answer.
fn back(questions: &[Question], ended_ns: u64) -> Option<Span> {
    let last_ns = questions.last()?.asked_ns;
    let is_late = |one: &&Question| !is_in_time(one) && one.asked_ns + IN_TIME_NS <= last_ns;
    let late = questions.iter().rfind(is_late);
    let lost_ns = late.map_or(0, |question| question.asked_ns);
    let arrived = questions.iter().filter_map(|question| question.answered_ns);
    let first_ns = arrived.filter(|&at_ns| at_ns > lost_ns).min()?;
    Some(Span::from_nanos(first_ns.saturating_sub(ended_ns)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    /// A question each 100 ms for 10 s, answered after 1 ms but for those asked in these ms.
    fn asked(dead: std::ops::Range<u64>) -> Vec<Question> {
        let question = |number: u64| Question {
            asked_ns: number * 100 * MS,
            answered_ns: (!dead.contains(&(number * 100))).then_some(number * 100 * MS + MS),
        };
        (0..100).map(question).collect()
    }

    #[test]
    fn answers_are_counted_where_they_were_asked() {
        let questions = asked(2_000..4_000);
        let all = answers(&questions, 1_000 * MS, 5_000 * MS);
        assert_eq!((all.asked, all.answered), (40, 20));
        assert_eq!(all.longest, Span::from_millis(2_100));
        let dead = answers(&questions, 2_500 * MS, 3_500 * MS);
        assert_eq!((dead.asked, dead.answered), (10, 0));
        assert_eq!(dead.longest, Span::from_millis(1_000));
        let late = [Question {
            asked_ns: 0,
            answered_ns: Some(1_001 * MS),
        }];
        assert_eq!(answers(&late, 0, MS).answered, 0);
    }

    #[test]
    fn the_path_is_back_at_the_first_lasting_answer() {
        let after = |dead| back(&asked(dead), 3_000 * MS);
        assert_eq!(after(2_000..4_000), Some(Span::from_millis(1_001)));
        assert_eq!(after(2_000..2_500), Some(Span::ZERO));
        assert_eq!(after(0..0), Some(Span::ZERO));
        assert_eq!(after(2_000..10_000), None);
        assert_eq!(back(&[], 0), None);
    }

    #[test]
    fn a_path_dead_all_along_is_asked_and_never_back() {
        let readings = [1_000, 2_000, 3_000].map(|ms| Reading {
            ns: ms * MS,
            sent: 0,
            received: 0,
            steal_ns: Vec::new(),
        });
        let told = |dead| managed(&asked(dead), &readings, Some(Span::from_millis(2_000)));
        let dead = told(0..10_000);
        assert_eq!((dead.before_asked, dead.before_answered), (10, 0));
        assert_eq!((dead.asked, dead.answered), (20, 0));
        assert_eq!(dead.longest_silence_ns, 2_000 * MS);
        assert_eq!((dead.back_ns, told(0..0).back_ns), (None, Some(0)));
    }

    #[test]
    fn a_second_is_the_difference_of_two_readings() {
        let reading = |ns, sent, received, steal: [u64; 2]| Reading {
            ns,
            sent,
            received,
            steal_ns: steal.into(),
        };
        let two = [
            reading(1_000 * MS, 5_000, 1_000, [7 * MS, 0]),
            reading(3_000 * MS, 15_000, 3_000, [7 * MS, 40 * MS]),
        ];
        let mut found = second(&two);
        assert_eq!((found.offered_fps, found.forwarding_fps), (5_000, 1_000));
        assert!((found.disturbed_share - 0.02).abs() < 1e-9, "{found:?}");
        let pause = |from, to| Disturbance {
            cpu: 1,
            from: Span::from_millis(from),
            to: Span::from_millis(to),
        };
        let pauses = [pause(0, 600), pause(2_400, 9_000), pause(4_000, 5_000)];
        // The overload began half a second before the first reading.
        disturb(&mut found, &two, 500 * MS, &pauses);
        assert!((found.disturbed_share - 0.1).abs() < 1e-9, "{found:?}");
    }
}
