//! `mpps throughput`: plan, bed, record, measure, show, lower. With `--simulate` the bed is left out.

use super::begin::{self, Stage};
use super::destinations;
use super::end::{self, Head};
use crate::args::ThroughputArgs;
use crate::exit::Exit;
use crate::expectation;
use crate::figures::{Figures, Reading};
use crate::plan::{BedChoice, Plan};
use crate::record::{Comparability, Job, ResultLine, RunLine, TrafficEntry, whole_fps};
use crate::recorder::Recorder;
use crate::terminal::{self, Place, Report, plan as words};
use anyhow::{Error, Result};
use mpps_lab::doubt::Finding;
use mpps_lab::facts::Facts;
use mpps_lab::jobs::throughput::{self, ThroughputPlan};
use mpps_lab::jobs::{JobError, Trials};
use mpps_lab::tester::PortKind;
use mpps_method::simulate::Properties;
use mpps_method::{FrameSpec, SearchGoal, SearchPlan};
use serde::Serialize;

/// Runs the verb.
///
/// # Errors
/// One line that names the remedy; the bed is lowered by then.
pub fn run(args: &ThroughputArgs) -> Result<Exit> {
    let mut plan = Plan::of(args)?;
    let quiet = args.output.quiet;
    let prepare = |wanted| destinations::prepare(wanted, &plan.measurement.traffic, quiet);
    let prepared = plan.destinations.as_ref().map(prepare).transpose()?;
    plan.measurement.traffic.destinations = prepared
        .as_ref()
        .map(|prepared| prepared.destinations.clone());
    if args.output.dry_run {
        let routes = words::destinations(plan.destinations.as_ref());
        let measurement = match plan.bed {
            BedChoice::Simulated(_) => words::simulation(&plan.measurement),
            BedChoice::Kept(_) | BedChoice::Own(_) => words::measurement(&plan.measurement),
        };
        let words = measurement + &routes;
        let job = Job::Throughput(&plan.measurement);
        return begin::dry_run(&args.output, &plan.bed, job, &[], &words);
    }
    if let BedChoice::Simulated(pair) = plan.bed {
        return simulate(args, &plan, pair);
    }
    let mut stage = Stage::set(&args.output, &plan.bed)?;
    let Stage {
        begun,
        bed,
        recorder,
        beside,
    } = &mut stage;
    if args.ports.port.is_none() && bed.plan().is_external() {
        let sizes = &plan.measurement.sizes;
        plan.measurement.traffic.port = PortKind::for_ports_of(bed, sizes)?;
        let port = plan.measurement.traffic.port.name();
        recorder.step(&format!("ports: {port}, which both can"));
    }
    plan.measurement.link = plan.measurement.link.or_of_ports(bed);
    let job = Job::Throughput(&plan.measurement);
    let setup = begin::setup_words(bed, &plan.bed);
    let load = |prepared| destinations::load(prepared, bed, recorder, quiet);
    let routes = prepared.as_ref().map(load).transpose()?;
    let line = RunLine::of(*begun, job, bed, &Facts::gather()).with_routes(routes);
    let measured = measure(recorder, line, &plan, |one, recorder| {
        let mut trials = Trials::after(recorder.trials(), recorder);
        throughput::measure(bed, one, &mut trials).map(|findings| beside.doubting(findings))
    });
    let cleared = destinations::clear(prepared.as_ref(), bed, &plan.bed);
    let record = stage.recorder.record.path().to_owned();
    let shown = show(args, &plan, setup.as_deref(), &measured, stage.recorder);
    begin::leave(stage.bed, &plan.bed, &shown, &record)?;
    cleared.and(shown)
}

/// The same without a bed: needs no rights, touches nothing.
fn simulate(args: &ThroughputArgs, plan: &Plan, pair: Properties) -> Result<Exit> {
    let (begun, mut recorder) = begin::open_record(&args.output)?;
    recorder.step(&format!("record: {}", recorder.record.path().display()));
    recorder.step(&format!("simulated: {pair}"));
    let job = Job::Throughput(&plan.measurement);
    let line = RunLine::of_simulated(begun, job, &pair, &Facts::gather());
    let measured = measure(&mut recorder, line, plan, |one, recorder| {
        let mut trials = Trials::after(recorder.trials(), recorder);
        throughput::simulate(pair, one, &mut trials)
    });
    show(args, plan, None, &measured, recorder)
}

