//! `mpps explain --cpus`: CPUs of this host at their work.

use super::begin::open_record;
use super::measure::finish;
use crate::args::OutputArgs;
use crate::exit::Exit;
use crate::host::Interrupted;
use crate::record::host_run_line;
use crate::recorder::Recorder;
use anyhow::{Result, bail, ensure};
use mpps_lab::interrupt;
use mpps_lab::observe::{CpuSet, Observer};
use mpps_method::Span;
use mpps_report::number;

/// Looks at these CPUs for so long.
///
/// # Errors
/// A CPU is not there, or the kernel's counts cannot be read.
pub fn run(cpus: &CpuSet, time: Span, output: &OutputArgs) -> Result<Exit> {
    interrupt::install()?;
    let observer = Observer::new(cpus)?;
    let (begun, mut recorder) = open_record(output)?;
    recorder.step(&format!("record: {}", recorder.record().path().display()));
    let watched = number::cpus(observer.cpus());
    recorder.step(&format!("looking at {watched} for {time}"));
    let line = host_run_line(begun, observer.cpus(), observer.netns(), time);
    let written = recorder.write(line);
    let ended = written.and_then(|()| look(&observer, time, &mut recorder));
    finish(output, None, &mut recorder, ended.err().as_ref())
}

/// An interrupted look is shown as far as it came.
fn look(observer: &Observer, time: Span, recorder: &mut Recorder) -> Result<()> {
    let line = observer.observe(time, &mut || !interrupt::requested())?;
    let watched = line.watched.as_ref().filter(|_| line.why.is_some());
    let lack = watched.and_then(|watched| watched.lacks.first().cloned());
    recorder.write(line)?;
    ensure!(
        !interrupt::requested(),
        Interrupted("interrupted: this is what was seen until then")
    );
    lack.map_or(Ok(()), |lack| bail!("{lack}"))
}
