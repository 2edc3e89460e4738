//! The loss ledger of one direction: every frame sent is found again, as received or as lost at a
//! named place. It closes to the frame on every trial, overload included, or the trial is no evidence.
//!
//! The stations stand in the order a frame meets them. The counts come from separate sources (the
//! sender's program, the port's tracepoint, the NIC's program, the ring's tracepoint, the kernel's
//! interface statistics, the receiver's bit a sequence number), so that agreement means something.

pub use mpps_record::Canaries;

use crate::counts::Counts;

const fn both(one: Canaries, other: Canaries) -> Canaries {
    Canaries {
        sent_frames: one.sent_frames.saturating_add(other.sent_frames),
        received_frames: one.received_frames.saturating_add(other.received_frames),
    }
}

/// Where the frames of one direction went, from before the opening canaries to after the closing
/// ones: canaries are in every count of a station.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ledger {
    /// Nobody counts between the tester's ports, a device of somebody else's being there: the stations in
    /// between follow from the tester's own, and what was lost there may have been lost on a cable.
    pub device_unknown: bool,
    /// Frames handed to the sending port: the trial's and the canaries.
    pub sent: u64,
    /// Refused by the sending port, or lost between it and the NIC: the tester's loss.
    pub lost_before_nic: u64,
    /// Frames the virtual NIC saw.
    pub nic_received: u64,
    /// Frames that found their receive ring full: the DUT's loss, as a NIC's `rx_missed` is.
    pub lost_nic_ring: u64,
    /// Frames the rings took.
    pub nic_accepted: u64,
    /// Frames that went into the DUT and did not leave by the right port: the DUT's loss.
    pub lost_in_dut: u64,
    /// Frames the DUT gave to its outgoing port, those it made or made twice included.
    pub dut_transmitted: u64,
    /// Of these, frames the receiver's ring had no room for: the tester's loss.
    pub lost_receiver_ring: u64,
    /// Frames that left by the DUT's port without passing the receiver at its exit: that receiver cannot measure this
    /// DUT. Always 0 with a receiver at the tester's port.
    pub passed_exit: u64,
    /// Frames the receiver saw, of whatever kind.
    pub receiver_total: u64,
    /// Canaries sent and met before the load.
    pub opening: Canaries,
    /// Canaries sent and met after the load had drained: the receiver lived to the end.
    pub closing: Canaries,
}

/// Two counts that should be equal and are not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{frames:+} frames between [{between}] and [{and}]")]
pub struct LedgerGap {
    /// What the left side adds up.
    pub between: &'static str,
    /// What the right side adds up.
    pub and: &'static str,
    /// Left less right, frames.
    pub frames: i64,
}

/// Sums wide enough never to overflow, then one comparison.
fn equal(
    between: &'static str,
    left: &[u64],
    and: &'static str,
    right: &[u64],
) -> Result<(), LedgerGap> {
    let sum = |side: &[u64]| side.iter().map(|&frames| i128::from(frames)).sum::<i128>();
    let gap = sum(left) - sum(right);
    if gap == 0 {
        return Ok(());
    }
    let frames = gap.clamp(i128::from(i64::MIN), i128::from(i64::MAX)) as i64;
    Err(LedgerGap {
        between,
        and,
        frames,
    })
}

impl Ledger {
    /// Sets `lost_in_dut` to what the other stations leave: what the rings took, plus what the DUT
    /// made itself (duplicates, foreign frames, frames of an earlier trial it still held), less what
    /// it transmitted. Nothing in a DUT tells its losses apart, so this one count is by subtraction;
    /// [`Ledger::close`] then holds the whole against the sequence numbers. A DUT that transmitted
    /// more than it can have leaves zero here and an open ledger there.
    pub fn infer_lost_in_dut(&mut self, counts: &Counts) {
        let had = [
            self.nic_accepted,
            counts.duplicated,
            counts.foreign,
            counts.late,
            counts.beyond,
        ];
        let had = had
            .iter()
            .fold(0_u64, |sum, &frames| sum.saturating_add(frames));
        let accounted = self.dut_transmitted.saturating_add(counts.unrouted);
        self.lost_in_dut = had.saturating_sub(accounted);
    }

    /// Checks every identity between neighbouring stations, to the frame. Together they say
    /// `sent = lost before the NIC + in its ring + in the DUT + in the receiver's ring + received`.
    ///
    /// # Errors
    /// The first identity that does not hold, in the order a frame travels.
    pub fn close(&self, counts: &Counts) -> Result<(), LedgerGap> {
        equal(
            "intended",
            &[counts.intended],
            "sent + unsent",
            &[counts.sent, counts.unsent],
        )?;
        equal(
            "sent",
            &[counts.sent],
            "received + unrouted + lost",
            &[counts.received, counts.unrouted, counts.lost],
        )?;
        equal(
            "frames handed to the port",
            &[self.sent],
            "sent + canaries sent",
            &[
                counts.sent,
                self.opening.sent_frames,
                self.closing.sent_frames,
            ],
        )?;
        equal(
            "frames handed to the port",
            &[self.sent],
            "lost before the NIC + received by the NIC",
            &[self.lost_before_nic, self.nic_received],
        )?;
        equal(
            "received by the NIC",
            &[self.nic_received],
            "lost in its ring + accepted",
            &[self.lost_nic_ring, self.nic_accepted],
        )?;
        equal(
            "accepted + made in the DUT (duplicated, foreign, late, beyond)",
            &[
                self.nic_accepted,
                counts.duplicated,
                counts.foreign,
                counts.late,
                counts.beyond,
            ],
            "lost in the DUT + unrouted + transmitted by it",
            &[self.lost_in_dut, counts.unrouted, self.dut_transmitted],
        )?;
        equal(
            "transmitted by the DUT",
            &[self.dut_transmitted],
            "lost in the receiver's ring + past the exit + seen by the receiver",
            &[
                self.lost_receiver_ring,
                self.passed_exit,
                self.receiver_total,
            ],
        )?;
        equal(
            "seen by the receiver",
            &[self.receiver_total],
            "received + duplicated + foreign + late + beyond + canaries received",
            &[
                counts.received,
                counts.duplicated,
                counts.foreign,
                counts.late,
                counts.beyond,
                self.opening.received_frames,
                self.closing.received_frames,
            ],
        )
    }

    /// Both added up, member by member.
    #[must_use]
    pub fn plus(&self, other: &Self) -> Self {
        Self {
            device_unknown: self.device_unknown || other.device_unknown,
            sent: self.sent.saturating_add(other.sent),
            lost_before_nic: self.lost_before_nic.saturating_add(other.lost_before_nic),
            nic_received: self.nic_received.saturating_add(other.nic_received),
            lost_nic_ring: self.lost_nic_ring.saturating_add(other.lost_nic_ring),
            nic_accepted: self.nic_accepted.saturating_add(other.nic_accepted),
            lost_in_dut: self.lost_in_dut.saturating_add(other.lost_in_dut),
            dut_transmitted: self.dut_transmitted.saturating_add(other.dut_transmitted),
            lost_receiver_ring: self
                .lost_receiver_ring
                .saturating_add(other.lost_receiver_ring),
            passed_exit: self.passed_exit.saturating_add(other.passed_exit),
            receiver_total: self.receiver_total.saturating_add(other.receiver_total),
            opening: both(self.opening, other.opening),
            closing: both(self.closing, other.closing),
        }
    }
}

#[cfg(test)]
mod tests;
