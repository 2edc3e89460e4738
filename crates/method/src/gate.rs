//! The stability gate: before any search, a few trials at a load that no router should feel. A DUT that loses frames
//! there does so for a reason other than load, and a search for a rate would find chance.

use std::fmt;

use crate::limit::BUSY;
use crate::pattern::LossPattern;
use crate::reason::Invalid;
use crate::search::Offer;
use crate::trial::Trial;
use crate::units::{Rate, Span};
use crate::verdict::Verdict;

/// Trials that must say something of the DUT.
pub const TRIALS: u32 = 5;
/// Length of each.
pub const LENGTH: Span = Span::from_millis(200);
/// Their load, as a share of the highest.
pub const SHARE: f64 = 0.05;
/// So many are run at most: what the machine disturbs is repeated.
pub const ATTEMPTS: u32 = 10;
/// After so many without a single canary the DUT forwards nothing. Each of them waits long for one.
pub const SILENT: u32 = 3;

/// What the trials at the low load came to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Stability {
    /// No frame was lost.
    Stable,
    /// Even this load was more than the DUT takes: it is slow, not unstable.
    Overloaded,
    /// Frames were lost, and not for load.
    Unstable(Instability),
    /// The DUT forwards nothing any more: no canary came in [`SILENT`] trials.
    Silent,
    /// The machine disturbed the trials.
    Unknown {
        /// Trials run.
        trials: u32,
        /// Of these, trials that say something of the DUT, none with loss.
        judged: u32,
    },
}

/// How a DUT lost frames at a load it should not have felt.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Instability {
    /// The load.
    pub rate: Rate,
    /// Trials that lost frames for no load.
    pub lossy: u32,
    /// Of so many that say something of the DUT.
    pub trials: u32,
    /// Frames lost in them.
    pub lost: u64,
    /// Frames sent in all.
    pub sent: u64,
    /// What the loss of the worst of them looks like, where that is known.
    pub pattern: Option<LossPattern>,
}

impl fmt::Display for Instability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            rate,
            lossy,
            trials,
            lost,
            sent,
            ..
        } = self;
        write!(
            f,
            "at the low load of {rate} the DUT lost frames in {lossy} of {trials} trials ({lost} of {sent}"
        )?;
        match self.pattern {
            Some(pattern) => write!(f, "; {pattern})"),
            None => f.write_str(")"),
        }
    }
}

/// The gate's state: it runs nothing itself.
#[derive(Clone, Debug)]
pub struct Gate {
    offer: Offer,
    tried: u32,
    silent: u32,
    judged: u32,
    overloaded: u32,
    sent: u64,
    lossy: u32,
    lost: u64,
    worst: Option<(u64, Option<LossPattern>)>,
}

impl Gate {
    /// A gate below this load, the highest that will be searched.
    #[must_use]
    pub fn below(highest: Rate) -> Self {
        Self {
            offer: Offer::new(Rate::from_fps(SHARE * highest.fps()), LENGTH),
            tried: 0,
            silent: 0,
            judged: 0,
            overloaded: 0,
            sent: 0,
            lossy: 0,
            lost: 0,
            worst: None,
        }
    }

    /// The trial to run now; `None`: enough is known, or was tried.
    #[must_use]
    pub fn next(&self) -> Option<Offer> {
        let is_enough = self.judged >= TRIALS || self.tried >= ATTEMPTS || self.is_silent();
        (!is_enough).then_some(self.offer)
    }

    const fn is_silent(&self) -> bool {
        self.silent >= SILENT && self.silent == self.tried
    }

    /// What that trial said.
    pub fn learn(&mut self, trial: &Trial, verdict: &Verdict) {
        self.tried += 1;
        let lost = match *verdict {
            Verdict::Lossless => 0,
            Verdict::Lossy { lost } => lost,
            Verdict::Invalid(Invalid::CanaryMissing { received: 0, .. }) => {
                self.silent += 1;
                return;
            }
            // What the machine or the tester did is neither for nor against the DUT.
            Verdict::NotOffered(_) | Verdict::Invalid(_) | Verdict::Void(_) => return,
        };
        self.judged += 1;
        self.sent += trial.counts().sent;
        if lost == 0 {
            return;
        }
        let most = trial.losses.iter().max_by_key(|losses| losses.lost);
        let pattern = most.map(crate::pattern::Losses::pattern);
        let overload = match pattern {
            Some(pattern) => pattern == LossPattern::Overflow,
            None => trial.busiest_share().is_some_and(|busy| busy >= BUSY),
        };
        if overload {
            self.overloaded += 1;
            return;
        }
        self.lossy += 1;
        self.lost += lost;
        if self.worst.is_none_or(|(most, _)| lost > most) {
            self.worst = Some((lost, pattern));
        }
    }

