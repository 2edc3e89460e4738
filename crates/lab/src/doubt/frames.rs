//! Doubts about frames that did not come as a router sends them on. They came more than once, out of order, late, not
//! routed or merged, or they were not the tester's.

use super::{Doubt, Weighed, Weight};
use mpps_method::{Counts, OVERDUE_MAX, Trial, Verdict};
use mpps_record::doubts::NOT_ROUTED;

/// A DUT that forwards fewer packets than this share of the frames has merged some.
const MERGED: f64 = 0.95;
/// Frames in one packet at most (net/ipv4/udp_offload.c, UDP_GRO_CNT_MAX; TCP merges fewer of a usual size).
const MERGED_AT_MOST: u64 = 64;
/// So small a share of foreign or unrouted frames hardly changes a rate: the kernel sends some of its own when a link comes
/// up.
const FEW: f64 = 0.001;

pub(super) fn doubts(weighed: &Weighed<'_>) -> Vec<Doubt> {
    let ring_frames = weighed.around.ring_frames;
    let mut doubts = frame_doubts(&weighed.searched.trials, ring_frames);
    // Where the search had no trial, the gate's tell what the frames of overload were.
    for doubt in frame_doubts(&weighed.gated.trials, ring_frames) {
        if doubts.iter().all(|raised| raised.name != doubt.name) {
            doubts.push(doubt);
        }
    }
    doubts
}

/// The doubts about the frames that arrived in these trials, behind rings that hold so many together.
#[must_use]
pub fn frame_doubts(trials: &[(Trial, Verdict)], ring_frames: u32) -> Vec<Doubt> {
    let sum = |sum: Counts, (trial, _): &(Trial, Verdict)| sum.plus(&trial.counted());
    let counts = trials.iter().fold(Counts::default(), sum);
    let looked_at = trials.iter().map(|(trial, _)| trial.latency.count()).sum();
    let doubts = [
        trials.iter().find_map(|(trial, _)| merged(trial)),
        foreign(trials),
        duplicates(counts.duplicated, counts.received),
        reordered(counts.reordered, counts.received),
        late(counts.late),
        queued_behind(trials, ring_frames),
        not_routed(counts.not_lowered, looked_at),
    ];
    doubts.into_iter().flatten().collect()
}

fn foreign(trials: &[(Trial, Verdict)]) -> Option<Doubt> {
    let counts = || trials.iter().map(|(trial, _)| trial.counts());
    let frames: u64 = counts().map(|counts| counts.foreign).sum();
    // A result may stand on any one of them.
    let many = |counts: &Counts| counts.foreign as f64 > FEW * counts.received as f64;
    (frames > 0).then(|| Doubt {
        name: "foreign",
        weight: match counts().any(|counts| many(&counts)) {
            true => Weight::Another(9),
            false => Weight::Unsure(9),
        },
        seen: format!("{frames} foreign frames reached the receiver"),
        why: "Another sender than the tester sends frames through the DUT.",
        next: "Check which programs the --dut-setup script started.",
    })
}

fn duplicates(frames: u64, received: u64) -> Option<Doubt> {
    (frames > 0).then(|| Doubt {
        name: "duplicates",
        weight: Weight::Another(3),
        seen: format!("{frames} of {received} frames arrived a second time"),
        why: "The DUT did more work than the rate shows. A copy can hide the loss of its frame.",
        next: "Look for mirroring, bridges and bonds in the DUT (tc filter show, mpps bed shell).",
    })
}

fn reordered(frames: u64, received: u64) -> Option<Doubt> {
    (frames > 0).then(|| Doubt {
        name: "reordered",
        weight: Weight::Shifted(13),
        seen: format!("{frames} of {received} frames arrived after a later frame of their flow"),
        why: "The DUT spreads a flow over several CPUs or queues. Reordering costs TCP receivers time.",
        next: "Check RPS, queues and multipath routes in the DUT.",
    })
}

fn late(frames: u64) -> Option<Doubt> {
    (frames > 0).then(|| Doubt {
        name: "late",
        weight: Weight::Shifted(11),
        seen: format!("{frames} frames arrived after the end of their trial"),
        why: "These frames counted as lost, and took time of the next trial. The DUT held them for longer than a drain lasts.",
        next: "Look for queues and shapers in the DUT (tc -s qdisc).",
    })
}

