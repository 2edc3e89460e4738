//! What becomes of a published claim here: the number that decides it, with its interval, against the claim's bounds.

mod bed;
mod evenness;
mod overload;

pub use bed::Alone;

use crate::cell::MeasuredCell;
use crate::factorial::interaction;
use crate::number;
use crate::stage::is_beds;
use crate::state;
use mpps_record::{Check, Difference, Finding, Interval, Looked, Run, Statement, SweepPoint};
use std::fmt;

/// What can be said of a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// The whole interval lies between its bounds.
    Holds,
    /// The same, and no check looks at the rest of what it states.
    HoldsInPart,
    /// The whole interval lies outside.
    DoesNotHold,
    /// The interval reaches across a bound, or there is no number.
    CannotTell,
    /// It was not tested.
    CannotBeTested,
    /// It is true of every such bed.
    ByConstruction,
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Holds => "holds here",
            Self::HoldsInPart => "holds here in part",
            Self::DoesNotHold => "does not hold here",
            Self::CannotTell => "cannot tell",
            Self::CannotBeTested => "cannot be tested here",
            Self::ByConstruction => "true by construction here",
        })
    }
}

/// A number that decides, of one frame size.
#[derive(Clone, Debug, PartialEq)]
pub struct Number {
    /// The frame size, where the run has several.
    pub name: Option<String>,
    /// The number.
    pub value: Interval<f64>,
    /// The same without the bed's part of a frame's cost, where that is known; or why it cannot be.
    pub alone: Result<Option<Alone>, String>,
}

impl Number {
    fn new(name: Option<String>, value: Interval<f64>) -> Self {
        let alone = Ok(None);
        Self { name, value, alone }
    }

    /// The number, and the same without the bed's part.
    fn each(&self) -> impl Iterator<Item = Interval<f64>> {
        let alone = self.alone.iter().flatten();
        std::iter::once(self.value).chain(alone.map(|alone| alone.value))
    }

    /// From the lowest to the highest of these: what a router with another share of cost aside would show lies between.
    fn whole(&self) -> Interval<f64> {
        let ends = |of: Interval<f64>, other: Interval<f64>| Interval {
            low: of.low.min(other.low),
            high: of.high.max(other.high),
            ..of
        };
        self.each().fold(self.value, ends)
    }
}

/// What a check of a claim came to.
#[derive(Clone, Debug)]
pub struct Tested<'a> {
    /// The check.
    pub check: &'a Check,
    /// What can be said by it.
    pub verdict: Verdict,
    /// The numbers; none where the run has none.
    pub numbers: Vec<Number>,
    /// Why nothing more can be said.
    pub why: Option<String>,
}

impl<'a> Tested<'a> {
    fn new(check: &'a Check, run: &Run, all: &[MeasuredCell<'_>]) -> Self {
        let (numbers, (verdict, why)) = match numbers(check, run, all) {
            Ok(numbers) => {
                let decided = decide(check, &numbers);
                (numbers, decided)
            }
            Err(why) => (Vec::new(), (Verdict::CannotTell, Some(why))),
        };
        Self {
            check,
            verdict,
            numbers,
            why,
        }
    }

    /// `-12.1 % frames/s (-13.0 % to -11.2 %); the claim holds at -10.0 % or less`; one of several checks says "this check".
    fn reason(&self, whose: &str) -> String {
        let each = self.numbers.iter().map(|one| in_words(self.check, one));
        let mut parts: Vec<String> = each.collect();
        if !parts.is_empty() {
            parts.push(format!("{whose} holds {}", bounds(self.check)));
        }
        parts.extend(self.why.clone());
        parts.join("; ")
    }
}

/// A claim with what came of it.
#[derive(Clone, Debug)]
pub struct Judged<'a> {
    /// The cell that tests it.
    pub cell: &'a str,
    /// The claim.
    pub claim: &'a Statement,
    /// What can be said of it.
    pub verdict: Verdict,
    /// Why it was not tested, or not to the end.
    pub why: Option<String>,
    /// What each check came to.
    pub tested: Vec<Tested<'a>>,
}

