//! A trial's line: every count it left behind.

use crate::other::Other;
use crate::words::{Phase, Verdict};
use crate::{Interval, Losses, Quantiles, RouteChanges};
use serde::{Deserialize, Serialize};

/// One trial. Records that were cut down have trials without losses, lateness, latency and counts by size and queue.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TrialLine {
    /// From 1, in the order they were run; results refer to it.
    pub trial: u32,
    /// Frame size in octets, FCS included, or the name of a mix.
    pub frame: String,
    /// The trial's purpose.
    pub phase: Phase,
    /// The variant of the router (`mpps compare`); else null.
    pub variant: Option<String>,
    /// Offered load (RFC 2285 3.5.2), all directions together; the load really sent where there was no pace.
    pub offered_fps: f64,
    /// From the run's first line to its first slot; missing where it was simulated, and in older records.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub begun_after_ns: Option<u64>,
    /// How long its slots lasted.
    pub duration_ns: u64,
    /// The length it was to have, where it ended early because it could not pass any more; else null.
    pub cut_short_from_ns: Option<u64>,
    /// At overload: median forwarding rate of its undisturbed windows; missing where there are too few, and in older
    /// records.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub forwarded_undisturbed_fps: Option<f64>,
    /// The verdict.
    pub verdict: Verdict,
    /// The verdict in words, with the numbers it stands on.
    pub verdict_text: String,
    /// Whether the sender passed all its slots by itself.
    pub sender_ended: bool,
    /// One for each direction sent in.
    pub directions: Vec<Direction>,
    /// Received, but long after the trial. Over 1 % of those sent count as lost. Null in schema 1.
    pub overdue_frames: Option<u64>,
    /// One for each direction that lost frames outside disturbances.
    #[serde(default)]
    pub losses: Vec<Losses>,
    /// What the DUT's threads took, by CPU.
    pub busy: Vec<CpuBusy>,
    /// What each CPU of the machine did, whoever had it.
    #[serde(default)]
    pub work: Vec<CpuWork>,
    /// What the hypervisor took.
    pub steal: Vec<CpuSteal>,
    /// Longest time that each CPU of the bed stood still.
    pub gaps: Vec<CpuGap>,
    /// When CPUs stood still, since the first slot.
    #[serde(default)]
    pub stalls: Vec<Disturbance>,
    /// When a hypervisor's CPU was slow: a fixed piece of work took over twice its usual time, and 20 ms after. Missing where
    /// none was, where nobody looked, and in older records.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub slow: Vec<Disturbance>,
    /// When other programs had a CPU of the bed for long.
    #[serde(default)]
    pub others: Vec<Disturbance>,
    /// What fell into these times and the guards behind them: it counts for nothing. Null in older records.
    pub disturbed: Option<Disturbed>,
    /// The round trip of a cache line between the tester's CPU and the DUT's just before; null where nobody timed it.
    pub exchange_before_ns: Option<u64>,
    /// The same just after.
    pub exchange_after_ns: Option<u64>,
    /// The same within its windows: a tenth, the median and nine tenths. Missing where nobody timed it, and in older records.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub round_trip_ns: Option<Interval<u64>>,
    /// A fixed piece of work on the DUT's CPU within its windows. Another guest on the core's other thread lengthens it by
    /// half. Missing where nobody timed it, and in older records.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub work_ns: Option<Interval<u64>>,
    /// Its windows, from which comparisons and screens are made. Missing in trials over 0.9 s, outside overload and fixed loads,
    /// where nobody timed their states, and in older records.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub windows: Option<Box<Windows>>,
    /// What other programs had of the bed's CPUs.
    #[serde(default, alias = "crowds")]
    pub other_tasks: Vec<CpuTasks>,
    /// The same of the router's own tasks, which disturb nothing.
    #[serde(default)]
    pub dut_tasks: Vec<CpuTasks>,
    /// The time for the same piece of work before and after, by CPU.
    pub speeds: Vec<CpuSpeed>,
    /// Management queries to the router meanwhile, and its answers; missing where none were sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queries: Option<Queries>,
    /// How late frames left, against their slots.
    #[serde(default)]
    pub lateness: Quantiles,
    /// From the sender's port to the receiver.
    #[serde(default)]
    pub latency: Quantiles,
    /// Most frames sent without a wait between.
    pub largest_burst_frames: u64,
    /// By frame length.
    #[serde(default)]
    pub per_size: Vec<SizeCount>,
    /// Received by each queue of the DUT.
    #[serde(default)]
    pub per_queue_frames: Vec<u64>,
    /// Counted by the DUT's own IP layer, canaries included; null where it does not tell.
    pub dut_forwarded_packets: Option<u64>,
    /// Dropped by it because they had no route.
    pub dut_no_route_packets: Option<u64>,
    /// Route changes made in it meanwhile; missing where none were asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub route_changes: Option<RouteChanges>,
    /// Members that this version does not know.
    #[serde(flatten)]
    pub other: Other,
}

