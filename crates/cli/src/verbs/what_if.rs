//! `mpps show --what-if`: what a frame would cost elsewhere, from a record alone.

use crate::outcome::json;
use crate::terminal;
use anyhow::{Result, bail, ensure};
use mpps_method::sweep::{Answer, Axis, Basis, Fit, Measured, Memory, WhatIf};
use mpps_record::{Run, SweepLine, SweepPoint};
use mpps_report::{number, sweep};
use serde_json::{Value, json as value};

/// Puts the answer of these runs on stdout.
///
/// # Errors
/// They cannot tell; the line says which command would.
pub fn show(runs: &[&Run], asked: &WhatIf, as_json: bool) -> Result<()> {
    let (basis, from, warned) = basis(runs)?;
    let mut answer = basis.answer(asked)?;
    answer.distrust.extend(warned);
    terminal::out(&match as_json {
        true => json(&in_json(&answer, &from))?,
        false => terminal::fitted(&in_words(&answer, &basis, &from)),
    });
    Ok(())
}

/// The measured point, what it is in words, and what speaks against its fits: the lowest place of the first sweep, or
/// else the saturated load of the first profile.
fn basis(runs: &[&Run]) -> Result<(Basis, String, Vec<String>)> {
    let sweeps: Vec<&SweepLine> = (runs.iter())
        .flat_map(|run| &run.sweeps)
        .filter(|line| !line.is_paper())
        .collect();
    let clock = runs.iter().find_map(|run| {
        let mhz = run.begin.as_ref()?.facts.cpu.clock_mhz.known()?;
        Some(mhz * 1e6)
    });
    let fitted: Vec<(Fit, &SweepPoint)> = sweeps.iter().filter_map(|line| fit(line)).collect();
    let warned = sweeps.iter().flat_map(|line| line.distrust.iter().cloned());
    let warned = warned.collect();
    if let Some((fit, point)) = fitted.first() {
        let ns = fit.at(point.value).ns;
        let from = format!(
            "the fit at {} of {}, {}",
            point.value,
            fit.axis.name(),
            number::frame(&point.frame)
        );
        let basis = Basis {
            frame_ns: [ns - fit.off_ns, ns, ns + fit.off_ns],
            cores: f64::from(point.cores),
            hertz: clock,
            fits: fitted
                .into_iter()
                .map(|(fit, at)| (fit, at.value))
                .collect(),
        };
        return Ok((basis, from, warned));
    }
    let profiles = || runs.iter().flat_map(|run| &run.profiles);
    let Some((line, load)) = profiles().find_map(|line| Some((line, line.loads.first()?))) else {
        ensure!(
            sweeps.is_empty(),
            "--what-if: the sweep in this record has no fit: `mpps show` says why"
        );
        bail!(
            "--what-if: the record has no cost of a frame: `mpps explain --sweep destinations` measures one"
        );
    };
    let ns = load.frame_ns;
    let basis = Basis {
        frame_ns: [ns.low, ns.median, ns.high],
        cores: line.cpus.len().max(1) as f64,
        hertz: clock,
        fits: Vec::new(),
    };
    Ok((basis, number::frame(&line.frame), warned))
}

/// The fit of a sweep, from its points, with their lowest place.
fn fit(line: &SweepLine) -> Option<(Fit, &SweepPoint)> {
    let axis = Axis::from_name(&line.axis)?;
    let points = line.fitted();
    let points: Vec<Measured> = points
        .map(|(value, parts)| Measured { value, parts })
        .collect();
    let fit = Fit::new(axis, &points, &Memory(line.latencies())).ok()?;
    Some((fit, sweep::along(line).first()?))
}

fn in_words(answer: &Answer, basis: &Basis, from: &str) -> String {
    let [low, middle, high] = answer.frame_ns;
    let rates = answer.max_fps.map(number::rate);
    let mut text = format!(
        "A frame would cost about {middle:.0} ns ({low:.0} to {high:.0}), so at most {} frames/s ({} to {}) are forwarded. \
         It starts from {:.0} ns ({from}).\n",
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

fn in_json(answer: &Answer, from: &str) -> Value {
    let range =
        |[low, median, high]: [f64; 3]| value!({ "low": low, "median": median, "high": high });
    value!({
        "from": from,
        "frame_ns": range(answer.frame_ns),
        "max_forwarding_fps": range(answer.max_fps),
        "assumes": answer.assumes,
        "distrust": answer.distrust,
    })
}
