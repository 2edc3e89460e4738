//! What a trial is evidence of. The order is fixed and blind to the wish for a number:
//!
//! 1. *Void*: the machine disturbed it for too long. Stolen time is called that, whatever else it spoilt.
//! 2. *Invalid*: the instrument is in doubt.
//! 3. *Lossy*: the DUT lost frames at its own stations. The tester cannot have caused that loss. Frames that stayed
//!    unsent made the load lower, so a DUT that fails such a load fails the whole one too.
//! 4. *Not offered*: the DUT lost nothing, but the tester left frames unsent or lost some itself.
//! 5. *Lossless*: all that was offered came back.
//!
//! What fell into shorter disturbances counts for nothing ([`crate::disturbed`]).

use std::fmt;

use crate::counts::Counts;
use crate::disturbed::{Disturbance, Guard, time_of};
use crate::reason::{Invalid, Moment, Shortfall, Void};
use crate::trial::{CpuTasks, Direction, Trial};
use crate::units::Span;

/// The bounds of judgement; fixed before the first trial and the same for all.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rules {
    /// Largest share of intended frames that may stay unsent, 0 to 1.
    pub unsent_max: f64,
    /// Largest share of a trial the hypervisor may steal from any one CPU of the bed outside disturbances, 0 to 1.
    pub steal_max: f64,
    /// Largest share of a trial that other programs may have of any one CPU of the bed outside disturbances, 0 to 1.
    pub others_max: f64,
    /// Largest share of a trial that disturbances may take, 0 to 1. What is left is at least as long as was asked for,
    /// for a trial goes on until it is.
    pub disturbed_max: f64,
    /// The guard after each disturbance.
    pub guard: Guard,
}

/// A trial with so large a share of its slots unsent offers another load, whatever disturbed it.
const UNSENT_MOST: f64 = 0.05;

/// In a short trial other programs may have so much of a CPU in all, ns: a share of it would be a turn or two.
const OTHERS_MIN_NS: u64 = 10_000_000;

/// The share of a length that turns in it took, 0 to 1; 0 of so little time that it would be a turn or two.
#[must_use]
pub fn share_of_turns(time: Span, length: Span) -> f64 {
    match time.as_nanos() > OTHERS_MIN_NS {
        true => time.as_secs_f64() / length.as_secs_f64().max(1e-9),
        false => 0.0,
    }
}

impl Rules {
    /// Whether a trial in which so many slots passed unsent in a direction, outside disturbances, cannot offer its load any
    /// more (slots unsent, slots of the whole trial, by direction). This does not ask for loss.
    #[must_use]
    pub fn cannot_count(&self, ways: &[(u64, u64)]) -> bool {
        let short =
            |&(unsent, intended): &(u64, u64)| unsent as f64 > UNSENT_MOST * intended as f64;
        ways.iter().any(short)
    }

    fn too_much_unsent(&self, unsent: u64, intended: u64) -> bool {
        unsent as f64 > self.unsent_max * intended as f64
    }
}

impl Default for Rules {
    /// 0.1 % unsent; 2 % steal (one tick of 10 ms in a trial of 1 s is 1 %); 5 % for other programs, of which a doubt tells
    /// from 2 % on; half of a trial disturbed. The router forwards a third more than the load.
    fn default() -> Self {
        Self {
            unsent_max: 0.001,
            steal_max: 0.02,
            others_max: 0.05,
            disturbed_max: 0.5,
            guard: Guard {
                factor: 3.0,
                least: Span::from_millis(2),
                most: Span::from_millis(20),
            },
        }
    }
}

/// What one trial says.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Verdict {
    /// Every frame sent arrived.
    Lossless,
    /// The DUT lost frames.
    Lossy {
        /// How many were lost at the DUT's own stations.
        lost: u64,
    },
    /// The tester did not offer, or could not receive, this load.
    NotOffered(Shortfall),
    /// No evidence.
    Invalid(Invalid),
    /// To be run again.
    Void(Void),
}

