//! Factorial comparisons: variants that are all combinations of some changes. What each change does, and whether changes
//! interact.

mod grid;

pub use grid::{Grid, grids, of_cell};

use crate::number;
use crate::state;
use mpps_record::{ComparisonLine, Factors, Finding, Interval, Run, ToldBy, TrialLine};
use serde_json::{Value, json};

/// A router that forwarded more than this share of the load was not overloaded.
const OVERLOADED: f64 = 0.995;
/// The probability that some interval of a comparison does not contain its number.
const WRONG: f64 = 0.05;

/// What a change does to the rate, or what changes together do beyond what fewer of them predict.
#[derive(Clone, Debug, PartialEq)]
pub struct Contrast<'a> {
    /// The level of each change.
    pub changes: Vec<&'a str>,
    /// The levels that they are compared with.
    pub against: Vec<&'a str>,
    /// Whether other factors vary, and it is the mean over their levels.
    pub is_mean: bool,
    /// The change of the rate, as a share; over all levels of the other factors.
    pub rate_change: Interval<f64>,
    /// Rounds behind it.
    pub rounds: usize,
    /// Whether most rounds met different states of the machine. All count then, and decide nothing.
    pub is_restless: bool,
    /// What was found.
    pub finding: Finding,
}

/// All contrasts of a comparison: of one change, then of two, and so on. Their intervals together hold in 19 of 20 runs.
/// `None` where the variants are no combinations.
///
/// # Errors
/// Too few rounds.
#[must_use]
pub fn contrasts<'a>(
    line: &'a ComparisonLine,
    run: &Run,
) -> Option<Result<Vec<Contrast<'a>>, String>> {
    Some(all_contrasts(line, run, &line.factors()?))
}

/// The contrast of all changes together, as all contrasts have it.
///
/// # Errors
/// The variants are no combinations of two levels each, or there are too few rounds.
pub fn interaction(line: &ComparisonLine, run: &Run) -> Result<Interval<f64>, String> {
    let factors = line.factors();
    let factors = factors.ok_or("an interaction needs all combinations of changes")?;
    if factors.levels.iter().any(|levels| levels.len() > 2) {
        return Err("an interaction needs two levels of each factor".to_owned());
    }
    let all = all_contrasts(line, run, &factors)?;
    let last = all.last().ok_or("nothing changes")?;
    Ok(last.rate_change)
}

fn all_contrasts<'a>(
    line: &ComparisonLine,
    run: &Run,
    factors: &Factors<'a>,
) -> Result<Vec<Contrast<'a>>, String> {
    let differences = line
        .variants
        .iter()
        .filter_map(|one| one.difference.as_ref());
    if differences
        .clone()
        .any(|found| found.told_by == ToldBy::Cost)
    {
        return Err("the tester reached its limit before the router".to_owned());
    }
    let rounds = Rounds::new(line, run);
    let chosen = choices(factors);
    let wrong = WRONG / chosen.len() as f64;
    let each = chosen.iter();
    let each = each.map(|chosen| contrast(factors, chosen, &rounds, line, wrong));
    each.collect()
}

/// The contrasts in JSON; none where they are not known.
#[must_use]
pub fn document(line: &ComparisonLine, run: &Run) -> Option<Value> {
    let found = contrasts(line, run)?.ok()?;
    let one = |found: &Contrast<'_>| {
        json!({
            "changes": found.changes,
            "against": found.against,
            "rate_change": found.rate_change,
            "rounds": found.rounds,
            "finding": found.finding,
            "text": found.in_words(),
        })
    };
    Some(found.iter().map(one).collect())
}

/// A sentence for each contrast of each factorial comparison.
pub fn sentences(run: &Run) -> Vec<String> {
    let each = run.comparisons.iter().filter_map(|line| {
        let frame = number::frame(&line.frame);
        Some(match contrasts(line, run)? {
            Ok(all) => all
                .iter()
                .map(|one| format!("{frame}, {}", one.in_words()))
                .collect(),
            Err(why) => vec![format!(
                "{frame}: it is not known whether changes interact, because {why}"
            )],
        })
    });
    each.flatten().collect()
}

