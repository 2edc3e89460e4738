//! Settings that take turns between two levels, each by itself or several together.

use super::{FIRST_TRIALS, Job, Recorded, stays};
use crate::clock::Deadline;
use crate::jobs::JobError;
use crate::jobs::explain::by_stage::{self, Levels};
use crate::jobs::turns::{Forwards, Progress, Rounds, find_rates, share_loads};
use crate::line::difference;
use crate::tune::toggle::{PLACEBO, Toggle};
use mpps_method::compare::{Compared, Comparison, Finding, Rule, ToldBy, Turn};
use mpps_method::random::Random;
use mpps_method::tune::CATALOGUE;
use mpps_method::turns::TurnOrder;
use mpps_method::{Rate, Span};
use mpps_record::{Difference, ProfileChange, SettingEffect};
use std::slice::from_mut;

/// Length of a profiled trial, and pairs of them that count. Long ones meet more changes of the machine's state.
const PROFILED: Span = Span::from_millis(350);
const PROFILED_PAIRS: u32 = 12;
/// What the profile of a setting takes where all of its pairs count.
pub const PROFILES: Span = Span::from_nanos(PROFILED.as_nanos() * 2 * PROFILED_PAIRS as u64);

/// Switches under way: one, or several that are switched together.
pub(super) struct Tried<'bed> {
    pub toggles: Vec<Toggle<'bed>>,
    /// Whether each level is a bed of its own, without toggles.
    has_beds: bool,
    /// Its levels as its turns are called.
    pub names: [String; 2],
    /// What each level was seen to forward.
    pub forwards: [Forwards; 2],
    pub measure: ToldBy,
    /// Of its own pairs.
    pub comparison: Option<Comparison>,
    half_rounds: u64,
    /// Its trials at each level.
    pub turns: [Vec<Recorded>; 2],
    pub refused: Option<String>,
    /// What a screen said of it.
    pub screened: Option<Compared>,
    /// Why it takes turns alone beside a screen.
    pub alone: Option<String>,
    by_stage: Option<Result<ProfileChange, String>>,
}

impl<'bed> Tried<'bed> {
    /// One setting.
    pub fn new(toggle: Toggle<'bed>) -> Self {
        let Toggle { id, from, to, .. } = &toggle;
        let names = [format!("{id} {from}"), format!("{id} {to}")];
        Self::together(vec![toggle], names)
    }

    /// Several, whose turns at each level are called so.
    pub fn together(toggles: Vec<Toggle<'bed>>, names: [String; 2]) -> Self {
        Self {
            has_beds: toggles.is_empty(),
            toggles,
            names,
            forwards: [Forwards::default(); 2],
            measure: ToldBy::Rate,
            comparison: None,
            half_rounds: 0,
            turns: [Vec::new(), Vec::new()],
            refused: None,
            screened: None,
            alone: None,
            by_stage: None,
        }
    }

