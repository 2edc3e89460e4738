//! The links carry the longest frame of the traffic, and no more than an Ethernet does without need: a
//! veth takes XDP programs of the plain kind only below a page.

use super::TesterError;
use crate::bed::{Bed, Side};
use mpps_linux::links;
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

/// Sets the MTU of the bed's four ports; nothing may be attached to them yet. A bed that was kept after a
/// run with longer frames gets the usual one back.
///
/// # Errors
/// What the kernel said.
pub fn fit(bed: &Bed, longest: FrameLen) -> Result<(), TesterError> {
    let mtu = needed(longest);
    for side in Side::ALL {
        let name = &bed.port(side).name;
        bed.netns(side).run(|| {
            if links::get(name)?.mtu != mtu {
                links::set_mtu(name, mtu)?;
            }
            Ok::<_, mpps_linux::Error>(())
        })??;
    }
    Ok(())
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
