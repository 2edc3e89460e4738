//! How every measurement begins: rights, record, bed.

use super::measure;
use crate::args::OutputArgs;
use crate::exit::{Exit, Interrupted};
use crate::plan::BedChoice;
use crate::record::{Clock, Job, Record};
use crate::recorder::Recorder;
use crate::terminal;
use crate::terminal::plan as words;
use crate::terminal::progress::Progress;
use anyhow::{Context, Error, Result, bail, ensure};
use mpps_lab::bed::{self, Bed, BedError};
use mpps_lab::doubt::{self, Doubt, Finding};
use mpps_lab::facts::{HostSettings, Root};
use mpps_lab::jobs::fib_scale::Point;
use mpps_lab::one_run::{self, Holder, OnlyRun};
use mpps_lab::{facts, interrupt};
use mpps_record::SCHEMA;
use serde_json::{Value, json};
use std::path::Path;

/// A measurement that can begin.
pub struct Stage {
    /// When it began.
    pub begun: Clock,
    /// The bed; it stands.
    pub bed: Bed,
    /// The record, without a line yet.
    pub recorder: Recorder,
    /// What else may have had a part in the results.
    pub beside: Beside,
    /// Why routes are still in the DUT.
    pub not_cleared: Option<Error>,
}

/// The host and its other runs, beside this one.
pub struct Beside {
    before: HostSettings,
    other: Option<Holder>,
    /// Held to the end.
    _only: Option<OnlyRun>,
}

impl Beside {
    /// Waits until no other run measures, or with `--share` looks whether one does.
    fn wait(share: bool, begun: Clock, recorder: &Recorder) -> Result<Self> {
        let lock = || {
            format!(
                "lock {} (needs root, and a /run that can be written)",
                one_run::LOCK
            )
        };
        let (mut other, mut only) = (None, None);
        if share {
            other = OnlyRun::other().with_context(lock)?;
        } else {
            let words: Vec<_> = std::env::args_os().skip(1).collect();
            let words = words.join(" ".as_ref());
            let (pid, words, since) = (std::process::id(), words.to_string_lossy(), begun.utc());
            let own = format!("pid {pid}, mpps {words}, since {since}");
            let waiting = |holder: &Holder| {
                recorder.step(&format!(
                    "waiting for another run to end: {holder} (--share measures beside it)"
                ));
            };
            only = OnlyRun::wait(&own, waiting).with_context(lock)?;
            ensure!(
                only.is_some(),
                Interrupted("interrupted while another run measured")
            );
        }
        let before = HostSettings::read(&Root::here());
        Ok(Self {
            before,
            other,
            _only: only,
        })
    }

    /// The same findings, with the doubts that the host and its other runs raise.
    #[must_use]
    pub fn doubting(&self, findings: &[Finding]) -> Vec<Finding> {
        let mut findings = findings.to_vec();
        let doubts = self.doubts();
        for finding in &mut findings {
            finding.doubts.extend(doubts.iter().cloned());
        }
        findings
    }

    /// The doubts that the host and its other runs raise.
    #[must_use]
    pub fn doubts(&self) -> Vec<Doubt> {
        let changes = self.before.changes(&HostSettings::read(&Root::here()));
        let changed = doubt::host_changed(&changes);
        let other = self.other.as_ref().map(doubt::other_run);
        changed.into_iter().chain(other).collect()
    }
}

impl Stage {
    /// Checks what the machine allows, opens the record, raises or opens the bed, in this order.
    ///
    /// # Errors
    /// One line that names the remedy; nothing is left behind.
    pub fn set(output: &OutputArgs, choice: &BedChoice) -> Result<Self> {
        facts::check()?;
        interrupt::install()?;
        let (begun, recorder) = open_record(output)?;
        let beside = Beside::wait(output.share, begun, &recorder)?;
        let bed = match choice {
            BedChoice::Kept(name) => bed::open(name)?,
            BedChoice::Own(wish) => Bed::raise(&wish.on_this_machine()?)?,
            BedChoice::Simulated(_) => bail!("a simulated pair has no bed"),
        };
        recorder.step(&format!("record: {}", recorder.record.path().display()));
        let line = bed.plan().dut.planned().line(bed.plan());
        recorder.step(&format!("bed: {}, {line}", bed.name()));
        Ok(Self {
            begun,
            bed,
            recorder,
            beside,
            not_cleared: None,
        })
    }
}

/// Opens the record of a run that begins now.
///
/// # Errors
/// One line that names the remedy.
pub fn open_record(output: &OutputArgs) -> Result<(Clock, Recorder)> {
    let begun = Clock::now();
    let record = Record::open_for(&begun.run_name(), output.record.as_deref())?;
    Ok((
        begun,
        Recorder::new(record, Progress::new(output.quiet, output.verbose)),
    ))
}

/// Prints the plan and ends, for `--dry-run`: the bed, then these words. With `--json` it is one object, with the
/// points of `fib-scale`.
///
/// # Errors
/// Whatever the run would refuse and that is known without rights and without a bed.
pub fn dry_run(
    output: &OutputArgs,
    choice: &BedChoice,
    job: Job<'_>,
    points: &[Point],
    words: &str,
) -> Result<Exit> {
    check_folder("--record", output.record.as_deref())?;
    let (text, bed) = planned(choice)?;
    if output.json {
        let points = points
            .iter()
            .map(|point| json!({ "routes": point.routes, "destinations": point.destinations }));
        terminal::out(&measure::json(&json!({
            "schema": SCHEMA,
            "dry_run": true,
            "job": job.name(),
            "bed": bed,
            "plan": serde_json::to_value(job.plan())?,
            "points": points.collect::<Value>(),
        }))?);
    } else {
        terminal::out(&terminal::fitted(&format!("{text}{words}")));
    }
    Ok(Exit::Measured)
}

/// Whether the folder of a file to be written is there.
///
/// # Errors
/// It is not.
pub fn check_folder(flag: &str, file: Option<&Path>) -> Result<()> {
    let folder = file.and_then(Path::parent);
    let folder = folder.filter(|folder| !folder.as_os_str().is_empty());
    ensure!(
        folder.is_none_or(Path::is_dir),
        "{flag}: there is no folder {}: make it, or name another place",
        folder.unwrap_or(Path::new("")).display()
    );
    Ok(())
}

/// The bed in words, and for programs.
fn planned(choice: &BedChoice) -> Result<(String, Value)> {
    Ok(match choice {
        BedChoice::Kept(name) => {
            // Without rights nobody knows which beds there are.
            if let Ok(beds) = bed::list() {
                let stands = beds.iter().any(|bed| bed.kept && bed.name == *name);
                ensure!(stands, BedError::NoSuchBed(name.clone()));
            }
            let entry = json!({ "kind": "kept", "name": name });
            (format!("bed          {name}, kept\n"), entry)
        }
        BedChoice::Own(wish) => {
            let plan = wish.on_this_machine()?;
            (words::bed(&plan), words::bed_json(&plan))
        }
        BedChoice::Simulated(pair) => {
            let entry = json!({ "kind": "simulated", "pair": pair.to_string() });
            (format!("bed          none: simulated {pair}\n"), entry)
        }
    })
}
