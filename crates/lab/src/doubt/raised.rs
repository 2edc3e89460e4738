//! The rules that raise doubts, each from what it needs and nothing else.

use super::{Doubt, FrameDoubt, HostDoubt};
use crate::rules;
use crate::search::Searched;
use crate::search::gate::Gated;
use crate::search::measurer::{Surroundings, TableMet};
use crate::why_lost::WhyLost;
use mpps_method::claim::FINAL_TRIAL;
use mpps_method::limit::{self, BUSY};
use mpps_method::mlr::NOT_OFFERED_AT_MOST;
use mpps_method::speed;
use mpps_method::{GoalResult, Irregular, LimitedBy, Outcome, Rate, Stability, Trial, Verdict};

/// Near its ceiling the tester itself may lose what the DUT did not.
const NEAR_CEILING: f64 = 0.95;
/// Steal above this share can move a result (the quiet machine's bound).
const STEAL_SHARE: f64 = 0.005;
/// More destinations cost no more: a look-up's cost was seen to rise from 1 destination to 65 536, and to stay.
const DESTINATIONS_ENOUGH: u64 = 65_536;
/// Fewer routes than this lie in the caches whatever is sent; what a router has by itself is far below.
const TABLE: u64 = 1_000;
/// A DUT that forwards fewer packets than this share of the frames has merged some.
const MERGED: f64 = 0.95;
/// Frames in one packet at most (net/ipv4/udp_offload.c, UDP_GRO_CNT_MAX; TCP merges fewer of a usual size).
const MERGED_AT_MOST: u64 = 64;
/// The fullest queue may hold so many times its fair share.
const UNEVEN: f64 = 1.5;

/// What comes first: a DUT that loses frames for no load.
pub(super) fn of_gate(stability: &Stability) -> Vec<Doubt> {
    match *stability {
        Stability::Unstable(found) => vec![Doubt::Unstable(found)],
        Stability::Unknown { trials, judged } => vec![Doubt::GateUnknown { trials, judged }],
        Stability::Stable | Stability::Overloaded => Vec::new(),
    }
}

/// Every doubt about a finished search.
pub(super) fn all(around: &Surroundings, ceiling: Rate, searched: &Searched) -> Vec<Doubt> {
    let mut doubts = of_trials(&searched.trials);
    let of_host = HostDoubt::from_trials(&searched.trials, around.cpus_shared);
    doubts.extend(of_host.into_iter().map(Doubt::Host));
    doubts.extend(of_result(&searched.result, ceiling));
    doubts.extend(of_surroundings(around, &searched.result, ceiling));
    doubts.extend(of_loss(searched, around.ring_frames));
    doubts.extend(of_table(around.table));
    doubts.extend(of_queues(searched.evidence.as_ref()));
    doubts.extend(of_merging(searched.evidence.as_ref()));
    doubts.extend(FrameDoubt::from_trials(&searched.trials).map(Doubt::Frames));
    if let Outcome::Found { lossless, .. } = searched.result.outcome {
        let disturbed = HostDoubt::from_lossless(&searched.trials, lossless);
        doubts.extend(disturbed.map(Doubt::Host));
    }
    doubts
}

/// By the DUT's own count, whatever was sent: GRO merges UDP too where that was switched on. (A data plane that goes
/// past the IP layer counts none, or a few that opened its way: no more than so many frames become one packet.)
fn of_merging(trial: Option<&Trial>) -> Option<Doubt> {
    let trial = trial?;
    let (frames, packets) = (trial.counts().received, trial.stack?.forwarded);
    let few = packets as f64 <= MERGED * frames as f64;
    let merged = few && packets.saturating_mul(MERGED_AT_MOST) >= frames;
    merged.then_some(Doubt::Merged { frames, packets })
}

/// Against the best of the gate's trials too: a search may be slow from its first trial on.
pub(super) fn of_speed(gated: &Gated, searched: &Searched) -> Option<Doubt> {
    let trials = gated.trials.iter().chain(searched.trials.iter());
    speed::slowed(trials.map(|(trial, _)| trial)).map(Doubt::Slowed)
}