impl Contrast<'_> {
    /// `a and b together: -20.0 % frames/s (-21.1 to -18.9 %, 12 rounds) against what the two alone predict: an interaction`.
    #[must_use]
    pub fn in_words(&self) -> String {
        let Interval { low, median, high } = self.rate_change;
        // No zero is below zero.
        let percent = |share: f64| (share * 1e3).round() / 10.0 + 0.0;
        let [low, median, high] = [low, median, high].map(percent);
        let number = format!(
            "{median:+.1} % frames/s ({low:+.1} to {high:+.1} %, {} rounds{})",
            self.rounds,
            if self.is_restless {
                ", most in changing states of the machine"
            } else {
                ""
            }
        );
        let others = match self.is_mean {
            true => " over all levels of the others",
            false => "",
        };
        if let ([to], [from]) = (&self.changes[..], &self.against[..]) {
            let found = match self.finding {
                Finding::Different => "a difference",
                Finding::NoDifference => "no difference seen",
                _ => "not decided",
            };
            return format!("{to} against {from}{others}: {number}: {found}");
        }
        let predicted = match self.changes.len() {
            2 => "the two alone predict",
            _ => "fewer of them predict",
        };
        let (last, first) = self.changes.split_last().unwrap_or((&"", &[]));
        let changes = format!("{} and {last}", first.join(", "));
        let found = finding_in_words(&self.finding);
        format!("{changes} together{others}: {number} against what {predicted}: {found}")
    }
}

/// What was found of changes together.
const fn finding_in_words(finding: &Finding) -> &'static str {
    match finding {
        Finding::Different => "an interaction",
        Finding::NoDifference => "no interaction seen",
        _ => "not decided",
    }
}

/// For each contrast the level of each factor that is changed, 0 of a factor that is not: fewer changes first.
fn choices(factors: &Factors<'_>) -> Vec<Vec<usize>> {
    let sizes: Vec<usize> = factors.levels.iter().map(Vec::len).collect();
    let mut all = Factors::combinations(&sizes);
    let changes = |chosen: &Vec<usize>| chosen.iter().filter(|level| **level > 0).count();
    all.retain(|chosen| changes(chosen) > 0);
    all.sort_by_key(changes);
    all
}

/// Turns of all variants.
struct Rounds {
    /// Logarithms of rates: of each round, of each variant. `None` where a router was not overloaded, or too few windows were
    /// undisturbed.
    rates: Vec<Vec<Option<f64>>>,
    /// Rounds in which some router was not overloaded, and none was disturbed.
    idle: usize,
    /// Rounds left out because the machine changed its state in them.
    moved: usize,
    /// Whether these are most, so that all count.
    is_restless: bool,
}

impl Rounds {
    fn new(line: &ComparisonLine, run: &Run) -> Self {
        let trial = |number: &u32| run.trials.iter().find(|trial| trial.trial == *number);
        let turns = || line.variants.iter().map(|variant| &variant.overload_trials);
        let count = turns().map(Vec::len).max().unwrap_or(0);
        let round = |at: usize| turns().map(|turns| trial(turns.get(at)?)).collect();
        let mut all: Vec<Vec<Option<&TrialLine>>> = (0..count).map(round).collect();
        let is_steady = |round: &Vec<Option<&TrialLine>>| {
            let trials = round.iter().flatten();
            let states = trials.map(|trial| state::of_trial(trial, |ns| ns.median));
            state::check("rate", states).is_ok()
        };
        // By the rule of pairs: where more than half have moved, variants move alike, and all count.
        let is_restless = 2 * all.iter().filter(|round| is_steady(round)).count() < count;
        if !is_restless {
            all.retain(is_steady);
        }
        let rates: Vec<Vec<Option<f64>>> = all.iter().map(|round| log_rates(round)).collect();
        let is_undisturbed =
            |round: &[Option<&TrialLine>]| round.iter().all(|one| one.and_then(fps).is_some());
        let rounds = all.iter().zip(&rates);
        let idle = rounds.filter(|(round, rates)| is_undisturbed(round) && rates.contains(&None));
        Self {
            idle: idle.count(),
            moved: count - all.len(),
            is_restless,
            rates,
        }
    }
}

/// What it forwarded in undisturbed windows.
fn fps(trial: &TrialLine) -> Option<f64> {
    trial.forwarded_undisturbed_fps.filter(|fps| *fps > 0.0)
}

/// Of each trial of a round. A router that took all that was sent could do more, so it has none.
fn log_rates(round: &[Option<&TrialLine>]) -> Vec<Option<f64>> {
    let is_overload = |trial: &TrialLine, fps: f64| {
        trial.lost_share() > 1.0 - OVERLOADED || fps <= OVERLOADED * trial.reached_fps()
    };
    let rate = |trial: &Option<&TrialLine>| {
        let (trial, fps) = ((*trial)?, trial.and_then(fps)?);
        is_overload(trial, fps).then(|| fps.ln())
    };
    round.iter().map(rate).collect()
}

