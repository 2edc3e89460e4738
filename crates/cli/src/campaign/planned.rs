//! What a cell's verb plans: its beds, what is sent there, and about how long it measures.

use crate::args::{TuneArgs, TuneVerb, Verb};
use crate::plan::{
    BedChoice, BurstPlan, ComparePlan, DestinationPlan, ExplainPlan, FibScalePlan, LatencyPlan,
    Plan, Planned, SettingsPlan, SweepPlan, TrialPlan, loss,
};
use crate::record::Job;
use anyhow::{Context, Result, bail, ensure};
use mpps_lab::jobs::fixed_load::FixedLoadPlan;
use mpps_lab::jobs::throughput::ThroughputPlan;
use mpps_lab::routes::Origin;
use mpps_lab::tester::ReceiverPlace;
use mpps_lab::traffic::Traffic;
use mpps_method::{FrameSpec, Span};
use std::ffi::OsString;
use std::fs::File;

/// Trials of a search whose time is not limited, about.
const SEARCH_TRIALS: usize = 12;
/// Overload of a frame size without a search, about.
const OVERLOAD: Span = Span::from_millis(10_000);

/// A bed of a cell, and what is sent there.
#[derive(Debug)]
pub(super) struct CellBed {
    /// The bed.
    pub(super) bed: BedChoice,
    /// How many CPUs its router has, where this machine lacks them.
    pub(super) dut_cpus: Option<usize>,
    /// Frame sizes that it measures.
    pub(super) sizes: Vec<FrameSpec>,
    /// All else of what is sent.
    pub(super) traffic: Traffic,
    /// Where frames are received, where the user named it.
    pub(super) receiver: Option<ReceiverPlace>,
    /// Where its routes come from.
    routes: Option<DestinationPlan>,
}

impl CellBed {
    fn new<J>(planned: &Planned<J>, sent: Sent<'_>) -> Self {
        let (sizes, traffic, receiver) = sent;
        Self {
            bed: planned.bed.clone(),
            dut_cpus: None,
            sizes: sizes.to_vec(),
            traffic: traffic.clone(),
            receiver,
            routes: planned.destinations.clone(),
        }
    }

    /// The bed without the CPUs that its flags name, and with a router of so many.
    pub(super) fn with_cpus(mut self, cpus: usize) -> Self {
        if let BedChoice::Own(wish) = &mut self.bed {
            (wish.dut_cpus, wish.tester_cpus) = (None, None);
        }
        self.dut_cpus = Some(cpus);
        self
    }

    /// Refuses files of routes that cannot be read. Their content is for the cell: a large table takes time.
    pub(super) fn check_files(&self) -> Result<()> {
        let Some(routes) = &self.routes else {
            return Ok(());
        };
        let table = match &routes.origin {
            Origin::File(file) => Some(("--table", file)),
            _ => None,
        };
        let changes = routes.route_changes.as_ref();
        let changes = changes.map(|changes| ("--route-changes", &changes.file));
        for (flag, file) in table.into_iter().chain(changes) {
            ensure!(
                file.as_os_str() != "-",
                "{flag} -: a cell has no standard input; name a file"
            );
            File::open(file).with_context(|| format!("{flag}: open {}", file.display()))?;
        }
        Ok(())
    }
}

/// Frame sizes, all else of the traffic, and where it is received.
type Sent<'a> = (&'a [FrameSpec], &'a Traffic, Option<ReceiverPlace>);

fn what_is_searched(plan: &ThroughputPlan) -> Sent<'_> {
    (&plan.sizes, &plan.traffic, plan.receiver)
}

fn what_is_offered(plan: &FixedLoadPlan) -> Sent<'_> {
    (&plan.sizes, &plan.traffic, plan.receiver)
}

