//! Reads `receiver.bpf.c`: what reached the tester's port.

skeleton!("receiver");

/// Buckets of the latency histogram (the scheme of `mpps_method::histogram`).
pub const BUCKETS: usize = 1152;

/// TTL and hop limit of the sender's frames; `receiver.h` has the same.
pub const SENT_TTL: u8 = 64;

plain! {
    receiver_counts: 9336 {
        tagged, duplicated, reordered, foreign, late, canary, beyond, first_ns, last_ns, merged, window, not_lowered,
        gap_from_ns, gap_to_ns, gap_tagged, latency
    }
    receiver_window: 16 { ns, tagged }
    receiver_span: 16 { from_ns, until_ns }
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
    /// The longest time in which no timed frame arrived, of those that overlap the receiver's [`Looked`].
    pub gap: Option<Gap>,
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
        sum.gap = Gap::from_cpus(per_cpu);
        sum
    }
}

/// A time without a timed frame, monotonic ns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gap {
    /// The last frame before it.
    pub from_ns: u64,
    /// The first frame after it.
    pub to_ns: u64,
    /// Frames of the trial that arrived before it.
    pub before: u64,
}

impl Gap {
    /// The time in which every CPU that receives was in its longest gap.
    fn from_cpus(per_cpu: &[types::receiver_counts]) -> Option<Self> {
        let heard = per_cpu.iter().filter(|cpu| cpu.gap_to_ns > 0);
        let gap = Self {
            from_ns: heard.clone().map(|cpu| cpu.gap_from_ns).max()?,
            to_ns: heard.clone().map(|cpu| cpu.gap_to_ns).min()?,
            before: heard.map(|cpu| cpu.gap_tagged).sum(),
        };
        (gap.from_ns < gap.to_ns).then_some(gap)
    }
}

/// When the receiver looks for its longest gap.
pub use types::receiver_span as Looked;

impl Looked {
    /// Never: the receiver notes no gap.
    pub const NEVER: Self = Self::from(u64::MAX);

    /// From this moment on, monotonic ns.
    #[must_use]
    pub const fn from(from_ns: u64) -> Self {
        Self {
            from_ns,
            until_ns: u64::MAX,
        }
    }

    /// The same, without gaps that begin after this moment.
    #[must_use]
    pub const fn until(self, until_ns: u64) -> Self {
        Self { until_ns, ..self }
    }
}

/// When a window's first timed frame came (monotonic ns), and how many frames of the trial one CPU had counted by
/// then, duplicates included.
pub use types::receiver_window as WindowMark;