/// A contrast. Variants take turns within a round, so a sum of their logarithms whose weights add up to 0 has no drift.
fn contrast<'a>(
    factors: &Factors<'a>,
    chosen: &[usize],
    rounds: &Rounds,
    line: &ComparisonLine,
    wrong: f64,
) -> Result<Contrast<'a>, String> {
    // Of a changed factor the level less the first one; of another factor the mean of all levels.
    let weight = |variant: &Vec<usize>| -> f64 {
        let parts = variant.iter().zip(chosen).zip(&factors.levels);
        let parts = parts.map(|((level, chosen), levels)| match (level, chosen) {
            (_, 0) => 1.0 / levels.len() as f64,
            (0, _) => -1.0,
            (level, chosen) => f64::from(u8::from(level == chosen)),
        });
        parts.product()
    };
    let weights: Vec<f64> = factors.variants.iter().map(weight).collect();
    let of_round = |rates: &Vec<Option<f64>>| -> Option<f64> {
        let weighed = rates
            .iter()
            .zip(&weights)
            .filter(|(_, weight)| **weight != 0.0);
        let sum: Option<f64> = weighed.map(|(rate, weight)| Some((*rate)? * weight)).sum();
        sum.map(|log| log.exp() - 1.0)
    };
    let all: Vec<f64> = rounds.rates.iter().filter_map(of_round).collect();
    let rate_change =
        interval(all.clone(), wrong).map_err(|needs| lacking(rounds, (all.len(), needs)))?;
    // Two equal set-ups differ by up to so much, because their beds do. Here weights say how much of each bed counts.
    let squares: f64 = weights.iter().map(|weight| weight * weight).sum();
    let alike = line.alike_share * (squares / 2.0).sqrt();
    let within = line.within_share.max(alike);
    let changed = || (chosen.iter().zip(&factors.levels)).filter(|(level, _)| **level > 0);
    Ok(Contrast {
        changes: changed().map(|(level, levels)| levels[*level]).collect(),
        against: changed().map(|(_, levels)| levels[0]).collect(),
        is_mean: chosen.contains(&0),
        rate_change,
        rounds: all.len(),
        is_restless: rounds.is_restless,
        finding: match rate_change {
            _ if rounds.is_restless => Finding::NotDecided,
            Interval { low, high, .. } if low > alike || high < -alike => Finding::Different,
            Interval { low, high, .. } if low >= -within && high <= within => Finding::NoDifference,
            _ => Finding::NotDecided,
        },
    })
}

/// Why there is no interval of so many rounds, where it needs so many.
fn lacking(rounds: &Rounds, (found, needs): (usize, usize)) -> String {
    let Rounds {
        rates, idle, moved, ..
    } = rounds;
    let (all, disturbed) = (
        rates.len() + moved,
        rates.len().saturating_sub(found + idle),
    );
    format!(
        "only {found} of {all} rounds count, and an interval needs {needs}: {disturbed} were disturbed, in {moved} the \
         machine changed its state, and in {idle} a router was not overloaded; give a longer --budget"
    )
}

/// The interval of the median, which does not contain it with this probability; else how many samples it needs.
fn interval(mut all: Vec<f64>, wrong: f64) -> Result<Interval<f64>, usize> {
    all.sort_by(f64::total_cmp);
    let Some(cut) = cut(all.len(), wrong / 2.0) else {
        let needs = (1..).find(|count| cut(*count, wrong / 2.0).is_some());
        return Err(needs.unwrap_or(0));
    };
    let middle = all.len() / 2;
    Ok(Interval {
        low: all[cut],
        median: f64::midpoint(all[middle], all[all.len() - 1 - middle]),
        high: all[all.len() - 1 - cut],
    })
}

/// Samples to leave out at each end: the median lies beyond the rest as seldom as this says (the binomial distribution of
/// how many samples are below it). `None`: there are too few samples.
fn cut(count: usize, beyond: f64) -> Option<usize> {
    let mut chance = -(count as f64) * std::f64::consts::LN_2;
    let mut below = chance.exp();
    let mut cut = None;
    for next in 0..count.div_ceil(2) {
        if below > beyond {
            break;
        }
        cut = Some(next);
        chance += ((count - next) as f64 / (next + 1) as f64).ln();
        below += chance.exp();
    }
    cut
}

#[cfg(test)]
mod tests;
