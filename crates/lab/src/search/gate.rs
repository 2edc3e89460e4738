//! The stability gate before a search (`mpps_method::gate` says which trials, and what they mean).

use super::measurer::Measurer;
use super::{JobError, Judged, Phase, Trials};
use mpps_method::{Gate, Offer, Rate, Rules, Stability, Trial, Verdict};

/// Steal comes in ticks of 10 ms, a twentieth of a gate's trial: one of them voids nothing here, for a stall that
/// matters at this load is seen by the watch.
const STEAL_MAX: f64 = 0.075;

/// What the gate's trials came to.
#[derive(Clone, Debug)]
pub struct Gated {
    /// What they say of the DUT.
    pub stability: Stability,
    /// The trials, with their verdicts.
    pub trials: Vec<(Trial, Verdict)>,
}

fn rules(measurer: &dyn Measurer, offer: &Offer) -> Rules {
    let rules = measurer.rules(offer);
    Rules {
        steal_max: rules.steal_max.max(STEAL_MAX),
        ..rules
    }
}

/// Runs the gate's trials far below `highest`, the highest load that will be searched.
///
/// # Errors
/// The tester or the record failed.
pub fn pass(
    measurer: &mut dyn Measurer,
    highest: Rate,
    told: &mut Trials<'_>,
) -> Result<Gated, JobError> {
    let mut gate = Gate::below(highest);
    let mut trials = Vec::new();
    while let Some(offer) = gate.next() {
        let trial = measurer.trial(&offer)?;
        let rules = rules(measurer, &offer);
        let Judged { trial, verdict, .. } =
            told.judged(Phase::Gate, measurer.frames(), offer, &rules, trial)?;
        gate.learn(&trial, &verdict);
        trials.push((trial, verdict));
    }
    Ok(Gated {
        stability: gate.stability(),
        trials,
    })
}
