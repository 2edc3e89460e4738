//! How every measurement ends: the last line of its record, its result, the one error worth a line.

use crate::exit::Exit;
use crate::record::Clock;
use crate::recorder::Recorder;
use crate::terminal;
use anyhow::{Error, Result};
use mpps_record::{EndLine, Other, SCHEMA};
use serde::Serialize;

/// What every result in JSON begins with.
#[derive(Serialize)]
pub struct Head<'a> {
    schema: u32,
    run: &'a str,
    record: String,
    exit_code: u8,
    error: Option<String>,
}

impl<'a> Head<'a> {
    /// Of a run that ends so.
    #[must_use]
    pub fn of(recorder: &'a Recorder, exit: Exit, error: Option<&Error>) -> Self {
        Self {
            schema: SCHEMA,
            run: recorder.record.run(),
            record: recorder.record.path().to_string_lossy().into_owned(),
            exit_code: exit.code(),
            error: error.map(|error| format!("{error:#}")),
        }
    }
}

/// Ends the record, shows the result on stdout, tells the error on stderr.
///
/// # Errors
/// The record or the result could not be written, and nothing worse had happened before.
pub fn finish(
    mut recorder: Recorder,
    exit: Exit,
    error: Option<&Error>,
    show: impl FnOnce(&Recorder) -> Result<()>,
) -> Result<Exit> {
    let line = EndLine {
        ended_utc: Clock::now().utc(),
        exit_code: exit.code(),
        error: error.map(|error| format!("{error:#}")),
        trials: recorder.trials(),
        other: Other::new(),
    };
    let ended = recorder.record.write(&line);
    recorder.end_progress();
    show(&recorder)?;
    // Only the first thing that went wrong is worth a line. An interrupt is told when the bed is gone.
    match error {
        Some(_) if exit == Exit::Interrupted => {}
        Some(error) => terminal::error(&format!("{error:#}")),
        None => ended?,
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
