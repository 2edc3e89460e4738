//! Which flow a frame belongs to. As in the thesis (5.3): flow i has source and destination port 1024 + i, both moving
//! together; beyond 64 512 flows the source address moves too.

use std::fmt;

/// Internet Protocol version of the test frames.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Family {
    /// IPv4.
    #[default]
    V4,
    /// IPv6.
    V6,
}

crate::named! {
    /// What the frames look like behind their IP header.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    pub enum Transport {
        /// Datagrams.
        #[default]
        Udp = "udp",
        /// Segments of TCP connections (ACK, no options), each where the one before it was: no offload can
        /// merge them, a frame is a frame all the way.
        Tcp = "tcp",
        /// The same, but each where the one before it ended, as in a bulk transfer: GRO may merge them.
        TcpStream = "tcp-stream",
    }
}

impl Transport {
    /// Whether it is TCP.
    #[must_use]
    pub const fn is_tcp(self) -> bool {
        matches!(self, Self::Tcp | Self::TcpStream)
    }
}

impl Family {
    /// Shortest frame, FCS included, that holds all headers and the tag: 64 or 78 octets, with TCP 70
    /// or 90.
    #[must_use]
    pub const fn frame_min(self, transport: Transport) -> crate::units::FrameLen {
        crate::units::FrameLen(match (self, transport.is_tcp()) {
            (Self::V4, false) => 64,
            (Self::V6, false) => 78,
            (Self::V4, true) => 70,
            (Self::V6, true) => 90,
        })
    }
}

impl fmt::Display for Family {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::V4 => "IPv4",
            Self::V6 => "IPv6",
        })
    }
}

/// Port of flow 0.
pub const PORT_FIRST: u16 = 1024;
/// Ports in use: 1024 to 65 535.
pub const PORT_COUNT: u32 = 64_512;
/// Most flows: their source addresses have to stay hosts of the /16 they begin in at its host 2.
pub const FLOWS_MAX: u32 = (0xfffe - 2 + 1) * PORT_COUNT;

/// A number of flows that cannot be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0} flows: give 1 to {FLOWS_MAX}")]
pub struct FlowCountError(u32);

/// Whether so many flows have addresses and ports of their own.
///
/// # Errors
/// None, or more than [`FLOWS_MAX`].
pub const fn check_flows(count: u32) -> Result<u32, FlowCountError> {
    if count == 0 || count > FLOWS_MAX {
        return Err(FlowCountError(count));
    }
    Ok(count)
}

/// Most places of [`FlowOrder`]: frames that share a place though their flows differ are at least so many
/// flows apart, further than any router reorders.
pub const PLACES_MAX: u64 = 1 << 22;

/// Which flow each frame of one direction belongs to, by its sequence number. Flows take turns, and so do
/// destinations: frame n has flow n modulo flows, and destination n modulo destinations. Where flows have
/// a length a destination belongs to its flow instead, and when all flows have had their frames as many new
/// ones take their places.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlowOrder {
    /// Flows that take turns, at least 1.
    pub flows: u32,
    /// Frames each flow lives; `None`: for ever.
    pub flow_length: Option<u32>,
    /// Destinations that take turns, at least 1.
    pub destinations: u64,
}

impl FlowOrder {
    /// Frames after which flows are others; 0: never.
    #[must_use]
    pub fn flow_frames(&self) -> u64 {
        u64::from(self.flow_length.unwrap_or(0)) * u64::from(self.flows)
    }

    /// Number of the flow of frame `sequence`; without a length they come round again.
    #[must_use]
    pub fn flow(&self, sequence: u64) -> u64 {
        let flows = u64::from(self.flows.max(1));
        let past = sequence.checked_div(self.flow_frames()).unwrap_or(0);
        past * flows + sequence % flows
    }

    /// Place of the destination of frame `sequence` in the list.
    #[must_use]
    pub fn destination(&self, sequence: u64) -> u64 {
        let number = match self.flow_length {
            Some(_) => self.flow(sequence),
            None => sequence,
        };
        number % self.destinations.max(1)
    }