/// So long after their trial that a queue behind the ring must have held them. A ring that overflowed is full at the end
/// of its trial, and an overloaded DUT takes longer to empty it than a drain lasts. So what the rings hold does not count
/// then.
fn queued_behind(trials: &[(Trial, Verdict)], ring_frames: u32) -> Option<Doubt> {
    let is_behind = |trial: &&Trial| {
        let in_rings = match trial.ledger().lost_nic_ring {
            0 => 0,
            _ => u64::from(ring_frames),
        };
        let behind = trial.overdue.saturating_sub(in_rings);
        behind as f64 > OVERDUE_MAX * trial.counts().sent as f64
    };
    let trials = trials.iter().map(|(trial, _)| trial).filter(is_behind);
    let (frames, sent) = (trials.map(|trial| (trial.overdue, trial.counts().sent))).max()?;
    Some(Doubt {
        name: "queued-behind",
        weight: Weight::Shifted(12),
        seen: format!(
            "{frames} of {sent} frames arrived after their trial and after the drain of the ring"
        ),
        why: "A queue or a shaper held them. The DUT cannot sustain that load, so they count as lost.",
        next: "Run tc -s qdisc in the DUT (mpps bed shell), or use a longer --time.",
    })
}

/// With the TTL or hop limit they were sent with, of those looked at.
fn not_routed(frames: u64, looked_at: u64) -> Option<Doubt> {
    let is_few = frames as f64 <= FEW * looked_at as f64;
    let (name, why) = match is_few {
        true => (
            "few-not-routed",
            "A router lowers it. These frames bypassed routing, as copies do. The others were routed.",
        ),
        false => (
            NOT_ROUTED,
            "A router lowers it. These frames bypassed routing, so the rate is not a router's rate.",
        ),
    };
    (frames > 0).then(|| Doubt {
        name,
        weight: Weight::Another(1),
        seen: format!(
            "{frames} of {looked_at} examined frames arrived with an unchanged TTL or hop limit"
        ),
        why,
        next: "Look for redirects, bridges and tunnels in the DUT (tc filter show dev mB ingress).",
    })
}

/// By the DUT's own count, whatever was sent, because GRO merges UDP too if that is switched on. A data plane that
/// bypasses the IP layer makes the DUT count no packet, or a few. That is no merging: GRO puts only so many frames into
/// a packet.
fn merged(trial: &Trial) -> Option<Doubt> {
    let (frames, packets) = (trial.counts().received, trial.stack?.forwarded);
    let few = packets as f64 <= MERGED * frames as f64;
    (few && packets.saturating_mul(MERGED_AT_MOST) >= frames).then(|| Doubt {
        name: "merged",
        weight: Weight::Another(2),
        seen: format!(
            "the DUT forwarded {frames} frames as {packets} packets: GRO merged them, and they were segmented again"
        ),
        why: "The rate counts frames, but the DUT routed fewer, larger packets. Traffic that cannot be merged is slower.",
        next: "Use --l4 tcp, whose segments no offload can merge, or ethtool -K mB rx-udp-gro-forwarding off.",
    })
}

#[cfg(test)]
mod tests {
    use super::super::tests::bound_by_loss;
    use super::super::{Gated, Saturated, Surroundings};
    use super::*;
    use mpps_method::{Direction, Stability, StackCounts};

    /// A trial of one direction with these counts.
    fn trial(counts: Counts) -> (Trial, Verdict) {
        let direction = Direction {
            counts,
            ..Direction::default()
        };
        let trial = Trial {
            directions: vec![direction],
            ..Trial::default()
        };
        (trial, Verdict::Lossless)
    }

    #[test]
    fn each_count_over_zero_is_a_doubt() {
        let raised = |counts: Counts| {
            let doubts = frame_doubts(&[trial(counts)], 0);
            doubts.iter().map(|doubt| doubt.name).collect::<Vec<_>>()
        };
        let none = Counts {
            received: 100,
            ..Counts::default()
        };
        let with = |change: fn(&mut Counts)| {
            let mut counts = none;
            change(&mut counts);
            raised(counts)
        };
        assert!(raised(none).is_empty());
        assert_eq!(with(|counts| counts.duplicated = 1), ["duplicates"]);
        assert_eq!(with(|counts| counts.reordered = 1), ["reordered"]);
        assert_eq!(with(|counts| counts.late = 1), ["late"]);
        assert_eq!(with(|counts| counts.not_lowered = 1), ["not-routed"]);
        assert_eq!(with(|counts| counts.foreign = 1), ["foreign"]);
    }