fn of_trials(trials: &[(Trial, Verdict)]) -> Vec<Doubt> {
    let mut doubts = Vec::new();
    let share = |trial: &Trial| {
        let shares = trial.steal.iter().map(|cpu| trial.stolen_share(cpu));
        shares.fold(0.0, f64::max)
    };
    let steal = trials
        .iter()
        .map(|(trial, _)| share(trial))
        .fold(0.0, f64::max);
    if steal > STEAL_SHARE {
        doubts.push(Doubt::Steal { share: steal });
    }
    let passed = |rate: Rate| {
        trials
            .iter()
            .any(|(t, v)| t.offered == rate && *v == Verdict::Lossless)
    };
    let failed = trials
        .iter()
        .filter(|(_, v)| matches!(v, Verdict::Lossy { .. }))
        .map(|(t, _)| t.offered);
    if let Some(rate) = failed.into_iter().find(|&rate| passed(rate)) {
        doubts.push(Doubt::Contradiction { rate });
    }
    let short = |(_, verdict): &&(Trial, Verdict)| matches!(verdict, Verdict::NotOffered(_));
    let short = u32::try_from(trials.iter().filter(short).count()).unwrap_or(u32::MAX);
    // So many at one load are how a tester's limit is found; the last confirms it.
    if short > NOT_OFFERED_AT_MOST + 1 {
        let of = u32::try_from(trials.len()).unwrap_or(u32::MAX);
        doubts.push(Doubt::NotOffered { trials: short, of });
    }
    let frames = trials.iter().map(|(trial, _)| trial.counts().foreign).sum();
    if frames > 0 {
        doubts.push(Doubt::Foreign { frames });
    }
    doubts
}

fn of_result(result: &GoalResult, ceiling: Rate) -> Vec<Doubt> {
    let mut doubts = Vec::new();
    let outcome = &result.outcome;
    let (Outcome::Found { voided, trials, .. }
    | Outcome::NoneLossless { voided, trials, .. }
    | Outcome::CouldNotMeasure { voided, trials, .. }) = *outcome;
    if voided > 0 {
        doubts.push(Doubt::Voided { voided, trials });
    }
    if let Outcome::Found {
        lossless,
        limited_by,
        ..
    } = *outcome
        && limited_by != LimitedBy::Link
        && lossless.fps() > NEAR_CEILING * ceiling.fps()
    {
        doubts.push(Doubt::TesterNearCeiling {
            result: lossless,
            ceiling,
        });
    }
    if let Some(
        how @ (Irregular::TooWide { .. } | Irregular::OutOfTrials | Irregular::Unconfirmed),
    ) = result.irregular
    {
        doubts.push(Doubt::OutOfTrials(how));
    }
    if result.final_trial < FINAL_TRIAL {
        let trial = result.final_trial;
        doubts.push(Doubt::ShortTrial { trial });
    }
    doubts
}

fn of_surroundings(around: &Surroundings, result: &GoalResult, ceiling: Rate) -> Vec<Doubt> {
    let mut doubts = Vec::new();
    if around.cpus_shared {
        doubts.push(Doubt::CpuShared);
    }
    if let Some((dut, tester)) = around.core_shared {
        doubts.push(Doubt::Host(HostDoubt::CoreShared { dut, tester }));
    }
    // Where nothing was lost the ring hid nothing that the result depends on.
    if let Outcome::Found {
        lossless,
        lossy: Some(lossy),
        ..
    } = result.outcome
    {
        let ring = around.ring_frames;
        let hidden = Rate::of(u64::from(ring), result.final_trial).unwrap_or_default();
        if hidden.fps() > lossy.fps() - lossless.fps() {
            doubts.push(Doubt::RingHides { ring, hidden });
        }
        doubts.extend(unseen(ring, lossy).filter(|_| around.simulated.is_none()));
    }
    match &around.simulated {
        Some(pair) => doubts.push(Doubt::Simulated(pair.clone())),
        None if around.external => {
            doubts.push(Doubt::CeilingUnproven { sender: ceiling });
            doubts.push(Doubt::DeviceUnknown);
            if let Some(port) = around.veth.clone() {
                doubts.push(Doubt::VethCable { port });
                doubts.push(Doubt::NotionalLink);
            }
        }
        None => doubts.push(Doubt::NotionalLink),
    }
    if around.virtual_nic {
        doubts.push(Doubt::VirtualNic);
    }
    doubts
}

