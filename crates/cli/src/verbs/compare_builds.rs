//! `mpps compare --a-binary --b-binary`: two builds of mpps that take turns. Each turn is a run of `mpps trial` by its
//! build, on a bed of its own; its record tells what came of it.

mod build;

use super::begin;
use super::measure;
use crate::args::OutputArgs;
use crate::exit::Exit;
use crate::plan::ComparePlan;
use crate::record::{Clock, Job, run_line_by_others};
use crate::recorder::Recorder;
use crate::scratch::Scratch;
use anyhow::{Context, Result, ensure};
use build::{Build, Found};
use mpps_lab::clock::{Deadline, monotonic_ns};
use mpps_lab::jobs::ResultObserver;
use mpps_lab::jobs::compare::{FIXED_SHARE, Measured, Outcome, alike, share_loads};
use mpps_method::compare::{Comparison, Measure, Rule, Turn, rate};
use mpps_method::turns::TurnOrder;
use mpps_method::{Rate, Span};

/// Rounds that tell where to begin: the first one offers all that the sender can.
const FIRST_ROUNDS: u32 = 4;

/// Asks both builds whether they can measure what is asked for.
///
/// # Errors
/// One cannot: one line that names it.
pub fn check(plan: &ComparePlan) -> Result<()> {
    builds(plan).iter().try_for_each(Build::check)
}

/// Runs the comparison.
///
/// # Errors
/// One line that names the remedy; the builds have lowered their beds by then.
pub fn run(plan: &ComparePlan, output: &OutputArgs) -> Result<Exit> {
    let (begun, mut recorder) = begin::begin(output)?;
    recorder.step(&format!("record: {}", recorder.record().path().display()));
    let folder = Scratch::new(&format!("compare-{}", std::process::id()))?;
    let job = Job::compare(&plan.variants[0].traffic, &plan.how);
    let mut turns = Turns {
        builds: builds(plan),
        folder: &folder,
        begins: Some((begun, job)),
        recorder: &mut recorder,
    };
    let overloaded = turns.find_rates()?;
    let measure = if overloaded {
        Measure::Rate
    } else {
        Measure::Cost
    };
    let alike = alike(plan.variants.iter().any(|one| one.destinations.is_some()));
    let mut comparison = Comparison::new(Rule {
        measure,
        within: plan.how.within,
        alike,
    });
    let least = turns.builds.iter().map(|build| build.forwards.most);
    let fixed = Rate::from_fps(least.fold(f64::INFINITY, f64::min) * FIXED_SHARE);
    let ended = turns.take(
        fixed,
        Deadline::after(Some(plan.how.budget)),
        &mut comparison,
    );
    let builds = turns.builds;
    let mut compared = [None, Some(comparison.end())].into_iter();
    let measured = |build: &Build<'_>| Measured {
        name: build.variant.name.clone(),
        set_up: None,
        overload: build.forwards.overload(),
        turns: build.turns.clone(),
        trials: build.trials.clone(),
        replayed: None,
        route_changes: None,
        doubts: Vec::new(),
        compared: compared.next().flatten(),
    };
    let outcome = Outcome {
        variants: builds.iter().map(measured).collect(),
        measure,
        alike,
        fixed,
        receiver: None,
        error: None,
    };
    let mut line = plan.line_of(&outcome);
    line.why = ended.as_ref().err().map(|error| format!("{error:#}"));
    line.receiver = builds[0].receiver.clone();
    for (variant, build) in line.variants.iter_mut().zip(builds) {
        line.doubts.extend(build.complete(variant)?);
    }
    let ended = ended.and(recorder.result(&line).map_err(Into::into));
    let shown = measure::finish(output, None, &mut recorder, ended.err().as_ref());
    measure::leave([], true, shown, recorder.record().path())
}

/// Both builds, before their first turn.
fn builds(plan: &ComparePlan) -> Vec<Build<'_>> {
    let flags = ["--a-binary", "--b-binary"];
    let variants = plan.variants.iter().zip(flags);
    let builds = variants.filter_map(|(variant, flag)| Build::new(variant, flag));
    builds.collect()
}