    #[test]
    fn a_few_frames_that_bypass_routing_are_no_rate() {
        let name = |frames| not_routed(frames, 1_000).map(|doubt| doubt.name);
        let names = [0, 1, 2].map(name);
        assert_eq!(names, [None, Some("few-not-routed"), Some("not-routed")]);
    }

    #[test]
    fn frames_that_a_full_ring_held_are_no_queues() {
        let raised = |sent, overdue, lost_nic_ring| {
            let (mut held, verdict) = trial(Counts {
                sent,
                received: sent,
                ..Counts::default()
            });
            held.overdue = overdue;
            held.directions[0].ledger.lost_nic_ring = lost_nic_ring;
            !frame_doubts(&[(held, verdict)], 4_096).is_empty()
        };
        assert!(raised(10_000, 101, 0) && !raised(10_000, 100, 0));
        assert!(!raised(10_000, 4_000, 1));
        // More than the ring holds.
        assert!(raised(10_000, 4_197, 1) && !raised(10_000, 4_196, 1));
        assert!(raised(300_000, 100_000, 1));
    }

    /// The search's own words come first: no doubt is there twice.
    #[test]
    fn frames_of_the_gate_are_doubted_too() {
        let of = |duplicated, not_lowered| {
            trial(Counts {
                received: 100,
                duplicated,
                not_lowered,
                ..Counts::default()
            })
        };
        let seen = |gate, search| {
            let mut searched = bound_by_loss(1.0);
            searched.trials = [search].into();
            let doubts = doubts(&Weighed {
                around: &Surroundings::default(),
                saturated: &Saturated::default(),
                gated: &Gated {
                    stability: Stability::Stable,
                    trials: vec![gate],
                },
                searched: &searched,
                why_lost: None,
                limited_by: None,
            });
            doubts
                .into_iter()
                .map(|doubt| doubt.seen)
                .collect::<Vec<_>>()
        };
        let copied = "2 of 100 frames arrived a second time";
        let past = "7 of 0 examined frames arrived with an unchanged TTL or hop limit";
        assert_eq!(seen(of(3, 7), of(2, 0)), [copied, past]);
        assert_eq!(seen(of(0, 7), of(0, 0)), [past]);
        assert_eq!(seen(of(0, 0), of(2, 0)), [copied]);
    }

    #[test]
    fn a_few_foreign_frames_weigh_less() {
        let trial = |received, foreign| {
            trial(Counts {
                received,
                foreign,
                ..Counts::default()
            })
        };
        let weight = |trials: &[_]| frame_doubts(trials, 0)[0].weight;
        assert_eq!(weight(&[trial(10_000, 11)]), Weight::Another(9));
        assert_eq!(weight(&[trial(10_000, 10)]), Weight::Unsure(9));
        // Others dilute nothing: a result may stand on the one.
        let both = [trial(10_000, 11), trial(1_000_000, 0)];
        assert_eq!(weight(&both), Weight::Another(9));
    }

    #[test]
    fn fewer_packets_forwarded_than_frames_is_doubted() {
        let merged_by = |received: u64, stack: Option<u64>| {
            let mut direction = Direction::default();
            direction.counts.received = received;
            let trial = Trial {
                directions: vec![direction],
                stack: stack.map(|forwarded| StackCounts {
                    forwarded,
                    no_route: 0,
                }),
                ..Trial::default()
            };
            merged(&trial)
        };
        assert_eq!(
            merged_by(1_000, Some(950)).expect("5 % fewer").seen,
            "the DUT forwarded 1000 frames as 950 packets: GRO merged them, and they were segmented again"
        );
        // Canaries are forwarded besides.
        assert_eq!(merged_by(1_000, Some(1_032)), None);
        assert_eq!(merged_by(1_000, Some(951)), None);
        assert_eq!(merged_by(1_000, Some(0)), None, "past the IP layer");
        assert_eq!(
            merged_by(1_000, Some(15)),
            None,
            "past it but for the first"
        );
        assert!(merged_by(1_000, Some(16)).is_some());
        assert_eq!(merged_by(1_000, None), None, "a device that tells nothing");
    }
}
