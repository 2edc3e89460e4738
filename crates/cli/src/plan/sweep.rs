//! What `mpps explain --sweep` and `--paper-tables` are to measure: places on an axis, and the table they are drawn from.

use super::sending::Sending;
use super::{BedChoice, DestinationPlan, ExplainPlan, measurement, traffic};
use crate::args::{ExplainArgs, SearchArgs, TrafficArgs};
use anyhow::{Result, anyhow, ensure};
use mpps_lab::bed::Front;
use mpps_lab::jobs::explain::sweep::{Step, SweepPlan as Swept};
use mpps_lab::jobs::fib_scale::ScalePlan;
use mpps_lab::routes::Origin;
use mpps_method::FrameSpec;
use mpps_method::destinations::{DESTINATIONS_MAX, Draw};
use mpps_method::sweep::Axis;
use mpps_report::published::SCENARIOS;
use mpps_tables::Table;

/// Prefixes of a table that is made up: about today's Internet.
const MADE_UP: [u64; 2] = [1_000_000, 250_000];
/// Next hops of the routes, all of them the tester, as of `mpps fib-scale`.
const NEXT_HOPS: u16 = 64;
/// Usual places: of counts, of frame sizes.
const COUNTS: [u64; 10] = [
    1, 10, 100, 1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000,
];
const FLOWS: [u64; 7] = [1, 4, 16, 256, 1_024, 8_192, 65_536];
const SIZES: [u64; 7] = [64, 128, 256, 512, 1_024, 1_280, 1_518];

/// Where, and what.
#[derive(Debug)]
pub struct SweepPlan {
    /// Where.
    pub bed: BedChoice,
    /// The points. Over cores without places they are known when the bed stands.
    pub swept: Swept,
    /// Routes of the whole run.
    pub destinations: Option<DestinationPlan>,
    /// Where routes come from that change from point to point.
    pub table: Option<TablePlan>,
}

/// The largest table.
#[derive(Debug)]
pub struct TablePlan {
    /// Where it comes from.
    pub origin: Origin,
    /// Keep martians in it.
    pub keep_martians: bool,
    draw: Draw,
}

impl SweepPlan {
    /// What the arguments mean.
    ///
    /// # Errors
    /// One line that names the remedy.
    pub fn new(args: &ExplainArgs) -> Result<Self> {
        let sending = Sending::new(&args.sent, &args.place, None)?;
        let explain = ExplainPlan::from_args(args)?;
        let axis = args.sweep.as_ref().map(|sweep| sweep.axis);
        let typed = args.sweep.as_ref().map_or(&[][..], |sweep| &sweep.places);
        let mut offer = explain.offer;
        offer.offer.sizes.truncate(1);
        let frames = offer
            .offer
            .sizes
            .first()
            .ok_or_else(|| anyhow!("no frame size: give one such as --frame 64"))?;
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
                ..args.sent.traffic.clone()
            };
            offer.offer.sizes = traffic::sizes(&sent, offer.offer.traffic.port)?;
        }
        if axis == Some(Axis::Cores) {
            check_cores(&sending, &steps)?;
        }
        let most = places.iter().copied().max().unwrap_or(0);
        let mut destinations = explain.destinations;
        let changes = matches!(axis, Some(Axis::Destinations | Axis::Routes) | None);
        let table = match changes {
            true => Some(TablePlan::new(axis, most, destinations.take(), &sending)?),
            false => None,
        };
        Ok(Self {
            bed: explain.bed,
            swept: Swept {
                explain: offer,
                axis,
                steps,
                scale: None,
            },
            destinations,
            table,
        })
    }

    /// With the table that was read.
    ///
    /// # Errors
    /// None that can happen: the search is never begun.
    pub fn with(mut self, table: Table) -> Result<Self> {
        let Some(plan) = &self.table else {
            return Ok(self);
        };
        let offer = &self.swept.explain.offer;
        self.swept.scale = Some(ScalePlan {
            throughput: measurement(
                offer.sizes.clone(),
                offer.traffic.clone(),
                &SearchArgs::default(),
            )?,
            table,
            from: plan.origin.to_string(),
            draw: plan.draw,
            next_hops: NEXT_HOPS,
            search: false,
        });
        Ok(self)
    }
}

/// The steps of an axis.
///
/// # Errors
/// One line that names the remedy.
pub fn steps(axis: Axis, places: &[u64], frames: &FrameSpec) -> Result<Vec<Step>> {
    let step = |&place: &u64| Step::new(axis, place, frames, usize::MAX);
    let steps: Result<Vec<Step>, String> = places.iter().map(step).collect();
    steps.map_err(|why| anyhow!("--sweep {}: {why}", axis.name()))
}

/// The published scenarios: as many routes and destinations as flows.
fn scenarios() -> Result<Vec<Step>> {
    let step = |&(octets, flows, ..): &(u32, u64, Option<f64>, Option<u32>)| {
        let frames = FrameSpec::parse_list(&octets.to_string())?.remove(0);
        let step = Step::new(Axis::Routes, flows, &frames, usize::MAX);
        step.map_err(|why| anyhow!("--paper-tables: {why}"))
    };
    SCENARIOS.iter().map(step).collect()
}

fn check_cores(sending: &Sending, steps: &[Step]) -> Result<()> {
    let cpumap = matches!(&sending.bed, BedChoice::Own(wish) if wish.nic == Front::Cpumap)
        || matches!(&sending.bed, BedChoice::Kept(_));
    ensure!(
        cpumap,
        "--sweep cores needs rings that any CPU can serve: leave out --nic"
    );
    let most = steps
        .iter()
        .filter_map(|step| step.cores)
        .max()
        .unwrap_or(2);
    ensure!(
        sending.traffic.flows as usize >= 8 * most,
        "--sweep cores needs flows that spread over the CPUs: give --flows {} or more",
        64 * most
    );
    Ok(())
}

impl TablePlan {
    fn new(
        axis: Option<Axis>,
        most: u64,
        drawn: Option<DestinationPlan>,
        sending: &Sending,
    ) -> Result<Self> {
        let name = axis.map_or("--paper-tables".to_owned(), |axis| {
            format!("--sweep {}", axis.name())
        });
        ensure!(
            most <= DESTINATIONS_MAX,
            "{name}: give places up to {DESTINATIONS_MAX}"
        );
        if let Some(plan) = drawn {
            ensure!(
                matches!(plan.origin, Origin::File(_))
                    && plan.count.is_none()
                    && plan.route_changes.is_none(),
                "{name} changes routes or destinations itself: leave out --destinations, --dst-prefix, --networks and --route-changes"
            );
            ensure!(
                plan.draw != Draw::Missing,
                "{name} needs frames that are forwarded: leave out --draw missing"
            );
            return Ok(Self {
                origin: plan.origin,
                keep_martians: plan.keep_martians,
                draw: plan.draw,
            });
        }
        let ipv6 = sending.traffic.ipv6;
        let scenario = SCENARIOS
            .iter()
            .map(|(_, flows, ..)| *flows)
            .max()
            .unwrap_or(1);
        let prefixes = match axis {
            None => scenario,
            Some(Axis::Routes) => most,
            Some(_) => MADE_UP[usize::from(ipv6)],
        };
        let (v4, v6) = if ipv6 { (0, prefixes) } else { (prefixes, 0) };
        Ok(Self {
            origin: Origin::Synthetic {
                v4,
                v6,
                seed: sending.traffic.seed,
            },
            keep_martians: false,
            draw: Draw::default(),
        })
    }
}
