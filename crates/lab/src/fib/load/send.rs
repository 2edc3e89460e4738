//! One family's requests, by the batch, until all are handled or the user wishes to stop.

use super::{FibError, Job};
use ipnet::IpNet;
use mpps_linux::interrupt;
use mpps_linux::routes::{Bulk, Refusals, Request};

/// Requests between two words about progress.
const REPORT_EACH: u64 = 16_384;

/// Sends a request for each place of the table in this order; sequence numbers are places plus one.
pub(super) fn send(
    job: &Job<'_>,
    order: impl Iterator<Item = u32>,
    prefix: impl Fn(u32) -> IpNet,
    report: &(dyn Fn(u64) + Sync),
) -> Result<Refusals, FibError> {
    let requests: Vec<Request> = job
        .via
        .iter()
        .map(|via| Request::add(job.family, &job.stamp, *via))
        .collect();
    let mut bulk = Bulk::open()?;
    let (mut done, mut told) = (0, 0);
    for place in order {
        let prefix = prefix(place);
        let index = usize::try_from(place).unwrap_or(0);
        let via = job.plan.spread.choose(index, prefix, requests.len());
        let sent = bulk.push(&requests[via], prefix, place + 1)?;
        done += 1;
        if sent && interrupt::requested() {
            return Err(FibError::Interrupted(done));
        }
        if sent && done - told >= REPORT_EACH {
            report(done - told);
            told = done;
        }
    }
    let refusals = bulk.finish()?;
    report(done - told);
    Ok(refusals)
}
