//! What `mpps rfc2544` is to do: frame sizes, parts, lengths.

use super::Planned;
use super::sending::Sending;
use super::suite::{FULL, PARTS, Part, QUICK, Suite};
use crate::args::{SearchArgs, SuiteArgs};
use anyhow::{Result, bail, ensure};
use mpps_lab::jobs::recovery;
use mpps_lab::jobs::throughput::ThroughputPlan;
use mpps_method::{FrameSpec, Preset};

/// Sizes for Ethernet behind the smallest one (RFC 2544 section 9.1, RFC 5180 section 5.1).
const SIZES: &str = "128,256,512,1024,1280,1518";
/// Those of `--quick`.
const QUICK_SIZES: &str = "512,1518";

/// What the arguments mean.
pub fn suite(args: &SuiteArgs) -> Result<Planned<Suite>> {
    let mut parts = parts(&args.only, &args.except)?;
    let mut sending = Sending::new(&args.run.sent, &args.run.place, None)?;
    let (preset, usual, sizes) = match args.quick {
        true => (Preset::Quick, QUICK, QUICK_SIZES),
        false => (Preset::Rfc2544, FULL, SIZES),
    };
    if args.run.sent.traffic.frame.is_none() {
        // The first of the usual sizes is the smallest that the family allows.
        let least = &sending.traffic.frames;
        sending.sizes = FrameSpec::parse_list(&format!("{least},{sizes}"))?;
    }
    let steps = recovery::can_step(&sending.traffic);
    let resets = steps && sending.bed.dut().planned().takes_routes();
    ensure!(
        resets || !args.only.iter().any(|part| part == "reset"),
        "--only reset: mpps resets only the router of its own bed, in one direction and with --port xdp"
    );
    parts.retain(|part| resets || part.verb != "reset");
    ensure!(
        steps || !parts.iter().any(|part| part.verb == "recovery"),
        "recovery needs one direction and --port xdp: give --except recovery, or leave out what it lacks"
    );
    let lengths = usual.with(args.time, args.budget);
    let search = SearchArgs {
        preset: Some(preset),
        time: args.time,
        budget: lengths.budget,
        expect_min: args.expect_min,
        ..SearchArgs::default()
    };
    let measurement = ThroughputPlan {
        budget: lengths.budget,
        ..sending.measurement(&search)?
    };
    Ok(sending.planned(Suite {
        measurement,
        lengths,
        parts,
        expect_min: args.expect_min,
    }))
}

/// The parts that were asked for, in the order of the RFC.
fn parts(only: &[String], except: &[String]) -> Result<Vec<&'static Part>> {
    for (flag, names) in [("--only", only), ("--except", except)] {
        let unknown = |name: &&String| PARTS.iter().all(|part| part.verb != **name);
        if let Some(name) = names.iter().find(unknown) {
            let known: Vec<&str> = PARTS.iter().map(|part| part.verb).collect();
            bail!(
                "{flag} {name}: there is no such part: give {}",
                known.join(", ")
            );
        }
    }
    let named = |names: &[String], part: &Part| names.iter().any(|name| name == part.verb);
    let asked = |part: &&Part| (only.is_empty() || named(only, part)) && !named(except, part);
    let parts: Vec<&Part> = PARTS.iter().filter(asked).collect();
    ensure!(
        !parts.is_empty(),
        "--except leaves no part: leave out one of them"
    );
    Ok(parts)
}

#[cfg(test)]
mod tests;
