//! Whether two changes add up: a comparison of four variants, which are neither change, each alone, and both.

use crate::number;
use mpps_record::{ComparisonLine, Interval, Run};

/// Rounds that an interval of 95 % needs.
const ROUNDS_MIN: usize = 6;
/// A router that forwarded more than this share of the load was not overloaded.
const OVERLOADED: f64 = 0.995;
/// The probability that the median lies beyond one end of an interval.
const BEYOND: f64 = 0.025;

/// A sentence for each comparison whose fourth variant is called "both".
pub fn sentences(run: &Run) -> Vec<String> {
    let told = run.comparisons.iter().filter_map(|line| {
        let [_, one, other, both] = line.variants.as_slice() else {
            return None;
        };
        let Interval { low, median, high } = interaction(line, run)
            .ok()
            .filter(|_| both.name == "both")?;
        let [low, median, high] = [low, median, high].map(|share| share * 100.0);
        Some(format!(
            "{}, {} and {} together: {median:+.1} % frames/s ({low:+.1} to {high:+.1} %) against what the two alone predict",
            number::frame(&line.frame),
            one.name,
            other.name
        ))
    });
    told.collect()
}

/// The rate of both changes together against what the two alone predict. Of each round: both / (first * second) * neither,
/// less 1. Variants take turns within a round, so it contains no drift.
pub fn interaction(line: &ComparisonLine, run: &Run) -> Result<Interval<f64>, String> {
    let [neither, one, other, both] = line.variants.as_slice() else {
        return Err("an interaction needs four variants".to_owned());
    };
    let rate = |number: &u32| {
        let trial = run.trials.iter().find(|trial| trial.trial == *number)?;
        let fps = trial.forwarded_undisturbed_fps.filter(|fps| *fps > 0.0)?;
        // A router that took all that was sent could do more.
        let is_overload =
            trial.lost_share() > 1.0 - OVERLOADED || fps <= OVERLOADED * trial.offered_fps;
        is_overload.then_some(fps)
    };
    let rounds = both.overload_trials.len();
    let turns = [neither, one, other, both].map(|variant| &variant.overload_trials);
    let contrast = |round: usize| {
        let [neither, one, other, both] = turns.map(|turns| rate(turns.get(round)?));
        Some(both? * neither? / (one? * other?) - 1.0)
    };
    let mut all: Vec<f64> = (0..rounds).filter_map(contrast).collect();
    if all.len() < ROUNDS_MIN {
        let found = all.len();
        return Err(format!(
            "{found} undisturbed rounds, and an interval needs {ROUNDS_MIN}"
        ));
    }
    all.sort_by(f64::total_cmp);
    let cut = cut(all.len());
    let middle = all.len() / 2;
    Ok(Interval {
        low: all[cut],
        median: f64::midpoint(all[middle], all[all.len() - 1 - middle]),
        high: all[all.len() - 1 - cut],
    })
}

/// Samples to leave out at each end: the median lies beyond the rest as seldom as [`BEYOND`] says (the binomial
/// distribution of how many samples are below it).
fn cut(count: usize) -> usize {
    if count > 1_000 {
        // The powers of 1/2 below would vanish; the normal distribution is the binomial one by then.
        let count = count as f64;
        return (count / 2.0 - 0.98 * count.sqrt()).floor() as usize;
    }
    let mut chance = 0.5_f64.powi(i32::try_from(count).unwrap_or(i32::MAX));
    let mut below = chance;
    let mut cut = 0;
    while cut + 1 < count / 2 {
        chance *= (count - cut) as f64 / (cut + 1) as f64;
        below += chance;
        if below > BEYOND {
            break;
        }
        cut += 1;
    }
    cut
}

#[cfg(test)]
mod tests {
    use super::*;
    use mpps_record::{TrialLine, Variant};

    /// A run of so many rounds whose variants forward these rates, with a drift from round to round.
    fn run(rates: [f64; 4], rounds: u32) -> Run {
        let mut run = Run::new("run");
        let mut variants = vec![Variant::default(); 4];
        for round in 0..rounds {
            let drift = 1.0 - 0.01 * f64::from(round);
            for (at, rate) in (0..).zip(rates) {
                let trial = round * 4 + at;
                run.trials.push(TrialLine {
                    trial,
                    forwarded_undisturbed_fps: Some(rate * drift),
                    // A sender that backs off offers little more than is forwarded.
                    offered_fps: 1.02 * rate,
                    ..TrialLine::default()
                });
                variants[at as usize].overload_trials.push(trial);
            }
        }
        run.comparisons.push(ComparisonLine {
            variants,
            ..ComparisonLine::default()
        });
        run
    }

    fn of_first(run: &Run) -> Result<Interval<f64>, String> {
        interaction(&run.comparisons[0], run)
    }

    #[test]
    fn changes_that_multiply_do_not_interact() {
        let value = of_first(&run([1000.0, 500.0, 800.0, 400.0], 12)).expect("a number");
        assert!(value.low > -1e-9 && value.high < 1e-9, "{value:?}");
    }

    #[test]
    fn a_planted_interaction_is_found() {
        // Together they forward a fifth less than the product.
        let mut run = run([1000.0, 500.0, 800.0, 320.0], 12);
        // A round with a disturbed turn does not count.
        run.trials[3].forwarded_undisturbed_fps = None;
        let value = of_first(&run).expect("a number");
        assert!((value.median + 0.2).abs() < 1e-9, "{value:?}");
        assert!(value.low <= value.median && value.high < -0.19, "{value:?}");
        assert!(sentences(&run).is_empty());
        let line = &mut run.comparisons[0];
        line.frame = "64".to_owned();
        for (variant, name) in line.variants.iter_mut().zip(["off", "a", "b", "both"]) {
            name.clone_into(&mut variant.name);
        }
        let wanted = "64 B, a and b together: -20.0 % frames/s (-20.0 to -20.0 %) against what the two alone predict";
        assert_eq!(sentences(&run), [wanted]);
    }

    #[test]
    fn too_few_rounds_and_other_comparisons_say_so() {
        let few = of_first(&run([1.0; 4], 5)).expect_err("5 rounds");
        assert_eq!(few, "5 undisturbed rounds, and an interval needs 6");
        let mut idle = run([1.0; 4], 6);
        idle.trials[2].offered_fps = 1.0;
        let few = of_first(&idle).expect_err("one router was not overloaded");
        assert_eq!(few, "5 undisturbed rounds, and an interval needs 6");
        let mut three = run([1.0; 4], 6);
        three.comparisons[0].variants.pop();
        let why = of_first(&three).expect_err("3 variants");
        assert_eq!(why, "an interaction needs four variants");
        assert_eq!([6, 8, 9, 12, 20].map(cut), [0, 0, 1, 2, 5]);
    }
}
