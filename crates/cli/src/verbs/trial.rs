//! `mpps trial`: plan, bed, record, offer, show, lower.

use super::begin::{self, Stage};
use super::destinations;
use super::end::{self, Head};
use crate::args::TrialArgs;
use crate::exit::Exit;
use crate::plan::TrialPlan;
use crate::record::{Comparability, Job, RunLine, TrialLine};
use crate::recorder::Recorder;
use crate::terminal;
use anyhow::{Error, Result};
use mpps_lab::facts::Facts;
use mpps_lab::jobs::fixed_load::{self, Offered, Tried};
use mpps_lab::jobs::{Phase, Report};
use mpps_lab::tester::PortKind;
use mpps_method::{Offer, Verdict};
use serde::Serialize;

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
        let routes = terminal::plan::destinations(plan.destinations.as_ref());
        let words = terminal::fixed_load_plan(&plan.offer) + &routes;
        let job = Job::Trial(&plan.offer);
        return begin::dry_run(&args.output, &plan.bed, job, &[], &words);
    }
    let Stage {
        begun,
        bed,
        mut recorder,
    } = Stage::set(&args.output, &plan.bed)?;
    if args.ports.port.is_none() && bed.plan().is_external() {
        plan.offer.traffic.port = PortKind::for_ports_of(&bed, &plan.offer.sizes)?;
    }
    let load = |routes| destinations::load(routes, &bed, &mut recorder, quiet);
    let routes = prepared.as_ref().map(load).transpose()?;
    let job = Job::Trial(&plan.offer);
    let line = RunLine::of(begun, job, &bed, &Facts::gather()).with_routes(routes);
    let mut found = Vec::new();
    let written = recorder.record.write("run", &line);
    let measured = written.and_then(|()| {
        fixed_load::measure(&bed, &plan.offer, &mut recorder, &mut found).map_err(Error::from)
    });
    let cleared = destinations::clear(prepared.as_ref(), &bed, &plan.bed);
    let error = measured.err();
    let shown = show(
        args.output.json,
        &found,
        line.comparability(),
        error,
        recorder,
    );
    begin::leave(bed, &plan.bed)?;
    cleared.and(shown)
}

fn show(
    as_json: bool,
    found: &[Offered],
    comparability: &Comparability,
    error: Option<Error>,
    recorder: Recorder,
) -> Result<Exit> {
    let ended = error.as_ref().map(|_| Exit::CouldNotMeasure);
    let exits = found.iter().map(exit).chain(ended);
    let (exit, error) = (exits.fold(Exit::Measured, Exit::worse), error.as_ref());
    end::finish(recorder, exit, error, |recorder| {
        if as_json {
            let document = Document {
                head: Head::of(recorder, exit, error),
                comparability,
                results: found.iter().map(LoadEntry::new).collect(),
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

/// Of one load: measured when any of its trials counts.
fn exit(offered: &Offered) -> Exit {
    let counts = |tried: &Tried| matches!(tried.verdict, Verdict::Lossless | Verdict::Lossy { .. });
    let invalid = |tried: &Tried| matches!(tried.verdict, Verdict::Invalid(_));
    if offered.trials.iter().any(counts) {
        Exit::Measured
    } else if offered.trials.iter().any(invalid) {
        Exit::CouldNotMeasure
    } else {
        Exit::Disturbed
    }
}

/// The result as one JSON object.
#[derive(Serialize)]
struct Document<'a> {
    #[serde(flatten)]
    head: Head<'a>,
    comparability: &'a Comparability,
    results: Vec<LoadEntry>,
}

/// One load for one frame size.
#[derive(Serialize)]
struct LoadEntry {
    /// In words; `max` is all that the tester could offer.
    load: String,
    receiver: &'static str,
    trials: Vec<TrialEntry>,
    /// Through a wire in place of the router; null before a device of somebody else's.
    wire: Option<TrialLine>,
}

/// A trial as its record has it, and what follows from it.
#[derive(Serialize)]
struct TrialEntry {
    text: String,
    /// Disturbed tries before it.
    disturbed_tries: u32,
    forwarding_fps: Option<f64>,
    busiest_share: Option<f64>,
    ns_per_frame: Option<f64>,
    /// What of that the wire cost too; the rest is the router's.
    bed_ns_per_frame: Option<f64>,
    #[serde(flatten)]
    trial: TrialLine,
}

impl LoadEntry {
    fn new(offered: &Offered) -> Self {
        let entry = |tried: &Tried| TrialEntry {
            text: terminal::in_words(offered, tried),
            disturbed_tries: tried.disturbed,
            forwarding_fps: tried.trial.forwarding_rate().map(|rate| rate.fps()),
            busiest_share: tried.trial.busiest_share(),
            ns_per_frame: tried.trial.ns_per_frame(),
            bed_ns_per_frame: (offered.wire.as_ref()).and_then(|wire| wire.trial.ns_per_frame()),
            trial: line(offered, tried, Phase::Fixed),
        };
        let wire = offered.wire.as_ref();
        Self {
            load: offered.load.to_string(),
            receiver: offered.receiver.name(),
            trials: offered.trials.iter().map(entry).collect(),
            wire: wire.map(|wire| line(offered, wire, Phase::Wire)),
        }
    }
}

fn line(offered: &Offered, tried: &Tried, phase: Phase) -> TrialLine {
    let report = Report {
        frames: &offered.frames,
        phase,
        offer: Offer {
            rate: tried.trial.offered,
            duration: tried.trial.duration,
        },
        trial: &tried.trial,
        verdict: &tried.verdict,
    };
    TrialLine::of(tried.number, &report)
}

#[cfg(test)]
mod tests {
    use super::*;
    use mpps_lab::jobs::fixed_load::Load;
    use mpps_lab::tester::ReceiverPlace;
    use mpps_method::{FrameSpec, Invalid, Shortfall, Span, Trial, Void};

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
        let (cpu, span) = (0, Span::from_millis(3));
        let void = Verdict::Void(Void::Stall {
            cpu,
            longest: span,
            bound: span,
        });
        let short = Verdict::NotOffered(Shortfall::LostBeforeNic(3));
        let invalid = Verdict::Invalid(Invalid::NothingSent);
        let lossy = Verdict::Lossy { lost: 1 };
        assert_eq!(of(&[Verdict::Lossless]).code(), 0);
        assert_eq!(of(&[void, lossy, invalid]).code(), 0, "one is enough");
        assert_eq!(of(&[void, short]).code(), 4);
        assert_eq!(of(&[void, invalid]).code(), 2);
    }
}
