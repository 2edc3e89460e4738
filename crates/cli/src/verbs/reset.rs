//! `mpps reset`: for how long nothing is forwarded after a reset.

use super::contract::{Measure, UnderTest, ended};
use super::measure::measure;
use crate::args::ResetArgs;
use crate::exit::Exit;
use crate::plan::{BedChoice, Planned, Sending};
use crate::record::Job;
use crate::recorder::Recorder;
use anyhow::{Result, bail, ensure};
use mpps_lab::bed::{self, Bed, BedPlan};
use mpps_lab::jobs::JobError;
use mpps_lab::jobs::recovery::can_step;
use mpps_lab::jobs::reset::{self, Away, Part, Process, ResetPlan, SHARE};
use mpps_lab::traffic::Traffic;
use mpps_report::number::percent_or_under as percent;

/// Runs the verb.
pub fn run(args: &ResetArgs) -> Result<Exit> {
    let plan = plan(args)?;
    let all = args.reset.is_empty();
    let plan = plan.map(|plan| Reset { plan, all });
    measure(&args.run.output, None, plan)
}

/// What the arguments mean. A kept bed tells later whether it has a set-up script.
fn plan(args: &ResetArgs) -> Result<Planned<ResetPlan>> {
    let sending = Sending::new(&args.run.sent, &args.run.place, None)?;
    ensure!(
        sending.bed.dut().planned().takes_routes(),
        "--external: mpps resets only the router of its own bed; leave it out"
    );
    ensure!(can_step(&sending.traffic), JobError::NoGap);
    let scripted = match &sending.bed {
        BedChoice::Own(wish) => wish.dut_setup.is_some(),
        _ => true,
    };
    let process = args.process.clone().zip(args.process_start.clone());
    let away = Away {
        hold: args.hold,
        process: process.map(|(name, start)| Process { name, start }),
    };
    let parts = if args.reset.is_empty() {
        Part::all_of(scripted, away.process.is_some())
    } else {
        args.reset.clone()
    };
    check(&parts, scripted, &away)?;
    let measurement = sending.searched(None, None)?;
    Ok(sending.planned(ResetPlan {
        measurement,
        parts,
        rate: args.rate,
        time: args.time,
        away,
        trials: args.repeat,
    }))
}

/// Whether these can be reset on a bed with a set-up script, or without.
fn check(parts: &[Part], scripted: bool, away: &Away) -> Result<()> {
    match (&away.process, parts.contains(&Part::Process)) {
        (None, true) => bail!("--reset process: name it with --process, and give --process-start"),
        (Some(_), false) => bail!("--process: leave it out, or give --reset process too"),
        (Some(process), true) => bed::check_start(&process.start)?,
        (None, false) => {}
    }
    ensure!(
        scripted || !parts.contains(&Part::SetUp),
        "--reset set-up: the bed has no set-up script to run again: give one with --dut-setup"
    );
    Ok(())
}

/// What to reset.
pub struct Reset {
    /// The job's own plan.
    pub plan: ResetPlan,
    /// Whether all that the bed has is meant.
    pub all: bool,
}

impl Reset {
    /// The plan with the parts that this bed has, if all are meant.
    fn on(&self, bed: &BedPlan) -> ResetPlan {
        let mut plan = self.plan.clone();
        if self.all {
            plan.parts = Part::all_of(bed.dut_setup.is_some(), plan.away.process.is_some());
        }
        plan
    }
}

impl Measure for Reset {
    fn job(&self) -> Job<'_> {
        let plan = &self.plan;
        let (measurement, time, hold) = (&plan.measurement, plan.time, plan.away.hold);
        let process = plan.away.process.as_ref().map_or(String::new(), |process| {
            let Process { name, start } = process;
            format!(" ({name}, started by {})", start.display())
        });
        let share = || format!("{} of the maximum forwarding rate", percent(SHARE));
        let load = plan.rate.map_or_else(share, |rate| rate.to_string());
        let parts: Vec<&str> = plan.parts.iter().map(|part| Part::name(*part)).collect();
        let parts = match parts[..] {
            [] => "all that the bed has".to_owned(),
            _ => parts.join(", "),
        };
        let trials = plan.trials;
        let rule =
            format!("{trials} each of {parts}{process}, held for {hold}, in {time} at {load}");
        Job {
            budget: None,
            ..Job::new("reset", measurement, rule).at_loads(vec![load], time, trials)
        }
    }

    fn traffic(&mut self) -> &mut Traffic {
        &mut self.plan.measurement.traffic
    }

    fn check_bed(&self, bed: &BedPlan) -> Result<()> {
        let plan = self.on(bed);
        check(&plan.parts, bed.dut_setup.is_some(), &plan.away)
    }

    fn resolve(&mut self, bed: &Bed) -> Result<()> {
        self.plan.measurement = self.plan.measurement.on_bed(bed)?;
        self.plan = self.on(bed.plan());
        Ok(())
    }

    fn run(&self, on: UnderTest<'_>, recorder: &mut Recorder) -> Result<()> {
        let bed = on.bed()?;
        let plan = self.on(bed.plan());
        ended(reset::measure(bed, &plan, recorder))
    }
}