impl Verdict {
    /// Whether it says something of the DUT.
    #[must_use]
    pub const fn counts(&self) -> bool {
        matches!(self, Self::Lossless | Self::Lossy { .. })
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Lossless => write!(f, "lossless"),
            Self::Lossy { lost } => write!(f, "lossy: {lost} frames lost"),
            Self::NotOffered(why) => write!(f, "not offered: {why}"),
            Self::Invalid(why) => write!(f, "invalid: {why}"),
            Self::Void(why) => write!(f, "void: {why}"),
        }
    }
}

impl Trial {
    /// What this trial says under `rules`.
    #[must_use]
    pub fn judge(&self, rules: &Rules) -> Verdict {
        if let Err(why) = self.check_machine(rules) {
            return Verdict::Void(why);
        }
        if let Err(why) = self.check_evidence() {
            return Verdict::Invalid(why);
        }
        let lost = self.lost_at_dut();
        if lost > 0 {
            return Verdict::Lossy { lost };
        }
        if let Err(why) = self.check_offered(rules) {
            return Verdict::NotOffered(why);
        }
        if self.cut_short_from.is_some() {
            // It was cut short, and no rule above says why.
            return Verdict::Invalid(Invalid::SenderDidNotEnd);
        }
        Verdict::Lossless
    }

    fn check_evidence(&self) -> Result<(), Invalid> {
        // Each direction by itself: a dead one must not hide behind the other.
        if self.directions.is_empty() || self.directions.iter().any(|way| way.counts.sent == 0) {
            return Err(Invalid::NothingSent);
        }
        if !self.sender_ended {
            return Err(Invalid::SenderDidNotEnd);
        }
        self.check_exit()?;
        for Direction { counts, ledger } in &self.directions {
            if counts.received > counts.sent {
                let &Counts { sent, received, .. } = counts;
                return Err(Invalid::MoreReceivedThanSent { sent, received });
            }
            if counts.beyond > 0 {
                return Err(Invalid::SequenceBeyond(counts.beyond));
            }
            for (moment, canaries) in [
                (Moment::Opening, ledger.opening),
                (Moment::Closing, ledger.closing),
            ] {
                // One is enough: the path and the receiver lived. All of them would make a DUT that
                // loses one frame in ten impossible to measure.
                if canaries.received_frames == 0 || canaries.received_frames > canaries.sent_frames
                {
                    let (sent, received) = (canaries.sent_frames, canaries.received_frames);
                    return Err(Invalid::CanaryMissing {
                        moment,
                        sent,
                        received,
                    });
                }
            }
            ledger.close(counts).map_err(Invalid::LedgerOpen)?;
        }
        self.check_sizes()
    }

    /// Whether a receiver at the DUT's exit saw each frame that left, one by one. A receiver at a port always did.
    ///
    /// # Errors
    /// [`Invalid::PassedExit`] or [`Invalid::MergedAtExit`].
    pub fn check_exit(&self) -> Result<(), Invalid> {
        for Direction { counts, ledger } in &self.directions {
            if ledger.passed_exit > 0 {
                return Err(Invalid::PassedExit(ledger.passed_exit));
            }
            if counts.merged > 0 {
                return Err(Invalid::MergedAtExit(counts.merged));
            }
        }
        Ok(())
    }

    fn check_sizes(&self) -> Result<(), Invalid> {
        let counts = self.counted();
        let by_size = self
            .per_size
            .iter()
            .fold((0_u64, 0_u64), |(sent, received), size| {
                (
                    sent.saturating_add(size.sent_frames),
                    received.saturating_add(size.received_frames),
                )
            });
        let counted = (counts.sent, counts.received);
        if self.per_size.is_empty() || by_size == counted {
            return Ok(());
        }
        Err(Invalid::SizesDisagree { by_size, counted })
    }

