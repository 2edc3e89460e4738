//! A trial beside which something is done, such as a reset of the DUT.

use super::{Begun, marks, windows};
use crate::tester::{Tester, TesterError, until_ended};
use mpps_ebpf::instruments::receiver::Received;
use mpps_ebpf::instruments::sender::Mark;
use mpps_linux::task;
use mpps_method::{Offer, Trial};

/// A trial beside which something was done.
#[derive(Clone, Debug)]
pub struct Beside<T> {
    /// The whole trial.
    pub trial: Trial,
    /// When the first and the last frame left, monotonic ns.
    pub sent_ns: [u64; 2],
    /// How far the sender was at moments of the trial.
    pub marks: Vec<Mark>,
    /// What the first direction's receiver saw.
    pub received: Received,
    /// What the deed returned.
    pub did: T,
}

/// Runs one trial, and `deed` beside it in a thread of its own. The trial's frames are counted when both have ended.
///
/// # Errors
/// As [`super::run`], or the deed panicked.
pub fn run_beside<T: Send>(
    tester: &mut Tester<'_>,
    offer: &Offer,
    deed: impl FnOnce() -> T + Send,
) -> Result<Beside<T>, TesterError> {
    let begun = Begun::paced(tester, offer, offer.duration)?;
    let (sent, did) = std::thread::scope(|scope| {
        let doing = scope.spawn(deed);
        let sent = tester.sender.send(begun.order, &until_ended);
        (sent, doing.join())
    });
    let (sent, did) = (sent?, task::joined(did, "the thread beside a trial")?);
    let sent_ns = [sent.first_ns, sent.last_ns];
    Ok(Beside {
        marks: marks(tester, &sent)?,
        trial: begun.end(tester, sent)?,
        sent_ns,
        received: tester
            .receivers
            .first()
            .map_or_else(|| Ok(Received::default()), |r| r.read())?,
        did,
    })
}

/// Frames of the first direction sent from one moment to another, monotonic ns, by these marks.
#[must_use]
pub fn sent_between(marks: &[Mark], from_ns: u64, to_ns: u64) -> f64 {
    let sent = |ns| windows::count_at(marks, ns, |mark| (mark.ns, mark.sequence[0]));
    sent(to_ns) - sent(from_ns)
}
