//! What an interval is called. An interval of few samples is their range, which holds less often.

use mpps_record::{Phase, PointLine, Run};

/// Fewer samples give a median no 95 % interval, but their range (docs/method.md).
const SAMPLES_MIN: usize = 6;

/// `95 % interval`, `range of 4`, or both where the intervals differ in it. 0: the number of samples is not known.
#[must_use]
pub fn interval_name(samples: impl IntoIterator<Item = usize>) -> String {
    let mut known: Vec<usize> = samples.into_iter().filter(|count| *count > 0).collect();
    known.sort_unstable();
    let few = known.partition_point(|count| *count < SAMPLES_MIN);
    let range = match &known[..few] {
        [] if known.is_empty() => return "interval".to_owned(),
        [] => return "95 % interval".to_owned(),
        [least, .., most] if least != most => format!("range of {least} to {most}"),
        [count, ..] => format!("range of {count}"),
    };
    if few < known.len() {
        format!("95 % interval, or {range}")
    } else {
        range
    }
}

/// A range with its number of trials, where they are too few for an interval.
#[must_use]
pub fn of_trials(range: String, trials: usize) -> String {
    match trials {
        1 => "1 trial".to_owned(),
        2 => range + " in 2 trials",
        _ => range,
    }
}

/// Rounds at overload behind a result. Each round has two loads, with a wire each where a wire can stand in.
#[must_use]
const fn rounds(overload_trials: &[u32], has_wire: bool) -> usize {
    overload_trials.len().div_ceil(if has_wire { 4 } else { 2 })
}

/// Trials on which each result's maximum stands. In older records they are the rounds, without those in which the CPUs were
/// elsewhere.
pub fn rounds_of(run: &Run) -> impl Iterator<Item = usize> {
    let has_wire = run.trials.iter().any(|trial| trial.phase == Phase::Wire);
    let results = run.results.iter();
    results.map(move |result| {
        if let Some(trials) = result.overload.max_forwarding_trials {
            return trials as usize;
        }
        // A record may lack its trials. A cost stands on trials through a wire.
        let has_wire = has_wire || result.overload.cost.is_some();
        let all = rounds(&result.stands_on.overload_trials, has_wire);
        all.saturating_sub(result.overload.elsewhere_trials.unwrap_or(0) as usize)
    })
}

/// As [`rounds`], for each point of `mpps fib-scale`, whose bed always has a wire.
pub fn rounds_of_points<'a>(
    points: impl IntoIterator<Item = &'a PointLine>,
) -> impl Iterator<Item = usize> {
    let points = points.into_iter();
    points.map(|point| rounds(&point.overload_trials, true))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_samples_have_a_range() {
        for (samples, name) in [
            (&[][..], "interval"),
            (&[0], "interval"),
            (&[6, 10], "95 % interval"),
            (&[4, 4], "range of 4"),
            (&[5, 3], "range of 3 to 5"),
            (&[8, 4], "95 % interval, or range of 4"),
        ] {
            assert_eq!(interval_name(samples.iter().copied()), name);
        }
    }

    #[test]
    fn rounds_elsewhere_are_no_samples() {
        let line = include_str!("../../record/tests/golden/result.json");
        let mut line: mpps_record::ResultLine = serde_json::from_str(line).expect("a result");
        line.stands_on.overload_trials = (1..=24).collect();
        let mut run = Run::new("without its trials");
        run.add(line.clone());
        assert!(line.overload.cost.is_some());
        line.overload.elsewhere_trials = Some(2);
        let mut told = line.clone();
        told.overload.max_forwarding_trials = Some(7);
        run.add(line);
        run.add(told);
        assert_eq!(rounds_of(&run).collect::<Vec<_>>(), [6, 4, 7]);
    }

    #[test]
    fn a_round_has_two_loads() {
        assert_eq!(rounds(&[1, 2, 3, 4, 5, 6, 7, 8], true), 2);
        assert_eq!(rounds(&[1, 2, 3, 4], false), 2);
    }
}
