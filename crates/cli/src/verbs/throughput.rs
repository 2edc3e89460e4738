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
use crate::terminal::{self, Place, plan as words};
use anyhow::{Error, Result};
use mpps_lab::doubt::Finding;
use mpps_lab::facts::Facts;
use mpps_lab::jobs::JobError;
use mpps_lab::jobs::throughput::{self, ThroughputPlan};
use mpps_lab::tester::PortKind;
use mpps_method::simulate::Properties;
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
        let words = words::measurement(&plan.measurement) + &routes;
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
    let load = |prepared| destinations::load(prepared, bed, recorder, quiet);
    let routes = prepared.as_ref().map(load).transpose()?;
    let line = RunLine::of(*begun, job, bed, &Facts::gather()).with_routes(routes);
    let measured = measure(recorder, line, &plan, |one, recorder| {
        throughput::measure(bed, one, recorder).map(|findings| beside.doubting(findings))
    });
    let cleared = destinations::clear(prepared.as_ref(), bed, &plan.bed);
    let shown = show(args, &plan, &measured, stage.recorder);
    begin::leave(stage.bed, &plan.bed)?;
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
        throughput::simulate(pair, one, recorder)
    });
    show(args, plan, &measured, recorder)
}

/// What was found up to the end, and what ended it early.
struct Measured {
    findings: Vec<(Finding, Figures, ResultLine)>,
    /// A line for each result that falls short of what was expected.
    unmet: Vec<String>,
    comparability: Comparability,
    error: Option<Error>,
}

impl Measured {
    fn exit(&self) -> Exit {
        let of = |figures: &Figures| match figures.reading {
            Reading::Is(_) | Reading::AtLeast(_) => Exit::Measured,
            Reading::Below(_) => Exit::NotMet,
            Reading::Nothing => Exit::CouldNotMeasure,
        };
        let met = if self.unmet.is_empty() {
            Exit::Measured
        } else {
            Exit::NotMet
        };
        let worst = self
            .findings
            .iter()
            .fold(met, |worst, (_, figures, _)| worst.worse(of(figures)));
        if self.error.is_some() {
            worst.worse(Exit::CouldNotMeasure)
        } else {
            worst
        }
    }

    fn figures(&self) -> Vec<&Figures> {
        self.findings
            .iter()
            .map(|(_, figures, _)| figures)
            .collect()
    }
}

/// One frame size after the other, so that a size that fails takes no other's result away.
fn measure(
    recorder: &mut Recorder,
    line: RunLine,
    plan: &Plan,
    one_size: impl FnMut(&ThroughputPlan, &mut Recorder) -> Result<Vec<Finding>, JobError>,
) -> Measured {
    let mut measured = Measured {
        findings: Vec::new(),
        unmet: Vec::new(),
        comparability: line.comparability().clone(),
        error: None,
    };
    let begun = recorder.record.write("run", &line);
    let findings = &mut measured.findings;
    measured.error = begun
        .and_then(|()| measure_all(recorder, &plan.measurement, findings, one_size))
        .err();
    measured.unmet = expectation::unmet(plan.expect_min, &measured.figures());
    measured
}

fn measure_all(
    recorder: &mut Recorder,
    plan: &ThroughputPlan,
    findings: &mut Vec<(Finding, Figures, ResultLine)>,
    mut one_size: impl FnMut(&ThroughputPlan, &mut Recorder) -> Result<Vec<Finding>, JobError>,
) -> Result<()> {
    let mut disturbed = None;
    for frames in &plan.sizes {
        let one = ThroughputPlan {
            sizes: vec![frames.clone()],
            ..plan.clone()
        };
        let measured = match one_size(&one, recorder) {
            Ok(measured) => measured,
            // The next size may find the machine quieter.
            Err(error) if error.is_disturbance() => {
                // Its trials stand for no result of the next.
                recorder.take_stands();
                disturbed.get_or_insert(error);
                continue;
            }
            Err(error) => return Err(error.into()),
        };
        // All goals of a size stand on the same trials.
        let stands = recorder.take_stands();
        for finding in measured {
            let figures = Figures::of(&finding, plan);
            let line = ResultLine::of(&finding, &figures, stands.clone());
            recorder.record.write("result", &line)?;
            findings.push((finding, figures, line));
        }
    }
    disturbed.map_or(Ok(()), |error| Err(error.into()))
}

fn show(
    args: &ThroughputArgs,
    plan: &Plan,
    measured: &Measured,
    recorder: Recorder,
) -> Result<Exit> {
    let (exit, error) = (measured.exit(), measured.error.as_ref());
    end::finish(recorder, exit, error, |recorder| {
        if args.output.json {
            let head = Head::of(recorder, exit, error);
            terminal::out(&end::json(&Document::of(head, plan, measured))?);
        } else if !measured.findings.is_empty() {
            table(recorder, plan, measured);
        }
        for (finding, figures, _) in &measured.findings {
            if let mpps_method::Outcome::CouldNotMeasure { why, .. } = finding.outcome {
                terminal::error(&format!("{}: could not measure: {why}", figures.subject));
            }
        }
        for line in &measured.unmet {
            terminal::error(line);
        }
        Ok(())
    })
}

fn table(recorder: &Recorder, plan: &Plan, measured: &Measured) {
    let rows: Vec<Figures> = measured.figures().into_iter().cloned().collect();
    let findings: Vec<Finding> = measured
        .findings
        .iter()
        .map(|(finding, ..)| finding.clone())
        .collect();
    let place = match &plan.bed {
        BedChoice::Simulated(pair) => Place::Simulated(pair),
        BedChoice::Own(wish) if wish.external.is_some() => Place::Device,
        BedChoice::Kept(_) | BedChoice::Own(_) => Place::Bed,
    };
    let table = terminal::table(&rows, &plan.measurement, place);
    let doubts = terminal::doubts(&findings);
    let record = recorder.record.path().display();
    let key = terminal::comparability(&measured.comparability);
    let setup = measured.comparability.setup_words();
    let text = format!("{table}{doubts}\n{setup}{key}record: {record}\n");
    terminal::out(&terminal::fitted(&text));
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
    /// A line for each result that falls short of it.
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
            results: measured.findings.iter().map(|(.., line)| line).collect(),
        }
    }
}
