//! Whether the tester's own ports are up. One that is down has no NAPI, and what the kernel then answers to its
//! settings (EOPNOTSUPP) names no port.

use crate::bed::{Bed, Side};
use crate::tester::error::TesterError;
use crate::tester::ways::Way;
use mpps_linux::links;

/// Checks where the tester sends and receives.
///
/// # Errors
/// [`TesterError::PortDown`] names the first port that is down; or what netlink said.
pub fn check(bed: &Bed, ways: &[Way]) -> Result<(), TesterError> {
    for side in ways.iter().flat_map(|way| [way.from, way.to]) {
        if !is_up(bed, side)? {
            return Err(TesterError::PortDown {
                port: bed.port(side).name.clone(),
                netns: bed.netns(side).name().to_owned(),
            });
        }
    }
    Ok(())
}

/// Names of the way's ports that are down, tester's and DUT's, in the frames' order. A device of somebody
/// else's has ports too, but none that can be asked.
///
/// # Errors
/// What netlink said.
pub fn down_on(bed: &Bed, way: Way) -> Result<Vec<String>, TesterError> {
    let mut down = Vec::new();
    let ours = !bed.plan().is_external();
    let sides = [
        (way.from, true),
        (way.dut_in, ours),
        (way.dut_out, ours),
        (way.to, true),
    ];
    for side in sides
        .into_iter()
        .filter_map(|(side, asked)| asked.then_some(side))
    {
        if !is_up(bed, side)? {
            down.push(bed.port(side).name.clone());
        }
    }
    Ok(down)
}

fn is_up(bed: &Bed, side: Side) -> Result<bool, TesterError> {
    let name = &bed.port(side).name;
    Ok(bed.netns(side).run(|| links::get(name))??.up)
}