/// What a verb plans, and about how long it measures.
pub(super) fn planned(verb: &Verb, typed: &[OsString]) -> Result<(Vec<CellBed>, Span)> {
    let (on, each) = match verb {
        Verb::Throughput(args) => {
            let plan = Plan::new(args)?;
            let measured = &plan.offer.measurement;
            let unlimited = times(SEARCH_TRIALS, measured.search.final_trial());
            let each = measured.budget.unwrap_or(unlimited);
            (CellBed::new(&plan, what_is_searched(measured)), each)
        }
        Verb::Trial(args) => {
            let plan = TrialPlan::new(args)?;
            let trials = plan.offer.loads.len() * args.trials as usize;
            let each = times(trials, plan.offer.time);
            (CellBed::new(&plan, what_is_offered(&plan.offer)), each)
        }
        Verb::Loss(args) => {
            let (plan, lasting) = loss(args)?;
            let measured = &plan.offer.measurement;
            let loads = times(plan.offer.shares().count(), plan.offer.time());
            let each = match lasting {
                Some(lasting) => lasting.lasts.plus(lasting.after()).plus(OVERLOAD),
                None => measured.budget.unwrap_or(loads),
            };
            (CellBed::new(&plan, what_is_searched(measured)), each)
        }
        Verb::Latency(args) => {
            let plan = LatencyPlan::new(args)?;
            let search = Some(args.budget).filter(|_| plan.offer.searches());
            let loads = times(2 * plan.offer.loads.len(), plan.offer.time);
            let each = loads.plus(search.unwrap_or_default());
            (
                CellBed::new(&plan, what_is_searched(&plan.offer.measurement)),
                each,
            )
        }
        Verb::BackToBack(args) => {
            let plan = BurstPlan::new(args)?;
            let unlimited = times(args.repeat as usize, args.time).plus(OVERLOAD);
            let each = args.budget.unwrap_or(unlimited);
            (
                CellBed::new(&plan, what_is_searched(&plan.offer.measurement)),
                each,
            )
        }
        _ => return whole(verb, typed),
    };
    let sizes = on.sizes.len();
    Ok((vec![on], times(sizes, each)))
}

/// The same of verbs whose time is not that of a frame size.
fn whole(verb: &Verb, typed: &[OsString]) -> Result<(Vec<CellBed>, Span)> {
    let (on, about) = match verb {
        Verb::Explain(args) if args.sweep.is_some() || args.paper_tables => {
            let plan = SweepPlan::new(args)?;
            let swept = &plan.offer.swept;
            let mut on = CellBed::new(&plan, what_is_offered(&swept.explain.offer));
            on.routes = plan.offer.table.clone();
            (on, Job::sweep(swept).lasts)
        }
        Verb::Explain(args) => {
            ensure!(
                args.cpus.is_none(),
                "--cpus looks at this host: it is no cell"
            );
            let (plan, against) = ExplainPlan::new(args, typed)?;
            let job = match against {
                Some(other) => Job::explain_against(&plan.offer, other.plan.offer.burn_ns),
                None => Job::explain(&plan.offer),
            };
            (
                CellBed::new(&plan, what_is_offered(&plan.offer.offer)),
                job.lasts,
            )
        }
        Verb::Compare(args) => {
            let ComparePlan { how, variants, .. } = ComparePlan::new(args, typed)?;
            let on = variants.into_iter().map(|variant| CellBed {
                bed: BedChoice::Own(variant.bed),
                dut_cpus: None,
                sizes: vec![variant.traffic.frames.clone()],
                traffic: variant.traffic,
                receiver: how.receiver,
                routes: variant.destinations,
            });
            return Ok((on.collect(), args.budget));
        }
        Verb::FibScale(args) => {
            let plan = FibScalePlan::new(args)?;
            let scale = &plan.offer.scale;
            let measured = &scale.throughput;
            let search = measured.budget.filter(|_| scale.search);
            let count = plan.offer.points.len() * measured.sizes.len();
            let mut on = CellBed::new(&plan, what_is_searched(measured));
            on.routes = Some(plan.offer.largest.clone());
            (on, Some(times(count, search.unwrap_or(OVERLOAD))))
        }
        Verb::Tune(TuneArgs {
            verb: TuneVerb::Measure(args),
        }) => {
            let plan = Planned::<SettingsPlan>::new(args, typed)?;
            let measured = &plan.offer.measured;
            let sizes = [measured.traffic.frames.clone()];
            let on = CellBed::new(&plan, (&sizes, &measured.traffic, measured.how.receiver));
            (on, Some(measured.how.budget))
        }
        _ => bail!("no verb of a cell"),
    };
    Ok((vec![on], about.unwrap_or(OVERLOAD)))
}

fn times(count: usize, each: Span) -> Span {
    Span::from_nanos(each.as_nanos().saturating_mul(count as u64))
}
