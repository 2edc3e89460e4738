//! How every verb measures: bed, job, last line of the record, result, the one error worth a line, exit code, lowering.

use super::begin::Stage;
use crate::args::OutputArgs;
use crate::exit::Exit;
use crate::plan::BedChoice;
use crate::record::Clock;
use crate::recorder::Recorder;
use crate::terminal;
use anyhow::{Error, Result};
use mpps_lab::bed::Bed;
use mpps_record::{EndLine, Other, Run, SCHEMA};
use serde::Serialize;
use std::path::Path;

/// What every result in JSON begins with.
#[derive(Serialize)]
pub struct Head<'a> {
    schema: u32,
    run: &'a str,
    /// Where the record is.
    pub record: String,
    /// `None`: the run was killed, or it is still running.
    pub exit_code: Option<u8>,
    /// What ended it early.
    pub error: Option<String>,
}

impl<'a> Head<'a> {
    /// Of a run in a record.
    #[must_use]
    pub fn from_record(run: &'a Run, path: &Path) -> Self {
        Self {
            schema: run.schema,
            run: &run.name,
            record: path.to_string_lossy().into_owned(),
            exit_code: run.end.as_ref().map(|end| end.exit_code),
            error: run.end.as_ref().and_then(|end| end.error.clone()),
        }
    }

    fn of(recorder: &'a Recorder, exit: Exit, error: Option<&Error>) -> Self {
        Self {
            schema: SCHEMA,
            run: recorder.record.run(),
            record: recorder.record.path().to_string_lossy().into_owned(),
            exit_code: Some(exit.code()),
            error: error.map(|error| format!("{error:#}")),
        }
    }
}

/// How a result is put on stdout.
pub struct View<'a> {
    /// What a result in JSON begins with.
    pub head: Head<'a>,
    /// As JSON, for programs.
    pub json: bool,
    /// With all details.
    pub verbose: bool,
}

impl<'a> View<'a> {
    /// As asked for.
    #[must_use]
    pub const fn new(head: Head<'a>, output: &OutputArgs) -> Self {
        Self {
            head,
            json: output.json,
            verbose: output.verbose,
        }
    }
}

/// What a verb has measured up to its end.
pub trait Outcome {
    /// What ended it early.
    fn error(&self) -> Option<&Error>;

    /// The exit code of what was measured, the error left aside.
    fn exit(&self) -> Exit;

    /// Puts the result on stdout; `head` begins a result in JSON.
    ///
    /// # Errors
    /// The result could not be written.
    fn show(&self, head: Head<'_>) -> Result<()>;
}

/// Raises or opens the bed, measures on it, shows the result and leaves the bed, whatever happened before.
///
/// # Errors
/// One line that names the remedy; the bed is lowered by then.
pub fn on_bed<M: Outcome>(
    output: &OutputArgs,
    choice: &BedChoice,
    measure: impl FnOnce(&mut Stage) -> Result<M>,
) -> Result<Exit> {
    let mut stage = Stage::set(output, choice)?;
    let measured = measure(&mut stage);
    let Stage {
        bed,
        recorder,
        not_cleared,
        // Held to the end: one run at a time.
        beside: _beside,
        ..
    } = stage;
    let record = recorder.record.path().to_owned();
    let shown = measured.and_then(|measured| finish(recorder, &measured));
    let shown = leave(bed, choice, shown, &record);
    // A bed of its own goes with all that is in it.
    match not_cleared.filter(|_| matches!(choice, BedChoice::Kept(_))) {
        Some(error) => Err(error),
        None => shown,
    }
}

/// Ends the record, shows the result on stdout, tells the error on stderr.
///
/// # Errors
/// The record or the result could not be written, and nothing worse had happened before.
pub fn finish(mut recorder: Recorder, measured: &impl Outcome) -> Result<Exit> {
    let error = measured.error();
    let ended = error.map_or(Exit::Measured, super::exit_of);
    let exit = measured.exit().worse(ended);
    let line = EndLine {
        ended_utc: Clock::now().utc(),
        exit_code: exit.code(),
        error: error.map(|error| format!("{error:#}")),
        trials: recorder.trials(),
        other: Other::new(),
    };
    let ended = recorder.record.write(&line);
    recorder.end_progress();
    measured.show(Head::of(&recorder, exit, error))?;
    // Only the first thing that went wrong is worth a line. An interrupt is told when the bed is gone.
    match error {
        Some(_) if exit == Exit::Interrupted => {}
        Some(error) => terminal::error(&format!("{error:#}")),
        None => ended?,
    }
    Ok(exit)
}

/// Lowers a bed of its own; a kept one stays. After an interrupt it says so, and where the record is.
fn leave(bed: Bed, choice: &BedChoice, shown: Result<Exit>, record: &Path) -> Result<Exit> {
    let own = matches!(choice, BedChoice::Own(_));
    // After an error the bed is dropped. The program tells at its end what that could not put back.
    let exit = shown?;
    if own {
        bed.lower()?;
    }
    if exit == Exit::Interrupted {
        let bed = if own {
            "the bed is gone"
        } else {
            "the bed stays"
        };
        terminal::error(&format!(
            "interrupted: {bed}, the record is {}",
            record.display()
        ));
    }
    Ok(exit)
}

/// A result in JSON, as people and programs read it.
///
/// # Errors
/// None that can happen: all of it is text and numbers.
pub fn json(document: &impl Serialize) -> Result<String> {
    Ok(serde_json::to_string_pretty(document)? + "\n")
}
