//! Whether samples of a CPU are complete, busy and idle: some machines give none while a CPU idles, and say nothing.

use super::{Sampler, SamplerPlan, Seen, Symbols};
use crate::clock::{monotonic_ns, wait_until};
use crate::tester::TesterError;
use mpps_linux::cpu::{self, CpuSet};
use mpps_linux::task;
use mpps_method::{Span, statistics};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::ScopedJoinHandle;

/// A longer time between two readings of the clock is an interruption, ns. Those of a virtual machine take 8 000 and more.
const GAP_NS: u64 = 1_000;
/// A longer one is another program, or a stall: trials leave these out too, ns.
const DISTURBANCE_NS: u64 = 400_000;
/// Time of a part, ns. The first quartile of the parts leaves out what comes for a while.
const PART_NS: u64 = 20_000_000;

/// Samples of one CPU, expected and got.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Completeness {
    /// Its number.
    pub cpu: usize,
    /// While a thread of ours spun on it.
    pub busy: Seen,
    /// While we left it alone. With the clock [`super::SamplingClock::Cycles`] an idle CPU has no samples to expect.
    pub idle: Seen,
    /// Share of its time that the spinning thread did not have: interrupts, those of the sampler among them, and the
    /// hypervisor. 0 if `time` was too short to tell.
    pub interrupted: f64,
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
        let spin = |&cpu: &usize| -> ScopedJoinHandle<'_, mpps_linux::Result<f64>> {
            let stop = &stop;
            scope.spawn(move || spin(cpu, time, stop))
        };
        let spinning: Vec<_> = plan.cpus.iter().map(spin).collect();
        let seen = seen_in(plan, symbols, time);
        stop.store(true, Ordering::Relaxed);
        let shares = spinning
            .into_iter()
            .map(|thread| task::joined(thread.join(), "a spinning thread")?);
        let shares = shares.collect::<mpps_linux::Result<Vec<f64>>>()?;
        Ok::<_, TesterError>(seen?.into_iter().zip(shares))
    })?;
    let idle = seen_in(plan, symbols, time)?;
    let both = plan.cpus.iter().zip(busy).zip(idle);
    let each = both.map(|((&cpu, (busy, interrupted)), idle)| Completeness {
        cpu,
        busy,
        idle,
        interrupted,
    });
    Ok(each.collect())
}

/// Spins on a CPU until it is stopped. Returns the share of `time`, from its start, that it did not have.
fn spin(cpu: usize, time: Span, stop: &AtomicBool) -> mpps_linux::Result<f64> {
    cpu::pin_current_thread(&CpuSet::single(cpu))?;
    let begun = monotonic_ns();
    let (mut last, mut part, mut away) = (begun, begun, 0);
    let mut shares = Vec::new();
    while !stop.load(Ordering::Relaxed) {
        let now = monotonic_ns();
        match now - last {
            DISTURBANCE_NS.. => part += now - last,
            gap @ GAP_NS.. => away += gap,
            _ => {}
        }
        last = now;
        // Afterwards the sampler is ended, and its samples are read.
        if now - part >= PART_NS && now - begun <= time.as_nanos() {
            shares.push(away as f64 / (now - part) as f64);
            (part, away) = (now, 0);
        }
    }
    Ok(statistics::quantile(&shares, 0.25).unwrap_or(0.0))
}

/// Of each CPU, in the plan's order.
fn seen_in(plan: &SamplerPlan, symbols: &Symbols, time: Span) -> Result<Vec<Seen>, TesterError> {
    let sampler = Sampler::start(plan)?;
    wait_until(monotonic_ns() + time.as_nanos());
    let profile = sampler.stop(symbols)?;
    let seen = |cpu: &super::CpuProfile| cpu.seen(profile.from_ns, profile.to_ns);
    Ok(profile.cpus.iter().map(seen).collect())
}
