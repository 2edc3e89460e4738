//! Reads `fault.bpf.c`: what was planted on the DUT's path to calibrate the meter.

skeleton!("fault");

plain! {
    fault_counts: 64 { seen, dropped, duplicated, swapped, policed, delayed, delayed_ns, owed_ns }
}

/// The planting program's own count.
pub use types::fault_counts as Planted;

impl Planted {
    /// Adds up the CPUs' counts.
    #[must_use]
    pub fn from_cpus(per_cpu: &[Self]) -> Self {
        let mut sum = Self::default();
        for cpu in per_cpu {
            sum.seen += cpu.seen;
            sum.dropped += cpu.dropped;
            sum.duplicated += cpu.duplicated;
            sum.swapped += cpu.swapped;
            sum.policed += cpu.policed;
            sum.delayed += cpu.delayed;
            sum.delayed_ns += cpu.delayed_ns;
            sum.owed_ns += cpu.owed_ns;
        }
        sum
    }
}