    /// The setting, where it is one.
    pub fn id(&self) -> Option<&'static str> {
        self.toggles.first().map(|toggle| toggle.id)
    }

    /// Whether it is the switch that cannot act.
    pub fn is_placebo(&self) -> bool {
        self.id() == Some(PLACEBO)
    }

    /// The bed of a level.
    const fn bed(&self, at: usize) -> usize {
        if self.has_beds { at } else { 0 }
    }

    /// What was found of it so far.
    pub fn compared(&self) -> Option<Compared> {
        let paired = || self.comparison.clone().map(Comparison::end);
        self.screened.or_else(paired)
    }

    /// The same, but its own pairs come before a screen: what is chosen as the largest of many is rather too large.
    pub fn confirmed_or_compared(&self) -> Option<Compared> {
        let own = self.comparison.clone().filter(|_| self.has_own_interval());
        own.map(Comparison::end).or_else(|| self.compared())
    }

    /// Whether its own pairs have an interval.
    pub fn has_own_interval(&self) -> bool {
        let own = self.comparison.clone().map(Comparison::end);
        own.is_some_and(|own| own.rate.or(own.cost).is_some())
    }

    /// Does something at each level in this order. A level that is refused ends the setting, not the run.
    fn at_levels(
        &mut self,
        order: [usize; 2],
        mut work: impl FnMut(&mut Self, usize) -> Result<(), JobError>,
    ) -> Result<(), JobError> {
        let mut refused = self.toggles.iter_mut().try_for_each(Toggle::begin).err();
        let mut worked = Ok(());
        for at in order {
            if refused.is_none() && worked.is_ok() {
                let mut toggles = self.toggles.iter_mut();
                refused = toggles.try_for_each(|one| one.set(at == 1)).err();
            }
            if refused.is_none() && worked.is_ok() {
                worked = work(self, at);
            }
        }
        self.refused = refused;
        let left = leave(self.toggles.iter_mut());
        worked.and(left)
    }

    /// What each level forwards at most.
    pub fn find_rates(&mut self, job: &mut Job<'_, '_>) -> Result<(), JobError> {
        let first = self
            .names
            .each_ref()
            .map(|name| format!("{name}, first trials"));
        if let Some(known) = job.earlier.take_all(&first, FIRST_TRIALS as usize) {
            for (forwards, trials) in self.forwards.iter_mut().zip(&known) {
                for one in trials {
                    forwards.learn(&one.overload, one.whole_fps, one.lost_nothing);
                }
                if trials.first().is_some_and(|first| first.lost_nothing) {
                    self.measure = ToldBy::Cost;
                }
            }
            return Ok(());
        }
        self.at_levels([0, 1], |tried, at| {
            let Some(one) = job.standing.get_mut(tried.bed(at)) else {
                return Ok(());
            };
            one.progress = Progress::new(&first[at]);
            // Where the tester ends first at one level, the rates say nothing of the other either.
            if find_rates(from_mut(one), &mut job.trials)? == ToldBy::Cost {
                tried.measure = ToldBy::Cost;
            }
            tried.forwards[at] = one.progress.forwards;
            one.tester.forwards_at_most = Some(Rate::from_fps(tried.forwards[at].most));
            Ok(())
        })
    }

    /// A trial at each level.
    pub fn pair(&mut self, job: &mut Job<'_, '_>) -> Result<(), JobError> {
        share_loads(&mut self.forwards);
        let order = TurnOrder::from_half_round(self.half_rounds).places();
        self.half_rounds += 1;
        let mut pair = [None, None];
        if let Some(known) = job.earlier.take_both(&self.names) {
            known.iter().for_each(|one| job.count(one));
            pair = known.map(Some);
        } else {
            self.at_levels(order, |tried, at| {
                let (bed, most) = (tried.bed(at), tried.forwards[at].most);
                pair[at] = Some(job.overload(bed, &tried.names[at], most)?);
                Ok(())
            })?;
        }
        let [Some(from), Some(to)] = pair else {
            return Ok(());
        };
        for (forwards, one) in self.forwards.iter_mut().zip([&from, &to]) {
            forwards.raise_to(&one.overload);
        }
        if let Some(comparison) = &mut self.comparison {
            comparison.add(&turn(&from), &turn(&to));
        }
        let [from_turns, to_turns] = &mut self.turns;
        from_turns.push(from);
        to_turns.push(to);
        Ok(())
    }

    /// Whether it was found to act, as a setting.
    pub fn acts(&self) -> bool {
        let found = self.compared().map(|compared| compared.finding);
        self.refused.is_none() && !self.is_placebo() && found == Some(Finding::Different)
    }

    /// Finds what each stage takes more at the second level.
    pub fn profile(&mut self, job: &mut Job<'_, '_>) -> Result<(), JobError> {
        let Job {
            standing, trials, ..
        } = job;
        let Some(one) = standing.first_mut() else {
            return Ok(());
        };
        let levels = Levels {
            names: self
                .names
                .each_ref()
                .map(|name| format!("{name}, profiled")),
            forwards: self.forwards,
            time: PROFILED,
            pairs: PROFILED_PAIRS,
        };
        let mut at_levels = |order, work: &mut dyn FnMut(usize) -> Result<(), JobError>| {
            self.at_levels(order, |_, at| work(at))
        };
        let tester = &mut one.tester;
        let found = by_stage::measure(tester, levels, &mut at_levels, trials)?;
        // Its effect was found before, so it stays.
        let refused = self.refused.take();
        self.by_stage = Some(refused.map_or(found, Err));
        Ok(())
    }

    /// Whether a screen can have it, as far as is known before.
    pub fn may_be_screened(&self) -> bool {
        self.refused.is_none() && self.toggles.iter().all(|toggle| toggle.with.is_none())
    }

    /// What its own pairs say beside a screen.
    fn confirmed(&mut self) -> Option<Difference> {
        let own = self.comparison.take().filter(|_| self.screened.is_some())?;
        Some(difference(&own.end(), self.measure))
    }

    /// What came of one setting.
    pub fn end(mut self) -> SettingEffect {
        let compared = self.compared().filter(|_| self.refused.is_none());
        let Some(toggle) = self.toggles.pop() else {
            return SettingEffect::default();
        };
        let measure = self.measure;
        let difference = match self.screened {
            Some(_) => compared.map(|compared| block_difference(&compared, measure)),
            None => compared.map(|compared| difference(&compared, measure)),
        };
        let confirmed = self.confirmed();
        let [from_trials, to_trials] = self.numbers();
        let (by_stage, not_by_stage) = match self.by_stage {
            Some(Ok(change)) => (Some(change), None),
            Some(Err(why)) => (None, Some(why)),
            None => (None, None),
        };
        SettingEffect {
            setting: toggle.id.to_owned(),
            name: toggle.name.to_owned(),
            from: toggle.from,
            to: toggle.to,
            with: toggle.with.map(str::to_owned),
            needs: Some(toggle.needs.to_owned()).filter(|needs| !needs.is_empty()),
            placebo: toggle.id == PLACEBO,
            difference,
            inert: None,
            not_measured: self.refused,
            two_beds: false,
            alone: self.alone,
            screened: self.screened.is_some(),
            confirmed,
            by_stage,
            not_by_stage,
            from_trials,
            to_trials,
        }
    }

    /// Numbers of its trials at each level.
    pub fn numbers(&self) -> [Vec<u32>; 2] {
        let turns = self.turns.each_ref();
        turns.map(|turns| turns.iter().map(|turn| turn.number).collect())
    }
}

