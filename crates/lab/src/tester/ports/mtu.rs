//! The links carry the longest frame of the traffic, and no more than an Ethernet does without need: a
//! veth takes XDP programs of the plain kind only below a page.

use crate::bed::Bed;
use crate::tester::error::TesterError;
use mpps_linux::links::{self, Link};
use mpps_method::FrameLen;

/// MTU of Ethernet.
const ETHERNET: u32 = 1500;
/// Ethernet header and FCS: octets of a frame that are no payload.
const AROUND: u32 = 18;

/// MTU for frames of this length.
#[must_use]
pub fn needed(longest: FrameLen) -> u32 {
    u32::from(longest.octets())
        .saturating_sub(AROUND)
        .max(ETHERNET)
}

/// Sets the MTU of the bed's ports; nothing may be attached to them yet. A bed that was kept after a
/// run with longer frames gets the usual one back. Ports of the host are raised only, as far as they go; the
/// journal knows what they had.
///
/// # Errors
/// What the kernel said; a port that takes no frames so long.
pub fn fit(bed: &Bed, longest: FrameLen) -> Result<(), TesterError> {
    let mtu = needed(longest);
    for port in bed.ports() {
        let (name, adopted) = (&port.name, port.is_adopted());
        port.netns.run(|| {
            let link = links::get(name)?;
            if adopted && link.mtu_max.is_some_and(|most| most < mtu) {
                return Err(too_long(longest, mtu, &link));
            }
            if link.mtu < mtu || (!adopted && link.mtu != mtu) {
                links::set_mtu(name, mtu)?;
            }
            Ok(())
        })??;
    }
    Ok(())
}

fn too_long(longest: FrameLen, mtu: u32, link: &Link) -> mpps_linux::Error {
    let most = link.mtu_max.unwrap_or(0);
    mpps_linux::Error::from_text(
        "send frames",
        format!("of {longest} octets over {}", link.name),
        format!("they need an MTU of {mtu}, the port takes {most} at most"),
    )
    .with_remedy(format!("give --frame {} or smaller", most + AROUND))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_frames_need_more_than_ethernets_mtu() {
        let of = |octets| needed(FrameLen::new(octets).expect("a length"));
        assert_eq!(
            (of(64), of(1518), of(1519), of(9018)),
            (1500, 1500, 1501, 9000)
        );
    }
}
