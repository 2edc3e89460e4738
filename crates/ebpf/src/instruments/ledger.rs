//! Reads `ledger.bpf.c`: what the port and the virtual NIC's rings took and refused.

skeleton!("ledger");

plain! {
    ledger_counts: 32 { port_taken, port_refused, ring_taken, ring_refused }
}

/// One direction's counts.
pub use types::ledger_counts as Taken;

impl Taken {
    /// Adds up the CPUs' counts.
    #[must_use]
    pub fn from_cpus(per_cpu: &[Self]) -> Self {
        let mut sum = Self::default();
        for cpu in per_cpu {
            sum.port_taken += cpu.port_taken;
            sum.port_refused += cpu.port_refused;
            sum.ring_taken += cpu.ring_taken;
            sum.ring_refused += cpu.ring_refused;
        }
        sum
    }
}
