//! Doubts about the loss that bounds the result: whether load caused it.

use super::limit::{is_the_maximum, lossy_at};
use super::{CatchUp, Doubt, Searched, Weighed, Weight, WhyLost};
use mpps_method::limit::BUSY;
use mpps_method::{LimitedBy, Outcome, Rate, Trial, Verdict};

/// Loss that begins after this share of a trial was preceded by more than unrest.
const LATE: f64 = 0.1;

const SENDER_CAUGHT_UP: &str = "sender-caught-up";
/// Trials that lose frames at any load are so many at least.
const LOSING_TRIALS: usize = 3;
/// Their loads are apart by more than a step of the search.
const APART: f64 = 1.05;
/// A larger share of the frames is no rare loss, and the gate tells of it.
const RARE: f64 = 1e-4;

/// Only of a loss that is not the tester's doing.
pub(super) fn doubts(weighed: &Weighed<'_>) -> Vec<Doubt> {
    let mut doubts = failed_load_doubts(weighed);
    if let Some(at_any_load) = at_any_load(&weighed.searched.trials) {
        // What the router loses at any load, no sender caused.
        doubts.retain(|doubt| doubt.name != SENDER_CAUGHT_UP);
        doubts.push(at_any_load);
    }
    doubts
}

/// A few frames lost behind the ring and none at it, trial by trial and at several loads: the router itself loses them.
fn at_any_load(trials: &[(Trial, Verdict)]) -> Option<Doubt> {
    let loses = |trial: &&Trial| {
        let (ledger, counts) = (trial.ledger(), trial.counts());
        let is_rare = ledger.lost_in_dut as f64 <= RARE * counts.sent as f64;
        ledger.lost_in_dut > 0 && ledger.lost_nic_ring == 0 && is_rare
    };
    let losing: Vec<&Trial> = trials
        .iter()
        .map(|(trial, _)| trial)
        .filter(loses)
        .collect();
    let load = |trial: &&Trial| trial.offered.fps();
    let lowest = losing.iter().map(load).fold(f64::INFINITY, f64::min);
    let highest = losing.iter().map(load).fold(0.0, f64::max);
    let sum = |of: fn(&Trial) -> u64| losing.iter().map(|trial| of(trial)).sum::<u64>();
    let (lost, sent) = (
        sum(|trial| trial.ledger().lost_in_dut),
        sum(|trial| trial.counts().sent),
    );
    (losing.len() >= LOSING_TRIALS && highest > APART * lowest).then(|| Doubt {
        name: "loss-at-any-load",
        weight: Weight::Another(1),
        seen: format!(
            "in {} trials the router itself lost {lost} of {sent} frames, behind its ring, at loads from {} to {}",
            losing.len(),
            Rate::from_fps(lowest),
            Rate::from_fps(highest)
        ),
        why: "Such loss does not depend on load, so chance decided which load passed. The rate without loss says little.",
        next: "Look for what drops them (nft list ruleset, nstat), or search with --goal pdr, which allows a share of loss.",
    })
}

fn failed_load_doubts(weighed: &Weighed<'_>) -> Vec<Doubt> {
    let is_seen = matches!(
        weighed.limited_by,
        Some(LimitedBy::Dut | LimitedBy::Pause | LimitedBy::Trials)
    );
    match weighed.searched.result.outcome {
        Outcome::Found {
            lossy: Some(failed),
            ..
        } if is_seen => {
            let searched = weighed.searched;
            let saturated = weighed.saturated;
            let is_maximum =
                is_the_maximum(saturated, saturated.maximum(), &searched.trials, failed);
            loss_doubts(searched, failed, weighed.why_lost, is_maximum)
        }
        _ => Vec::new(),
    }
}

/// At its maximum forwarding rate a DUT loses frames, idle now and then or not, however evenly they are sent.
fn loss_doubts(
    searched: &Searched,
    failed: Rate,
    why: Option<&WhyLost>,
    is_maximum: bool,
) -> Vec<Doubt> {
    let why = why.filter(|why| why.bounds);
    let below_maximum = why.filter(|_| !is_maximum);
    let not_by_load = below_maximum.and_then(not_by_load);
    let begins_late = why.and_then(begins_late);
    let idle = match not_by_load.as_ref().or(begins_late.as_ref()) {
        Some(_) => None,
        None if is_maximum => None,
        None => while_idle(failed, &searched.trials),
    };
    let caught_up = below_maximum.and_then(WhyLost::catch_up);
    let caught_up = caught_up.map(sender_caught_up);
    [caught_up, begins_late, not_by_load, idle]
        .into_iter()
        .flatten()
        .collect()
}

