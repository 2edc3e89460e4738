//! The kernel's own answer: which route does it take to an address?

use std::net::IpAddr;

use super::Family;
use super::attributes::put_address;
use super::dump::{Route, read};
use crate::error::{Error, Result};
use crate::netlink::transact_raw;
use crate::netns;

/// Asks for the entry of the FIB that matched, not for a route to the address alone (Linux 4.12 for
/// IPv4, 4.14 for IPv6).
const RTM_F_FIB_MATCH: u32 = 0x2000;

/// The route that a packet to `destination` takes, as it stands in the FIB: the longest match. `None`
/// where there is none.
///
/// # Errors
/// The kernel could not be asked.
pub fn answer(destination: IpAddr) -> Result<Option<Route>> {
    let (family, bits) = match destination {
        IpAddr::V4(_) => (Family::V4, 32),
        IpAddr::V6(_) => (Family::V6, 128),
    };
    let mut body = vec![family.number(), bits, 0, 0, 0, 0, 0, 0];
    body.extend(RTM_F_FIB_MATCH.to_ne_bytes());
    put_address(&mut body, libc::RTA_DST, destination);
    let object = || format!("{destination}{}", netns::place());
    match transact_raw(libc::RTM_GETROUTE, body, 0) {
        Ok(answers) => match answers.first().map(|body| read(body)) {
            Some(Some(route)) => Ok(Some(route)),
            _ => Err(Error::from_text(
                "look up",
                object(),
                "the kernel's answer is empty",
            )),
        },
        Err(refusal) => match refusal.errno() {
            Some(libc::ENETUNREACH | libc::EHOSTUNREACH) => Ok(None),
            _ => Err(refusal.into_error("look up", object())),
        },
    }
}
