//! What a frame costs along one axis: points in a shuffled order, the first once more at the end. Points that met another
//! state of the machine than most are measured again. Some points are held out of the fit, and predicted by it.

use super::load::at;
use super::{Depth, ExplainPlan, First, JobError, measure_size};
use crate::bed::Bed;
use crate::jobs::fib_scale::{Point, Scale, ScalePlan, Series, pass_all};
use crate::jobs::throughput::first_burst;
use crate::jobs::{ResultObserver, Trials, keep};
use crate::tester::{Tester, TesterError};
use crate::{facts, memory};
use mpps_method::distance::At;
use mpps_method::random::Random;
use mpps_method::stage::by_cost;
use mpps_method::sweep::{Axis, Check, Fit, Measured, Memory, is_held_out};
use mpps_method::{FrameSpec, Rate};
use mpps_record::{
    FoldedStack, FunctionCost, LimitedBy, MemoryLatency, ProfileLine, StageFit, SweepFit,
    SweepLine, SweepPoint,
};
use std::collections::BTreeMap;

/// Functions that cost less are not recorded, ns.
const FUNCTION_MIN: f64 = 0.5;
/// How often points are measured, where the machine was in another state.
const PASSES_MAX: usize = 3;

/// One place on the axis.
#[derive(Clone, Debug)]
pub struct Step {
    /// Where on the axis; of the published scenarios their flows.
    pub value: f64,
    /// Frames sent.
    pub frames: FrameSpec,
    /// Flows, where they change.
    pub flows: Option<u32>,
    /// Routes and destinations, where they change.
    pub routes: Option<Point>,
    /// The router's CPUs, where they change.
    pub cores: Option<usize>,
}

/// What to sweep over.
#[derive(Clone, Debug)]
pub struct SweepPlan {
    /// What is measured at each point.
    pub explain: ExplainPlan,
    /// `None`: the published scenarios, which are on no axis.
    pub axis: Option<Axis>,
    /// The points, each once.
    pub steps: Vec<Step>,
    /// Routes and destinations, where they change.
    pub scale: Option<ScalePlan>,
}

impl Step {
    /// The step that sets a value on an axis.
    ///
    /// # Errors
    /// The axis has no such value.
    pub fn new(axis: Axis, value: u64, frames: &FrameSpec) -> Result<Self, String> {
        let mut step = Self {
            value: value as f64,
            frames: frames.clone(),
            flows: None,
            routes: None,
            cores: None,
        };
        let whole = || usize::try_from(value).unwrap_or(usize::MAX);
        let point = |series, routes| Point {
            series,
            routes,
            destinations: value,
        };
        match axis {
            Axis::Frame => {
                let sizes = FrameSpec::parse_list(&value.to_string());
                step.frames = sizes.map_err(|e| e.to_string())?.remove(0);
            }
            Axis::Flows => step.flows = Some(u32::try_from(value).unwrap_or(u32::MAX)),
            Axis::Destinations => step.routes = Some(point(Series::Destinations, usize::MAX)),
            Axis::Routes => step.routes = Some(point(Series::Coupled, whole())),
            Axis::Cores => step.cores = Some(whole()),
        }
        Ok(step)
    }

    /// `100 destinations`, as the record names the trials of a point.
    fn name(&self, axis: Option<Axis>) -> String {
        let axis = axis.map_or("flows", Axis::name);
        match axis {
            "frame" => format!("{} B", self.frames),
            _ => format!("{} B, {} {axis}", self.frames, self.value),
        }
    }
}

/// Measures all points, and tells the line in the end, as far as it came. Returns what ended the run, or else a point.
pub fn measure(
    bed: &Bed,
    plan: &SweepPlan,
    observer: &mut dyn ResultObserver<SweepLine>,
) -> Option<JobError> {
    let mut swept = SweepLine {
        axis: plan.axis.map_or(SweepLine::PAPER, Axis::name).to_owned(),
        ..SweepLine::default()
    };
    let mut kept = measure_memory(bed, plan, &mut swept).err();
    let mut order: Vec<(usize, &Step)> = plan.steps.iter().enumerate().collect();
    Random::from_seed(plan.explain.offer.traffic.seed).shuffle(&mut order);
    // As a point of the fit the first one's repetition tells the fit how far the machine drifts.
    let is_fitted = |(place, _): &(usize, &Step)| !is_held_out(*place, plan.steps.len());
    if let Some(first) = order.iter().position(is_fitted) {
        order.swap(0, first);
    }
    order.extend(order.first().copied());
    let mut scale = plan.scale.as_ref().map(|plan| Scale::new(bed, plan));
    for _ in 0..PASSES_MAX {
        for &(_, step) in &order {
            if kept.as_ref().is_some_and(|error| !error.is_of_one_size()) {
                break;
            }
            observer.turn_begins(&step.name(plan.axis));
            let mut trials = Trials::new(&mut *observer);
            let measured = measure_step(bed, plan, step, scale.as_mut(), &mut swept, &mut trials);
            if let Err(error) = measured
                && keep(&mut kept, error).is_break()
            {
                break;
            }
        }
        mark_other_states(&mut swept.points);
        order = lacking(&plan.steps, &swept.points);
        if order.is_empty() || kept.is_some() {
            break;
        }
    }
    swept.why = kept.as_ref().map(ToString::to_string);
    swept.drift_ratio = drift(&swept.points);
    if let Some(axis) = plan.axis {
        fit(axis, &mut swept);
    }
    let written = observer.result(&swept).err().map(JobError::Record);
    let cleared = scale.and_then(|mut scale| scale.clear().err());
    for error in written.into_iter().chain(cleared) {
        kept.get_or_insert(error);
    }
    kept
}

