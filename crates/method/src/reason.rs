//! Why a trial says nothing of the DUT: the instrument in doubt, the tester short of the load, or the
//! machine in the way. Each prints as one line.

use std::fmt;

use crate::ledger::LedgerGap;
use crate::trial::TaskName;
use crate::units::Span;

/// When canaries were sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment {
    /// Before the load.
    Opening,
    /// After the load had drained.
    Closing,
}

/// Why a trial is no evidence at all: the instrument itself is in doubt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Invalid {
    /// Not a single frame was sent.
    NothingSent,
    /// The sender was cut short: fewer slots passed than intended.
    SenderDidNotEnd,
    /// More sequence numbers arrived than were sent.
    MoreReceivedThanSent {
        /// Frames sent.
        sent: u64,
        /// Sequence numbers received.
        received: u64,
    },
    /// Frames arrived with a sequence number nobody sent.
    SequenceBeyond(u64),
    /// No canary of one moment arrived, or none was sent.
    CanaryMissing {
        /// Before or after the load.
        moment: Moment,
        /// Canaries sent.
        sent: u64,
        /// Canaries received.
        received: u64,
    },
    /// Frames left the DUT without passing the receiver at its exit.
    PassedExit(u64),
    /// Frames reached the receiver at the DUT's exit merged into larger ones.
    MergedAtExit(u64),
    /// Frames are unaccounted for.
    LedgerOpen(LedgerGap),
    /// Frames by length do not add up to the frames counted.
    SizesDisagree {
        /// Over all lengths, sent and received.
        by_size: (u64, u64),
        /// Counted, sent and received.
        counted: (u64, u64),
    },
}

impl fmt::Display for Invalid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NothingSent => write!(f, "nothing was sent"),
            Self::SenderDidNotEnd => write!(f, "the sender was cut short"),
            Self::MoreReceivedThanSent { sent, received } => {
                write!(f, "{received} frames received of {sent} sent")
            }
            Self::SequenceBeyond(frames) => {
                write!(
                    f,
                    "{frames} frames received with a sequence number that was not sent"
                )
            }
            Self::CanaryMissing {
                moment,
                sent,
                received,
            } => {
                let when = match moment {
                    Moment::Opening => "before",
                    Moment::Closing => "after",
                };
                write!(
                    f,
                    "{received} of {sent} canary frames arrived {when} the load"
                )?;
                if received > sent {
                    write!(f, ": something on their way copies frames")?;
                }
                Ok(())
            }
            Self::PassedExit(frames) => write!(
                f,
                "{frames} frames left the DUT past its egress hook (XDP redirect, PACKET_QDISC_BYPASS or an egress \
                 filter): give --receiver port"
            ),
            Self::MergedAtExit(frames) => write!(
                f,
                "{frames} frames left the DUT merged into larger ones (GRO), which the receiver at its exit cannot tell \
                 apart: give --receiver port"
            ),
            Self::LedgerOpen(gap) => write!(f, "the loss ledger is open: {gap}"),
            Self::SizesDisagree { by_size, counted } if by_size.1 < counted.1 => write!(
                f,
                "{} of {} frames arrived in a size that was not sent, because an offload (GRO, LRO, TSO) merged them. \
                Send --l4 tcp, which no offload merges, or run ethtool -K PORT gro off lro off tso off at the DUT's \
                ports",
                counted.1 - by_size.1,
                counted.1
            ),
            Self::SizesDisagree { by_size, counted } => write!(
                f,
                "the frames by size add up to {} sent and {} received, but {} and {} were counted",
                by_size.0, by_size.1, counted.0, counted.1
            ),
        }
    }
}

/// How the tester fell short of the load: says nothing of the DUT.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shortfall {
    /// Too many slots passed without a frame.
    UnsentAboveBound {
        /// Slots without a frame.
        unsent: u64,
        /// Slots in all.
        intended: u64,
    },
    /// Frames lost between the sender and the virtual NIC.
    LostBeforeNic(u64),
    /// Frames lost at the receiver's ring.
    LostAtReceiver(u64),
}

impl fmt::Display for Shortfall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnsentAboveBound { unsent, intended } => {
                let share = *unsent as f64 / (*intended).max(1) as f64 * 100.0;
                write!(
                    f,
                    "the tester left {unsent} of {intended} frames unsent ({share:.2} %)"
                )
            }
            Self::LostBeforeNic(frames) => {
                write!(f, "the tester lost {frames} frames before the virtual NIC")
            }
            Self::LostAtReceiver(frames) => {
                write!(f, "the tester lost {frames} frames at its receiver")
            }
        }
    }
}

/// What the machine did to a trial, whatever its loss: it is run again.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Void {
    /// The hypervisor took too much of a CPU.
    Steal {
        /// The CPU.
        cpu: usize,
        /// Share of the trial stolen, 0 to 1.
        share: f64,
        /// The bound.
        bound: f64,
    },
    /// CPUs stood still, were slow, or ran other programs, for too large a share of the trial.
    Disturbed {
        /// The CPU of the longest disturbance.
        cpu: usize,
        /// The program that had it; `None` where it stood still or was slow.
        culprit: Option<TaskName>,
        /// How long that was.
        longest: Span,
        /// Share of the trial that disturbances took, 0 to 1, guards included.
        share: f64,
        /// The bound.
        bound: f64,
    },
    /// Other programs had too much of a CPU of the bed in short turns.
    Others {
        /// The CPU.
        cpu: usize,
        /// Which of them had it longest at once.
        culprit: TaskName,
        /// Share of the trial, 0 to 1.
        share: f64,
        /// The bound.
        bound: f64,
    },
}

impl Void {
    /// What did it, without figures: two trials that the same thing disturbed have the same cause.
    #[must_use]
    pub fn cause(&self) -> String {
        match self {
            Self::Steal { cpu, .. } => format!("the hypervisor took CPU {cpu}"),
            Self::Disturbed {
                culprit: None, cpu, ..
            } => format!("CPU {cpu} stood still or was slow"),
            Self::Disturbed {
                culprit: Some(program),
                ..
            }
            | Self::Others {
                culprit: program, ..
            } => format!("another program ({program}) had a CPU of the bed"),
        }
    }
}

impl fmt::Display for Void {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Steal { cpu, share, bound } => {
                let (share, bound) = (share * 100.0, bound * 100.0);
                write!(
                    f,
                    "{share:.1} % of CPU {cpu} was stolen (bound {bound:.1} %)"
                )
            }
            Self::Disturbed {
                cpu,
                culprit,
                longest,
                share,
                bound,
            } => {
                let (share, bound) = (share * 100.0, bound * 100.0);
                write!(
                    f,
                    "{share:.0} % of the trial was disturbed (bound {bound:.0} %): "
                )?;
                match culprit {
                    None => write!(f, "CPU {cpu} stood still or was slow for up to {longest}"),
                    Some(culprit) => {
                        write!(
                            f,
                            "another program ({culprit}) had CPU {cpu} for up to {longest}"
                        )
                    }
                }
            }
            Self::Others {
                cpu,
                culprit,
                share,
                bound,
            } => {
                let (share, bound) = (share * 100.0, bound * 100.0);
                write!(
                    f,
                    "other programs ({culprit}) had {share:.1} % of CPU {cpu} in short turns (bound {bound:.1} %)"
                )
            }
        }
    }
}
