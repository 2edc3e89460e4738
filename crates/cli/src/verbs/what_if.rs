//! `mpps show --what-if`: what a frame would cost elsewhere, from a record alone.

use crate::terminal;
use anyhow::{Result, bail, ensure};
use mpps_method::sweep::{Answer, Axis, Basis, Fit, Measured, Memory, WhatIf};
use mpps_record::{
    CostModel, Doubt, Interval, LimitedBy, ProfileLine, ProfiledLoad, ProfiledWire, Run, SweepLine,
    SweepPoint, Traffic,
};
use mpps_report::number;
use serde_json::json;

/// Puts the answer of these runs on stdout.
///
/// # Errors
/// They cannot tell; the line says which command would.
pub fn show(runs: &[&Run], asked: &WhatIf, as_json: bool) -> Result<()> {
    let (basis, from, warned) = basis(runs, asked)?;
    let mut answer = basis.answer(asked)?;
    answer.assumes.extend(assumed(asked, &basis));
    answer.distrust.extend(warned);
    terminal::out(&match as_json {
        true => in_json(&answer, &from),
        false => terminal::fitted(&in_words(&answer, &basis, &from)),
    });
    Ok(())
}

/// A sweep, and the fit of all its points that count. To hold some out is for the check of a fit.
struct Swept<'a> {
    run: &'a Run,
    line: &'a SweepLine,
    fit: Fit,
}

impl<'a> Swept<'a> {
    fn new(run: &'a Run, line: &'a SweepLine) -> Option<Self> {
        let axis = Axis::from_name(&line.axis)?;
        let counted = line.points.iter().filter(|point| !point.other_state);
        let points: Vec<Measured> = counted
            .map(SweepPoint::cost)
            .map(|(value, parts)| Measured { value, parts })
            .collect();
        let fit = Fit::new(axis, &points, &Memory(line.latencies())).ok()?;
        Some(Self { run, line, fit })
    }

    /// Its points that count, by their place.
    fn points(&self) -> impl Iterator<Item = &'a SweepPoint> {
        let along = self.line.along().into_iter();
        along.filter(|point| !point.other_state)
    }

    /// The place asked for on its axis, and the point measured there.
    fn asked(&self, asked: &WhatIf) -> Option<(f64, Option<&'a SweepPoint>)> {
        let mut places = asked.places.iter();
        let (_, to) = places.find(|(axis, _)| *axis == self.fit.axis)?;
        Some((*to, self.points().find(|point| point.value == *to)))
    }

    /// What speaks against it. A cost measured at the place asked for needs no fit.
    fn warned(&self, asked: &WhatIf, start: &SweepPoint) -> Vec<String> {
        let (axis, place) = (self.fit.axis.name(), self.asked(asked));
        let start = (self.line.points.iter()).find(|point| std::ptr::eq(*point, start));
        if place.is_none() && start.is_none() {
            return Vec::new();
        }
        let is_fitted = place.is_some_and(|(to, _)| start.is_none_or(|at| at.value != to));
        let fit = self.line.distrust.iter().filter(|_| is_fitted).cloned();
        let told = fit.chain(doubted(&self.line.doubts));
        told.map(|told| format!("the sweep over {axis}: {told}"))
            .chain(start.filter(|_| !is_fitted).and_then(few))
            .chain(start.filter(|_| !is_fitted).and_then(|at| self.drifted(at)))
            .collect()
    }

    /// A drift farther than the range of a measured cost.
    fn drifted(&self, SweepPoint { load, .. }: &SweepPoint) -> Option<String> {
        let (drift, ns) = (self.line.drift_ratio?, load.frame_ns);
        (drift.abs() * ns.median > ns.high - ns.median).then(|| {
            format!(
                "the first point of the sweep over {} differed by {:+.1} % at the end, and the range leaves that out",
                self.fit.axis.name(),
                drift * 100.0
            )
        })
    }
}

