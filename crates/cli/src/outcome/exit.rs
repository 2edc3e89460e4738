//! The exit code that results mean, from their lines: one function a kind.

use crate::exit::Exit;
use crate::expectation;
use crate::terminal::{Reading, Row, ScaleRow};
use mpps_record::{
    BurstLine, CalibrationLine, ComparisonLine, CurveLine, CurvePoint, Difference, LatencyLine,
    LatencyLoad, LoadLine, LoadTrial, OverloadLine, ProfileLine, Recovered, RecoveryLine,
    RecoveryTrial, ResetLine, ResetTrial, Run, SweepLine, Verdict,
};

fn worst(exits: impl Iterator<Item = Exit>) -> Exit {
    exits.fold(Exit::Measured, Exit::worse)
}

/// Another try may measure what was not measured; what was measured and falls short stays so.
pub fn results(run: &Run) -> Exit {
    let exit = |row: &Row<'_>| match row.reading() {
        Reading::Nothing => Exit::Disturbed,
        Reading::Below(_) => Exit::NotMet,
        _ if !expectation::all_unmet(run.begin.as_ref(), std::slice::from_ref(row)).is_empty() => {
            Exit::NotMet
        }
        Reading::Is(_) | Reading::AtLeast(_) => Exit::Measured,
    };
    worst(Row::each(&run.results).iter().map(exit))
}

/// A point that has nothing was disturbed.
pub fn points(run: &Run) -> Exit {
    let exit = |row: &ScaleRow<'_>| {
        let reading = row.result.as_ref().map(Row::reading);
        match reading {
            _ if row.is_empty() => Exit::Disturbed,
            None | Some(Reading::Is(_) | Reading::AtLeast(_)) => Exit::Measured,
            Some(Reading::Below(_)) => Exit::NotMet,
            Some(Reading::Nothing) => Exit::Disturbed,
        }
    };
    worst(ScaleRow::each(&run.points).iter().map(exit))
}

/// A load that the tester cannot offer is shown as such.
pub fn curves(run: &Run) -> Exit {
    let exit = |load: &CurvePoint| match load.verdict {
        Verdict::Void => Exit::Disturbed,
        Verdict::Invalid => Exit::Failed,
        _ => Exit::Measured,
    };
    let curve = |curve: &CurveLine| match curve.loads[..] {
        [] => Exit::Disturbed,
        _ => worst(curve.loads.iter().map(exit)),
    };
    worst(run.curves.iter().map(curve))
}

/// What was forwarded in one undisturbed second is something.
pub fn overloads(run: &Run) -> Exit {
    let exit = |size: &OverloadLine| match (&size.verdict, size.undisturbed().next()) {
        (Some(Verdict::Invalid), _) => Exit::Failed,
        (_, None) => Exit::Disturbed,
        _ => Exit::Measured,
    };
    worst(run.overloads.iter().map(exit))
}

/// A load that the tester cannot offer is shown as such, unless it is all that there is.
pub fn latencies(run: &Run) -> Exit {
    let is_measured = |load: &LatencyLoad| !load.router.trials.is_empty();
    let of_load = |load: &LatencyLoad| match load.router.left_out_verdict {
        _ if is_measured(load) => Exit::Measured,
        Some(Verdict::NotOffered) => Exit::Measured,
        Some(Verdict::Invalid) => Exit::Failed,
        _ => Exit::Disturbed,
    };
    let of_size = |size: &LatencyLine| match size.loads.iter().any(is_measured) {
        true => Exit::Measured,
        false => Exit::Disturbed,
    };
    let sizes = run.latencies.iter();
    let each = sizes.clone().flat_map(|size| &size.loads).map(of_load);
    worst(each.chain(sizes.map(of_size)))
}

/// No burst that was too long is an answer too.
pub fn bursts(run: &Run) -> Exit {
    let exit = |size: &BurstLine| match (&size.all, size.all_passed_frames) {
        (None, None) => Exit::Disturbed,
        _ => Exit::Measured,
    };
    worst(run.bursts.iter().map(exit))
}

/// One trial that says something is enough.
pub fn recoveries(run: &Run) -> Exit {
    let says = |trial: &RecoveryTrial| trial.recovered != Recovered::NotMeasured;
    let exit = |size: &RecoveryLine| match size.trials.iter().any(says) {
        true => Exit::Measured,
        false => Exit::Disturbed,
    };
    worst(run.recoveries.iter().map(exit))
}

/// As of recoveries.
pub fn resets(run: &Run) -> Exit {
    let says = |trial: &ResetTrial| trial.tried.recovered != Recovered::NotMeasured;
    let exit = |line: &ResetLine| match line.trials.iter().any(says) {
        true => Exit::Measured,
        false => Exit::Disturbed,
    };
    worst(run.resets.iter().map(exit))
}

/// A size without a load has nothing to show.
pub fn profiles(run: &Run) -> Exit {
    let exit = |size: &ProfileLine| match size.loads.is_empty() {
        true => Exit::Disturbed,
        false => Exit::Measured,
    };
    worst(run.profiles.iter().map(exit))
}

/// A sweep that was cut short, or has no point, may do better another time.
pub fn sweeps(run: &Run) -> Exit {
    let exit = |line: &SweepLine| match line.points.is_empty() || line.why.is_some() {
        true => Exit::Disturbed,
        false => Exit::Measured,
    };
    worst(run.sweeps.iter().map(exit))
}

/// Of each load that of its best trial.
pub fn loads(run: &Run) -> Exit {
    let exit = |found: &LoadTrial| {
        let line = run.trials.iter().find(|line| line.trial == found.trial);
        match line.map(|line| &line.verdict) {
            Some(Verdict::Lossless | Verdict::Lossy) => Exit::Measured,
            Some(Verdict::Void | Verdict::NotOffered) => Exit::Disturbed,
            _ => Exit::Failed,
        }
    };
    let best = |load: &LoadLine| load.trials.iter().map(exit).min().unwrap_or(Exit::Failed);
    worst(run.loads.iter().map(best))
}

