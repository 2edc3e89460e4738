//! An observer of jobs that prints each trial and keeps each line.

use super::trials::assert_ledger;
use mpps_lab::jobs::{Observer, Report, ResultObserver};
use mpps_method::Verdict;
use std::io;

/// The lines so far, and how many trials there were.
pub struct Printed<L = ()>(pub Vec<L>, u32);

impl<L> Printed<L> {
    pub const fn new() -> Self {
        Self(Vec::new(), 0)
    }
}

impl<L> Observer for Printed<L> {
    fn last_number(&self) -> u32 {
        self.1
    }

    fn trial(&mut self, report: &Report<'_>) -> io::Result<()> {
        self.1 = report.number;
        let latency = |part| report.trial.latency.quantile(part);
        println!(
            "{} {} {}: {}, latency {:?} {:?}, {:?}",
            report.phase.name(),
            report.offer.rate,
            report.offer.duration,
            report.verdict,
            latency(0.5),
            latency(0.999),
            report.trial.counts()
        );
        if !matches!(report.verdict, Verdict::Invalid(_) | Verdict::Void(_)) {
            assert_ledger(report.trial, report.phase.name());
        }
        Ok(())
    }
}

impl<L: Clone> ResultObserver<L> for Printed<L> {
    fn result(&mut self, line: &L) -> io::Result<()> {
        self.0.push(line.clone());
        Ok(())
    }
}
