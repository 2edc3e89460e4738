//! What the receiver's program at the DUT's exit costs by itself, behind the router and through a wire.
//!
//! Who first reads a frame's headers waits for the memory that the sender's CPU wrote. Behind the router that is the router.
//! Through a wire it is this program. So what it takes more through the wire belongs to the router's part of a frame's cost.
//!
//! The kernel times each run of the program, in short trials of their own, in turns: at overload, or at a load that the router
//! carries. There it takes some ns more. No rule judges them, because timing makes frames dearer. A pair counts if nothing disturbed it and if the CPUs were at the distance that the cost was measured at.

use crate::tester::{ReceiverPlace, Tester, TesterError};
use crate::trial::SENDER_MAX;
use mpps_linux::bpf::{self, ProgramRuns};
use mpps_method::distance::Distance;
use mpps_method::interval::Interval;
use mpps_method::saturation::{FrameCost, pairs_at};
use mpps_method::turns::TurnOrder;
use mpps_method::{Offer, Rate, Span, Trial};

/// Pairs of trials, through the router and through a wire. Of nine an interval leaves out the outermost ones.
const PAIRS: u32 = 9;
/// A restless machine voids most pairs, so more of them make up for that.
const PAIRS_MAX: u32 = 27;
/// Fewer that count tell nothing.
const PAIRS_MIN: usize = 3;
/// Length of a trial: some 50 000 frames.
const TIME: Span = Span::from_millis(25);

/// Its time for each frame, ns. About one reading of the clock is in it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ExitProgram {
    /// Behind the router.
    pub router_ns: f64,
    /// What it takes more through a wire in the router's place.
    pub more_ns: Interval,
}