    /// What is known by now.
    #[must_use]
    pub fn stability(&self) -> Stability {
        if let Some((_, pattern)) = self.worst {
            return Stability::Unstable(Instability {
                rate: self.offer.rate,
                lossy: self.lossy,
                trials: self.judged,
                lost: self.lost,
                sent: self.sent,
                pattern,
            });
        }
        if self.overloaded > 0 {
            return Stability::Overloaded;
        }
        if self.judged >= TRIALS {
            return Stability::Stable;
        }
        if self.is_silent() {
            return Stability::Silent;
        }
        Stability::Unknown {
            trials: self.tried,
            judged: self.judged,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pattern::Losses;
    use crate::reason::Moment;
    use crate::simulate::{Properties, Simulated};
    use crate::verdict::Rules;

    const CEILING: Rate = Rate::from_fps(1_500_000.0);

    fn gate(router: Properties) -> (Gate, u32) {
        let (mut pair, mut gate) = (Simulated::new(router), Gate::below(CEILING));
        let mut trials = 0;
        while let Some(offer) = gate.next() {
            let trial = pair.trial(&offer);
            let verdict = trial.judge(&Rules::default());
            gate.learn(&trial, &verdict);
            trials += 1;
        }
        (gate, trials)
    }

    fn router(fps: f64) -> Properties {
        Properties {
            ring: 4096,
            ..Properties::ideal(Rate::from_fps(fps))
        }
    }

    #[test]
    fn a_good_router_passes_in_five_trials() {
        for fps in [80_000.0, 300_000.0, 5_000_000.0] {
            let (gate, trials) = gate(router(fps));
            assert_eq!((gate.stability(), trials), (Stability::Stable, TRIALS));
        }
        let offer = Gate::below(CEILING).next().expect("an offer");
        assert!((offer.rate.fps() - 75_000.0).abs() < 1e-6);
    }

    #[test]
    fn a_router_that_loses_by_chance_is_unstable() {
        let lossy = Properties {
            random_loss: 0.001,
            ..router(1_000_000.0)
        };
        let Stability::Unstable(found) = gate(lossy).0.stability() else {
            panic!("stable?")
        };
        assert_eq!((found.lossy, found.trials), (5, 5));
        assert_eq!(found.sent, 5 * 15_000);
        assert!((40..120).contains(&found.lost), "{found:?}");
        assert!(
            found
                .to_string()
                .starts_with("at the low load of 75.0 kfps"),
            "{found}"
        );
    }

    #[test]
    fn so_is_one_that_pauses_by_itself() {
        // 30 ms at 75 000 frames/s are 2250 frames: a ring of 512 does not hold them.
        let pauses = Properties {
            ring: 512,
            // In half of the trials of 0.2 s.
            pause_chance: 2.5,
            pause: Span::from_millis(30),
            ..router(1_000_000.0)
        };
        assert!(matches!(gate(pauses).0.stability(), Stability::Unstable(_)));
    }

    #[test]
    fn a_slow_router_is_not_unstable() {
        assert_eq!(gate(router(20_000.0)).0.stability(), Stability::Overloaded);
    }

    #[test]
    fn disturbed_trials_are_repeated() {
        let stalls = |stall_chance| Properties {
            stall_chance,
            stall: Span::from_millis(150),
            ..router(1_000_000.0)
        };
        let (gate_half, trials) = gate(stalls(2.5));
        assert_eq!(gate_half.stability(), Stability::Stable);
        assert!(trials > TRIALS, "{trials}");
        let (gate_always, trials) = gate(stalls(5.0));
        let unknown = Stability::Unknown {
            trials: ATTEMPTS,
            judged: 0,
        };
        assert_eq!((gate_always.stability(), trials), (unknown, ATTEMPTS));
    }

    #[test]
    fn a_dut_without_a_word_ends_the_gate() {
        let silent = Verdict::Invalid(Invalid::CanaryMissing {
            moment: Moment::Opening,
            sent: 16,
            received: 0,
        });
        let mut gate = Gate::below(CEILING);
        for _ in 0..SILENT {
            assert!(gate.next().is_some());
            gate.learn(&Trial::default(), &silent);
        }
        assert_eq!(gate.next(), None);
        assert_eq!(gate.stability(), Stability::Silent);
        // One that answers once is not silent.
        let mut gate = Gate::below(CEILING);
        gate.learn(&Trial::default(), &Verdict::Lossless);
        (0..SILENT).for_each(|_| gate.learn(&Trial::default(), &silent));
        assert!(gate.next().is_some());
    }

    #[test]
    fn where_the_pattern_is_known_it_decides() {
        let mut words = vec![u64::MAX; 100];
        words[50] = 0;
        let stalled = Losses::from_bitmap(&words, 6_400, LENGTH, &[]).expect("loss");
        assert!(matches!(stalled.pattern(), LossPattern::Stall { .. }));
        words = vec![0xffff_0000_ffff_0001; 100];
        let overflown = Losses::from_bitmap(&words, 6_400, LENGTH, &[]).expect("loss");
        let learned = |losses: Losses| {
            let trial = Trial {
                losses: vec![losses],
                ..Trial::default()
            };
            let mut gate = Gate::below(CEILING);
            gate.learn(&trial, &Verdict::Lossy { lost: 64 });
            gate.stability()
        };
        assert!(matches!(
            learned(stalled),
            Stability::Unstable(Instability {
                pattern: Some(LossPattern::Stall { .. }),
                ..
            })
        ));
        // Not busy, but more came than was taken: a policer, say.
        let overflown = Losses {
            at_ring: Some(3_000),
            ..overflown
        };
        assert_eq!(overflown.pattern(), LossPattern::Overflow, "{overflown:?}");
        assert_eq!(learned(overflown), Stability::Overloaded);
    }
}
