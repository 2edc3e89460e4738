//! A lasting overload: whether the DUT holds its rate, whether its management path is alive meanwhile, and how long it takes
//! until it is as before.
//!
//! One trial has both loads: many times the maximum forwarding rate, then half of that rate, without a break. The maximum is
//! measured before and afterwards. Once a second the receiver's count is read. [`Management`](crate::tester::Management) asks the router's own address all the time.

use super::recovery::{self, Recovery};
use super::sizes::{self, Size, counts};
use super::throughput::{self, ThroughputPlan};
use super::{JobError, Judged, Phase, ResultObserver, Trials};
use crate::bed::Bed;
use crate::clock::monotonic_ns;
use crate::facts::{self, Root};
use crate::tester::{Question, Tester, TesterError};
use crate::traffic::Traffic;
use crate::trial::{self, Passed, rules};
use mpps_linux::clock::thread_ns;
use mpps_linux::procstat;
use mpps_method::{Disturbance, Offer, Rate, Span};
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

/// From one reading to the next.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Second {
    /// From when to when, monotonic ns.
    pub between_ns: (u64, u64),
    /// Frames sent.
    pub sent: u64,
    /// Frames that the DUT forwarded.
    pub forwarded: u64,
    /// Largest share of it that the machine took from the bed: stolen from a CPU, or in pauses and other programs.
    pub disturbed: f64,
}

/// How the management path answered in some time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Answers {
    /// Questions.
    pub asked: u64,
    /// Those answered in time.
    pub answered: u64,
    /// The longest time without an answer.
    pub longest: Span,
}

/// What the management path was seen to do.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Managed {
    /// Before the overload.
    pub before: Answers,
    /// While it lasted.
    pub during: Answers,
    /// By second.
    pub seconds: Vec<Answers>,
    /// From the end of the overload until every question is answered; `None`: never, or the overload did not end.
    pub back: Option<Span>,
    /// CPU time that the answers took on the router's CPUs.
    pub answering: Span,
}

/// What came of one frame size.
pub type Lasting = Size<LastingFound>;

/// What a job of this kind finds for one frame size.
#[derive(Clone, Debug, Default)]
pub struct LastingFound {
    /// The maximum forwarding rate, as measured before.
    pub maximum: Option<Rate>,
    /// The load, and the one afterwards.
    pub loads: Option<[Rate; 2]>,
    /// The overload by second, as far as it came.
    pub seconds: Vec<Second>,
    /// `None`: the DUT has no path that mpps reaches.
    pub managed: Option<Managed>,
    /// The trial; `None` where it was cut short.
    pub judged: Option<Judged>,
    /// How long the DUT went on losing frames.
    pub recovery: Recovery,
    /// Frames lost after that, disturbances aside.
    pub lost_later: u64,
    /// The maximum forwarding rate, as measured afterwards.
    pub maximum_after: Option<Rate>,
    /// CPU time that readings and questions took on the tester's CPUs.
    pub watching: Span,
}

/// Measures one frame size after the other on the bed, and tells each; returns what ended the run, or a size.
pub fn measure(
    bed: &Bed,
    plan: &LastingPlan,
    observer: &mut dyn ResultObserver<Lasting>,
) -> Option<JobError> {
    sizes::fill_each(&plan.measurement, observer, |size, trials| {
        measure_size(bed, plan, size, trials)
    })
}

