//! Latency (RFC 2544 section 26.2, RFC 8219 section 7): how long every frame takes at the throughput, at shares of it and
//! at given loads, one-way and by one clock, one frame at a time where the tester can offer the load so.
//!
//! Trials go in turns, through the router and through a wire in its place: what slows the machine down for a while
//! slows both. What the wire shows is the bed's own latency. It stands beside the router's and is never subtracted.

mod awake;
mod doubts;

use self::awake::Watch;
use super::sizes::{self, SearchedRate};
use super::throughput::{self, ThroughputPlan};
use super::{JobError, Judged, Phase, ResultObserver, Trials};
use crate::bed::Bed;
use crate::line::{self, whole_fps};
use crate::search::measurer::Measurer;
use crate::search::saturation::{self, FIRST_BURST, SENDER_MAX};
use crate::tester::{ReceiverPlace, Tester};
use crate::traffic::Traffic;
use crate::trial;
use mpps_method::turns::TurnOrder;
use mpps_method::{
    Counts, Disturbance, FrameSpec, Histogram, Offer, Rate, Rules, Span, Trial, Verdict,
};
use mpps_record::{self as record, LatencyLine};

/// The longest turn: the machine's drift is slower.
const TURN: Span = Span::from_millis(2_000);
/// So many turns at least share the time of a load: fewer do not show by how much equal trials differ.
pub const TURNS_MIN: u64 = 3;
/// So many rounds more make up for trials that do not count.
const MORE_ROUNDS: u64 = 3;
/// After so many trials that were not offered, where none counts, the tester cannot offer the load in batches of this size.
const NOT_OFFERED_MAX: usize = 3;
/// Most frames handed on at once where the tester cannot offer a load one frame at a time. Each frame of a batch waits for the
/// last one, so few are tried first.
const LARGER_BATCHES: [u32; 2] = [4, Traffic::BATCH];
/// The highest load that it can is looked for below the most that came, by these shares of it one after the other.
const STEPS_DOWN: [f64; 6] = [0.95, 0.95, 0.85, 0.85, 0.85, 0.85];

/// What to measure; the bed is raised by then.
#[derive(Clone, Debug)]
pub struct LatencyPlan {
    /// Everything but the loads. Its search finds the throughput, in its budget.
    pub measurement: ThroughputPlan,
    /// The throughput, where the user knows it: nothing is searched.
    pub throughput: Option<Rate>,
    /// What a search found before: nothing is searched again. It stands for one size.
    pub searched: Option<SearchedRate>,
    /// One after the other, for each size.
    pub loads: Vec<LatencyLoad>,
    /// Time of each load, through the router and again through the wire.
    pub time: Span,
    /// Whether idle CPUs may sleep between frames, as the system lets them.
    pub may_sleep: bool,
}

impl LatencyPlan {
    /// Whether a search has to find the throughput first.
    #[must_use]
    pub fn searches(&self) -> bool {
        let is_share = |load: &LatencyLoad| matches!(load, LatencyLoad::Share(_));
        let unknown = self.throughput.is_none() && self.searched.is_none();
        unknown && self.loads.iter().any(is_share)
    }
}

/// A load to offer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LatencyLoad {
    /// So large a share of the throughput.
    Share(f64),
    /// So many frames/s, over all directions.
    At(Rate),
}

/// What came of one load.
#[derive(Clone, Debug)]
pub struct LoadLatency {
    /// As asked for.
    pub asked: LatencyLoad,
    /// The load.
    pub load: Rate,
    /// The load before it that the tester could not offer, where this one is the highest that it could.
    pub instead_of: Option<Rate>,
    /// Most frames handed on at once.
    pub batch: u32,
    /// Through the router.
    pub router: PathLatency,
    /// Through a wire in its place: the bed's own; `None` where none can be laid.
    pub bed: Option<PathLatency>,
}

impl LoadLatency {
    /// This, after trials in smaller batches. They count for nothing, and are named as left out.
    fn after(mut self, smaller: Self) -> Self {
        self.router.smaller = smaller.router.numbers();
        if let (Some(bed), Some(smaller)) = (&mut self.bed, smaller.bed) {
            bed.smaller = smaller.numbers();
        }
        self
    }

