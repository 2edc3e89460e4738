//! What the receiver's program at the DUT's exit costs by itself: behind the router, where that is a share of the bed's part
//! of a frame's cost, and through a wire.
//!
//! The program reads what the sender's CPU wrote. Behind a router that memory is near by then. Through a wire the program
//! waits for it, on some machines for 100 ns.
//!
//! The kernel times each run of the program, in bursts of their own. Nobody judges these, because timing makes frames dearer.

use crate::tester::{ReceiverPlace, Tester, TesterError, Wire};
use crate::trial;
use mpps_linux::bpf::{self, ProgramRuns};
use mpps_method::saturation::Interval;

/// Pairs of bursts, through the router and through a wire.
const PAIRS: usize = 5;
/// Frames of a burst, some 20 ms at overload.
const BURST_FRAMES: u64 = 50_000;

/// Its time for each frame, ns. About one reading of the clock is in it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ExitProgram {
    /// Behind the router.
    pub router_ns: f64,
    /// Through a wire in the router's place.
    pub wire_ns: f64,
    /// What it takes more through the wire, over the pairs.
    pub more_ns: Interval,
}

impl ExitProgram {
    /// From pairs of the router's and the wire's. `None` without any.
    fn from_pairs(pairs: &[[f64; 2]]) -> Option<Self> {
        let over = |ns: fn(&[f64; 2]) -> f64| {
            Interval::from_samples(&pairs.iter().map(ns).collect::<Vec<f64>>())
        };
        Some(Self {
            router_ns: over(|[router, _]| *router)?.middle,
            wire_ns: over(|[_, wire]| *wire)?.middle,
            more_ns: over(|[router, wire]| wire - router)?,
        })
    }
}

/// Times the program; `None` where none of ours stands at the exit, where the kernel does not time programs, or where no wire
/// can be laid.
///
/// # Errors
/// The tester failed.
pub fn measure(tester: &mut Tester<'_>) -> Result<Option<ExitProgram>, TesterError> {
    if tester.traffic.receiver != ReceiverPlace::Exit {
        return Ok(None);
    }
    let Ok(_timing) = bpf::time_runs() else {
        return Ok(None);
    };
    let mut pairs = Vec::with_capacity(PAIRS);
    for turn in 0..PAIRS {
        let mut pair = [None; 2];
        for is_wire in [turn % 2 == 1, turn % 2 == 0] {
            pair[usize::from(is_wire)] = burst(tester, is_wire)?;
        }
        if let [Some(router), Some(wire)] = pair {
            pairs.push([router, wire]);
        }
    }
    Ok(ExitProgram::from_pairs(&pairs))
}

/// One burst, through the router or through a wire.
fn burst(tester: &mut Tester<'_>, is_wire: bool) -> Result<Option<f64>, TesterError> {
    let passed = tester.places_passed;
    let wire = match is_wire {
        true => Wire::lay(tester.bed, &tester.ways())?,
        false => None,
    };
    if is_wire && wire.is_none() {
        return Ok(None);
    }
    let before = runs(tester)?;
    trial::run_burst(tester, BURST_FRAMES)?;
    let after = runs(tester)?;
    if is_wire {
        // The router met none of these destinations.
        tester.places_passed = passed;
    }
    Ok(each(before, after))
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

    #[test]
    fn a_wire_is_compared_within_each_pair() {
        // The machine slows down in the second pair.
        let pairs = [[40.0, 140.0], [80.0, 176.0], [42.0, 141.0]];
        let found = ExitProgram::from_pairs(&pairs).expect("pairs");
        assert_eq!((found.router_ns, found.wire_ns), (42.0, 141.0));
        let more = found.more_ns;
        assert_eq!([more.low, more.middle, more.high], [96.0, 99.0, 100.0]);
        assert_eq!(ExitProgram::from_pairs(&[]), None);
    }
}