/// Whether pauses that the watch cannot see fill the rings at this load.
fn unseen(ring: u32, rate: Rate) -> Option<Doubt> {
    let unseen = rules::UNSEEN;
    let fills = ring > 0 && rate.frames_in(unseen) > u64::from(ring);
    fills.then_some(Doubt::StallUnseen { ring, rate, unseen })
}

/// Loss at the load that failed is no limit of the DUT's where the DUT was not too slow there ([`mpps_method::limit`]).
/// On a CPU that it shares with the tester only its busy time tells: there loss lasts while the tester has the CPU.
pub(super) fn not_the_duts_limit(around: &Surroundings, searched: &mut Searched) {
    let Outcome::Found {
        lossy: Some(rate),
        limited_by: limited_by @ LimitedBy::Dut,
        ..
    } = &mut searched.result.outcome
    else {
        return;
    };
    if around.cpus_shared {
        let busy = lossy_at(&searched.trials, *rate).and_then(Trial::busiest_share);
        if busy.is_none_or(|busy| busy < BUSY) {
            *limited_by = LimitedBy::SharedCpu;
        }
    } else if !limit::is_the_duts(searched.trials.iter(), *rate) {
        *limited_by = LimitedBy::Pause;
    }
}

/// The first trial at a load that lost frames there.
fn lossy_at(trials: &[(Trial, Verdict)], rate: Rate) -> Option<&Trial> {
    let lossy = |(trial, verdict): &&(Trial, Verdict)| {
        trial.offered == rate && matches!(verdict, Verdict::Lossy { .. })
    };
    trials.iter().find(lossy).map(|(trial, _)| trial)
}

/// Only where loss bounds the result that is not the tester's doing.
fn of_loss(searched: &Searched, ring_frames: u32) -> Vec<Doubt> {
    let Outcome::Found {
        lossy: Some(rate),
        limited_by: LimitedBy::Dut | LimitedBy::Pause,
        ..
    } = searched.result.outcome
    else {
        return Vec::new();
    };
    let Some(why) = WhyLost::of(&searched.trials, Some(rate), ring_frames).filter(|why| why.bounds)
    else {
        return idle(rate, &searched.trials).into_iter().collect();
    };
    let mut doubts: Vec<Doubt> = why
        .catch_up()
        .map(Doubt::SenderCaughtUp)
        .into_iter()
        .collect();
    if why.is_not_by_load() {
        let pattern = why.pattern();
        doubts.push(Doubt::LossNotByLoad { rate, pattern });
    } else {
        doubts.extend(idle(rate, &searched.trials));
    }
    doubts
}

/// Loss at this load while the DUT had time left.
fn idle(rate: Rate, trials: &[(Trial, Verdict)]) -> Option<Doubt> {
    let busy = lossy_at(trials, rate)?.busiest_share()?;
    (busy < BUSY).then_some(Doubt::LossWhileIdle { rate, busy })
}

/// A rate with a table and few destinations is no measurement of the table.
pub(super) fn of_table(table: Option<TableMet>) -> Vec<Doubt> {
    let Some(table) = table else {
        return Vec::new();
    };
    let mut doubts = Vec::new();
    let (routes, met) = (table.routes, table.destinations);
    if routes > TABLE && met < routes.min(DESTINATIONS_ENOUGH) {
        doubts.push(Doubt::FewDestinations { routes, met });
    }
    if routes > TABLE && table.both_ways {
        doubts.push(Doubt::Frames(FrameDoubt::HalfMeetsTable { routes }));
    }
    let (sent_frames, period_frames) = (table.passed_frames, table.period_frames);
    if sent_frames < period_frames {
        doubts.push(Doubt::PartOfDestinations {
            sent_frames,
            period_frames,
        });
    }
    doubts
}