    /// The most that came where the tester could not offer the load; of the path with less, where neither could have it.
    fn most_offered(&self) -> Option<Rate> {
        let paths = [Some(&self.router), self.bed.as_ref()];
        let most = paths
            .into_iter()
            .flatten()
            .filter_map(PathLatency::most_offered);
        most.min_by(|one, other| one.fps().total_cmp(&other.fps()))
    }
}

/// The trials through one path, in their order.
#[derive(Clone, Debug, Default)]
pub struct PathLatency {
    /// All of them; see [`PathLatency::counted`].
    pub trials: Vec<Judged>,
    /// Numbers of those before them, in smaller batches.
    pub smaller: Vec<u32>,
}

impl PathLatency {
    /// The trials that count: the DUT got the load, and the machine disturbed them little. What was lost is no reason to leave
    /// a trial out, nor how long a frame took.
    pub fn counted(&self) -> impl Iterator<Item = &Judged> {
        self.trials.iter().filter(|judged| judged.verdict.counts())
    }

    /// The trials that do not.
    pub fn left_out(&self) -> impl Iterator<Item = &Judged> {
        self.trials.iter().filter(|judged| !judged.verdict.counts())
    }

    fn numbers(self) -> Vec<u32> {
        let own = self.trials.iter().map(|judged| judged.number);
        self.smaller.into_iter().chain(own).collect()
    }

    /// How long each frame took that arrived.
    #[must_use]
    pub fn latency(&self) -> Histogram {
        let mut latency = Histogram::default();
        for judged in self.counted() {
            latency.merge(&judged.trial.latency);
        }
        latency
    }

    /// The most that came, where enough trials say that the tester cannot offer this load, and no trial counts.
    fn most_offered(&self) -> Option<Rate> {
        let is_short = |judged: &&Judged| matches!(judged.verdict, Verdict::NotOffered(_));
        let short = self.trials.iter().filter(is_short);
        // What the DUT lost is no limit of the tester's.
        let came = |judged: &Judged| {
            let (trial, ledger) = (&judged.trial, judged.trial.ledger());
            let missed = ledger.lost_before_nic + ledger.lost_receiver_ring;
            Rate::from_frames(trial.counts().sent.saturating_sub(missed), trial.duration)
        };
        let most =
            (short.clone().filter_map(came)).max_by(|one, other| one.fps().total_cmp(&other.fps()));
        most.filter(|_| short.count() >= NOT_OFFERED_MAX && self.counted().next().is_none())
    }

    /// What was sent and lost.
    #[must_use]
    pub fn counts(&self) -> Counts {
        let each = self.counted().map(|judged| judged.trial.counts());
        each.fold(Counts::default(), |sum, counts| sum.plus(&counts))
    }

    /// Time outside disturbances.
    fn time(&self) -> Span {
        let each = self.counted().map(|judged| judged.trial.undisturbed_time());
        each.fold(Span::ZERO, Span::plus)
    }

    /// The longest that a CPU of the bed stood still or was slow in a trial that counts.
    #[must_use]
    pub fn longest_stall(&self) -> Span {
        let of_trial = |trial: &Trial| {
            let gaps = trial
                .gaps
                .iter()
                .map(|gap| Span::from_nanos(gap.longest_ns));
            let slow = trial.slow.iter().map(Disturbance::length);
            gaps.chain(slow).max()
        };
        let each = (self.counted()).filter_map(|judged| of_trial(&judged.trial));
        each.max().unwrap_or_default()
    }

    /// Frames that were sent while the machine disturbed the bed. They are timed as all others.
    #[must_use]
    pub fn disturbed_frames(&self) -> u64 {
        self.counted()
            .map(|judged| judged.trial.disturbed.sent)
            .sum()
    }

