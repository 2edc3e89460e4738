//! A simulated tester and router: trials with closed ledgers from a handful of properties, to try
//! searches on. Seeded: the same router gives the same trials.
//!
//! It forwards at a cost a frame that may change from trial to trial, has one ring before it, and may lose
//! frames at random, pause, or be made to stand still by the machine. It has no caches, batches or
//! interrupts: it is for trying searches and goals, no model of a DUT.

use std::fmt;

use crate::ledger::{Canaries, Ledger};
use crate::random::Random;
use crate::search::{GoalResult, Offer, Search, Step};
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
    /// Largest share of the capacity that is missing in a trial, 0 to 1; how much, is drawn for each.
    pub noise: f64,
    /// Probability of a frame being lost inside, at any load.
    pub random_loss: f64,
    /// What the tester sends at most; `None`: anything.
    pub tester_ceiling: Option<Rate>,
    /// Probability of a trial in which the machine stands still once, and is seen to.
    pub stall_chance: f64,
    /// For how long it then does.
    pub stall: Span,
    /// Probability of a trial in which the router itself pauses once: nothing but its loss shows it.
    pub pause_chance: f64,
    /// For how long it then does.
    pub pause: Span,
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
            noise: 0.0,
            random_loss: 0.0,
            tester_ceiling: None,
            stall_chance: 0.0,
            stall: Span::ZERO,
            pause_chance: 0.0,
            pause: Span::ZERO,
            seed: 1,
        }
    }
}

/// As `--simulate` takes it, what is not there left out.
impl fmt::Display for Properties {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "capacity={},ring={}", self.capacity.fps(), self.ring)?;
        let percent = |share: f64| (share * 1e8).round() / 1e6;
        if self.noise > 0.0 {
            write!(f, ",noise={}%", percent(self.noise))?;
        }
        if self.random_loss > 0.0 {
            write!(f, ",loss={}", self.random_loss)?;
        }
        for (name, chance, length) in [
            ("stalls", self.stall_chance, self.stall),
            ("pauses", self.pause_chance, self.pause),
        ] {
            if chance > 0.0 {
                write!(
                    f,
                    ",{name}={}ms@{}%",
                    length.as_secs_f64() * 1e3,
                    percent(chance)
                )?;
            }
        }
        if let Some(most) = self.tester_ceiling {
            write!(f, ",tester={}", most.fps())?;
        }
        write!(f, ",seed={}", self.seed)
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
            ring,
            tester_ceiling,
            ..
        } = self.properties;
        let stood = self.stands(|of| (of.stall_chance, of.stall), offer);
        // Drawn only where it is needed, as noise is: a router without gives the same trials as ever.
        let paused = if self.properties.pause_chance > 0.0 {
            self.stands(|of| (of.pause_chance, of.pause), offer)
        } else {
            Span::ZERO
        };
        let capacity = self.capacity();
        let intended = offer.rate.frames_in(offer.duration);
        let sent = tester_ceiling.map_or(intended, |most| {
            intended.min(most.frames_in(offer.duration))
        });
        let away = Span::from_nanos(stood.as_nanos().saturating_add(paused.as_nanos()));
        let lost_nic_ring = ring_loss(capacity, ring, sent, offer, away.min(offer.duration));
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

    /// What this trial's router forwards at most.
    fn capacity(&mut self) -> Rate {
        let Properties {
            capacity, noise, ..
        } = self.properties;
        let missing = if noise > 0.0 {
            noise * self.random.next_f64()
        } else {
            0.0
        };
        Rate::from_fps(capacity.fps() * (1.0 - missing))
    }

    /// How long this trial sees such a standstill.
    fn stands(&mut self, of: fn(&Properties) -> (f64, Span), offer: &Offer) -> Span {
        let (chance, length) = of(&self.properties);
        if self.random.chance(chance) {
            length.min(offer.duration)
        } else {
            Span::ZERO
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

/// One trial of a search, with its verdict.
#[derive(Clone, Debug, PartialEq)]
pub struct Tried {
    /// What was offered.
    pub offer: Offer,
    /// What came of it.
    pub trial: Trial,
    /// What it says.
    pub verdict: Verdict,
}

/// Runs a search against the pair to its end, as the main job does against a bed; returns its trials and
/// what it found, one for each goal. `None` when it took more than `trials_at_most` trials.
pub fn run(
    search: &mut dyn Search,
    simulated: &mut Simulated,
    rules: &Rules,
    trials_at_most: usize,
) -> Option<(Vec<Tried>, Vec<GoalResult>)> {
    let mut trials = Vec::new();
    loop {
        match search.next() {
            Step::Done(results) => return Some((trials, results)),
            Step::Offer(_) if trials.len() >= trials_at_most => return None,
            Step::Offer(offer) => {
                let trial = simulated.trial(&offer);
                let verdict = trial.judge(rules);
                search.learn(&verdict, &trial.counts());
                trials.push(Tried {
                    offer,
                    trial,
                    verdict,
                });
            }
        }
    }
}

#[cfg(test)]
mod tests;