/// Once, on the tester's CPU: points measure the router's.
fn measure_memory(bed: &Bed, plan: &SweepPlan, swept: &mut SweepLine) -> Result<(), JobError> {
    if !plan.axis.is_some_and(Axis::is_of_memory) {
        return Ok(());
    }
    let tester = |()| memory::measure(memory::largest(&facts::gather()));
    let pinned = mpps_linux::cpu::pin_current_thread(&bed.plan().cpus.tester_set());
    let measured = pinned.and_then(tester).map_err(TesterError::from)?;
    let latency = |point: &mpps_method::limits::WorkingSet| MemoryLatency {
        octets: point.working_set_octets,
        ns: point.latency_ns,
    };
    swept.memory = measured.points.iter().map(latency).collect();
    Ok(())
}

fn measure_step(
    bed: &Bed,
    plan: &SweepPlan,
    step: &Step,
    scale: Option<&mut Scale<'_>>,
    swept: &mut SweepLine,
    trials: &mut Trials<'_>,
) -> Result<(), JobError> {
    let mut explain = plan.explain.clone();
    let traffic = &mut explain.offer.traffic;
    traffic.flows = step.flows.unwrap_or(traffic.flows);
    traffic.dut_cpus = step.cores.or(traffic.dut_cpus);
    let mut point = SweepPoint {
        value: step.value,
        frame: step.frames.to_string(),
        flows: traffic.flows,
        destinations: traffic
            .destinations
            .as_ref()
            .map_or(1, |drawn| drawn.distinct),
        cores: step.cores.unwrap_or(bed.plan().cpus.dut.len()) as u32,
        ..SweepPoint::default()
    };
    if let (Some(scale), Some(asked)) = (scale, step.routes) {
        let prepared = scale.prepare(asked)?;
        (point.routes, point.destinations) = (prepared.routes(), prepared.destinations());
        traffic.destinations = prepared.plan.traffic.destinations;
    }
    let mut line = ProfileLine::default();
    let depth = match plan.axis {
        Some(_) => Depth::Saturation,
        None => Depth::Overload,
    };
    let first = (depth, first_frames as First);
    point.overload_fps = measure_size(bed, &explain, &step.frames, first, &mut line, trials)?;
    let Some(load) = line.loads.first() else {
        return Ok(());
    };
    point.load = load.clone();
    point.functions = functions(&line.stacks);
    point.model = line.model;
    point.limited_by = line.limited_by;
    swept.receiver = line.receiver;
    swept.points.push(point);
    for doubt in line.doubts {
        // How few destinations change the cost is what such a sweep asks.
        let asked = step.routes.is_some() && doubt.name == "few-destinations";
        if !asked && !swept.doubts.iter().any(|known| known.name == doubt.name) {
            swept.doubts.push(doubt);
        }
    }
    Ok(())
}

/// The sender's rate; then every destination has its first frame, uncounted.
fn first_frames(tester: &mut Tester<'_>) -> Result<Rate, JobError> {
    let sends = first_burst(tester)?;
    pass_all(tester)?;
    Ok(sends)
}

/// Each function's own time, the dearest first.
fn functions(stacks: &[FoldedStack]) -> Vec<FunctionCost> {
    let mut own: BTreeMap<&str, f64> = BTreeMap::new();
    for stack in stacks {
        let leaf = stack.frames.rsplit(';').next().unwrap_or_default();
        *own.entry(leaf).or_default() += stack.ns;
    }
    own.retain(|_, ns| *ns >= FUNCTION_MIN);
    by_cost(own)
}

/// Marks the points that met another state of the machine than most. A point whose state nobody timed counts.
fn mark_other_states(points: &mut [SweepPoint]) {
    let states: Vec<Option<At>> = points.iter().map(|point| at(&point.load)).collect();
    let is_like = |one: &Option<At>, at: &At| one.as_ref().is_none_or(|one| one.is_same(at));
    let like = |at: &At| {
        let mut places = Vec::new();
        for (one, point) in states.iter().zip(&*points) {
            if is_like(one, at) && !places.contains(&point.place()) {
                places.push(point.place());
            }
        }
        places.len()
    };
    // The first of those that most places met.
    let most = states
        .iter()
        .flatten()
        .rev()
        .max_by_key(|at| like(at))
        .copied();
    for (point, one) in points.iter_mut().zip(states) {
        point.other_state = most.is_some_and(|at| !is_like(&one, &at));
    }
}

