//! One build: how it is asked, and what its records say.

use crate::host::Interrupted;
use crate::plan::{BinaryPlan, VariantPlan};
use crate::record::sha256;
use crate::recorder::Recorder;
use crate::scratch::Scratch;
use anyhow::{Context, Result, bail, ensure};
use mpps_lab::jobs::turns::Progress;
use mpps_lab::line::block_of_line;
use mpps_lab::{interrupt, program};
use mpps_method::saturation::Block;
use mpps_record::{
    Binary, Doubt, LoadLine, ReceiverPlace, RouteChanges, Run, RunLine, SCHEMA, TrialLine, Variant,
    read_file,
};
use serde_json::Value;
use std::process::{Command, Stdio};

/// How each load is offered: as long as a trial of a comparison on beds that stand, and without trials through a wire,
/// which no comparison of builds uses.
const TRIALS: [&str; 5] = ["--time=200ms", "--no-wire", "--share", "--quiet", "--json"];

/// One build under way.
pub(super) struct Build<'a> {
    pub(super) progress: Progress,
    plan: &'a BinaryPlan,
    /// The flag that names it.
    flag: &'static str,
    pub(super) receiver: Option<ReceiverPlace>,
    /// The first line of its last record.
    begin: Option<RunLine>,
    route_changes: Option<RouteChanges>,
    doubts: Vec<Doubt>,
}

/// What came of one load.
pub(super) struct Found {
    /// Number of its last trial.
    pub(super) trial: u32,
    pub(super) block: Block,
    pub(super) forwarding_fps: f64,
    /// Frames lost at the router.
    pub(super) lost: u64,
}

impl<'a> Build<'a> {
    /// `None` where the variant has no build of its own.
    pub(super) fn new(variant: &'a VariantPlan, flag: &'static str) -> Option<Self> {
        let plan = variant.binary.as_ref()?;
        Some(Self {
            progress: Progress::new(&variant.name),
            plan,
            flag,
            receiver: None,
            begin: None,
            route_changes: None,
            doubts: Vec::new(),
        })
    }

    fn named(&self) -> String {
        format!("{} {}", self.flag, self.plan.path.display())
    }

    fn command(&self, loads: &[String]) -> Command {
        let mut command = Command::new(&self.plan.path);
        command.arg("trial").args(&self.plan.flags).args(TRIALS);
        command.arg(format!("--rate={}", loads.join(",")));
        command.stdin(Stdio::null());
        command
    }

    /// Asks it for its plan.
    ///
    /// # Errors
    /// It cannot be run, refuses, is no mpps, or writes records that are newer than this program.
    pub(super) fn check(&self) -> Result<()> {
        let mut command = self.command(&["1000".to_owned()]);
        let asked = command.arg("--dry-run").output();
        let asked = asked.with_context(|| format!("{}: run it", self.named()))?;
        let said = String::from_utf8_lossy(&asked.stderr);
        let last = said.lines().last().unwrap_or("it said nothing");
        ensure!(
            asked.status.success(),
            "{}: it refuses: {last}",
            self.named()
        );
        let plan: Value = serde_json::from_slice(&asked.stdout).unwrap_or_default();
        let schema = plan["schema"].as_u64().filter(|_| plan["job"] == "trial");
        let schema = schema.with_context(|| {
            format!(
                "{}: it is no mpps that prints the plan of a trial",
                self.named()
            )
        })?;
        ensure!(
            schema <= u64::from(SCHEMA),
            "{}: its records are of schema {schema}, and this mpps reads {SCHEMA} at most: compare with the newer of the two",
            self.named()
        );
        Ok(())
    }

    /// Runs it at these loads.
    ///
    /// # Errors
    /// It measured nothing, or the user wishes to stop.
    pub(super) fn run(&self, loads: &[String], folder: &Scratch) -> Result<Run> {
        let (record, errors) = (folder.path("record.jsonl"), folder.path("errors"));
        let _none = std::fs::remove_file(&record);
        let errors_file =
            std::fs::File::create(&errors).with_context(|| format!("make {}", errors.display()))?;
        let mut command = self.command(loads);
        command
            .arg("--record")
            .arg(&record)
            .stdout(Stdio::null())
            .stderr(errors_file);
        let status = program::to_its_end(&mut command);
        let status = status.with_context(|| format!("{}: run it", self.named()))?;
        ensure!(!interrupt::requested(), Interrupted("interrupted"));
        let read = read_file(&record).ok();
        let run = read.and_then(|mut read| read.runs.pop());
        let run = run.filter(|run| run.loads.len() == loads.len());
        run.with_context(|| {
            let said = std::fs::read_to_string(&errors).unwrap_or_default();
            let last = said
                .lines()
                .last()
                .unwrap_or("it left no record of its loads");
            format!("{}: {status}: {last}", self.named())
        })
    }

    /// Copies its trials to the record, and tells what came of each load.
    ///
    /// # Errors
    /// The record cannot be written, or its lines lack what a comparison needs.
    pub(super) fn read(&mut self, run: Run, recorder: &mut Recorder) -> Result<Vec<Found>> {
        let mut numbers = Vec::new();
        for line in &run.trials {
            if let Some(made) = &line.route_changes {
                self.route_changes.get_or_insert_default().add(made);
            }
            let number = recorder.write_trial_of(&self.progress.name, line.clone())?;
            numbers.push((line.trial, number));
        }
        let mut all_found = Vec::new();
        for load in &run.loads {
            let mut found = found(load, &run.trials).with_context(|| {
                format!("{}: its records lack the trials of a load", self.named())
            })?;
            let number = numbers.iter().find(|(theirs, _)| *theirs == found.trial);
            found.trial = number.map_or(0, |(_, ours)| *ours);
            all_found.push(found);
            self.receiver.clone_from(&load.receiver);
            for doubt in &load.doubts {
                self.doubts.retain(|known| known.name != doubt.name);
                self.doubts.push(doubt.clone());
            }
        }
        self.begin = run.begin;
        Ok(all_found)
    }

    /// Adds to the variant's entry what only the build's records say. Returns the doubts.
    ///
    /// # Errors
    /// The build cannot be read any more.
    pub(super) fn complete(self, variant: &mut Variant) -> Result<Vec<Doubt>> {
        let Some(begin) = &self.begin else {
            bail!("{}: it made no turn", self.named());
        };
        let octets = std::fs::read(&self.plan.path);
        let octets = octets.with_context(|| format!("{}: read it", self.named()))?;
        variant.binary = Some(Binary {
            path: self.plan.path.display().to_string(),
            sha256: sha256(&octets),
            version: begin.tool_version.clone(),
        });
        let bed = begin.bed.bed();
        variant.set_up = bed.and_then(|bed| bed.dut_setup_script.clone());
        variant
            .replayed
            .clone_from(&begin.plan.traffic.route_changes);
        variant.route_changes = self.route_changes;
        let doubts = self.doubts.into_iter().map(|doubt| Doubt {
            seen: format!("{}: {}", variant.name, doubt.seen),
            ..doubt
        });
        Ok(doubts.collect())
    }
}

/// `None` where the record lacks the trial of the load.
fn found(load: &LoadLine, trials: &[TrialLine]) -> Option<Found> {
    let found = load.trials.last()?;
    let line = trials.iter().find(|line| line.trial == found.trial)?;
    Some(Found {
        trial: found.trial,
        block: block_of_line(line),
        forwarding_fps: found.forwarding_fps?,
        lost: found.lost_nic_ring_frames + found.lost_inside_frames,
    })
}