fn measure_size(
    bed: &Bed,
    plan: &LastingPlan,
    size: &mut Lasting,
    trials: &mut Trials<'_>,
) -> Result<(), JobError> {
    let found = sizes::search_maximum(bed, &plan.measurement, &size.frames, trials)?;
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
    size.receiver = found.receiver;
    (size.maximum, size.loads) = (Some(found.rate), Some([high.rate, low.rate]));
    let frames_max = high.rate.frames_in(high.duration) + low.rate.frames_in(low.duration);
    fits(frames_max, &high)?;
    let default = bed.dut().ports().map(|_| QUERIES_PER_S);
    let traffic = Traffic {
        frames: size.frames.clone(),
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
    overload(&mut tester, size, [&high, &low], trials)?;
    let later = std::iter::once(size.lost_later);
    size.doubts = recovery::doubts(&tester, size.judged.iter(), later);
    drop(tester);
    let again = sizes::search_maximum(bed, &plan.measurement, &size.frames, trials)?;
    size.maximum_after = Some(again.rate);
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

/// The trial. What was seen of it is kept, whatever ends it.
fn overload(
    tester: &mut Tester<'_>,
    size: &mut Lasting,
    [high, low]: [&Offer; 2],
    trials: &mut Trials<'_>,
) -> Result<(), JobError> {
    let seen = RefCell::new((Vec::<Reading>::new(), 0));
    let look = |tester: &Tester<'_>, passed: &Passed| {
        let (begun_ns, seen) = (thread_ns(), &mut *seen.borrow_mut());
        let next = read(tester, high, passed, &mut seen.0)?;
        seen.1 += thread_ns() - begun_ns;
        Ok(next)
    };
    let stepped = trial::run_stepped_watched(tester, high, low, &look);
    let (readings, mut watching_ns) = seen.into_inner();
    size.seconds = readings.windows(2).map(second).collect();
    let dropped = stepped.as_ref().ok().and_then(|stepped| stepped.dropped);
    if let Some(path) = tester.management.take() {
        let (questions, [answering_ns, asking_ns]) = path.end();
        watching_ns += asking_ns;
        size.managed = Some(Managed {
            answering: Span::from_nanos(answering_ns),
            ..managed(&questions, &readings, dropped)
        });
    }
    size.watching = Span::from_nanos(watching_ns);
    let stepped = stepped?;
    let loss = stepped.loss;
    let (frames, rules) = (&tester.traffic.frames, rules::choose(tester, high));
    let judged = trials.judged(Phase::Recovery, frames, *high, &rules, stepped.trial)?;
    if counts(&judged) {
        size.recovery = Recovery::new(dropped, &loss);
        size.lost_later = loss.later;
    }
    let (trial, seconds) = (&judged.trial, &mut size.seconds);
    let times: Vec<_> = trial.stalls.iter().chain(&trial.others).copied().collect();
    if let Some(begun) = trial.begun {
        let each = seconds.iter_mut();
        each.for_each(|second| disturb(second, begun.as_nanos(), &times));
    }
    size.judged = Some(judged);
    Ok(())
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
fn second(readings: &[Reading]) -> Second {
    let (from, to) = (&readings[0], &readings[1]);
    let time_ns = (to.ns - from.ns).max(1);
    let stolen = from.steal_ns.iter().zip(&to.steal_ns);
    let stolen = stolen.map(|(before, after)| after.saturating_sub(*before));
    Second {
        between_ns: (from.ns, to.ns),
        sent: to.sent.saturating_sub(from.sent),
        forwarded: to.received - from.received,
        disturbed: stolen.max().unwrap_or(0) as f64 / time_ns as f64,
    }
}

/// Adds the pauses and other programs of a trial that began then. What two CPUs had at once counts twice.
fn disturb(second: &mut Second, begun_ns: u64, times: &[Disturbance]) {
    let (from_ns, to_ns) = second.between_ns;
    let part = |time: &Disturbance| {
        let from = (begun_ns + time.from.as_nanos()).max(from_ns);
        (begun_ns + time.to.as_nanos())
            .min(to_ns)
            .saturating_sub(from)
    };
    let share = times.iter().map(part).sum::<u64>() as f64 / (to_ns - from_ns).max(1) as f64;
    second.disturbed = second.disturbed.max(share.min(1.0));
}

/// The path before the overload, during it by second, and after it.
fn managed(questions: &[Question], readings: &[Reading], dropped: Option<Span>) -> Managed {
    let (Some(first), Some(last)) = (readings.first(), readings.last()) else {
        return Managed::default();
    };
    let begun_ns = questions.first().map_or(first.ns, |first| first.asked_ns);
    let second = |two: &[Reading]| answers(questions, two[0].ns, two[1].ns);
    let back = dropped.and_then(|dropped| back(questions, first.ns + dropped.as_nanos()));
    Managed {
        before: answers(questions, begun_ns, first.ns),
        during: answers(questions, first.ns, last.ns),
        seconds: readings.windows(2).map(second).collect(),
        back,
        answering: Span::ZERO,
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
        assert_eq!((dead.before.asked, dead.before.answered), (10, 0));
        assert_eq!((dead.during.asked, dead.during.answered), (20, 0));
        assert_eq!(dead.during.longest, Span::from_millis(2_000));
        assert_eq!((dead.seconds.len(), dead.back), (2, None));
        assert_eq!(told(0..0).back, Some(Span::ZERO));
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
        let Second {
            sent, forwarded, ..
        } = found;
        assert_eq!((sent, forwarded), (10_000, 2_000));
        assert!((found.disturbed - 0.02).abs() < 1e-9, "{found:?}");
        let pause = |from, to| Disturbance {
            cpu: 1,
            from: Span::from_millis(from),
            to: Span::from_millis(to),
        };
        let pauses = [pause(0, 600), pause(2_400, 9_000), pause(4_000, 5_000)];
        // The overload began half a second before the first reading.
        disturb(&mut found, 500 * MS, &pauses);
        assert!((found.disturbed - 0.1).abs() < 1e-9, "{found:?}");
    }
}
