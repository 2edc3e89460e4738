//! Whether samples of a CPU are complete, busy and idle: some machines give none while a CPU idles, and say nothing.

use super::{Sampler, SamplerPlan, Seen, Symbols};
use crate::clock::{monotonic_ns, wait_until};
use crate::tester::TesterError;
use mpps_linux::cpu::{self, CpuSet};
use mpps_method::Span;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::ScopedJoinHandle;

/// Samples of one CPU, expected and got.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Completeness {
    /// Its number.
    pub cpu: usize,
    /// While a thread of ours spun on it.
    pub busy: Seen,
    /// While we left it alone. With the clock [`super::SamplingClock::Cycles`] an idle CPU has no samples to expect.
    pub idle: Seen,
}

/// Samples CPUs as planned for `time` while a thread spins on each, and for `time` while none does.
///
/// # Errors
/// As [`Sampler::start`] and [`Sampler::stop`]; a CPU that this process may not use.
pub fn completeness(
    plan: &SamplerPlan,
    symbols: &Symbols,
    time: Span,
) -> Result<Vec<Completeness>, TesterError> {
    let stop = AtomicBool::new(false);
    let busy = std::thread::scope(|scope| {
        let spin = |&cpu: &usize| -> ScopedJoinHandle<'_, mpps_linux::Result<()>> {
            let stop = &stop;
            scope.spawn(move || {
                cpu::pin_current_thread(&CpuSet::single(cpu))?;
                while !stop.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
                Ok(())
            })
        };
        let spinning: Vec<_> = plan.cpus.iter().map(spin).collect();
        let seen = seen_in(plan, symbols, time);
        stop.store(true, Ordering::Relaxed);
        for thread in spinning {
            // A thread that only spins does not panic.
            thread.join().unwrap_or(Ok(()))?;
        }
        seen
    })?;
    let idle = seen_in(plan, symbols, time)?;
    let both = plan.cpus.iter().zip(busy).zip(idle);
    let each = both.map(|((&cpu, busy), idle)| Completeness { cpu, busy, idle });
    Ok(each.collect())
}

/// Of each CPU, in the plan's order.
fn seen_in(plan: &SamplerPlan, symbols: &Symbols, time: Span) -> Result<Vec<Seen>, TesterError> {
    let sampler = Sampler::start(plan)?;
    wait_until(monotonic_ns() + time.as_nanos());
    let profile = sampler.stop(symbols)?;
    let seen = |cpu: &super::CpuProfile| cpu.seen(profile.from_ns, profile.to_ns);
    Ok(profile.cpus.iter().map(seen).collect())
}
