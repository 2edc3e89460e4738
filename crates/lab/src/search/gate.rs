//! The stability gate before a search (`mpps_method::gate` says which trials, and what they mean).

use super::measurer::Measurer;
use super::{JobError, Judged, Phase, Trials};
use mpps_method::{Gate, Offer, Rate, Rules, Stability, Trial, Verdict};

/// Largest share of stolen time in a trial of the gate. Steal is counted in ticks of 10 ms, a twentieth of such a trial,
/// so one tick must not void it. The watch sees every stall that matters at this load.
const STEAL_MAX: f64 = 0.075;

/// The result of the gate.
#[derive(Clone, Debug)]
pub struct Gated {
    /// Whether the DUT is stable.
    pub stability: Stability,
    /// The trials, with their verdicts.
    pub trials: Vec<(Trial, Verdict)>,
}

impl Gated {
    /// The load of the trials that count, if none of them lost a frame.
    #[must_use]
    pub fn passed(&self) -> Option<Rate> {
        let counts = self
            .trials
            .iter()
            .filter(|(_, verdict)| !matches!(verdict, Verdict::Void(_)));
        let passed = counts.map(|(trial, verdict)| match verdict {
            Verdict::Lossless => Some(trial.sent_rate()?.fps()),
            _ => None,
        });
        let rates: Option<Vec<f64>> = passed.collect();
        rates?.into_iter().reduce(f64::min).map(Rate::from_fps)
    }
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
    observed: &mut Trials<'_>,
) -> Result<Gated, JobError> {
    let mut gate = Gate::below(highest);
    let mut trials = Vec::new();
    while let Some(offer) = gate.next() {
        let trial = measurer.trial(&offer)?;
        let rules = rules(measurer, &offer);
        let Judged { trial, verdict, .. } =
            observed.judged(Phase::Gate, measurer.frames(), offer, &rules, trial)?;
        gate.learn(&trial, &verdict);
        trials.push((trial, verdict));
    }
    Ok(Gated {
        stability: gate.stability(),
        trials,
    })
}
