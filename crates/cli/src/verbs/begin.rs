//! How every measurement begins: rights, record, bed.

use crate::args::OutputArgs;
use crate::plan::BedChoice;
use crate::record::{Clock, Record};
use crate::recorder::Recorder;
use crate::terminal;
use crate::terminal::plan as words;
use crate::terminal::progress::Progress;
use anyhow::{Context, Result, bail, ensure};
use mpps_lab::bed::{self, Bed, CpuSplit};
use mpps_lab::doubt::{Doubt, Finding, HostDoubt};
use mpps_lab::facts::{HostSettings, Root};
use mpps_lab::one_run::{self, Holder, OnlyRun};
use mpps_lab::{facts, interrupt};

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
        let lock = || format!("lock {}", one_run::LOCK);
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
                    "waits until another run has ended: {holder} (--share does not wait)"
                ));
            };
            only = OnlyRun::wait(&own, waiting).with_context(lock)?;
            ensure!(only.is_some(), "interrupted while another run measured");
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
    pub fn doubting(&self, mut findings: Vec<Finding>) -> Vec<Finding> {
        let changes = self.before.changes(&HostSettings::read(&Root::here()));
        let changed = (!changes.is_empty()).then_some(HostDoubt::HostChanged(changes));
        let other = self.other.clone().map(HostDoubt::OtherRun);
        let doubts: Vec<Doubt> = changed.into_iter().chain(other).map(Doubt::Host).collect();
        for finding in &mut findings {
            finding.doubts.extend(doubts.iter().cloned());
        }
        findings
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
            None => format!(
                "bed: {}, front {}, {}",
                bed.name(),
                bed.plan().nic.name(),
                split(&bed.plan().cpus)
            ),
        });
        Ok(Self {
            begun,
            bed,
            recorder,
            beside,
        })
    }
}

/// Who runs where. On one CPU everything that follows is read with that.
fn split(cpus: &CpuSplit) -> String {
    let (dut, tester) = (cpus.dut_set(), cpus.tester_set());
    let shared = if cpus.shared() {
        ": they share a CPU, and the DUT gets what the tester leaves of it"
    } else {
        ""
    };
    format!("tester on CPU {tester}, DUT on CPU {dut}{shared}")
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_cpu_for_both_is_said_before_anything_is_measured() {
        let cpus = |dut: &[usize], tester: &[usize]| CpuSplit {
            dut: dut.to_vec(),
            tester: tester.to_vec(),
        };
        assert_eq!(
            split(&cpus(&[2], &[0, 1])),
            "tester on CPU 0-1, DUT on CPU 2"
        );
        let one = split(&cpus(&[0], &[0]));
        assert!(
            one.starts_with("tester on CPU 0, DUT on CPU 0: they share a CPU"),
            "{one}"
        );
    }
}
