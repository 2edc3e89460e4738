//! What a trial is evidence of. The order is fixed and blind to the wish for a number:
//!
//! 1. *Void*: the machine disturbed it. Stolen time is called that, whatever else it spoilt.
//! 2. *Invalid*: the instrument is in doubt.
//! 3. *Lossy*: the DUT lost frames at its own stations. The tester cannot have caused that loss. Frames that stayed
//!    unsent made the load lower, so a DUT that fails such a load fails the whole one too.
//! 4. *Not offered*: the DUT lost nothing, but the tester left frames unsent or lost some itself.
//! 5. *Lossless*: all that was offered came back.

use std::fmt;

use crate::reason::{Invalid, Moment, Shortfall, Void};
use crate::trial::{Counts, CpuCrowd, CpuGap, Direction, Trial};
use crate::units::Span;

/// The bounds of judgement; fixed before the first trial and the same for all.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rules {
    /// Largest share of intended frames that may stay unsent, 0 to 1.
    pub unsent_max: f64,
    /// Largest share of a trial the hypervisor may steal from any one CPU of the bed, 0 to 1.
    pub steal_max: f64,
    /// Largest share of a trial that other programs may have of any one CPU of the bed in all, 0 to 1.
    pub others_max: f64,
    /// Longest time any one CPU of the bed may stand still or run another program.
    pub stall_max: Span,
    /// The sender's own CPU, where that has less time than the others: a pause of this length leaves as much
    /// unsent as is allowed.
    pub sender_stall_max: Option<(usize, Span)>,
}

impl Rules {
    /// Whether a trial that has come so far can no longer pass: CPUs stood still or ran other programs for too long, or
    /// too much of a direction (slots passed unsent, slots of the whole trial) is missing. Such a trial may stop. It is
    /// void, not offered, or lossy where the DUT has lost frames by then. This does not ask for loss.
    #[must_use]
    pub fn in_vain(&self, gaps: &[CpuGap], crowds: &[CpuCrowd], ways: &[(u64, u64)]) -> bool {
        let short = |&(unsent, intended): &(u64, u64)| self.too_much_unsent(unsent, intended);
        self.check_gaps(gaps).is_err()
            || self.check_crowds(crowds).is_err()
            || ways.iter().any(short)
    }

    fn too_much_unsent(&self, unsent: u64, intended: u64) -> bool {
        unsent as f64 > self.unsent_max * intended as f64
    }

    fn check_gaps(&self, gaps: &[CpuGap]) -> Result<(), Void> {
        for &CpuGap { cpu, longest } in gaps {
            let bound = self.stall_max_of(cpu);
            if longest > bound {
                return Err(Void::Stall {
                    cpu,
                    longest,
                    bound,
                });
            }
        }
        Ok(())
    }

    fn check_crowds(&self, crowds: &[CpuCrowd]) -> Result<(), Void> {
        for crowd in crowds {
            let (cpu, longest) = (crowd.cpu, crowd.longest);
            let bound = self.stall_max_of(cpu);
            if longest > bound {
                return Err(Void::Crowded {
                    cpu,
                    culprit: crowd.culprit,
                    longest,
                    bound,
                });
            }
        }
        Ok(())
    }

    /// Longest time this CPU may stand still or run another program.
    fn stall_max_of(&self, cpu: usize) -> Span {
        match self.sender_stall_max {
            Some((sender, bound)) if sender == cpu => bound.min(self.stall_max),
            _ => self.stall_max,
        }
    }
}

impl Default for Rules {
    /// 0.1 % unsent; 2 % steal (one tick of 10 ms in a trial of 1 s is 1 %), and as much for other programs; a stall
    /// of 10 ms.
    fn default() -> Self {
        Self {
            unsent_max: 0.001,
            steal_max: 0.02,
            others_max: 0.02,
            stall_max: Span::from_millis(10),
            sender_stall_max: None,
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
            // For nothing that its end knows of.
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
                if canaries.received == 0 || canaries.received > canaries.sent {
                    let (sent, received) = (canaries.sent, canaries.received);
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
                    sent.saturating_add(size.sent),
                    received.saturating_add(size.received),
                )
            });
        let counted = (counts.sent, counts.received);
        if self.per_size.is_empty() || by_size == counted {
            return Ok(());
        }
        Err(Invalid::SizesDisagree { by_size, counted })
    }

    /// Reads steal and stalls alone: lossless trials are voided by the same rule as lossy ones.
    fn check_machine(&self, rules: &Rules) -> Result<(), Void> {
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
        rules.check_gaps(&self.gaps)?;
        rules.check_crowds(&self.crowds)?;
        self.check_others(rules)
    }

    /// Programs that take turns with the tester or the DUT never have a CPU for long at once, but often. In a short
    /// trial they may have as much in all as one may have at once.
    fn check_others(&self, rules: &Rules) -> Result<(), Void> {
        let whole = self
            .cut_short_from
            .unwrap_or(self.duration)
            .as_nanos()
            .max(1);
        for &CpuCrowd {
            cpu,
            total,
            culprit,
            ..
        } in &self.crowds
        {
            let (share, bound) = (total.as_nanos() as f64 / whole as f64, rules.others_max);
            if share > bound && total > rules.stall_max_of(cpu) {
                return Err(Void::Others {
                    cpu,
                    culprit,
                    share,
                    bound,
                });
            }
        }
        Ok(())
    }

    fn check_offered(&self, rules: &Rules) -> Result<(), Shortfall> {
        for Direction { counts, ledger } in &self.directions {
            let &Counts {
                unsent, intended, ..
            } = counts;
            if rules.too_much_unsent(unsent, intended) {
                return Err(Shortfall::UnsentAboveBound { unsent, intended });
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
