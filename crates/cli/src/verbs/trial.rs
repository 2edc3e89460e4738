//! `mpps trial`: plan, bed, record, offer, show, lower.

use super::begin::{self, Stage};
use super::destinations;
use super::end::{self, Head};
use crate::args::TrialArgs;
use crate::exit::Exit;
use crate::plan::TrialPlan;
use crate::record::{Job, run_line, trial_line};
use crate::recorder::Recorder;
use crate::terminal;
use anyhow::{Error, Result};
use mpps_lab::facts::Facts;
use mpps_lab::jobs::Phase;
use mpps_lab::jobs::fixed_load::{self, Offered, Tried};
use mpps_lab::tester::PortKind;
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
    let prepare = |wanted| destinations::prepare(wanted, &plan.offer.traffic, quiet);
    let prepared = plan.destinations.as_ref().map(prepare).transpose()?;
    plan.offer.traffic.destinations = prepared.as_ref().map(|routes| routes.destinations.clone());
    if args.output.dry_run {
        let offered = terminal::fixed_load_plan(&plan.offer, plan.destinations.as_ref());
        let words = terminal::plan::receiver(plan.offer.receiver) + &offered;
        let job = Job::Trial(&plan.offer);
        return begin::dry_run(&args.output, &plan.bed, job, &[], &words);
    }
    let Stage {
        begun,
        bed,
        mut recorder,
        // Held to the end: one run at a time.
        beside: _beside,
    } = Stage::set(&args.output, &plan.bed)?;
    if args.ports.port.is_none() && bed.plan().is_external() {
        plan.offer.traffic.port = PortKind::for_ports_of(&bed, &plan.offer.sizes)?;
    }
    let load = |routes| destinations::load(routes, &bed, &mut recorder, quiet);
    let routes = prepared.as_ref().map(load).transpose()?;
    let job = Job::Trial(&plan.offer);
    let line = run_line(begun, job, &bed, &Facts::gather(), routes)?;
    let mut found = Vec::new();
    let written = recorder.record.write(&line);
    let measured = written.and_then(|()| {
        fixed_load::measure(&bed, &plan.offer, &mut recorder, &mut found).map_err(Error::from)
    });
    let cleared = destinations::clear(prepared.as_ref(), &bed, &plan.bed);
    let error = measured.err();
    let record = recorder.record.path().to_owned();
    let shown = show(
        args.output.json,
        &found,
        &line.comparability,
        error,
        recorder,
    );
    begin::leave(bed, &plan.bed, &shown, &record)?;
    cleared.and(shown)
}

fn show(
    as_json: bool,
    found: &[Offered],
    comparability: &Comparability,
    error: Option<Error>,
    recorder: Recorder,
) -> Result<Exit> {
    let ended = error.as_ref().map(super::exit_of);
    let exits = found.iter().map(exit).chain(ended);
    let (exit, error) = (exits.fold(Exit::Measured, Exit::worse), error.as_ref());
    end::finish(recorder, exit, error, |recorder| {
        if as_json {
            let document = Document {
                head: Head::of(recorder, exit, error),
                comparability,
                results: found.iter().map(result).collect(),
            };
            terminal::out(&end::json(&document)?);
        } else if !found.is_empty() {
            let record = recorder.record.path().display();
            let text = format!("{}\nrecord: {record}\n", terminal::fixed_load(found));
            terminal::out(&terminal::fitted(&text));
        }
        Ok(())
    })
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