/// A frame size and goal, whatever came of it.
struct Row {
    /// `None` where nothing is known.
    finding: Option<Finding>,
    figures: Figures,
    line: ResultLine,
}

/// Every frame size, and what ended the run early.
struct Measured {
    rows: Vec<Row>,
    /// A line for each result that does not show what was expected.
    unmet: Vec<String>,
    exit: Exit,
    comparability: Comparability,
    /// What is no disturbance: it ended the run, or a size.
    error: Option<Error>,
}

/// Measures one frame size after the other, so that a size that fails takes no other's result away.
fn measure(
    recorder: &mut Recorder,
    line: RunLine,
    plan: &Plan,
    one_size: impl FnMut(&ThroughputPlan, &mut Recorder) -> Result<Vec<Finding>, JobError>,
) -> Measured {
    let mut rows = Vec::new();
    let begun = recorder.record.write("run", &line);
    let ended = begun.and_then(|()| measure_all(recorder, plan, &mut rows, one_size));
    let error = ended.as_ref().err();
    // Whatever is left was not begun.
    let why = error.map_or(String::new(), |error| format!("{error:#}"));
    for frames in plan.measurement.sizes.iter().skip(sizes(&rows)) {
        rows.extend(not_measured(plan, frames, &why));
    }
    let expected = |row: &Row| expectation::unmet(plan.expect_min?, &row.figures);
    let error = ended.unwrap_or_else(Some);
    let worst = error.as_ref().map_or(Exit::Measured, super::exit_of);
    Measured {
        unmet: rows.iter().filter_map(expected).collect(),
        exit: rows
            .iter()
            .map(|row| exit(row, expected(row).is_some()))
            .fold(worst, Exit::worse),
        rows,
        comparability: line.comparability().clone(),
        error,
    }
}

/// Of a row: another try may measure what was not measured; what was measured and falls short stays so.
const fn exit(row: &Row, unmet: bool) -> Exit {
    match row.figures.reading {
        Reading::Nothing => Exit::Disturbed,
        Reading::Below(_) => Exit::NotMet,
        Reading::Is(_) | Reading::AtLeast(_) if unmet => Exit::NotMet,
        Reading::Is(_) | Reading::AtLeast(_) => Exit::Measured,
    }
}

/// Frame sizes that have their rows.
fn sizes(rows: &[Row]) -> usize {
    rows.chunk_by(|a, b| a.figures.frames == b.figures.frames)
        .count()
}

/// Every frame size. The first error that ended a size and is no disturbance comes back; what ends the run is the `Err`.
fn measure_all(
    recorder: &mut Recorder,
    plan: &Plan,
    rows: &mut Vec<Row>,
    mut one_size: impl FnMut(&ThroughputPlan, &mut Recorder) -> Result<Vec<Finding>, JobError>,
) -> Result<Option<Error>> {
    let mut failed = None;
    // A simulated trial takes no time.
    let budget = plan.measurement.budget;
    let budget = budget.filter(|_| !matches!(plan.bed, BedChoice::Simulated(_)));
    for frames in &plan.measurement.sizes {
        let one = ThroughputPlan {
            sizes: vec![frames.clone()],
            ..plan.measurement.clone()
        };
        recorder.begin_size(budget);
        let measured = one_size(&one, recorder);
        // All goals of a size stand on the same trials.
        let stands = recorder.take_stands();
        let found = match measured {
            Ok(findings) => findings
                .into_iter()
                .map(|finding| {
                    let figures = Figures::of(&finding, &plan.measurement);
                    let line = ResultLine::of(&finding, &figures, stands.clone());
                    Row {
                        finding: Some(finding),
                        figures,
                        line,
                    }
                })
                .collect(),
            Err(error) if ends_a_size(&error) => {
                let found = not_measured(plan, frames, &error.to_string());
                if !error.is_disturbance() {
                    failed.get_or_insert(Error::from(error));
                }
                found
            }
            Err(error) => return Err(error.into()),
        };
        for row in found {
            recorder.record.write("result", &row.line)?;
            rows.push(row);
        }
    }
    Ok(failed)
}

/// Whether the next size may have a result all the same: the machine may be quieter, and a router that lets no frame
/// of one size through may let others.
fn ends_a_size(error: &JobError) -> bool {
    error.is_disturbance() || (matches!(error, JobError::Probe(_)) && !error.is_interrupt())
}

