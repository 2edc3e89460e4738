//! Set-ups that take turns: a bed of its own for each, all standing at once, in one record.

use super::begin;
use super::destinations::{self, Prepared};
use super::measure;
use crate::args::OutputArgs;
use crate::exit::Exit;
use crate::plan::DestinationPlan;
use crate::record::{Job, run_line, sent};
use crate::recorder::Recorder;
use crate::terminal;
use crate::terminal::plan as words;
use anyhow::{Context, Result};
use mpps_lab::bed::{Bed, BedPlan};
use mpps_lab::facts;
use mpps_lab::jobs::compare::Variant;
use mpps_lab::tester::{ReceiverPlace, planned_place};
use mpps_lab::traffic::Traffic;
use serde_json::{Value, json};

/// One of them.
pub struct SetUp<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its own flags as typed.
    pub flags: &'a [String],
    /// Its bed.
    pub bed: BedPlan,
    /// What is sent to it.
    pub traffic: &'a Traffic,
    /// Routes to load into it, and destinations to draw from them.
    pub destinations: Option<&'a DestinationPlan>,
}

/// Raises a bed for each set-up, runs the job on all of them, shows its result and lowers them. The first set-up is that of
/// the record's first line. With `--dry-run` it prints the plan.
pub fn in_turns(
    set_ups: &[SetUp<'_>],
    prepared: &[Option<Prepared>],
    job: &Job<'_>,
    output: &OutputArgs,
    run: impl FnOnce(&[Variant<'_>], &mut Recorder) -> Result<()>,
) -> Result<Exit> {
    if output.dry_run {
        return dry_run(set_ups, job, output);
    }
    let (begun, mut recorder) = begin::begin(output)?;
    recorder.step(&format!("record: {}", recorder.record().path().display()));
    let beds = raise(set_ups, &recorder)?;
    let first = load(prepared, &beds, output.quiet, &mut recorder);
    let shown = first.and_then(|routes| {
        let line = run_line(begun, job, &beds[0], &facts::gather(), routes);
        let written = recorder.write(line);
        let ended = written.and_then(|()| run(&variants(set_ups, &beds), &mut recorder));
        let ended = count_back(prepared, &beds, &recorder, ended);
        measure::finish(output, None, &mut recorder, ended.err().as_ref())
    });
    measure::leave(beds, true, shown, recorder.record().path())
}

/// Raises a bed for each set-up.
pub(super) fn raise(set_ups: &[SetUp<'_>], recorder: &Recorder) -> Result<Vec<Bed>> {
    let beds = set_ups.iter().map(|SetUp { name, bed, .. }| {
        let bed = Bed::raise(bed).with_context(|| (*name).to_owned())?;
        let line = bed.plan().dut.planned().line(bed.plan());
        recorder.step(&format!("bed: {}, {name}: {line}", bed.name()));
        Ok(bed)
    });
    beds.collect()
}

/// The set-ups on beds that stand.
pub(super) fn variants<'bed>(set_ups: &[SetUp<'_>], beds: &'bed [Bed]) -> Vec<Variant<'bed>> {
    let variants = set_ups.iter().zip(beds);
    let variants = variants.map(|(set_up, bed)| Variant {
        name: set_up.name.to_owned(),
        bed,
        traffic: set_up.traffic.clone(),
    });
    variants.collect()
}

/// Compares the FIB of each bed with its routes; what ended the run before comes first.
pub(super) fn count_back(
    prepared: &[Option<Prepared>],
    beds: &[Bed],
    recorder: &Recorder,
    ended: Result<()>,
) -> Result<()> {
    (prepared.iter().zip(beds)).fold(ended, |ended, (prepared, bed)| {
        let counted = destinations::count_back(prepared.as_ref(), bed, recorder);
        measure::first_of(ended, counted)
    })
}

/// Loads routes into each bed; gives those of the first one.
pub(super) fn load(
    prepared: &[Option<Prepared>],
    beds: &[Bed],
    quiet: bool,
    recorder: &mut Recorder,
) -> Result<Option<mpps_record::Routes>> {
    let mut routes = Vec::new();
    for (prepared, bed) in prepared.iter().zip(beds) {
        let load = |prepared| destinations::load(prepared, bed, recorder, quiet);
        routes.push(prepared.as_ref().map(load).transpose()?);
    }
    Ok(routes.into_iter().next().flatten())
}

/// Where all would receive: at the port where one does. `None`: a set-up script decides.
fn receiver(set_ups: &[SetUp<'_>], job: &Job<'_>) -> Option<ReceiverPlace> {
    let places = set_ups
        .iter()
        .map(|one| planned_place(&one.bed, one.traffic));
    let of_both = |one: Option<ReceiverPlace>, other| match one {
        Some(ReceiverPlace::Port) => one,
        _ if other == Some(ReceiverPlace::Port) => other,
        _ => one.and(other),
    };
    job.receiver.or_else(|| places.reduce(of_both).flatten())
}

/// Prints what would be measured.
fn dry_run(set_ups: &[SetUp<'_>], job: &Job<'_>, output: &OutputArgs) -> Result<Exit> {
    begin::check_folder("--record", output.record.as_deref())?;
    if output.json {
        let variants = set_ups.iter().map(|set_up| {
            let SetUp {
                name, flags, bed, ..
            } = set_up;
            json!({ "name": name, "flags": flags, "bed": words::bed_json(bed) })
        });
        terminal::out(&terminal::document(json!({
            "dry_run": true,
            "job": job.name,
            "receiver": receiver(set_ups, job).map(ReceiverPlace::name),
            "variants": variants.collect::<Value>(),
            "plan": serde_json::to_value(&job.plan)?,
        })));
        return Ok(Exit::Measured);
    }
    let mut text = words::receiver(receiver(set_ups, job)) + &words::how(job);
    for set_up in set_ups {
        text += &format!(
            "\nvariant      {}\n{}",
            set_up.name,
            words::bed(&set_up.bed)
        );
        let frames = std::slice::from_ref(&set_up.traffic.frames);
        text += &words::sent(&sent(frames, set_up.traffic));
        text += &words::destinations(set_up.destinations);
    }
    terminal::out(&terminal::fitted(&text));
    Ok(Exit::Measured)
}