    /// How many places a receiver keeps, to tell within which flow a frame came too late.
    #[must_use]
    pub fn places(&self) -> u64 {
        if self.flow_length.is_some() {
            return PLACES_MAX;
        }
        let (flows, destinations) = (u64::from(self.flows.max(1)), self.destinations.max(1));
        let together = flows / greatest_divisor(flows, destinations);
        together.saturating_mul(destinations).min(PLACES_MAX)
    }

    /// The place of frame `sequence`: the same for all frames of a flow to one destination.
    #[must_use]
    pub fn place(&self, sequence: u64) -> u64 {
        let number = match self.flow_length {
            Some(_) => self.flow(sequence),
            None => sequence,
        };
        number % self.places()
    }

    /// Flows begun by the time `frames` frames were sent.
    #[must_use]
    pub fn begun(&self, frames: u64) -> u64 {
        let flows = u64::from(self.flows.max(1));
        match frames.checked_div(self.flow_frames()) {
            None => frames.min(flows),
            Some(past) => past * flows + (frames % self.flow_frames()).min(flows),
        }
    }
}

fn greatest_divisor(one: u64, other: u64) -> u64 {
    match one.checked_rem(other) {
        None => one,
        Some(rest) => greatest_divisor(other, rest),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flow_and_a_destination_share_one_place() {
        let order = FlowOrder {
            flows: 4,
            flow_length: None,
            destinations: 6,
        };
        assert_eq!(order.places(), 12);
        for one in 0..48 {
            for other in 0..48 {
                let same = order.flow(one) == order.flow(other)
                    && order.destination(one) == order.destination(other);
                assert_eq!(
                    same,
                    order.place(one) == order.place(other),
                    "{one} {other}"
                );
            }
        }
    }

    #[test]
    fn flows_with_a_length_are_followed_by_new_ones() {
        let order = FlowOrder {
            flows: 2,
            flow_length: Some(3),
            destinations: 1_000,
        };
        let flows: Vec<u64> = (0..14).map(|sequence| order.flow(sequence)).collect();
        assert_eq!(flows, [0, 1, 0, 1, 0, 1, 2, 3, 2, 3, 2, 3, 4, 5]);
        assert_eq!(
            order.destination(13),
            5,
            "a destination belongs to its flow"
        );
        let begun: Vec<u64> = [0, 1, 2, 6, 7, 8, 14]
            .map(|sent| order.begun(sent))
            .to_vec();
        assert_eq!(begun, [0, 1, 2, 2, 3, 4, 6]);
        let for_ever = FlowOrder {
            flow_length: None,
            ..order
        };
        assert_eq!((for_ever.begun(1), for_ever.begun(99)), (1, 2));
    }

    #[test]
    fn places_are_bounded() {
        let order = FlowOrder {
            flows: 64_511,
            flow_length: None,
            destinations: 1_000_003,
        };
        assert_eq!(order.places(), PLACES_MAX);
        assert_eq!(order.place(PLACES_MAX + 5), 5);
    }

    #[test]
    fn the_number_of_flows_is_bounded() {
        let error = check_flows(0).unwrap_err();
        assert_eq!(error.to_string(), "0 flows: give 1 to 4227664896");
        assert_eq!(check_flows(1), Ok(1));
        assert_eq!(check_flows(FLOWS_MAX), Ok(FLOWS_MAX));
        assert!(check_flows(FLOWS_MAX + 1).is_err());
    }

    /// The last flow of all still has a host of 198.18.0.0/16 as its source.
    #[test]
    fn the_most_flows_fit_sixteen_bits_of_hosts() {
        let first = std::net::Ipv4Addr::new(198, 18, 0, 2);
        let last = u32::from(first) + (FLOWS_MAX - 1) / PORT_COUNT;
        assert_eq!(last, u32::from_be_bytes([198, 18, 255, 254]));
    }
}