/// Runs a trial: one that overloads the router, or one that keeps the load.
pub type RunTrial = fn(&mut Tester<'_>, &Offer) -> Result<Trial, TesterError>;

/// A trial, and the program's time for each frame in it.
type Timed = (Trial, f64);

/// Whether nothing disturbed either trial.
fn is_quiet(pair: &[Timed; 2]) -> bool {
    pair.iter()
        .all(|(trial, _)| trial.disturbances().next().is_none())
}

/// Times the program at these loads, through the router and through a wire, in trials that `run` runs. `None` where none of
/// ours stands at the exit, where the kernel does not time programs, where a load is 0, where no wire can be laid, or where too
/// few pairs count. With a `distance_ns` those at that CPU distance count.
///
/// # Errors
/// The tester failed.
pub fn measure(
    tester: &mut Tester<'_>,
    loads: [Rate; 2],
    distance_ns: Option<f64>,
    run: RunTrial,
) -> Result<Option<ExitProgram>, TesterError> {
    let is_known = loads.iter().all(|load| *load > Rate::ZERO);
    if tester.traffic.receiver != ReceiverPlace::Exit || !is_known {
        return Ok(None);
    }
    let Ok(_timing) = bpf::time_runs() else {
        return Ok(None);
    };
    // It would take longer than all of these trials.
    let warm_up = std::mem::take(&mut tester.warm_up);
    let pairs = take_pairs(tester, loads, distance_ns, run);
    tester.warm_up = warm_up;
    Ok(ExitProgram::from_pairs(&pairs?, distance_ns))
}

/// Pairs of trials in turns, until enough count or hardly any will.
fn take_pairs(
    tester: &mut Tester<'_>,
    loads: [Rate; 2],
    distance_ns: Option<f64>,
    run: RunTrial,
) -> Result<Vec<[Timed; 2]>, TesterError> {
    let mut pairs = Vec::new();
    for turn in 0..PAIRS_MAX {
        let pair = TurnOrder::new(turn).both(|at| timed(tester, loads[at], at == 1, run))?;
        if let [Some(router), Some(wire)] = pair {
            pairs.push([router, wire]);
        }
        // Where none of the first ones is quiet, three of the rest hardly ever are.
        let is_over = || {
            !pairs.iter().any(is_quiet) || ExitProgram::from_pairs(&pairs, distance_ns).is_some()
        };
        if turn + 1 >= PAIRS && is_over() {
            break;
        }
    }
    Ok(pairs)
}

impl ExitProgram {
    /// From pairs of the router's and the wire's.
    fn from_pairs(pairs: &[[Timed; 2]], distance_ns: Option<f64>) -> Option<Self> {
        let pairs: Vec<&[Timed; 2]> = pairs.iter().filter(|pair| is_quiet(pair)).collect();
        let distance = |pair: &&[Timed; 2]| {
            let [router, wire] = pair
                .each_ref()
                .map(|(trial, _)| Distance::from_trial(trial));
            router.with(wire)
        };
        let distances: Vec<Distance> = pairs.iter().map(distance).collect();
        let here = pairs_at(&distances, distance_ns);
        let here: Vec<[f64; 2]> = here
            .iter()
            .filter_map(|&place| pairs.get(place))
            .map(|pair| pair.each_ref().map(|(_, ns)| *ns))
            .collect();
        if here.len() < PAIRS_MIN {
            return None;
        }
        let over = |ns: fn(&[f64; 2]) -> f64| {
            Interval::from_samples(&here.iter().map(ns).collect::<Vec<f64>>())
        };
        Some(Self {
            router_ns: over(|[router, _]| *router)?.middle,
            more_ns: over(|[router, wire]| wire - router)?,
        })
    }
}

/// A cost with its parts as they are behind the router.
#[must_use]
pub fn corrected(cost: FrameCost, program: Option<&ExitProgram>) -> FrameCost {
    program.map_or(cost, |program| cost.moved_to_router(program.more_ns))
}

/// One trial at this load, through the router or through a wire.
fn timed(
    tester: &mut Tester<'_>,
    load: Rate,
    is_wire: bool,
    run: RunTrial,
) -> Result<Option<Timed>, TesterError> {
    if is_wire && !tester.lay_wire()? {
        return Ok(None);
    }
    let before = runs(tester)?;
    let trial = run(tester, &Offer::new(load.min(SENDER_MAX), TIME));
    tester.wire = None;
    let (trial, after) = (trial?, runs(tester)?);
    Ok(each(before, after).map(|ns| (trial, ns)))
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
    use mpps_method::{Disturbance, Window};

    #[test]
    fn a_run_costs_time_over_runs() {
        let at = |runs, ns| ProgramRuns { runs, ns };
        assert_eq!(each(at(10, 1_000), at(60, 3_000)), Some(40.0));
        assert_eq!(each(at(10, 1_000), at(10, 1_000)), None);
    }

    /// Trials at one CPU distance, and the program's times in them.
    fn pair(ns: [f64; 2], round_trip_ns: u64) -> [Timed; 2] {
        let window = Window {
            round_trip_ns: Some(round_trip_ns),
            work_ns: Some(200),
            ..Window::default()
        };
        let trial = Trial {
            windows: vec![window; 3],
            ..Trial::default()
        };
        ns.map(|ns| (trial.clone(), ns))
    }

    #[test]
    fn a_wire_is_compared_within_each_pair() {
        // The machine slows down in the second pair.
        let mut pairs = vec![
            pair([40.0, 140.0], 300),
            pair([80.0, 176.0], 300),
            pair([42.0, 141.0], 300),
        ];
        let found = ExitProgram::from_pairs(&pairs, Some(290.0)).expect("pairs");
        assert_eq!(found.router_ns, 42.0);
        let more = found.more_ns;
        assert_eq!([more.low, more.middle, more.high], [96.0, 99.0, 100.0]);
        // Neither a pair at another distance nor a disturbed one counts.
        pairs.push(pair([40.0, 45.0], 60));
        pairs.push(pair([40.0, 400.0], 300));
        pairs.push(pair([40.0, 400.0], 300));
        let whole = Disturbance {
            cpu: 1,
            from: Span::ZERO,
            to: TIME,
        };
        pairs[4][1].0.stalls = vec![whole];
        pairs[5][0].0.slow = vec![whole];
        let are_quiet: Vec<bool> = pairs.iter().map(is_quiet).collect();
        assert_eq!(are_quiet, [true, true, true, true, false, false]);
        assert_eq!(ExitProgram::from_pairs(&pairs, Some(290.0)), Some(found));
        assert_eq!(ExitProgram::from_pairs(&pairs[1..], Some(290.0)), None);
    }

    #[test]
    fn the_distance_asked_for_counts_if_seen_less() {
        let mut pairs = vec![pair([40.0, 140.0], 300); 4];
        pairs.extend(vec![pair([40.0, 45.0], 60); 3]);
        let more = |distance_ns| {
            let found = ExitProgram::from_pairs(&pairs, distance_ns).expect("pairs");
            found.more_ns.middle
        };
        assert_eq!(
            (more(Some(60.0)), more(Some(300.0)), more(None)),
            (5.0, 100.0, 100.0)
        );
    }
}
