//! The effect of each setting, one at a time: a bed on which one switch after the other takes turns between its two levels,
//! A B, B A, B A, A B, at saturation. All stand on one bed, because its settings are switched within milliseconds; so the
//! place of its memory is no part of a difference. A switch that cannot act takes turns like all others.

use super::compare::{self, ALIKE, ComparePlan, Standing, Variant, is_alike, is_backwards};
use super::{JobError, Observer, Phase, Trials};
use crate::bed::Bed;
use crate::clock::Deadline;
use crate::search::saturation::{LITTLE_MORE, SENDER_MAX, block, paced};
use crate::tester::ReceiverPlace;
use crate::traffic::Traffic;
use crate::tune::toggle::{self, Ground, Level, PLACEBO, Toggle, Unmeasured};
use mpps_linux::clock::monotonic_ns;
use mpps_method::compare::{Compared, Comparison, Finding, Measure, Rule, Turn, rate};
use mpps_method::random::Random;
use mpps_method::tune::Row;
use mpps_method::{Rate, Span};

/// What a trial takes, its preparation included.
const EACH: Span = Span::from_millis(450);
/// Trials that tell what a level forwards at most.
const FIRST_TRIALS: u64 = 3;
/// Pairs that there is time for where nobody says a budget.
const PAIRS: u64 = 40;
const LEVELS: [Level; 2] = [Level::From, Level::To];

/// What to measure.
#[derive(Clone, Debug)]
pub struct SettingsPlan {
    /// The settings.
    pub rows: Vec<&'static Row>,
    /// Whether the user named them, and knows whether the bed has what they need.
    pub is_named: bool,
    /// What is sent, frame sizes and what carries them included.
    pub traffic: Traffic,
    /// How their levels are compared.
    pub how: ComparePlan,
}

/// What came of one setting.
#[derive(Clone, Debug)]
pub struct Effect {
    /// The setting's id.
    pub id: &'static str,
    /// What it is.
    pub name: &'static str,
    /// The level to go away from, and the other one; empty where it was not switched.
    pub levels: [String; 2],
    /// The setting that was on at both levels.
    pub with: Option<&'static str>,
    /// What else it needs to act, which nobody checked.
    pub needs: &'static str,
    /// Whether it cannot act, so that it tells what the machine does.
    pub is_placebo: bool,
    /// What tells its levels apart.
    pub measure: Measure,
    /// The second level against the first; `None`: not measured.
    pub compared: Option<Compared>,
    /// Numbers of the trials at each level.
    pub trials: [Vec<u32>; 2],
    /// Why it was not measured.
    pub unmeasured: Option<Unmeasured>,
}

/// What came of all.
#[derive(Debug)]
pub struct Outcome {
    /// The settings by the size of their effect, then those without; the placebo is among them.
    pub effects: Vec<Effect>,
    /// Comparisons among which each is one, the placebo's included.
    pub tests: usize,
    /// Where the tester received.
    pub receiver: Option<ReceiverPlace>,
    /// What ended it early.
    pub error: Option<JobError>,
}

/// Least time for so many settings and their placebo, and the time that they have where nobody says another.
#[must_use]
pub fn times(settings: usize) -> [Span; 2] {
    let tests = settings as u64 + 1;
    let pairs = Comparison::pairs_min(settings + 1) as u64;
    let each = |pairs: u64| {
        let trials = tests * 2 * (FIRST_TRIALS + pairs);
        Span::from_nanos(trials * EACH.as_nanos())
    };
    [each(pairs), each(PAIRS.max(2 * pairs))]
}

/// A switch under way.
struct Tried<'bed> {
    toggle: Toggle<'bed>,
    /// The most that each level was seen to forward, frames/s.
    most: [f64; 2],
    measure: Measure,
    comparison: Comparison,
    half_rounds: u64,
    trials: [Vec<u32>; 2],
    refused: Option<String>,
}

