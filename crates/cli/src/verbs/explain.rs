//! `mpps explain`: where the time of a frame goes.

use super::contract::{CellPlan, Measure, UnderTest, ended};
use super::destinations;
use super::in_turns::{SetUp, in_turns};
use super::measure::measure;
use super::watch;
use crate::args::{ExplainArgs, OutputArgs};
use crate::campaign::{CellBed, OVERLOAD};
use crate::exit::Exit;
use crate::plan::{self, Baseline};
use crate::record::Job;
use crate::recorder::Recorder;
use anyhow::{Context, Result, ensure};
use mpps_lab::bed::Bed;
use mpps_lab::jobs::explain::against::Side;
use mpps_lab::jobs::explain::{self, ExplainPlan, IN_TURNS};
use mpps_lab::jobs::fixed_load::FixedLoadPlan;
use mpps_lab::traffic::Traffic;
use mpps_method::Span;
use std::ffi::OsString;

/// Trials of `mpps explain` for each that is sampled at saturation: with and without the sampler, through the router and
/// through a wire, and two lower loads.
const TURN: u64 = 6;
/// The same of a point of a sweep, and of a pair of set-ups.
pub(super) const PAIR: u64 = 2;
/// The time of `mpps explain`, divided by that of its trials: pauses, and void trials that are repeated. From committed
/// runs.
const REPEATED: f64 = 1.4;

/// Runs the verb.
pub fn run(args: &ExplainArgs) -> Result<Exit> {
    if let Some(cpus) = &args.cpus {
        return watch::run(cpus, args.look, &args.run.output);
    }
    if args.sweep.is_some() || args.paper_tables {
        return super::sweep::run(args);
    }
    let typed: Vec<OsString> = std::env::args_os().skip(1).collect();
    let (plan, against) = plan::ExplainPlan::new(args, &typed)?;
    if let Some(against) = against {
        return explain_against(plan, against, &args.run.output);
    }
    measure(&args.run.output, None, plan)
}

/// What a cell of a campaign does with these flags.
pub fn cell(args: &ExplainArgs, typed: &[OsString]) -> Result<CellPlan> {
    ensure!(
        args.cpus.is_none(),
        "--cpus looks at this host: it is no cell"
    );
    if args.sweep.is_some() || args.paper_tables {
        return super::sweep::cell(args);
    }
    let (plan, against) = plan::ExplainPlan::new(args, typed)?;
    let job = match against {
        Some(other) => job_against(&plan.offer, other.plan.offer.burn_ns),
        None => plan.offer.job(),
    };
    let on = CellBed::new(&plan, &job);
    Ok((vec![on], job.lasts.unwrap_or(OVERLOAD)))
}

/// Both set-ups take turns. The record's first line is of the explained one.
fn explain_against(
    mut plan: plan::ExplainPlan,
    mut against: Baseline,
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
    let job = job_against(&plan.offer, against.plan.offer.burn_ns);
    let burns = [plan.offer.burn_ns, against.plan.offer.burn_ns];
    in_turns(&set_ups, &prepared, &job, output, |variants, recorder| {
        let side = |at: usize| Side {
            flags: set_ups[at].flags.to_vec(),
            variant: variants[at].clone(),
            burn_ns: burns[at],
        };
        let sides = [side(1), side(0)];
        let how = explain::against::AgainstPlan {
            time: offer.time,
            pairs: offer.trials,
            receiver: offer.receiver,
        };
        ended(explain::against::measure(&sides, how, recorder))
    })
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

/// How long so many points or sizes take, about: so many trials for each at saturation, and one in which loads take turns,
/// if any does.
pub(super) fn lasts(offer: &FixedLoadPlan, points: f64, each: u64, in_turns: Span) -> Span {
    let turn = offer.time.as_secs_f64() * each as f64 + in_turns.as_secs_f64();
    Span::from_secs_f64(f64::from(offer.trials) * turn * points * REPEATED)
}

/// The job of the explained set-up, where another one, which burns so long for each frame, takes turns with it.
fn job_against(plan: &ExplainPlan, burns: Option<u64>) -> Job<'_> {
    let offer = &plan.offer;
    let burnt = |ns: Option<u64>| ns.map_or("none".to_owned(), |ns| format!("{ns} ns"));
    let both = match (plan.burn_ns, burns) {
        (None, None) => String::new(),
        (own, other) => format!(", burnt a frame: {} and {}", burnt(own), burnt(other)),
    };
    Job {
        rule: format!(
            "{} pairs of sampled trials of {} at saturation, one of each set-up{both}",
            offer.trials, offer.time
        ),
        lasts: Some(lasts(offer, 1.0, PAIR, Span::ZERO)),
        ..plan.job()
    }
}

impl Measure for ExplainPlan {
    fn job(&self) -> Job<'_> {
        let (offer, burn) = (&self.offer, self.burn_ns);
        let burnt = burn.map_or(String::new(), |ns| format!(", with {ns} ns burnt a frame"));
        Job {
            name: "explain",
            rule: format!(
                "{} trials of {} at saturation with the sampler and without it in turns, then lower loads{burnt}",
                offer.trials, offer.time
            ),
            lasts: Some(lasts(offer, offer.sizes.len() as f64, TURN, IN_TURNS)),
            ..Job::at_given_loads(offer)
        }
    }

    fn traffic(&mut self) -> &mut Traffic {
        &mut self.offer.traffic
    }

    fn resolve(&mut self, bed: &Bed) -> Result<()> {
        self.offer = self.offer.on_bed(bed)?;
        Ok(())
    }

    fn run(&self, on: UnderTest<'_>, recorder: &mut Recorder) -> Result<()> {
        ended(explain::measure(on.bed()?, self, recorder))
    }
}
