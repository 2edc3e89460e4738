//! The effect of each setting, on one bed at saturation. One at a time: one switch after the other takes turns between its
//! two levels, A B, B A, B A, A B. Or many at once, as a screen. All stand on one bed, because its settings are switched
//! within milliseconds; so the place of its memory is no part of a difference. A switch that cannot act takes part like
//! all others. At the end the levels that were found to be better take turns, all together, with the others.

pub mod beds;
mod earlier;
mod screen;
mod singly;
mod together;
mod tried;

pub use earlier::{Earlier, Recorded};

use super::compare::{self, ALIKE_ON_ONE_BED, ComparePlan, Standing, Variant};
use super::{JobError, Observer, Trials};
use crate::bed::Bed;
use crate::clock::Deadline;
use crate::doubt::machine::much_disturbed;
use crate::doubt::tester::not_overloaded;
use crate::line::doubt;
use crate::search::saturation::block;
use crate::traffic::Traffic;
use crate::tune::measurable::{self, Ground, Unmeasured};
use crate::tune::toggle::{NoToggle, PLACEBO, Toggle};
use mpps_linux::clock::monotonic_ns;
use mpps_method::Span;
use mpps_method::compare::{Comparison, Rule, ToldBy};
use mpps_method::tune::Row;
use mpps_record::{EffectsLine, Finding, Screen, SettingEffect, Together};
pub use tried::PROFILES;
use tried::Tried;

/// What a trial takes, its preparation included.
const EACH: Span = Span::from_millis(450);
/// Trials that tell what a level forwards at most.
const FIRST_TRIALS: u64 = 3;
/// Pairs that there is time for where nobody says a budget.
const PAIRS: u64 = 40;
/// Pairs that there is time for where levels are confirmed together.
const PAIRS_TOGETHER: u64 = 12;

/// What it takes to raise two beds and lower them, a large table included.
const RAISED: Span = Span::from_millis(10_000);

/// What to measure.
#[derive(Clone, Debug)]
pub struct SettingsPlan {
    /// The settings of one bed. Those that cannot be switched there are told with the reason.
    pub rows: Vec<&'static Row>,
    /// How many others are measured on two beds each, after these ([`beds::measure`]).
    pub beds: usize,
    /// Whether the user named them, and knows whether the bed has what they need.
    pub is_named: bool,
    /// Whether what holds for the whole machine may be switched, beside what the router alone has.
    pub allows_machine: bool,
    /// Whether many are switched at once.
    pub is_screen: bool,
    /// Whether what acts is profiled at both levels.
    pub by_stage: bool,
    /// What is sent, frame sizes and what carries them included.
    pub traffic: Traffic,
    /// How their levels are compared.
    pub how: ComparePlan,
}

/// What came of all.
#[derive(Debug, Default)]
pub struct Outcome {
    /// As the record has it.
    pub line: EffectsLine,
    /// The time of all turns and what surrounds them, profiles aside.
    pub turns: Span,
    /// The time of the disturbed windows of all turns, and of all windows.
    windows: [Span; 2],
    /// What ended it early.
    pub error: Option<JobError>,
}