fn of_queues(trial: Option<&Trial>) -> Option<Doubt> {
    let queues = &trial?.per_queue;
    let (fullest, sum) = (*queues.iter().max()?, queues.iter().sum::<u64>());
    let fair = sum as f64 / queues.len() as f64;
    let ratio = fullest as f64 / fair.max(1.0);
    let empty = queues.iter().filter(|&&frames| frames == 0).count();
    (queues.len() > 1 && (ratio > UNEVEN || empty > 0)).then_some(Doubt::UnevenQueues {
        ratio,
        empty,
        queues: queues.len(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use mpps_method::Direction;
    use mpps_method::{CpuSpeed, Losses, Span, StackCounts};

    fn names(routes: u64, destinations: u64, sent: u64) -> Vec<&'static str> {
        let table = TableMet {
            routes,
            destinations,
            period_frames: destinations,
            both_ways: false,
            passed_frames: sent,
        };
        let doubts = of_table(Some(table));
        doubts.iter().map(Doubt::name).collect()
    }

    #[test]
    fn few_destinations_and_a_part_of_them_are_doubted() {
        let nothing: [&str; 0] = [];
        assert_eq!(names(1_000_000, 1, 500_000), ["few-destinations"]);
        assert_eq!(names(1_000_000, 65_535, 500_000), ["few-destinations"]);
        assert_eq!(names(1_000_000, 65_536, 500_000), nothing);
        // As many destinations as routes are not few, and a handful of routes is no table.
        assert_eq!(names(10_000, 10_000, 500_000), nothing);
        assert_eq!(names(1_000, 1, 500_000), nothing);
        let short = names(1_000_000, 1_000_000, 999_999);
        assert_eq!(short, ["part-of-destinations"]);
        assert_eq!(names(1_000_000, 1_000_000, 1_000_000), nothing);
        assert!(of_table(None).is_empty());
        let both_ways = TableMet {
            routes: 1_001,
            destinations: 1_001,
            period_frames: 1,
            passed_frames: 1,
            both_ways: true,
        };
        assert_eq!(of_table(Some(both_ways))[0].name(), "half-meets-table");
    }

    #[test]
    fn more_trials_not_offered_than_a_limit_takes_are_a_doubt() {
        let verdict = Verdict::NotOffered(mpps_method::Shortfall::LostAtReceiver(1));
        let one = || (Trial::default(), verdict);
        let raised = |trials: usize| of_trials(&vec![one(); trials]);
        assert_eq!(raised(4), []);
        assert_eq!(raised(5), [Doubt::NotOffered { trials: 5, of: 5 }]);
    }

    fn of_outcome(outcome: Outcome) -> GoalResult {
        GoalResult {
            goal: None,
            outcome,
            loss_ratio: 0.0,
            final_trial: Span::from_millis(1_000),
            passes: mpps_method::Passes::default(),
            irregular: None,
        }
    }

    fn found(lossless: Rate, lossy: Option<Rate>) -> GoalResult {
        of_outcome(Outcome::Found {
            lossless,
            lossy,
            limited_by: LimitedBy::Dut,
            trials: 2,
            voided: 0,
        })
    }

    /// A search bound by a loss of which the DUT's one CPU was so busy.
    fn bound_by_loss(busy: f64) -> Searched {
        let rate = Rate::from_fps(489_100.0);
        let run_ns = (busy * 1e9) as u64;
        let trial = Trial {
            offered: rate,
            duration: Span::from_millis(1_000),
            busy: vec![mpps_method::CpuBusy {
                cpu: 0,
                run_ns,
                wait_ns: 0,
            }],
            ..Trial::default()
        };
        let result = of_outcome(Outcome::Found {
            lossless: Rate::from_fps(484_200.0),
            lossy: Some(rate),
            limited_by: LimitedBy::Dut,
            trials: 7,
            voided: 0,
        });
        Searched {
            result,
            evidence: None,
            stands_on: None,
            trials: [(trial, Verdict::Lossy { lost: 556 })].into(),
        }
    }

    #[test]
    fn loss_of_a_dut_that_lacked_the_shared_cpu_is_not_its_limit() {
        let limit = |busy| {
            let mut searched = bound_by_loss(busy);
            let around = Surroundings {
                cpus_shared: true,
                ..Surroundings::default()
            };
            not_the_duts_limit(&around, &mut searched);
            match searched.result.outcome {
                Outcome::Found { limited_by, .. } => (limited_by, of_loss(&searched, 0)),
                other => panic!("{other:?}"),
            }
        };
        // Its ring overflowed while the tester had the CPU: a larger ring is no advice.
        assert_eq!(limit(0.33), (LimitedBy::SharedCpu, vec![]));
        assert_eq!(limit(0.97), (LimitedBy::Dut, vec![]));
    }

    /// As [`bound_by_loss`], and these frames of 64 000 in a second are the ones lost, so many of them at the ring.
    fn bound_by_these(lost: std::ops::Range<usize>, at_ring: u64, busy: f64) -> Searched {
        let mut searched = bound_by_loss(busy);
        let mut words = vec![u64::MAX; 1_000];
        lost.for_each(|sequence| words[sequence / 64] &= !(1 << (sequence % 64)));
        let losses = Losses::from_bitmap(&words, 64_000, Span::from_millis(1_000), &[]);
        let (mut trial, verdict) = searched.trials[0].clone();
        trial.losses = losses.into_iter().collect();
        trial
            .losses
            .iter_mut()
            .for_each(|losses| losses.at_ring = Some(at_ring));
        searched.trials = [(trial, verdict)].into();
        searched
    }

    #[test]
    fn loss_in_a_pause_of_a_dut_with_time_to_spare_is_not_its_limit() {
        let limit = |mut searched: Searched| {
            not_the_duts_limit(&Surroundings::default(), &mut searched);
            let doubts = of_loss(&searched, 4_096);
            match searched.result.outcome {
                Outcome::Found { limited_by, .. } => {
                    (limited_by, doubts.first().map_or("none", Doubt::name))
                }
                other => panic!("{other:?}"),
            }
        };
        let stall = |busy| bound_by_these(30_000..30_500, 500, busy);
        let scarce = |at_ring| bound_by_these(30_000..30_003, at_ring, 0.6);
        let pause = |doubt| (LimitedBy::Pause, doubt);
        assert_eq!(limit(stall(0.6)), pause("loss-not-by-load"));
        assert_eq!(limit(scarce(3)), pause("loss-while-idle"));
        assert_eq!(limit(scarce(0)), pause("loss-while-idle"));
        let dut = |doubt| (LimitedBy::Dut, doubt);
        assert_eq!(limit(stall(0.96)), dut("loss-not-by-load"), "no time left");
        let to_the_end = bound_by_these(30_000..64_000, 0, 0.6);
        assert_eq!(limit(to_the_end), dut("loss-not-by-load"));
        // A device of somebody else's, whose busy time nobody knows.
        let mut untold = stall(0.6);
        let (mut trial, verdict) = untold.trials[0].clone();
        trial.busy.clear();
        untold.trials = [(trial, verdict)].into();
        assert_eq!(limit(untold), pause("loss-not-by-load"));
        // Nobody saw which frames.
        assert_eq!(limit(bound_by_loss(0.6)), pause("loss-while-idle"));
        assert_eq!(limit(bound_by_loss(0.95)).0, LimitedBy::Dut);
    }

    #[test]
    fn a_cpu_slow_before_and_after_a_trial_is_a_doubt_against_the_gate_too() {
        let beside = |us: u64| {
            let took = Span::from_nanos(us * 1_000);
            let (cpu, before, after) = (1, took, took);
            let speeds = vec![CpuSpeed { cpu, before, after }];
            let trial = Trial {
                speeds,
                ..Trial::default()
            };
            (trial, Verdict::Lossless)
        };
        let gated = Gated {
            stability: Stability::Stable,
            trials: vec![beside(18)],
        };
        let rate = Rate::from_fps(1_000.0);
        let result = of_outcome(Outcome::NoneLossless {
            lowest: rate,
            trials: 2,
            voided: 0,
        });
        let searched = |us: [u64; 2]| Searched {
            result,
            evidence: None,
            stands_on: None,
            trials: us.map(beside).into(),
        };
        assert_eq!(of_speed(&gated, &searched([19, 18])), None);
        let doubt = of_speed(&gated, &searched([27, 27])).expect("a slow search");
        assert!(
            doubt.to_string().starts_with(
                "CPU 1 took up to 50 % longer for the same work before and after 2 of 3 trials"
            ),
            "{doubt}"
        );
    }

    #[test]
    fn a_pause_that_the_watch_cannot_see_and_fills_the_ring_is_a_doubt() {
        let fps = Rate::from_fps;
        let doubt = unseen(256, fps(800_000.0)).expect("256 frames come in 320 us");
        assert_eq!(
            doubt.seen(),
            "at 800.0 kfps a pause of 320 us fills the ring of 256 frames, and the watch sees no pause below 500 us"
        );
        assert_eq!(unseen(256, fps(500_000.0)), None);
        assert_eq!(unseen(4096, fps(1_900_000.0)), None);
        assert_eq!(unseen(0, fps(1_900_000.0)), None, "nobody knows the ring");
    }

    #[test]
    fn fewer_packets_forwarded_than_frames_received_is_a_doubt() {
        let merged = |received: u64, stack: Option<u64>| {
            let mut way = Direction::default();
            way.counts.received = received;
            let trial = Trial {
                directions: vec![way],
                stack: stack.map(|forwarded| StackCounts {
                    forwarded,
                    no_route: 0,
                }),
                ..Trial::default()
            };
            of_merging(Some(&trial))
        };
        let doubt = merged(1_000, Some(950)).expect("5 % fewer");
        let (frames, packets) = (1_000, 950);
        assert_eq!(doubt, Doubt::Merged { frames, packets });
        assert_eq!(
            doubt.seen(),
            "the DUT forwarded 1000 frames as 950 packets: GRO merged them, and they were cut again"
        );
        // Canaries are forwarded besides.
        assert_eq!(merged(1_000, Some(1_032)), None);
        assert_eq!(merged(1_000, Some(951)), None);
        assert_eq!(merged(1_000, Some(0)), None, "past the IP layer");
        assert_eq!(merged(1_000, Some(15)), None, "past it but for the first");
        assert!(merged(1_000, Some(16)).is_some());
        assert_eq!(merged(1_000, None), None, "a device that tells nothing");
        assert_eq!(of_merging(None), None);
    }

    #[test]
    fn threads_of_one_core_are_a_doubt() {
        let around = Surroundings {
            core_shared: Some((3, 1)),
            ..Surroundings::default()
        };
        let rate = Rate::from_fps(1_000.0);
        let doubts = of_surroundings(&around, &found(rate, None), rate);
        let named = doubts.iter().find(|doubt| doubt.name() == "core-shared");
        assert_eq!(
            named.expect("a doubt").seen(),
            "CPU 3 (DUT) and CPU 1 (tester) are threads of one core"
        );
    }

    #[test]
    fn any_traffic_is_asked_for_merging() {
        let mut way = Direction::default();
        way.counts.received = 1_000;
        let stack = Some(StackCounts {
            forwarded: 100,
            no_route: 0,
        });
        let trial = Trial {
            directions: vec![way],
            stack,
            ..Trial::default()
        };
        let searched = Searched {
            result: found(Rate::from_fps(1_000.0), None),
            evidence: Some(trial),
            stands_on: None,
            trials: Vec::new().into(),
        };
        let doubts = all(&Surroundings::default(), Rate::from_fps(1e6), &searched);
        assert!(doubts.iter().any(|doubt| doubt.name() == "merged"));
    }

    #[test]
    fn loss_that_the_sender_may_have_made_by_catching_up_is_a_doubt() {
        let fps = Rate::from_fps;
        let names = |late_us: u64| {
            let mut words = vec![u64::MAX; 1_000];
            words[500] = 0;
            let length = Span::from_millis(1_000);
            let mut trial = Trial {
                offered: fps(64_000.0),
                duration: length,
                losses: Losses::from_bitmap(&words, 64_000, length, &[])
                    .into_iter()
                    .collect(),
                ..Trial::default()
            };
            trial.lateness.add(Span::from_nanos(late_us * 1_000));
            let searched = Searched {
                result: found(fps(60_000.0), Some(fps(64_000.0))),
                evidence: None,
                stands_on: None,
                trials: vec![(trial, Verdict::Lossy { lost: 64 })].into(),
            };
            let doubts = of_loss(&searched, 256);
            doubts.iter().map(Doubt::name).collect::<Vec<_>>()
        };
        assert_eq!(names(1_000), ["sender-caught-up", "loss-not-by-load"]);
        assert_eq!(names(500), ["loss-not-by-load"]);
    }
}
