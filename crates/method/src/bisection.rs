//! RFC 2544 26.1 as a bisection: the first load is the maximum; then halfway between the highest
//! load that passed and the lowest that failed, until they are as close as the resolution asks.
//!
//! - A load passes by any or all of n trials, decided as soon as it is certain. With loss verification (ETSI
//!   GS NFV-TST 009, 12.3.3) a trial that lost too much for a passing disturbance fails it at once.
//! - A void trial is run again ([`crate::attempts`]).
//! - A load the tester failed to offer bounds the search from above as the *tester's* limit: twice, or as often as a load
//!   has trials where any of them decides. Where the DUT lost frames in another trial of that load, the DUT failed it.
//! - Two trials at a load that are no evidence: no answer.
//! - A search that ends early says what its trials so far speak for.
//! - The minimum is assumed to pass until everything above it has failed, then it is offered too.

use crate::attempts::Attempts;
use crate::counts::Counts;
use crate::goal::{Accept, Goal, GoalError, LimitedBy};
use crate::reason::{Invalid, Shortfall};
use crate::search::{CouldNotMeasure, GoalResult, Irregular, Offer, Outcome, Passes, Search, Step};
use crate::units::Rate;
use crate::verdict::Verdict;

/// Trials at the load being offered, by what they said.
#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    lossless: u32,
    lossy: u32,
    not_offered: u32,
    invalid: u32,
}

impl Tally {
    const fn passes(&self) -> Passes {
        Passes {
            lossless: self.lossless,
            judged: self.lossless + self.lossy,
        }
    }
}

/// What a load came to.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Decision {
    Passed,
    Failed,
    NotOffered(Shortfall),
}

/// The search's state.
#[derive(Clone, Debug)]
pub struct Bisection {
    goal: Goal,
    now: Rate,
    tally: Tally,
    /// Highest load that passed.
    passed: Option<Rate>,
    /// What the trials said at the load that the result so far is about.
    passes: Passes,
    /// Lowest load the DUT failed.
    lossy: Option<Rate>,
    /// Lowest load that did not pass, and whose fault it was.
    above: Option<(Rate, LimitedBy)>,
    attempts: Attempts,
    done: Option<Outcome>,
}

impl Bisection {
    /// A search for `goal`.
    ///
    /// # Errors
    /// The goal makes no sense; see [`Goal::check`].
    pub fn new(goal: Goal) -> Result<Self, GoalError> {
        goal.check()?;
        Ok(Self {
            goal,
            now: goal.highest(),
            tally: Tally::default(),
            passed: None,
            passes: Passes::default(),
            lossy: None,
            above: None,
            attempts: Attempts::default(),
            done: None,
        })
    }

    /// The goal searched for.
    #[must_use]
    pub const fn goal(&self) -> &Goal {
        &self.goal
    }

    fn offer(&self) -> Offer {
        Offer::new(self.now, self.goal.trial)
    }

    fn invalid(&mut self, why: Invalid) {
        self.tally.invalid += 1;
        if self.tally.invalid >= 2 {
            self.give_up(CouldNotMeasure::Invalid {
                rate: self.now,
                why,
            });
        }
    }

    fn not_offered(&mut self, why: Shortfall) {
        self.tally.not_offered += 1;
        let enough = match self.goal.accept {
            Accept::Any | Accept::Verified { .. } => self.goal.trials_per_load.max(2),
            Accept::All => 2,
        };
        if self.tally.not_offered >= enough {
            self.decided(if self.tally.lossy > 0 {
                Decision::Failed
            } else {
                Decision::NotOffered(why)
            });
        }
    }

    /// Decides the load as soon as no further trial could change it.
    fn judged(&mut self) {
        let Tally {
            lossless, lossy, ..
        } = self.tally;
        let all = self.goal.trials_per_load;
        let (passes_at, fails_at) = match self.goal.accept {
            Accept::Any | Accept::Verified { .. } => (1, all),
            Accept::All => (all, 1),
        };
        if lossless >= passes_at {
            self.decided(Decision::Passed);
        } else if lossy >= fails_at {
            self.decided(Decision::Failed);
        }
    }

    fn decided(&mut self, decision: Decision) {
        let now = self.now;
        if self.passed.is_none() || decision == Decision::Passed {
            self.passes = self.tally.passes();
        }
        match decision {
            Decision::Passed => self.passed = Some(now),
            Decision::Failed => {
                self.lossy = Some(now);
                self.above = Some((now, LimitedBy::Dut));
            }
            Decision::NotOffered(_) => {
                self.above = Some((now, self.goal.maximum.not_offered_by(now)));
            }
        }
        self.tally = Tally::default();
        match (self.passed, self.above) {
            (Some(passed), None) => self.found(passed, self.goal.maximum.limited_by()),
            (Some(passed), Some((above, whose))) => match self.goal.between(passed, above) {
                Some(next) => self.now = next,
                None => self.found(passed, whose),
            },
            (None, _) => self.go_down(decision),
        }
    }

