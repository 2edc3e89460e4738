//! Loads below saturation, as whole trials and in turns, and as many more as the model of a frame's cost needs.

use super::load::{Saturated, is_overloaded};
use super::look::Beside;
use super::model::{self, Measured, NoModel, Tried};
use super::split::Profiled;
use super::turned::{self, Turned, Windows};
use super::{Depth, Explainer, SHARES};
use crate::jobs::sizes;
use crate::jobs::{JobError, Phase, Trials};
use crate::profile::TurnSampler;
use crate::search::saturation::{SENDER_MAX, little_more, through};
use crate::tester::PortKind;
use crate::trial::{InTurns, TURN_NS, backs_off, mean, run_in_turns};
use mpps_method::{Rate, Span};
use mpps_record::CostModel;

/// Whole trials below saturation after each pair at it.
const LOADS_A_TURN: usize = 2;
/// Turns at most, as a multiple of those asked for: a machine that changes its state leaves few that can be compared.
const TURNS_MOST: u32 = 3;
/// Length of a trial whose loads take turns: each has some 12 windows.
pub const IN_TURNS: Span = Span::from_millis(1_000);

impl Explainer<'_> {
    /// The model of a frame's cost. Where the trials are too few for one, or do not agree on its error, there are more. The
    /// size of that error does not matter.
    pub(super) fn model(
        &mut self,
        turns: u32,
        is_cpu: bool,
        (saturated, lower): (&mut Saturated, &mut Vec<(f64, Profiled)>),
        trials: &mut Trials<'_>,
    ) -> Result<Result<CostModel, NoModel>, JobError> {
        let maximum = saturated.load.forwarding_fps.median;
        let mut turn = turns;
        loop {
            let measured = Measured::new(&saturated.tried, lower, &self.turned);
            let found = model::fit(&measured, is_cpu);
            let needs_more = match &found {
                Ok(model) => model.is_unsure,
                Err(why) => matches!(why, NoModel::Short(_)),
            };
            let is_over = turn == TURNS_MOST * turns || self.depth == Depth::Saturation;
            if !needs_more || is_over {
                return Ok(found);
            }
            // Whole trials are needed only where they are fitted.
            if found.map_or(true, |model| model.trials_in_turns.is_none()) {
                let rates = saturated.tried.iter().map(|one| one.forwards().fps());
                let rate = little_more(rates.fold(maximum, f64::max));
                let one = self.trial(rate, Phase::Overload, Beside::Look, trials)?;
                if one.judged.verdict.counts() {
                    saturated.tried.extend(Tried::new(&one));
                }
                self.lower_loads(turn, maximum, lower, trials)?;
            }
            self.loads_in_turns(maximum, trials)?;
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
            if profiled.judged.verdict.counts() && !is_overloaded(&profiled) {
                lower.push((*share, profiled));
            }
        }
        Ok(())
    }

    /// One trial in which an overload takes turns with all lower loads, with the sampler and without. The lower loads are
    /// shares of the maximum known at the first such trial. Where the sender keeps a pace and the router forwards all of
    /// the overload, larger loads begin anew.
    pub(super) fn loads_in_turns(
        &mut self,
        maximum: f64,
        trials: &mut Trials<'_>,
    ) -> Result<(), JobError> {
        // Packet sockets have one pace, and no windows.
        if self.tester.traffic.port != PortKind::Xdp {
            return Ok(());
        }
        let maximum = *self.maximum_in_turns.get_or_insert(maximum);
        let most = SENDER_MAX.min(self.sends);
        let forwards = Rate::from_fps(maximum);
        let overload = match backs_off(&self.tester, forwards) {
            true => most,
            false => little_more(maximum).min(most),
        };
        let loads = turned::loads(overload, maximum);
        let offer = mean(&loads, IN_TURNS);
        let (sampler, mut of_loads) = (&self.look.sampler, Vec::new());
        let (judged, void) = sizes::repeat_void(|| {
            let judged = through(
                &mut self.tester,
                Phase::InTurns,
                offer,
                trials,
                |tester, _| {
                    let sampler = TurnSampler::start(sampler, TURN_NS, turned::is_sampled)?;
                    let InTurns { trial, windows } =
                        run_in_turns(tester, &loads, IN_TURNS, Some(forwards))?;
                    sampler.stop()?;
                    of_loads = windows;
                    Ok(trial)
                },
            )?;
            // Only a wire may be lacking.
            judged.ok_or(JobError::NoThreads)
        })?;
        self.void += void;
        if judged.verdict.counts() {
            let windows = Windows::new(&loads, &of_loads);
            self.looking.extend(windows.looking());
            self.turned.extend(Turned::new(&windows));
            if let Some(rate) = windows.forwarded_all().filter(|_| overload < most) {
                self.maximum_in_turns = Some(rate.fps());
                self.turned.clear();
            }
        }
        self.tried.push((judged.trial, judged.verdict));
        Ok(())
    }
}