    /// Reads steal, stalls and other programs alone: lossless trials are voided by the same rule as lossy ones.
    fn check_machine(&self, rules: &Rules) -> Result<(), Void> {
        let share = self.disturbed.time.as_secs_f64() / self.duration.as_secs_f64().max(1e-9);
        if share > rules.disturbed_max {
            return Err(self.disturbed_by(share, rules.disturbed_max));
        }
        for steal in &self.steal {
            let share = self.stolen_share(steal);
            if share > rules.steal_max {
                return Err(Void::Steal {
                    cpu: steal.cpu,
                    share,
                    bound: rules.steal_max,
                });
            }
        }
        for other_tasks in &self.other_tasks {
            let share = self.share_in_short_turns(other_tasks);
            if share > rules.others_max {
                return Err(Void::Others {
                    cpu: other_tasks.cpu,
                    culprit: other_tasks.culprit,
                    share,
                    bound: rules.others_max,
                });
            }
        }
        Ok(())
    }

    /// The time that other programs had of a CPU in turns too short to be seen one by one.
    #[must_use]
    pub fn in_short_turns(&self, tasks: &CpuTasks) -> Span {
        let seen = time_of(&self.others, tasks.cpu);
        Span::from_nanos(tasks.total.as_nanos().saturating_sub(seen))
    }

    /// The same as a share of the trial, 0 to 1. In a short trial it is none: it would be a turn or two.
    fn share_in_short_turns(&self, tasks: &CpuTasks) -> f64 {
        let time = self.in_short_turns(tasks);
        share_of_turns(time, self.whole())
    }

    /// What took the most time of a CPU names them all: the CPU stood still or was slow, or other programs had it.
    fn disturbed_by(&self, share: f64, bound: f64) -> Void {
        let still_or_slow = self.gaps.iter().map(|gap| {
            let slow = self.slow.iter().filter(|time| time.cpu == gap.cpu);
            let longest = Span::from_nanos(gap.longest_ns);
            let longest = slow.map(Disturbance::length).fold(longest, Span::max);
            let time_ns = time_of(&self.stalls, gap.cpu) + time_of(&self.slow, gap.cpu);
            ((time_ns, longest), gap.cpu, None)
        });
        let others = self.other_tasks.iter().map(|tasks| {
            let time_ns = time_of(&self.others, tasks.cpu);
            ((time_ns, tasks.longest), tasks.cpu, Some(tasks.culprit))
        });
        let most = still_or_slow.chain(others).max_by_key(|&(time, ..)| time);
        let ((_, longest), cpu, culprit) = most.unwrap_or(((0, Span::ZERO), 0, None));
        Void::Disturbed {
            cpu,
            culprit,
            longest,
            share,
            bound,
        }
    }

    /// What the tester left unsent outside disturbances in the worse direction, if that is too much. A trial can be lossy
    /// too then: the DUT lost frames of a lower load.
    #[must_use]
    pub fn unsent_above_bound(&self, rules: &Rules) -> Option<Shortfall> {
        let ways = self.directions.len().max(1) as u64;
        let disturbed = self.disturbed.unsent / ways;
        let passed = (self.disturbed.sent + self.disturbed.unsent) / ways;
        let left = |way: &Direction| {
            let unsent = way.counts.unsent.saturating_sub(disturbed);
            (unsent, way.counts.intended.saturating_sub(passed))
        };
        let each = self.directions.iter().map(left);
        let short = each.filter(|&(unsent, intended)| rules.too_much_unsent(unsent, intended));
        let (unsent, intended) = short.max_by_key(|(unsent, _)| *unsent)?;
        Some(Shortfall::UnsentAboveBound { unsent, intended })
    }

    fn check_offered(&self, rules: &Rules) -> Result<(), Shortfall> {
        if let Some(unsent) = self.unsent_above_bound(rules) {
            return Err(unsent);
        }
        for Direction { ledger, .. } in &self.directions {
            if self.undisturbed().lost == 0 {
                continue;
            }
            if ledger.lost_before_nic > 0 {
                return Err(Shortfall::LostBeforeNic(ledger.lost_before_nic));
            }
            if ledger.lost_receiver_ring > 0 {
                return Err(Shortfall::LostAtReceiver(ledger.lost_receiver_ring));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
