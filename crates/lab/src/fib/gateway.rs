//! Gateways: as given, as found on a link, and which prefix goes by which.

use super::{Family, FibError};
use ipnet::IpNet;
use mpps_linux::{links, routes};
use mpps_tables::prefix_hash;
use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

/// `rtm_type` of a route to somewhere else (`RTN_UNICAST`).
const UNICAST: u8 = 1;
/// `rtm_type` of a route to the machine itself (`RTN_LOCAL`).
const LOCAL: u8 = 2;

/// A next hop as given: `198.19.0.2` or `fe80::1%eth0`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gateway {
    /// Its address.
    pub address: IpAddr,
    /// The interface it is behind; without one the router's own routes say.
    pub interface: Option<String>,
}

impl Gateway {
    /// The family of the prefixes that go by it.
    #[must_use]
    pub fn family(&self) -> Family {
        match self.address {
            IpAddr::V4(_) => Family::V4,
            IpAddr::V6(_) => Family::V6,
        }
    }
}

impl FromStr for Gateway {
    type Err = FibError;

    fn from_str(text: &str) -> Result<Self, FibError> {
        let bad_gateway = || FibError::BadGateway(text.to_owned());
        let (address, interface) = match text.split_once('%') {
            Some((_, "")) => return Err(bad_gateway()),
            Some((address, interface)) => (address, Some(interface.to_owned())),
            None => (text, None),
        };
        let address: IpAddr = address.parse().map_err(|_| bad_gateway())?;
        if address.is_unspecified() || address.is_multicast() {
            return Err(bad_gateway());
        }
        Ok(Self { address, interface })
    }
}

impl fmt::Display for Gateway {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.interface {
            Some(interface) => write!(f, "{}%{interface}", self.address),
            None => self.address.fmt(f),
        }
    }
}

mpps_method::named! {
    /// How prefixes are spread over gateways.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum Spread {
        /// One after the other, in the order of the table.
        #[default]
        RoundRobin = "round-robin",
        /// By a hash of address and length: a prefix keeps its gateway whatever else the table holds.
        Hash = "hash",
    }
}

impl Spread {
    /// Which of `gateways` the prefix at this place of the table goes by.
    pub(super) fn choose(self, place: usize, prefix: IpNet, gateways: usize) -> usize {
        match self {
            Self::RoundRobin => place % gateways.max(1),
            Self::Hash => {
                let share = prefix_hash(prefix, 0) % u64::try_from(gateways.max(1)).unwrap_or(1);
                usize::try_from(share).unwrap_or(0)
            }
        }
    }
}

/// The index of the interface a gateway is behind.
pub(super) fn interface_of(gateway: &Gateway) -> Result<u32, FibError> {
    if let Some(name) = &gateway.interface {
        return Ok(links::index(name)?);
    }
    let not_on_link = |why: String| FibError::NotOnLink(gateway.to_string(), why);
    let Some(route) = routes::answer(gateway.address)? else {
        return Err(not_on_link("there is no route to it".to_owned()));
    };
    match (route.kind, route.gateway, route.interface) {
        (UNICAST, None, Some(interface)) => Ok(interface),
        (UNICAST, Some(other), _) => Err(not_on_link(format!("it is reached by {other}"))),
        (LOCAL, ..) => Err(not_on_link(
            "it is an address of the router itself".to_owned(),
        )),
        _ => Err(not_on_link(format!("the route to it is {}", route.prefix))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gateway_is_an_address_maybe_with_interface() {
        let plain: Gateway = "198.19.0.2".parse().unwrap();
        assert_eq!(
            (plain.family(), plain.interface.clone()),
            (Family::V4, None)
        );
        let scoped: Gateway = "fe80::1%mC".parse().unwrap();
        assert_eq!(scoped.interface.as_deref(), Some("mC"));
        assert_eq!(
            (scoped.to_string().as_str(), scoped.family()),
            ("fe80::1%mC", Family::V6)
        );
        for bad in [
            "",
            "router",
            "0.0.0.0",
            "::",
            "224.0.0.1",
            "10.0.0.1/24",
            "fe80::1%",
        ] {
            let error = bad.parse::<Gateway>().unwrap_err().to_string();
            assert!(error.contains("such as 198.19.0.2"), "{bad}: {error}");
        }
    }

    #[test]
    fn round_robin_takes_turns_hash_keeps_to_its_prefix() {
        let prefix = |n: u32| IpNet::new(IpAddr::from((n << 8).to_be_bytes()), 24).unwrap();
        let turns: Vec<usize> = (0..5)
            .map(|place| Spread::RoundRobin.choose(place, prefix(9), 3))
            .collect();
        assert_eq!(turns, [0, 1, 2, 0, 1]);
        let mut shares = [0; 3];
        for n in 0..30_000 {
            let first = Spread::Hash.choose(0, prefix(n), 3);
            assert_eq!(first, Spread::Hash.choose(n as usize, prefix(n), 3));
            shares[first] += 1;
        }
        assert!(
            shares.iter().all(|share| (9_600..10_400).contains(share)),
            "{shares:?}"
        );
        let v6: IpNet = "2001:db8::/32".parse().unwrap();
        assert!(Spread::Hash.choose(7, v6, 2) < 2);
    }
}