/// Least time for the settings on one bed, their placebo and so many settings on two beds, and the time that they have
/// where nobody says another. `None`: they are too many for a screen.
#[must_use]
pub fn times(rows: &[&'static Row], beds: usize, is_screen: bool) -> Option<[Span; 2]> {
    if is_screen {
        let alone = rows.iter().filter(|row| !row.bed_with.is_empty()).count();
        let [least, _] = screen::least_times(rows.len() + 1 - alone, alone, beds)?;
        // Blocks beyond the least narrow the intervals. With this share twenty settings stay below 15 minutes. Turns of
        // single settings need no more.
        let turned = singly::time(rows.len() - alone).as_nanos();
        return Some([least, Span::from_nanos((least.as_nanos() - turned) / 4 * 7)]);
    }
    let tests = rows.len() + 1 + beds;
    let pairs = Comparison::pairs_min(tests) as u64;
    let each = |pairs: u64| {
        let trials = (rows.len() as u64 + 1) * 2 * (FIRST_TRIALS + pairs);
        let one_bed = trials * EACH.as_nanos() + together_time().as_nanos();
        Span::from_nanos(one_bed).plus(beds::time(beds, pairs))
    };
    Some([each(pairs), each(PAIRS.max(2 * pairs))])
}

impl SettingsPlan {
    /// The part of the budget for the settings of one bed but these, which cannot be switched: as much of it as of the
    /// least time.
    fn budget_of_one_bed(&self, unmeasured: &[SettingEffect]) -> Span {
        let budget = self.how.budget;
        let mut rows = self.rows.clone();
        rows.retain(|row| unmeasured.iter().all(|one| one.setting != row.id));
        let least = |beds| times(&rows, beds, self.is_screen).map(|[least, _]| least);
        let Some((all, least)) = least(self.beds).filter(|_| self.beds > 0).zip(least(0)) else {
            return budget;
        };
        Span::from_secs_f64(budget.as_secs_f64() * least.as_secs_f64() / all.as_secs_f64())
    }
}

/// What all parts of the job share.
struct Job<'bed, 'a> {
    standing: Vec<Standing<'bed>>,
    trials: Trials<'a>,
    earlier: Earlier,
    rule: Rule,
    seed: u64,
    budget: Span,
    begun_ns: u64,
    /// The time of the disturbed windows of all turns, and of all windows.
    windows: [Span; 2],
}

impl<'bed, 'a> Job<'bed, 'a> {
    /// Begins with these beds, after the trials that the run has.
    fn new(
        standing: Vec<Standing<'bed>>,
        plan: &SettingsPlan,
        earlier: Earlier,
        observer: &'a mut dyn Observer,
    ) -> Self {
        let last_number = earlier.last_trial.max(observer.last_number());
        let mut plans = standing.iter().map(|one| &one.tester.traffic);
        let alike = match standing.len() {
            1 => ALIKE_ON_ONE_BED,
            _ => compare::alike(plans.any(|traffic| traffic.destinations.is_some())),
        };
        Self {
            standing,
            trials: Trials::after(last_number, observer),
            earlier,
            rule: Rule {
                measure: ToldBy::Rate,
                within: plan.how.within.max(alike),
                alike,
            },
            seed: plan.traffic.seed,
            budget: plan.how.budget,
            begun_ns: monotonic_ns(),
            windows: [Span::ZERO; 2],
        }
    }

    /// Whether a cost tells a rate: on one CPU, whose time is the limit. Several may be busy for longer and forward more.
    fn tells_rate_by_cost(&self) -> bool {
        let dut_cpus = |one: &Standing<'_>| one.tester.bed.plan().cpus.dut.len();
        self.standing.iter().all(|one| dut_cpus(one) == 1)
    }

    /// Adds the windows of a turn.
    fn count(&mut self, turn: &Recorded) {
        let [disturbed, all] = &mut self.windows;
        for window in &turn.overload.windows {
            *all = all.plus(window.duration);
            if window.disturbed {
                *disturbed = disturbed.plus(window.duration);
            }
        }
    }

    /// A trial of this turn on this bed, at a little more than the router was seen to forward there, unless an earlier run
    /// had it.
    fn overload(&mut self, bed: usize, turn: &str, most: f64) -> Result<Recorded, JobError> {
        if let Some(recorded) = self.earlier.take(turn) {
            self.count(&recorded);
            return Ok(recorded);
        }
        let Some(one) = self.standing.get_mut(bed) else {
            return Ok(Recorded::default());
        };
        let (number, trial) = compare::overload(&mut one.tester, turn, most, &mut self.trials)?;
        let recorded = Recorded {
            number,
            overload: block(trial),
            ..Recorded::default()
        };
        self.count(&recorded);
        Ok(recorded)
    }

    /// The end of so much of the budget, of which earlier runs spent a part.
    fn deadline(&self, part: Span) -> Deadline {
        let spent = self.earlier.spent.as_nanos() + monotonic_ns() - self.begun_ns;
        let left = part.as_nanos().saturating_sub(spent);
        Deadline::after(Some(Span::from_nanos(left)))
    }
}

/// Measures the settings on this bed, which is as it was afterwards. Turns that earlier runs had are not measured again.
///
/// # Errors
/// The tester could not be raised, or nothing can be measured. An error of a later trial is told with what was found
/// until then.
pub fn measure(
    bed: &Bed,
    plan: &SettingsPlan,
    earlier: Earlier,
    observer: &mut dyn Observer,
) -> Result<Outcome, JobError> {
    let begun_ns = monotonic_ns();
    let (mut toggles, mut effects) = switches(bed, plan)?;
    if toggles.is_empty() && plan.beds == 0 {
        return Err(nothing_to_measure(effects.iter().filter_map(refusal)));
    }
    // Without it nobody could tell a disturbance from an effect.
    match Toggle::placebo(bed) {
        Ok(placebo) => toggles.push(placebo),
        Err(why) => return Err(JobError::Setting { id: PLACEBO, why }),
    }
    let variant = Variant {
        name: String::new(),
        bed,
        traffic: plan.traffic.clone(),
    };
    let standing = compare::raise(&[variant], plan.how.receiver)?;
    let mut job = Job::new(standing, plan, earlier, observer);
    job.budget = plan.budget_of_one_bed(&effects);
    let mut found = Found {
        tests: toggles.len() + plan.beds,
        beds: plan.beds,
        ..Found::default()
    };
    let mut tried: Vec<Tried<'_>> = toggles.into_iter().map(Tried::new).collect();
    let ended = all(&mut tried, plan.is_screen, &mut job, &mut found);
    let turns = Span::from_nanos(monotonic_ns() - begun_ns);
    let ended = ended.and_then(|()| {
        let mut acting = tried.iter_mut().filter(|one| plan.by_stage && one.acts());
        acting.try_for_each(|one| one.profile(&mut job))
    });
    effects.splice(..0, tried.into_iter().map(Tried::end));
    effects.extend(found.placebos);
    effects.sort_by(|a, b| size(b).total_cmp(&size(a)));
    let error = ended.err();
    let line = EffectsLine {
        frame: plan.traffic.frames.to_string(),
        receiver: (job.standing.first()).map(|one| one.tester.traffic.receiver.into()),
        within_share: plan.how.within,
        alike_share: ALIKE_ON_ONE_BED,
        budget_ns: plan.how.budget.as_nanos(),
        tests: found.tests as u32,
        seed: plan.traffic.seed,
        named: plan.is_named,
        effects,
        screen: found.screen,
        together: found.together,
        not_together: found.not_together,
        resumed: job.earlier.names,
        why: error.as_ref().map(ToString::to_string),
        ..EffectsLine::default()
    };
    let mut outcome = Outcome {
        line,
        turns,
        windows: [Span::ZERO; 2],
        error,
    };
    outcome.add_windows(job.windows);
    Ok(outcome)
}

/// Every other setting would be measured on another bed.
fn stays(id: &'static str, why: &str) -> JobError {
    let why = format!(
        "it cannot be put back, so later turns would be of another bed: {why} (leave it out: --only)"
    );
    JobError::Setting { id, why }
}

/// The plan's settings as switches of the bed, and those that cannot be switched there.
///
/// # Errors
/// One cannot be put back.
fn switches<'bed>(
    bed: &'bed Bed,
    plan: &SettingsPlan,
) -> Result<(Vec<Toggle<'bed>>, Vec<SettingEffect>), JobError> {
    let (mut toggles, mut effects) = (Vec::new(), Vec::new());
    let at = Ground {
        bed: bed.plan(),
        traffic: &plan.traffic,
        receiver: plan.how.receiver,
        is_named: plan.is_named,
        allows_machine: plan.allows_machine,
    };
    for row in &plan.rows {
        let can = measurable::check(row, &at).map_err(NoToggle::Unmeasured);
        match can.and_then(|()| Toggle::new(row, bed)) {
            Ok(toggle) => toggles.push(toggle),
            Err(NoToggle::Stays(why)) => return Err(stays(row.id, &why)),
            Err(NoToggle::Unmeasured(why)) => effects.push(unmeasured(row, why)),
        }
    }
    Ok((toggles, effects))
}

