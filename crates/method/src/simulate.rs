//! A simulated tester and router: trials with closed ledgers from a handful of properties, to try
//! searches on. Seeded: the same router gives the same trials.
//!
//! It forwards at a fixed cost a frame, has one ring before it, and may lose frames at random or
//! stand still. It has no caches, batches or interrupts: it is for tests of the search, no model of
//! a DUT.

use crate::ledger::{Canaries, Ledger};
use crate::random::Random;
use crate::search::{Offer, Outcome, Search, Step};
use crate::trial::{Counts, CpuBusy, CpuGap, Direction, Trial};
use crate::units::{Rate, Span};
use crate::verdict::{Rules, Verdict};

/// Canaries before and after each trial.
const CANARIES: Canaries = Canaries {
    sent: 8,
    received: 8,
};

/// What the simulated pair of tester and router is like.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Properties {
    /// What the router forwards at most.
    pub capacity: Rate,
    /// Frames its receive ring holds.
    pub ring: u64,
    /// Probability of a frame being lost inside, at any load.
    pub random_loss: f64,
    /// What the tester sends at most; `None`: anything.
    pub tester_ceiling: Option<Rate>,
    /// Probability of a trial in which the router's CPU stands still once.
    pub stall_chance: f64,
    /// For how long it then does.
    pub stall: Span,
    /// Where chance begins.
    pub seed: u64,
}

impl Properties {
    /// A router without a ring that loses exactly what exceeds its capacity, and a tester without
    /// limit.
    #[must_use]
    pub const fn ideal(capacity: Rate) -> Self {
        Self {
            capacity,
            ring: 0,
            random_loss: 0.0,
            tester_ceiling: None,
            stall_chance: 0.0,
            stall: Span::ZERO,
            seed: 1,
        }
    }
}

/// The pair.
#[derive(Clone, Debug)]
pub struct Simulated {
    properties: Properties,
    random: Random,
}

impl Simulated {
    /// A pair with these properties.
    #[must_use]
    pub fn new(properties: Properties) -> Self {
        Self {
            properties,
            random: Random::from_seed(properties.seed),
        }
    }

    /// One trial.
    pub fn trial(&mut self, offer: &Offer) -> Trial {
        let Properties {
            capacity,
            ring,
            stall_chance,
            stall,
            tester_ceiling,
            ..
        } = self.properties;
        let stood = if self.random.chance(stall_chance) {
            stall.min(offer.duration)
        } else {
            Span::ZERO
        };
        let intended = offer.rate.frames_in(offer.duration);
        let sent = tester_ceiling.map_or(intended, |most| {
            intended.min(most.frames_in(offer.duration))
        });
        let lost_nic_ring = ring_loss(capacity, ring, sent, offer, stood);
        let accepted = sent - lost_nic_ring;
        let lost_in_dut = self.random_loss(accepted);
        let lost = lost_nic_ring + lost_in_dut;
        let counts = Counts {
            intended,
            sent,
            unsent: intended - sent,
            received: sent - lost,
            lost,
            ..Counts::default()
        };
        let canaries = CANARIES.sent * 2;
        let ledger = Ledger {
            sent: sent + canaries,
            nic_received: sent + canaries,
            lost_nic_ring,
            nic_accepted: accepted + canaries,
            lost_in_dut,
            dut_transmitted: counts.received + canaries,
            receiver_total: counts.received + canaries,
            opening: CANARIES,
            closing: CANARIES,
            ..Ledger::default()
        };
        let run_ns = if capacity.fps() > 0.0 {
            accepted as f64 * 1e9 / capacity.fps()
        } else {
            0.0
        };
        Trial {
            offered: offer.rate,
            duration: offer.duration,
            directions: vec![Direction { counts, ledger }],
            sender_ended: true,
            busy: vec![CpuBusy {
                cpu: 1,
                run_ns: run_ns as u64,
                wait_ns: 0,
            }],
            gaps: vec![CpuGap {
                cpu: 1,
                longest: stood,
            }],
            largest_burst: 1,
            ..Trial::default()
        }
    }

    /// How many of `frames` are lost by chance: leaps from one lost frame to the next.
    fn random_loss(&mut self, frames: u64) -> u64 {
        let probability = self.properties.random_loss;
        if probability <= 0.0 {
            return 0;
        }
        if probability >= 1.0 {
            return frames;
        }
        let (mut at, mut lost) = (0_u64, 0);
        loop {
            // Geometric: 1 - u is above 0, so the logarithm is finite.
            let leap = (1.0 - self.random.next_f64()).ln() / (1.0 - probability).ln();
            at = at.saturating_add(leap as u64).saturating_add(1);
            if at > frames {
                return lost;
            }
            lost += 1;
        }
    }
}