/// Frames that the sender was late with, and sent at once.
fn sender_caught_up(catch_up: CatchUp) -> Doubt {
    let CatchUp {
        rate,
        frames,
        ring,
        lost,
    } = catch_up;
    let percent = frames as f64 / f64::from(ring) * 100.0;
    Doubt {
        name: SENDER_CAUGHT_UP,
        weight: Weight::Shifted(4),
        seen: format!(
            "at {rate} the sender fell behind and sent {frames} frames back to back ({percent:.0} % of the ring); {lost} were lost"
        ),
        why: "Frames sent back to back need room in the DUT's ring. The tester may have caused the loss, and the DUT may do more.",
        next: "Run again when the machine is quieter, give the sender a CPU of its own (--tester-cpus), or use a larger --rx-ring.",
    }
}

fn not_by_load(why: &WhyLost) -> Option<Doubt> {
    why.is_not_by_load().then(|| Doubt {
        name: "loss-not-by-load",
        weight: Weight::Shifted(3),
        seen: format!(
            "the loss at {} does not look like load ({})",
            why.rate,
            why.pattern()
        ),
        why: "Another cause than the rate bounds the result. Without that cause the DUT may do more.",
        next: "Check `losses` of its trials in the record, then nstat, ethtool -S and drop rules in the DUT (mpps bed shell).",
    })
}

/// Loss behind the receive ring that begins late and lasts to the trial's end. A full ring loses so too, and
/// `ring-hides` tells of that.
fn begins_late(why: &WhyLost) -> Option<Doubt> {
    let losses = &why.losses;
    let behind_ring = losses.at_ring.is_some_and(|ring| 2 * ring < losses.lost);
    let is_late = losses.before as f64 >= LATE * losses.sent as f64;
    (behind_ring && is_late && losses.lasts()).then(|| Doubt {
        name: "loss-begins-late",
        weight: Weight::Shifted(17),
        seen: format!(
            "at {} frames were lost behind the DUT's ring from {} of {} to the trial's end",
            why.rate,
            losses.at(losses.before),
            losses.length
        ),
        why: "The DUT had a reserve that the first part of the trial used up: a token bucket, a queue or a table. A longer trial may fail at a lower load.",
        next: "Use a longer --time, and look for policers, queues and full tables in the DUT (nft list ruleset, tc -s qdisc, nstat).",
    })
}

/// Loss at this load while the DUT had time left.
fn while_idle(rate: Rate, trials: &[(Trial, Verdict)]) -> Option<Doubt> {
    let busy = lossy_at(trials, rate)?.busiest_share()?;
    (busy < BUSY).then(|| Doubt {
        name: "loss-while-idle",
        weight: Weight::Shifted(5),
        seen: format!(
            "at {rate} the DUT lost frames while its busiest CPU was {:.0} % busy",
            busy * 100.0
        ),
        why: "A pause or a burst overflowed a queue. The DUT can sustain more.",
        next: "Use --preset csit (up to 21 trials at a load), or a larger --rx-ring.",
    })
}

#[cfg(test)]
mod tests {
    use super::super::tests::{bound_by_loss, bound_by_these, found_by, result};
    use super::*;
    use mpps_method::{Counts, Direction, Ledger, Losses, Span};