/// The measured point, what it is in words, and what speaks against it: of a sweep, or else the saturated load of the first
/// profile. The last run comes first, and of an axis its first sweep counts.
fn basis(runs: &[&Run], asked: &WhatIf) -> Result<(Basis, String, Vec<String>)> {
    let runs: Vec<&Run> = runs.iter().rev().copied().collect();
    let clock = runs.iter().find_map(|run| {
        let mhz = run.begin.as_ref()?.facts.cpu.clock_mhz.known()?;
        Some(mhz * 1e6)
    });
    let lines = (runs.iter()).flat_map(|run| run.sweeps.iter().map(move |line| (*run, line)));
    let lines: Vec<(&Run, &SweepLine)> = lines.filter(|(_, line)| !line.is_paper()).collect();
    let mut sweeps: Vec<Swept<'_>> = Vec::new();
    for sweep in (lines.iter()).filter_map(|(run, line)| Swept::new(run, line)) {
        if (sweeps.iter()).all(|known| known.fit.axis != sweep.fit.axis) {
            sweeps.push(sweep);
        }
    }
    match swept(sweeps, clock, asked) {
        Some(basis) => Ok(basis),
        None => profiled(&runs, clock, !lines.is_empty()),
    }
}

/// From the saturated load of the first profile.
fn profiled(
    runs: &[&Run],
    clock: Option<f64>,
    is_swept: bool,
) -> Result<(Basis, String, Vec<String>)> {
    let profiles = (runs.iter()).flat_map(|run| run.profiles.iter().map(move |line| (run, line)));
    let (watched, on_bed): (Vec<_>, Vec<_>) =
        profiles.partition(|(_, line)| line.watched.is_some());
    let mut loads =
        (on_bed.iter()).filter_map(|(run, line)| Some((run, line, line.loads.first()?)));
    let Some((run, line, load)) = loads.next() else {
        ensure!(
            !is_swept,
            "--what-if: the sweep in this record has no fit: `mpps show` says why"
        );
        ensure!(
            watched.is_empty(),
            "--what-if: `mpps explain --cpus` saw only the load that was there, and at saturation a frame costs less: \
             `mpps explain` measures that on a bed"
        );
        bail!(
            "--what-if: the record has no profile of what a frame costs: `mpps explain` makes one, and with --sweep along an axis"
        );
    };
    let basis = Basis {
        frame_ns: ends(load.frame_ns),
        cores: line.cpus.len().max(1) as f64,
        flows: (run.begin.as_ref()).and_then(|begin| flows(&begin.plan.traffic)),
        hertz: clock,
        fits: Vec::new(),
    };
    let more = [
        unsaturated(line.limited_by.as_ref()),
        burnt(line),
        beds_part(load, line.wire.as_deref()),
        (line.model.as_ref()).and_then(|model| modelled(model, &basis)),
    ];
    let more = more.into_iter().flatten();
    let warned = more.chain(doubted(&line.doubts)).collect();
    let from = format!("the measured cost at {}", number::frame(&line.frame));
    Ok((basis, from, warned))
}

