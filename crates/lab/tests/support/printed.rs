//! An observer of jobs that prints each trial and keeps each result.

use super::trials::assert_ledger;
use mpps_lab::jobs::{Observer, Report, ResultObserver};
use mpps_method::Verdict;
use std::io;

/// The results so far.
pub struct Printed<R = ()>(pub Vec<R>);

impl<R> Printed<R> {
    pub const fn new() -> Self {
        Self(Vec::new())
    }
}

impl<R> Observer for Printed<R> {
    fn trial(&mut self, report: &Report<'_>) -> io::Result<()> {
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

impl<R: Clone> ResultObserver<R> for Printed<R> {
    fn result(&mut self, result: &R) -> io::Result<()> {
        self.0.push(result.clone());
        Ok(())
    }
}
