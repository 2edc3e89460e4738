//! What is the same in all frames of one direction, with the sums the sender's checksums start from.

use mpps_wire::checksum;
use mpps_wire::tag::Tag;
use mpps_wire::template::{Family, FrameLength, FrameTemplate};

/// Headers as the sender copies them: lengths, ports and checksums are zero and filled in for each frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Template {
    /// Ethernet, IP and UDP header, padded.
    pub header: [u8; 64],
    /// Sum of the IPv4 header without total length.
    pub ip_sum: u32,
    /// Sum of pseudo header and UDP header without lengths and ports.
    pub udp_sum: u32,
}

const ETHER: usize = 14;
const PROTOCOL_UDP: u32 = 17;

impl Template {
    /// Derives the template from the shortest whole frame of its kind.
    ///
    /// # Errors
    /// None in practice: the shortest frame is never too short.
    pub fn new(frame: &FrameTemplate) -> Result<Self, FrameLength> {
        let family = frame.addresses.family();
        let ipv6 = family == Family::V6;
        let (ip_octets, addresses) = if ipv6 { (40, 8..40) } else { (20, 12..20) };
        let bytes = frame.frame(family.frame_min(), (0, 0), &Tag::default())?;
        let mut header = [0u8; 64];
        let used = ETHER + ip_octets + 8;
        header[..used].copy_from_slice(&bytes[..used]);
        // Lengths and checksums are written by the sender.
        let (length_at, checksum_at) = if ipv6 {
            (ETHER + 4, None)
        } else {
            (ETHER + 2, Some(ETHER + 10))
        };
        header[length_at..length_at + 2].fill(0);
        if let Some(at) = checksum_at {
            header[at..at + 2].fill(0);
        }
        header[ETHER + ip_octets..used].fill(0);
        let ip = &header[ETHER..ETHER + ip_octets];
        Ok(Self {
            ip_sum: if ipv6 { 0 } else { checksum::sum(ip) },
            udp_sum: checksum::sum(&ip[addresses]) + PROTOCOL_UDP,
            header,
        })
    }
}