    fn line(&self) -> record::PathLatency {
        let left_out = || self.left_out().map(|judged| &judged.verdict);
        let counts = self.counts();
        record::PathLatency {
            trials: self.counted().map(|judged| judged.number).collect(),
            left_out_trials: self.left_out().map(|judged| judged.number).collect(),
            smaller_batch_trials: self.smaller.clone(),
            left_out_verdict: left_out().last().map(line::verdict),
            left_out_text: left_out().last().map(ToString::to_string),
            undisturbed_ns: self.time().as_nanos(),
            sent_frames: counts.sent,
            lost_frames: counts.lost,
            disturbed_frames: self.disturbed_frames(),
            longest_stall_ns: self.longest_stall().as_nanos(),
            times: line::buckets(&self.latency()).into(),
        }
    }
}

impl LoadLatency {
    fn line(&self) -> record::LatencyLoad {
        record::LatencyLoad {
            load_share: match self.asked {
                LatencyLoad::Share(share) => Some(share),
                LatencyLoad::At(_) => None,
            },
            load_fps: whole_fps(self.load),
            instead_of_fps: self.instead_of.map(whole_fps),
            batch_frames: Some(self.batch).filter(|&batch| batch > 1),
            router: self.router.line(),
            bed: self.bed.as_ref().map(PathLatency::line),
        }
    }
}

/// Measures one frame size after the other on the bed, and tells each; returns what ended the run, or a size, and what
/// a search found, here or before.
pub fn measure(
    bed: &Bed,
    plan: &LatencyPlan,
    observer: &mut dyn ResultObserver<LatencyLine>,
) -> (Option<JobError>, Option<SearchedRate>) {
    let mut searched = None;
    let ended = sizes::fill_each(&plan.measurement, observer, |frames, line, trials| {
        searched = plan.searched;
        line.throughput_fps = plan.throughput.map(whole_fps);
        line.throughput_given = plan.throughput.is_some();
        if plan.searches() {
            let found = sizes::search_rate(bed, &plan.measurement, frames, trials)?;
            searched = Some(found);
        }
        measure_size(bed, plan, (frames, searched), line, trials)
    });
    (ended, searched)
}

fn measure_size(
    bed: &Bed,
    plan: &LatencyPlan,
    (frames, searched): (&FrameSpec, Option<SearchedRate>),
    line: &mut LatencyLine,
    trials: &mut Trials<'_>,
) -> Result<(), JobError> {
    let (mut place, mut forwards_at_most) = (plan.measurement.receiver, None);
    let mut throughput = plan.throughput;
    if let Some(found) = searched {
        throughput = Some(found.rate);
        line.throughput_fps = throughput.map(whole_fps);
        (place, forwards_at_most) = (found.receiver, found.forwards_at_most);
    }
    let traffic = plan.measurement.traffic.with_frames(frames);
    let mut tester = raise(bed, &traffic, plan.time, place)?;
    tester.warm_up = plan.measurement.warm_up;
    tester.forwards_at_most = forwards_at_most;
    line.receiver = Some(tester.traffic.receiver.into());
    let watch = (!plan.may_sleep).then(|| Watch::begin(&bed.plan().cpus));
    let mut loads = Vec::new();
    let ended = at_loads(&mut tester, plan, throughput, &mut loads, trials);
    let asleep = watch.as_ref().and_then(Watch::why_asleep);
    line.cpus_awake = watch.is_some() && asleep.is_none();
    let doubts = doubts::doubts(&tester.surroundings(), &loads, asleep);
    line.doubts = line::doubts(&doubts);
    line.loads = loads.iter().map(LoadLatency::line).collect();
    ended
}

/// One load after the other. A load that the tester cannot offer is followed by the highest that it can.
fn at_loads(
    tester: &mut Tester<'_>,
    plan: &LatencyPlan,
    throughput: Option<Rate>,
    loads: &mut Vec<LoadLatency>,
    trials: &mut Trials<'_>,
) -> Result<(), JobError> {
    for &asked in &plan.loads {
        let load = match (asked, throughput) {
            (LatencyLoad::At(load), _) => load,
            (LatencyLoad::Share(share), Some(most)) => Rate::from_fps(most.fps() * share),
            (LatencyLoad::Share(_), None) => continue,
        };
        let at = in_batches(tester, asked, load, plan.time, trials)?;
        let most = at.most_offered();
        loads.push(at);
        let lower = |lower| at_load(tester, LatencyLoad::At(lower), lower, plan.time, trials);
        loads.extend(highest(load, most, lower)?);
    }
    Ok(())
}

