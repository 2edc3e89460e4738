//! Which ports are not to be taken: those that the host, or whoever sits before it, needs.

use super::ExternalPlan;
use crate::bed::BedError;
use crate::surroundings::Surroundings;
use mpps_linux::links::{self, Link};
use mpps_linux::routes::{self, Family, Filter};
use mpps_linux::tcp;
use std::net::IpAddr;

/// Routes of this table decide where the host's own packets go.
const TABLE_MAIN: u32 = 254;

/// Looks at both ports; changes nothing.
///
/// # Errors
/// The first reason not to take one of them.
pub fn check(plan: &ExternalPlan) -> Result<(), BedError> {
    let (out, back) = (&plan.out.port, &plan.back.port);
    if out == back {
        return Err(BedError::port(
            out,
            "given twice: --external wants two ports, one before the device and one behind it",
        ));
    }
    let all = links::list()?;
    for name in [out, back] {
        let missing = || {
            BedError::port(
                name,
                "no such interface in this network namespace (`ip link` shows those there are)",
            )
        };
        let link = all.iter().find(|l| l.name == *name).ok_or_else(missing)?;
        let refuse = |why: Option<String>| why.map_or(Ok(()), |why| Err(BedError::port(name, why)));
        refuse(by_kind(link, &all))?;
        refuse(by_routes(link)?)?;
        refuse(by_session(link)?)?;
    }
    Ok(())
}

/// What the link is, and what it is part of.
fn by_kind(link: &Link, all: &[Link]) -> Option<String> {
    let name_of = |index: u32| {
        let found = all.iter().find(|link| link.index == index);
        found.map_or_else(|| format!("link {index}"), |link| link.name.clone())
    };
    if link.loopback {
        return Some("the loopback interface cannot be a port".to_owned());
    }
    if link.mac.len() != 6 {
        return Some("no Ethernet port".to_owned());
    }
    if let Some(master) = link.master {
        let master = name_of(master);
        return Some(format!(
            "part of {master}, a bridge or bond: take it out first (`ip link set {} nomaster`)",
            link.name
        ));
    }
    let parts = all.iter().find(|other| other.master == Some(link.index));
    if let Some(part) = parts {
        return Some(format!(
            "a bridge or bond itself: {} is part of it",
            part.name
        ));
    }
    if matches!(link.kind.as_deref(), Some("bridge" | "bond" | "team")) {
        return Some("a bridge or bond itself".to_owned());
    }
    // A veth's peer names it too, and does not stand on it.
    let upper = all
        .iter()
        .find(|other| other.lower == Some(link.index) && other.kind.as_deref() != Some("veth"));
    upper.map(|upper| format!("{} is built on it: remove that first", upper.name))
}

/// Whether the host's way to everywhere leads over it.
fn by_routes(link: &Link) -> Result<Option<String>, BedError> {
    let filter = Filter {
        table: Some(TABLE_MAIN),
        ..Filter::default()
    };
    for family in Family::ALL {
        let mut found = false;
        routes::dump(
            family,
            &filter,
            || (),
            |route| found |= route.prefix.prefix_len() == 0 && route.interface == Some(link.index),
        )?;
        if found {
            return Ok(Some(format!(
                "it carries the host's default route ({family}): name another port, or take that route away first"
            )));
        }
    }
    Ok(None)
}

/// Whether somebody works on this host over it.
fn by_session(link: &Link) -> Result<Option<String>, BedError> {
    for client in Surroundings::here()?.logged_in_from {
        let answer = routes::answer(client.to_canonical())?;
        if answer.is_some_and(|route| route.interface == Some(link.index)) {
            return Ok(Some(format!(
                "your SSH session from {client} comes over it: name another port, or work from the console"
            )));
        }
    }
    let addresses = links::addresses()?;
    let own = |address: IpAddr| {
        let of_link = |a: &&links::Address| a.link == link.index && a.own == address;
        addresses.iter().find(of_link).is_some()
    };
    let connections = tcp::established()?;
    let over = connections.iter().find(|c| own(c.local));
    Ok(over.map(|connection| {
        format!(
            "a TCP connection with {} goes over it: end that first, or name another port",
            connection.remote
        )
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn link(name: &str, index: u32) -> Link {
        Link {
            index,
            name: name.to_owned(),
            mac: vec![2, 0, 0, 0, 0, 1],
            ..Link::default()
        }
    }

    #[test]
    fn a_port_in_use_by_another_link_is_refused() {
        let port = link("eth1", 3);
        let refused = |port: &Link, others: &[Link]| by_kind(port, others).unwrap_or_default();
        assert_eq!(by_kind(&port, &[]), None);
        let part = Link {
            master: Some(9),
            ..port.clone()
        };
        assert!(refused(&part, &[link("br0", 9)]).contains("part of br0"));
        let vlan = Link {
            lower: Some(3),
            kind: Some("vlan".to_owned()),
            ..link("eth1.5", 7)
        };
        assert!(refused(&port, std::slice::from_ref(&vlan)).contains("eth1.5 is built on it"));
        let peer = Link {
            kind: Some("veth".to_owned()),
            ..vlan
        };
        assert_eq!(by_kind(&port, &[peer]), None, "the other end of a cable");
        assert!(
            refused(
                &port,
                &[Link {
                    master: Some(3),
                    ..link("eth2", 4)
                }]
            )
            .contains("itself")
        );
        let lo = Link {
            loopback: true,
            ..port.clone()
        };
        assert!(refused(&lo, &[]).contains("loopback"));
        let tun = Link {
            mac: Vec::new(),
            ..port
        };
        assert!(refused(&tun, &[]).contains("no Ethernet port"));
    }
}