/// What is known so far beside the settings' own comparisons.
#[derive(Default)]
struct Found {
    tests: usize,
    beds: usize,
    screen: Option<Screen>,
    placebos: Vec<SettingEffect>,
    together: Option<Together>,
    not_together: Option<String>,
}

/// What each level forwards, then effects, then the better levels together.
fn all<'bed>(
    tried: &mut [Tried<'bed>],
    is_screen: bool,
    job: &mut Job<'bed, '_>,
    found: &mut Found,
) -> Result<(), JobError> {
    for one in tried.iter_mut() {
        one.find_rates(job)?;
    }
    let mut open = tried.iter().filter(|one| one.refused.is_none());
    if found.beds == 0 && open.all(Tried::is_placebo) {
        let refusals = tried.iter();
        return Err(nothing_to_measure(
            refusals.filter_map(|one| one.id().zip(one.refused.as_deref())),
        ));
    }
    let kept = match is_screen {
        true => screen::kept_time(tried.iter().filter(|one| one.may_be_screened()).count()),
        false => together_time(),
    };
    let turns = job.budget.as_nanos().saturating_sub(kept.as_nanos());
    let turns = job.deadline(Span::from_nanos(turns));
    if is_screen {
        screen::all(tried, turns, job, found)?;
        singly::confirm(tried, job, found)?;
    } else {
        tried::in_turns(tried.iter_mut().collect(), found.tests, turns, job)?;
    }
    together::confirm(tried, job, found)
}