/// One load, one frame at a time, or in larger batches where the tester cannot offer it so.
fn in_batches(
    tester: &mut Tester<'_>,
    asked: LatencyLoad,
    load: Rate,
    time: Span,
    trials: &mut Trials<'_>,
) -> Result<LoadLatency, JobError> {
    tester.traffic.batch = 1;
    let mut at = at_load(tester, asked, load, time, trials)?;
    for batch in LARGER_BATCHES {
        if at.most_offered().is_none() {
            break;
        }
        tester.traffic.batch = batch;
        // At a low load a larger batch has no more frames.
        if trial::frames_at_once(tester, load) > at.batch {
            at = at_load(tester, asked, load, time, trials)?.after(at);
        }
    }
    Ok(at)
}

/// The highest load below this one that the tester can offer, or the lowest one tried. `most` is what arrived at the load
/// before.
fn highest(
    load: Rate,
    mut most: Option<Rate>,
    mut measure: impl FnMut(Rate) -> Result<LoadLatency, JobError>,
) -> Result<Option<LoadLatency>, JobError> {
    let (mut highest, mut lower) = (None, load);
    for step in STEPS_DOWN {
        let Some(came) = most else { break };
        lower = Rate::from_fps(came.min(lower).fps() * step);
        let at = measure(lower)?;
        most = at.most_offered();
        highest = Some(LoadLatency {
            instead_of: Some(load),
            ..at
        });
    }
    Ok(highest)
}

fn turn(time: Span) -> Span {
    Span::from_nanos(time.as_nanos() / TURNS_MIN).min(TURN)
}

/// A tester that times every frame, and sends one at a time until it is told to send more. Its receiver waits for no timer.
///
/// # Errors
/// The tester, or the DUT lets no frame through.
pub fn raise<'a>(
    bed: &'a Bed,
    traffic: &Traffic,
    time: Span,
    receiver: Option<ReceiverPlace>,
) -> Result<Tester<'a>, JobError> {
    let traffic = Traffic {
        all_timed: true,
        ..traffic.clone()
    };
    let longest = trial::longest(turn(time));
    let frames_max = SENDER_MAX.frames_in(longest).max(FIRST_BURST);
    let mut tester =
        throughput::raise(bed, &traffic, frames_max, receiver, throughput::first_burst)?.0;
    tester.traffic.batch = 1;
    Ok(tester)
}

/// One load, in turns through the router and a wire, until both have had so much time in trials that count.
///
/// # Errors
/// The tester or the record failed.
pub fn at_load(
    tester: &mut Tester<'_>,
    asked: LatencyLoad,
    load: Rate,
    time: Span,
    trials: &mut Trials<'_>,
) -> Result<LoadLatency, JobError> {
    let offer = Offer::new(load, turn(time));
    let wanted = time.as_nanos().div_ceil(offer.duration.as_nanos().max(1));
    let (mut router, mut bed) = (PathLatency::default(), None::<PathLatency>);
    let is_short = |path: &PathLatency| path.time() < time;
    for round in 0..wanted + MORE_ROUNDS {
        let is_whole = !is_short(&router) && !bed.as_ref().is_some_and(is_short);
        let cannot_be_offered = |path: &PathLatency| path.most_offered().is_some();
        if is_whole || cannot_be_offered(&router) || bed.as_ref().is_some_and(cannot_be_offered) {
            break;
        }
        let mut turns = [Phase::Latency, Phase::Wire];
        TurnOrder::new(round as u32).arrange(&mut turns);
        for phase in turns {
            let judged = saturation::through(tester, phase, offer, trials, |tester, offer| {
                tester.trial(offer)
            })?;
            let judged = judged.map(held_to_its_load);
            match phase {
                Phase::Wire => bed = judged.map(|judged| added(bed, judged)),
                _ => router.trials.extend(judged),
            }
        }
    }
    Ok(LoadLatency {
        asked,
        load,
        instead_of: None,
        batch: trial::frames_at_once(tester, load),
        router,
        bed,
    })
}