/// Frames the ring has no room for: what a whole trial brings above what is served and stored, or
/// what arrives while the router stands still.
fn ring_loss(capacity: Rate, ring: u64, sent: u64, offer: &Offer, stood: Span) -> u64 {
    let awake = Span::from_nanos(offer.duration.as_nanos() - stood.as_nanos());
    let over_trial = sent
        .saturating_sub(capacity.frames_in(awake))
        .saturating_sub(ring);
    let in_stall = offer.rate.frames_in(stood).min(sent).saturating_sub(ring);
    if over_trial > 0 && sent > capacity.frames_in(offer.duration) {
        return over_trial.max(in_stall);
    }
    in_stall
}

/// Runs a search against the pair to its end, as the main job does against a bed; returns each
/// load with its verdict, and the outcome. `None` when it took more than `trials_at_most` trials.
pub fn run(
    search: &mut dyn Search,
    simulated: &mut Simulated,
    rules: &Rules,
    trials_at_most: usize,
) -> Option<(Vec<(Rate, Verdict)>, Outcome)> {
    let mut trials = Vec::new();
    loop {
        match search.next() {
            Step::Done(outcome) => return Some((trials, outcome)),
            Step::Offer(_) if trials.len() >= trials_at_most => return None,
            Step::Offer(offer) => {
                let verdict = simulated.trial(&offer).judge(rules);
                search.learn(&verdict);
                trials.push((offer.rate, verdict));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OFFER: Offer = Offer {
        rate: Rate::ZERO,
        duration: Span::from_millis(1_000),
    };

    fn at(fps: f64) -> Offer {
        Offer {
            rate: Rate::from_fps(fps),
            ..OFFER
        }
    }

    #[test]
    fn every_trial_closes_its_ledger() {
        let properties = Properties {
            ring: 100,
            random_loss: 0.01,
            tester_ceiling: Some(Rate::from_fps(50_000.0)),
            stall_chance: 0.5,
            stall: Span::from_millis(20),
            ..Properties::ideal(Rate::from_fps(10_000.0))
        };
        let mut simulated = Simulated::new(properties);
        for fps in [1.0, 9_000.0, 10_000.0, 20_000.0, 60_000.0] {
            let trial = simulated.trial(&at(fps));
            let way = &trial.directions[0];
            assert_eq!(way.ledger.close(&way.counts), Ok(()), "{fps}");
        }
    }

    #[test]
    fn loss_is_what_exceeds_capacity_and_ring() {
        let properties = Properties {
            ring: 100,
            ..Properties::ideal(Rate::from_fps(10_000.0))
        };
        let mut simulated = Simulated::new(properties);
        let mut lost = |fps| simulated.trial(&at(fps)).counts().lost;
        assert_eq!(
            [
                lost(10_000.0),
                lost(10_100.0),
                lost(10_101.0),
                lost(50_000.0)
            ],
            [0, 0, 1, 39_900]
        );
    }

    #[test]
    fn a_stall_shows_and_loses_what_the_ring_cannot_hold() {
        let stall = Span::from_millis(50);
        let properties = Properties {
            ring: 100,
            stall_chance: 1.0,
            stall,
            ..Properties::ideal(Rate::from_fps(10_000.0))
        };
        let mut simulated = Simulated::new(properties);
        let trial = simulated.trial(&at(5_000.0));
        assert_eq!(trial.counts().lost, 5_000 / 20 - 100);
        assert!(matches!(trial.judge(&Rules::default()), Verdict::Void(_)));
        let lossless = simulated.trial(&at(1_000.0));
        assert_eq!(lossless.counts().lost, 0);
        assert!(
            matches!(lossless.judge(&Rules::default()), Verdict::Void(_)),
            "blind to loss"
        );
    }

    #[test]
    fn random_loss_has_its_probability() {
        let properties = Properties {
            random_loss: 0.01,
            ..Properties::ideal(Rate::from_fps(1e6))
        };
        let lost = Simulated::new(properties).trial(&at(1e6)).counts().lost;
        assert!((9_500..10_500).contains(&lost), "{lost}");
        let all = Properties {
            random_loss: 1.0,
            ..properties
        };
        assert_eq!(Simulated::new(all).trial(&at(1e3)).counts().lost, 1_000);
    }
}
