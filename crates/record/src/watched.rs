//! What `mpps explain --cpus` saw of a host: its CPUs, interfaces, drops and other tasks, with traffic of others.

use serde::{Deserialize, Serialize};

/// CPUs of a host over a time, without traffic of ours. All counts are of that time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Watched {
    /// How long.
    pub time_ns: u64,
    /// Frames that interfaces of the network namespace received: hardware and virtual links, not those that stand on others.
    pub rx_frames: u64,
    /// Frames that they sent.
    pub tx_frames: u64,
    /// The part of the CPUs watched in the packets of all CPUs' stacks.
    pub share_of_stack: f64,
    /// Part of the namespace's frames that is told to the CPUs watched: of devices' frames by polls, of the others by packets
    /// of the stack. Missing in older records, where the stack told all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub frames_share: Option<f64>,
    /// Frames that the cost of one is told of: those told to these CPUs, and packets of other namespaces that they took.
    pub frames: u64,
    /// Packets among them that no interface of the namespace counted: of others, or taken twice.
    pub foreign_packets: u64,
    /// The CPUs that were watched.
    pub cpus: Vec<WatchedCpu>,
    /// Interfaces of the network namespace.
    pub links: Vec<WatchedLink>,
    /// Frames of the network namespace that the stack dropped, the most frequent first.
    pub drops: Vec<WatchedDrop>,
    /// Tasks that samples found on the CPUs and that are not the network's, with their share of one CPU.
    pub tasks: Vec<WatchedTask>,
    /// What could not be seen, and the remedy.
    pub lacks: Vec<String>,
}

/// A CPU. Shares are of the time, 0 to 1.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WatchedCpu {
    /// Its number.
    pub cpu: usize,
    /// How its time was spent; null where only the kernel's own counts could be read.
    pub ledger: Option<CpuLedger>,
    /// Busy by `/proc/stat`; coarse in a short time.
    pub busy_share: f64,
    /// Taken away by a hypervisor, by `/proc/stat`.
    pub steal_share: f64,
    /// Packets that its network stack took, in all namespaces.
    pub packets: u64,
    /// Packets dropped because its backlog was full.
    pub backlog_drops: u64,
    /// Soft interrupts of the network that ended with work left.
    pub squeezed: u64,
    /// Hard interrupts, those of timers and other CPUs included.
    pub interrupts: u64,
    /// The stage that most of its network's time is in; null without samples of that.
    pub top_stage: Option<String>,
    /// Samples that should have come; null where none was taken.
    pub samples_due: Option<f64>,
    /// Samples that came.
    pub samples: u64,
    /// Sampled time of the network's work by its time in the ledger; null where that is not known.
    pub seen_share: Option<f64>,
    /// In hard interrupts, by samples: the ledger counts that time as what they interrupt. Missing where it is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interrupt_share: Option<f64>,
    /// In kernel workers that work for the network (WireGuard, IPsec, vhost), by samples: the ledger counts that time as
    /// other tasks'. Missing where there was none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worker_share: Option<f64>,
}

impl WatchedCpu {
    /// The least that other tasks had of its time: less what hard interrupts may have of it, and what workers of the network
    /// have; 0 where that is not known.
    #[must_use]
    pub fn least_task_share(&self) -> f64 {
        let counted = self
            .ledger
            .as_ref()
            .map_or(0.0, |ledger| ledger.other_task_share);
        let known = [self.interrupt_share, self.worker_share];
        let less: f64 = known.into_iter().flatten().sum();
        (counted - less).max(0.0)
    }

    /// The network's part of its time with that of its workers.
    #[must_use]
    pub fn whole_network_share(&self) -> f64 {
        self.network_share() + self.worker_share.unwrap_or(0.0)
    }

    /// The network's part of its time; 0 where that is not known.
    #[must_use]
    pub fn network_share(&self) -> f64 {
        self.ledger.as_ref().map_or(0.0, CpuLedger::network_share)
    }

    /// Idle, by the kernel's own counts where there is no ledger.
    #[must_use]
    pub fn idle_share(&self) -> f64 {
        let counted = 1.0 - self.busy_share - self.steal_share;
        self.ledger
            .as_ref()
            .map_or(counted, |ledger| ledger.idle_share)
    }
}

/// How a CPU's time was spent. The shares sum to 1. Hard interrupts count as what they interrupt.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CpuLedger {
    /// With nothing to run.
    pub idle_share: f64,
    /// In soft interrupts of the network.
    pub net_softirq_share: f64,
    /// In kernel threads of the network.
    pub net_thread_share: f64,
    /// In other soft interrupts.
    pub other_softirq_share: f64,
    /// In other tasks.
    pub other_task_share: f64,
    /// Polls of receive queues.
    pub polls: u64,
    /// Frames that these polls took.
    pub polled_frames: u64,
}

impl CpuLedger {
    /// The network's part.
    #[must_use]
    pub fn network_share(&self) -> f64 {
        self.net_softirq_share + self.net_thread_share
    }
}

/// An interface.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WatchedLink {
    /// Its name.
    pub name: String,
    /// `veth`, `vlan` and others; null for hardware.
    pub kind: Option<String>,
    /// Whether its frames are counted in the sums: it stands on no other link.
    pub counted: bool,
    /// Frames received.
    pub rx_frames: u64,
    /// Frames sent.
    pub tx_frames: u64,
    /// Frames lost while receiving: dropped, missed and erroneous ones.
    pub rx_drops: u64,
    /// Erroneous ones among them. Missing where there were none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rx_errors: Option<u64>,
    /// Frames that found its ring full: `missed`, `over` and `fifo` errors. Missing where there were none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rx_ring_drops: Option<u64>,
    /// Frames lost while sending.
    pub tx_drops: u64,
    /// Octets received, without those of the wire. Missing in older records.
    #[serde(default)]
    pub rx_octets: u64,
    /// Octets sent.
    #[serde(default)]
    pub tx_octets: u64,
    /// Mbit/s that its driver says it has; missing where it says none, and of virtual links, whose number is notional.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub speed_mbit: Option<u32>,
    /// Its queues, where its driver counts their frames.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub queues: Vec<WatchedQueue>,
}

/// The queues of an interface that have one number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WatchedQueue {
    /// Their number, from 0.
    pub queue: u32,
    /// Frames received; null where there is no such queue.
    pub rx_frames: Option<u64>,
    /// Frames sent; null where there is no such queue.
    pub tx_frames: Option<u64>,
}

/// Frames that the stack dropped at one place for one reason.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WatchedDrop {
    /// The interface they were at; null where it is gone.
    pub link: Option<String>,
    /// As the kernel names it, without `SKB_DROP_REASON_`.
    pub reason: String,
    /// The function that dropped them; null where it has no name.
    pub function: Option<String>,
    /// How many.
    pub frames: u64,
}

/// A task that is not the network's.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WatchedTask {
    /// Its name; several tasks of one name count together.
    pub name: String,
    /// Share of one CPU's time.
    pub cpu_share: f64,
}
