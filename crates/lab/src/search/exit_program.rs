//! What the receiver's program at the DUT's exit costs by itself. It is a share of the bed's part of a frame's cost.
//!
//! The kernel times each run of the program, in bursts of their own through a wire in place of the router. Nobody judges
//! these bursts, because timing makes frames dearer.

use crate::tester::{ReceiverPlace, Tester, TesterError, Wire};
use crate::trial;
use mpps_linux::bpf::{self, ProgramRuns};

/// Bursts; a stall within one of them does not move the median.
const BURSTS: usize = 3;
/// Frames of a burst, some 20 ms at overload.
const BURST_FRAMES: u64 = 50_000;

/// The program's time for each frame, ns; `None` where no program of ours stands at the exit, or where the kernel does
/// not time programs. About one reading of the clock is in it.
///
/// # Errors
/// The tester failed.
pub fn ns_per_frame(tester: &mut Tester<'_>) -> Result<Option<f64>, TesterError> {
    if tester.traffic.receiver != ReceiverPlace::Exit {
        return Ok(None);
    }
    let Ok(timing) = bpf::time_runs() else {
        return Ok(None);
    };
    let passed = tester.places_passed;
    let Some(wire) = Wire::lay(tester.bed, &tester.ways())? else {
        return Ok(None);
    };
    let mut bursts = Vec::with_capacity(BURSTS);
    for _ in 0..BURSTS {
        let before = runs(tester)?;
        trial::run_burst(tester, BURST_FRAMES)?;
        bursts.extend(each(before, runs(tester)?));
    }
    drop((wire, timing));
    // The router met none of these destinations.
    tester.places_passed = passed;
    bursts.sort_by(f64::total_cmp);
    Ok(bursts.get(bursts.len() / 2).copied())
}

/// Of all directions' programs together.
fn runs(tester: &Tester<'_>) -> Result<ProgramRuns, TesterError> {
    let mut sum = ProgramRuns::default();
    for receiver in &tester.receivers {
        let found = receiver.program_runs()?.unwrap_or_default();
        sum.runs += found.runs;
        sum.ns += found.ns;
    }
    Ok(sum)
}

/// Time of one run between two readings; `None` without any.
fn each(before: ProgramRuns, after: ProgramRuns) -> Option<f64> {
    let runs = after
        .runs
        .checked_sub(before.runs)
        .filter(|runs| *runs > 0)?;
    let ns = after.ns.checked_sub(before.ns)?;
    Some(ns as f64 / runs as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_costs_time_over_runs() {
        let at = |runs, ns| ProgramRuns { runs, ns };
        assert_eq!(each(at(10, 1_000), at(60, 3_000)), Some(40.0));
        assert_eq!(each(at(10, 1_000), at(10, 1_000)), None);
    }
}
