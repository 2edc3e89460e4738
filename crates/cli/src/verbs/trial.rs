//! `mpps trial`: plan, bed, record, offer, show, lower.

use super::measure::{self, Head, Outcome, View};
use super::{begin, destinations};
use crate::args::TrialArgs;
use crate::exit::Exit;
use crate::plan::TrialPlan;
use crate::record::{Job, load_line, run_line, trial_line};
use crate::terminal;
use anyhow::{Error, Result};
use mpps_lab::facts;
use mpps_lab::jobs::Phase;
use mpps_lab::jobs::fixed_load::{self, Offered, Tried};
use mpps_record::{Comparability, LoadLine, LoadTrial, RunLine, TrialLine, Verdict};
use serde::Serialize;
use serde_json::Value;

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
        let run = run_line(stage.begun, job, bed, &facts::gather(), routes);
        let (found, mut error) = match recorder.record.write(&run) {
            Ok(()) => {
                let measured = fixed_load::measure(bed, &offer, recorder);
                (measured.offered, measured.error.map(Error::from))
            }
            Err(error) => (Vec::new(), Some(error)),
        };
        let loads: Vec<LoadLine> = found.iter().map(load_line).collect();
        let written = loads
            .iter()
            .try_for_each(|load| recorder.record.write(load));
        error = error.or(written.err());
        stage.not_cleared = destinations::clear(prepared.as_ref(), bed, &plan.bed).err();
        Ok(Measured {
            args,
            trials: found.iter().flat_map(trial_lines).collect(),
            loads,
            run,
            error,
        })
    })
}

/// The trials of one load that count, as the record has them.
fn trial_lines(offered: &Offered) -> Vec<TrialLine> {
    let fixed = offered.trials.iter().map(|tried| (tried, Phase::Fixed));
    let wire = offered.wire.iter().map(|tried| (tried, Phase::Wire));
    let line = |(tried, phase): (&Tried, Phase)| {
        trial_line(tried.number, &tried.report(&offered.frames, phase))
    };
    fixed.chain(wire).map(line).collect()
}

/// What came of the loads.
struct Measured<'a> {
    args: &'a TrialArgs,
    run: RunLine,
    loads: Vec<LoadLine>,
    trials: Vec<TrialLine>,
    error: Option<Error>,
}

impl Outcome for Measured<'_> {
    fn error(&self) -> Option<&Error> {
        self.error.as_ref()
    }

    fn exit(&self) -> Exit {
        let exits = self.loads.iter().map(|load| exit(load, &self.trials));
        exits.fold(Exit::Measured, Exit::worse)
    }

    fn show(&self, head: Head<'_>) -> Result<()> {
        let view = View::new(head, &self.args.output);
        show(view, Some(&self.run), &self.loads, &self.trials)
    }
}

/// Of one load: that of its best trial.
fn exit(load: &LoadLine, trials: &[TrialLine]) -> Exit {
    let exit = |found: &LoadTrial| match line(found, trials).map(|line| &line.verdict) {
        Some(Verdict::Lossless | Verdict::Lossy) => Exit::Measured,
        Some(Verdict::Void | Verdict::NotOffered) => Exit::Disturbed,
        _ => Exit::Failed,
    };
    let best = load.trials.iter().map(exit).min();
    best.unwrap_or(Exit::Failed)
}

fn line<'a>(found: &LoadTrial, trials: &'a [TrialLine]) -> Option<&'a TrialLine> {
    trials.iter().find(|line| line.trial == found.trial)
}

/// Puts loads on stdout.
///
/// # Errors
/// The result could not be written.
pub fn show(
    view: View<'_>,
    run: Option<&RunLine>,
    loads: &[LoadLine],
    trials: &[TrialLine],
) -> Result<()> {
    if view.json {
        let results = loads.iter().map(|load| result(load, trials));
        terminal::out(&measure::json(&Document {
            head: view.head,
            comparability: run.map(|run| &run.comparability),
            results: results.collect::<Result<_>>()?,
        })?);
    } else if !loads.is_empty() {
        let text = terminal::fixed_load(loads, trials);
        let text = format!("{text}\nrecord: {}\n", view.head.record);
        terminal::out(&terminal::fitted(&text));
    }
    Ok(())
}

/// The result as one JSON object.
#[derive(Serialize)]
struct Document<'a> {
    #[serde(flatten)]
    head: Head<'a>,
    comparability: Option<&'a Comparability>,
    results: Vec<Value>,
}

/// One load as its record has it, with the whole line of each trial in place of its number.
fn result(load: &LoadLine, trials: &[TrialLine]) -> Result<Value> {
    let entry = |found: &LoadTrial| -> Result<Value> {
        let mut entry = serde_json::to_value(found)?;
        if let Some(line) = line(found, trials) {
            entry["text"] = terminal::in_words(load, found, line).into();
            entry["trial"] = serde_json::to_value(line)?;
        }
        Ok(entry)
    };
    let mut result = serde_json::to_value(load)?;
    result["trials"] = load.trials.iter().map(entry).collect::<Result<_>>()?;
    result["wire"] = load.wire.as_ref().map(entry).transpose()?.into();
    Ok(result)
}

#[cfg(test)]
mod tests {
    use super::*;
    use mpps_lab::jobs::fixed_load::Load;
    use mpps_lab::tester::ReceiverPlace;
    use mpps_method::{FrameSpec, Invalid, Shortfall, Trial, Verdict, Void};

    #[test]
    fn the_exit_code_says_whether_a_trial_counts() {
        let tried = |verdict| Tried {
            number: 1,
            trial: Trial::default(),
            verdict,
            disturbed: 0,
        };
        let of = |verdicts: &[Verdict]| {
            let offered = Offered {
                frames: FrameSpec::parse_list("64").expect("a size").remove(0),
                load: Load::Max,
                receiver: ReceiverPlace::Port,
                trials: (1..)
                    .zip(verdicts)
                    .map(|(number, &verdict)| Tried {
                        number,
                        ..tried(verdict)
                    })
                    .collect(),
                wire: None,
            };
            exit(&load_line(&offered), &trial_lines(&offered))
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
