//! A simulated tester and router: trials with closed ledgers from a handful of properties, to try
//! searches on. Seeded: the same router gives the same trials.
//!
//! It forwards at a cost a frame that may change from trial to trial, has one ring before it, and may lose
//! frames at random or at some loads, pause, or be made to stand still by the machine. It has no caches, batches or
//! interrupts: it is for trying searches and goals, no model of a DUT.

use std::fmt;

use crate::counts::Counts;
use crate::disturbed::Disturbed;
use crate::ledger::{Canaries, Ledger};
use crate::mlr::goal::percent;
use crate::random::Random;
use crate::search::{GoalResult, Offer, Search, Step};
use crate::trial::{CpuBusy, CpuGap, Direction, Trial};
use crate::units::{Rate, Span};
use crate::verdict::{Rules, Verdict};

/// Canaries before and after each trial.
const CANARIES: Canaries = Canaries {
    sent_frames: 8,
    received_frames: 8,
};

/// Frames that a second of a trial loses by [`Wander`], as a share of those accepted.
const WANDER_LOSS: f64 = 1e-3;
/// How near a load is to [`Wander::lucky`], as a share of it.
const WANDER_NEAR: f64 = 0.2;

/// Loss that comes and goes with load, as seen on routers of bare metal: seconds pass up to one load, none does from
/// another on, and yet some do at a load far above both.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Wander {
    /// Up to here every second passes.
    pub sure: Rate,
    /// From here on none does; between the two the chance falls in a line.
    pub never: Rate,
    /// Around this load, within 20 % of it, a second passes by luck.
    pub lucky: Rate,
    /// With this probability.
    pub luck: f64,
}

impl Wander {
    /// Probability that a second at this load loses nothing.
    #[must_use]
    pub fn passes(&self, load: Rate) -> f64 {
        let (load, sure, never) = (load.fps(), self.sure.fps(), self.never.fps());
        if load <= sure {
            1.0
        } else if load < never {
            (never - load) / (never - sure)
        } else if (load - self.lucky.fps()).abs() <= WANDER_NEAR * self.lucky.fps() {
            self.luck
        } else {
            0.0
        }
    }
}