/// Why a setting is not measured, with its id.
fn refusal(effect: &SettingEffect) -> Option<(&str, &str)> {
    let why = effect.inert.as_ref().or(effect.not_measured.as_ref());
    Some((effect.setting.as_str(), why?))
}

/// The error that names why each setting is not measured.
fn nothing_to_measure<'a>(refusals: impl Iterator<Item = (&'a str, &'a str)>) -> JobError {
    let refusals: Vec<String> = refusals.map(|(id, why)| format!("{id}: {why}")).collect();
    JobError::NoSetting(refusals.join("; "))
}

/// What is kept of the budget to confirm levels together.
const fn together_time() -> Span {
    Span::from_nanos(EACH.as_nanos() * 2 * (FIRST_TRIALS + PAIRS_TOGETHER))
}

/// Its place in the order: differences by the change of a frame's cost, as they are drawn, or of the rate where the cost
/// tells none; then no difference, undecided ones, and what was not measured.
fn size(effect: &SettingEffect) -> f64 {
    let Some(difference) = &effect.difference else {
        return -3.0;
    };
    match difference.finding {
        Finding::Different => {
            let cost = difference.cost_change;
            let cost = cost.filter(|cost| cost.low * cost.high > 0.0);
            let change = cost.or(difference.rate_change);
            change.map_or(0.0, |change| change.median.ln_1p().abs())
        }
        Finding::NoDifference => -1.0,
        Finding::NotDecided | Finding::Other(_) => -2.0,
    }
}

