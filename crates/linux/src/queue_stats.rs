//! Frames of each queue of all links (generic netlink family `netdev`, `qstats-get`; Linux 6.10).

use netlink_packet_core::DefaultNla;

use crate::error::Result;
use crate::napi::family_id;
use crate::netlink::{GenericRequest, Refusal, transact_generic, value_of};
use crate::netns;

const NETDEV_CMD_QSTATS_GET: u8 = 12;
const NETDEV_A_QSTATS_IFINDEX: u16 = 1;
const NETDEV_A_QSTATS_QUEUE_TYPE: u16 = 2;
const NETDEV_A_QSTATS_QUEUE_ID: u16 = 3;
const NETDEV_A_QSTATS_SCOPE: u16 = 4;
const NETDEV_A_QSTATS_RX_PACKETS: u16 = 8;
const NETDEV_A_QSTATS_TX_PACKETS: u16 = 10;
const NETDEV_QSTATS_SCOPE_QUEUE: u32 = 1;
const NETDEV_QUEUE_TYPE_RX: u64 = 0;

/// Which way a queue's frames go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// From the wire.
    Receive,
    /// To the wire.
    Transmit,
}

/// What a queue counted since its driver's counts began.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueueStats {
    /// Index of the link in the calling thread's network namespace.
    pub ifindex: u32,
    /// Which of the link's queues.
    pub direction: Direction,
    /// Its number among those, from 0.
    pub queue: u32,
    /// Frames.
    pub packets: u64,
}

/// Those of all links of the calling thread's network namespace whose drivers count so: no veth does.
///
/// # Errors
/// A kernel before 6.10 (ENOENT, EOPNOTSUPP).
pub fn all() -> Result<Vec<QueueStats>> {
    let fail = |refusal: Refusal| {
        let links = format!("all links{}", netns::place());
        let error = refusal.into_error("list frames of queues of", links);
        error.with_remedy("needs Linux 6.10")
    };
    let answers = transact_generic(&GenericRequest {
        family: family_id("netdev").map_err(fail)?,
        command: NETDEV_CMD_QSTATS_GET,
        attributes: vec![DefaultNla::new(
            NETDEV_A_QSTATS_SCOPE,
            NETDEV_QSTATS_SCOPE_QUEUE.to_ne_bytes().to_vec(),
        )],
        dump: true,
    });
    let answers = answers.map_err(fail)?;
    Ok(answers
        .iter()
        .filter_map(|answer| describe(answer))
        .collect())
}

/// `None`: the driver does not count the frames of this queue.
fn describe(attributes: &[u8]) -> Option<QueueStats> {
    let number = |kind| number(value_of(attributes, kind)?);
    let (direction, packets) = match number(NETDEV_A_QSTATS_QUEUE_TYPE)? {
        NETDEV_QUEUE_TYPE_RX => (Direction::Receive, NETDEV_A_QSTATS_RX_PACKETS),
        _ => (Direction::Transmit, NETDEV_A_QSTATS_TX_PACKETS),
    };
    Some(QueueStats {
        ifindex: u32::try_from(number(NETDEV_A_QSTATS_IFINDEX)?).ok()?,
        direction,
        queue: u32::try_from(number(NETDEV_A_QSTATS_QUEUE_ID)?).ok()?,
        packets: number(packets)?,
    })
}

/// The kernel writes as many octets as a number needs, 4 or 8.
fn number(octets: &[u8]) -> Option<u64> {
    match octets.len() {
        4 => Some(u32::from_ne_bytes(octets.try_into().ok()?).into()),
        8 => Some(u64::from_ne_bytes(octets.try_into().ok()?)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use netlink_packet_core::Emitable;

    fn answer(members: &[(u16, &[u8])]) -> Vec<u8> {
        let attributes: Vec<DefaultNla> = members
            .iter()
            .map(|(kind, value)| DefaultNla::new(*kind, value.to_vec()))
            .collect();
        let mut octets = vec![0; attributes.as_slice().buffer_len()];
        attributes.as_slice().emit(&mut octets);
        octets
    }

    #[test]
    fn numbers_have_4_or_8_octets() {
        let (link, queue) = (2_u32.to_ne_bytes(), 3_u32.to_ne_bytes());
        let many = (1_u64 << 40).to_ne_bytes();
        let members: [(u16, &[u8]); 5] = [
            (1, &link),
            (2, &[0; 4]),
            (3, &queue),
            (8, &many),
            (9, &many),
        ];
        let found = QueueStats {
            ifindex: 2,
            direction: Direction::Receive,
            queue: 3,
            packets: 1 << 40,
        };
        assert_eq!(describe(&answer(&members)), Some(found));
        // Without its frames, or of a length that no number has.
        assert_eq!(describe(&answer(&members[..3])), None);
        let odd: [(u16, &[u8]); 4] = [(1, &link), (2, &[0; 4]), (3, &queue), (8, &[1, 2])];
        assert_eq!(describe(&answer(&odd)), None);
    }

    #[test]
    fn this_machine_lists_its_queues_or_says_why_not() {
        match all() {
            Ok(found) => assert!(found.iter().all(|queue| queue.ifindex > 0), "{found:?}"),
            Err(error) => assert!(error.to_string().contains("6.10"), "{error}"),
        }
    }
}