impl<'a> Judged<'a> {
    /// The claim of a cell, if it has one; `all` are the cells of its campaign.
    #[must_use]
    pub fn new(cell: &MeasuredCell<'a>, all: &[MeasuredCell<'_>]) -> Option<Self> {
        let claim = cell.line.claim.as_ref()?;
        let mut judged = Self {
            cell: &cell.line.cell,
            claim,
            verdict: Verdict::CannotBeTested,
            why: None,
            tested: Vec::new(),
        };
        if claim.by_construction.is_some() {
            judged.verdict = Verdict::ByConstruction;
            judged.why.clone_from(&claim.by_construction);
        } else if cell.line.not_run.is_some() {
            judged.why.clone_from(&cell.line.not_run);
        } else if claim.check.is_none() {
            judged.why = Some("the plan names no number that decides".to_owned());
        } else {
            // A run that lacks sizes or points lacks those that were hardest to measure.
            match (cell.run, cell.failure()) {
                (Some(run), None) => {
                    let checks = claim.check.iter().chain(&claim.also);
                    judged.tested = checks.map(|one| Tested::new(one, run, all)).collect();
                }
                (_, Some(why)) => judged.why = Some(why),
                (None, None) => judged.why = Some("the file has no run of it".to_owned()),
            }
            judged.verdict = judged.by_all_checks();
        }
        Some(judged)
    }

    /// One check that fails refutes a claim. All of them have to hold for it.
    fn by_all_checks(&self) -> Verdict {
        let any = |verdict| self.tested.iter().any(|one| one.verdict == verdict);
        if any(Verdict::DoesNotHold) {
            Verdict::DoesNotHold
        } else if self.tested.is_empty() || any(Verdict::CannotTell) {
            Verdict::CannotTell
        } else if self.claim.not_tested.is_some() {
            Verdict::HoldsInPart
        } else {
            Verdict::Holds
        }
    }

    /// The numbers and what they are held against, or why there is no verdict; then what no check looks at:
    /// `-12.1 % frames/s (-13.0 % to -11.2 %); the claim holds at -10.0 % or less; not tested: why`.
    #[must_use]
    pub fn reason(&self) -> String {
        let whose = match self.claim.also.is_empty() {
            true => "the claim",
            false => "this check",
        };
        let tested = self.tested.iter().map(|one| one.reason(whose));
        let rest = (self.claim.not_tested.iter()).filter(|_| !self.tested.is_empty());
        let rest = rest.map(|rest| format!("not tested: {rest}"));
        let parts: Vec<String> = tested.chain(self.why.clone()).chain(rest).collect();
        parts.join("; ")
    }

    /// The same behind the claim and its verdict: `rp_filter costs 37 % (rp-filter): does not hold here: ...`.
    #[must_use]
    pub fn told(&self) -> String {
        let Statement {
            id,
            statement,
            published,
            ..
        } = self.claim;
        let published = match published.as_str() {
            "" | "none" => String::new(),
            published => format!(" (published: {published})"),
        };
        let (verdict, reason) = (self.verdict, self.reason());
        format!("{statement}{published} ({id}): {verdict}: {reason}")
    }
}

/// Each number against the bounds. Frame sizes that disagree decide nothing, nor does a number which the bed's part moves
/// across a bound.
fn decide(check: &Check, numbers: &[Number]) -> (Verdict, Option<String>) {
    let least = check.least.unwrap_or(f64::NEG_INFINITY);
    let most = check.most.unwrap_or(f64::INFINITY);
    let inside = |of: Interval<f64>| of.low >= least && of.high <= most;
    let outside = |of: Interval<f64>| of.high < least || of.low > most;
    let is_clear = |of: Interval<f64>| inside(of) || outside(of);
    let all = |is: &dyn Fn(Interval<f64>) -> bool| numbers.iter().all(|one| is(one.whole()));
    let unknown = numbers.iter().find_map(|one| one.alone.as_ref().err());
    let why = if let Some(why) = unknown {
        why
    } else if all(&inside) {
        return (Verdict::Holds, None);
    } else if all(&outside) {
        return (Verdict::DoesNotHold, None);
    } else if all(&is_clear) {
        "the frame sizes disagree"
    } else if numbers.iter().flat_map(Number::each).all(is_clear) {
        "with and without the bed's part the number lies on different sides of a bound"
    } else {
        "the interval reaches across a bound"
    };
    (Verdict::CannotTell, Some(why.to_owned()))
}

