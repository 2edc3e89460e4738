//! `mpps show --what-if`: what a frame would cost elsewhere, from a record alone.

use crate::terminal;
use anyhow::{Context, Result, bail, ensure};
use mpps_method::sweep::{Answer, Axis, Basis, Fit, Measured, Memory, WhatIf};
use mpps_record::{
    Interval, LimitedBy, ProfileLine, ProfiledLoad, ProfiledWire, Run, SweepLine, SweepPoint,
    Traffic,
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

/// The measured point, what it is in words, and what speaks against its fits: the lowest place of the first sweep, or
/// else the saturated load of the first profile. The last run comes first. Where no axis of a fit is asked for, the point
/// costs what was measured, however well a line fits there.
fn basis(runs: &[&Run], asked: &WhatIf) -> Result<(Basis, String, Vec<String>)> {
    let runs: Vec<&Run> = runs.iter().rev().copied().collect();
    let sweeps: Vec<(&Run, &SweepLine)> = (runs.iter())
        .flat_map(|run| run.sweeps.iter().map(move |line| (*run, line)))
        .filter(|(_, line)| !line.is_paper())
        .collect();
    let clock = runs.iter().find_map(|run| {
        let mhz = run.begin.as_ref()?.facts.cpu.clock_mhz.known()?;
        Some(mhz * 1e6)
    });
    let each = (sweeps.iter()).filter_map(|(run, line)| Some((*run, fit(line)?)));
    let (of, fitted): (Vec<&Run>, Vec<(Fit, &SweepPoint)>) = each.unzip();
    let warned = sweeps
        .iter()
        .flat_map(|(_, line)| line.distrust.iter().cloned());
    let warned = warned.collect();
    if let Some(first) = of.first() {
        let begin = first.begin.as_ref();
        let ways = begin.map_or(1.0, |begin| directions(&begin.plan.traffic));
        return swept(fitted, clock, ways, asked, warned);
    }
    let profiles = (runs.iter()).flat_map(|run| run.profiles.iter().map(move |line| (run, line)));
    let (watched, on_bed): (Vec<_>, Vec<_>) =
        profiles.partition(|(_, line)| line.watched.is_some());
    let mut loads =
        (on_bed.iter()).filter_map(|(run, line)| Some((run, line, line.loads.first()?)));
    let Some((run, line, load)) = loads.next() else {
        ensure!(
            sweeps.is_empty(),
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
    let doubts = line.doubts.iter().filter(|doubt| doubt.footnote.is_none());
    let doubts = doubts.map(|doubt| doubt.seen.clone());
    let more = [
        unsaturated(line.limited_by.as_ref()),
        burnt(line),
        beds_part(load, line.wire.as_deref()),
    ];
    let warned = more.into_iter().flatten().chain(doubts).collect();
    let basis = Basis {
        frame_ns: ends(load.frame_ns),
        cores: line.cpus.len().max(1) as f64,
        flows: (run.begin.as_ref()).and_then(|begin| flows(&begin.plan.traffic)),
        hertz: clock,
        fits: Vec::new(),
    };
    let from = format!("the measured cost at {}", number::frame(&line.frame));
    Ok((basis, from, warned))
}

/// The lowest place of the first of these sweeps, each with its fit. Of an axis the first sweep counts.
fn swept(
    mut fitted: Vec<(Fit, &SweepPoint)>,
    hertz: Option<f64>,
    ways: f64,
    asked: &WhatIf,
    warned: Vec<String>,
) -> Result<(Basis, String, Vec<String>)> {
    let mut axes = Vec::new();
    fitted.retain(|(fit, _)| {
        let is_first = !axes.contains(&fit.axis);
        axes.push(fit.axis);
        is_first
    });
    let (fit, point) = fitted.first().context("a fit")?;
    let is_fitted = |axis: Axis| fitted.iter().any(|(fit, _)| fit.axis == axis);
    // What speaks against a fit says nothing of a measured cost.
    let (how, frame_ns, mut warned) = match asked.places.iter().any(|&(axis, _)| is_fitted(axis)) {
        true => ("fitted", fit_at(fit, point.value), warned),
        false => {
            let warned = [
                unsaturated(point.limited_by.as_ref()),
                beds_part(&point.load, None),
            ];
            let warned = warned.into_iter().flatten().collect();
            ("measured", ends(point.load.frame_ns), warned)
        }
    };
    let from = format!(
        "the {how} cost at {}{}",
        place(fit.axis, point.value),
        number::frame(&point.frame)
    );
    let cores = f64::from(point.cores);
    let (first, point) = (fit.axis, *point);
    let mut start = |(fit, lowest): (Fit, &SweepPoint)| {
        let axis = fit.axis;
        let at = match axis == first {
            true => Some(lowest.value),
            false => place_on(axis, point),
        };
        let is_asked = asked.places.iter().any(|(of, _)| *of == axis);
        if at.is_none() && is_asked {
            let (axis, lowest) = (axis.name(), lowest.value);
            warned.push(format!(
                "the measured point has no place on the axis {axis}, so {axis} starts from {lowest}"
            ));
        }
        (fit, at.unwrap_or(lowest.value))
    };
    let basis = Basis {
        frame_ns,
        cores,
        flows: flow_count(point.flows, point.destinations as f64, ways),
        hertz,
        fits: fitted.into_iter().map(&mut start).collect(),
    };
    Ok((basis, from, warned))
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

fn fit_at(fit: &Fit, value: f64) -> [f64; 3] {
    let ns = fit.at(value).ns;
    [ns - fit.off_ns, ns, ns + fit.off_ns]
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
fn assumed(asked: &WhatIf, basis: &Basis) -> Option<String> {
    let has_fit = |axis| basis.fits.iter().any(|(fit, _)| fit.axis == axis);
    let axes = asked.places.iter().filter(|(axis, _)| has_fit(*axis));
    let sum = "what the axes add is summed: none of them changes what another adds";
    (axes.count() > 1).then(|| sum.to_owned())
}

/// The fit of a sweep, from its points, with their lowest place.
fn fit(line: &SweepLine) -> Option<(Fit, &SweepPoint)> {
    let axis = Axis::from_name(&line.axis)?;
    let points = line.fitted();
    let points: Vec<Measured> = points
        .map(|(value, parts)| Measured { value, parts })
        .collect();
    let fit = Fit::new(axis, &points, &Memory(line.latencies())).ok()?;
    Some((fit, *line.along().first()?))
}

fn in_words(answer: &Answer, basis: &Basis, from: &str) -> String {
    let [low, middle, high] = answer.frame_ns;
    let rates = answer.max_fps.map(number::rate);
    let mut text = format!(
        "A frame would cost about {middle:.0} ns ({low:.0} to {high:.0}), so at most {} frames/s ({} to {}) are forwarded. \
         The prediction starts from {:.0} ns, {from}.\n",
        rates[1], rates[0], rates[2], basis.frame_ns[1]
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
    let range =
        |[low, median, high]: [f64; 3]| json!({ "low": low, "median": median, "high": high });
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
        let (ns, how) = from(&[(Axis::Frame, 512.0)]);
        assert!(ns != 342.0 && how.contains("fitted"), "{ns}: {how}");
        let mut idle = run.clone();
        idle.sweeps[0].points[0].limited_by = Some(LimitedBy::Tester);
        let warned = [&run, &idle].map(|run| {
            let (_, _, warned) = basis(&[run], &asked(&[])).expect("a fit");
            warned.len()
        });
        assert_eq!(warned, [0, 1]);
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
            |basis: &Basis, places: &[(Axis, f64)]| assumed(&asked(places), basis).is_some();
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
