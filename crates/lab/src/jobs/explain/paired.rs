//! Pairs of neighbouring sampled trials, and what the second of each takes more by stage and by cause.

use super::look::{Beside, Look};
use super::split::Profiled;
use crate::jobs::turns::Forwards;
use crate::jobs::{JobError, Phase, Trials};
use crate::search::saturation::block;
use crate::tester::Tester;
use mpps_method::compare::{Comparison, Turn};
use mpps_method::distance::{Distance, MachineState};
use mpps_method::saturation::{Block, PAIR_WINDOWS_MIN};
use mpps_method::stage::{Cause, Change, Cost, Split, Stage, paired_changes};
use mpps_method::turns::TurnOrder;
use mpps_method::{Offer, Rate, Span};
use mpps_record::{PartChange, ProfileChange};

/// Turns at most, as a multiple of the pairs that are wanted.
const TURNS: u32 = 2;

/// Pairs of sampled trials: first that of what the other one is compared with.
pub(super) struct Paired {
    pub look: Look,
    /// Trials of the pairs that count.
    pub kept: [Vec<Profiled>; 2],
    pub comparison: Comparison,
    /// Pairs with a void trial, or with one that has no samples.
    pub void: u32,
    /// Pairs whose trials had too few windows in one state of the machine.
    pub apart: u32,
}

impl Paired {
    pub fn new(look: Look, comparison: Comparison) -> Self {
        Self {
            look,
            kept: [Vec::new(), Vec::new()],
            comparison,
            void: 0,
            apart: 0,
        }
    }

    /// Takes pairs, A B B A, until so many count. The machine disturbs some, so up to twice as many are taken. Returns how
    /// many were; `None`: one lacks a trial.
    pub fn take(
        &mut self,
        wanted: u32,
        mut pair: impl FnMut(&mut Self, TurnOrder) -> Result<Option<[Profiled; 2]>, JobError>,
    ) -> Result<Option<u32>, JobError> {
        for taken in 0..TURNS * wanted {
            if self.kept[0].len() >= wanted as usize {
                return Ok(Some(taken));
            }
            let order = TurnOrder::from_half_round(taken.into());
            let Some(pair) = pair(self, order)? else {
                return Ok(None);
            };
            self.add(pair);
        }
        Ok(Some(TURNS * wanted))
    }

    /// One sampled trial of this turn, at a little more than was seen to be forwarded.
    pub fn trial(
        &mut self,
        tester: &mut Tester<'_>,
        (turn, forwards): (&str, &mut Forwards),
        duration: Span,
        trials: &mut Trials<'_>,
    ) -> Result<Profiled, JobError> {
        trials.turn_of(turn);
        tester.forwards_at_most = Some(Rate::from_fps(forwards.most));
        let rate = forwards.overload();
        let what = (Phase::Overload, Offer { rate, duration });
        let one = self.look.trial(tester, what, Beside::Look, trials)?;
        forwards.raise_to(&block(&one.judged.trial));
        Ok(one)
    }

    /// Adds a pair, if both count and can be compared. Where the state of the machine changed, the windows of one state are
    /// compared, if each trial has enough of them.
    fn add(&mut self, mut pair: [Profiled; 2]) {
        let is_whole = |one: &Profiled| one.judged.verdict.counts() && one.split.is_some();
        let [base, own] = pair.each_ref().map(turn);
        if !pair.iter().all(is_whole) {
            self.void += 1;
        } else if base.overload.distance.with(own.overload.distance) == Distance::Changed
            && !narrow(&mut pair)
        {
            self.apart += 1;
        } else if self.comparison.add(&base, &own) {
            let each = self.kept.iter_mut().zip(pair);
            each.for_each(|(kept, one)| kept.push(one.without_samples()));
        }
    }
}

/// Narrows both to the state in which they have the most windows.
fn narrow(pair: &mut [Profiled; 2]) -> bool {
    let [base, own] = pair.each_ref().map(|one| &one.judged.trial.windows);
    let state = MachineState::from_pair(base, own, PAIR_WINDOWS_MIN);
    state.is_some_and(|state| pair.iter_mut().all(|one| one.narrow(&state)))
}

/// A trial as a comparison takes it.
fn turn(one: &Profiled) -> Turn {
    Turn {
        overload: block(&one.judged.trial),
        fixed: Block::default(),
    }
}

/// What the second takes more in each part; up to `alike` of a frame's time counts as none. `None` with too few pairs.
pub(super) fn change(
    [base, own]: &[Vec<Profiled>; 2],
    before: f64,
    frame_ns: f64,
    alike: f64,
) -> Option<ProfileChange> {
    let splits = base.iter().zip(own);
    let splits: Vec<(&Split, &Split)> = splits
        .filter_map(|(base, own)| base.split.as_ref().zip(own.split.as_ref()))
        .collect();
    let alike_ns = alike * frame_ns;
    let router = splits.iter();
    let router = router.map(|(base, own)| own.router_ns() - base.router_ns());
    let router = paired_changes(&[router.collect()], alike_ns)?;
    let stages = Stage::ALL.iter().map(|stage| stage.to_string());
    let causes = Cause::ALL.iter().map(|cause| cause.to_string());
    Some(ProfileChange {
        router_before_ns: before,
        router: part("router", router.first()?),
        stages: parts(stages, &splits, |split| &split.stages, alike_ns)?,
        causes: parts(causes, &splits, |split| &split.causes, alike_ns)?,
    })
}

/// The change of each part: those of `costs` are in the order of `names`.
pub(super) fn parts<K>(
    names: impl ExactSizeIterator<Item = String>,
    splits: &[(&Split, &Split)],
    costs: impl Fn(&Split) -> &Vec<Cost<K>>,
    alike_ns: f64,
) -> Option<Vec<PartChange>> {
    let differences = |at: usize| {
        let ns = |split| costs(split).get(at).map_or(0.0, |cost| cost.ns);
        let each = splits.iter().map(|(base, own)| ns(own) - ns(base));
        each.collect()
    };
    let all: Vec<Vec<f64>> = (0..names.len()).map(differences).collect();
    let changes = paired_changes(&all, alike_ns)?;
    let named = names.zip(&changes);
    Some(named.map(|(name, change)| part(&name, change)).collect())
}

fn part(name: &str, change: &Change) -> PartChange {
    PartChange::new(name, [change.low, change.ns, change.high], change.seen)
}