/// The numbers of a run that decide, or why it has none.
fn numbers(check: &Check, run: &Run, all: &[MeasuredCell<'_>]) -> Result<Vec<Number>, String> {
    let one = |value| vec![Number::new(None, value)];
    match &check.of {
        Looked::RateChange => rate_changes(run, check, all),
        Looked::Interaction => interactions(run),
        Looked::RateEvenness => evenness::of_rates(&run.results).map(|number| vec![number]),
        Looked::StageGrowth(stage) => Ends::new(run)?.growth(stage).map(one),
        Looked::StagesGrowth(stage) => worst_growth(check, &Ends::new(run)?, stage),
        Looked::CauseShare(cause) => cause_shares(run, cause),
        Looked::FibOctetsPerRoute => octets_per_route(run).map(one),
        Looked::OverloadShare => overload::shares(run),
        Looked::SettingChange(id) => setting_change(run, id, check, all),
    }
}

/// Of the last variant, or the one that a claim names, against the first.
fn rate_changes(run: &Run, check: &Check, all: &[MeasuredCell<'_>]) -> Result<Vec<Number>, String> {
    let several = run.comparisons.len() > 1;
    let each = run.comparisons.iter().map(|line| {
        let mut variants = line.variants.iter();
        let variant = match &check.levels {
            Some([_, other]) => variants.find(|variant| variant.name == *other),
            None => variants.next_back(),
        };
        let found = variant.and_then(|variant| variant.difference.as_ref());
        let value = change(found.ok_or("nothing was compared")?)?;
        let first = line.variants.first();
        let trials = first.map_or(&[][..], |first| &first.overload_trials);
        let of = (line.frame.as_str(), state::of_trials(run, trials));
        let name = several.then(|| number::frame(&line.frame));
        Ok(Number {
            name,
            value,
            alone: Alone::of_change(value, check.bed_of.as_deref(), of, all),
        })
    });
    some(each, "the run has no comparison")
}

/// What a setting changes of the rate, from its first level to its second, where its placebo shows nothing. A claim may be
/// of two levels; which of them came first in the run is no matter.
fn setting_change(
    run: &Run,
    id: &str,
    check: &Check,
    cells: &[MeasuredCell<'_>],
) -> Result<Vec<Number>, String> {
    let mut all =
        (run.effects.iter()).flat_map(|line| line.effects.iter().map(move |effect| (line, effect)));
    let found = all.find(|(_, effect)| effect.setting == id);
    let (line, effect) = found.ok_or_else(|| format!("the run did not measure {id}"))?;
    if !line.can_tell(effect) {
        return Err(line.finding(effect));
    }
    let value = change(effect.told_difference().ok_or("nothing was compared")?)?;
    let (measured, name) = ([&effect.from, &effect.to], effect.title());
    let value = match &check.levels {
        Some([from, to]) if measured == [to, from] => exchanged(value),
        Some([from, to]) if measured != [from, to] => {
            return Err(format!("the claim is of `{to}` against `{from}`: {name}"));
        }
        _ => value,
    };
    let name = Some(match &check.levels {
        Some([from, to]) => format!("{id} `{to}` against `{from}`"),
        None => name,
    });
    let of = (
        line.frame.as_str(),
        state::of_trials(run, &effect.from_trials),
    );
    Ok(vec![Number {
        name,
        value,
        alone: Alone::of_change(value, check.bed_of.as_deref(), of, cells),
    }])
}

/// A change from the second level to the first, as a share.
fn exchanged(change: Interval<f64>) -> Interval<f64> {
    let other = |share: f64| 1.0 / (1.0 + share) - 1.0;
    Interval {
        low: other(change.high),
        median: other(change.median),
        high: other(change.low),
    }
}

/// What is undecided stays so, but for an interval around 0, which is only too wide: it may still lie wholly outside the
/// bounds of a claim.
fn change(found: &Difference) -> Result<Interval<f64>, String> {
    let decided = matches!(found.finding, Finding::Different | Finding::NoDifference);
    let is_told = |rate: &Interval<f64>| decided || (rate.low <= 0.0 && rate.high >= 0.0);
    let rate = found.told_rate_change().filter(is_told);
    rate.ok_or_else(|| found.to_string())
}

/// The rate of all changes together, against what fewer of them predict: of each frame size.
fn interactions(run: &Run) -> Result<Vec<Number>, String> {
    let several = run.comparisons.len() > 1;
    let each = run.comparisons.iter().map(|line| {
        let name = several.then(|| number::frame(&line.frame));
        let value = interaction(line, run)?;
        Ok(Number::new(name, value))
    });
    some(each, "the run has no comparison")
}

/// All of them, or why there is none.
fn some(
    numbers: impl Iterator<Item = Result<Number, String>>,
    none: &str,
) -> Result<Vec<Number>, String> {
    let numbers = numbers.collect::<Result<Vec<_>, _>>()?;
    match numbers.is_empty() {
        true => Err(none.to_owned()),
        false => Ok(numbers),
    }
}

/// The points of a sweep at the least and at the greatest place of its axis.
struct Ends<'a> {
    first: &'a SweepPoint,
    last: &'a SweepPoint,
    /// What the machine's speed changed meanwhile, as a factor.
    drift: f64,
}

impl<'a> Ends<'a> {
    fn new(run: &'a Run) -> Result<Self, String> {
        let sweep = run.sweeps.first().ok_or("the run has no sweep")?;
        // Of several points at an end one in the common state of the machine, if there is one.
        let end = |sign: f64| {
            let by_place = |one: &&SweepPoint, other: &&SweepPoint| {
                let places = (sign * one.value).total_cmp(&(sign * other.value));
                places.then(one.other_state.cmp(&other.other_state))
            };
            sweep.points.iter().min_by(by_place)
        };
        let (first, last) = end(1.0).zip(end(-1.0)).ok_or("the sweep has no point")?;
        if first.value >= last.value {
            return Err("the sweep has one place only".to_owned());
        }
        let states = [first, last].map(|point| (point.load.cpu_distance_ns, point.load.work_ns));
        let slower = state::check("cost", states)?;
        let drift = (1.0 + sweep.drift_ratio.unwrap_or(0.0).abs()) * slower;
        Ok(Self { first, last, drift })
    }

    /// The stage at the last place by that at the first. What the machine's speed changed meanwhile widens it.
    fn growth(&self, stage: &str) -> Result<Interval<f64>, String> {
        let cost = |point: &SweepPoint| {
            let mut stages = point.load.stages.iter();
            let part = stages.find(|part| part.part == stage);
            let part = part.ok_or_else(|| format!("a point of the sweep has no stage {stage}"))?;
            Ok::<_, String>(part.ns)
        };
        let (first, last) = (cost(self.first)?, cost(self.last)?);
        if first.low <= 0.0 {
            return Err(format!("the cost of {stage} at the first point may be 0"));
        }
        Ok(Interval {
            low: last.low / first.high / self.drift,
            median: last.median / first.median,
            high: last.high / first.low * self.drift,
        })
    }
}

/// Of all stages of the router but one: a stage wholly out of bounds, else one that reaches across, else that which moved
/// most. A stage of which one point saw nothing says nothing.
fn worst_growth(check: &Check, ends: &Ends<'_>, but: &str) -> Result<Vec<Number>, String> {
    let stages = ends.first.load.stages.iter().map(|part| part.part.as_str());
    let stages = stages.filter(|stage| *stage != but && !is_beds(stage));
    let grown = stages.filter_map(|stage| {
        let value = ends.growth(stage).ok()?;
        let name = Some(stage.to_owned());
        Some(Number::new(name, value))
    });
    let worst = grown.max_by_key(|number| {
        let (verdict, _) = decide(check, std::slice::from_ref(number));
        let moved = number.value.median.ln().abs();
        (
            verdict == Verdict::DoesNotHold,
            verdict == Verdict::CannotTell,
            (moved * 1e6) as u64,
        )
    });
    worst
        .map(|number| vec![number])
        .ok_or_else(|| "no stage was seen at both ends".to_owned())
}

fn cause_shares(run: &Run, cause: &str) -> Result<Vec<Number>, String> {
    let several = run.profiles.len() > 1;
    let each = run.profiles.iter().map(|line| {
        let missing = || line.why.clone().unwrap_or("nothing was sampled".to_owned());
        let load = line.loads.first().ok_or_else(missing)?;
        let mut causes = load.causes.iter();
        let found = causes.find(|part| part.part == cause);
        let ns = found.ok_or_else(|| format!("the profile has no cause {cause}"))?;
        let share = |ns: f64| ns / load.frame_ns.median;
        let Interval { low, median, high } = ns.ns;
        let [low, median, high] = [low, median, high].map(share);
        let value = Interval { low, median, high };
        let name = several.then(|| number::frame(&line.frame));
        Ok(Number::new(name, value))
    });
    some(each, "the run has no profile")
}

/// Of the most routes that were loaded.
fn octets_per_route(run: &Run) -> Result<Interval<f64>, String> {
    let begun = run.begin.iter().filter_map(|begin| begin.routes.as_ref());
    let points = run.points.iter().filter_map(|point| point.routes.as_ref());
    let routes = begun.chain(points).max_by_key(|loaded| loaded.routes);
    let routes = routes.ok_or("the run loaded no routes")?;
    let octets = routes.fib_octets.filter(|_| routes.routes > 0);
    let octets = octets.ok_or("the kernel did not say how large its FIB is")?;
    let each = octets as f64 / routes.routes as f64;
    Ok(Interval {
        low: each,
        median: each,
        high: each,
    })
}

/// `64 B: -12.1 % frames/s (-13.0 to -11.2 %)`.
fn in_words(check: &Check, number: &Number) -> String {
    let Interval { low, median, high } = number.value;
    let [low, median, high] = [low, median, high].map(|end| value(&check.of, end));
    let what = match &check.of {
        Looked::RateChange | Looked::SettingChange(_) => " frames/s".to_owned(),
        Looked::Interaction => " frames/s against what fewer changes predict".to_owned(),
        Looked::RateEvenness => " of the greatest rate".to_owned(),
        Looked::StageGrowth(stage) => format!(" times the cost of {stage}"),
        Looked::StagesGrowth(_) => " times its cost".to_owned(),
        Looked::CauseShare(cause) => format!(" of a frame's cost in {cause}"),
        Looked::FibOctetsPerRoute => " octets a route".to_owned(),
        Looked::OverloadShare => " of its maximum".to_owned(),
    };
    let name = number.name.as_ref();
    let name = name.map_or(String::new(), |name| format!("{name}: "));
    let ends = match low == high {
        true => String::new(),
        false => format!(" ({low} to {high})"),
    };
    let aside = match (&number.alone, &check.bed_of) {
        (Ok(Some(Alone { share, value: of })), _) => {
            let [low, median, high] = [of.low, of.median, of.high].map(|end| value(&check.of, end));
            let share = share.median * 100.0;
            format!(
                ", or {median} ({low} to {high}) without the bed's {share:.0} % of a frame's cost"
            )
        }
        (Ok(None), Some(cell)) => format!(", and cell {cell} does not tell the bed's share"),
        (Ok(None), None) | (Err(_), _) => String::new(),
    };
    format!("{name}{median}{what}{ends}{aside}")
}

fn value(of: &Looked, value: f64) -> String {
    match of {
        Looked::RateChange | Looked::Interaction | Looked::SettingChange(_) => {
            format!("{:+.1} %", value * 100.0)
        }
        Looked::RateEvenness | Looked::CauseShare(_) | Looked::OverloadShare => {
            format!("{:.1} %", value * 100.0)
        }
        Looked::StageGrowth(_) | Looked::StagesGrowth(_) => format!("{value:.2}"),
        Looked::FibOctetsPerRoute => format!("{value:.0}"),
    }
}

/// Where a number has to lie.
fn bounds(check: &Check) -> String {
    let words = |end: f64| value(&check.of, end);
    match (check.least, check.most) {
        (Some(least), Some(most)) => format!("from {} to {}", words(least), words(most)),
        (Some(least), None) => format!("at {} or more", words(least)),
        (None, Some(most)) => format!("at {} or less", words(most)),
        (None, None) => "whatever it is".to_owned(),
    }
}

#[cfg(test)]
mod tests;