/// The rows of a size of which nothing is known.
fn not_measured(plan: &Plan, frames: &FrameSpec, why: &str) -> Vec<Row> {
    let search = &plan.measurement.search;
    let goals: Vec<Option<SearchGoal>> = match search {
        SearchPlan::Mlr { goals, .. } => goals.iter().copied().map(Some).collect(),
        SearchPlan::Bisection { .. } => vec![None],
    };
    let simulated = matches!(plan.bed, BedChoice::Simulated(_));
    let row = |goal| {
        let figures = Figures::not_measured(frames, goal, search, Some(why.to_owned()));
        Row {
            finding: None,
            line: ResultLine::not_measured(frames, goal, &figures).simulated(simulated),
            figures,
        }
    };
    goals.into_iter().map(row).collect()
}

fn show(
    args: &ThroughputArgs,
    plan: &Plan,
    setup: Option<&str>,
    measured: &Measured,
    recorder: Recorder,
) -> Result<Exit> {
    let (exit, error) = (measured.exit, measured.error.as_ref());
    end::finish(recorder, exit, error, |recorder| {
        if args.output.json {
            let head = Head::of(recorder, exit, error);
            terminal::out(&end::json(&Document::of(head, plan, measured))?);
        } else {
            report(args, plan, setup, measured, recorder);
        }
        let missing = measured.rows.iter().map(|row| &row.figures);
        let missing: Vec<&str> = missing
            .filter(|figures| figures.reading == Reading::Nothing)
            .map(|figures| figures.subject.as_str())
            .collect();
        if exit == Exit::Disturbed && measured.unmet.is_empty() {
            terminal::error(&format!(
                "not measured: {} (run again when the machine is quieter)",
                missing.join(", ")
            ));
        }
        for line in &measured.unmet {
            terminal::error(line);
        }
        Ok(())
    })
}

/// The result for a person.
fn report(
    args: &ThroughputArgs,
    plan: &Plan,
    setup: Option<&str>,
    measured: &Measured,
    recorder: &Recorder,
) {
    let rows: Vec<Figures> = measured
        .rows
        .iter()
        .map(|row| row.figures.clone())
        .collect();
    let findings: Vec<Finding> = measured
        .rows
        .iter()
        .filter_map(|row| row.finding.clone())
        .collect();
    let place = match &plan.bed {
        BedChoice::Simulated(pair) => Place::Simulated(pair),
        BedChoice::Own(wish) if wish.external.is_some() => Place::Device,
        BedChoice::Kept(_) | BedChoice::Own(_) => Place::Bed,
    };
    let report = Report {
        rows: &rows,
        findings: &findings,
        plan: &plan.measurement,
        place,
        setup,
        comparability: &measured.comparability,
        record: recorder.record.path(),
        verbose: args.output.verbose,
    };
    report.print();
}

/// The result as one JSON object.
#[derive(Serialize)]
struct Document<'a> {
    #[serde(flatten)]
    head: Head<'a>,
    /// Whether tester and router were simulated: nothing was measured.
    simulated: bool,
    /// When a load has passed: `1 s trials, any of 3`, or what each goal asks of one.
    pass_rule: String,
    comparability: &'a Comparability,
    traffic: TrafficEntry,
    /// What `link_share` is a share of, and who says so: ports, given, or notional (nobody).
    link_bits_per_s: u64,
    link_source: &'static str,
    expected_min_fps: Option<u64>,
    /// A line for each result that does not show it.
    expectation_unmet: &'a [String],
    results: Vec<&'a ResultLine>,
}

impl<'a> Document<'a> {
    fn of(head: Head<'a>, plan: &Plan, measured: &'a Measured) -> Self {
        Self {
            head,
            simulated: matches!(plan.bed, BedChoice::Simulated(_)),
            pass_rule: terminal::rule(&plan.measurement.search),
            comparability: &measured.comparability,
            traffic: TrafficEntry::of(&plan.measurement.traffic),
            link_bits_per_s: plan.measurement.link.speed.bits_per_second(),
            link_source: plan.measurement.link.source.name(),
            expected_min_fps: plan.expect_min.map(whole_fps),
            expectation_unmet: &measured.unmet,
            results: measured.rows.iter().map(|row| &row.line).collect(),
        }
    }
}
