//! `mpps explain`: where the time of a frame goes.

use super::begin::open_record;
use super::contract::{Asked, Measure, Place, ended};
use super::destinations;
use super::in_turns::{SetUp, in_turns};
use super::measure::{finish, measure};
use crate::args::{ExplainArgs, OutputArgs};
use crate::exit::Exit;
use crate::host::Interrupted;
use crate::plan::{self, AgainstPlan};
use crate::record::{Job, host_run_line, profile_line, watched_line};
use crate::recorder::Recorder;
use crate::terminal::plan as words;
use anyhow::{Context, Result, bail, ensure};
use mpps_lab::bed::Bed;
use mpps_lab::interrupt;
use mpps_lab::jobs::compare::Variant;
use mpps_lab::jobs::explain::against::Side;
use mpps_lab::jobs::explain::{self, ExplainPlan, SizeProfile};
use mpps_lab::observe::{CpuSet, Observer};
use mpps_lab::traffic::Traffic;
use mpps_method::Span;
use std::ffi::OsString;

/// Runs the verb.
///
/// # Errors
/// One line that names the remedy; the bed is lowered by then.
pub fn run(args: &ExplainArgs) -> Result<Exit> {
    if let Some(cpus) = &args.cpus {
        return watch(cpus, args.look, &args.output);
    }
    if args.sweep.is_some() || args.paper_tables {
        return super::sweep::run(args);
    }
    let typed: Vec<OsString> = std::env::args_os().skip(1).collect();
    let (plan, against) = plan::ExplainPlan::new(args, &typed)?;
    if let Some(against) = against {
        return explain_against(plan, against, &args.output);
    }
    let asked = Asked::new(&args.output, plan.bed, plan.destinations);
    measure(&asked, Explain(plan.offer))
}

/// Both set-ups take turns. The record's first line is of the explained one.
fn explain_against(
    mut plan: plan::ExplainPlan,
    mut against: AgainstPlan,
    output: &OutputArgs,
) -> Result<Exit> {
    for plan in [&mut plan, &mut against.plan] {
        let offer = &mut plan.offer.offer;
        offer.traffic.frames.clone_from(&offer.sizes[0]);
    }
    let both = [&mut plan, &mut against.plan];
    let both = both.map(|plan| (plan.destinations.as_ref(), &mut plan.offer.offer.traffic));
    let prepared = destinations::prepare_alike(both, output.quiet)?;
    let set_ups = [
        set_up(&against.explained, &[], &plan)?,
        set_up(&against.name, &against.flags, &against.plan)?,
    ];
    let offer = &plan.offer.offer;
    let job = Job::explain_against(&plan.offer, against.plan.offer.burn_ns);
    let head = words::receiver(offer.receiver) + &format!("explained    {}\n", job.rule);
    in_turns(
        &set_ups,
        &prepared,
        &job,
        &head,
        output,
        |beds, recorder| {
            let side = |name: &str, plan: &plan::ExplainPlan, bed| Side {
                variant: Variant {
                    name: name.to_owned(),
                    bed,
                    traffic: plan.offer.offer.traffic.clone(),
                },
                burn_ns: plan.offer.burn_ns,
            };
            let sides = [
                side(&against.name, &against.plan, &beds[1]),
                side(&against.explained, &plan, &beds[0]),
            ];
            let how = explain::against::AgainstPlan {
                time: offer.time,
                pairs: offer.trials,
                receiver: offer.receiver,
            };
            let mut results = recorder
                .with(|size: &SizeProfile, _| vec![profile_line(size, Some((&against, &beds[1])))]);
            ended(explain::against::measure(&sides, how, &mut results))
        },
    )
}

fn set_up<'a>(
    name: &'a str,
    flags: &'a [String],
    plan: &'a plan::ExplainPlan,
) -> Result<SetUp<'a>> {
    let bed = plan.own_bed()?.on_this_machine();
    Ok(SetUp {
        name,
        flags,
        bed: bed.with_context(|| name.to_owned())?,
        traffic: &plan.offer.offer.traffic,
        destinations: plan.destinations.as_ref(),
    })
}

/// Looks at CPUs of this host at its work.
fn watch(cpus: &CpuSet, time: Span, output: &OutputArgs) -> Result<Exit> {
    interrupt::install()?;
    let observer = Observer::new(cpus)?;
    let (begun, mut recorder) = open_record(output)?;
    recorder.step(&format!("record: {}", recorder.record().path().display()));
    let watched = CpuSet::from_iter(observer.cpus().iter().copied());
    recorder.step(&format!("looking at CPU {watched} for {time}"));
    let line = host_run_line(begun, observer.cpus(), observer.netns(), time);
    let written = recorder.write(line);
    let ended = written.and_then(|()| look(&observer, time, &mut recorder));
    finish(output, None, &mut recorder, ended.err().as_ref())
}

/// An interrupted look is shown as far as it came.
fn look(observer: &Observer, time: Span, recorder: &mut Recorder) -> Result<()> {
    let observed = observer.observe(time, &mut || !interrupt::requested())?;
    let lack = observed.watched.lacks.first().cloned();
    let lack = lack.filter(|_| observed.cost.is_err());
    recorder.write(watched_line(observer.cpus(), observed))?;
    ensure!(
        !interrupt::requested(),
        Interrupted("interrupted: this is what was seen until then")
    );
    lack.map_or(Ok(()), |lack| bail!("{lack}"))
}

/// What to profile.
struct Explain(ExplainPlan);

impl Measure for Explain {
    fn job(&self) -> Job<'_> {
        Job::explain(&self.0)
    }

    fn words(&self, asked: &Asked<'_>) -> String {
        let offer = &self.0.offer;
        words::traffic(&offer.traffic, &offer.sizes)
            + &words::receiver(offer.receiver)
            + &words::destinations(asked.destinations.as_ref())
            + &format!("trials       {}\n", self.job().rule)
    }

    fn traffic(&mut self) -> &mut Traffic {
        &mut self.0.offer.traffic
    }

    fn resolve(&mut self, bed: &Bed) -> Result<()> {
        self.0.offer = self.0.offer.on_bed(bed)?;
        Ok(())
    }

    fn run(&self, place: Place<'_>, recorder: &mut Recorder) -> Result<()> {
        let mut results = recorder.with(|size: &SizeProfile, _| vec![profile_line(size, None)]);
        ended(explain::measure(place.bed()?, &self.0, &mut results))
    }
}
