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
use anyhow::{Context, Error, Result, ensure};
use build::{Build, Found};
use mpps_lab::clock::Deadline;
use mpps_lab::jobs::ResultObserver;
use mpps_lab::jobs::compare::Outcome;
use mpps_lab::jobs::turns::{self, First, Progress, TakesTurns};
use mpps_method::Rate;
use mpps_method::compare::{Turn, rate};

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
    let mut builds = builds(plan);
    let mut beside = Beside {
        folder: &folder,
        begins: Some((begun, job)),
        recorder: &mut recorder,
    };
    let measure = turns::find_rates(&mut builds, &mut beside)?;
    ensure!(
        builds
            .iter()
            .all(|build| build.progress.forwards.most > 0.0),
        "no trial of a build counts, so there is nothing to compare (the machine disturbed them, or nothing was forwarded)"
    );
    ensure!(
        builds[0].receiver == builds[1].receiver,
        "the two builds receive at different places: give --receiver port"
    );
    let have_routes = plan.variants.iter().any(|one| one.destinations.is_some());
    let rule = plan.how.rule(measure, have_routes);
    let until = (Deadline::after(Some(plan.how.budget)), false);
    let (fixed, ended) = turns::compare(&mut builds, rule, until, &mut beside);
    let variants = builds.iter_mut();
    let variants = variants.map(|build| std::mem::take(&mut build.progress).end());
    let outcome = Outcome {
        variants: variants.collect(),
        rule,
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

/// What the runs of all builds share.
struct Beside<'a> {
    folder: &'a Scratch,
    /// What the run's first line is made of, until it is written.
    begins: Option<(Clock, Job<'a>)>,
    recorder: &'a mut Recorder,
}

impl TakesTurns<Beside<'_>> for Build<'_> {
    type Error = Error;
    const FIRST_TRIALS: (u32, u32) = (2, 4);

    fn progress(&mut self) -> &mut Progress {
        &mut self.progress
    }

    fn first(&mut self, load: Option<Rate>, beside: &mut Beside<'_>) -> Result<First> {
        let load = load.map_or("max".to_owned(), words);
        let Found { block, lost, .. } = beside.run(self, &[load])?.remove(0);
        Ok(First {
            lost_nothing: rate(&block).is_some() && lost == 0,
            block,
            whole_fps: 0.0,
        })
    }

    fn turn(&mut self, fixed: Rate, beside: &mut Beside<'_>) -> Result<(Turn, [u32; 2])> {
        let loads = [self.progress.forwards.overload(), fixed].map(words);
        let found: Result<[Found; 2], _> = beside.run(self, &loads)?.try_into();
        let [overload, fixed] =
            found.map_err(|_| Error::msg("a build measured one load of two"))?;
        let turn = Turn {
            overload: overload.block,
            fixed: fixed.block,
        };
        Ok((turn, [overload.trial, fixed.trial]))
    }
}

impl Beside<'_> {
    /// A turn of one build; its trials go to the record.
    fn run(&mut self, build: &mut Build<'_>, loads: &[String]) -> Result<Vec<Found>> {
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
            .step(&format!("{}: {}", build.progress.name, each.join(", ")));
        Ok(found)
    }
}

/// A load as a flag has it.
fn words(load: Rate) -> String {
    format!("{:.0}", load.fps())
}