/// The first of these settings beside which this one forwards nothing.
pub(super) fn apart_from<'a>(id: Option<&str>, others: &[&'a str]) -> Option<&'a str> {
    let row = CATALOGUE.iter().find(|row| Some(row.id) == id)?;
    let mut others = others.iter().copied();
    others.find(|other| row.bed_not_with.contains(other))
}

/// What a screen says of a column, which has no pairs.
pub(super) fn block_difference(compared: &Compared, measure: ToldBy) -> Difference {
    let measure = match compared.rate {
        Some(_) => measure,
        None => ToldBy::Cost,
    };
    Difference {
        pairs: None,
        ..difference(compared, measure)
    }
}

fn turn(recorded: &Recorded) -> Turn {
    Turn {
        overload: recorded.overload.clone(),
        ..Turn::default()
    }
}

/// Puts the bed back as it stood.
pub(super) fn leave<'a, 'bed: 'a>(
    toggles: impl DoubleEndedIterator<Item = &'a mut Toggle<'bed>>,
) -> Result<(), JobError> {
    let left = toggles.rev().map(|toggle| {
        let left = toggle.leave();
        left.map_err(|why| stays(toggle.id, &why))
    });
    left.fold(Ok(()), Result::and)
}

/// Pairs of turns of each until its comparison, one of so many, has ended or the time is spent.
pub(super) fn in_turns(
    mut tried: Vec<&mut Tried<'_>>,
    tests: usize,
    deadline: Deadline,
    job: &mut Job<'_, '_>,
) -> Result<(), JobError> {
    for one in &mut tried {
        let rule = Rule {
            measure: one.measure,
            ..job.rule
        };
        one.comparison = Some(Comparison::one_of(rule, tests));
    }
    let mut random = Random::from_seed(job.seed);
    let mut rounds = Rounds::new(deadline);
    loop {
        tried.retain_mut(|one| {
            let ended = one.comparison.as_mut().is_none_or(Comparison::look);
            one.refused.is_none() && !ended
        });
        let mut recorded = tried.iter().flat_map(|one| &one.names);
        let is_recorded = recorded.any(|name| job.earlier.has(name));
        if tried.is_empty() || !(rounds.begin() || is_recorded) {
            return Ok(());
        }
        let mut wanted: Vec<&mut Tried<'_>> = tried.iter_mut().map(|one| &mut **one).collect();
        random.shuffle(&mut wanted);
        for one in wanted {
            one.pair(job)?;
        }
    }
}