/// Measures the settings on this bed, which is as it was afterwards.
///
/// # Errors
/// The tester could not be raised, or nothing can be measured. An error of a later trial is told with what was found
/// until then.
pub fn measure(
    bed: &Bed,
    plan: &SettingsPlan,
    observer: &mut dyn Observer,
) -> Result<Outcome, JobError> {
    let mut effects = Vec::new();
    let mut toggles = Vec::new();
    let at = Ground {
        bed: bed.plan(),
        traffic: &plan.traffic,
        receiver: plan.how.receiver,
        is_named: plan.is_named,
    };
    for row in &plan.rows {
        let can = toggle::check(row, &at);
        match can.and_then(|()| Toggle::new(row, bed)) {
            Ok(toggle) => toggles.push(toggle),
            Err(why) => effects.push(unmeasured(row, why)),
        }
    }
    // Without it nobody could tell a disturbance from an effect.
    match Toggle::placebo(bed) {
        Ok(placebo) => toggles.push(placebo),
        Err(Unmeasured::Inert(why) | Unmeasured::NotSwitched(why)) => {
            return Err(JobError::Setting { id: PLACEBO, why });
        }
    }
    let tests = toggles.len();
    let mut trials = Trials::new(observer);
    let variant = Variant {
        name: String::new(),
        bed,
        traffic: plan.traffic.clone(),
    };
    let mut standing = compare::raise(&[variant], plan.how.receiver)?;
    let rule = Rule {
        measure: Measure::Rate,
        within: plan.how.within,
        alike: ALIKE,
    };
    let mut tried: Vec<Tried<'_>> = toggles
        .into_iter()
        .map(|toggle| Tried {
            toggle,
            most: [0.0; 2],
            measure: Measure::Rate,
            comparison: Comparison::one_of(rule, tests),
            half_rounds: 0,
            trials: [Vec::new(), Vec::new()],
            refused: None,
        })
        .collect();
    let deadline = Deadline::after(Some(plan.how.budget));
    let ended = all(
        &mut tried,
        &mut standing,
        rule,
        deadline,
        plan.traffic.seed,
        &mut trials,
    );
    let receiver = standing.first().map(|one| one.tester.traffic.receiver);
    effects.splice(..0, tried.into_iter().map(Tried::end));
    effects.sort_by(|a, b| b.size().total_cmp(&a.size()));
    Ok(Outcome {
        effects,
        tests,
        receiver,
        error: ended.err(),
    })
}

