//! The frames of a trial, counted.

/// Frames of one direction (or, added up, of a trial). Only frames with the trial's tag count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Slots of the schedule: offered load times duration.
    pub intended: u64,
    /// Frames the sender handed to its port, each with a sequence number of its own.
    pub sent: u64,
    /// Slots that passed without a frame, being later than the bound of catching up.
    pub unsent: u64,
    /// Sequence numbers that arrived, each counted once.
    pub received: u64,
    /// Frames sent to where the DUT has no route on purpose, and dropped by it for that, by its own count:
    /// no loss. Zero unless destinations were drawn so.
    pub unrouted: u64,
    /// Sequence numbers that never arrived, the unrouted aside: `sent - received - unrouted`.
    pub lost: u64,
    /// Arrivals of a sequence number that had arrived before.
    pub duplicated: u64,
    /// Arrivals behind a later frame of their flow (RFC 4737 type P).
    pub reordered: u64,
    /// Frames at the receiver without a tag of ours.
    pub foreign: u64,
    /// Frames at the receiver of an earlier trial.
    pub late: u64,
    /// Frames of this trial with a sequence number nobody sent: always a fault.
    pub beyond: u64,
    /// Of the frames whose arrival was timed (one in 16, or each), those whose TTL or hop limit nobody had lowered: a
    /// router does (RFC 1812 section 5.3.1, RFC 8200 section 3).
    pub not_lowered: u64,
    /// Frames that reached the receiver at the DUT's exit merged into larger ones (GRO): it cannot tell them apart.
    pub merged: u64,
}

impl Counts {
    /// Both added up, member by member.
    #[must_use]
    pub fn plus(&self, other: &Self) -> Self {
        Self {
            intended: self.intended.saturating_add(other.intended),
            sent: self.sent.saturating_add(other.sent),
            unsent: self.unsent.saturating_add(other.unsent),
            received: self.received.saturating_add(other.received),
            unrouted: self.unrouted.saturating_add(other.unrouted),
            lost: self.lost.saturating_add(other.lost),
            duplicated: self.duplicated.saturating_add(other.duplicated),
            reordered: self.reordered.saturating_add(other.reordered),
            foreign: self.foreign.saturating_add(other.foreign),
            late: self.late.saturating_add(other.late),
            beyond: self.beyond.saturating_add(other.beyond),
            not_lowered: self.not_lowered.saturating_add(other.not_lowered),
            merged: self.merged.saturating_add(other.merged),
        }
    }
}
