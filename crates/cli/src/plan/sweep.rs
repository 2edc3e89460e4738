//! What `mpps explain --sweep` and `--paper-tables` are to measure: places on an axis, and the table they are drawn from.

use super::destinations::{INTERNET, made_up};
use super::{BedChoice, DestinationPlan, ExplainPlan, Planned, measurement, traffic};
use crate::args::{ExplainArgs, SearchArgs, TrafficArgs};
use anyhow::{Result, anyhow, bail, ensure};
use mpps_lab::bed::Front;
use mpps_lab::jobs::explain::sweep::{Step, SweepPlan as Swept};
use mpps_lab::jobs::fib_scale::ScalePlan;
use mpps_lab::routes::Origin;
use mpps_lab::traffic::Traffic;
use mpps_method::FrameSpec;
use mpps_method::destinations::{DESTINATIONS_MAX, Draw};
use mpps_method::sweep::{Axis, POINTS_MIN};
use mpps_report::published::SCENARIOS;
use mpps_tables::Table;

/// Next hops of the routes, all of them the tester, as of `mpps fib-scale`.
const NEXT_HOPS: u16 = 64;
/// Usual places: of counts, of frame sizes.
const COUNTS: [u64; 10] = [
    1, 10, 100, 1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000,
];
const FLOWS: [u64; 7] = [1, 4, 16, 256, 1_024, 8_192, 65_536];
const SIZES: [u64; 7] = [64, 128, 256, 512, 1_024, 1_280, 1_518];

/// What to measure.
#[derive(Debug)]
pub struct SweepPlan {
    /// The points. Over cores without places they are known when the bed stands.
    pub swept: Swept,
    /// The largest table, where routes or destinations change from point to point.
    pub table: Option<DestinationPlan>,
}

impl SweepPlan {
    /// What the arguments mean.
    ///
    /// # Errors
    /// One line that names the remedy.
    pub fn new(args: &ExplainArgs) -> Result<Planned<Self>> {
        let mut explain = ExplainPlan::from_args(args)?;
        let axis = args.sweep.as_ref().map(|sweep| sweep.axis);
        let typed = args.sweep.as_ref().map_or(&[][..], |sweep| &sweep.places);
        let offer = &mut explain.offer.offer;
        ensure!(
            args.run.sent.traffic.frame.is_none()
                || (offer.sizes.len() == 1 && axis != Some(Axis::Frame)),
            "--frame: all points of a sweep have one frame size or mix: give one, or sweep over sizes with --sweep frame=64,128,256,512"
        );
        // Of the usual sizes the smallest.
        offer.sizes.truncate(1);
        let Some(frames) = offer.sizes.first() else {
            bail!("no frame size: give one such as --frame 64");
        };
        let places = match (axis, typed) {
            (_, [_, ..]) => typed,
            (Some(Axis::Frame), _) => &SIZES,
            (Some(Axis::Flows), _) => &FLOWS,
            (Some(Axis::Destinations | Axis::Routes), _) => &COUNTS,
            (Some(Axis::Cores) | None, _) => &[],
        };
        let steps = match axis {
            Some(axis) => steps(axis, places, frames)?,
            None => scenarios()?,
        };
        if axis.is_none_or(|axis| axis == Axis::Frame) {
            let sizes: Vec<String> = steps.iter().map(|step| step.frames.to_string()).collect();
            let sent = TrafficArgs {
                frame: Some(sizes.join(",")),
                ..args.run.sent.traffic.clone()
            };
            offer.sizes = traffic::sizes(&sent, offer.traffic.port)?;
        }
        if axis == Some(Axis::Cores) {
            check_cores(&explain.bed, &offer.traffic, &steps)?;
        }
        let table = match axis {
            Some(Axis::Destinations | Axis::Routes) | None => {
                let most = steps.iter().filter_map(|step| step.routes);
                let most = most.map(|at| at.destinations).max().unwrap_or(0);
                let given = explain.destinations.take();
                Some(table(axis, most, given, &offer.traffic)?)
            }
            Some(_) => None,
        };
        Ok(explain.map(|explain| {
            let swept = Swept {
                explain,
                axis,
                steps,
                scale: None,
            };
            Self { swept, table }
        }))
    }