/// A variant of which nothing can be said was disturbed. One that was found to be slower than allowed falls short.
pub fn comparisons(run: &Run) -> Exit {
    let comparison = |line: &ComparisonLine| {
        let differences = line
            .variants
            .iter()
            .skip(1)
            .map(|variant| variant.difference.as_ref());
        let exit = |found| difference(found, line.fail_if_slower_share);
        worst(differences.map(|found| found.map_or(Exit::Disturbed, exit)))
    };
    worst(run.comparisons.iter().map(comparison))
}

/// One difference, of which so much is allowed.
pub fn difference(found: &Difference, fail_if_slower: Option<f64>) -> Exit {
    match found.slower_share().zip(fail_if_slower) {
        Some((slower, allowed)) if slower > allowed => Exit::NotMet,
        _ if found.has_interval() => Exit::Measured,
        _ => Exit::Disturbed,
    }
}

/// Everything found is the meter doing its work; anything not found is the meter failing it; and of what the machine
/// disturbed nobody knows.
pub fn calibrations(run: &Run) -> Exit {
    let exit = |row: &CalibrationLine| match (&row.disturbed, row.holds) {
        (Some(_), _) => Exit::Disturbed,
        (None, true) => Exit::Measured,
        (None, false) => Exit::NotMet,
    };
    worst(run.calibrations.iter().map(exit))
}

#[cfg(all(test, feature = "measure"))]
mod tests {
    use super::*;
    use crate::record::{load_line, trial_lines_for_tests};
    use mpps_lab::jobs::fixed_load::{Load, Offered, Tried};
    use mpps_lab::tester::ReceiverPlace;
    use mpps_method::{FrameSpec, Invalid, Shortfall, Trial, Verdict, Void};
    use mpps_record::{Finding, Interval, ToldBy};

    #[test]
    fn calibrating_finds_every_fault_or_fails() {
        let row = |found: f64| CalibrationLine {
            disturbed: found.is_nan().then(|| "a restless machine".to_owned()),
            ..CalibrationLine::new("a delay", "ns", 5_000.0, 20_000.0, found)
        };
        let exit = |found: &[f64]| {
            let mut run = Run::new("run");
            run.calibrations = found.iter().map(|&found| row(found)).collect();
            calibrations(&run)
        };
        assert_eq!(exit(&[21_000.0]), Exit::Measured);
        assert_eq!(exit(&[21_000.0, 0.0]), Exit::NotMet);
        // A fault that was not found counts, however much of the rest was disturbed.
        assert_eq!(exit(&[0.0, f64::NAN]), Exit::NotMet);
        assert_eq!(exit(&[21_000.0, f64::NAN]), Exit::Disturbed);
        assert_eq!(exit(&[]), Exit::Measured);
    }

    #[test]
    fn only_a_slowdown_that_was_found_fails() {
        let change = |finding: Finding, median: f64| Difference {
            finding,
            rate_change: Some(Interval {
                low: median - 0.02,
                median,
                high: median + 0.02,
            }),
            ..Difference::default()
        };
        let exit = |finding, median, allowed| difference(&change(finding, median), allowed);
        assert_eq!(exit(Finding::Different, -0.05, Some(0.03)), Exit::NotMet);
        assert_eq!(exit(Finding::Different, -0.05, Some(0.06)), Exit::Measured);
        assert_eq!(exit(Finding::Different, -0.05, None), Exit::Measured);
        assert_eq!(exit(Finding::Different, 0.5, Some(0.03)), Exit::Measured);
        assert_eq!(exit(Finding::NotDecided, -0.05, Some(0.03)), Exit::Measured);
        let by_cost = |median: f64| Difference {
            told_by: ToldBy::Cost,
            cost_change: change(Finding::Different, median).rate_change,
            ..change(Finding::Different, 0.0)
        };
        assert_eq!(difference(&by_cost(0.05), Some(0.03)), Exit::NotMet);
        assert_eq!(difference(&by_cost(-0.05), Some(0.03)), Exit::Measured);
        let nothing = Difference::default();
        assert_eq!(difference(&nothing, Some(0.03)), Exit::Disturbed);
    }

    #[test]
    fn a_load_is_measured_if_one_trial_counts() {
        let exit = |verdicts: &[Verdict]| {
            let tried = |(number, &verdict): (u32, &Verdict)| Tried {
                number,
                trial: Trial::default(),
                verdict,
                disturbed: 0,
            };
            let offered = Offered {
                frames: FrameSpec::parse_list("64").expect("a size").remove(0),
                load: Load::Max,
                receiver: ReceiverPlace::Port,
                trials: (1..).zip(verdicts).map(tried).collect(),
                wire: None,
            };
            let mut run = Run::new("run");
            run.loads.push(load_line(&offered));
            run.trials = trial_lines_for_tests(&offered);
            loads(&run)
        };
        let void = Verdict::Void(Void::Steal {
            cpu: 0,
            share: 0.1,
            bound: 0.02,
        });
        let short = Verdict::NotOffered(Shortfall::LostBeforeNic(3));
        let invalid = Verdict::Invalid(Invalid::NothingSent);
        let lossy = Verdict::Lossy { lost: 1 };
        assert_eq!(exit(&[Verdict::Lossless]).code(), 0);
        assert_eq!(exit(&[void, lossy, invalid]).code(), 0, "one is enough");
        assert_eq!(exit(&[void, short, invalid]).code(), 4);
        assert_eq!(exit(&[invalid]).code(), 2);
    }
}