/// From a point measured at a place asked for, else from the fitted cost at the lowest place of an axis asked for, else from
/// the lowest point measured. `None` without a sweep.
fn swept(
    mut sweeps: Vec<Swept<'_>>,
    hertz: Option<f64>,
    asked: &WhatIf,
) -> Option<(Basis, String, Vec<String>)> {
    let rank = |sweep: &Swept<'_>| match sweep.asked(asked) {
        Some((_, Some(_))) => 0,
        Some((_, None)) => 1,
        None => 2,
    };
    sweeps.sort_by_key(rank);
    let first = sweeps.first()?;
    let lowest = first.points().next()?;
    let measured = first.asked(asked).map_or(Some(lowest), |(_, there)| there);
    let point = measured.unwrap_or(lowest);
    let (how, frame_ns) = match measured {
        Some(point) => ("measured", ends(point.load.frame_ns)),
        None => ("fitted", [first.fit.at(point.value).ns; 3]),
    };
    let (axis, begin) = (first.fit.axis, first.run.begin.as_ref());
    let ways = begin.map_or(1.0, |begin| directions(&begin.plan.traffic));
    let from = format!(
        "the {how} cost at {}{}",
        place(axis, point.value),
        number::frame(&point.frame)
    );
    let more = [
        unsaturated(point.limited_by.as_ref()),
        beds_part(&point.load, None),
    ];
    let mut warned: Vec<String> = more.into_iter().flatten().collect();
    warned.extend(sweeps.iter().flat_map(|sweep| sweep.warned(asked, point)));
    let mut start = |sweep: Swept<'_>| {
        let at = match sweep.fit.axis == axis {
            true => Some(point.value),
            false => place_on(sweep.fit.axis, point),
        };
        let lowest = sweep.points().next().map_or(1.0, |point| point.value);
        if at.is_none() && sweep.asked(asked).is_some() {
            let axis = sweep.fit.axis.name();
            warned.push(format!(
                "the measured point has no place on the axis {axis}, so {axis} starts from {lowest}"
            ));
        }
        (sweep.fit, at.unwrap_or(lowest))
    };
    let basis = Basis {
        frame_ns,
        cores: f64::from(point.cores),
        flows: flow_count(point.flows, point.destinations as f64, ways),
        hertz,
        fits: sweeps.into_iter().map(&mut start).collect(),
    };
    Some((basis, from, warned))
}

/// Where a point lies on an axis that it was not swept over. `None`: its frames are a mix, or no routes were loaded.
fn place_on(axis: Axis, point: &SweepPoint) -> Option<f64> {
    let place = match axis {
        Axis::Flows => point.flows.into(),
        Axis::Destinations => point.destinations as f64,
        Axis::Routes => point.routes as f64,
        Axis::Frame => point.frame.parse().ok()?,
        Axis::Cores => point.cores.into(),
    };
    (place > 0.0).then_some(place)
}

/// By ports and destinations, of all directions.
fn flows(traffic: &Traffic) -> Option<f64> {
    let destinations = traffic.destinations.as_ref();
    let destinations = destinations.map_or(1, |drawn| drawn.distinct) as f64;
    flow_count(traffic.flows, destinations, directions(traffic))
}

/// `None`: the record does not say.
fn flow_count(flows: u32, destinations: f64, ways: f64) -> Option<f64> {
    (flows > 0).then(|| f64::from(flows) * destinations.max(1.0) * ways)
}

const fn directions(traffic: &Traffic) -> f64 {
    if traffic.bidirectional { 2.0 } else { 1.0 }
}

const fn ends(ns: Interval<f64>) -> [f64; 3] {
    [ns.low, ns.median, ns.high]
}

/// Below saturation each wake-up serves fewer frames, so a frame costs more.
fn unsaturated(limited_by: Option<&LimitedBy>) -> Option<String> {
    (limited_by != Some(&LimitedBy::Dut)).then(|| {
        "the router's CPU was not the limit when the cost was measured, and a frame may cost less where it is"
            .to_owned()
    })
}

/// Doubts that are about the measurement, but for the one that [`unsaturated`] tells.
fn doubted(doubts: &[Doubt]) -> impl Iterator<Item = String> {
    let is_told = |doubt: &&Doubt| doubt.footnote.is_none() && doubt.name != "not-saturated";
    let doubts = doubts.iter().filter(is_told);
    doubts.map(|doubt| doubt.seen.clone())
}

/// A range of so few trials is no interval.
fn few(point: &SweepPoint) -> Option<String> {
    let trials = number::plural(point.load.trials.len(), "trial");
    let few = point.load.has_few_trials();
    few.then(|| format!("the cost is that of {trials}, so its range is no interval"))
}

