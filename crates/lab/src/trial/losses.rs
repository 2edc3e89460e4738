//! Which frames of a trial were lost, and how many of them in disturbances.

use super::disturbed::Disturbances;
use crate::tester::{Tester, TesterError};
use mpps_method::{Counts, Direction, Losses, Span};

/// The lost frames of each direction, and how many lost frames were sent in disturbances (`None`: not known).
///
/// The receiver's bitmap is read only if frames were lost, because it has a bit for each frame. It is of no use for
/// frames that must not arrive.
pub fn losses(
    tester: &Tester<'_>,
    directions: &[Direction],
    length: Span,
    disturbances: &Disturbances,
) -> Result<(Vec<Losses>, Option<u64>), TesterError> {
    let (mut losses, mut lost_then) = (Vec::new(), Some(0_u64));
    for (at, (way, receiver)) in directions.iter().zip(&tester.receivers).enumerate() {
        let Counts { sent, lost, .. } = way.counts;
        if lost == 0 {
            continue;
        }
        if tester.traffic.missing() {
            lost_then = lost_then.filter(|_| disturbances.is_empty());
            continue;
        }
        let words = receiver.seen(sent)?;
        let found = Losses::from_bitmap(&words, sent, length, &disturbances.sequences(at));
        let then = lost - found.as_ref().map_or(0, |losses| losses.lost).min(lost);
        lost_then = lost_then.map(|all| all + then);
        // Only the device could count its ring, and it does not tell whether the ring was full.
        let ledger = &way.ledger;
        let counted = !ledger.device_unknown || ledger.lost_nic_ring > 0;
        losses.extend(found.map(|losses| {
            let at_ring = match then {
                0 => counted.then_some(ledger.lost_nic_ring),
                _ if counted && ledger.lost_nic_ring == 0 => Some(0),
                _ => (ledger.lost_nic_ring == lost).then_some(losses.lost),
            };
            Losses { at_ring, ..losses }
        }));
    }
    Ok((losses, lost_then))
}
