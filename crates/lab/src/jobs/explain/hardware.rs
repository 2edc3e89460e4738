//! What the PMU of the DUT's CPUs and memory's controllers counted in a trial, and the power of the processor packages.

use crate::clock::monotonic_ns;
use mpps_linux::perf::{Count, Counted, CpuCounter, Energy, memory_traffic, why_not};
use mpps_record::Hardware;

/// In the order of the record. Octets of memory, read and written, stand behind them.
const COUNTED: [Counted; 4] = [
    Counted::Cycles,
    Counted::Instructions,
    Counted::CacheMisses,
    Counted::TlbMisses,
];

/// Running counters; by what they count, one of each CPU or controller. Empty where one cannot count it.
pub(super) struct HardwareCounters {
    counters: [Vec<CpuCounter>; 6],
    why_none: Option<String>,
}

/// Their counts at one moment.
#[derive(Default)]
pub(super) struct Reading {
    at_ns: u64,
    counts: [Vec<Count>; 6],
    energy: Vec<Energy>,
    why_none: Option<String>,
}

impl HardwareCounters {
    /// Begins to count on these CPUs.
    pub fn start(cpus: &[usize]) -> Self {
        let on_all = |counted| -> mpps_linux::Result<Vec<_>> {
            let open = |&cpu: &usize| CpuCounter::open(cpu, counted);
            cpus.iter().map(open).collect()
        };
        let [cycles, instructions, cache, tlb] = COUNTED.map(on_all);
        let [read, written] = memory_traffic();
        let opened = [cycles, instructions, cache, tlb, read, written];
        Self {
            why_none: opened[0].as_ref().err().map(why_not),
            counters: opened.map(Result::unwrap_or_default),
        }
    }

    /// What was counted so far.
    pub fn read(&self) -> mpps_linux::Result<Reading> {
        let mut counts = <[Vec<Count>; 6]>::default();
        for (read, counters) in counts.iter_mut().zip(&self.counters) {
            *read = counters
                .iter()
                .map(CpuCounter::read)
                .collect::<Result<_, _>>()?;
        }
        Ok(Reading {
            at_ns: monotonic_ns(),
            counts,
            energy: Energy::read_packages(),
            why_none: self.why_none.clone(),
        })
    }
}

impl Reading {
    /// Without a count.
    #[cfg(test)]
    pub fn at(at_ns: u64) -> Self {
        Self {
            at_ns,
            ..Self::default()
        }
    }

    /// Time between both.
    pub fn seconds_since(&self, before: &Self) -> f64 {
        (self.at_ns - before.at_ns).max(1) as f64 / 1e9
    }

    /// What the trial between both took for each of these frames.
    pub fn since(&self, before: &Self, frames: u64) -> Hardware {
        let a_frame = |counted: usize| {
            let both = self.counts[counted].iter().zip(&before.counts[counted]);
            let cpus: Option<Vec<f64>> = both.map(|(now, then)| now.since(*then)).collect();
            let cpus = cpus.filter(|cpus| !cpus.is_empty() && frames > 0)?;
            Some(cpus.iter().sum::<f64>() / frames as f64)
        };
        let packages = self.energy.iter().zip(&before.energy);
        let joules = packages.map(|(now, then)| now.since(*then)).sum::<f64>();
        Hardware {
            cycles_per_frame: a_frame(0),
            instructions_per_frame: a_frame(1),
            llc_misses_per_frame: a_frame(2),
            dtlb_misses_per_frame: a_frame(3),
            memory_read_octets_per_frame: a_frame(4),
            memory_written_octets_per_frame: a_frame(5),
            no_counters: self.why_none.clone(),
            watts: (!self.energy.is_empty()).then(|| joules / self.seconds_since(before)),
        }
    }
}
