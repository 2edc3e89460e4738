//! `mpps trial`: plan, bed, record, offer, show, lower.

use super::measure::{self, Head, Outcome};
use super::{begin, destinations};
use crate::args::TrialArgs;
use crate::exit::Exit;
use crate::plan::TrialPlan;
use crate::record::{Job, run_line, trial_line};
use crate::terminal;
use anyhow::{Error, Result};
use mpps_lab::facts::Facts;
use mpps_lab::jobs::Phase;
use mpps_lab::jobs::fixed_load::{self, Offered, Tried};
use mpps_method::{Rate, Verdict};
use mpps_record::Comparability;
use serde::Serialize;
use serde_json::{Value, json};

/// Runs the verb.
///
/// # Errors
/// One line that names the remedy; the bed is lowered by then.
pub fn run(args: &TrialArgs) -> Result<Exit> {
    let mut plan = TrialPlan::new(args)?;
    let quiet = args.output.quiet;
    let prepared =
        destinations::prepare(plan.destinations.as_ref(), &mut plan.offer.traffic, quiet)?;
    if args.output.dry_run {
        let offered = terminal::fixed_load_plan(&plan.offer, plan.destinations.as_ref());
        let words = terminal::plan::receiver(plan.offer.receiver) + &offered;
        let job = Job::Trial(&plan.offer);
        return begin::dry_run(&args.output, &plan.bed, job, &[], &words);
    }
    measure::on_bed(&args.output, &plan.bed, |stage| {
        let (bed, recorder) = (&stage.bed, &mut stage.recorder);
        let offer = plan.offer.on_bed(bed)?;
        let load = |routes| destinations::load(routes, bed, recorder, quiet);
        let routes = prepared.as_ref().map(load).transpose()?;
        let job = Job::Trial(&offer);
        let line = run_line(stage.begun, job, bed, &Facts::gather(), routes)?;
        let (found, error) = match recorder.record.write(&line) {
            Ok(()) => {
                let measured = fixed_load::measure(bed, &offer, recorder);
                (measured.offered, measured.error.map(Error::from))
            }
            Err(error) => (Vec::new(), Some(error)),
        };
        stage.not_cleared = destinations::clear(prepared.as_ref(), bed, &plan.bed).err();
        Ok(Measured {
            found,
            error,
            comparability: line.comparability.clone(),
            as_json: args.output.json,
        })
    })
}

/// What came of the loads.
struct Measured {
    found: Vec<Offered>,
    error: Option<Error>,
    comparability: Comparability,
    as_json: bool,
}

impl Outcome for Measured {
    fn error(&self) -> Option<&Error> {
        self.error.as_ref()
    }

    fn exit(&self) -> Exit {
        self.found
            .iter()
            .map(exit)
            .fold(Exit::Measured, Exit::worse)
    }

    fn show(&self, head: Head<'_>) -> Result<()> {
        if self.as_json {
            let document = Document {
                head,
                comparability: &self.comparability,
                results: self.found.iter().map(result).collect(),
            };
            terminal::out(&measure::json(&document)?);
        } else if !self.found.is_empty() {
            let record = head.record();
            let text = format!("{}\nrecord: {record}\n", terminal::fixed_load(&self.found));
            terminal::out(&terminal::fitted(&text));
        }
        Ok(())
    }
}

/// Of one load: that of its best trial.
fn exit(offered: &Offered) -> Exit {
    let of = |tried: &Tried| match tried.verdict {
        Verdict::Lossless | Verdict::Lossy { .. } => Exit::Measured,
        Verdict::Void(_) | Verdict::NotOffered(_) => Exit::Disturbed,
        Verdict::Invalid(_) => Exit::Failed,
    };
    let best = offered.trials.iter().map(of).min();
    best.unwrap_or(Exit::Failed)
}

/// The result as one JSON object.
#[derive(Serialize)]
struct Document<'a> {
    #[serde(flatten)]
    head: Head<'a>,
    comparability: &'a Comparability,
    results: Vec<Value>,
}

/// One load for one frame size: each trial as its record has it, and what follows from that.
fn result(offered: &Offered) -> Value {
    let entry = |tried: &Tried, phase: Phase| {
        json!({
            "text": terminal::in_words(offered, tried),
            "disturbed_tries": tried.disturbed,
            "forwarding_fps": tried.trial.forwarding_rate().map(Rate::fps),
            "busiest_share": tried.trial.busiest_share(),
            "ns_per_frame": tried.trial.ns_per_frame(),
            "trial": trial_line(tried.number, &tried.report(&offered.frames, phase)),
        })
    };
    let trials = offered
        .trials
        .iter()
        .map(|tried| entry(tried, Phase::Fixed));
    json!({
        "load": offered.load.to_string(),
        "receiver": offered.receiver.name(),
        "trials": trials.collect::<Vec<_>>(),
        "wire": offered.wire.as_ref().map(|wire| entry(wire, Phase::Wire)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use mpps_lab::jobs::fixed_load::Load;
    use mpps_lab::tester::ReceiverPlace;
    use mpps_method::{FrameSpec, Invalid, Shortfall, Trial, Void};

    #[test]
    fn the_exit_code_says_whether_a_trial_counts() {
        let tried = |verdict| Tried {
            number: 1,
            trial: Trial::default(),
            verdict,
            disturbed: 0,
        };
        let of = |verdicts: &[Verdict]| {
            exit(&Offered {
                frames: FrameSpec::parse_list("64").expect("a size").remove(0),
                load: Load::Max,
                receiver: ReceiverPlace::Port,
                trials: verdicts.iter().copied().map(tried).collect(),
                wire: None,
            })
        };
        let void = Verdict::Void(Void::Steal {
            cpu: 0,
            share: 0.1,
            bound: 0.02,
        });
        let short = Verdict::NotOffered(Shortfall::LostBeforeNic(3));
        let invalid = Verdict::Invalid(Invalid::NothingSent);
        let lossy = Verdict::Lossy { lost: 1 };
        assert_eq!(of(&[Verdict::Lossless]).code(), 0);
        assert_eq!(of(&[void, lossy, invalid]).code(), 0, "one is enough");
        assert_eq!(of(&[void, short, invalid]).code(), 4);
        assert_eq!(of(&[invalid]).code(), 2);
    }
}
