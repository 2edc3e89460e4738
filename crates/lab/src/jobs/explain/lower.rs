//! Trials below saturation, and as many more as the model of a frame's cost needs.

use super::load::{Saturated, is_overloaded};
use super::look::Beside;
use super::model::{self, NoModel, Tried};
use super::split::Profiled;
use super::{Depth, Explainer, SHARES};
use crate::jobs::sizes::counts;
use crate::jobs::{JobError, Phase, Trials};
use crate::search::saturation::LITTLE_MORE;
use mpps_method::{LimitedBy, Rate};
use mpps_record::CostModel;

/// Trials below saturation after each pair at it.
const LOADS_A_TURN: usize = 3;

impl Explainer<'_> {
    /// The model of a frame's cost. Where the machine changed its state so often that it needs more trials, there are up to
    /// as many turns again. What was predicted is not asked.
    pub(super) fn model(
        &mut self,
        turns: u32,
        limited_by: LimitedBy,
        (saturated, lower): (&mut Saturated, &mut Vec<(f64, Profiled)>),
        trials: &mut Trials<'_>,
    ) -> Result<Result<CostModel, NoModel>, JobError> {
        let threads = self.tester.dut_threads().len() as u32;
        let maximum = saturated.load.forwarding_fps.median;
        let mut turn = turns;
        loop {
            let points = lower.iter();
            let points = points.filter_map(|(_, one)| Tried::new(one, self.sends));
            let points: Vec<Tried> = points.collect();
            let found = model::fit(&saturated.tried, &points, threads, limited_by);
            let is_short = matches!(found, Err(NoModel::Short(_)));
            if !is_short || turn == 2 * turns || self.depth == Depth::Saturation {
                return Ok(found);
            }
            let rates = saturated.tried.iter().map(|one| one.forwards().fps());
            let rate = Rate::from_fps(rates.fold(maximum, f64::max) * LITTLE_MORE);
            let one = self.trial(rate, Phase::Overload, Beside::Look, trials)?;
            if counts(&one.judged) {
                saturated.tried.extend(Tried::new(&one, self.sends));
            }
            self.lower_loads(turn, maximum, lower, trials)?;
            turn += 1;
        }
    }

    /// The lower loads of a turn, as shares of the maximum.
    pub(super) fn lower_loads(
        &mut self,
        turn: u32,
        maximum: f64,
        lower: &mut Vec<(f64, Profiled)>,
        trials: &mut Trials<'_>,
    ) -> Result<(), JobError> {
        let shares = SHARES.iter().cycle().skip(LOADS_A_TURN * turn as usize);
        for share in shares.take(LOADS_A_TURN) {
            let rate = Rate::from_fps(maximum * share);
            let profiled = self.trial(rate, Phase::Fixed, Beside::Look, trials)?;
            if counts(&profiled.judged) && !is_overloaded(&profiled) {
                lower.push((*share, profiled));
            }
        }
        Ok(())
    }
}