impl TrialLine {
    /// Share of the frames that reached the DUT's NIC and that the DUT lost, disturbances aside; 0 where none reached it.
    #[must_use]
    pub fn lost_share(&self) -> f64 {
        let reached = self.over(|all| all.sent_frames.saturating_sub(all.lost_before_nic_frames));
        let lost = self.over(|all| all.lost_nic_ring_frames + all.lost_in_dut_frames);
        let apart = self.disturbed.unwrap_or_default();
        let reached = reached.saturating_sub(apart.sent_frames);
        let lost = lost.saturating_sub(apart.lost_frames.unwrap_or(0));
        lost as f64 / reached.max(1) as f64
    }

    /// Frames/s that reached the DUT's NIC, whatever was planned.
    #[must_use]
    pub fn reached_fps(&self) -> f64 {
        let reached = self.over(|all| all.sent_frames.saturating_sub(all.lost_before_nic_frames));
        reached as f64 * 1e9 / self.duration_ns.max(1) as f64
    }

    /// Frames of all directions.
    fn over(&self, frames: fn(&Ledger) -> u64) -> u64 {
        self.directions.iter().map(|way| frames(&way.ledger)).sum()
    }

    /// Leaves out what takes memory, and gives back what reading took too much.
    pub(crate) fn leave_out_details(&mut self) {
        for quantiles in [&mut self.lateness, &mut self.latency] {
            quantiles.histogram_ns = None;
        }
        self.windows = None;
        (self.losses, self.other) = (Vec::new(), Other::new());
        (self.work, self.steal) = (Vec::new(), Vec::new());
        (self.speeds, self.per_size) = (Vec::new(), Vec::new());
        self.per_queue_frames = Vec::new();
        (self.stalls, self.slow) = (Vec::new(), Vec::new());
        self.others = summed(&self.others);
        (self.other_tasks, self.dut_tasks) = (Vec::new(), Vec::new());
        self.directions.shrink_to_fit();
        self.busy.shrink_to_fit();
        self.gaps.shrink_to_fit();
    }
}

/// One time a CPU, as long as all of its times together: shares of the CPU need no more.
fn summed(times: &[Disturbance]) -> Vec<Disturbance> {
    let mut sums: Vec<Disturbance> = Vec::new();
    for time in times {
        let length = time.to_ns.saturating_sub(time.from_ns);
        match sums.iter_mut().find(|sum| sum.cpu == time.cpu) {
            Some(sum) => sum.to_ns = sum.to_ns.saturating_add(length),
            None => sums.push(Disturbance {
                cpu: time.cpu,
                from_ns: 0,
                to_ns: length,
            }),
        }
    }
    sums.shrink_to_fit();
    sums
}

/// The windows of a trial, in their order: a number for each of them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Windows {
    /// How long each of them was.
    pub duration_ns: u64,
    /// Frames that left the DUT in it.
    pub forwarded_frames: Vec<u64>,
    /// Numbers, from 0, of those in which something that is not the DUT had a CPU of the bed.
    pub disturbed: Vec<usize>,
    /// The round trip of a cache line between the tester's CPU and the DUT's in it; null where nobody timed it.
    pub round_trip_ns: Vec<Option<u64>>,
    /// A fixed piece of work on the DUT's CPU in it; null where nobody timed it.
    pub work_ns: Vec<Option<u64>>,
    /// CPU time of the DUT's threads in it; null where nobody accounted for them, and none at all in older records.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dut_busy_ns: Vec<Option<u64>>,
}

/// Management queries, and how many of them were answered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Queries {
    /// Sent to the router.
    pub asked: u64,
    /// Answered in time.
    pub answered: u64,
}

/// Frames of one direction. Only those with the trial's tag count.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Direction {
    /// Slots of the schedule.
    pub intended_frames: u64,
    /// Handed to the sender's port.
    pub sent_frames: u64,
    /// Slots that passed without a frame.
    pub unsent_frames: u64,
    /// Sequence numbers that arrived, each once.
    pub received_frames: u64,
    /// Dropped by the DUT because it has no route for them on purpose: no loss.
    pub unrouted_frames: u64,
    /// Sequence numbers that never arrived, the unrouted aside.
    pub lost_frames: u64,
    /// Arrivals of a sequence number that had arrived before.
    pub duplicated_frames: u64,
    /// Arrivals behind a later frame of their flow (RFC 4737).
    pub reordered_frames: u64,
    /// At the receiver without a tag of ours.
    pub foreign_frames: u64,
    /// At the receiver, of an earlier trial.
    pub late_frames: u64,
    /// Of this trial, with a sequence number nobody sent: always a fault.
    pub beyond_frames: u64,
    /// Of those timed, frames whose TTL or hop limit was not lowered. Null in schema 1.
    pub not_lowered_frames: Option<u64>,
    /// At the DUT's exit, merged into larger ones (GRO). Null in schema 1.
    pub merged_frames: Option<u64>,
    /// Where each frame ended, canaries included.
    pub ledger: Ledger,
}