    /// Nothing passed yet: halfway to the minimum, then the minimum itself, then nothing is left.
    fn go_down(&mut self, decision: Decision) {
        let lowest = self.goal.lowest();
        if self.now > lowest {
            self.now = self.goal.between(lowest, self.now).unwrap_or(lowest);
            return;
        }
        match decision {
            Decision::NotOffered(why) => {
                self.give_up(CouldNotMeasure::LowestNotOffered {
                    rate: self.now,
                    why,
                });
            }
            Decision::Passed | Decision::Failed => {
                let Attempts { trials, voided, .. } = self.attempts;
                self.done = Some(Outcome::NoneLossless {
                    lowest,
                    trials,
                    voided,
                });
            }
        }
    }

    fn found(&mut self, lossless: Rate, limited_by: LimitedBy) {
        let Attempts { trials, voided, .. } = self.attempts;
        // A load the DUT failed above one the tester could not offer bounds nothing any more.
        let lossy = self.lossy.filter(|_| limited_by == LimitedBy::Dut);
        self.done = Some(Outcome::Found {
            lossless,
            lossy,
            limited_by,
            trials,
            voided,
        });
    }

    /// Ends with what the trials so far speak for; without any answer where none says something of the DUT, or where
    /// the instrument is in doubt.
    fn give_up(&mut self, why: CouldNotMeasure) {
        let Attempts { trials, voided, .. } = self.attempts;
        let limited_by = match why {
            CouldNotMeasure::TooManyVoided { .. } => LimitedBy::Disturbed,
            _ => LimitedBy::Trials,
        };
        let known = self
            .so_far(limited_by)
            .filter(|_| !matches!(why, CouldNotMeasure::Invalid { .. }));
        self.done = Some(known.unwrap_or(Outcome::CouldNotMeasure {
            why,
            trials,
            voided,
        }));
    }

    /// What the trials so far speak for; `None` without one that says something of the DUT.
    fn so_far(&self, limited_by: LimitedBy) -> Option<Outcome> {
        let Attempts { trials, voided, .. } = self.attempts;
        let under_way = (self.tally.lossless > 0).then_some(self.now);
        if let Some(lossless) = self.passed.or(under_way) {
            return Some(Outcome::Found {
                lossless,
                lossy: self.lossy,
                limited_by,
                trials,
                voided,
            });
        }
        let failing = (self.tally.lossy > 0).then_some(self.now);
        Some(Outcome::NoneLossless {
            lowest: failing.or(self.lossy)?,
            trials,
            voided,
        })
    }

    fn lossy(&mut self, lost: u64) {
        match self.goal.accept {
            Accept::Verified { lost_at_most } if lost > lost_at_most => {
                self.decided(Decision::Failed);
            }
            _ => {
                self.tally.lossy += 1;
                self.judged();
            }
        }
    }

    fn result(&self, outcome: Outcome) -> GoalResult {
        let irregular = match outcome {
            Outcome::Found { .. } if self.passed.is_none() => Some(Irregular::Unconfirmed),
            Outcome::Found {
                limited_by: LimitedBy::Trials,
                ..
            } => Some(Irregular::OutOfTrials),
            Outcome::Found { lossy: Some(_), .. } => None,
            Outcome::Found { lossy: None, .. } => Some(Irregular::NoUpperBound),
            // The lowest load was not tried, or not decided.
            Outcome::NoneLossless { lowest, .. }
                if lowest > self.goal.lowest() || self.lossy != Some(lowest) =>
            {
                Some(Irregular::EndedEarly)
            }
            Outcome::NoneLossless { .. } | Outcome::CouldNotMeasure { .. } => {
                Some(Irregular::NoLowerBound)
            }
        };
        // The load under way, where no other was decided.
        let under_way = self.passed.is_none() && self.tally.passes().judged > 0;
        GoalResult {
            goal: None,
            outcome,
            loss_ratio: 0.0,
            final_trial: self.goal.trial,
            passes: if under_way {
                self.tally.passes()
            } else {
                self.passes
            },
            irregular,
        }
    }
}

impl Search for Bisection {
    fn next(&mut self) -> Step {
        match self.done {
            Some(outcome) => Step::Done(vec![self.result(outcome)]),
            None => Step::Offer(self.offer()),
        }
    }

    fn learn(&mut self, verdict: &Verdict, _: &Counts) {
        if self.done.is_some() {
            return;
        }
        match *verdict {
            Verdict::Lossless => {
                self.attempts.judged();
                self.tally.lossless += 1;
                self.judged();
            }
            Verdict::Lossy { lost } => {
                self.attempts.judged();
                self.lossy(lost);
            }
            Verdict::NotOffered(why) => {
                self.attempts.not_offered();
                self.not_offered(why);
            }
            Verdict::Invalid(why) => {
                self.attempts.other();
                self.invalid(why);
            }
            Verdict::Void(why) => {
                if let Some(why) = self.attempts.void(why) {
                    self.give_up(why);
                }
            }
        }
    }

    fn found_so_far(&self) -> Vec<GoalResult> {
        let Attempts { trials, voided, .. } = self.attempts;
        let nothing = || Outcome::CouldNotMeasure {
            why: self.attempts.no_answer(),
            trials,
            voided,
        };
        let so_far = || self.so_far(LimitedBy::Trials).unwrap_or_else(nothing);
        vec![self.result(self.done.unwrap_or_else(so_far))]
    }
}

#[cfg(test)]
mod tests;