    /// Adds the table that was read.
    ///
    /// # Errors
    /// None that can happen: the search is never begun.
    pub fn add(&mut self, table: Table) -> Result<()> {
        let Some(plan) = &self.table else {
            return Ok(());
        };
        let offer = &self.swept.explain.offer;
        let (sizes, traffic) = (offer.sizes.clone(), offer.traffic.clone());
        self.swept.scale = Some(ScalePlan {
            throughput: measurement(sizes, traffic, &SearchArgs::default())?,
            table,
            from: plan.origin.to_string(),
            draw: plan.draw,
            next_hops: NEXT_HOPS,
            search: false,
        });
        Ok(())
    }
}

/// The steps of an axis.
///
/// # Errors
/// One line that names the remedy.
pub fn steps(axis: Axis, places: &[u64], frames: &FrameSpec) -> Result<Vec<Step>> {
    let step = |&place: &u64| Step::new(axis, place, frames);
    let steps: Result<Vec<Step>, String> = places.iter().map(step).collect();
    steps.map_err(|why| anyhow!("--sweep {}: {why}", axis.name()))
}

/// The published scenarios: as many routes and destinations as flows.
fn scenarios() -> Result<Vec<Step>> {
    let step = |&(octets, flows, ..): &(u32, u64, Option<f64>, Option<u32>)| {
        let frames = FrameSpec::parse_list(&octets.to_string())?.remove(0);
        let step = Step::new(Axis::Routes, flows, &frames);
        step.map_err(|why| anyhow!("--paper-tables: {why}"))
    };
    SCENARIOS.iter().map(step).collect()
}

fn check_cores(bed: &BedChoice, traffic: &Traffic, steps: &[Step]) -> Result<()> {
    let cpumap = match bed {
        BedChoice::Own(wish) => wish.nic == Front::Cpumap,
        kept => matches!(kept, BedChoice::Kept(_)),
    };
    ensure!(
        cpumap,
        "--sweep cores needs rings that any CPU can serve: leave out --nic"
    );
    let most = steps.iter().filter_map(|step| step.cores).max();
    let most = most.unwrap_or(POINTS_MIN);
    ensure!(
        traffic.flows as usize >= 8 * most,
        "--sweep cores needs flows that spread over the CPUs: give --flows {} or more",
        64 * most
    );
    Ok(())
}

/// The table that is given, or one that is made up for so many destinations.
fn table(
    axis: Option<Axis>,
    most: u64,
    given: Option<DestinationPlan>,
    traffic: &Traffic,
) -> Result<DestinationPlan> {
    let name = axis.map_or("--paper-tables".to_owned(), |axis| {
        format!("--sweep {}", axis.name())
    });
    ensure!(
        most <= DESTINATIONS_MAX,
        "{name}: give places up to {DESTINATIONS_MAX}"
    );
    if let Some(plan) = given {
        ensure!(
            matches!(plan.origin, Origin::File(_) | Origin::Synthetic { .. })
                && plan.count.is_none()
                && plan.route_changes.is_none(),
            "{name} changes routes or destinations itself: leave out --destinations, --dst-prefix, --networks and --route-changes"
        );
        ensure!(
            plan.draw != Draw::Missing,
            "{name} needs frames that are forwarded: leave out --draw missing"
        );
        return Ok(plan);
    }
    let prefixes = match axis {
        Some(Axis::Destinations) => INTERNET[usize::from(traffic.ipv6)],
        _ => most,
    };
    Ok(DestinationPlan {
        origin: made_up(prefixes, traffic),
        count: None,
        draw: Draw::default(),
        keep_martians: false,
        route_changes: None,
    })
}