/// A trial that the tester left short was not offered, whatever the DUT lost of it. Its frames met another load.
fn held_to_its_load(mut judged: Judged) -> Judged {
    let unsent = judged.trial.unsent_above_bound(&Rules::default());
    if let (true, Some(unsent)) = (judged.verdict.counts(), unsent) {
        judged.verdict = Verdict::NotOffered(unsent);
    }
    judged
}

fn added(path: Option<PathLatency>, judged: Judged) -> PathLatency {
    let mut path = path.unwrap_or_default();
    path.trials.push(judged);
    path
}

#[cfg(test)]
mod tests {
    use super::*;
    use mpps_method::{CpuGap, Direction, Disturbed, Shortfall, Void};

    /// A trial of a second with one frame of so many microseconds.
    fn judged(us: u64, verdict: Verdict) -> Judged {
        let mut trial = Trial {
            duration: Span::from_millis(1_000),
            directions: vec![Direction {
                counts: Counts {
                    sent: 2,
                    received: 1,
                    lost: 1,
                    ..Counts::default()
                },
                ..Direction::default()
            }],
            disturbed: Disturbed {
                time: Span::from_millis(100),
                sent: 1,
                ..Disturbed::default()
            },
            gaps: vec![CpuGap {
                cpu: 0,
                longest_ns: us * 10,
            }],
            ..Trial::default()
        };
        trial.latency.add(Span::from_nanos(us * 1_000));
        Judged {
            number: 1,
            trial,
            verdict,
        }
    }

    #[test]
    fn only_trials_that_count_are_added_up() {
        let void = Verdict::Void(Void::Steal {
            cpu: 0,
            share: 0.5,
            bound: 0.01,
        });
        let mut path = PathLatency {
            trials: vec![
                judged(10, Verdict::Lossless),
                judged(900, void),
                judged(30, Verdict::Lossy { lost: 1 }),
            ],
            ..PathLatency::default()
        };
        let latency = path.latency();
        assert_eq!(latency.count(), 2);
        assert!(latency.quantile(1.0).expect("timed") < Span::from_nanos(31_000));
        assert_eq!(path.counts().lost, 2);
        assert_eq!(path.time(), Span::from_millis(1_800));
        assert_eq!(path.longest_stall(), Span::from_nanos(300));
        assert_eq!(path.disturbed_frames(), 2);
        path.trials[0].trial.slow = vec![Disturbance {
            to: Span::from_nanos(500),
            ..Disturbance::default()
        }];
        assert_eq!(path.longest_stall(), Span::from_nanos(500));
    }

    #[test]
    fn the_most_that_was_offered_is_told() {
        let path = |verdicts: &[Verdict]| PathLatency {
            trials: verdicts.iter().map(|&one| judged(10, one)).collect(),
            ..PathLatency::default()
        };
        let short = Verdict::NotOffered(Shortfall::LostAtReceiver(1));
        let void = Verdict::Void(Void::Steal {
            cpu: 0,
            share: 0.5,
            bound: 0.01,
        });
        // Two frames were sent in a second, of which the DUT lost one.
        let most = path(&[void, short, short, short]);
        assert_eq!(most.most_offered(), Some(Rate::from_fps(2.0)));
        for others in [
            vec![void, short, short],
            vec![short, short, short, Verdict::Lossless],
            vec![void],
        ] {
            assert_eq!(path(&others).most_offered(), None, "{others:?}");
        }
    }

