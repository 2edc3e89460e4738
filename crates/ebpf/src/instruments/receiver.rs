//! Reads `receiver.bpf.c`: what reached the tester's port.

skeleton!("receiver");

/// Buckets of the latency histogram (the scheme of `mpps_method::histogram`).
pub const BUCKETS: usize = 1152;

/// TTL and hop limit of the sender's frames; `receiver.h` has the same.
pub const SENT_TTL: u8 = 64;

plain! {
    receiver_counts: 9312 {
        tagged, duplicated, reordered, foreign, late, canary, beyond, first_ns, last_ns, merged, window, not_lowered,
        latency
    }
    receiver_window: 16 { ns, tagged }
}

/// A window of time is 2 to this power, ns: 8.4 ms.
pub const WINDOW_SHIFT: u32 = 23;
/// Windows kept: 34 s of them.
pub const WINDOWS_MAX: u64 = 4096;

/// What one port received in one trial, over all CPUs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Received {
    /// Frames of this trial, duplicates included.
    pub tagged: u64,
    /// Of these, with a sequence number seen before.
    pub duplicated: u64,
    /// Of these, behind a later one of their flow (RFC 4737).
    pub reordered: u64,
    /// Frames without our tag.
    pub foreign: u64,
    /// Frames of an earlier trial.
    pub late: u64,
    /// Canary frames.
    pub canary: u64,
    /// Frames of this trial with a sequence nobody sends.
    pub beyond: u64,
    /// Earliest and latest arrival, monotonic ns (0 where arrivals are not timed).
    pub first_ns: u64,
    /// See `first_ns`.
    pub last_ns: u64,
    /// Of the frames that are timed, those whose TTL or hop limit was not lowered on the way.
    pub not_lowered: u64,
    /// Frames that came merged into larger ones (only where the receiver stands at the DUT's exit).
    pub merged: u64,
    /// Latency of each frame, log-linear buckets of ns.
    pub latency: Vec<u64>,
}

impl Received {
    /// Adds up the CPUs' counts.
    #[must_use]
    pub fn from_cpus(per_cpu: &[types::receiver_counts]) -> Self {
        let mut sum = Self {
            latency: vec![0; BUCKETS],
            ..Self::default()
        };
        for cpu in per_cpu {
            sum.tagged += cpu.tagged;
            sum.duplicated += cpu.duplicated;
            sum.reordered += cpu.reordered;
            sum.foreign += cpu.foreign;
            sum.late += cpu.late;
            sum.canary += cpu.canary;
            sum.beyond += cpu.beyond;
            sum.not_lowered += cpu.not_lowered;
            sum.merged += cpu.merged;
            for (total, bucket) in sum.latency.iter_mut().zip(cpu.latency) {
                *total += bucket;
            }
        }
        let first = per_cpu.iter().map(|cpu| cpu.first_ns).filter(|&ns| ns > 0);
        sum.first_ns = first.min().unwrap_or(0);
        sum.last_ns = per_cpu.iter().map(|cpu| cpu.last_ns).max().unwrap_or(0);
        sum
    }
}

/// When a window's first timed frame came (monotonic ns), and how many frames of the trial one CPU had counted by
/// then, duplicates included.
pub use types::receiver_window as WindowMark;