/// `450000:600000:10%@900000`
impl fmt::Display for Wander {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (sure, never, lucky) = (self.sure.fps(), self.never.fps(), self.lucky.fps());
        write!(f, "{sure}:{never}:{}%@{lucky}", percent(self.luck))
    }
}

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
    /// Loss that comes and goes with load, if any.
    pub wander: Option<Wander>,
    /// Probability of a second in which the machine stands still once, and is seen to.
    pub stall_chance: f64,
    /// For how long it then does.
    pub stall: Span,
    /// Probability of a second in which the router itself pauses once: nothing but its loss shows it.
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
            wander: None,
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
        if self.noise > 0.0 {
            write!(f, ",noise={}%", percent(self.noise))?;
        }
        if self.random_loss > 0.0 {
            write!(f, ",loss={}", self.random_loss)?;
        }
        if let Some(wander) = self.wander {
            write!(f, ",wander={wander}")?;
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
        let stood = self.standstills(|of| (of.stall_chance, of.stall), offer);
        let paused = self.standstills(|of| (of.pause_chance, of.pause), offer);
        let capacity = self.capacity();
        let intended = offer.rate.frames_in(offer.duration);
        let sent = tester_ceiling.map_or(intended, |most| {
            intended.min(most.frames_in(offer.duration))
        });
        let lost_nic_ring = ring_loss(capacity, ring, sent, offer, [stood, paused]);
        let accepted = sent - lost_nic_ring;
        let lost_in_dut = self.random_loss(accepted) + self.wander_loss(accepted, offer);
        let lost_in_dut = lost_in_dut.min(accepted);
        let lost = lost_nic_ring + lost_in_dut;
        let counts = Counts {
            intended,
            sent,
            unsent: intended - sent,
            received: sent - lost,
            lost,
            ..Counts::default()
        };
        let canaries = CANARIES.sent_frames * 2;
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
        // A thread on a CPU that stands still counts as running, in proportion.
        let awake = offer.duration.as_nanos().saturating_sub(stood.total_ns());
        let run_ns = if capacity.fps() > 0.0 && awake > 0 {
            let whole = offer.duration.as_nanos() as f64;
            accepted as f64 * 1e9 / capacity.fps() * whole / awake as f64
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
                ..CpuBusy::default()
            }],
            gaps: vec![CpuGap {
                cpu: 1,
                longest_ns: stood.longest().as_nanos(),
            }],
            disturbed: disturbed(stood, sent, lost_nic_ring, ring, offer),
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

    /// How often this trial stands still so: each of its seconds has one such pause at most, by chance. Drawn only where
    /// there are any, as noise is.
    fn standstills(&mut self, of: fn(&Properties) -> (f64, Span), offer: &Offer) -> Standstills {
        let (chance, length) = of(&self.properties);
        let length = length.min(offer.duration);
        if chance <= 0.0 {
            return Standstills { length, times: 0 };
        }
        let seconds = offer.duration.as_secs_f64();
        let whole = (0..seconds.floor() as u64).filter(|_| self.random.chance(chance));
        let times = whole.count() as u64 + u64::from(self.random.chance(chance * seconds.fract()));
        Standstills { length, times }
    }

    /// Frames lost at a load that this router does not like.
    fn wander_loss(&mut self, accepted: u64, offer: &Offer) -> u64 {
        let Some(wander) = self.properties.wander else {
            return 0;
        };
        let passes = wander.passes(offer.rate).powf(offer.duration.as_secs_f64());
        if self.random.chance(passes) {
            return 0;
        }
        ((accepted as f64 * WANDER_LOSS) as u64).max(1)
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

/// So many pauses of one length.
#[derive(Clone, Copy, Debug)]
struct Standstills {
    length: Span,
    times: u64,
}

impl Standstills {
    const fn longest(self) -> Span {
        if self.times > 0 {
            self.length
        } else {
            Span::ZERO
        }
    }

    const fn total_ns(self) -> u64 {
        self.length.as_nanos().saturating_mul(self.times)
    }
}

/// What falls into the stalls that are seen.
fn disturbed(stood: Standstills, sent: u64, lost: u64, ring: u64, offer: &Offer) -> Disturbed {
    let time = Span::from_nanos(stood.total_ns()).min(offer.duration);
    Disturbed {
        times: u32::try_from(stood.times).unwrap_or(u32::MAX),
        time,
        sent: offer.rate.frames_in(time).min(sent),
        unsent: 0,
        lost: Some(lost_in(stood, ring, offer).min(lost)),
    }
}

/// Frames that the ring cannot store while the router stands still so.
fn lost_in(stood: Standstills, ring: u64, offer: &Offer) -> u64 {
    let in_one = offer.rate.frames_in(stood.length).saturating_sub(ring);
    in_one.saturating_mul(stood.times)
}

/// Frames the ring has no room for: what a whole trial brings above what is served and stored, or
/// what arrives while the router stands still.
fn ring_loss(capacity: Rate, ring: u64, sent: u64, offer: &Offer, stood: [Standstills; 2]) -> u64 {
    let away_ns = stood
        .iter()
        .map(|one| one.total_ns())
        .fold(0, u64::saturating_add);
    let awake = Span::from_nanos(offer.duration.as_nanos().saturating_sub(away_ns));
    let over_trial = sent
        .saturating_sub(capacity.frames_in(awake))
        .saturating_sub(ring);
    let in_stalls = stood.map(|one| lost_in(one, ring, offer));
    let in_stalls = in_stalls.into_iter().fold(0, u64::saturating_add).min(sent);
    if over_trial > 0 && sent > capacity.frames_in(offer.duration) {
        return over_trial.max(in_stalls);
    }
    in_stalls
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
                search.learn(&verdict, &trial.undisturbed());
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
