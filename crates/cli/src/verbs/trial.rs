//! `mpps trial`: given loads, without a search.

use super::contract::{CellPlan, Measure, UnderTest, cell_of, ended};
use super::measure::measure;
use crate::args::TrialArgs;
use crate::exit::Exit;
use crate::plan::{Planned, Sending, check_load};
use crate::record::Job;
use crate::recorder::Recorder;
use anyhow::Result;
use mpps_lab::bed::Bed;
use mpps_lab::jobs::fixed_load::{self, FixedLoadPlan, Load};
use mpps_lab::traffic::Traffic;
use std::ffi::OsString;

/// Runs the verb.
pub fn run(args: &TrialArgs) -> Result<Exit> {
    measure(&args.run.output, None, plan(args)?)
}

/// What a cell of a campaign does with these flags.
pub fn cell(args: &TrialArgs, _typed: &[OsString]) -> Result<CellPlan> {
    let trials = args.rate.len() as u64 * u64::from(args.trials);
    Ok(cell_of(&plan(args)?, args.time.times(trials)))
}

/// What the arguments mean.
fn plan(args: &TrialArgs) -> Result<Planned<FixedLoadPlan>> {
    for load in &args.rate {
        if let Load::At(rate) = *load {
            check_load("--rate", rate, args.time)?;
        }
    }
    let sending = Sending::new(&args.run.sent, &args.run.place, Some(&args.pair))?;
    let offer = FixedLoadPlan {
        wire: !args.no_wire,
        ..sending.fixed_load(&args.rate, args.time, args.trials)
    };
    Ok(sending.planned(offer))
}

impl Measure for FixedLoadPlan {
    fn job(&self) -> Job<'_> {
        Job::at_given_loads(self)
    }

    fn traffic(&mut self) -> &mut Traffic {
        &mut self.traffic
    }

    fn resolve(&mut self, bed: &Bed) -> Result<()> {
        *self = self.on_bed(bed)?;
        Ok(())
    }

    fn run(&self, on: UnderTest<'_>, recorder: &mut Recorder) -> Result<()> {
        ended(fixed_load::measure(on, self, recorder))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::{Cli, Verb};
    use clap::Parser;

    fn planned(words: &str) -> Result<Planned<FixedLoadPlan>> {
        let typed = ["mpps", "trial"]
            .into_iter()
            .chain(words.split_whitespace());
        match Cli::try_parse_from(typed)?.verb {
            Verb::Trial(args) => plan(&args),
            other => panic!("not trial: {other:?}"),
        }
    }

    #[test]
    fn loads_are_read_in_their_order() {
        let plan =
            planned("--rate 400k,1e6,max --time 200ms --trials 3 --no-wire").expect("a plan");
        let loads: Vec<String> = plan.offer.loads.iter().map(ToString::to_string).collect();
        assert_eq!(loads, ["400.0 kfps", "1.000 Mfps", "max"]);
        assert_eq!(
            (
                plan.offer.time.as_nanos(),
                plan.offer.trials,
                plan.offer.wire
            ),
            (200_000_000, 3, false)
        );
    }

    #[test]
    fn loads_that_cannot_be_offered_are_refused() {
        for (words, wanted) in [
            ("--rate 13M", "at most 12.000 Mfps"),
            ("--rate 1 --time 0.1", "at least one frame in 100 ms"),
            ("--rate maximal", "or max"),
            ("--rate 1k,0", "or max"),
            ("--time 1", "--rate"),
            (
                "--rate 1k --external a,b --dst-prefix 10.0.0.0/8",
                "--external with destinations",
            ),
            (
                "--rate 1k --receiver exit --port af-packet",
                "give --receiver port",
            ),
            (
                "--rate 1k --receiver exit --l4 tcp-stream --flows 2",
                "GRO merge frames",
            ),
            (
                "--rate 1k --receiver exit --external a,b",
                "has no exit for the receiver",
            ),
        ] {
            let error = planned(words).expect_err(words).to_string();
            assert!(error.contains(wanted), "{words}: {error}");
        }
    }
}
