//! Whether the tester's own ports are up. One that is down has no NAPI, and what the kernel then answers to its
//! settings (EOPNOTSUPP) names no port.

use crate::bed::Port;
use crate::tester::error::TesterError;
use crate::tester::ways::Way;
use mpps_linux::links;

/// Checks where the tester sends and receives.
///
/// # Errors
/// [`TesterError::PortDown`] names the first port that is down; or what netlink said.
pub fn check(ways: &[Way<'_>]) -> Result<(), TesterError> {
    for port in ways.iter().flat_map(|way| [way.from, way.to]) {
        if !is_up(port)? {
            return Err(TesterError::PortDown {
                port: port.name.clone(),
                netns: port.netns.name().to_owned(),
            });
        }
    }
    Ok(())
}

/// Names of the way's ports that are down, tester's and DUT's, in the frames' order.
///
/// # Errors
/// What netlink said.
pub fn down_on(way: Way<'_>) -> Result<Vec<String>, TesterError> {
    let mut down = Vec::new();
    let (incoming, outgoing) = (
        way.dut.map(|dut| dut.incoming),
        way.dut.map(|dut| dut.outgoing),
    );
    let ports = [Some(way.from), incoming, outgoing, Some(way.to)];
    for port in ports.into_iter().flatten() {
        if !is_up(port)? {
            down.push(port.name.clone());
        }
    }
    Ok(down)
}

fn is_up(port: &Port) -> Result<bool, TesterError> {
    Ok(port.netns.run(|| links::get(&port.name))??.up)
}
