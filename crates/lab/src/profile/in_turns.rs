//! A sampler that works in some turns only, so that the others beside them tell what it costs.

use super::sampler::{Draws, PRIORITY, SamplerPlan, open};
use crate::clock::{monotonic_ns, wait_until};
use crate::tester::TesterError;
use crate::tester::real_time::RealTime;
use mpps_linux::cpu::CpuSet;
use mpps_linux::perf::CpuSampler;
use mpps_linux::{Error, Result};
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, channel};

/// Samples CPUs in some turns, and throws the samples away.
pub struct TurnSampler {
    thread: RealTime,
    ended: Receiver<Result<()>>,
}

impl TurnSampler {
    /// Samples while `is_on` says so of a moment, monotonic ns. It is asked where that clock is a multiple of `turn_ns`.
    ///
    /// # Errors
    /// As [`super::Sampler::start`].
    pub fn start(
        plan: &SamplerPlan,
        turn_ns: u64,
        is_on: impl Fn(u64) -> bool + Send + 'static,
    ) -> std::result::Result<Self, TesterError> {
        let mut draws = Draws::new(plan);
        let (_, cpus) = open(&mut draws)?;
        let (end, ended) = channel();
        let reader = CpuSet::single(plan.reader);
        let thread = RealTime::start("mpps-sample", &reader, PRIORITY, move |stop| {
            let mut switch = || -> Result<()> {
                while !stop.load(Ordering::Acquire) {
                    let now_ns = monotonic_ns();
                    for cpu in &cpus {
                        if is_on(now_ns) {
                            cpu.event.set_period(draws.period())?;
                            cpu.event.enable()?;
                        } else {
                            cpu.event.disable()?;
                        }
                    }
                    wait_until((now_ns / turn_ns + 1) * turn_ns);
                }
                cpus.iter()
                    .map(|cpu| &cpu.event)
                    .try_for_each(CpuSampler::disable)
            };
            // Nobody listens when the sampler was dropped.
            let _told = end.send(switch());
        })?;
        Ok(Self { thread, ended })
    }

    /// Ends it, up to a turn later.
    ///
    /// # Errors
    /// The kernel refused to begin or to end sampling in a turn.
    pub fn stop(self) -> std::result::Result<(), TesterError> {
        drop(self.thread);
        let gone = || Error::from_text("sample CPUs", "in turns", "the thread has panicked");
        Ok(self.ended.recv().map_err(|_| gone())??)
    }
}