/// Trials whose loads took turns may be of another state of the machine: told where they forwarded over 10 % more or less.
fn modelled(model: &CostModel, basis: &Basis) -> Option<String> {
    let cores = basis
        .flows
        .map_or(basis.cores, |flows| flows.min(basis.cores));
    let rates = basis.frame_ns.map(|ns| cores * 1e9 / ns);
    let is_told = (0.9 * rates[2]..=1.1 * rates[0]).contains(&model.measured_fps);
    (!is_told).then(|| {
        format!(
            "trials whose loads took turns forwarded {} frames/s, and this cost says {} to {}",
            number::rate(model.measured_fps),
            number::rate(rates[2]),
            number::rate(rates[0])
        )
    })
}

/// A planted cost is no router's.
fn burnt(line: &ProfileLine) -> Option<String> {
    let ns = line.burnt_ns.filter(|ns| *ns > 0)?;
    Some(format!(
        "a program on the router's path spun {ns} ns for each frame (--burn)"
    ))
}

/// Most of a frame's cost may be the bed's, which a real router does not have.
fn beds_part(load: &ProfiledLoad, wire: Option<&ProfiledWire>) -> Option<String> {
    let all = load.frame_ns.median;
    let router = wire.map_or(load.router_ns, |wire| wire.router_ns.median);
    let beds = all - router.max(0.0);
    let whose = match wire {
        Some(_) => "the bed's",
        None => "the bed's virtual NIC and exit",
    };
    (load.router_ns > 0.0)
        .then(|| format!("{beds:.0} of the {all:.0} ns measured are {whose}, and not the router's"))
}

/// The place of a point, before its frame size: `1 destination and `.
fn place(axis: Axis, value: f64) -> String {
    match axis {
        Axis::Frame => String::new(),
        axis => number::plural(value as usize, axis.name().trim_end_matches('s')) + " and ",
    }
}

/// What holds for the answer beside what its own parts say.
fn assumed(asked: &WhatIf, basis: &Basis) -> Vec<String> {
    let has_fit = |axis| basis.fits.iter().any(|(fit, _)| fit.axis == axis);
    let axes = asked.places.iter().filter(|(axis, _)| has_fit(*axis));
    let sum = "what the axes add is summed: none of them changes what another adds";
    let sum = (axes.count() > 1).then(|| sum.to_owned());
    let clock = asked.hertz.and(basis.hertz).map(|hertz| {
        let ghz = hertz / 1e9;
        format!("the CPUs ran at {ghz:.2} GHz, as /proc/cpuinfo said: on a guest that is often the nominal clock")
    });
    [sum, clock].into_iter().flatten().collect()
}

fn in_words(answer: &Answer, basis: &Basis, from: &str) -> String {
    let [low, middle, high] = answer.frame_ns;
    let rates = answer.max_fps.map(number::rate);
    let (ends, fps_ends) = match answer.has_interval {
        true => (
            format!(" ({low:.0} to {high:.0})"),
            format!(" ({} to {})", rates[0], rates[2]),
        ),
        false => Default::default(),
    };
    let start = match answer.frame_ns == basis.frame_ns {
        true => format!("{middle:.0} ns is"),
        false => format!("The prediction starts from {:.0} ns,", basis.frame_ns[1]),
    };
    let mut text = format!(
        "A frame would cost about {middle:.0} ns{ends}, so at most {} frames/s{fps_ends} are forwarded. {start} {from}.\n",
        rates[1]
    );
    for told in &answer.assumes {
        text += &format!("\nAssumed: {told}.\n");
    }
    for told in &answer.distrust {
        text += &format!("\nDo not trust it: {told}.\n");
    }
    text
}

fn in_json(answer: &Answer, from: &str) -> String {
    let end = |end: f64| answer.has_interval.then_some(end);
    let range = |[low, median, high]: [f64; 3]| json!({ "low": end(low), "median": median, "high": end(high) });
    terminal::document(json!({
        "from": from,
        "frame_ns": range(answer.frame_ns),
        "max_forwarding_fps": range(answer.max_fps),
        "assumes": answer.assumes,
        "distrust": answer.distrust,
    }))
}

#[cfg(test)]
mod tests;