    fn names(searched: &Searched, ring_frames: u32) -> Vec<&'static str> {
        names_at(searched, ring_frames, false)
    }

    fn names_at(searched: &Searched, ring_frames: u32, is_maximum: bool) -> Vec<&'static str> {
        let Outcome::Found {
            lossy: Some(failed),
            ..
        } = searched.result.outcome
        else {
            panic!("{:?}", searched.result.outcome);
        };
        let why = WhyLost::from_trials(&searched.trials, Some(failed), ring_frames);
        let doubts = loss_doubts(searched, failed, why.as_ref(), is_maximum);
        doubts.iter().map(|doubt| doubt.name).collect()
    }

    #[test]
    fn loss_of_a_dut_with_time_left_is_doubted() {
        let stall = |busy| bound_by_these(30_000..30_500, 500, busy);
        let names = |searched| names(&searched, 4_096);
        assert_eq!(names(stall(0.6)), ["loss-not-by-load"]);
        assert_eq!(names(stall(0.96)), ["loss-not-by-load"], "no time left");
        let to_the_end = bound_by_these(30_000..64_000, 0, 0.6);
        assert_eq!(names(to_the_end), ["loss-begins-late", "loss-not-by-load"]);
        let scarce = |at_ring| bound_by_these(30_000..30_003, at_ring, 0.6);
        assert_eq!(names(scarce(3)), ["loss-while-idle"]);
        assert_eq!(names(scarce(0)), ["loss-not-by-load"], "past the ring");
        // The receiver does not know which frames came.
        assert_eq!(names(bound_by_loss(0.6)), ["loss-while-idle"]);
        assert!(names(bound_by_loss(0.95)).is_empty());
    }

    #[test]
    fn a_few_frames_at_several_loads_are_the_routers() {
        let trial = |fps: f64, inside: u64, ring: u64| {
            let counts = Counts {
                sent: 600_000,
                ..Counts::default()
            };
            let ledger = Ledger {
                lost_in_dut: inside,
                lost_nic_ring: ring,
                ..Ledger::default()
            };
            let trial = Trial {
                offered: Rate::from_fps(fps),
                directions: vec![Direction { counts, ledger }],
                ..Trial::default()
            };
            (
                trial,
                Verdict::Lossy {
                    lost: inside + ring,
                },
            )
        };
        let lossless = (trial(6e5, 0, 0).0, Verdict::Lossless);
        // A trial that lost much tells nothing of this loss.
        let rare = [
            trial(6e5, 1, 0),
            trial(1.2e6, 2, 0),
            trial(2e6, 1, 0),
            trial(2.5e6, 30_000, 0),
            lossless,
        ];
        let seen = at_any_load(&rare).map(|doubt| doubt.seen);
        assert_eq!(
            seen.as_deref(),
            Some(
                "in 3 trials the router itself lost 4 of 1800000 frames, behind its ring, at loads from 600.0 kfps to 2.000 Mfps"
            )
        );
        let one_load = [1, 2, 1].map(|lost| trial(1.2e6, lost, 0));
        assert_eq!(at_any_load(&one_load), None);
        let at_ring = [6e5, 1.2e6, 2e6].map(|fps| trial(fps, 1, 500));
        assert_eq!(at_any_load(&at_ring), None);
        let much = [6e5, 1.2e6, 2e6].map(|fps| trial(fps, 30_000, 0));
        assert_eq!(at_any_load(&much), None);
    }

    #[test]
    fn loss_that_begins_late_and_lasts_is_doubted() {
        // Two of three frames from here on, as a policer does whose bucket is used up.
        let policed = |from: usize, at_ring| {
            let lost = (from..64_000).filter(|sequence| sequence % 1_000 < 667);
            bound_by_these(lost, at_ring, 0.3)
        };
        let names = |searched| names(&searched, 4_096);
        assert_eq!(names(policed(30_000, 0))[0], "loss-begins-late");
        let others = [policed(3_000, 0), policed(30_000, 20_000)];
        for other in others.map(names) {
            assert!(!other.contains(&"loss-begins-late"), "{other:?}");
        }
    }

    #[test]
    fn loss_that_catching_up_may_have_made_is_doubted() {
        let fps = Rate::from_fps;
        let names = |late_us: u64, is_maximum| {
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
            let found = found_by(LimitedBy::Dut, fps(60_000.0), Some(fps(64_000.0)));
            let searched = Searched {
                stands_on: None,
                result: result(found),
                evidence: None,
                trials: vec![(trial, Verdict::Lossy { lost: 64 })].into(),
                left_out: [].into(),
                elsewhere: 0,
            };
            names_at(&searched, 256, is_maximum)
        };
        assert_eq!(
            names(1_000, false),
            ["sender-caught-up", "loss-not-by-load"]
        );
        assert_eq!(names(500, false), ["loss-not-by-load"]);
        // At its maximum a router loses frames, however they come.
        assert!(names(1_000, true).is_empty());
    }
}
