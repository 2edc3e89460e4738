//! What is seen of the router beside a trial: its wake-ups and interrupts always, samples and polls where they are asked for.

use super::evidence::Counters;
use super::hardware::HardwareCounters;
use super::split::Profiled;
use crate::bed::CpuSplit;
use crate::jobs::{JobError, Phase, Trials};
use crate::profile::{
    Completeness, Sampler, SamplerPlan, Symbols, completeness, symbols, why_timer,
};
use crate::search::saturation::{SENDER_MAX, through};
use crate::tester::{EvidenceProbe, Tester, TesterError};
use crate::trial;
use mpps_method::{Offer, Span, statistics};

/// Time for each half of the self-test.
const SELF_TEST: Span = Span::from_millis(300);

/// What runs beside a trial.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Beside {
    /// Nothing that costs the router time.
    Nothing,
    /// The sampler, and the count of polls for a short while.
    Look,
    /// The count of drops as well.
    Drops,
}

/// The sampler, and the counters beside it.
pub(super) struct Look {
    pub sampler: SamplerPlan,
    symbols: Symbols,
    /// Counts polls and drops.
    probe: Option<EvidenceProbe>,
    hardware: HardwareCounters,
    /// Why samples come by a timer; `None` where they come by cycles.
    pub why_timer: Option<String>,
    /// How often the kernel stopped the sampling.
    pub throttled: u64,
}

impl Look {
    /// Of the DUT's CPUs. The last program has to be loaded by now, or it would have no name.
    pub fn new(cpus: &CpuSplit, probe: Option<EvidenceProbe>) -> Result<Self, TesterError> {
        let sampler = SamplerPlan::usual(&cpus.dut, cpus.sender());
        Ok(Self {
            symbols: symbols()?,
            probe,
            hardware: HardwareCounters::start(&cpus.dut),
            why_timer: why_timer(&sampler),
            sampler,
            throttled: 0,
        })
    }

    /// The self-test: whether the samples are complete.
    pub fn test(&self) -> Result<Vec<Completeness>, TesterError> {
        completeness(&self.sampler, &self.symbols, SELF_TEST)
    }

    /// One trial, and what was seen beside it.
    pub fn trial(
        &mut self,
        tester: &mut Tester<'_>,
        (phase, offer): (Phase, Offer),
        beside: Beside,
        trials: &mut Trials<'_>,
    ) -> Result<Profiled, JobError> {
        let probe = self.probe.as_ref();
        let looking = probe.filter(|_| beside != Beside::Nothing);
        let dropping = probe.filter(|_| beside == Beside::Drops);
        let dropping = dropping.map(EvidenceProbe::attach_drops).transpose()?;
        let before = Counters::read(tester, probe, &self.hardware)?;
        let counting = looking.map(|probe| probe.count_polls(self.sampler.reader));
        let counting = counting.transpose()?;
        let sampler = (beside != Beside::Nothing).then(|| Sampler::start(&self.sampler));
        let sampler = sampler.transpose()?;
        let mut with_wire = None;
        let judged = through(tester, phase, offer, trials, |tester, offer| {
            // Each wire is a program of its own.
            if phase == Phase::Wire && sampler.is_some() {
                with_wire = Some(symbols()?);
            }
            // All that the sender can: without pauses, whatever is lost.
            let is_all = phase == Phase::Overload && offer.rate.fps() >= SENDER_MAX.fps();
            match phase {
                Phase::Overload | Phase::Wire if !is_all => trial::run_overload(tester, offer),
                _ => trial::run(tester, offer),
            }
        })?;
        let symbols = with_wire.as_ref().unwrap_or(&self.symbols);
        let profile = sampler.map(|sampler| sampler.stop(symbols));
        let profile = profile.transpose()?;
        drop((counting, dropping));
        let after = Counters::read(tester, probe, &self.hardware)?;
        let sampled = profile.iter().flat_map(|profile| &profile.cpus);
        self.throttled += sampled.map(|cpu| cpu.throttled).sum::<u64>();
        // Only a wire may be lacking.
        let judged = judged.ok_or(JobError::NoThreads)?;
        let tids: Vec<i32> = tester.dut_threads().iter().map(|(tid, _)| *tid).collect();
        let evidence = after.evidence(&before, &judged.trial, tester.bed.dut().front());
        Ok(Profiled {
            polls_a_frame: looking.and_then(|_| after.polls_a_frame_since(&before)),
            evidence,
            ..Profiled::new(judged, after.wakes_since(&before), profile, &tids)
        })
    }
}

/// Share of the DUT's CPUs that interrupts and the hypervisor take.
pub(super) fn interrupted(tested: &[Completeness]) -> Option<f64> {
    let shares: Vec<f64> = tested.iter().map(|cpu| cpu.interrupted).collect();
    statistics::mean(&shares)
}
