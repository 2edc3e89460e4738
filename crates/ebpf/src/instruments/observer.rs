//! Reads `observer.bpf.c`: what CPUs do while we only look.

skeleton!("observer");

plain! {
    observed_cpu: 88 {
        watched, since_ns, running, idle_ns, net_softirq_ns, other_softirq_ns, net_thread_ns, other_task_ns, polls, polled,
        device_polled,
    }
}

/// One CPU since it was last cleared.
pub use types::observed_cpu as ObservedCpu;

impl ObservedCpu {
    /// A CPU that is watched from now on (ns, CLOCK_MONOTONIC).
    #[must_use]
    pub fn cleared(now_ns: u64) -> Self {
        Self {
            watched: 1,
            since_ns: now_ns,
            ..Self::default()
        }
    }

    /// With what ran since the last event until now.
    #[must_use]
    pub fn until(mut self, now_ns: u64) -> Self {
        let passed = now_ns.saturating_sub(self.since_ns);
        *match self.running {
            0 => &mut self.idle_ns,
            1 => &mut self.net_softirq_ns,
            2 => &mut self.other_softirq_ns,
            3 => &mut self.net_thread_ns,
            _ => &mut self.other_task_ns,
        } += passed;
        self.since_ns = self.since_ns.max(now_ns);
        self
    }
}
