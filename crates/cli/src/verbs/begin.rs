//! How every measurement begins: rights, record, bed.

use crate::args::OutputArgs;
use crate::plan::BedChoice;
use crate::record::{Clock, Record};
use crate::recorder::Recorder;
use crate::terminal;
use crate::terminal::plan as words;
use crate::terminal::progress::Progress;
use anyhow::{Result, bail};
use mpps_lab::bed::{self, Bed};
use mpps_lab::{facts, interrupt};

/// A measurement that can begin.
pub struct Stage {
    /// When it began.
    pub begun: Clock,
    /// The bed; it stands.
    pub bed: Bed,
    /// The record, without a line yet.
    pub recorder: Recorder,
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
        let bed = match choice {
            BedChoice::Kept(name) => bed::open(name)?,
            BedChoice::Own(wish) => Bed::raise(&wish.on_this_machine()?)?,
            BedChoice::Simulated(_) => bail!("a simulated pair stands on no bed"),
        };
        recorder.step(&format!("record: {}", recorder.record.path().display()));
        recorder.step(&match &bed.plan().external {
            Some(external) => format!(
                "bed: {}, a device between {} and {}",
                bed.name(),
                external.out.port,
                external.back.port
            ),
            None => format!("bed: {}, front {}", bed.name(), bed.plan().nic.name()),
        });
        Ok(Self {
            begun,
            bed,
            recorder,
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
    Ok((begun, Recorder::new(record, Progress::new(output.quiet))))
}

/// Lowers a bed of its own; a kept one stays.
///
/// # Errors
/// The host could not be put back.
pub fn leave(bed: Bed, choice: &BedChoice) -> Result<()> {
    if matches!(choice, BedChoice::Own(_)) {
        bed.lower()?;
    }
    Ok(())
}

/// The bed in words, for `--dry-run`.
///
/// # Errors
/// CPUs that this machine does not have.
pub fn describe(choice: &BedChoice) -> Result<()> {
    match choice {
        BedChoice::Kept(name) => terminal::out(&format!("bed          {name}, kept\n")),
        BedChoice::Own(wish) => {
            terminal::out(&terminal::fitted(&words::bed(&wish.on_this_machine()?)))
        }
        BedChoice::Simulated(pair) => {
            terminal::out(&format!("bed          none: simulated {pair}\n"))
        }
    }
    Ok(())
}
