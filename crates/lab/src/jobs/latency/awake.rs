//! Whether the bed's CPUs stayed awake: asked of the kernel, and counted by it.

use crate::bed::CpuSplit;
use mpps_linux::cpu::{self, Awake};
use std::collections::BTreeSet;

/// A CPU that sleeps when the request comes is woken by it, and that sleep is counted afterwards.
const SLEEPS_BEFORE: u64 = 1;

/// Of these CPUs, from its beginning. While it lives, they are asked to stay awake.
pub(super) struct Watch {
    request: mpps_linux::error::Result<Awake>,
    before: Vec<(usize, Option<u64>)>,
}

impl Watch {
    pub(super) fn begin(cpus: &CpuSplit) -> Self {
        let request = cpu::keep_awake();
        let cpus: BTreeSet<usize> = cpus.dut.iter().chain(&cpus.tester).copied().collect();
        let before = cpus.into_iter().map(|cpu| (cpu, cpu::sleeps(cpu)));
        Self {
            request,
            before: before.collect(),
        }
    }

    /// Why they may have slept; `None`: they did not.
    pub(super) fn why_asleep(&self) -> Option<String> {
        let asked = self.request.as_ref().err();
        let asked = asked.map_or_else(String::new, |error| format!("; {error}"));
        let seen = self.before.iter().find_map(|(cpu, before)| {
            let Some(slept) = cpu::sleeps(*cpu).zip(*before) else {
                return Some(format!(
                    "nothing tells whether CPU {cpu} slept (no cpuidle driver)"
                ));
            };
            let slept = slept.0.saturating_sub(slept.1);
            (slept > SLEEPS_BEFORE)
                .then(|| format!("CPU {cpu} slept {slept} times in these trials"))
        });
        Some(seen? + &asked)
    }
}
