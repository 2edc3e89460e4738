//! The stability gate before a search (`mpps_method::gate` says which trials, and what they mean).

use crate::jobs::{JobError, Observer, Phase, Report};
use crate::measurer::Measurer;
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
    observer: &mut dyn Observer,
) -> Result<Gated, JobError> {
    let mut gate = Gate::below(highest);
    let mut trials = Vec::new();
    while let Some(offer) = gate.next() {
        let trial = measurer.trial(&offer)?;
        let verdict = trial.judge(&rules(measurer, &offer));
        let report = Report {
            frames: measurer.frames(),
            phase: Phase::Gate,
            offer,
            trial: &trial,
            verdict: &verdict,
        };
        observer.trial(&report).map_err(JobError::Record)?;
        gate.learn(&trial, &verdict);
        trials.push((trial, verdict));
    }
    Ok(Gated {
        stability: gate.stability(),
        trials,
    })
}