/// The steps that no point of the common state stands for, with their places; the first point needs two.
fn lacking<'plan>(steps: &'plan [Step], points: &[SweepPoint]) -> Vec<(usize, &'plan Step)> {
    let first = points.first().map(SweepPoint::place);
    let lacks = |(_, step): &(usize, &Step)| {
        let frame = step.frames.to_string();
        let place = (step.value, &*frame);
        let here = points.iter().filter(|point| point.place() == place);
        let there = here.filter(|point| !point.other_state).count();
        there < 1 + usize::from(first == Some(place))
    };
    steps.iter().enumerate().filter(lacks).collect()
}

/// How many places have points, but none in the common state.
fn lacking_places(points: &[SweepPoint]) -> usize {
    let mut places: Vec<((f64, &str), bool)> = Vec::new();
    for point in points {
        match places.iter_mut().find(|(at, _)| *at == point.place()) {
            Some((_, counts)) => *counts |= !point.other_state,
            None => places.push((point.place(), !point.other_state)),
        }
    }
    places.iter().filter(|(_, counts)| !counts).count()
}

/// What the first point cost when it was measured last, by what it cost at first, minus 1; both in the common state.
fn drift(points: &[SweepPoint]) -> Option<f64> {
    let first = points.first().map(SweepPoint::place);
    let same = points.iter().filter(|point| Some(point.place()) == first);
    let costs: Vec<f64> = same
        .filter(|point| !point.other_state)
        .map(|point| point.load.frame_ns.median)
        .collect();
    match costs[..] {
        [first, .., last] => Some(last / first - 1.0),
        _ => None,
    }
}

/// Fits, predicts the points that were held out, and says what speaks against it.
fn fit(axis: Axis, line: &mut SweepLine) {
    hold_out(&mut line.points);
    let points = (line.points.iter())
        .filter(|point| !(point.held_out || point.other_state))
        .map(SweepPoint::cost);
    let points: Vec<Measured> = points
        .map(|(value, parts)| Measured { value, parts })
        .collect();
    let memory = Memory(line.latencies());
    let fit = match Fit::new(axis, &points, &memory) {
        Ok(fit) => fit,
        Err(why) => {
            line.no_fit = Some(why.to_string());
            return;
        }
    };
    let mut check = Check {
        points: Vec::new(),
        drift: line.drift_ratio,
    };
    let mut places = Vec::new();
    for point in &mut line.points {
        let (predicted, ns) = (fit.at(point.value), point.load.frame_ns.median);
        point.predicted_ns = Some([predicted.low, predicted.ns, predicted.high].into());
        point.error_ratio = Some(predicted.ns / ns - 1.0);
        // Each place once.
        if !point.other_state && !places.contains(&point.value) {
            places.push(point.value);
            let held = point.held_out.then_some(predicted);
            check.points.push((point.value, ns, held));
        }
    }
    line.fit = Some(recorded(&fit, &line.points, check.off()));
    line.distrust = check.distrust();
    let elsewhere = lacking_places(&line.points);
    if elsewhere > 0 {
        line.distrust.push(format!(
            "{elsewhere} of the places met another state of the machine each time, so they do not count"
        ));
    }
    let points = line.points.iter();
    let limits = points.map(|point| &point.limited_by);
    let unlimited = limits
        .filter(|limit| **limit != Some(LimitedBy::Dut))
        .count();
    if unlimited > 0 {
        line.distrust.push(format!(
            "at {unlimited} of {} points the router's CPU was not the limit, so its cost there contains wake-ups",
            line.points.len()
        ));
    }
}

/// Marks the points that are held out, by their places along the axis.
fn hold_out(points: &mut [SweepPoint]) {
    let mut places: Vec<f64> = points.iter().map(|point| point.value).collect();
    places.sort_by(f64::total_cmp);
    places.dedup();
    for point in points {
        let place = places.iter().position(|place| *place == point.value);
        point.held_out = place.is_some_and(|place| is_held_out(place, places.len()));
    }
}

/// The fit as the record has it.
fn recorded(fit: &Fit, points: &[SweepPoint], held_out_error_ratio: Option<f64>) -> SweepFit {
    let stages = points.first().map_or(&[][..], |point| &point.load.stages);
    let stages = stages.iter().zip(&fit.parts);
    SweepFit {
        item_octets: fit.item_octets,
        stages: stages
            .map(|(part, &(constant_ns, slope_ns))| StageFit {
                part: part.part.clone(),
                constant_ns,
                slope_ns,
            })
            .collect(),
        off_ns: fit.off_ns,
        points: fit.points as u32,
        held_out_error_ratio,
    }
}

#[cfg(test)]
mod tests;