/// What each level forwards, then pairs of turns until each comparison has ended or the time is spent.
fn all(
    tried: &mut [Tried<'_>],
    standing: &mut [Standing<'_>],
    rule: Rule,
    deadline: Deadline,
    seed: u64,
    trials: &mut Trials<'_>,
) -> Result<(), JobError> {
    let tests = tried.len();
    for one in tried.iter_mut() {
        one.find_rates(standing, trials)?;
        let measure = one.measure;
        one.comparison = Comparison::one_of(Rule { measure, ..rule }, tests);
    }
    let mut random = Random::from_seed(seed);
    let mut took = Span::ZERO;
    loop {
        let mut wanted: Vec<&mut Tried<'_>> = tried.iter_mut().collect();
        wanted.retain_mut(|one| one.refused.is_none() && !one.comparison.look());
        if wanted.is_empty() || !deadline.leaves(took) {
            return Ok(());
        }
        random.shuffle(&mut wanted);
        let begun_ns = monotonic_ns();
        for one in wanted {
            one.pair(standing, trials)?;
        }
        took = Span::from_nanos(monotonic_ns() - begun_ns);
    }
}

impl Tried<'_> {
    /// Does something at each level in this order. A level that is refused ends the setting, not the run.
    fn at_levels(
        &mut self,
        order: [usize; 2],
        mut work: impl FnMut(&mut Self, usize) -> Result<(), JobError>,
    ) -> Result<(), JobError> {
        let mut refused = self.toggle.begin().err();
        let mut worked = Ok(());
        for at in order {
            if refused.is_none() && worked.is_ok() {
                refused = self.toggle.set(LEVELS[at]).err();
            }
            if refused.is_none() && worked.is_ok() {
                worked = work(self, at);
            }
        }
        let left = self.toggle.leave();
        self.refused = refused;
        worked?;
        // Every other setting would be measured on another bed.
        left.map_err(|why| JobError::Setting {
            id: self.toggle.id,
            why,
        })
    }

    fn turn(&self, at: usize) -> String {
        let Toggle { id, from, to, .. } = &self.toggle;
        format!("{id} {}", if at == 0 { from } else { to })
    }

    fn find_rates(
        &mut self,
        standing: &mut [Standing<'_>],
        trials: &mut Trials<'_>,
    ) -> Result<(), JobError> {
        self.at_levels([0, 1], |tried, at| {
            for one in standing.iter_mut() {
                one.forget();
                one.name = tried.turn(at);
            }
            // Where the tester ends first at one level, the rates say nothing of the other either.
            if compare::find_rates(standing, trials)? == Measure::Cost {
                tried.measure = Measure::Cost;
            }
            tried.most[at] = standing.first().map_or(0.0, |one| one.most);
            Ok(())
        })
    }

    /// A trial at each level.
    fn pair(
        &mut self,
        standing: &mut [Standing<'_>],
        trials: &mut Trials<'_>,
    ) -> Result<(), JobError> {
        let Some(one) = standing.first_mut() else {
            return Ok(());
        };
        if is_alike(self.most[0], self.most[1]) {
            self.most = [self.most[0].max(self.most[1]); 2];
        }
        let order = match is_backwards(self.half_rounds) {
            true => [1, 0],
            false => [0, 1],
        };
        self.half_rounds += 1;
        let mut turns = [Turn::default(), Turn::default()];
        self.at_levels(order, |tried, at| {
            trials.turn_of(&tried.turn(at));
            let most = Rate::from_fps(tried.most[at]);
            one.tester.forwards_at_most = Some(most);
            let load = Rate::from_fps(most.fps() * LITTLE_MORE).min(SENDER_MAX);
            // Through the router there is always a trial.
            let trial = paced(&mut one.tester, load, Phase::Overload, trials)?.unwrap_or_default();
            tried.trials[at].push(trials.told());
            turns[at].overload = block(trial);
            let seen = rate(&turns[at].overload).unwrap_or(0.0);
            tried.most[at] = tried.most[at].max(seen);
            Ok(())
        })?;
        if self.refused.is_none() {
            self.comparison.add(&turns[0], &turns[1]);
        }
        Ok(())
    }

    fn end(self) -> Effect {
        let Toggle {
            id,
            name,
            from,
            to,
            with,
            needs,
            ..
        } = self.toggle;
        let compared = match self.refused {
            None => Some(self.comparison.end()),
            Some(_) => None,
        };
        Effect {
            id,
            name,
            levels: [from, to],
            with,
            needs,
            is_placebo: id == PLACEBO,
            measure: self.measure,
            compared,
            trials: self.trials,
            unmeasured: self.refused.map(Unmeasured::NotSwitched),
        }
    }
}

impl Effect {
    /// Its place in the order: differences by their size, then none, undecided ones, and what was not measured.
    fn size(&self) -> f64 {
        let Some(compared) = self.compared else {
            return -3.0;
        };
        match compared.finding {
            Finding::Different => compared
                .rate
                .map_or(0.0, |rate| (rate.middle.ln_1p()).abs()),
            Finding::NoDifference => -1.0,
            Finding::NotDecided => -2.0,
        }
    }
}

fn unmeasured(row: &Row, why: Unmeasured) -> Effect {
    Effect {
        id: row.id,
        name: row.name,
        levels: [String::new(), String::new()],
        with: None,
        needs: "",
        is_placebo: false,
        measure: Measure::Rate,
        compared: None,
        trials: [Vec::new(), Vec::new()],
        unmeasured: Some(why),
    }
}
