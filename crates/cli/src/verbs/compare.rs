//! `mpps compare`: set-ups that take turns, each on a bed of its own.

use super::begin;
use super::contract::Asked;
use super::destinations::{self, Prepared};
use super::{compare_builds, compare_records, measure};
use crate::args::{CompareArgs, OutputArgs};
use crate::exit::Exit;
use crate::outcome;
use crate::plan::{BedChoice, ComparePlan};
use crate::record::{Clock, Job, comparison_line, run_line};
use crate::recorder::Recorder;
use crate::terminal;
use crate::terminal::plan as words;
use anyhow::{Context, Result};
use mpps_lab::bed::{Bed, BedPlan};
use mpps_lab::facts;
use mpps_lab::jobs::compare::{self, Outcome, Variant};
use mpps_lab::jobs::{Observer, ResultObserver};
use mpps_record::SCHEMA;
use serde_json::{Value, json};
use std::ffi::OsString;

/// Runs the verb.
///
/// # Errors
/// One line that names the remedy; the beds are lowered by then.
pub fn run(args: &CompareArgs) -> Result<Exit> {
    if !args.finished.records.is_empty() {
        return compare_records::run(&args.finished, args.output.json);
    }
    let typed: Vec<OsString> = std::env::args_os().skip(1).collect();
    let mut plan = ComparePlan::new(args, &typed)?;
    let output = &args.output;
    compare_builds::check(&plan)?;
    if plan.variants[0].binary.is_some() && !output.dry_run {
        return compare_builds::run(&plan, output);
    }
    let set_ups = plan.variants.iter_mut();
    let set_ups = set_ups.map(|variant| (variant.destinations.as_ref(), &mut variant.traffic));
    let prepared = destinations::prepare_alike(set_ups, output.quiet)?;
    let beds = plan.variants.iter().map(|variant| {
        let bed = variant.bed.on_this_machine();
        bed.with_context(|| variant.name.clone())
    });
    let beds: Vec<BedPlan> = beds.collect::<Result<_>>()?;
    if output.dry_run {
        return dry_run(&plan, &beds, output);
    }
    let (begun, mut recorder) = begin::begin(output)?;
    recorder.step(&format!("record: {}", recorder.record().path().display()));
    let mut raised = Vec::new();
    for (variant, bed) in plan.variants.iter().zip(&beds) {
        let bed = Bed::raise(bed).with_context(|| variant.name.clone())?;
        let line = bed.plan().dut.planned().line(bed.plan());
        recorder.step(&format!("bed: {}, {}: {line}", bed.name(), variant.name));
        raised.push(bed);
    }
    let shown = on_beds(&plan, begun, &raised, &prepared, output, &mut recorder);
    measure::leave(raised, true, shown, recorder.record().path())
}

/// On beds that stand.
fn on_beds(
    plan: &ComparePlan,
    begun: Clock,
    beds: &[Bed],
    prepared: &[Option<Prepared>],
    output: &OutputArgs,
    recorder: &mut Recorder,
) -> Result<Exit> {
    let mut routes = Vec::new();
    for (prepared, bed) in prepared.iter().zip(beds) {
        let load = |prepared| destinations::load(prepared, bed, recorder, output.quiet);
        routes.push(prepared.as_ref().map(load).transpose()?);
    }
    let first = &plan.variants[0];
    let job = Job::compare(&first.traffic, &plan.how);
    let line = run_line(
        begun,
        &job,
        &beds[0],
        &facts::gather(),
        routes.swap_remove(0),
    );
    let written = recorder.write(line);
    let mut ended = written.and_then(|()| in_turns(plan, beds, recorder));
    for (prepared, bed) in prepared.iter().zip(beds) {
        let counted = destinations::count_back(prepared.as_ref(), bed, recorder);
        ended = measure::first_of(ended, counted);
    }
    let asked = Asked::new(output, BedChoice::Own(first.bed.clone()), None);
    measure::finish(&asked, recorder, ended.err().as_ref())
}

fn in_turns(plan: &ComparePlan, beds: &[Bed], recorder: &mut Recorder) -> Result<()> {
    let variants = plan
        .variants
        .iter()
        .zip(beds)
        .map(|(variant, bed)| Variant {
            name: variant.name.clone(),
            bed,
            traffic: variant.traffic.clone(),
        });
    let variants: Vec<Variant<'_>> = variants.collect();
    let mut results =
        recorder.with(|outcome: &Outcome, _| vec![comparison_line(outcome, plan, beds)]);
    results.size_begins(Some(plan.how.budget));
    let outcome = compare::measure(&variants, &plan.how, &mut results)?;
    let written = results.result(&outcome);
    outcome
        .error
        .map_or(Ok(()), |error| Err(error.into()))
        .and(written.with_context(|| recorder.record().not_written()))
}

/// Prints what would be compared.
fn dry_run(plan: &ComparePlan, beds: &[BedPlan], output: &OutputArgs) -> Result<Exit> {
    begin::check_folder("--record", output.record.as_deref())?;
    let job = Job::compare(&plan.variants[0].traffic, &plan.how);
    let planned = plan.variants.iter().zip(beds);
    if output.json {
        let variants = planned.map(|(variant, bed)| {
            let (name, flags) = (&variant.name, &variant.flags);
            json!({ "name": name, "flags": flags, "bed": words::bed_json(bed) })
        });
        terminal::out(&outcome::json(&json!({
            "schema": SCHEMA,
            "dry_run": true,
            "job": job.name,
            "variants": variants.collect::<Value>(),
            "plan": serde_json::to_value(&job.plan)?,
        }))?);
        return Ok(Exit::Measured);
    }
    let how = &plan.how;
    let mut text = words::receiver(how.receiver)
        + &format!("compared     {}\nbudget       {}\n", job.rule, how.budget);
    for (variant, bed) in planned {
        text += &format!("\nvariant      {}\n{}", variant.name, words::bed(bed));
        text += &words::traffic(
            &variant.traffic,
            std::slice::from_ref(&variant.traffic.frames),
        );
        text += &words::destinations(variant.destinations.as_ref());
    }
    terminal::out(&terminal::fitted(&text));
    Ok(Exit::Measured)
}