/// One that was not measured.
#[must_use]
pub fn unmeasured(row: &Row, why: Unmeasured) -> SettingEffect {
    let (inert, not_measured) = match why {
        Unmeasured::Inert(why) => (Some(why), None),
        Unmeasured::NotSwitched(why) => (None, Some(why)),
    };
    SettingEffect {
        setting: row.id.to_owned(),
        name: row.name.to_owned(),
        inert,
        not_measured,
        ..SettingEffect::default()
    }
}

impl Outcome {
    /// Adds the disturbed windows of turns, and all of them.
    fn add_windows(&mut self, windows: [Span; 2]) {
        for (sum, more) in self.windows.iter_mut().zip(windows) {
            *sum = sum.plus(more);
        }
        let [disturbed, all] = self.windows;
        let effects = self.line.effects.iter();
        let pairs = effects.filter_map(|one| one.difference.as_ref()?.pairs);
        let doubts = much_disturbed(disturbed, all).into_iter();
        let doubts = doubts.chain(not_overloaded(pairs));
        self.line.doubts = doubts.map(|one| doubt(&one)).collect();
    }

    /// Adds a setting that was measured apart.
    pub fn add(&mut self, effect: SettingEffect) {
        let effects = &mut self.line.effects;
        effects.push(effect);
        effects.sort_by(|a, b| size(b).total_cmp(&size(a)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mpps_method::tune::CATALOGUE;
    use mpps_record::{Difference, Interval};

    /// `ring_rx` and `conntrack` of `bench/runs/2026-11-26-xeon-vm-2cpu/tune-all`, and a setting that changes no cost.
    #[test]
    fn effects_are_ordered_by_the_cost_that_is_drawn() {
        let around = |median: f64, half: f64| Interval {
            low: median - half,
            median,
            high: median + half,
        };
        let effect = |rate, cost: Interval<f64>| SettingEffect {
            difference: Some(Difference {
                finding: Finding::Different,
                rate_change: Some(around(rate, 0.05)),
                cost_change: Some(cost),
                ..Difference::default()
            }),
            ..SettingEffect::default()
        };
        let ring = effect(0.44, around(-0.036, 0.02));
        let conntrack = effect(0.42, around(-0.29, 0.02));
        let queues = effect(0.9, around(0.01, 0.02));
        assert!(size(&queues) > size(&conntrack) && size(&conntrack) > size(&ring));
    }

    #[test]
    fn a_screen_of_twenty_takes_up_to_15_minutes() {
        let rows = CATALOGUE.iter().filter(|row| row.bed_with.is_empty());
        let rows: Vec<&'static Row> = rows.take(20).collect();
        let [least, usual] = times(&rows, 0, true).expect("a design");
        assert!(least < usual && usual < Span::from_millis(15 * 60_000));
    }

    /// The settings of `bench/runs/2026-11-24-epyc-vm-2cpu/tune-all`: 54 of the catalogue's on one bed, and 8 on two beds.
    #[test]
    fn settings_that_cannot_be_switched_get_no_time() {
        let rows: Vec<&'static Row> = CATALOGUE.iter().collect();
        let left_out = &rows[54..];
        let why = || Unmeasured::Inert(String::new());
        let left_out: Vec<SettingEffect> =
            left_out.iter().map(|row| unmeasured(row, why())).collect();
        let plan = SettingsPlan {
            rows: rows.clone(),
            beds: 8,
            is_named: false,
            allows_machine: false,
            is_screen: false,
            by_stage: false,
            traffic: Traffic::default(),
            how: ComparePlan {
                within: 0.02,
                budget: Span::from_millis(1_380_000),
                receiver: None,
                whole_rounds: false,
            },
        };
        let given = plan.budget_of_one_bed(&left_out).as_secs_f64();
        assert!((1050.0..1150.0).contains(&given), "{given} s");
        let of_them = SettingsPlan {
            rows: rows[..54].to_vec(),
            ..plan
        };
        assert_eq!(of_them.budget_of_one_bed(&[]).as_secs_f64(), given);
    }
}
