//! `mpps compare`: set-ups that take turns, each on a bed of its own.

use super::contract::{CellPlan, ended};
use super::destinations::{self, Prepared};
use super::in_turns::{SetUp, in_turns};
use super::{compare_builds, compare_records};
use crate::args::CompareArgs;
use crate::campaign::CellBed;
use crate::exit::Exit;
use crate::plan::{BedChoice, ComparePlan};
use crate::record::Job;
use crate::recorder::Recorder;
use anyhow::{Context, Result};
use mpps_lab::bed::BedPlan;
use mpps_lab::jobs::compare::{self, Variant};
use mpps_lab::jobs::{Observer, ResultObserver};
use std::ffi::OsString;

/// Runs the verb.
///
/// # Errors
/// One line that names the remedy; the beds are lowered by then.
pub fn run(args: &CompareArgs) -> Result<Exit> {
    if !args.finished.records.is_empty() {
        return compare_records::run(&args.finished, args.run.output.json);
    }
    let typed: Vec<OsString> = std::env::args_os().skip(1).collect();
    let mut plan = ComparePlan::new(args, &typed)?;
    let output = &args.run.output;
    compare_builds::check(&plan)?;
    if plan.variants[0].binary.is_some() && !output.dry_run {
        return compare_builds::run(&plan, output);
    }
    let prepared = prepare(&mut plan, output.quiet)?;
    let set_ups = set_ups(&plan, &plan.on_this_machine()?);
    let how = &plan.how;
    let job = Job::compare(&plan.variants[0].traffic, how);
    in_turns(&set_ups, &prepared, &job, output, |variants, recorder| {
        compare(&plan, variants, recorder)
    })
}

/// What a cell of a campaign does with these flags.
pub fn cell(args: &CompareArgs, typed: &[OsString]) -> Result<CellPlan> {
    let ComparePlan { how, variants, .. } = ComparePlan::new(args, typed)?;
    let on = variants.into_iter().map(|variant| CellBed {
        bed: BedChoice::Own(variant.bed),
        dut_cpus: None,
        sizes: vec![variant.traffic.frames.clone()],
        traffic: variant.traffic,
        receiver: how.receiver,
        routes: variant.destinations,
    });
    Ok((on.collect(), args.budget))
}

/// Reads the routes of all variants and draws their destinations; touches nothing.
pub(super) fn prepare(plan: &mut ComparePlan, quiet: bool) -> Result<Vec<Option<Prepared>>> {
    let set_ups = plan.variants.iter_mut();
    let set_ups = set_ups.map(|variant| (variant.destinations.as_ref(), &mut variant.traffic));
    destinations::prepare_alike(set_ups, quiet)
}

/// The variants with their beds on this machine.
pub(super) fn set_ups<'a>(plan: &'a ComparePlan, beds: &[BedPlan]) -> Vec<SetUp<'a>> {
    let set_ups = plan.variants.iter().zip(beds);
    let set_ups = set_ups.map(|(variant, bed)| SetUp {
        name: &variant.name,
        flags: &variant.flags,
        bed: bed.clone(),
        traffic: &variant.traffic,
        destinations: variant.destinations.as_ref(),
    });
    set_ups.collect()
}

/// On beds that stand.
fn compare(plan: &ComparePlan, variants: &[Variant<'_>], recorder: &mut Recorder) -> Result<()> {
    recorder.size_begins(Some(plan.how.budget));
    let outcome = compare::measure(variants, &plan.how, recorder)?;
    let written = recorder.result(&plan.line_of(&outcome));
    ended(outcome.error).and(written.with_context(|| recorder.record().not_written()))
}
