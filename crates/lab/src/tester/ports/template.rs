//! What is the same in all frames of one direction, with the sums the sender's checksums start from.

use mpps_ebpf::instruments::sender::TEMPLATE_OCTETS;
use mpps_wire::checksum;
use mpps_wire::tag::Tag;
use mpps_wire::template::{Family, FrameLength, FrameTemplate, Transport};

/// Headers as the sender copies them: lengths, ports and checksums are zero and filled in for each frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Template {
    /// Ethernet, IP and UDP or TCP header, padded, as 64-bit words of the machine.
    pub header: [u64; TEMPLATE_OCTETS / 8],
    /// Last 32 bits of flow 0's source address.
    pub source: u32,
    /// Sum of the IPv4 header without total length and destination.
    pub ip_sum: u32,
    /// Sum of pseudo header and UDP or TCP header without lengths, ports and destination.
    pub l4_sum: u32,
    /// Sum of the destination: the one beyond the DUT, seen from port A.
    pub dest_sum: u32,
}

/// Which of a template's addresses lies beyond the DUT, seen from port A.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Varied {
    /// First direction.
    Destination,
    /// Second direction.
    Source,
}

const ETHER: usize = 14;

impl Template {
    /// Derives the template from the shortest whole frame of its kind.
    ///
    /// # Errors
    /// None in practice: the shortest frame is never too short.
    pub fn new(frame: &FrameTemplate, varied: Varied) -> Result<Self, FrameLength> {
        let family = frame.addresses.family();
        let (ip_octets, sources, destinations) = match family {
            Family::V4 => (20, 12..16, 16..20),
            Family::V6 => (40, 8..24, 24..40),
        };
        let l4 = ETHER + ip_octets;
        let used = family.headers_len(frame.transport);
        let bytes = frame.frame(family.frame_min(frame.transport), (0, 0), &Tag::default())?;
        let mut header = [0u8; TEMPLATE_OCTETS];
        header[..used].copy_from_slice(&bytes[..used]);
        // Lengths, ports and checksums are written by the sender.
        let blanks = match (family, frame.transport) {
            (Family::V4, Transport::Udp) => vec![16..18, 24..26, l4..used],
            (Family::V4, Transport::Tcp) => vec![16..18, 24..26, l4..l4 + 4, l4 + 16..l4 + 18],
            (Family::V6, Transport::Udp) => vec![18..20, l4..used],
            (Family::V6, Transport::Tcp) => vec![18..20, l4..l4 + 4, l4 + 16..l4 + 18],
        };
        for blank in blanks {
            header[blank].fill(0);
        }
        let mut sums =
            [sources.clone(), destinations].map(|at| checksum::sum(&header[ETHER..l4][at]));
        if varied == Varied::Source {
            sums.reverse();
        }
        let [near_sum, dest_sum] = sums;
        let ip = &header[ETHER..l4];
        let source = &ip[sources][..];
        let last = source
            .last_chunk()
            .map_or(0, |octets| u32::from_be_bytes(*octets));
        // The position in the stream joins the sum with each frame.
        let stands = match frame.transport {
            Transport::Udp => 0,
            Transport::Tcp => checksum::sum(&header[l4 + 8..used]),
        };
        Ok(Self {
            source: last,
            ip_sum: if family == Family::V6 {
                0
            } else {
                checksum::sum(ip) - dest_sum
            },
            l4_sum: near_sum + u32::from(frame.transport.protocol()) + stands,
            dest_sum,
            header: words(&header),
        })
    }
}

fn words(octets: &[u8; TEMPLATE_OCTETS]) -> [u64; TEMPLATE_OCTETS / 8] {
    let (words, _) = octets.as_chunks::<8>();
    std::array::from_fn(|word| u64::from_ne_bytes(words[word]))
}
