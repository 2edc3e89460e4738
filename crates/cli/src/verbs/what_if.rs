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
    let (how, point) = match first.asked(asked) {
        Some((_, measured)) => (
            measured.map_or("fitted", |_| "measured"),
            measured.unwrap_or(lowest),
        ),
        None => ("measured", lowest),
    };
    let frame_ns = match how {
        "fitted" => [first.fit.at(point.value).ns; 3],
        _ => ends(point.load.frame_ns),
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

/// Doubts that are about the measurement.
fn doubted(doubts: &[Doubt]) -> impl Iterator<Item = String> {
    let doubts = doubts.iter().filter(|doubt| doubt.footnote.is_none());
    doubts.map(|doubt| doubt.seen.clone())
}

/// Two trials have a range.
fn few(point: &SweepPoint) -> Option<String> {
    let trials = number::plural(point.load.trials.len(), "trial");
    let few = point.load.has_few_trials();
    few.then(|| format!("the cost is that of {trials}, so its range is no interval"))
}

/// Trials whose loads took turns forward what they do, whatever a sampled trial's cost says.
fn modelled(model: &CostModel, basis: &Basis) -> Option<String> {
    let cores = basis
        .flows
        .map_or(basis.cores, |flows| flows.min(basis.cores));
    let rates = basis.frame_ns.map(|ns| cores * 1e9 / ns);
    let is_told = |fps: f64| (rates[2]..=rates[0]).contains(&fps);
    let [predicted, measured] = [model.predicted_fps, model.measured_fps];
    (!(is_told(predicted) && is_told(measured))).then(|| {
        format!(
            "the model of this record predicts {} frames/s and measured {}, and this cost says {} to {}",
            number::rate(predicted),
            number::rate(measured),
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
mod tests {
    use super::*;
    use mpps_record::{PartCost, Watched};

    /// A record of one profile.
    fn run(limited_by: LimitedBy, watched: Option<Watched>) -> Run {
        let ns = Interval {
            low: 900.0,
            median: 1_000.0,
            high: 1_100.0,
        };
        let mut run = Run::default();
        run.add(ProfileLine {
            frame: "64".to_owned(),
            cpus: vec![1],
            limited_by: Some(limited_by),
            loads: vec![ProfiledLoad {
                frame_ns: ns,
                ..ProfiledLoad::default()
            }],
            watched,
            ..ProfileLine::default()
        });
        run
    }

    #[test]
    fn only_a_saturated_profile_is_trusted() {
        let warned =
            |run: &Run| basis(&[run], &WhatIf::default()).map(|(_, _, warned)| warned.len());
        let saturated = run(LimitedBy::Dut, None);
        assert_eq!(warned(&saturated).expect("a cost"), 0);
        assert_eq!(warned(&run(LimitedBy::Tester, None)).expect("a cost"), 1);
        let look = run(LimitedBy::Dut, Some(Watched::default()));
        let error = warned(&look).expect_err("a look").to_string();
        assert!(error.contains("--cpus"), "{error}");
        // It takes no other profile away.
        assert_eq!(
            basis(&[&look, &saturated], &WhatIf::default())
                .expect("a cost")
                .0
                .cores,
            1.0
        );
    }

    /// A place of a sweep, with this cost.
    fn point(value: f64, ns: f64) -> SweepPoint {
        SweepPoint {
            value,
            frame: "64".to_owned(),
            cores: 1,
            limited_by: Some(LimitedBy::Dut),
            load: ProfiledLoad {
                frame_ns: Interval {
                    low: ns - 1.0,
                    median: ns,
                    high: ns + 1.0,
                },
                stages: vec![PartCost {
                    part: "routing".to_owned(),
                    ns: Interval {
                        low: ns,
                        median: ns,
                        high: ns,
                    },
                    ..PartCost::default()
                }],
                ..ProfiledLoad::default()
            },
            ..SweepPoint::default()
        }
    }

    fn sweep(axis: &str, points: Vec<SweepPoint>) -> Run {
        let mut run = Run::default();
        run.add(SweepLine {
            axis: axis.to_owned(),
            points,
            ..SweepLine::default()
        });
        run
    }

    fn asked(places: &[(Axis, f64)]) -> WhatIf {
        WhatIf {
            hertz: None,
            places: places.to_vec(),
        }
    }

    #[test]
    fn an_axis_that_was_swept_twice_counts_once() {
        let swept = |places: [f64; 3]| sweep("frame", places.map(|at| point(at, at)).to_vec());
        let (old, new) = (
            swept([64.0, 128.0, 256.0]),
            swept([512.0, 1_024.0, 1_518.0]),
        );
        let (basis, ..) = basis(&[&old, &new], &WhatIf::default()).expect("a fit");
        let places: Vec<f64> = basis.fits.iter().map(|(_, at)| *at).collect();
        assert_eq!(places, [512.0]);
    }

    #[test]
    fn each_axis_starts_from_the_measured_point() {
        let point = |flows: u32, frame: &str, value: f64| SweepPoint {
            flows,
            frame: frame.to_owned(),
            ..point(value, 500.0 + value)
        };
        let frames = [64.0, 512.0, 1_518.0];
        let flows = [1.0, 64.0, 4_096.0];
        let fits = |flows_then: u32, frame_then: &str| {
            let points = frames.map(|at| point(flows_then, &at.to_string(), at));
            let by_frame = sweep("frame", points.to_vec());
            let points = flows.map(|at| point(at as u32, frame_then, at));
            let by_flows = sweep("flows", points.to_vec());
            let asked = asked(&[(Axis::Frame, 512.0), (Axis::Flows, 64.0)]);
            let both = [[&by_flows, &by_frame], [&by_frame, &by_flows]];
            both.map(|runs| {
                let (basis, _, warned) = basis(&runs, &asked).expect("a fit");
                (basis.fits[1].1, warned.len())
            })
        };
        assert_eq!(fits(64, "512"), [(64.0, 0), (512.0, 0)]);
        // Nobody knows these places.
        assert_eq!(fits(0, "imix"), [(1.0, 1), (64.0, 1)]);
    }

    #[test]
    fn without_an_axis_the_point_costs_what_it_did() {
        let points = [(64.0, 342.0), (512.0, 900.0), (1_518.0, 1_000.0)];
        let points = points.map(|(value, ns)| point(value, ns)).to_vec();
        let run = sweep("frame", points);
        let from = |places: &[(Axis, f64)]| {
            let (basis, from, _) = basis(&[&run], &asked(places)).expect("a fit");
            (basis.frame_ns[1], from)
        };
        let (ns, how) = from(&[(Axis::Cores, 8.0)]);
        assert_eq!((ns, how.as_str()), (342.0, "the measured cost at 64 B"));
        let (ns, how) = from(&[(Axis::Frame, 128.0)]);
        assert!(ns != 342.0 && how.contains("fitted"), "{ns}: {how}");
        let mut idle = run.clone();
        idle.sweeps[0].points[0].limited_by = Some(LimitedBy::Tester);
        let warned = [&run, &idle].map(|run| {
            let (_, _, warned) = basis(&[run], &asked(&[])).expect("a fit");
            warned.len()
        });
        assert_eq!(warned, [0, 1]);
    }

    /// Four places that no line meets, of which the fit was checked by one.
    fn checked() -> Run {
        let points = [
            (64.0, 300.0),
            (512.0, 400.0),
            (1_024.0, 700.0),
            (1_518.0, 650.0),
        ];
        let mut points = points.map(|(value, ns)| SweepPoint {
            frame: value.to_string(),
            ..point(value, ns)
        });
        points[1].held_out = true;
        sweep("frame", points.to_vec())
    }

    #[test]
    fn a_measured_place_is_answered_as_measured() {
        let run = checked();
        let asked = asked(&[(Axis::Frame, 512.0)]);
        let (basis, from, _) = basis(&[&run], &asked).expect("a fit");
        assert_eq!(from, "the measured cost at 512 B");
        let answer = basis.answer(&asked).expect("an answer");
        assert_eq!(answer.frame_ns, [399.0, 400.0, 401.0]);
        let told = in_words(&answer, &basis, &from);
        assert!(
            told.contains(". 400 ns is the measured cost at 512 B."),
            "{told}"
        );
        // Elsewhere all four places count.
        assert_eq!(basis.fits[0].0.points, 4);
    }

    #[test]
    fn a_fitted_start_has_the_fits_interval_once() {
        let run = checked();
        let asked = asked(&[(Axis::Frame, 700.0)]);
        let (basis, ..) = basis(&[&run], &asked).expect("a fit");
        let there = basis.fits[0].0.at(700.0);
        let answer = basis.answer(&asked).expect("an answer").frame_ns;
        let wanted = [there.low, there.ns, there.high];
        let near = |(one, other): (&f64, &f64)| (one - other).abs() < 1e-6;
        assert!(
            answer.iter().zip(&wanted).all(near),
            "{answer:?} {wanted:?}"
        );
    }

    #[test]
    fn only_the_sweep_of_the_axis_asked_counts() {
        let flows = [1.0, 64.0, 4_096.0].map(|at| SweepPoint {
            flows: at as u32,
            ..point(at, 350.0)
        });
        let flows = sweep("flows", flows.to_vec());
        let mut later = checked();
        later.sweeps[0].distrust = vec!["it is no line".to_owned()];
        later.sweeps[0].doubts = vec![Doubt {
            seen: "void trials: 1 of 8".to_owned(),
            ..Doubt::default()
        }];
        let told = |places: &[(Axis, f64)]| {
            let (basis, from, warned) = basis(&[&flows, &later], &asked(places)).expect("a fit");
            (basis.frame_ns[1].round(), from, warned)
        };
        let (ns, from, warned) = told(&[(Axis::Flows, 100.0)]);
        assert_eq!(
            (ns, from.as_str()),
            (350.0, "the fitted cost at 1 flow and 64 B")
        );
        assert!(warned.is_empty(), "{warned:?}");
        let (.., warned) = told(&[(Axis::Frame, 700.0)]);
        let wanted = ["it is no line", "void trials: 1 of 8"];
        assert_eq!(
            warned,
            wanted.map(|told| format!("the sweep over frame: {told}"))
        );
        // Of a measured cost no fit is told, but what the measurement lacks.
        let (.., warned) = told(&[(Axis::Frame, 512.0)]);
        assert_eq!(warned, ["the sweep over frame: void trials: 1 of 8"]);
    }

    #[test]
    fn a_measured_range_does_not_hide_trials_and_drift() {
        let mut run = checked();
        run.sweeps[0].drift_ratio = Some(0.033);
        run.sweeps[0].points[0].load.trials = vec![1, 2];
        run.sweeps[0].points[0].limited_by = Some(LimitedBy::Tester);
        let warned = |places: &[(Axis, f64)]| basis(&[&run], &asked(places)).expect("a fit").2;
        let told = warned(&[(Axis::Cores, 8.0)]).join("; ");
        for part in [
            "was not the limit",
            "that of 2 trials",
            "differed by +3.3 %",
        ] {
            assert!(told.contains(part), "{part}: {told}");
        }
        // The start of a fit is a measured point too, whose limit counts.
        assert_eq!(warned(&[(Axis::Frame, 700.0)]).len(), 1);
    }

    #[test]
    fn a_model_that_contradicts_the_cost_is_told() {
        let told = |measured_fps: f64| {
            let mut run = run(LimitedBy::Dut, None);
            run.profiles[0].model = Some(CostModel {
                predicted_fps: 1e6,
                measured_fps,
                ..CostModel::default()
            });
            basis(&[&run], &asked(&[])).expect("a cost").2.join("; ")
        };
        assert_eq!(told(1.05e6), "");
        assert!(told(0.85e6).contains("predicts 1.00 million frames/s and measured 850 thousand"));
    }

    #[test]
    fn flows_are_of_all_destinations_and_directions() {
        let mut traffic = Traffic {
            flows: 4,
            bidirectional: true,
            ..Traffic::default()
        };
        assert_eq!(flows(&traffic), Some(8.0));
        traffic.flows = 0;
        assert_eq!(flows(&traffic), None);
        let swept = SweepPoint {
            flows: 4,
            destinations: 100,
            ..point(64.0, 500.0)
        };
        let points = [swept, point(512.0, 500.0), point(1_518.0, 500.0)];
        let run = sweep("frame", points.to_vec());
        let (basis, ..) = basis(&[&run], &asked(&[])).expect("a fit");
        assert_eq!(basis.flows, Some(400.0));
    }

    #[test]
    fn an_answer_in_json_has_the_schemas_version() {
        let asked = WhatIf::default();
        let (basis, from, _) = basis(&[&run(LimitedBy::Dut, None)], &asked).expect("a cost");
        let answer = basis.answer(&asked).expect("an answer");
        let members: serde_json::Value =
            serde_json::from_str(&in_json(&answer, &from)).expect("JSON");
        assert_eq!(members["schema"], mpps_record::SCHEMA);
        assert_eq!(members["frame_ns"]["median"], 1_000.0);
        assert_eq!(members["frame_ns"]["low"], 900.0);
        let open = Answer {
            has_interval: false,
            ..answer
        };
        let members: serde_json::Value =
            serde_json::from_str(&in_json(&open, &from)).expect("JSON");
        assert!(members["frame_ns"]["low"].is_null() && members["frame_ns"]["median"] == 1_000.0);
        assert!(in_words(&open, &basis, &from).starts_with("A frame would cost about 1000 ns, so"));
    }

    #[test]
    fn a_point_is_named_by_its_place_and_frame() {
        assert_eq!(place(Axis::Destinations, 1.0), "1 destination and ");
        assert_eq!(place(Axis::Cores, 2.0), "2 cores and ");
        assert_eq!(place(Axis::Frame, 64.0), "");
    }

    #[test]
    fn a_sum_over_axes_is_assumed() {
        let (mut basis, ..) =
            basis(&[&run(LimitedBy::Dut, None)], &WhatIf::default()).expect("a cost");
        let assumed =
            |basis: &Basis, places: &[(Axis, f64)]| !assumed(&asked(places), basis).is_empty();
        let both = [(Axis::Routes, 1e6), (Axis::Frame, 512.0)];
        assert!(!assumed(&basis, &both));
        let points = [64.0, 512.0, 1_518.0].map(|value| Measured {
            value,
            parts: vec![1_000.0 + value],
        });
        for axis in [Axis::Routes, Axis::Frame] {
            let fit = Fit::new(axis, &points, &Memory::default()).expect("a fit");
            basis.fits.push((fit, 64.0));
        }
        assert!(assumed(&basis, &both));
    }
}
