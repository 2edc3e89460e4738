//! Doubts about where frames went, and about those that came back otherwise than a router sends them on: more than
//! once, out of order, late, not routed.

use super::Words;
use mpps_method::{Counts, OVERDUE_MAX, Trial, Verdict};

/// What was wrong with frames that arrived, over all trials of a search.
#[derive(Clone, Debug, PartialEq)]
pub enum FrameDoubt {
    /// Frames arrived more than once.
    Duplicates {
        /// Arrivals beyond the first of each.
        frames: u64,
        /// Frames received.
        received: u64,
    },
    /// Frames arrived behind a later one of their flow.
    Reordered {
        /// How many.
        frames: u64,
        /// Frames received.
        received: u64,
    },
    /// Frames arrived when their trial was over.
    Late {
        /// How many.
        frames: u64,
    },
    /// Frames arrived so long after their trial that a queue behind the ring must have held them.
    QueuedBehind {
        /// How many, in one trial.
        frames: u64,
        /// Frames sent in it.
        sent: u64,
    },
    /// Frames go both ways, and those of the second direction all go to one destination.
    HalfMeetsTable {
        /// Routes in the DUT.
        routes: u64,
    },
    /// Frames arrived with the TTL or hop limit they were sent with.
    NotRouted {
        /// How many.
        frames: u64,
        /// Of so many whose TTL was looked at.
        of: u64,
    },
}

impl FrameDoubt {
    /// The doubts that a search's trials raise.
    pub fn from_trials(trials: &[(Trial, Verdict)]) -> impl Iterator<Item = Self> {
        let sum = |sum: Counts, (trial, _): &(Trial, Verdict)| sum.plus(&trial.counted());
        let counts = trials.iter().fold(Counts::default(), sum);
        let queued = trials
            .iter()
            .map(|(trial, _)| (trial.overdue, trial.counts().sent));
        let queued = queued.filter(|&(frames, sent)| frames as f64 > OVERDUE_MAX * sent as f64);
        let (queued, of_sent) = queued.max().unwrap_or_default();
        let timed = trials.iter().map(|(trial, _)| trial.latency.count()).sum();
        let received = counts.received;
        let doubts = [
            (
                counts.duplicated,
                Self::Duplicates {
                    frames: counts.duplicated,
                    received,
                },
            ),
            (
                counts.reordered,
                Self::Reordered {
                    frames: counts.reordered,
                    received,
                },
            ),
            (
                counts.late,
                Self::Late {
                    frames: counts.late,
                },
            ),
            (
                queued,
                Self::QueuedBehind {
                    frames: queued,
                    sent: of_sent,
                },
            ),
            (
                counts.not_lowered,
                Self::NotRouted {
                    frames: counts.not_lowered,
                    of: timed,
                },
            ),
        ];
        doubts
            .into_iter()
            .filter(|(frames, _)| *frames > 0)
            .map(|(_, doubt)| doubt)
    }

    pub(super) fn words(&self) -> Words {
        match self {
            Self::Duplicates { frames, received } => Words {
                name: "duplicates",
                seen: format!("{frames} of {received} frames arrived once more"),
                why: "the DUT did more work than the rate says, and a copy hides the loss of its frame",
                next: "look for mirroring, bridges and bonds in the DUT (tc filter show, mpps bed shell)",
            },
            Self::Reordered { frames, received } => Words {
                name: "reordered",
                seen: format!(
                    "{frames} of {received} frames arrived behind a later one of their flow"
                ),
                why: "the DUT spreads a flow over several CPUs or queues, which receivers of TCP pay for",
                next: "look at RPS, at queues and at multipath routes in the DUT",
            },
            Self::QueuedBehind { frames, sent } => Words {
                name: "queued-behind",
                seen: format!(
                    "{frames} of {sent} frames arrived when their trial and the drain of the ring were over"
                ),
                why: "a queue or a shaper held them: the DUT cannot sustain that load, so they count as lost",
                next: "tc -s qdisc in the DUT (mpps bed shell); a longer --time",
            },
            Self::HalfMeetsTable { routes } => Words {
                name: "half-meets-table",
                seen: format!(
                    "the DUT holds {routes} routes, and frames of the second direction all go to one destination"
                ),
                why: "half of the look-ups stay in the CPU's caches: the rate is not the table's",
                next: "the same without --bidirectional",
            },
            Self::Late { frames } => Words {
                name: "late",
                seen: format!("{frames} frames arrived when their trial was over"),
                why: "they counted as lost, and took time of the next trial: something holds frames for longer than a drain lasts",
                next: "look for queues and shapers in the DUT (tc -s qdisc)",
            },
            Self::NotRouted { frames, of } => Words {
                name: "not-routed",
                seen: format!(
                    "{frames} of {of} frames looked at arrived with the TTL they were sent with"
                ),
                why: "a router lowers it: these frames went past routing, and the rate is not that of a router",
                next: "look for redirects, bridges and tunnels in the DUT (tc filter show dev mB ingress)",
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mpps_method::Direction;

    #[test]
    fn each_count_over_zero_is_a_doubt() {
        let raised = |counts: Counts| {
            let directions = vec![Direction {
                counts,
                ..Direction::default()
            }];
            let trial = Trial {
                directions,
                ..Trial::default()
            };
            let trials = [(trial, Verdict::Lossless)];
            let doubts = FrameDoubt::from_trials(&trials);
            doubts.map(|doubt| doubt.words().name).collect::<Vec<_>>()
        };
        let none = Counts {
            received: 100,
            ..Counts::default()
        };
        assert!(raised(none).is_empty());
        assert_eq!(
            raised(Counts {
                duplicated: 1,
                ..none
            }),
            ["duplicates"]
        );
        assert_eq!(
            raised(Counts {
                reordered: 1,
                ..none
            }),
            ["reordered"]
        );
        assert_eq!(raised(Counts { late: 1, ..none }), ["late"]);
        assert_eq!(
            raised(Counts {
                not_lowered: 1,
                ..none
            }),
            ["not-routed"]
        );
    }
}