/// The builds in turns.
struct Turns<'a> {
    builds: Vec<Build<'a>>,
    folder: &'a Scratch,
    /// What the run's first line is made of, until it is written.
    begins: Option<(Clock, Job<'a>)>,
    recorder: &'a mut Recorder,
}

impl Turns<'_> {
    /// What the router of each forwards at most, and whether it lost frames at the most that the sender can.
    fn find_rates(&mut self) -> Result<bool> {
        let (mut ends_first, mut known) = (false, 0);
        for round in 0..FIRST_ROUNDS {
            if round > 1 && known == self.builds.len() {
                break;
            }
            known = 0;
            for place in 0..self.builds.len() {
                // All that the sender can, until a trial of it counts.
                let forwards = self.builds[place].forwards;
                let all = forwards.most == 0.0;
                let load = if all {
                    "max".to_owned()
                } else {
                    words(forwards.next())
                };
                let found = self.run(place, &[load])?.remove(0);
                ends_first |= all && rate(&found.block).is_some() && found.lost == 0;
                let forwards = &mut self.builds[place].forwards;
                forwards.learn(&found.block, 0.0, ends_first);
                known += usize::from(forwards.is_known);
            }
        }
        ensure!(
            self.builds.iter().all(|build| build.forwards.most > 0.0),
            "no trial of a build counts, so there is nothing to compare (the machine disturbed them, or nothing was forwarded)"
        );
        let [a, b] = [&self.builds[0], &self.builds[1]];
        ensure!(
            a.receiver == b.receiver,
            "the two builds receive at different places: give --receiver port"
        );
        share_loads(self.builds.iter_mut().map(|build| &mut build.forwards));
        Ok(!ends_first)
    }

    /// Turns until the comparison has ended or the time is spent.
    fn take(&mut self, fixed: Rate, deadline: Deadline, comparison: &mut Comparison) -> Result<()> {
        let mut took = Span::ZERO;
        for half_round in 0_u64.. {
            if comparison.is_done() || !deadline.leaves(took) {
                break;
            }
            let begun_ns = monotonic_ns();
            for place in TurnOrder::from_half_round(half_round).places() {
                let loads = [self.builds[place].forwards.overload(), fixed].map(words);
                let found = self.run(place, &loads)?;
                let [overloaded, fixed] = &found[..] else {
                    anyhow::bail!("a build measured one load of two");
                };
                let build = &mut self.builds[place];
                let seen = rate(&overloaded.block);
                build.forwards.raise_to(seen.unwrap_or(0.0));
                build.trials.push([overloaded.trial, fixed.trial]);
                build.turns.push(Turn {
                    overload: overloaded.block.clone(),
                    fixed: fixed.block.clone(),
                });
            }
            let [a, b] = [0, 1].map(|place| self.builds[place].turns.last());
            if let Some((a, b)) = a.zip(b) {
                comparison.add(a, b);
            }
            share_loads(self.builds.iter_mut().map(|build| &mut build.forwards));
            took = Span::from_nanos(monotonic_ns() - begun_ns);
        }
        Ok(())
    }

    /// A turn of one build; its trials go to the record.
    fn run(&mut self, place: usize, loads: &[String]) -> Result<Vec<Found>> {
        let build = &mut self.builds[place];
        let run = build.run(loads, self.folder)?;
        if let Some((begun, job)) = self.begins.take() {
            let first = run
                .begin
                .clone()
                .context("a record without its first line")?;
            self.recorder
                .write(run_line_by_others(begun, &job, first))?;
        }
        let found = build.read(run, self.recorder)?;
        let each = found.iter().map(|found| {
            let ns = found
                .block
                .ns_per_frame
                .map_or(String::new(), |ns| format!(" at {ns:.0} ns"));
            format!("{:.0} frames/s{ns}", found.forwarding_fps)
        });
        let each: Vec<String> = each.collect();
        self.recorder
            .step(&format!("{}: {}", build.variant.name, each.join(", ")));
        Ok(found)
    }
}

/// A load as a flag has it.
fn words(load: Rate) -> String {
    format!("{:.0}", load.fps())
}
