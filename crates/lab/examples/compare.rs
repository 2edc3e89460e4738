//! For bench/compare: comparisons of set-ups one after the other, each on new beds, as a JSON object a line.
//! `compare RUNS SECONDS WITHIN SETUP SETUP...`, where `-` is no set-up script and 0.02 is within 2 %.
#![forbid(unsafe_code)]

use mpps_lab::bed::{Bed, BedPlan, CpuSplit};
use mpps_lab::interrupt;
use mpps_lab::jobs::compare::{self, ComparePlan, Measured, Outcome, Variant};
use mpps_lab::jobs::{Observer, Report};
use mpps_lab::tester::ReceiverPlace;
use mpps_lab::traffic::Traffic;
use mpps_linux::cpu;
use mpps_method::Span;
use mpps_method::compare::rate;
use mpps_method::distance::Distance;
use mpps_method::interval::Interval;
use mpps_method::saturation::Block;
use serde_json::{Value, json};
use std::error::Error;
use std::path::PathBuf;
use std::time::Instant;

const USAGE: &str = "usage: compare RUNS SECONDS WITHIN SETUP SETUP...";

struct Nobody;

impl Observer for Nobody {
    fn trial(&mut self, _: &Report<'_>) -> std::io::Result<()> {
        Ok(())
    }

    fn last_number(&self) -> u32 {
        0
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    interrupt::install()?;
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [runs, seconds, within, set_ups @ ..] = &arguments[..] else {
        return Err(USAGE.into());
    };
    if set_ups.len() < 2 {
        return Err(USAGE.into());
    }
    let (runs, seconds): (u32, f64) = (runs.parse()?, seconds.parse()?);
    let within: f64 = within.parse()?;
    let cpus = CpuSplit::choose(&cpu::available()?, None, None)?;
    for run in 0..runs {
        let raise = |set_up: &String| {
            Bed::raise(&BedPlan {
                dut_setup: (set_up != "-").then(|| PathBuf::from(set_up)),
                ..BedPlan::usual(cpus.clone())
            })
        };
        let begun = Instant::now();
        let beds = set_ups.iter().map(raise).collect::<Result<Vec<Bed>, _>>()?;
        let variant = |(bed, set_up): (_, &String)| Variant {
            name: set_up.clone(),
            bed,
            traffic: Traffic::default(),
        };
        let variants: Vec<Variant<'_>> = beds.iter().zip(set_ups).map(variant).collect();
        let plan = ComparePlan {
            within,
            budget: Span::from_secs_f64(seconds),
            receiver: None,
            whole_rounds: false,
        };
        let outcome = compare::measure(&variants, &plan, &mut Nobody)?;
        println!("{}", line(run, begun.elapsed().as_secs_f64(), &outcome));
        beds.into_iter().try_for_each(Bed::lower)?;
        if let Some(error) = outcome.error {
            return Err(error.into());
        }
    }
    Ok(())
}

fn line(run: u32, took_s: f64, outcome: &Outcome) -> Value {
    json!({
        "run": run,
        "took_s": took_s,
        "measure": format!("{:?}", outcome.rule.measure),
        "receiver": outcome.receiver.map(ReceiverPlace::name),
        "fixed_fps": outcome.fixed.fps(),
        "variants": outcome.variants.iter().map(variant).collect::<Vec<_>>(),
    })
}

fn variant(measured: &Measured) -> Value {
    let overload = |value: &dyn Fn(&Block) -> Value| {
        let turns = measured.turns.iter();
        turns.map(|turn| value(&turn.overload)).collect::<Vec<_>>()
    };
    let fixed = measured.turns.iter().map(|turn| turn.fixed.ns_per_frame);
    json!({
        "name": measured.name,
        "overload_fps": measured.overload.fps(),
        "finding": measured.compared.map(|found| format!("{:?}", found.finding)),
        "rate": measured.compared.and_then(|found| found.rate).map(interval),
        "cost_ns": measured.compared.and_then(|found| found.cost_ns).map(interval),
        "fixed_cost_ns": measured.compared.and_then(|found| found.fixed_cost_ns).map(interval),
        "pairs": measured.compared.map(|found| found.pairs),
        "sent_fps": overload(&|block| block.sent.fps().into()),
        "rates_fps": overload(&|block| rate(block).into()),
        "ns_per_frame": overload(&|block| block.ns_per_frame.into()),
        "distances_ns": overload(&|block| match block.distance {
            Distance::Steady(at) => at.round_trip_ns.into(),
            Distance::Unknown => Value::Null,
            Distance::Changed => "changed".into(),
        }),
        "fixed_ns_per_frame": fixed.collect::<Vec<_>>(),
    })
}

fn interval(Interval { low, middle, high }: Interval) -> Value {
    json!([low, middle, high])
}