    #[test]
    fn a_lossy_trial_is_held_to_its_load_too() {
        let lossy = |unsent| {
            let mut one = judged(10, Verdict::Lossy { lost: 1 });
            one.trial.directions[0].counts.unsent = unsent;
            one.trial.directions[0].counts.intended = 1_000_000;
            held_to_its_load(one).verdict
        };
        assert_eq!(lossy(900), Verdict::Lossy { lost: 1 });
        assert!(matches!(lossy(2_000), Verdict::NotOffered(_)));
    }

    #[test]
    fn trials_in_smaller_batches_are_named_alone() {
        let path = |numbers: &[u32]| {
            let one = |&number| Judged {
                number,
                ..judged(10, Verdict::Lossless)
            };
            PathLatency {
                trials: numbers.iter().map(one).collect(),
                ..PathLatency::default()
            }
        };
        let at = |router: &[u32], bed: &[u32]| LoadLatency {
            asked: LatencyLoad::Share(1.0),
            load: Rate::from_fps(1e6),
            instead_of: None,
            batch: 1,
            router: path(router),
            bed: Some(path(bed)),
        };
        let found = at(&[9], &[10]).after(at(&[5, 8], &[6, 7]).after(at(&[1], &[2])));
        let lines = [found.router.line(), found.bed.expect("a bed").line()];
        let numbers = lines.map(|line| (line.trials, line.smaller_batch_trials));
        assert_eq!(
            numbers,
            [(vec![9], vec![1, 5, 8]), (vec![10], vec![2, 6, 7])]
        );
    }

    #[test]
    fn a_load_that_can_be_offered_is_found_far_below() {
        let fps = Rate::from_fps;
        let found = |offers: f64| {
            let mut tried = Vec::new();
            let measure = |lower: Rate| {
                tried.push(lower);
                let verdict = match lower.fps() <= offers {
                    true => Verdict::Lossless,
                    false => Verdict::NotOffered(Shortfall::LostAtReceiver(1)),
                };
                let mut at = judged(10, verdict);
                at.trial.directions[0].counts.sent = lower.frames_in(at.trial.duration);
                let trials = vec![at; NOT_OFFERED_MAX];
                Ok(LoadLatency {
                    asked: LatencyLoad::At(lower),
                    load: lower,
                    instead_of: None,
                    batch: 1,
                    router: PathLatency {
                        trials,
                        ..PathLatency::default()
                    },
                    bed: None,
                })
            };
            let highest = highest(fps(1_000.0), Some(fps(900.0)), measure).expect("a load");
            (highest.expect("lower ones"), tried.len())
        };
        let (near, tried) = found(900.0);
        assert_eq!((near.load.fps().round(), tried), (855.0, 1));
        // A fifth less than the third step.
        let (far, tried) = found(500.0);
        assert_eq!((far.instead_of, tried), (Some(fps(1_000.0)), 5));
        assert!(far.load <= fps(500.0) && far.router.counted().next().is_some());
        assert_eq!(found(0.0).1, STEPS_DOWN.len());
    }

    #[test]
    fn a_load_is_offered_to_router_and_bed_alike() {
        let path = |verdict| PathLatency {
            trials: vec![judged(10, verdict); NOT_OFFERED_MAX],
            ..PathLatency::default()
        };
        let short = Verdict::NotOffered(Shortfall::LostAtReceiver(1));
        let most = |router, bed: Option<Verdict>| {
            let at = LoadLatency {
                asked: LatencyLoad::At(Rate::from_fps(9.0)),
                load: Rate::from_fps(9.0),
                instead_of: None,
                batch: 1,
                router: path(router),
                bed: bed.map(path),
            };
            at.most_offered()
        };
        assert!(most(Verdict::Lossless, Some(short)).is_some());
        assert!(most(short, Some(Verdict::Lossless)).is_some());
        assert_eq!(most(Verdict::Lossless, Some(Verdict::Lossless)), None);
        assert_eq!(most(Verdict::Lossless, None), None);
    }

    #[test]
    fn a_path_without_trials_says_nothing() {
        let path = PathLatency::default();
        assert_eq!(path.latency().count(), 0);
        assert_eq!(
            (path.time(), path.longest_stall()),
            (Span::ZERO, Span::ZERO)
        );
    }
}