/// Where each frame ended. What nobody counted is null.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Ledger {
    /// Handed to the sender's port.
    pub sent_frames: u64,
    /// Lost before the DUT's NIC.
    pub lost_before_nic_frames: u64,
    /// Seen by the NIC.
    pub nic_received_frames: Option<u64>,
    /// Refused by its receive rings.
    pub lost_nic_ring_frames: u64,
    /// Taken by them.
    pub nic_accepted_frames: Option<u64>,
    /// Lost between ring and exit.
    pub lost_in_dut_frames: u64,
    /// Counted at its outgoing port; null where nobody knows.
    pub dut_transmitted_frames: Option<u64>,
    /// Lost in the receiver's ring.
    pub lost_receiver_ring_frames: u64,
    /// Past the receiver at the DUT's exit. Null in schema 1.
    pub passed_exit_frames: Option<u64>,
    /// All that the receiver saw.
    pub receiver_total_frames: u64,
    /// Frames sent before the trial to see that the path is open.
    pub opening: Canaries,
    /// Frames sent after it.
    pub closing: Canaries,
}

/// Frames sent beside a trial to see that the path is open.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Canaries {
    /// Sent.
    pub sent_frames: u64,
    /// Of these, frames that came back.
    pub received_frames: u64,
}

/// What the DUT's threads took of one CPU (schedstat).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CpuBusy {
    /// The CPU's number.
    pub cpu: usize,
    /// On the CPU.
    pub run_ns: u64,
    /// Runnable, but kept waiting.
    pub wait_ns: u64,
    /// What the router's own tasks had of it. It is 0 with the front `softirq`, whose `run_ns` includes them. Missing: 0.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub tasks_ns: u64,
}

impl CpuBusy {
    /// Time of the threads and of the router's other tasks, ns.
    #[must_use]
    pub const fn all_ns(&self) -> u64 {
        self.run_ns.saturating_add(self.tasks_ns)
    }
}

#[allow(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde hands over a reference"
)]
const fn is_zero(ns: &u64) -> bool {
    *ns == 0
}

/// What one CPU of the machine did (/proc/stat: ticks of 10 ms).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CpuWork {
    /// The CPU's number.
    pub cpu: usize,
    /// Neither idle nor stolen.
    pub busy_ns: u64,
    /// Of this, in soft interrupts.
    pub softirq_ns: u64,
    /// Packets its network stack took; null where the tester's own frames are among them.
    pub stack_packets: Option<u64>,
}

/// What the hypervisor took of one CPU (/proc/stat).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CpuSteal {
    /// The CPU's number.
    pub cpu: usize,
    /// Stolen.
    pub steal_ns: u64,
}

/// Longest time that one CPU stood still.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CpuGap {
    /// The CPU's number.
    pub cpu: usize,
    /// The time.
    pub longest_ns: u64,
}

/// A time in which a CPU stood still or was slow, or another program had it. Since the trial's first slot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Disturbance {
    /// The CPU's number.
    pub cpu: usize,
    /// Its beginning; 0 where that was before the first slot.
    pub from_ns: u64,
    /// Its end.
    pub to_ns: u64,
}

/// What fell into disturbances.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Disturbed {
    /// How many there were.
    pub times: u32,
    /// How long they took together.
    pub time_ns: u64,
    /// Sent in them.
    pub sent_frames: u64,
    /// Slots in them without a frame.
    pub unsent_frames: u64,
    /// Lost of those sent; null where nobody knows.
    pub lost_frames: Option<u64>,
}

/// What some tasks had of one CPU of the bed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CpuTasks {
    /// The CPU's number.
    pub cpu: usize,
    /// Longest time one of them ran without a break.
    pub longest_ns: u64,
    /// All their time.
    pub total_ns: u64,
    /// Name of the task that had the longest.
    pub longest_by: String,
}

/// The time for the same piece of work on one CPU.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CpuSpeed {
    /// The CPU's number.
    pub cpu: usize,
    /// Just before the trial.
    pub before_ns: u64,
    /// Just after it.
    pub after_ns: u64,
}

/// Frames of one length.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SizeCount {
    /// The length, FCS included.
    pub frame_octets: u16,
    /// Sent.
    pub sent_frames: u64,
    /// Of these, frames that came back.
    pub received_frames: u64,
}
